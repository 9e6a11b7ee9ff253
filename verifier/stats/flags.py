"""Flags by name, each with its evidence: what a table of runs shows that its printed summary does not say.

A flag decides nothing. Each function looks for one thing and returns a Flag or None; what it cannot judge it does not
flag.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import special

from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.stats.laws import Floats

RARE = 1e-3
"""A pattern is flagged where chance shows it less often than this."""
TELLING = 1.25
"""Two errors are told apart where the larger is at least this many times the smaller."""
LEAST_FOR_SKEW = 8  # what D'Agostino's transformation needs


@dataclass(frozen=True, kw_only=True)
class Flag:
    """One thing that was seen: its name, a sentence with the evidence, and the numbers in it by name."""

    name: str
    evidence: str
    numbers: Mapping[str, float | int]


def shared_seeds(seeds: Mapping[str, Sequence[Hashable]]) -> Flag | None:
    """Flags seeds that drive more than one cell of a table whose cells are treated as independent.

    seeds: for each cell (a scale, an arm, a team) the seeds of its runs, as written.
    """
    cells: dict[Hashable, list[str]] = {}
    for cell, used in seeds.items():
        for seed in dict.fromkeys(used):
            cells.setdefault(seed, []).append(cell)
    shared = {seed: names for seed, names in cells.items() if len(names) > 1}
    if not shared:
        return None
    seed, names = max(shared.items(), key=lambda item: len(item[1]))
    return Flag(
        name="shared-seeds",
        evidence=(
            f"{len(shared)} of {len(cells)} seeds drive more than one of the {len(seeds)} cells, seed {seed!s:.40} "
            f"{len(names)} of them, so the cells are not independent"
        ),
        numbers={"shared": len(shared), "seeds": len(cells), "cells": len(seeds), "most_cells": len(names)},
    )


def clustered_cells(values: npt.ArrayLike, clusters: Sequence[Hashable]) -> Flag | None:
    """Flags rows that come in clusters (seeds, teams, test sets) whose rows resemble each other.

    values: (rows,) float; clusters: each row's cluster. Flagged where the one-way F test has p < 1e-3 (Fisher 1925) and
    the cluster error of the mean exceeds the row error by a quarter. The intraclass correlation is the ANOVA estimate,
    the design effect 1 + (m − 1)·ICC (Kish 1965). Raises BadInput where the lengths differ.
    """
    x = _finite(values)
    if len(clusters) != len(x):
        raise BadInput(f"{len(x)} values have {len(clusters)} cluster labels", mend="label every row")
    _, index = np.unique([str(label) for label in clusters], return_inverse=True)
    sizes = np.bincount(index).astype(float)
    k, n = len(sizes), len(x)
    if k < 2 or n <= k:
        return None
    means = np.bincount(index, weights=x) / sizes
    grand = float(x.mean())
    between = float(np.sum(sizes * np.square(means - grand))) / (k - 1)
    within = float(np.sum(np.square(x - means[index]))) / (n - k)
    if between <= 0:
        return None
    f = between / within if within > 0 else math.inf
    p = float(special.fdtrc(k - 1, n - k, f)) if math.isfinite(f) else 0.0
    usual_size = (n - float(np.sum(sizes**2)) / n) / (k - 1)
    icc = (between - within) / (between + (usual_size - 1) * within)
    effect = 1 + (usual_size - 1) * icc
    rows_error = math.sqrt(float(x.var(ddof=1)) / n)
    # the sum over clusters of squared deviations of totals: right for unequal sizes too (Kish 1965, ratio mean)
    cluster_error = math.sqrt(k / (k - 1) * float(np.sum(np.square(sizes * (means - grand))))) / n
    if p >= RARE or cluster_error < TELLING * rows_error:
        return None
    return Flag(
        name="clustered-cells",
        evidence=(
            f"{n} rows come in {k} clusters with intraclass correlation {icc:.2g} (F test p = {p:.1g}); as independent "
            f"rows the mean's error is {rows_error:.3g}, by clusters {cluster_error:.3g}, so they weigh as "
            f"{n / effect:.3g} rows"
        ),
        numbers={
            "rows": n,
            "clusters": k,
            "icc": icc,
            "p": p,
            "design_effect": effect,
            "stderr_rows": rows_error,
            "stderr_clusters": cluster_error,
        },
    )


def marginal_error(left: npt.ArrayLike, right: npt.ArrayLike, *, printed: str) -> Flag | None:
    """Flags a printed error of a paired difference that is the error for two independent samples.

    left, right: (n,) paired values. printed: the error as printed, "0.31"; its last digit is the tolerance. Flagged
    where it rounds to √((s_x² + s_y²)/n) and not to the paired error, and the two differ by a quarter. Raises BadInput
    for unequal lengths or a printed error that is no number.
    """
    x, y = _finite(left), _finite(right)
    if len(x) != len(y):
        raise BadInput(f"{len(x)} left values are paired with {len(y)} right ones", mend="pair every value")
    n = len(x)
    if n < 2:
        return None
    value, unit = _printed(printed)
    paired = math.sqrt(float(np.var(x - y, ddof=1)) / n)
    marginal = math.sqrt((float(np.var(x, ddof=1)) + float(np.var(y, ddof=1))) / n)
    apart = max(paired, marginal) >= TELLING * min(paired, marginal)
    if not apart or abs(value - marginal) > unit / 2 or abs(value - paired) <= unit / 2:
        return None
    return Flag(
        name="marginal-error-for-paired",
        evidence=(
            f"the printed error {printed} is that of two independent samples ({marginal:.4g}); the {n} pairs give "
            f"{paired:.4g}"
        ),
        numbers={"printed": value, "marginal": marginal, "paired": paired, "n": n},
    )


def prediction_interval(values: npt.ArrayLike, *, low: str, high: str, level: float = 0.95) -> Flag | None:
    """Flags an interval called a confidence interval that fits where the next value, not the mean, will lie.

    values: (n,) that it was made from. low, high: the ends as printed; their last digits are the tolerance. Flagged
    where both ends round to x̄ ± t·s·√(1 + 1/n) or to x̄ ± z·s and not to x̄ ± t·s/√n. Raises BadInput for ends that are
    no numbers.
    """
    x = _finite(values)
    n = len(x)
    ends = (_printed(low), _printed(high))
    if n < 2:
        return None
    mean, sd = float(x.mean()), float(x.std(ddof=1))
    t = float(special.stdtrit(n - 1, (1 + level) / 2))
    z = float(special.ndtri((1 + level) / 2))

    def fits(reach: float) -> bool:
        wanted = (mean - reach, mean + reach)
        return all(abs(end - want) <= unit / 2 for (end, unit), want in zip(ends, wanted, strict=True))

    confidence = t * sd / math.sqrt(n)
    found = next((reach for reach in (t * sd * math.sqrt(1 + 1 / n), z * sd, 2 * sd) if fits(reach)), None)
    if found is None or fits(confidence) or sd == 0:
        return None
    return Flag(
        name="prediction-interval",
        evidence=(
            f"[{low}, {high}] is {mean:.4g} ± {found:.4g}, which is where a next value may lie; the mean of these {n} "
            f"has the {level:.0%} interval ± {confidence:.4g}"
        ),
        numbers={"mean": mean, "half_width": found, "confidence_half_width": confidence, "n": n},
    )


def identical_to_printed(measured: Mapping[str, str], printed: Mapping[str, str], *, sd: float) -> Flag | None:
    """Flags measured values that are the printed ones, digit for digit, where noise should tell them apart.

    measured, printed: by cell, as written. sd: of one measured value, from other runs. A value with noise sd agrees
    with a number printed to u by chance at most u/(sd·√(2π)) of the time, the density's peak times the width; cells
    count as independent. A cell agrees where measured, as written, is the same number. Flagged below 1e-3, by the
    binomial chance of so many agreements. Raises BadInput for a number that is none, or an sd not above 0.
    """
    if not sd > 0:
        raise BadInput(f"the standard deviation {sd:g} is not above zero", mend="take it from runs that vary")
    cells = [cell for cell in measured if cell in printed]
    same = [cell for cell in cells if _exact(measured[cell]) == _exact(printed[cell])]
    if not same:
        return None
    chance = max(min(1.0, _printed(printed[cell])[1] / (sd * math.sqrt(2 * math.pi))) for cell in cells)
    p = float(special.betainc(len(same), len(cells) - len(same) + 1, chance)) if chance < 1 else 1.0
    if p >= RARE:
        return None
    return Flag(
        name="identical-to-printed",
        evidence=(
            f"{len(same)} of {len(cells)} measured values are the printed ones to the last digit, such as "
            f"{same[0]!s:.40}; with noise of {sd:.3g} a value agrees "
            f"by chance at most {chance:.2g} of the time (p = {p:.1g})"
        ),
        numbers={"identical": len(same), "cells": len(cells), "chance": chance, "p": p},
    )


def zero_variance(values: npt.ArrayLike, *, unit: float | None = None) -> Flag | None:
    """Flags replicates that are all equal, or equal but for rounding: one run repeated, or digits cut off.

    values: (n,), n ≥ 2. unit: of the last printed digit, where the values were rounded. Then the sd may be as
    large as u/(2√2 erf⁻¹(.05^(1/n))), under which n normal values share one rounding cell at most 5 % of
    the time, the mean lying in its middle. Spreads within 8 units in the last place of a double count as none.
    """
    x = _finite(values)
    n = len(x)
    if n < 2:
        return None
    spread = float(np.ptp(x))
    rounding = 8 * float(np.spacing(np.abs(x).max()))
    if spread > rounding:
        return None
    numbers: dict[str, float | int] = {"n": n, "value": float(x[0]), "spread": spread}
    how = "are all" if spread == 0 else f"differ by no more than arithmetic rounding ({spread:.1g}), all"
    sentence = f"{n} replicates {how} {float(x[0]):.12g}"
    if unit is not None and unit > 0:
        bound = unit / (2 * math.sqrt(2) * float(special.erfinv(0.05 ** (1 / n))))
        numbers["sd_upper"] = bound
        sentence += f"; rounded to {unit:g} they leave room for a standard deviation up to {bound:.2g}"
    else:
        sentence += "; one run repeated, a seed that is not used or digits cut off look the same as no variance"
    return Flag(name="zero-variance", evidence=sentence, numbers=numbers)


def skew(values: npt.ArrayLike) -> Flag | None:
    """Flags a sample whose skewness is more than chance, for the t e-process takes noise to be nearly symmetric.

    values: (n,), n ≥ 8. D'Agostino's (1970) normal transformation of √b₁, two-sided p < 1e-3.
    """
    x = _finite(values)
    n = len(x)
    if n < LEAST_FOR_SKEW:
        return None
    centred = x - x.mean()
    second = float(np.mean(np.square(centred)))
    if second <= (1e-15 * float(np.abs(x).max())) ** 2:
        return None  # no variance has no skewness
    root_b1 = float(np.mean(centred**3)) / second**1.5
    p = skewness_p(root_b1, n)
    if p >= RARE:
        return None
    side = "high" if root_b1 > 0 else "low"
    return Flag(
        name="skew",
        evidence=f"skewness {root_b1:.2f} over {n} replicates (p = {p:.1g}): a few {side} values carry the mean",
        numbers={"skewness": root_b1, "n": n, "p": p},
    )


def skewness_p(root_b1: float, n: int) -> float:
    """The two-sided p-value of a sample skewness √b₁ of n ≥ 8 normal values (D'Agostino 1970)."""
    y = root_b1 * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    kurtosis = 3 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    w2 = math.sqrt(2 * (kurtosis - 1)) - 1
    delta, alpha = 1 / math.sqrt(0.5 * math.log(w2)), math.sqrt(2 / (w2 - 1))
    z = delta * math.asinh(y / alpha)
    return float(2 * special.ndtr(-abs(z)))


def _finite(values: npt.ArrayLike) -> Floats:
    x = np.asarray(values, float).ravel()
    if not np.isfinite(x).all():
        raise BadInput("a value is not a finite number", mend="leave out runs without an answer")
    return x


def _exact(text: str) -> Fraction:
    return parse_rational(text)


def _printed(text: str) -> tuple[float, float]:
    """A decimal as printed, and the unit of its last digit: "0.310" is .31 and .001, "3.1e-2" .031 and .001."""
    value = _exact(text)
    if "/" in text:
        raise BadInput(f"{text} is a fraction, which has no last digit", mend="give the decimal as printed")
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(value), 10.0 ** (int(exponent or 0) - decimals)
