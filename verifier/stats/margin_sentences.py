"""What a person reads about a margin rule: one sentence per answer, with its numbers."""

from __future__ import annotations

from collections.abc import Callable

from verifier.model.e_values import discount_text, e_text, e_value
from verifier.model.outcomes import Outcome
from verifier.model.results import Adequacy
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_statistics import Effect, MarginStatistics


def summary(
    answer: MarginAnswer,
    statistics: MarginStatistics,
    adequacy: Adequacy,
    *,
    shown: Callable[[float], str],
    unit: str,
    maximum: int,
    too_few: str,
    threshold: float,
    malformed: str,
) -> str:
    """One sentence, reason first, then the numbers it rests on and, where a design fell short, what would decide.

    shown: how the rule writes a value of θ. unit: what n counts.
    """
    if malformed:
        return f"{answer.sentence}: {malformed}"
    parts = []
    if answer is MarginAnswer.TOO_FEW:
        parts.append(too_few)
    if statistics.effect is not None:
        parts.append(f"estimate {effect_text(statistics.effect, shown)}")
    below, above = statistics.e_below_claim, statistics.e_above_alleged
    if below is not None and above is not None:
        parts.append(
            f"evidence for less than the claimed {shown(statistics.claimed)} {e_text(below.sup * statistics.discount)}"
            f", for more than the alleged {shown(statistics.alleged)} {e_text(above.sup * statistics.discount)} "
            f"(the larger is {statistics.sigma_discounted:.1f} sigma at any stopping time)"
            f"{discount_text(statistics.discount)}, against {e_value(threshold)}"
        )
    parts.append(f"{statistics.n} of {maximum} {unit}")
    if answer.outcome is Outcome.UNDERPOWERED:
        parts.append(would_decide(adequacy))
    return f"{answer.sentence}: {'; '.join(parts)}"


def effect_text(effect: Effect, shown: Callable[[float], str]) -> str:
    """The estimate, with its interval in brackets where there is one."""
    if effect.interval is None:
        return shown(effect.estimate)
    low, high = effect.interval
    return f"{shown(effect.estimate)} (95 % at any stopping time: {shown(low)} to {shown(high)})"


def would_decide(adequacy: Adequacy) -> str:
    """What would decide, as a clause."""
    if not adequacy.needed:
        return "no number within reach is known to decide"
    return f"{' and '.join(f'{count:,} {unit}' for unit, count in adequacy.needed.items())} would decide"
