"""Which flags a table raises, under its rule and against what a paper prints; none of them decides anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verifier.cli.stats_samples import Sample
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.stats import flags
from verifier.stats.flags import Flag
from verifier.stats.growth_rule import LEAST_SCALES, GrowthRule
from verifier.stats.laws import Floats
from verifier.stats.rate_rule import RateRule
from verifier.stats.run_table import RunTable


@dataclass(frozen=True, kw_only=True)
class Printed:
    """What a paper prints of the same quantity, as text: an error, an interval, values by cell (`64` or `left`)."""

    error: str | None = None
    interval: tuple[str, str] | None = None
    values: Mapping[str, str] = field(default_factory=dict)


def found_flags(
    rule: Any, table: RunTable, samples: Sequence[Sample], *, printed: Printed, seeds: bool
) -> tuple[Flag, ...]:
    """The flags of a table. samples: one for each team. seeds: whether the file calls its replicates seeds.

    Raises BadInput for a printed number that is none, or that is about a cell which the table has not.
    """
    found = [
        _shared_seeds(rule, table) if seeds else None,
        *_clusters(rule, samples),
        _marginal_error(rule, samples, printed),
        _prediction_interval(rule, samples, printed),
        _identical(table, printed),
        *(_zero_variance(rule, data) for data in samples),
        *(flags.skew(x) for data in samples if (x := replicate_values(rule, data)) is not None),
    ]
    return tuple(flag for flag in found if flag is not None)


def replicate_values(rule: Any, data: Sample) -> Floats | None:
    """One number a replicate, (n,), whose mean the rule judges; None where there is none, or fewer than two."""
    left, right, n = data.left, data.right, data.n
    if n < 2:
        return None
    if isinstance(rule, GrowthRule | RateRule):
        if len(data.scales) < LEAST_SCALES:
            return None
        from verifier.stats.contrasts import contrasts  # brings scipy.optimize, which other rules can do without

        if isinstance(rule, RateRule):
            from verifier.stats.rate import log_residue

            if not (left > 0).all():
                return None
            left, rule = log_residue(rule, data.scales, left), rule.growth
        return np.asarray(contrasts(data.scales, gamma0=float(rule.gamma0), law=rule.law).cone @ left)
    if rule.kind in {"proportion", "count"}:
        return None
    if rule.kind == "ratio":
        assert right is not None
        if min(left.min(), right.min()) <= 0:
            return None
        return np.asarray(np.log(left[:n]) - np.log(right[:n]))
    d = left[:n] if right is None else left[:n] - right[:n]
    return d if d.ndim == 1 else np.asarray(d.mean(axis=1))


def _shared_seeds(rule: Any, table: RunTable) -> Flag | None:
    """Seeds in several cells, where the rule takes cells to be independent: pooled scales, unpaired arms."""
    noise = getattr(rule, "noise", "")
    if noise not in {"pooled", "unpaired"}:
        return None
    key = table.scale[:, 0] if rule.kind == "growth" else table.arm
    names = [str(k) if rule.kind == "growth" else table.arms[int(k)] for k in np.unique(key)]
    cells = {
        name: table.replicate[(key == k) & table.present].tolist()
        for name, k in zip(names, np.unique(key), strict=True)
    }
    return flags.shared_seeds(cells)


def _clusters(rule: Any, samples: Sequence[Sample]) -> Iterator[Flag | None]:
    """Rows of one seed, one item or one team that resemble each other: each a cluster, whatever was printed."""
    for data in samples:
        if rule.kind == "difference" and data.left.ndim == 2 and data.n:
            d = data.left[: data.n] if data.right is None else data.left[: data.n] - data.right[: data.n]
            seed, item = np.indices(d.shape)
            yield flags.clustered_cells(d, seed.ravel().tolist()) if len(d) > 1 else None
            yield flags.clustered_cells(d, item.ravel().tolist()) if len(d) > 1 else None
    if len(samples) > 1:
        each = [x for data in samples if (x := replicate_values(rule, data)) is not None]
        if len(each) > 1:
            labels = np.repeat(np.arange(len(each)), [len(x) for x in each]).tolist()
            yield flags.clustered_cells(np.concatenate(each), labels)


def _marginal_error(rule: Any, samples: Sequence[Sample], printed: Printed) -> Flag | None:
    if printed.error is None:
        return None
    (data, *others) = samples
    paired = rule.kind == "difference" and getattr(rule, "noise", "") == "paired" and data.right is not None
    if not paired or others or data.left.ndim != 1:
        raise BadInput(
            "it is looked at beside a paired difference of two arms, of one team and without items",
            where="--printed-error",
            mend="leave it out",
        )
    return flags.marginal_error(data.left, data.right, printed=printed.error)  # type: ignore[arg-type]  # not None: paired


def _prediction_interval(rule: Any, samples: Sequence[Sample], printed: Printed) -> Flag | None:
    if printed.interval is None:
        return None
    if len(samples) > 1:
        raise BadInput("it is looked at for one team", where="--printed-interval", mend="give that team's rows")
    values = replicate_values(rule, samples[0])
    if values is None:
        return None
    return flags.prediction_interval(values, low=printed.interval[0], high=printed.interval[1])


def _identical(table: RunTable, printed: Printed) -> Flag | None:
    """Rows whose number, as written, is the one printed for their cell; the noise is that of rows of one cell."""
    if not printed.values:
        return None
    measured, stated = {}, {}
    spread, df = 0.0, 0
    known = _cells(table)
    for cell in printed.values:
        if cell not in known:
            names = ", ".join(list(known)[:10])
            raise BadInput(f"there is no cell {shown(cell)}", where="--printed", mend=f"the cells are {names}")
    for cell, rows in known.items():
        values = table.value[rows]
        if len(values) > 1:
            spread, df = spread + float(np.square(values - values.mean()).sum()), df + len(values) - 1
        if cell in printed.values:
            for row in rows.tolist():
                name = f"cell {cell}, replicate {table.replicate[row]}, team {table.team[row] + 1}"
                measured[name], stated[name] = str(table.numbers[row][0]), printed.values[cell]
    if spread <= 0 or table.numbers.shape[1] != 1:
        return None
    return flags.identical_to_printed(measured, stated, sd=float(np.sqrt(spread / df)))


def _cells(table: RunTable) -> dict[str, Any]:
    """Name of a cell, its scale or its arm -> the rows of it that hold a number."""
    here = table.present
    if table.arms != ("",):
        return {arm: np.flatnonzero(here & (table.arm == i)) for i, arm in enumerate(table.arms)}
    if table.axes:
        return {str(k): np.flatnonzero(here & (table.scale[:, 0] == k)) for k in np.unique(table.scale[:, 0])}
    return {"all": np.flatnonzero(here)}


def _zero_variance(rule: Any, data: Sample) -> Flag | None:
    if rule.kind in {"proportion", "count"}:
        return None
    if data.scales:
        rows = data.left
    else:
        x = replicate_values(rule, data)
        rows = np.empty((0, 0)) if x is None else x[None, :]
    return next((flag for row in rows if (flag := flags.zero_variance(row)) is not None), None)
