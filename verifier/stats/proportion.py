"""The proportion rule: whether a success probability is as large as claimed, or only as large as alleged.

Independent trials. Evidence for p > a is the likelihood ratio against a averaged over a uniform prior on (a, 1]; it
falls in p below a, so it is a supermartingale under every p ≤ a, looked at as often as one likes.

Sources: Ville (1939); Robbins (1970), the method of mixtures; Clopper and Pearson (1934) for the interval shown beside.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import special

from verifier.model.errors import BadInput
from verifier.model.results import Adequacy
from verifier.stats.bounded_design import ProportionRule
from verifier.stats.critical import POWER, log_threshold
from verifier.stats.laws import Floats
from verifier.stats.margin_design import MIDDLE_BAR
from verifier.stats.margin_rule import MarginEvidence, margin_finding
from verifier.stats.margin_statistics import Effect, MarginFinding, MarginPower
from verifier.stats.significance import _beta_fraction
from verifier.stats.stopping import Ints, chain_power, least_n

LARGEST_LOG = math.log(sys.float_info.max)
"""ln E of a witness: what cannot happen under the null has infinite evidence, written as the largest double."""
MOST_TRIALS = 10**9
SURELY = 1e-280  # a tail this small is taken from its continued fraction instead


def log_e_above(successes: npt.ArrayLike, trials: npt.ArrayLike, *, null: float) -> Floats:
    """Log of ∫_a^1 (p/a)^s ((1−p)/(1−a))^f dp/(1−a): the evidence that p > a after s successes and f failures.

    Elementwise over integer arrays. null: a in [0, 1). At a = 0 one success is a witness.

    The integral is B(s+1, f+1)·I_{1−a}(f+1, s+1) over a^s (1−a)^(f+1). Where that tail underflows, the incomplete beta
    function's continued fraction C (Abramowitz and Stegun 1964, 26.5.8) leaves a/(f+1)·C, in which nothing does.
    """
    s, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    f = n - s
    if null >= 1:
        return np.full(s.shape, -np.inf)  # no probability exceeds one
    if null <= 0:
        return np.where(s > 0, LARGEST_LOG, -np.log1p(f))
    tail = np.asarray(special.betainc(f + 1, s + 1, 1 - null))
    with np.errstate(divide="ignore"):
        logs = np.log(tail) + special.betaln(s + 1, f + 1) - s * math.log(null) - (f + 1) * math.log1p(-null)
    far = np.atleast_1d(tail < SURELY)
    logs = np.atleast_1d(logs)
    if far.any():
        f_far, s_far = np.atleast_1d(f)[far], np.atleast_1d(s)[far]
        fraction = _beta_fraction(f_far + 1, s_far + 1, np.full(f_far.shape, 1 - null))  # type: ignore[arg-type]  # b broadcasts
        logs[far] = math.log(null) - np.log1p(f_far) + np.log(fraction)
    return np.asarray(np.minimum(logs.reshape(s.shape), LARGEST_LOG))


def log_e_below(successes: npt.ArrayLike, trials: npt.ArrayLike, *, null: float) -> Floats:
    """Log evidence that p < c, for c in (0, 1]: `log_e_above` with failures for successes, and 1 − c for a."""
    return log_e_above(np.asarray(trials) - np.asarray(successes), trials, null=1 - null)


def clopper_pearson(successes: int, trials: int, *, level: float = 0.95) -> tuple[float, float]:
    """The exact fixed-n interval for a proportion (Clopper and Pearson 1934): quantiles of two beta distributions.

    Raises BadInput unless 0 ≤ successes ≤ trials and trials > 0.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise BadInput(f"{successes} successes in {trials} trials is no proportion")
    tail = (1 - level) / 2
    s, f = successes, trials - successes
    low = float(special.betaincinv(s, f + 1, tail)) if s else 0.0
    high = 1 - float(special.betaincinv(f, s + 1, tail)) if f else 1.0
    return low, high


