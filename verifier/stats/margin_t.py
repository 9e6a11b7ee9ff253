"""The margin rule by Student's t: evidence against a, m and c from estimates, what a design can show, and its power."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.model.results import Adequacy
from verifier.stats.critical import POWER, critical_t, log_threshold, power_at, replicates_needed, sd_upper_bound
from verifier.stats.eprocess import log_mixture_e
from verifier.stats.growth_statistics import COVERAGE_E
from verifier.stats.laws import Floats
from verifier.stats.margin_answers import MarginAnswer, decide
from verifier.stats.margin_design import MIDDLE_BAR, MarginRule, Nulls
from verifier.stats.margin_rule import MarginEvidence
from verifier.stats.margin_statistics import Effect, MarginPower
from verifier.stats.noise import Estimate

ROUNDING = 1e-13  # relative: differences smaller than this are the last digits of a double
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


def no_evidence() -> MarginEvidence:
    """The evidence where no look was reached."""
    none = np.empty(0)
    return MarginEvidence(below_claim=none, above_alleged=none, below_middle=none, above_middle=none)


def constant(values: Floats) -> bool:
    """Whether the values do not vary beyond the last digits of a double."""
    return values.size < 2 or bool(np.ptp(values) <= ROUNDING * np.abs(values).max())


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
    """w = (c − a)/sd to T, either way, and half of it to 20."""
    w = (nulls.claimed - nulls.alleged) / sd
    return Demand(w, threshold), Demand((nulls.middle - nulls.alleged) / sd, MIDDLE_BAR)


def block_df(n: int) -> int:
    """n − 1: one value a replicate."""
    return n - 1


def pooled_df(n: int) -> int:
    """2(n − 1): two arms with one common standard deviation."""
    return 2 * (n - 1)


def needed_n(
    asked: Sequence[Demand], *, discount: float, minimum: int, df: Callable[[int], int] = block_df
) -> int | None:
    """The largest of the n90 of the demands, and no less than the minimum. None where ten million are too few."""
    found = [
        replicates_needed(demand.effect, log_threshold=log_threshold(demand.bar, discount), df=df) for demand in asked
    ]
    known = [n for n in found if n is not None]
    return max(*known, minimum) if known and len(known) == len(found) else None


def could_decide(asked: Sequence[Demand], *, n: int, discount: float, df: Callable[[int], int] = block_df) -> bool:
    """Whether n replicates meet every demand with 90 % probability, which is n ≥ n90: power increases in n."""
    return n >= 2 and all(
        power_at(demand.effect, n, log_threshold=log_threshold(demand.bar, discount), df=df(n)) >= POWER
        for demand in asked
    )


def adequacy(
    rule: MarginRule, asked: Sequence[Demand], *, discount: float, df: Callable[[int], int] = block_df
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
    rule: MarginRule, *, effect: float, sd: float, discount: float, df: Callable[[int], int] = block_df
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
    edge = _adequate_up_to(rule, sd, discount=discount, df=df)
    inside = 1 - float(special.chdtrc(nu, nu * edge * edge)) if math.isfinite(edge) else 1.0
    x, weights = np.polynomial.legendre.leggauss(NODES)
    total: Counter[MarginAnswer] = Counter()
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
    return {answer: chance for answer, chance in total.most_common() if chance > 0}


def _given_error(
    nulls: Nulls, bars: _Bars, u: float, *, mean: float, error: float, adequate: bool
) -> list[tuple[MarginAnswer, float]]:
    """The answers and their chances where the standard error seen is u and the true one `error`."""

    def far(t: float) -> float:
        return t * u if math.isfinite(t) else math.inf

    ends = {
        "below_claim": (nulls.claimed - far(bars.full), True),
        "above_alleged": (nulls.alleged + far(bars.full), False),
        "below_middle": (nulls.middle - far(bars.middle), True),
        "above_middle": (nulls.middle + far(bars.middle), False),
        "below_claim_now": (nulls.claimed - far(bars.middle), True),
        "above_alleged_now": (nulls.alleged + far(bars.middle), False),
    }
    cuts = sorted({end for end, _ in ends.values() if math.isfinite(end)})
    edges = [-math.inf, *cuts, math.inf]
    phi = special.ndtr((np.array(edges) - mean) / error)
    found = []
    for low, high, chance in zip(edges[:-1], edges[1:], np.diff(phi), strict=True):
        facts = {name: (high <= end) if under else (low >= end) for name, (end, under) in ends.items()}
        found.append((decide(malformed=False, too_few=False, adequate=adequate, **facts), float(chance)))
    return found


def _adequate_up_to(rule: MarginRule, sd: float, *, discount: float, df: Callable[[int], int]) -> float:
    """The largest sample sd, in units of sd, at which the registered maximum is adequate; by bisection."""
    n = rule.maximum

    def adequate(ratio: float) -> bool:
        asked = demands(rule.nulls, sd=sd_upper_bound(sd * ratio, df(n)), threshold=float(rule.threshold))
        return could_decide(asked, n=n, discount=discount, df=df)

    low, high = 1e-6, 10.0
    if not adequate(low):
        return 0.0
    if adequate(high):
        return math.inf
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if adequate(middle) else (low, middle)
    return low


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


def power_record(
    effect: float, answers: Mapping[MarginAnswer, float], *, mean_n: float, method: str, **simulated: int
) -> MarginPower:
    """The power record of answers with these probabilities."""
    outcomes: Counter[Outcome] = Counter()
    for answer, chance in answers.items():
        outcomes[answer.outcome] += chance  # type: ignore[assignment]  # a Counter of probabilities
    return MarginPower(
        effect=effect,
        answers=answers,
        outcomes=dict(outcomes.most_common()),
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
