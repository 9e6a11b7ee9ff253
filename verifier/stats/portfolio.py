"""Many claims at once: which of them survive, and at which rate, when all that were tried are counted.

The evidence of each is what it had at its own declared stop. Two families are kept apart: evidence for the disputes and
evidence against them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from verifier.model.complaints import shown
from verifier.model.errors import BadInput, MissingExtra
from verifier.stats.growth_statistics import e_from_log
from verifier.stats.laws import Floats

Bools: TypeAlias = npt.NDArray[np.bool_]
Kind: TypeAlias = Literal["statistical", "exact", "retrospective"]
Side: TypeAlias = Literal["for", "against"]

ALPHA = 0.05
MOST_ENTRIES = 1_000_000
SLACK = 1e-12  # of a logarithm's rounding: an E of exactly K/(α k) counts
OUTSIDE: dict[Kind, str] = {
    "exact": "exact evidence has no error rate",
    "retrospective": "its data are older than its registration, so its stop was not declared",
}
"""Kind → why an entry of it is in neither family."""


def e_bh_rates(log_e: Floats) -> Floats:
    """The least false discovery rate at which e-BH keeps each claim; log_e: (…, claims) → (…, claims), may exceed 1.

    e-BH at rate α keeps the k claims with the largest E, for the largest k whose k-th largest E is at least
    K/(α k). Its false discovery rate is at most α K₀/K whatever the dependence of the claims, if each E has mean at
    most 1 under its null: an E at its own stopping time has, its supremum has not.
    Source: Wang and Ramdas (2022), False discovery rate control with e-values, the theorem on arbitrary dependence.

    Raises BadInput for NaN.
    """
    logs = np.asarray(log_e, float)
    if np.isnan(logs).any():
        raise BadInput("a claim's E is not a number", mend="leave out claims without an answer, and say so")
    size = logs.shape[-1]
    order = np.argsort(-logs, axis=-1, kind="stable")
    ranks = np.arange(1, size + 1)
    with np.errstate(over="ignore"):
        own = np.exp(math.log(size) - np.log(ranks) - np.take_along_axis(logs, order, axis=-1)) if size else logs
    rates = np.minimum.accumulate(own[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty_like(rates)
    np.put_along_axis(found, order, rates, axis=-1)
    return found


def e_bh(log_e: Floats, *, alpha: float = ALPHA) -> Bools:
    """Which claims e-BH keeps at false discovery rate alpha, bool (…, claims); log_e as for `e_bh_rates`."""
    _check_alpha(alpha)
    return np.asarray(e_bh_rates(log_e) <= alpha * (1 + SLACK))


def holm(log_sup_e: Floats) -> Floats:
    """Holm's adjusted p of each claim from p = min(1, 1/sup E); log_sup_e: (claims,) → (claims,). Imports statsmodels.

    1/sup E is a p-value by Ville's inequality (1939), also where the run went on. The rate that Holm bounds is that of
    any wrong claim among those kept, which is stricter than a false discovery rate.
    Source: Holm (1979), A simple sequentially rejective multiple test procedure.

    Raises BadInput for NaN, which would make every claim's p NaN; MissingExtra without statsmodels.
    """
    logs = np.asarray(log_sup_e, float)
    if np.isnan(logs).any():
        raise BadInput("a claim's sup E is not a number", mend="leave out claims without an answer, and say so")
    if not len(logs):
        return logs
    try:
        from statsmodels.stats.multitest import multipletests  # noqa: PLC0415  # seconds, and needed only here
    except ModuleNotFoundError as error:
        raise MissingExtra("statsmodels") from error
    return np.asarray(multipletests(np.exp(-np.maximum(logs, 0.0)), method="holm")[1], float)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One side of an entry, in natural logarithms without the discount: E at the declared stop, and its supremum.

    at_stop: None while the run goes on.
    """

    at_stop: float | None
    sup: float


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One dispute of a portfolio. discount: 6/(π² l²) of its l-th registration, which multiplies every E of it."""

    name: str
    support: Evidence
    opposition: Evidence
    discount: float = 1.0
    kind: Kind = "statistical"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One claim in a family. E and sup E after the discount, as doubles that JSON can hold.

    rate: the least false discovery rate at which e-BH keeps it, None where none below 1 does. holm_p: Holm's adjusted
    p. running: it has not reached its stop and counts with E = 0.
    """

    name: str
    e: float
    sup_e: float
    rate: float | None
    survives: bool
    holm_p: float
    holm_survives: bool
    running: bool