def proportion_interval(successes: int, trials: int, *, level: float = 0.95) -> tuple[float, float]:
    """The proportions that neither one-sided process holds against at 2/(1 − level): valid at any stopping time.

    Each end by bisection to the last bit, for the evidence above a falls in a (Robbins 1970, both tails).
    """
    bar = math.log(2 / (1 - level))

    def lower(s: int) -> float:
        low, high = 0.0, 1.0  # evidence for p > low at or over the bar, for p > high not
        if float(log_e_above(s, trials, null=0.0)) < bar:
            return 0.0
        while True:
            middle = (low + high) / 2
            if middle in (low, high):
                return low
            if float(log_e_above(s, trials, null=middle)) >= bar:
                low = middle
            else:
                high = middle

    return lower(successes), 1 - lower(trials - successes)


def proportion_evidence(rule: ProportionRule, successes: npt.ArrayLike, trials: npt.ArrayLike) -> MarginEvidence:
    """Log evidence against the four nulls, elementwise over successes and trials."""
    alleged, middle, claimed = rule.nulls
    return MarginEvidence(
        below_claim=log_e_below(successes, trials, null=claimed),
        above_alleged=log_e_above(successes, trials, null=alleged),
        below_middle=log_e_below(successes, trials, null=middle),
        above_middle=log_e_above(successes, trials, null=middle),
    )


def evaluate(
    rule: ProportionRule,
    values: npt.ArrayLike,
    *,
    discount: float,
    last: bool,
    stopped_at: int | None = None,
) -> MarginFinding:
    """The rule's finding after the trials seen, recomputed from the prefix of every earlier look.

    values: (n,) outcomes in the registered order, 1 a success and 0 a failure, integers, booleans or floats. discount:
    6/(π² l²) of the l-th registration. last: no further look follows. stopped_at: the look of the registered stop
    where data go on beyond it. Raises BadInput for any other value, and an n that is no registered look.
    """
    values = binary(values)
    looks = rule.looks_made(len(values))
    successes = np.cumsum(values)[np.asarray(looks, dtype=np.int64) - 1] if looks else np.zeros(0, np.int64)
    n, s = len(values), int(values.sum())
    evidence = proportion_evidence(rule, successes, np.asarray(looks))
    return margin_finding(
        rule,
        evidence,
        n=n,
        discount=discount,
        last=last,
        adequate=adequacy(rule, discount=discount),
        malformed="" if n else "there is no trial",
        effect=Effect(estimate=s / n, stderr=math.sqrt(s * (n - s) / n) / n, interval=proportion_interval(s, n))
        if n
        else None,
        reported={"successes": s, "clopper_pearson": clopper_pearson(s, n)} if n else None,
        stopped_at=stopped_at,
    )


