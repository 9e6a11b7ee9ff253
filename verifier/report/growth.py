"""The growth rule's statistics as lines a person reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verifier.model.e_values import discount_text, e_text
from verifier.model.numbers import parse_rational
from verifier.model.results import ProbeResult
from verifier.report.text import counted, decimal, e_value, plain, scientific
from verifier.stats.law_names import law_unit


@dataclass(frozen=True, slots=True)
class Growth:
    """What is said first of a growth sweep. Slopes are per `unit`; None where the run does not give the number.

    slope, stderr: over the whole range. low, high: the interval for the slope once any bounded function of the
    registered class may be part of the quantity. sigma_fixed: the whole-range slope's, sigma_cone: the one of the
    contrast that no registered bounded function can push above zero.
    """

    unit: str
    slope: float
    stderr: float
    low: float | None
    high: float | None
    sigma_fixed: float | None
    sigma_cone: float | None
    sigma_anytime: float | None
    e_grow: float | None
    e_flat: float | None
    threshold: float | None
    discount: float


def is_growth(probe: ProbeResult) -> bool:
    """Whether the probe was judged by the growth rule, on its own quantity or, under a rate, on ln(t^p y)."""
    return probe.kind == "sweep" and probe.rule.get("kind", "growth") in {"growth", "rate"}


def unit(probe: ProbeResult) -> str:
    """What a slope is measured in: `ln k`."""
    return law_unit(str(probe.rule.get("law", "log")), probe.axis)


def growth(probe: ProbeResult) -> Growth | None:
    """The numbers of a growth sweep at its latest evidence, or None where it has none.

    The interval runs from the lower end of the cone contrast's to the upper end of the whole-range slope's: the
    expectation of the first is at most the slope, that of the second at least it, for every function of the class.
    Each of the two intervals misses in at most 5 % of runs however often one looks, by symmetry in at most 2.5 % on
    either side, so this one misses in at most 5 % too (Bonferroni).
    """
    statistics = probe.latest.statistics if probe.evidence else None
    if not is_growth(probe) or statistics is None or statistics.get("slope_full") is None:
        return None
    full = statistics["slope_full"]
    cone = statistics.get("slope_cone") or {}
    lower, upper = cone.get("interval"), full.get("interval")
    threshold = probe.rule.get("threshold")
    return Growth(
        unit=unit(probe),
        slope=float(full["estimate"]),
        stderr=float(full["stderr"]),
        low=None if lower is None else float(lower[0]),
        high=None if upper is None else float(upper[1]),
        sigma_fixed=full.get("sigma_fixed_n"),
        sigma_cone=cone.get("sigma_fixed_n"),
        sigma_anytime=statistics.get("sigma_discounted"),
        e_grow=_sup(statistics, "e_grow"),
        e_flat=_sup(statistics, "e_flat"),
        threshold=None if threshold is None else float(parse_rational(str(threshold))),
        discount=float(statistics.get("discount", 1.0)),
    )


def _sup(statistics: Mapping[str, Any], name: str) -> float | None:
    process = statistics.get(name)
    return None if process is None else float(process["sup"])


def slope_line(found: Growth) -> str:
    """The slope with its error and its honest interval."""
    text = (
        f"slope per {found.unit}: {decimal(found.slope)} over the whole range (standard error {decimal(found.stderr)})"
    )
    if found.low is None or found.high is None:
        return f"{text}; too few replicates for an interval"
    if found.low > found.high:
        return (
            f"{text}; no slope goes with the residual class: its lower end would be {decimal(found.low)} and its upper "
            f"end {decimal(found.high)}"
        )
    return (
        f"{text}; between {decimal(found.low)} and {decimal(found.high)} whatever bounded part of the residual class "
        "is mixed in (95 % at any stopping time)"
    )


def sigma_line(found: Growth) -> str:
    """Fixed-n and anytime sigma side by side."""
    fixed = "not available" if found.sigma_fixed is None else f"{_sigma(found.sigma_fixed)} for the whole-range slope"
    if found.sigma_fixed is not None and found.sigma_cone is not None:
        fixed += f", {_sigma(found.sigma_cone)} for the part that no bounded function explains"
    anytime = "not available" if found.sigma_anytime is None else _sigma(found.sigma_anytime)
    return f"sigma of growth at fixed n: {fixed}; at any stopping time, all registrations counted: {anytime}"


def _sigma(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else "beyond measure"


def evidence_line(found: Growth) -> str:
    """Both E-values after the discount for repeated registrations, against the threshold."""
    if found.e_grow is None or found.e_flat is None:
        return ""
    against = "" if found.threshold is None else f", to be compared with {e_value(found.threshold)}"
    return (
        f"evidence for growth: {e_text(found.e_grow * found.discount)}; evidence for a slope below the smallest one of "
        f"interest: {e_text(found.e_flat * found.discount)}{discount_text(found.discount)}{against}"
    )


def size_line(probe: ProbeResult) -> str:
    """How much data there is and why no more: `57 replicates of 100 phases; stopped at a decision`."""
    statistics = probe.latest.statistics if probe.evidence else None
    if statistics is None:
        return ""
    inner = "".join(f" of {int(size):,} {plain(str(name))}" for name, size in _replicate(probe).items())
    stops = {
        "decision": "; stopped at the decision",
        "maximum-n": "; run to the registered maximum",
        "too-few-scales": "; not run, there are too few scales",
    }
    stopped = stops.get(str(statistics.get("stopped_by")), "")
    if len(probe.evidence) > 1 and (first := probe.evidence[0].statistics) is not None:
        stopped = f"; decided at {int(first['n'])}, then run on to the registered maximum"
    if (stages := statistics.get("stages")) is not None:
        many = f"{int(stages['run'])} of the {int(stages['listed'])} registered stages"
        return f"{many}, {counted(int(statistics['n']), 'replicate')}{inner} in all, E multiplied over stages{stopped}"
    return f"{counted(int(statistics['n']), 'replicate')}{inner} at each scale{stopped}"


def design_line(probe: ProbeResult) -> str:
    """What was registered for a growth sweep: scales, replicate, looks and thresholds."""
    if not is_growth(probe) or "looks" not in probe.rule:
        return ""
    rule = probe.rule
    scales = [point.at[probe.axis] for point in probe.latest.points] if probe.evidence else []
    grid = f"scales {probe.axis} = {', '.join(f'{scale:,}' for scale in scales)}; " if scales else ""
    inner = "".join(f" of {int(size):,} {plain(str(name))}" for name, size in _replicate(probe).items())
    return (
        f"{_rate_words(probe)}{grid}replicates{inner}, looked at after {', '.join(map(str, rule['looks']))}; smallest "
        "slope of interest "
        f"{float(rule['delta']):g}, alleged {float(rule['alternative']):g} per {unit(probe)}; each side must reach "
        f"E = {float(rule['threshold']):,.0f}"
    )


def _rate_words(probe: ProbeResult) -> str:
    """Under a rate, what is measured and judged."""
    if probe.rule.get("kind") != "rate":
        return ""
    claimed, t = probe.rule["claimed"], plain(probe.axis)
    return (
        f"y is claimed to be O({t}^-{claimed}) and said to fall like {t}^-{probe.rule['alleged']}; shown and judged is "
        f"ln({t}^{claimed} y); "
    )


def _replicate(probe: ProbeResult) -> Mapping[str, Any]:
    replicate = probe.rule.get("replicate")
    return replicate if isinstance(replicate, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Explained:
    """A statistic: its name, its value, and what it means in one line."""

    name: str
    value: str
    meaning: str


def explained(probe: ProbeResult) -> list[Explained]:
    """The statistics of a growth sweep, each with a line of explanation; empty where there are none."""
    found = growth(probe)
    if found is None:
        return []
    statistics = probe.latest.statistics or {}
    rows = [
        Explained(
            f"slope per {found.unit}, whole range",
            _estimate(statistics.get("slope_full")),
            "least squares over all scales; at least the true slope if a bounded part still rises",
        ),
        Explained(
            f"slope per {found.unit}, upper half",
            _estimate(statistics.get("slope_up")),
            "the same over the larger half of the scales, where a bounded part has mostly settled",
        ),
        Explained(
            f"slope per {found.unit}, cone contrast",
            _estimate(statistics.get("slope_cone")),
            "a weighting that every bounded function of the residual class pushes to zero or below",
        ),
        _process(statistics, "e_grow", "E for growth", "betting against “bounded”; large means that it grows"),
        _process(
            statistics, "e_flat", "E for a small slope", "betting against “at least the smallest slope of interest”"
        ),
        _process(statistics, "e_half", "E for half that slope", "the same against half of that slope"),
        Explained(
            "sigma at fixed n",
            "not available" if found.sigma_fixed is None else _sigma(found.sigma_fixed),
            "the whole-range slope's t value as a normal quantile, had the size been fixed beforehand",
        ),
        Explained(
            "sigma at any stopping time",
            "not available" if found.sigma_anytime is None else _sigma(found.sigma_anytime),
            "what the largest E for growth is worth however often one looked",
        ),
        Explained(
            "discount",
            f"{found.discount:.3g}",
            "every E shown is after it: 6/(π² l²) at the l-th registration of this claim and dispute",
        ),
    ]
    return [*rows, *_gates(statistics)]


def _gates(statistics: Mapping[str, Any]) -> list[Explained]:
    rows = []
    if (misfit := statistics.get("misfit")) is not None:
        value = f"χ² = {float(misfit['chi2']):.3g} on {misfit['df']}, p = {_p(float(misfit['p']))}"
        rows.append(
            Explained("misfit", value, "whether some registered law describes the means; none does if p is below 0.001")
        )
        inflation = f"{float(statistics.get('inflation', 1.0)):.3g}"
        rows.append(Explained("error inflation", inflation, "factor on printed standard errors, never on E"))
    if (prediction := statistics.get("extrapolation")) is not None:
        value = f"p = {_p(float(prediction['p']))}" if prediction.get("applied") else "not applied"
        why = "" if prediction.get("applied") else f": {plain(str(prediction.get('why_not') or 'too few scales'))}"
        rows.append(
            Explained(
                "prediction of the largest scales",
                value + why,
                "whether the law fitted to the smaller scales predicts the two largest; it fails if p is below 0.001",
            )
        )
    rows.extend(_classical(statistics.get("classical")))
    return rows


def _classical(fits: Any) -> list[Explained]:
    names = {
        "wls": ("weighted least squares", "the usual fit, for comparison only: it cannot tell growth from saturation"),
        "hc3": ("least squares, HC3 errors", "the same with robust errors, for comparison only"),
    }
    rows = []
    for key, (name, meaning) in names.items():
        fit = fits.get(key) if isinstance(fits, Mapping) else None
        if isinstance(fit, Mapping) and fit:
            values = (f"{plain(str(item)).replace('_', ' ')} {float(value):.4g}" for item, value in fit.items())
            rows.append(Explained(name, ", ".join(values), meaning))
    return rows


def _p(value: float) -> str:
    return scientific(value) if 0 < value < 1e-3 else f"{value:.2g}"


def _estimate(slope: Mapping[str, Any] | None) -> str:
    if slope is None:
        return "not available"
    text = f"{decimal(float(slope['estimate']))} ± {decimal(float(slope['stderr']))}"
    if (interval := slope.get("interval")) is not None:
        text += f" ({decimal(float(interval[0]))} to {decimal(float(interval[1]))})"
    return text


def _process(statistics: Mapping[str, Any], key: str, name: str, meaning: str) -> Explained:
    process = statistics.get(key)
    if process is None:
        return Explained(name, "not available", meaning)
    discount = float(statistics.get("discount", 1.0))
    most, now = (e_value(float(process[part]) * discount) for part in ("sup", "current"))
    value = f"{most} at most, {now} now"
    return Explained(name, value, meaning)
