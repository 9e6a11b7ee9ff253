"""A pilot of a replication: the sd of a replicate and its seconds, on streams that never become evidence."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Sequence

import numpy as np

from verifier.casefile import Case
from verifier.engine.plan import PILOT_REPLICATES
from verifier.engine.replication import Drawn, Runs, ask_replicates
from verifier.engine.sweep import NoAnswer, Results
from verifier.engine.targets import inspect_targets
from verifier.model.canonical import canonical_sha256
from verifier.model.errors import InfrastructureFailed
from verifier.stats.laws import Floats
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.sweeps.code import Code
from verifier.sweeps.drive import LeastSeconds, Progress, drive
from verifier.sweeps.executors import Executor
from verifier.sweeps.jobs import Job
from verifier.sweeps.replication import ReplicationProbe, ReplicationRule


def piloted(case: Case, probe: ReplicationProbe, *, executor: Executor, progress: Progress) -> ReplicationProbe:
    """The probe with the sd and the seconds that a few replicates showed in place of those stated.

    What they do not show stays as stated: an sd where they do not vary. Raises InfrastructureFailed where a replicate
    has no answer.
    """
    code = Code(case.code_sha256, case.files)
    seconds = LeastSeconds()
    (targets,) = drive([inspect_targets(case)], code=code, executor=executor)
    registration = canonical_sha256({"pilot of": case.registration})
    runs = Runs(registration, probe, probe.target, probe.target, case.settings, targets)
    try:
        (drawn,) = drive([_pilot(runs)], code=code, executor=executor, progress=progress, seconds=seconds)
        left, right = drawn.arrays()
    except NoAnswer as error:
        raise InfrastructureFailed(f"the pilot has no answer: {error}", where=str(case.folder)) from error
    sd = replicate_sd(probe.rule, left, right)
    cost = seconds.get(runs.unit(0, runs.arms[0]).group)
    return dataclasses.replace(
        probe,
        planned_sd=probe.planned_sd if sd is None else sd,
        planned_seconds=probe.planned_seconds if cost is None else cost * len(runs.arms),
    )


def pilot_jobs(probe: ReplicationProbe) -> int:
    """The most jobs that `piloted` asks for."""
    return PILOT_REPLICATES * (2 if probe.separate else 1)


def replicate_sd(rule: ReplicationRule, left: Floats, right: Floats | None) -> float | None:
    """The sd of a replicate as the rule's `power` takes it: of its difference; of ln of an arm for a ratio.

    left, right: float64 (n,) or (n, items), paired by index where the rule is. None for outcomes, for a ratio of values
    that are not above zero, and where nothing varies.
    """
    if not isinstance(rule, DifferenceRule | RatioRule):
        return None
    arms = [x if x.ndim == 1 else x.mean(axis=1) for x in (left, right) if x is not None]
    if isinstance(rule, RatioRule):
        if min(float(x.min()) for x in arms) <= 0:
            return None
        arms = [np.log(x) for x in arms]
    if len(arms) > 1 and rule.noise == "paired":
        arms = [arms[0] - arms[1]]
    sd = math.sqrt(sum(float(x.var(ddof=1)) for x in arms))
    sd = sd / math.sqrt(2) if isinstance(rule, RatioRule) else sd
    return sd if sd > 0 else None


def _pilot(runs: Runs) -> Generator[Sequence[Job], Results, Drawn]:
    return (yield from ask_replicates(runs, PILOT_REPLICATES))