def binary(values: npt.ArrayLike) -> Ints:
    """The outcomes as integers 0 and 1, shape (n,). Raises BadInput for anything else, naming the first."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise BadInput("the outcomes are not one row of numbers", mend="write 1 for a success and 0 for a failure")
    wrong = ~((array == 0) | (array == 1))
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        raise BadInput(
            f"outcome {index + 1} is {array[index]:g}, which is neither success nor failure",
            mend="write 1 for a success and 0 for a failure",
        )
    return array.astype(np.int64)


@functools.lru_cache(maxsize=1024)
def adequacy(rule: ProportionRule, *, discount: float) -> Adequacy:
    """Whether the registered maximum decides with 90 % either way, at p = c and at p = a, and the trials that would."""
    n = needed(rule, discount=discount)
    enough = bool(_enough(rule, discount=discount)(np.array([rule.maximum]))[0])
    return Adequacy(adequate=enough, needed={} if n is None else {rule.unit: n})


def needed(rule: ProportionRule, *, discount: float = 1.0) -> int | None:
    """The least n at which a single look decides rightly with probability 0.9, both at p = c and at p = a.

    Exact binomial tails, no simulation. At least `minimum_n`. None where a thousand million trials are not enough.
    """
    return least_n(_enough(rule, discount=discount), start=max(1, rule.minimum_n), most=MOST_TRIALS)


def power(rule: ProportionRule, effect: float | Fraction, *, discount: float = 1.0) -> MarginPower:
    """The exact probability of each answer at the true proportion `effect`, with the registered looks and stops.

    A dynamic programme over the count of successes. Raises BadInput unless the effect lies in [0, 1].
    """
    p = float(effect)
    if not 0 <= p <= 1:
        raise BadInput(f"{p:g} is no probability", mend="give a true proportion between 0 and 1")

    def step(_n: int, more: int, counts: Ints) -> tuple[int, Floats]:
        spread = 10 * math.sqrt(more * p * (1 - p)) + 50  # beyond it lies less than 1e-20
        least, most = max(0, math.floor(more * p - spread)), min(more, math.ceil(more * p + spread))
        row = np.exp(log_binomial(np.arange(least, most + 1.0), float(more), p))
        return least, np.broadcast_to(row, (len(counts), len(row)))

    return chain_power(
        rule,
        effect=p,
        discount=discount,
        adequate=adequacy(rule, discount=discount).adequate,
        evidence=lambda n, s: proportion_evidence(rule, s, n),
        step=step,
    )


def log_binomial(s: Floats, n: float, p: float) -> Floats:
    """The logarithm of P(S = s) for S binomial(n, p), elementwise."""
    ways = -np.log1p(n) - special.betaln(n - s + 1, s + 1)
    return np.asarray(ways + special.xlogy(s, p) + special.xlog1py(n - s, -p))


def _enough(rule: ProportionRule, *, discount: float) -> Callable[[Ints], npt.NDArray[np.bool_]]:
    """Whether a single look at each n decides rightly with probability 0.9 at both alternatives."""
    bars = log_threshold(float(rule.threshold), discount), log_threshold(MIDDLE_BAR, discount)
    alleged, middle, claimed = rule.nulls

    def enough(n: Ints) -> npt.NDArray[np.bool_]:
        against = _wins(n, bars, nulls=(alleged, middle, claimed))
        against_dispute = _at_least(against, n, claimed)
        mirrored = _wins(n, bars, nulls=(1 - claimed, 1 - middle, 1 - alleged))
        for_dispute = _at_least(mirrored, n, 1 - alleged)
        return np.asarray((against_dispute >= POWER) & (for_dispute >= POWER))

    return enough


def _wins(n: Ints, bars: Sequence[float], *, nulls: tuple[float, float, float]) -> Ints:
    """At each n the least s that decides for the larger side: E(p > a) ≥ T, E(p > m) ≥ 20, E(p < c) < 20."""
    a, m, c = nulls
    bar, middle_bar = bars

    def right(s: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(
            (log_e_above(s, n, null=a) >= bar)
            & (log_e_above(s, n, null=m) >= middle_bar)
            & (log_e_below(s, n, null=c) < middle_bar)
        )

    low, high = np.full(n.shape, -1), n + 1  # monotone in s: not at low, and taken to be so at high
    while np.any(high - low > 1):
        middle = (low + high) // 2
        yes = right(np.clip(middle, 0, n))
        high, low = np.where(yes, middle, high), np.where(yes, low, middle)
    return np.asarray(high)


def _at_least(s: Ints, n: Ints, p: float) -> Floats:
    """P(S ≥ s) for S binomial(n, p), elementwise; 0 for s = n + 1 (Abramowitz and Stegun 1964, 26.5.24)."""
    if p >= 1:
        return np.where(s <= n, 1.0, 0.0)
    inside = np.clip(s, 1, n)
    tail = special.betainc(inside.astype(float), (n - inside + 1).astype(float), p)
    return np.where(s <= 0, 1.0, np.where(s > n, 0.0, tail))
