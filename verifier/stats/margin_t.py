"""The margin rule by Student's t: evidence against a, m and c from estimates, what a design can show, and its power."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import special

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.model.results import Adequacy
from verifier.stats.critical import (
    FARTHEST,
    POWER,
    critical_t,
    log_threshold,
    power_at,
    replicates_needed,
    sd_upper_bound,
)
from verifier.stats.eprocess import log_mixture_e
from verifier.stats.growth_statistics import COVERAGE_E
from verifier.stats.laws import Floats
from verifier.stats.margin_answers import MarginAnswer, decide
from verifier.stats.margin_design import MIDDLE_BAR, MarginRule, Nulls
from verifier.stats.margin_rule import MarginEvidence
from verifier.stats.margin_statistics import Effect, MarginPower
from verifier.stats.noise import Estimate

DegreesOfFreedom: TypeAlias = Callable[[int], int]
"""n → ν."""

ROUNDING = 1e-13  # relative: differences smaller than this are the last digits of a double
SMALLEST = 1e-9  # relative: a simulated sd is no smaller, or it is lost in the mean's last digits
NODES = 64  # of the Gauss–Legendre rule over the distribution of the standard deviation, on each piece


class Contrast(NamedTuple):
    """A mean that is 0 where θ equals the null, at each of the three nulls, as estimated at the looks."""

    alleged: Estimate
    middle: Estimate
    claimed: Estimate


def shifted(path: Estimate, nulls: Nulls) -> Contrast:
    """The contrast of one estimate of θ: the estimate less each null."""
    return Contrast(*(path._replace(value=path.value - null) for null in nulls))


def t_evidence(contrast: Contrast) -> MarginEvidence:
    """The four t e-processes at the looks, shape (…, looks): the five-τ one-sided mixtures of `eprocess`."""

    def log_e(path: Estimate, *, below: bool) -> Floats:
        return log_mixture_e(path.t(0.0, below=below), df=path.df, n=path.n)

    return MarginEvidence(
        below_claim=log_e(contrast.claimed, below=True),
        above_alleged=log_e(contrast.alleged, below=False),
        below_middle=log_e(contrast.middle, below=True),
        above_middle=log_e(contrast.middle, below=False),
    )


def no_evidence(looks: int) -> MarginEvidence:
    """No evidence at any look: −∞, shape (looks,)."""
    none = np.full(looks, -np.inf)
    return MarginEvidence(below_claim=none, above_alleged=none, below_middle=none, above_middle=none)


def varies(path: Estimate, size: float) -> npt.NDArray[np.bool_]:
    """At which looks the replicates vary beyond the last digits of numbers of that size: (…, looks)."""
    return np.asarray(path.stderr * np.sqrt(path.n) > ROUNDING * size)


def effect_of(path: Estimate) -> Effect:
    """The record of θ at the last look of its path, with the anytime-valid 95 % interval θ̂ ± t_n(20)·stderr."""
    value, stderr, df, n = (float(np.asarray(x)[..., -1]) for x in path)
    reach = stderr * critical_t(round(n), df=round(df), log_threshold=math.log(COVERAGE_E), two_sided=True)
    return Effect(
        estimate=value,
        stderr=stderr,
        interval=(value - reach, value + reach) if math.isfinite(reach) else None,
        sd=stderr * math.sqrt(n),
    )


class Demand(NamedTuple):
    """What a design must be able to show: a mean of `effect` standard deviations of one replicate, to the E `bar`."""

    effect: float
    bar: float


def demands(nulls: Nulls, *, sd: float, threshold: float) -> tuple[Demand, ...]:
    """What is asked at c and at a: w = (c − a)/sd to T, either way, and half of it to 20."""
    w = (nulls.claimed - nulls.alleged) / sd
    return Demand(w, threshold), Demand((nulls.middle - nulls.alleged) / sd, MIDDLE_BAR)


def block_df(n: int) -> int:
    """One value a replicate: n − 1."""
    return n - 1


def pooled_df(n: int) -> int:
    """Two arms with one common standard deviation: 2(n − 1)."""
    return 2 * (n - 1)


def drawable_sd(nulls: Nulls, sd: float) -> float:
    """The sd, or the least one that a double beside a, m and c still shows: smaller ones decide as surely as it."""
    return max(sd, SMALLEST * max(abs(nulls.alleged), abs(nulls.claimed)))


def needed_n(asked: Sequence[Demand], *, discount: float, minimum: int, df: DegreesOfFreedom = block_df) -> int | None:
    """The largest of the n90 of the demands, and no less than the minimum. None where ten million are too few."""
    found = [
        replicates_needed(demand.effect, log_threshold=log_threshold(demand.bar, discount), df=df) for demand in asked
    ]
    known = [n for n in found if n is not None]
    return max(*known, minimum) if known and len(known) == len(found) else None


def could_decide(asked: Sequence[Demand], *, n: int, discount: float, df: DegreesOfFreedom = block_df) -> bool:
    """Whether n replicates meet every demand with 90 % probability, which is n ≥ n90: power increases in n."""
    return n >= 2 and all(
        power_at(demand.effect, n, log_threshold=log_threshold(demand.bar, discount), df=df(n)) >= POWER
        for demand in asked
    )


def alternatives(nulls: Nulls, effect: float | None, *, sd: float, threshold: float) -> tuple[Demand, ...]:
    """What is asked where the claim is right, θ = effect (None: c), and where the dispute is, θ = a.

    At `effect` the evidence against a must reach T and that against m 20; at a likewise against c and m.
    """
    a, m, c = nulls
    truth = c if effect is None else effect
    return (
        Demand((truth - a) / sd, threshold),
        Demand((truth - m) / sd, MIDDLE_BAR),
        *demands(nulls, sd=sd, threshold=threshold),
    )


def adequacy(
    rule: MarginRule, asked: Sequence[Demand], *, discount: float, df: DegreesOfFreedom = block_df
) -> Adequacy:
    """Whether the registered maximum meets the demands, and what would.

    The demands are at sd_U, the upper 80 % bound of what was seen.
    """
    n = needed_n(asked, discount=discount, minimum=rule.minimum_n, df=df)
    adequate = could_decide(asked, n=rule.maximum, discount=discount, df=df)
    return Adequacy(adequate=adequate, needed={} if n is None else {rule.unit: n})


def upper_sd(path: Estimate) -> float:
    """sd_U: the upper 80 % bound on the sd of one replicate at the last look."""
    stderr, df, n = (float(np.asarray(x)[..., -1]) for x in path[1:])
    return sd_upper_bound(stderr * math.sqrt(n), df)


class _Bars(NamedTuple):
    """t_n at the two thresholds, after the discount."""

    full: float
    middle: float


def one_look(
    rule: MarginRule, *, effect: float, sd: float, discount: float, df: DegreesOfFreedom = block_df
) -> dict[MarginAnswer, float]:
    """The probability of each answer where the registered maximum is the only look, if replicates are normal.

    Given the sample standard deviation s, every fact is a half-line of the mean, with ends like c − t_n(T)·s/√n, so an
    answer's probability is a sum of differences of Φ; s²·ν/sd² is χ² on ν degrees of freedom and integrated out by
    Gauss–Legendre on the pieces between the s at which adequacy ends. (What a noncentral t gives for one threshold.)
    """
    n, nulls = rule.maximum, rule.nulls
    nu = df(n)
    bars = _Bars(
        critical_t(n, log_threshold=log_threshold(float(rule.threshold), discount), df=nu),
        critical_t(n, log_threshold=log_threshold(MIDDLE_BAR, discount), df=nu),
    )
    edge = adequate_up_to(nulls, n=n, threshold=float(rule.threshold), discount=discount, df=df) / sd
    inside = 1 - float(special.chdtrc(nu, nu * edge * edge))
    x, weights = np.polynomial.legendre.leggauss(NODES)
    total = dict.fromkeys(MarginAnswer, 0.0)
    for low, high, adequate in ((0.0, inside, True), (inside, 1.0, False)):
        if high - low < 1e-12:
            continue
        p = low + (high - low) * (x + 1) / 2
        u = sd * np.sqrt(special.chdtri(nu, 1 - p) / nu) / math.sqrt(n)
        for share, step in zip((high - low) * weights / 2, u, strict=True):
            for answer, chance in _given_error(
                nulls, bars, float(step), mean=effect, error=sd / math.sqrt(n), adequate=adequate
            ):
                total[answer] += float(share) * chance
    return most_likely_first(total)


def _given_error(
    nulls: Nulls, bars: _Bars, u: float, *, mean: float, error: float, adequate: bool
) -> list[tuple[MarginAnswer, float]]:
    """The answers and their chances where the standard error seen is u and the true one `error`.

    Ends are counted from the mean in units of `error`: one at the mean stays its own t away from it, however small that
    error is beside the numbers.
    """
    a, m, c = (max(-FARTHEST, min(FARTHEST, (null - mean) / error)) for null in nulls)
    full, middle = (t * (u / error) if math.isfinite(t) else math.inf for t in bars)
    ends = {
        "below_claim": (c - full, True),
        "above_alleged": (a + full, False),
        "below_middle": (m - middle, True),
        "above_middle": (m + middle, False),
        "below_claim_now": (c - middle, True),
        "above_alleged_now": (a + middle, False),
    }
    cuts = sorted({end for end, _ in ends.values() if math.isfinite(end)})
    edges = [-math.inf, *cuts, math.inf]
    phi = special.ndtr(np.array(edges))
    found = []
    for low, high, chance in zip(edges[:-1], edges[1:], np.diff(phi), strict=True):
        facts = {name: (high <= end) if under else (low >= end) for name, (end, under) in ends.items()}
        found.append((decide(malformed=False, too_few=False, adequate=adequate, **facts), float(chance)))
    return found


def least_effect(*, n: int, bar: float, discount: float, df: DegreesOfFreedom = block_df) -> float:
    """The least mean, in standard deviations, that n replicates show to the E `bar` with 90 % probability.

    By bisection; inf where none does.
    """
    low, high = 1e-9, FARTHEST
    if not could_decide((Demand(high, bar),), n=n, discount=discount, df=df):
        return math.inf
    for _ in range(60):
        effect = math.sqrt(low * high)
        enough = could_decide((Demand(effect, bar),), n=n, discount=discount, df=df)
        low, high = (low, effect) if enough else (effect, high)
    return high


def adequate_up_to(
    nulls: Nulls, *, n: int, threshold: float, discount: float, df: DegreesOfFreedom = block_df
) -> float:
    """The largest sample standard deviation of one replicate at which n replicates are adequate; 0 where none is."""
    full = least_effect(n=n, bar=threshold, discount=discount, df=df)
    middle = least_effect(n=n, bar=MIDDLE_BAR, discount=discount, df=df)
    largest = min((nulls.claimed - nulls.alleged) / full, (nulls.middle - nulls.alleged) / middle)
    return largest / sd_upper_bound(1.0, df(n))


def normal_moments(
    rng: np.random.Generator, looks: Sequence[int], *, mean: npt.ArrayLike, sd: float, runs: int
) -> tuple[Floats, Floats]:
    """Means and centred sums of squares of the first n of normal observations, at every look: each (runs, looks).

    Drawn block by block between looks from their exact distributions, and joined as Chan, Golub and LeVeque (1979) do.
    mean: one, or one a run, shape (runs,).
    """
    means, squares = np.zeros((runs, len(looks))), np.zeros((runs, len(looks)))
    total, ss, done = np.zeros(runs), np.zeros(runs), 0
    for index, look in enumerate(looks):
        count = look - done
        block = np.asarray(mean) + sd / math.sqrt(count) * rng.standard_normal(runs)
        within = sd * sd * rng.chisquare(count - 1, runs) if count > 1 else np.zeros(runs)
        gap = block - total
        ss = ss + within + gap * gap * done * count / look
        total = total + gap * count / look
        means[:, index], squares[:, index] = total, ss
        done = look
    return means, squares


Word = TypeVar("Word", MarginAnswer, Outcome)


def most_likely_first(chances: Mapping[Word, float]) -> dict[Word, float]:
    """The words that have a chance, in falling order of it; one that a sum's rounding put above 1 is 1."""
    falling = sorted(chances.items(), key=lambda item: -item[1])
    return {word: min(chance, 1.0) for word, chance in falling if chance > 0}


def power_record(
    effect: float, answers: Mapping[MarginAnswer, float], *, mean_n: float, method: str, **simulated: int
) -> MarginPower:
    """The power record of answers with these probabilities."""
    outcomes = dict.fromkeys(Outcome, 0.0)
    for answer, chance in answers.items():
        outcomes[answer.outcome] += chance
    return MarginPower(
        effect=effect,
        answers=answers,
        outcomes=most_likely_first(outcomes),
        mean_n=mean_n,
        method=method,
        runs=simulated.get("runs"),
        seed=simulated.get("seed"),
    )


def positive_sd(value: float, *, what: str) -> float:
    """The value, if it is above zero and finite. Raises BadInput otherwise."""
    if not (value > 0 and math.isfinite(value)):
        raise BadInput(f"{what} is {value:g}, not a number above zero", mend="give the one that a few runs showed")
    return value