@dataclass(frozen=True, kw_only=True)
class Family:
    """One side of a portfolio: all its claims, largest E first.

    size: K, running ones among them. alone: K/α, what a single claim needs; one stopped below it depends on others.
    """

    side: Side
    size: int
    alpha: float
    alone: float
    standings: tuple[Standing, ...]

    @property
    def survivors(self) -> tuple[str, ...]:
        """The claims that e-BH keeps."""
        return tuple(s.name for s in self.standings if s.survives)


@dataclass(frozen=True, kw_only=True)
class Portfolio:
    """Both families, and what is in neither with the reason: (name, why)."""

    support: Family
    opposition: Family
    outside: tuple[tuple[str, str], ...]
    summary: str


def portfolio(entries: Sequence[Entry], *, alpha: float = ALPHA) -> Portfolio:
    """Which disputes survive when all are counted, by e-BH on E at the stop and by Holm on 1/sup E, for each side.

    entries: every registered dispute, the undecided too; leaving out those that showed nothing would void the rate.
    Exact and retrospective entries are in neither family. A run that goes on counts in K, with E = 0.
    alpha: the false discovery rate of each family by itself. Imports statsmodels (seconds).

    Raises BadInput for a name that stands twice, NaN, a discount outside (0, 1], an E above its supremum, an alpha
    outside (0, 1).
    """
    _check_alpha(alpha)
    if len(entries) > MOST_ENTRIES:
        raise BadInput(f"there are more than {MOST_ENTRIES} entries", mend="take one challenge at a time")
    seen: set[str] = set()
    for entry in entries:
        _check_entry(entry, seen)
        seen.add(entry.name)
    counted = sorted((e for e in entries if e.kind == "statistical"), key=lambda e: e.name)
    outside = tuple(sorted((e.name, OUTSIDE[e.kind]) for e in entries if e.kind != "statistical"))
    support = _family("for", counted, [e.support for e in counted], alpha=alpha)
    opposition = _family("against", counted, [e.opposition for e in counted], alpha=alpha)
    said = f"of {len(counted)} disputes {len(support.survivors)} are supported and {len(opposition.survivors)} opposed"
    rest = f"; {len(outside)} counted in neither family" if outside else ""
    return Portfolio(
        support=support,
        opposition=opposition,
        outside=outside,
        summary=f"{said} at a false discovery rate of {alpha:g} on each side{rest}",
    )


def _family(side: Side, entries: Sequence[Entry], evidence: Sequence[Evidence], *, alpha: float) -> Family:
    discounts = np.log([entry.discount for entry in entries]) if entries else np.zeros(0)
    at_stop = np.array([-math.inf if x.at_stop is None else x.at_stop for x in evidence], float) + discounts
    sup = np.array([x.sup for x in evidence], float) + discounts
    rates, adjusted, kept = e_bh_rates(at_stop), holm(sup), e_bh(at_stop, alpha=alpha)
    order = sorted(range(len(entries)), key=lambda i: (-at_stop[i], entries[i].name))
    return Family(
        side=side,
        size=len(entries),
        alpha=alpha,
        alone=len(entries) / alpha,
        standings=tuple(
            Standing(
                name=entries[i].name,
                e=e_from_log(float(at_stop[i])),
                sup_e=e_from_log(float(sup[i])),
                rate=float(rates[i]) if rates[i] <= 1 else None,
                survives=bool(kept[i]),
                holm_p=float(adjusted[i]),
                holm_survives=bool(adjusted[i] <= alpha),
                running=evidence[i].at_stop is None,
            )
            for i in order
        ),
    )


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise BadInput(f"the rate {alpha} is not between 0 and 1", mend="0.05 is usual")


def _check_entry(entry: Entry, seen: set[str]) -> None:
    if entry.name in seen:
        raise BadInput(f"{shown(entry.name)} stands twice", mend="give each dispute once, by its standing registration")
    if entry.kind not in {"statistical", *OUTSIDE}:
        raise BadInput(f"{shown(entry.name)} is of the unknown kind {shown(entry.kind)}", mend="name one of the three")
    if not 0 < entry.discount <= 1:
        raise BadInput(
            f"the discount of {shown(entry.name)} is not in (0, 1]", mend="the l-th registration has 6/(π² l²)"
        )
    for side in (entry.support, entry.opposition):
        stop = side.sup if side.at_stop is None else side.at_stop
        if math.isnan(stop) or math.isnan(side.sup):
            raise BadInput(
                f"an E of {shown(entry.name)} is not a number", mend="leave out what has no answer, and say so"
            )
        if stop > side.sup:
            raise BadInput(f"E at the stop of {shown(entry.name)} exceeds its supremum", mend="give both of one run")
