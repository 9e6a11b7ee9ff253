"""What a reader may expect beside a margin rule's answer. Reported only: none of it decides anything."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

D33_POWER = 1 / 3
LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class Tost:
    """Two one-sided t tests that the mean lies between `low` and `high` (Schuirmann 1987).

    p_low: against a mean of `low` or less. p_high: against a mean of `high` or more. p: the larger, the test's own.
    """

    low: float
    high: float
    p_low: float
    p_high: float

    @property
    def p(self) -> float:
        """The p-value of the equivalence test."""
        return max(self.p_low, self.p_high)


@dataclass(frozen=True, kw_only=True)
class SmallTelescopes:
    """d33 (Simonsohn 2015): the effect, in standard deviations, that the paper's n would have found in one of three.

    original_n: replicates in the paper. d33: the effect at which a two-sided 5 % t test on them has power ⅓. p: of the
    one-sided test whose alternative is that the effect here is smaller than that.
    """

    original_n: int
    d33: float
    p: float


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The 95 % interval for the mean of `n` further replicates, at a fixed n here: not a confidence interval."""

    n: int
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Reported:
    """All of it; None where it cannot be given."""

    tost: Tost | None
    prediction: Prediction | None
    small_telescopes: SmallTelescopes | None


def tost(*, mean: float, stderr: float, df: float, low: float, high: float) -> Tost:
    """The two one-sided tests from a mean and its standard error."""
    return Tost(
        low=low,
        high=high,
        p_low=float(special.stdtr(df, (low - mean) / stderr)),
        p_high=float(special.stdtr(df, (mean - high) / stderr)),
    )


def d33(n: int) -> float:
    """The effect in standard deviations at which the two-sided 5 % one-sample t test on n replicates has power ⅓.

    By bisection on the noncentral t's two tails; NaN for n < 2.
    """
    if n < 2:
        return math.nan
    quantile = float(special.stdtrit(n - 1.0, 1 - LEVEL / 2))

    def power(d: float) -> float:
        shift = d * math.sqrt(n)
        return 1.0 - float(special.nctdtr(n - 1.0, shift, quantile)) + float(special.nctdtr(n - 1.0, shift, -quantile))

    low, high = 0.0, 2.0
    while power(high) < D33_POWER:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle) < D33_POWER else (low, middle)
    return high


def small_telescopes(*, mean: float, stderr: float, df: float, n: float, original_n: int) -> SmallTelescopes:
    """Whether the effect seen is smaller than d33 of the paper's n: P(T ≤ t) for the noncentral T of that effect."""
    d = d33(original_n)
    p = float(special.nctdtr(df, d * math.sqrt(n), mean / stderr))
    return SmallTelescopes(original_n=original_n, d33=d, p=p)


def prediction(*, mean: float, stderr: float, df: float, n: float, further: int) -> Prediction:
    """Mean ± t_.975 · sd · √(1/n + 1/further), for the mean of `further` replicates of the same kind."""
    reach = float(special.stdtrit(df, 1 - LEVEL / 2)) * stderr * math.sqrt(1 + n / further)
    return Prediction(n=further, low=mean - reach, high=mean + reach)


def reported(
    *, mean: float, stderr: float, df: float, n: float, null: float, margin: float, original_n: int | None
) -> Reported | None:
    """What is reported of a mean with its standard error. None where it has no error.

    mean: 0 where there is no effect. null: what is alleged; equivalence to it is asked within ± margin. original_n: the
    paper's replicates, if registered; the prediction is then for as many, else for as many as here.
    """
    if not (stderr > 0 and math.isfinite(stderr) and df >= 1):
        return None
    further = round(n) if original_n is None else original_n
    return Reported(
        tost=tost(mean=mean, stderr=stderr, df=df, low=null - margin, high=null + margin),
        prediction=prediction(mean=mean, stderr=stderr, df=df, n=n, further=further),
        small_telescopes=None
        if original_n is None or original_n < 2
        else small_telescopes(mean=mean, stderr=stderr, df=df, n=n, original_n=original_n),
    )
