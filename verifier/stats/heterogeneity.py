"""How far teams disagree: a random-effects summary of their estimates, and what separates those that disagree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from verifier.model.complaints import listed, shown
from verifier.model.errors import BadInput, MissingExtra
from verifier.stats.laws import Floats

MOST_ARRANGEMENTS = 200_000
MOST_COVARIATES = 1_000
SOLVER_TOLERANCES = (1e-5, 1e-3)
"""On Q at the estimated τ², of k − 1. statsmodels' solver answers τ² = 0 if rounding carries it past the root, which a
tighter tolerance makes it do in every fifth case; where Q says that τ² is not 0, the next one is tried."""
CAVEAT = "chosen from the covariates after seeing the answers, on few teams: a lead to follow, not a finding"


@dataclass(frozen=True, kw_only=True)
class Heterogeneity:
    """A random-effects summary of teams' estimates.

    estimate: of the mean of teams, in the metric's units. stderr: its Hartung–Knapp standard error; interval: on it,
    with t on teams − 1 degrees of freedom. prediction: where another team's true effect is expected, None for fewer
    than three teams. tau: the standard deviation between teams. q, df, p: Cochran's test that there is none. i2: the
    share of the estimates' variance that is between teams, from 0 to 1. level: of both intervals.
    """

    teams: int
    estimate: float
    stderr: float
    interval: tuple[float, float]
    prediction: tuple[float, float] | None
    tau: float
    q: float
    df: int
    p: float
    i2: float
    level: float


def heterogeneity(estimates: Sequence[float], stderrs: Sequence[float], *, level: float = 0.95) -> Heterogeneity:
    """The mean of the teams and how much they differ. Imports statsmodels (seconds).

    estimates, stderrs: one for each of k ≥ 2 teams, in the metric's units; a team is one estimate, whatever its seeds.

    τ² is Paule and Mandel's (1982). The interval is Hartung and Knapp's (2001), the prediction interval that of
    Higgins, Thompson and Spiegelhalter (2009) with the Hartung–Knapp error, θ̂ ± t_{k−2} √(τ̂² + se²); Q is Cochran's
    (1954), I² that of Higgins and Thompson (2002). With few teams all
    are rough: Q misses much, and at five teams a 95 % prediction interval holds the next team in about 90 %.

    Raises BadInput for fewer than two teams, a standard error that is not positive, a number that is not finite;
    MissingExtra without statsmodels.
    """
    effects, errors = np.asarray(estimates, float), np.asarray(stderrs, float)
    if effects.ndim != 1 or effects.shape != errors.shape or len(effects) < 2:
        raise BadInput(
            "fewer than two teams have an estimate with its standard error", mend="give both for two or more"
        )
    if not (np.isfinite(effects).all() and np.isfinite(errors).all() and (errors > 0).all()):
        raise BadInput(
            "a team's estimate is not finite, or its standard error is not above zero",
            mend="leave out a team without two seeds that differ, and say so",
        )
    if not 0 < level < 1:
        raise BadInput(f"the level {level} is not between 0 and 1", mend="0.95 is usual")
    try:
        from statsmodels.stats.meta_analysis import combine_effects  # noqa: PLC0415  # seconds, and needed only here
    except ModuleNotFoundError as error:
        raise MissingExtra("statsmodels") from error
    # τ² and Q are solved for in units of the errors, where the solver's fixed tolerance means something
    unit = float(np.exp(np.mean(np.log(errors))))
    centre = float(np.median(effects))
    k = len(effects)
    fit = None
    for tolerance in SOLVER_TOLERANCES:
        fit = combine_effects((effects - centre) / unit, np.square(errors / unit), use_t=True, atol=tolerance)
        if fit.tau2 > 0 or fit.q <= k - 1 + tolerance:
            break
    assert fit is not None
    estimate, stderr = centre + unit * float(fit.mean_effect_re), unit * float(fit.sd_eff_w_re_hksj)
    tau = unit * math.sqrt(max(float(fit.tau2), 0.0))
    q = max(float(fit.q), 0.0)
    reach = _t(k - 1, level) * stderr
    ahead = _t(k - 2, level) * math.hypot(tau, stderr) if k > 2 else math.nan
    return Heterogeneity(
        teams=k,
        estimate=estimate,
        stderr=stderr,
        interval=(estimate - reach, estimate + reach),
        prediction=(estimate - ahead, estimate + ahead) if k > 2 else None,
        tau=tau,
        q=q,
        df=k - 1,
        p=float(special.chdtrc(k - 1, q)),
        i2=max(0.0, 1 - (k - 1) / q) if q > 0 else 0.0,
        level=level,
    )


def _t(df: int, level: float) -> float:
    return float(special.stdtrit(float(df), (1 + level) / 2))


@dataclass(frozen=True, kw_only=True)
class Separation:
    """A covariate that separates two camps as well as any does.

    rule: the split in words, which values go with which camp. misplaced: teams on the wrong side of it. p: the share of
    all ways to hand out the camps to these teams in which some covariate separates them at least as well; None where
    they are too many to go through. None of it says that the covariate is the cause.
    """

    covariate: str
    rule: str
    misplaced: tuple[str, ...]
    teams: int
    p: float | None
    caveat: str = CAVEAT


def separating_covariates(
    camps: Mapping[str, bool],
    covariates: Mapping[str, Mapping[str, str | float]],
    *,
    words: tuple[str, str] = ("for", "against"),
) -> tuple[Separation, ...]:
    """The covariates that separate the camps best, all that do equally well; () where none separates at all.

    camps: team → whether it is in the first camp. covariates: name → team → its value, text or number, for every team.
    words: what the camps are called. A text covariate is split into its values in every way, a number at every
    threshold; how well is how few teams lie on the wrong side. p is exact and counts the search over all covariates
    and splits (Pitman 1937; Westfall and Young 1993): a covariate with a value of its own for each team separates
    everything and shows nothing.

    Raises BadInput for a covariate that lacks a team, mixes texts and numbers, or holds NaN.
    """
    teams = sorted(camps)
    camp = np.array([camps[team] for team in teams], bool)
    if len(covariates) > MOST_COVARIATES:
        raise BadInput(f"there are more than {MOST_COVARIATES} covariates", mend="name those that can matter")
    splits = {name: _split(name, [values.get(team) for team in teams]) for name, values in covariates.items()}
    if camp.all() or not camp.any():
        return ()
    observed = {name: int(_misplaced(split, camp[None, :])[0]) for name, split in splits.items()}
    least = min(observed.values(), default=len(teams))
    if least >= min(int(camp.sum()), int((~camp).sum())):
        return ()  # no better than to put every team into the larger camp
    p = _permutation_p(list(splits.values()), camp, least)
    return tuple(
        _separation(name, splits[name], camp, teams=teams, words=words, p=p)
        for name in sorted(observed)
        if observed[name] == least
    )


@dataclass(frozen=True)
class _Split:
    """A covariate's values as indices into its sorted distinct ones; `ordered` for numbers."""

    code: npt.NDArray[np.int64]
    labels: tuple[str, ...]
    ordered: bool


