"""What the growth rule had seen at each of its looks: for pictures, never for a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.model.errors import BadInput
from verifier.stats.growth_evidence import contrast_estimates, log_evidence
from verifier.stats.growth_gates import misfit_gate
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.growth_statistics import e_from_log, slope
from verifier.stats.laws import Floats
from verifier.stats.noise import Estimate


@dataclass(frozen=True, kw_only=True)
class LookBack:
    """One look. E-values are those at this look, undiscounted; slopes per unit of the law.

    estimate: the slope over all scales. low, high: the interval for β, from the cone slope's lower end to the full
    slope's upper end, each as printed had the run ended here; None where there are too few replicates for one.
    """

    n: int
    e_grow: float
    e_flat: float
    e_half: float
    estimate: float
    low: float | None
    high: float | None


def growth_path(
    rule: GrowthRule, *, scales: Sequence[int], values: Floats, shared_seeds: bool = False
) -> tuple[LookBack, ...]:
    """The rule's evidence and interval at every registered look up to n = values.shape[1], each from its own prefix.

    values: (m, n) replicate means, baseline subtracted, as `growth.evaluate` takes them; so is shared_seeds. Standard
    errors carry the misfit of that look. Raises BadInput where no look was reached.
    """
    looks = tuple(look for look in rule.looks if look <= values.shape[1])
    if not looks:
        raise BadInput("no registered look was reached", mend=f"the first is at {rule.looks[0]}")
    estimates = contrast_estimates(rule, scales, values, looks)
    evidence = log_evidence(rule, estimates)
    found = []
    for i, n in enumerate(looks):
        fit = misfit_gate(rule, scales, values[:, :n], shared_seeds=shared_seeds)
        inflation = 1.0 if fit is None else fit.inflation
        cone, full = (
            slope(_only(path, i), floor=floor, inflation=inflation)
            for path, floor in ((estimates.cone, estimates.floors[0]), (estimates.full, estimates.floors[2]))
        )
        found.append(
            LookBack(
                n=n,
                e_grow=e_from_log(float(evidence.grow[i])),
                e_flat=e_from_log(float(evidence.flat[i])),
                e_half=e_from_log(float(evidence.half[i])),
                estimate=full.estimate,
                low=None if cone.interval is None else cone.interval[0],
                high=None if full.interval is None else full.interval[1],
            )
        )
    return tuple(found)


def _only(path: Estimate, index: int) -> Estimate:
    """The path's one look with that index."""
    return Estimate(*(part[index : index + 1] for part in path))
