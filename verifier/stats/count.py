"""The count rule: how many of a finite list of N have a property, as claimed or as alleged? Drawn without replacement.

The list is registered and so is the order of reading, drawn at random; what has been read can only be counted, and when
all N are read the answer is exact. Until then the evidence that more than K of the N have the property averages, over
every larger number K', the likelihood ratio of K' against K: each falls under a smaller true number, so the average is
a supermartingale under all of them.

Sources: Waudby-Smith and Ramdas (2020), Confidence sequences for sampling without replacement, the prior-posterior
ratio of a hypergeometric sample; Ville (1939). A rate per time or area is no count of a list and does not belong here.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import special

from verifier.model.errors import BadInput
from verifier.model.results import Adequacy
from verifier.stats.bounded_design import CountRule
from verifier.stats.critical import POWER
from verifier.stats.laws import Floats
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_rule import MarginEvidence, margin_finding
from verifier.stats.margin_statistics import Effect, MarginFinding, MarginPower
from verifier.stats.proportion import LARGEST_LOG, binary
from verifier.stats.stopping import Ints, chain_power


def log_e_more(size: int, *, null: int, found: npt.ArrayLike, read: int) -> Floats:
    """Log evidence that more than `null` of the `size` have the property, for numbers found among `read`, elementwise.

    A number found above the null is a witness, and evidence is 0 (−∞) where the null's own complement is exhausted. The
    average over K' = null + 1 … N of the likelihood ratios is a hypergeometric tail:
    Σ C(K', s) C(N − K', n − s) = C(N + 1, n + 1) P(Y ≤ s), Y drawn with n + 1 of N + 1 from null + 1.
    """
    at = np.asarray(found, np.int64)
    if null >= size:
        return np.full(at.shape, -np.inf)  # no more than all of them
    if null < 0:
        return np.full(at.shape, LARGEST_LOG)  # more than −1 of them
    s, missed = at.astype(float), read - at.astype(float)
    logs = (
        _log_tail(at, size + 1, null + 1, read + 1)
        + _log_choose(size + 1.0, read + 1.0)
        - math.log(size - null)
        - np.where(s > null, 0.0, _log_choose(float(null), s))
        - np.where(missed > size - null, 0.0, _log_choose(float(size - null), missed))
    )
    logs = np.where(missed > size - null, -np.inf, np.where(s > null, LARGEST_LOG, logs))
    return np.asarray(np.minimum(logs, LARGEST_LOG))


def log_e_fewer(size: int, *, null: int, found: npt.ArrayLike, read: int) -> Floats:
    """Log evidence that fewer than `null` of the `size` have it: `log_e_more` of what has it not."""
    return log_e_more(size, null=size - null, found=read - np.asarray(found, np.int64), read=read)


def count_evidence(rule: CountRule, found: npt.ArrayLike, read: int) -> MarginEvidence:
    """Log evidence against the four nulls after `read` things, at each of the numbers found, any shape."""
    most_alleged, most_middle = math.floor(rule.alleged * rule.size), math.floor(rule.middle * rule.size)
    least_middle, least_claimed = math.ceil(rule.middle * rule.size), math.ceil(rule.claimed * rule.size)
    return MarginEvidence(
        below_claim=log_e_fewer(rule.size, null=least_claimed, found=found, read=read),
        above_alleged=log_e_more(rule.size, null=most_alleged, found=found, read=read),
        below_middle=log_e_fewer(rule.size, null=least_middle, found=found, read=read),
        above_middle=log_e_more(rule.size, null=most_middle, found=found, read=read),
    )


def exact_evidence(rule: CountRule, found: int) -> MarginEvidence:
    """What reading the whole list settles: certainty for each side that holds, nothing for one that does not."""
    share = Fraction(found, rule.size)

    def certain(holds: bool) -> Floats:  # noqa: FBT001  # a private switch between two constants
        return np.array([LARGEST_LOG if holds else -np.inf])

    return MarginEvidence(
        below_claim=certain(share < rule.claimed),
        above_alleged=certain(share > rule.alleged),
        below_middle=certain(share < rule.middle),
        above_middle=certain(share > rule.middle),
    )


def count_interval(size: int, *, found: int, read: int, level: float = 0.95) -> tuple[int, int]:
    """The least and largest number of the list that neither one-sided process holds against at 2/(1 − level).

    Valid at any stopping time, and the exact number once all are read. By bisection: the evidence for more than K falls
    in K.
    """
    bar = math.log(2 / (1 - level))

    def least(hits: int) -> int:
        low, high = -1, size - (read - hits)  # evidence for more than low is enough, for more than high is not
        while high - low > 1:
            middle = (low + high) // 2
            if float(log_e_more(size, null=middle, found=hits, read=read)) >= bar:
                low = middle
            else:
                high = middle
        return low + 1

    return least(found), size - least(read - found)


def evaluate(
    rule: CountRule, values: npt.ArrayLike, *, discount: float, last: bool, stopped_at: int | None = None
) -> MarginFinding:
    """The rule's finding after the part of the list that was read, recomputed from the prefix of every earlier look.

    values: (n,), 1 where the property holds and 0 where not, in the registered order of reading. Once all N are read
    the finding is exact: earlier looks, the threshold, the discount and `minimum_n` play no part. discount, last,
    stopped_at: as for every margin rule. Raises BadInput for other values, and an n that is no registered look.
    """
    values = binary(values)
    n, found = len(values), int(values.sum())
    if n > rule.size:
        raise BadInput(f"{n} were read of a list of {rule.size}", mend="read each listed thing once")
    if n == rule.size:
        return _exact_finding(rule, found)
    looks = rule.looks_made(n)
    running = np.cumsum(values)
    each = [count_evidence(rule, running[look - 1 : look], look) for look in looks]
    names = ("below_claim", "above_alleged", "below_middle", "above_middle")
    evidence = MarginEvidence(
        **{name: np.concatenate([np.zeros(0), *(getattr(e, name) for e in each)]) for name in names}
    )
    return margin_finding(
        rule,
        evidence,
        n=n,
        discount=discount,
        last=last,
        adequate=adequacy(rule, discount=discount),
        malformed="" if n else "nothing was read",
        effect=_effect(rule, found, n) if n else None,
        reported={"found": found, "size": rule.size, "exact": False},
        stopped_at=stopped_at,
    )


def _effect(rule: CountRule, found: int, read: int) -> Effect:
    share = found / read
    unread = (rule.size - read) / max(rule.size - 1, 1)
    low, high = count_interval(rule.size, found=found, read=read)
    return Effect(
        estimate=share,
        stderr=math.sqrt(share * (1 - share) / read * unread),
        interval=(low / rule.size, high / rule.size),
    )


def _exact_finding(rule: CountRule, found: int) -> MarginFinding:
    """The finding once the whole list is read: certain, so nothing is discounted and no minimum withholds it."""
    whole = replace(rule, looks=(rule.size,), minimum_n=min(rule.minimum_n, rule.size))
    return margin_finding(
        whole,
        exact_evidence(rule, found),
        n=rule.size,
        discount=1.0,
        last=True,  # nothing is left to read
        adequate=Adequacy(adequate=True, needed={rule.unit: rule.size}),
        effect=Effect(estimate=found / rule.size, stderr=0.0, interval=(found / rule.size, found / rule.size)),
        reported={"found": found, "size": rule.size, "exact": True},
    )


@functools.lru_cache(maxsize=256)
def adequacy(rule: CountRule, *, discount: float) -> Adequacy:
    """Whether the registered maximum decides with 90 % either way, and how many of the list would."""
    n = needed(rule, discount=discount)
    return Adequacy(adequate=_enough(rule, rule.maximum, discount=discount), needed={} if n is None else {rule.unit: n})


def needed(rule: CountRule, *, discount: float = 1.0) -> int | None:
    """The least n, by bisection, at which a single look decides rightly with probability 0.9 at both alternatives.

    The alternatives are the largest number that is at most the alleged share and the smallest that reaches the claimed
    one. Reading all N always does, unless no number lies on one of the sides: then None.
    """
    low, high = max(1, rule.minimum_n) - 1, rule.size
    if not _enough(rule, high, discount=discount):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _enough(rule, middle, discount=discount) else (middle, high)
    return high


def power(rule: CountRule, effect: Fraction | float, *, discount: float = 1.0) -> MarginPower:
    """The exact probability of each answer when `effect` of the list, to the nearest whole number, have the property.

    A dynamic programme over the number found. Raises BadInput unless the effect lies in [0, 1].
    """
    if not 0 <= effect <= 1:
        raise BadInput(f"{float(effect):g} is no share of a list", mend="give a true share between 0 and 1")
    return _power_of(rule, round(effect * rule.size), discount=discount, adequate=None)


def _power_of(rule: CountRule, have: int, *, discount: float, adequate: bool | None) -> MarginPower:
    size = rule.size

    def step(read: int, more: int, found: Ints) -> tuple[int, Floats]:
        left = have - found[:, None]
        mean = more * left / max(size - read, 1)
        spread = 10 * math.sqrt(more / 4) + 50
        least, most = max(0, math.floor(mean.min() - spread)), min(more, math.ceil(mean.max() + spread))
        added = np.arange(least, most + 1.0)[None, :]
        return least, np.exp(_log_hypergeometric(added, size - read, left, more))

    def evidence(read: int, found: Ints) -> MarginEvidence:
        if read < size:
            return count_evidence(rule, found, read)
        each = [exact_evidence(rule, int(k)) for k in found]
        return MarginEvidence(
            below_claim=np.concatenate([e.below_claim for e in each]),
            above_alleged=np.concatenate([e.above_alleged for e in each]),
            below_middle=np.concatenate([e.below_middle for e in each]),
            above_middle=np.concatenate([e.above_middle for e in each]),
        )

    if adequate is None:
        adequate = adequacy(rule, discount=discount).adequate
    return chain_power(rule, effect=have / size, discount=discount, adequate=adequate, evidence=evidence, step=step)


def _enough(rule: CountRule, n: int, *, discount: float) -> bool:
    """Whether a single look at n decides rightly with probability 0.9 at both alternatives."""
    alleged, claimed = math.floor(rule.alleged * rule.size), math.ceil(rule.claimed * rule.size)
    once = replace(rule, looks=(n,), minimum_n=min(rule.minimum_n, n))
    for have, right in ((alleged, MarginAnswer.BELOW_CLAIM), (claimed, MarginAnswer.ABOVE_ALLEGED)):
        if not 0 <= have <= rule.size:
            return False
        if _power_of(once, have, discount=discount, adequate=True).answers.get(right, 0.0) < POWER:
            return False
    return True


def _log_choose(n: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """The logarithm of C(n, k), elementwise; −∞ where k is negative or exceeds n."""
    n, k = np.broadcast_arrays(np.asarray(n, float), np.asarray(k, float))
    inside = (k >= 0) & (k <= n)
    safe_n, safe_k = np.where(inside, n, 0.0), np.where(inside, k, 0.0)
    logs = special.gammaln(safe_n + 1) - special.gammaln(safe_k + 1) - special.gammaln(safe_n - safe_k + 1)
    return np.where(inside, logs, -np.inf)


def _log_hypergeometric(hits: npt.ArrayLike, size: int, have: npt.ArrayLike, drawn: int) -> Floats:
    """The logarithm of P(hits) when `drawn` of `size` are drawn without replacement and `have` count; elementwise."""
    hits, have = np.asarray(hits, float), np.asarray(have, float)
    return _log_choose(have, hits) + _log_choose(size - have, drawn - hits) - _log_choose(float(size), float(drawn))


def _log_tail(most: Ints, size: int, have: int, drawn: int) -> Floats:
    """The logarithm of P(Y ≤ most) for Y hypergeometric; elementwise.

    The probabilities fall off from the mode at least like a binomial's, so that ten standard deviations below it, or
    below the least `most`, nothing is left to add.
    """
    mode = (drawn + 1) * (have + 1) // (size + 2)
    first = max(0, min(int(most.min()), mode) - math.ceil(5 * math.sqrt(drawn)) - 60)
    hits = np.arange(first, int(most.max()) + 1)
    tail = np.logaddexp.accumulate(_log_hypergeometric(hits, size, have, drawn))
    return np.asarray(tail[most - first])
