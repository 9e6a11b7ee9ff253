"""Any probe, from the procedures that it needs to what their ends say: one case for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verifier.audits.probe import AuditProbe
from verifier.casefile import Case, Probe
from verifier.engine.audit_probe import audit_result, audit_tasks
from verifier.engine.bound_probe import bound_result, bound_tasks
from verifier.engine.exact_probe import exact_result, exact_tasks
from verifier.engine.replication_probe import replication_result, replication_tasks
from verifier.engine.sweep_probe import sweep_result, sweep_tasks
from verifier.engine.targets import Targets
from verifier.engine.tasks import Limits, Task
from verifier.exact.probe import ExactProbe
from verifier.model.results import ProbeResult
from verifier.sweeps.bound import BoundProbe
from verifier.sweeps.probe import SweepProbe
from verifier.sweeps.replication import ReplicationProbe


def probe_tasks(case: Case, probe: Probe, targets: Targets, limits: Limits) -> list[Task]:
    """What is to be run for `probe`: its own task first, then one for each control, in case order."""
    match probe:
        case SweepProbe():
            return sweep_tasks(case, probe, targets, limits)
        case BoundProbe():
            return bound_tasks(case, probe, targets, limits)
        case ExactProbe():
            return exact_tasks(case, probe)
        case AuditProbe():
            return audit_tasks(case, probe, targets)
        case ReplicationProbe():
            return replication_tasks(case, probe, targets, limits)


def probe_result(probe: Probe, ends: Sequence[Any]) -> ProbeResult:
    """What the probe says once all its tasks have ended; `ends` are their results, in order."""
    own, *controls = ends
    match probe:
        case SweepProbe():
            return sweep_result(probe, own, controls)
        case BoundProbe():
            return bound_result(probe, own, controls)
        case ExactProbe():
            return exact_result(probe, own, controls)
        case AuditProbe():
            return audit_result(probe, own, controls)
        case ReplicationProbe():
            return replication_result(probe, own, controls)
