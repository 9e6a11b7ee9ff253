"""`ingest`: rules on runs that were made elsewhere, under a registration that stands in this ledger."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from verifier.casefile import Case, Probe
from verifier.engine.ingest_agreement import check_drawn, check_reported, refuse_to_replace
from verifier.engine.ingest_rows import (
    Measured,
    Missing,
    Reported,
    check_not_ahead,
    ingested_key,
    is_retrospective,
    missing_document,
    read_reported,
    same_unit,
)
from verifier.engine.manifest import check_manifest, grid_of, manifest, registered, sweep_of
from verifier.engine.probes import probe_result, probe_tasks
from verifier.engine.register import Registration
from verifier.engine.run import RunProgress, ruled
from verifier.engine.sweep import Asking, OutOfBudget, Results
from verifier.engine.sweep_probe import SweepRun, sweep_result, sweep_tasks
from verifier.engine.targets import Targets, inspect_targets
from verifier.engine.tasks import Limits
from verifier.ledger import Content, Ledger, fixed_epoch
from verifier.ledger.times import system_now
from verifier.model.answers import undecided, underpowered
from verifier.model.case import Premise
from verifier.model.complaints import shown
from verifier.model.controls import after_controls
from verifier.model.errors import BadInput
from verifier.model.outcomes import Reason
from verifier.model.results import CaseResult, ControlRun, ProbeResult
from verifier.sweeps.code import Code
from verifier.sweeps.drive import drive
from verifier.sweeps.executors import Executor
from verifier.sweeps.jobs import Failure, Job, Row, Unit
from verifier.sweeps.probe import SweepProbe
from verifier.sweeps.store import UnitStore

CHECKED_UNITS = 3
"""How many of the reported units are run again here."""

MOST_LISTED = 1_000
"""Missing cells that are listed one by one; their number is always said."""

AS_REPORTED = "These runs are as reported."
RULE_FIRST = "The rule was fixed before these runs began."
INCOMPLETE = "INCOMPLETE"
"""The answer where the runs end before the rule had decided or reached its last look."""


@dataclass(frozen=True)
class File:
    """A file from outside: what errors call it, and its bytes."""

    name: str
    content: bytes


@dataclass(frozen=True, kw_only=True)
class IngestedRuns:
    """What is said of runs made elsewhere, beside the result they gave.

    rows: with numbers. used: of them, by the rule. prefix: r*, complete replicates before the first that is not.
    retrospective: a used row began before its registration or does not say when it began. reproduced: the units in
    `checked` were run here and are equal; `unchecked` says why not, where not. missing: listed up to a bound,
    `missing_cells` is their number. later: rows after the prefix, which enter nothing.
    """

    probe: str
    rows: int
    used: int
    prefix: int
    root: str
    retrospective: bool
    reproduced: bool
    checked: tuple[Unit, ...]
    unchecked: str
    missing: tuple[Missing, ...]
    missing_cells: int
    later: tuple[Measured, ...]
    manifest_sha256: str

    def content(self) -> dict[str, Content]:
        """What the evidence entry holds of it; the rows' columns stand under its root."""
        return {
            "rows": self.rows,
            "used": self.used,
            "prefix": self.prefix,
            "root": self.root,
            "retrospective": self.retrospective,
            "reproduced": self.reproduced,
            "checked": [unit.key for unit in self.checked],
            "missing": missing_document(self.missing),
            "missing_cells": self.missing_cells,
            "later": len(self.later),
            "manifest_sha256": self.manifest_sha256,
        }

    def document(self) -> dict[str, Any]:
        """The field `ingested` of the machine output."""
        checked = [{"unit": unit.key, "at": dict(unit.scale), "replicate": unit.replicate} for unit in self.checked]
        later = [
            {"at": dict(one.unit.scale), "replicate": one.unit.replicate, "line": one.line}
            for one in self.later[:MOST_LISTED]
        ]
        return {"probe": self.probe, **self.content(), "checked": checked, "unchecked": self.unchecked, "later": later}


