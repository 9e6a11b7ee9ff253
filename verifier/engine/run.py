"""`run`: the one way through. Inspect, register, run, rule, record."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol

from verifier.audits.probe import is_comparison
from verifier.casefile import Case, Probe
from verifier.engine.entries import ruling_content
from verifier.engine.probes import probe_result, probe_tasks
from verifier.engine.record import record
from verifier.engine.register import Registration, history, register
from verifier.engine.rule import decide
from verifier.engine.sweep import Asking, OutOfBudget
from verifier.engine.targets import Targets, inspect_targets
from verifier.engine.tasks import Limits, Task
from verifier.ledger import Content, Ledger
from verifier.model.results import CaseResult, LedgerRecord, ProbeResult
from verifier.sweeps.code import Code
from verifier.sweeps.drive import OutOfTime, Progress, drive
from verifier.sweeps.executors import Executor
from verifier.sweeps.store import UnitStore


class RunProgress(Progress, Protocol):
    """Progress of a run, told what it will follow."""

    def begin(self, names: Sequence[str], maxima: Sequence[int]) -> None:
        """The procedures' names and the most units each can ask for."""
        ...


@dataclass(frozen=True, kw_only=True)
class Options:
    """How far a run may go. `deadline` is on `time.monotonic`, `budget` the most replicates of a probe."""

    to_maximum: bool = False
    budget: int | None = None
    deadline: float | None = None


class Partial(Exception):
    """The run stopped before its end; every finished unit is stored and the same command continues.

    `because` is "time-limit", "budget" or "interrupted"; `registration` is None before there is one.
    """

    def __init__(self, because: str, registration: Registration | None) -> None:
        self.because = because
        self.registration = registration
        super().__init__(because)


def run(
    case: Case,
    *,
    ledger: Ledger,
    store: UnitStore,
    executor: Executor,
    progress: RunProgress,
    options: Options,
    command: str,
    registered: Callable[[Registration], None] | None = None,
) -> CaseResult:
    """Puts one case on trial. Registration stands in the ledger before any unit is drawn.

    `registered` is called in between; what it raises ends the run, and the registration stays.

    Raises BadInput where a target is not what the case says (nothing is changed then), Partial where the run was
    stopped, InfrastructureFailed where a disk, folder or worker fails.
    """
    started = time.monotonic()
    registration: Registration | None = None
    code = Code(case.code_sha256, case.files)

    def driven(procedures: Sequence[Asking]) -> list[Any]:
        return drive(
            procedures, code=code, executor=executor, store=store, progress=progress, deadline=options.deadline
        )

    try:
        (targets,) = driven([inspect_targets(case)])  # before registering: a case that does not import changes nothing
        registration = register(case, ledger)
        if registered is not None:
            registered(registration)
        for key, row in targets.rows.items():
            store.put(key, row)
        probes = _run_probes(case, targets, registration, driven=driven, progress=progress, options=options)
        seconds = time.monotonic() - started
        return ruled(case, registration, probes, ledger=ledger, executor=executor, seconds=seconds, command=command)
    except KeyboardInterrupt as error:
        raise Partial("interrupted", registration) from error
    except OutOfTime as error:
        raise Partial("time-limit", registration) from error
    except OutOfBudget as error:
        raise Partial("budget", registration) from error


def ruled(
    case: Case,
    registration: Registration,
    probes: Sequence[ProbeResult],
    *,
    ledger: Ledger,
    executor: Executor,
    seconds: float,
    command: str,
    ingested: Mapping[str, Mapping[str, Content]] | None = None,
    decisive: bool = True,
) -> CaseResult:
    """Rules on what the probes found and records it, all in one transaction.

    `ingested` says of probes measured elsewhere what their evidence holds of that; without `decisive` the evidence is
    recorded and no ruling.
    """
    parts, ruling, verdict = decide(case, probes)
    content = ruling_content(
        case, ordinal=registration.ordinal, parts=parts, ruling=ruling, verdict=verdict, probes=probes
    )
    if ingested:
        content["ingested"] = list(ingested)
    beside = {
        "seconds": round(seconds, 3),
        "executor": executor.name,
        "workers": executor.workers,
        "python": platform.python_version(),
        "verifier": version("dispute-verifier"),
    }
    with ledger.transaction() as transaction:
        recorded = record(
            case,
            registration,
            probes,
            ruling=content if decisive else None,
            beside=beside,
            transaction=transaction,
            ingested=ingested,
        )
        registrations = history(case, transaction.entries)
    return CaseResult(
        case=case.name,
        folder=str(case.folder),
        paper=case.paper,
        claim=case.claim,
        claim_sha256=case.claim_sha256,
        quote_sha256=case.quote_sha256,
        dispute=case.dispute,
        dispute_id=case.dispute_id,
        premises=case.premises,
        registration=case.registration,
        ordinal=registration.ordinal,
        registrations=registrations,
        exploratory=case.exploratory,
        overrides=case.overrides,
        probes=tuple(probes),
        parts=parts,
        ruling=ruling,
        verdict=verdict,
        ledger=LedgerRecord(
            url=ledger.name,
            registration=registration.entry.leaf,
            evidence=recorded.evidence,
            ruling=recorded.ruling,
            size=ledger.size,
            root=ledger.root,
        ),
        seconds=seconds,
        command=command,
        settings=case.settings,
        code_sha256=case.code_sha256,
        implementations=case.implementations,
        priors=case.priors,
    )


def _run_probes(
    case: Case,
    targets: Targets,
    registration: Registration,
    *,
    driven: Callable[[Sequence[Asking]], list[Any]],
    progress: RunProgress,
    options: Options,
) -> list[ProbeResult]:
    """The audit of the compared numbers first; then all other probes and controls at once.

    Earlier ones go first wherever there is a choice.
    """
    limits = Limits(discount=registration.discount, to_maximum=options.to_maximum, budget=options.budget)

    def results(probes: Sequence[Probe], begin: Callable[[list[Task]], None]) -> list[ProbeResult]:
        tasks = [probe_tasks(case, probe, targets, limits) for probe in probes]
        flat = [task for one in tasks for task in one]
        begin(flat)
        ends = iter(driven([task.procedure for task in flat]))
        return [probe_result(probe, [next(ends) for _ in one]) for probe, one in zip(probes, tasks, strict=True)]

    compared = results([probe for probe in case.probes if is_comparison(probe)], lambda _: None)
    for found in compared:
        progress.note(f"the two numbers that the dispute compares: {found.summary}")
    others = [probe for probe in case.probes if not is_comparison(probe)]
    return [*compared, *results(others, lambda flat: progress.begin([t.name for t in flat], [t.jobs for t in flat]))]
