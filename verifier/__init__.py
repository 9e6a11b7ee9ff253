"""Puts claimed falsifications of scientific papers on trial.

The public API, loaded when it is used:

    case = verifier.load("cases/paging")          # validated at the door
    plan = verifier.plan_probe(...)               # cost and power
    result = verifier.run(case, ...)              # register, run, rule, record
    document = verifier.run_document(result)      # what `run --json` prints
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verifier.casefile import Case, load, override
    from verifier.engine import Options, register, run
    from verifier.engine.plan import plan_probe
    from verifier.ledger import Ledger
    from verifier.model.errors import VerifierError
    from verifier.model.outcomes import Outcome, Reason
    from verifier.model.results import CaseResult
    from verifier.model.rulings import Ruling
    from verifier.model.verdicts import Verdict
    from verifier.report import render_report, run_document, write_report
    from verifier.sweeps.executors import open_executor
    from verifier.sweeps.store import UnitStore

_HOMES = {
    "Case": "verifier.casefile",
    "CaseResult": "verifier.model.results",
    "Ledger": "verifier.ledger",
    "Options": "verifier.engine",
    "Outcome": "verifier.model.outcomes",
    "Reason": "verifier.model.outcomes",
    "Ruling": "verifier.model.rulings",
    "UnitStore": "verifier.sweeps.store",
    "Verdict": "verifier.model.verdicts",
    "VerifierError": "verifier.model.errors",
    "load": "verifier.casefile",
    "open_executor": "verifier.sweeps.executors",
    "override": "verifier.casefile",
    "plan_probe": "verifier.engine.plan",
    "register": "verifier.engine",
    "render_report": "verifier.report",
    "run": "verifier.engine",
    "run_document": "verifier.report",
    "write_report": "verifier.report",
}

__all__ = [
    "Case",
    "CaseResult",
    "Ledger",
    "Options",
    "Outcome",
    "Reason",
    "Ruling",
    "UnitStore",
    "Verdict",
    "VerifierError",
    "load",
    "open_executor",
    "override",
    "plan_probe",
    "register",
    "render_report",
    "run",
    "run_document",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Imports a public name from where it lives, so that `import verifier` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'verifier' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