def ingest(
    case: Case,
    *,
    runs: File,
    manifest_file: File | None,
    probe_name: str | None,
    ledger: Ledger,
    store: UnitStore,
    executor: Executor,
    progress: RunProgress,
    command: str,
    rerun: bool = True,
) -> tuple[CaseResult, IngestedRuns]:
    """Rules on the runs of one sweep in a table; controls and other probes are run here, as in `run`.

    The table's numbers stand in for the units of the probe's own target, nothing else differs: the same looks, the
    same rule, the same discount. `rerun`: three of the units are run here as well. Raises BadInput, with nothing
    recorded, where the registration is not in the ledger, the manifest is not its own, a row is none of its units, a
    unit was drawn here or reported earlier with other numbers, or one run again here is not what was reported.
    """
    started = time.monotonic()
    probe = sweep_of(case, probe_name)
    registration = registered(case, ledger)
    code = Code(case.code_sha256, case.files)

    (targets,) = drive([inspect_targets(case)], code=code, executor=executor)
    expected = manifest(case, probe, targets)
    if manifest_file is not None:
        check_manifest(manifest_file.content, expected, name=manifest_file.name)
    reported = read_reported(runs.content, name=runs.name, grid=grid_of(case, probe, targets))
    compared = fixed_epoch() is None  # under SOURCE_DATE_EPOCH the ledger's times are no moments
    if compared:
        check_not_ahead(list(reported.measured.values()), now=system_now(), name=runs.name)

    drawn = check_drawn(reported, store, name=runs.name)
    check_reported(case, reported, drawn=drawn, ledger=ledger, store=store, name=runs.name)

    measured: SweepRun | None
    procedure = _measured(case, probe, targets, reported, registration.discount)
    ((measured, complete),) = drive([procedure], code=code, executor=executor, store=store)
    used = _used(measured)
    root = reported.record(used).root
    checked: tuple[Unit, ...] = ()
    unchecked = "it was not asked for"
    if rerun:
        checked, unchecked = _checked(reported.used(used), root, code, executor, name=runs.name)

    others, controls = _run_rest(
        case, probe, targets, registration, code=code, executor=executor, store=store, progress=progress
    )
    check_drawn(reported, store, name=runs.name)  # a control may have drawn units of the probe's own target
    began = int(datetime.fromisoformat(registration.entry.time).timestamp())
    horizon = probe.rule.maximum if not complete else reported.last_replicate()
    missing = list(reported.missing(horizon))
    ingested = IngestedRuns(
        probe=probe.name,
        rows=reported.rows,
        used=used,
        prefix=reported.prefix,
        root=root,
        retrospective=compared and is_retrospective(reported.used(used), began),
        reproduced=bool(checked),
        checked=checked,
        unchecked=unchecked,
        missing=tuple(missing[:MOST_LISTED]),
        missing_cells=len(missing),
        later=tuple(reported.later(reported.prefix)),
        manifest_sha256=expected["manifest_sha256"],
    )
    own = _own_result(probe, measured, controls, reported, ingested, complete=complete)
    probes = [own if one.name == probe.name else others[one.name] for one in case.probes]
    judged = replace(case, premises=(*case.premises, *_premises(ingested, runs.name)))
    if not ingested.retrospective:
        refuse_to_replace(judged, probes, ledger, probe=probe.name, used=used, reproduced=ingested.reproduced)
    result = ruled(
        judged,
        registration,
        probes,
        ledger=ledger,
        executor=executor,
        seconds=time.monotonic() - started,
        command=command,
        ingested={probe.name: ingested.content()},
        decisive=not ingested.retrospective,
    )
    for key, row in targets.rows.items():
        store.put(key, row)
    for one in reported.measured.values():
        store.put(ingested_key(ingested.root, one.unit), dict(one.columns))
    return result, ingested


def served(procedure: Asking, rows: Mapping[str, Row]) -> Asking:
    """`procedure`, whose units are taken from `rows` (key -> row) where they stand there; the rest is asked on."""
    try:
        jobs = next(procedure)
        while True:
            known = {job.key: rows[job.key] for job in jobs if isinstance(job, Unit) and job.key in rows}
            rest = [job for job in jobs if job.key not in known]
            asked: Results = (yield rest) if rest else {}
            jobs = procedure.send({**known, **asked})
    except StopIteration as stop:
        return stop.value


def _measured(
    case: Case, probe: SweepProbe, targets: Targets, reported: Reported, discount: float
) -> Generator[Sequence[Job], Results, tuple[SweepRun | None, bool]]:
    """The rule on the prefix r*: what it found, and whether it came to its end there.

    None where not even the first look can be made.
    """
    rows = {key: one.row for key, one in reported.measured.items()}

    def judged(by: SweepProbe, budget: int | None) -> Asking:
        return served(sweep_tasks(case, by, targets, Limits(discount=discount, budget=budget))[0].procedure, rows)

    try:
        run = yield from judged(probe, reported.prefix)
    except OutOfBudget:
        looks = tuple(look for look in probe.rule.looks if look <= reported.prefix)
        if not looks:
            return None, False
        run = yield from judged(replace(probe, rule=replace(probe.rule, looks=looks)), None)
        return run, False
    return run, True


def _used(run: SweepRun | None) -> int:
    return 0 if run is None or isinstance(run, Failure) else run[0].units.count