def _split(name: str, values: Sequence[str | float | None]) -> _Split:
    if any(value is None for value in values):
        raise BadInput(f"the covariate {shown(name)} lacks a team", mend="give it for every team, or leave it out")
    texts = [isinstance(value, str) for value in values]
    if any(texts) and not all(texts):
        raise BadInput(f"the covariate {shown(name)} mixes texts and numbers", mend="write all of one kind")
    if all(texts):
        labels, code = np.unique([str(value) for value in values], return_inverse=True)
        return _Split(np.asarray(code, np.int64), tuple(map(str, labels)), ordered=False)
    numbers = np.array(values, float)
    if np.isnan(numbers).any():
        raise BadInput(f"the covariate {shown(name)} holds NaN", mend="give it for every team, or leave it out")
    distinct, code = np.unique(numbers, return_inverse=True)
    return _Split(np.asarray(code, np.int64), tuple(f"{value:g}" for value in distinct), ordered=True)


def _counts(split: _Split, camps: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Teams of the first and the second camp at each value; camps: (arrangements, teams) → (arrangements, values)."""
    member = (split.code[:, None] == np.arange(len(split.labels))).astype(float)
    return camps @ member, ~camps @ member


def _misplaced(split: _Split, camps: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """The fewest teams on the wrong side of any split, for each arrangement; camps: (arrangements, teams)."""
    first, second = _counts(split, camps)
    if not split.ordered:
        return np.asarray(np.minimum(first, second).sum(axis=1), np.int64)
    below_first, below_second = first.cumsum(axis=1), second.cumsum(axis=1)
    wrong = below_second + (below_first[:, -1:] - below_first)  # the first camp up to each value, the second beyond
    return np.asarray(np.minimum(wrong, camps.shape[1] - wrong).min(axis=1), np.int64)


def _permutation_p(splits: Sequence[_Split], camp: npt.NDArray[np.bool_], least: int) -> float | None:
    k, size = len(camp), int(camp.sum())
    number = math.comb(k, size)
    if number * len(splits) > MOST_ARRANGEMENTS * 50 or number > MOST_ARRANGEMENTS:
        return None
    chosen = np.array(list(itertools.combinations(range(k), size)), np.int64)
    camps = np.zeros((number, k), bool)
    np.put_along_axis(camps, chosen, values=True, axis=1)
    as_good = np.zeros(number, bool)
    for split in splits:
        as_good |= _misplaced(split, camps) <= least
    return float(as_good.mean())


def _separation(
    name: str,
    split: _Split,
    camp: npt.NDArray[np.bool_],
    *,
    teams: Sequence[str],
    words: tuple[str, str],
    p: float | None,
) -> Separation:
    first, second = (counts[0] for counts in _counts(split, camp[None, :]))
    if split.ordered:
        wrong = second.cumsum() + (first.sum() - first.cumsum())
        flip = np.minimum(wrong, len(camp) - wrong)
        at = int(flip.argmin())
        side = split.code <= at
        low, high = words if wrong[at] <= len(camp) - wrong[at] else words[::-1]
        in_first = side if low == words[0] else ~side
        rule = f"{low} up to {split.labels[at]}, {high} above"
    else:
        belongs = first > second
        in_first = belongs[split.code]
        halves = [
            [shown(label) for label, here in zip(split.labels, belongs, strict=True) if here == half]
            for half in (True, False)
        ]
        rule = ", ".join(f"{word}: {listed(half, last='or')}" for word, half in zip(words, halves, strict=True) if half)
    misplaced = tuple(team for team, a, b in zip(teams, in_first, camp, strict=True) if a != b)
    return Separation(covariate=name, rule=rule, misplaced=misplaced, teams=len(teams), p=p)