def _checked(
    rows: Sequence[Measured], root: str, code: Code, executor: Executor, *, name: str
) -> tuple[tuple[Unit, ...], str]:
    """The units that were run again here and are equal, or none and why. Raises BadInput where one is not equal.

    They come from no store: each is run.
    """
    if not rows:
        return (), "no row was used"
    chosen = [rows[index] for index in drawn_for_check(root, len(rows))]

    def ask() -> Generator[Sequence[Job], Results, Results]:
        return (yield [one.unit for one in chosen])

    (results,) = drive([ask()], code=code, executor=executor)
    for one in chosen:
        found = results.get(one.unit.key)
        if found is None or isinstance(found, Failure):
            continue
        if not same_unit(one, found):
            raise BadInput(
                f"the unit {one.unit.key[:12]} run here does not give what this line reports (here n {found['n']}, sum "
                f"{shown(found['sum'])})",
                where=f"{name}, line {one.line}",
                mend="run it again where it was run, from the registered folder; nothing was recorded",
            )
    failures = [found for found in results.values() if isinstance(found, Failure)]
    if failures:
        return (), f"a unit has no answer here: {failures[0].what}"
    return tuple(one.unit for one in chosen), ""


def drawn_for_check(root: str, count: int) -> list[int]:
    """Which of `count` units are run again: three different indices from SHA-256(root ‖ ":" ‖ 0, 1, …) modulo count."""
    chosen: list[int] = []
    counter = 0
    while len(chosen) < min(CHECKED_UNITS, count):
        index = int.from_bytes(hashlib.sha256(f"{root}:{counter}".encode()).digest(), "big") % count
        chosen += [] if index in chosen else [index]
        counter += 1
    return chosen


def _run_rest(
    case: Case,
    probe: SweepProbe,
    targets: Targets,
    registration: Registration,
    *,
    code: Code,
    executor: Executor,
    store: UnitStore,
    progress: RunProgress,
) -> tuple[dict[str, ProbeResult], list[ControlRun]]:
    """The other probes' results by name, and the controls of `probe`: all run here."""
    limits = Limits(discount=registration.discount)
    tasks = [(one, probe_tasks(case, one, targets, limits)) for one in case.probes]
    tasks = [(one, own[1:] if one.name == probe.name else own) for one, own in tasks]
    flat = [task for _, own in tasks for task in own]
    progress.begin([task.name for task in flat], [task.jobs for task in flat])
    procedures = [task.procedure for task in flat]
    ends = iter(drive(procedures, code=code, executor=executor, store=store, progress=progress))
    found: list[tuple[Probe, list[Any]]] = [(one, [next(ends) for _ in own]) for one, own in tasks]
    controls = next(results for one, results in found if one.name == probe.name)
    return {one.name: probe_result(one, results) for one, results in found if one.name != probe.name}, controls


def _own_result(
    probe: SweepProbe,
    run: SweepRun | None,
    controls: Sequence[ControlRun],
    reported: Reported,
    ingested: IngestedRuns,
    *,
    complete: bool,
) -> ProbeResult:
    """What the probe says, its units' record replaced by that of the rows, before and after what came too early."""
    result = sweep_result(probe, Failure("no look can be made") if run is None else run, controls)
    ends = tuple(replace(end, units=reported.record(end.units.count)) for end in result.evidence)
    result = replace(result, evidence=ends)
    if not complete and not isinstance(run, Failure):
        result = _incomplete(probe, result, ingested)
    after = result.own
    if ingested.retrospective and after.outcome.decided:
        after = undecided(Reason.PREMISE_UNCHECKED)
    finding = after_controls(after, [control.result for control in controls])
    return replace(result, finding=finding)


def _incomplete(probe: SweepProbe, result: ProbeResult, ingested: IngestedRuns) -> ProbeResult:
    """The result where the runs end before the rule does: too little to decide, with what they show so far."""
    cells = f"{ingested.missing_cells} of the cells up to its last look are missing"
    what = (
        f"the runs are complete for {ingested.prefix} of {probe.rule.maximum} replicates, and the rule had not decided"
        f" by then ({cells})"
    )
    if result.evidence:
        what += f"; at {ingested.used // len(probe.scales)} replicates: {result.summary}"
    ends = tuple(replace(end, statistics=_running(end.statistics)) for end in result.evidence)
    adequacy = result.adequacy and replace(result.adequacy, adequate=False)
    own = underpowered(Reason.UNDERPOWERED)
    return replace(result, answer=INCOMPLETE, own=own, summary=what, evidence=ends, adequacy=adequacy, failure="")


def _running(statistics: Mapping[str, Any] | None) -> dict[str, Any]:
    """Statistics of a run that has not stopped."""
    found = dict(statistics or {})
    for name, value in found.items():
        if isinstance(value, Mapping) and "at_stop" in value:
            found[name] = {**value, "at_stop": None}
    return {**found, "stopped_by": None}


def _premises(ingested: IngestedRuns, name: str) -> list[Premise]:
    """What a ruling on these runs takes on trust besides."""
    found = []
    if ingested.used and not ingested.reproduced:
        found.append(Premise(AS_REPORTED, "no", f"{name}; none of them was repeated here"))
    if ingested.retrospective:
        found.append(Premise(RULE_FIRST, "no", f"{name}, column started"))
    return found
