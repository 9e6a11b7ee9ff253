"""`ingest`: rules on runs that were made elsewhere, under a registration that stands in this ledger."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from verifier.casefile import Case, Probe
from verifier.engine.ingest_agreement import Rests, check_drawn, check_reported, refuse_to_replace
from verifier.engine.ingest_check import check_again
from verifier.engine.ingest_lines import malformed_unit, with_line
from verifier.engine.ingest_read import read_reported
from verifier.engine.ingest_rows import Reported, check_not_ahead, ingested_key, is_retrospective
from verifier.engine.ingested_runs import MOST_LISTED, IngestedRuns, banner
from verifier.engine.layout import UnitProbe, layout_of, unit_probes
from verifier.engine.manifest import check_manifest, manifest, registered
from verifier.engine.probes import probe_result, probe_tasks
from verifier.engine.register import Registration
from verifier.engine.run import RunProgress, ruled
from verifier.engine.sweep import Asking, OutOfBudget, Results
from verifier.engine.targets import Targets, inspect_targets
from verifier.engine.tasks import Limits
from verifier.ledger import Ledger, fixed_epoch
from verifier.ledger.times import system_now
from verifier.model.answers import undecided, underpowered
from verifier.model.controls import after_controls
from verifier.model.outcomes import Reason
from verifier.model.results import CaseResult, ControlRun, ProbeResult
from verifier.sweeps.code import Code
from verifier.sweeps.drive import drive
from verifier.sweeps.executors import Executor
from verifier.sweeps.jobs import Failure, Job, Row, Unit
from verifier.sweeps.probe import SweepProbe
from verifier.sweeps.store import UnitStore

INCOMPLETE = "INCOMPLETE"
"""The answer where the runs end before the rule had decided or reached its last look."""


@dataclass(frozen=True)
class File:
    """A file from outside: what errors call it, and its bytes."""

    name: str
    content: bytes


@dataclass(frozen=True)
class _Ruled:
    """One probe's runs and what its rule found on the prefix r*: `run` is None where no look could be made.

    `complete`: the rule came to its end there. `used`: units that it took.
    """

    reported: Reported
    run: Any
    complete: bool

    @property
    def probe(self) -> UnitProbe:
        return self.reported.layout.probe

    @property
    def used(self) -> int:
        return 0 if self.run is None or isinstance(self.run, Failure) else self.run[0].units.count


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
) -> tuple[CaseResult, tuple[IngestedRuns, ...]]:
    """Rules on the runs of one or more probes in a table; controls and other probes are run here, as in `run`.

    The table's numbers stand in for the units of a probe's own target, nothing else differs: the same looks, the same
    rule, the same discount. `probe_name`: the table holds runs of that probe alone. `rerun`: three units of each are
    run here as well. Raises BadInput, with nothing recorded, where the registration is not in the ledger, a manifest
    is not its own, a row is none of its units, a unit was drawn here or reported earlier with other numbers, or one run
    again here is not what was reported.
    """
    started = time.monotonic()
    probes = unit_probes(case, probe_name)
    registration = registered(case, ledger)
    code = Code(case.code_sha256, case.files)

    (targets,) = drive([inspect_targets(case)], code=code, executor=executor)
    layouts = [layout_of(case, probe, targets) for probe in probes]
    manifests = {layout.probe.name: manifest(case, layout) for layout in layouts}
    if manifest_file is not None:
        for expected in manifests.values():
            check_manifest(manifest_file.content, expected, name=manifest_file.name)
    tables = read_reported(runs.content, name=runs.name, layouts=layouts)
    compared = fixed_epoch() is None  # under SOURCE_DATE_EPOCH the ledger's times are no moments
    for table in tables:
        _check(case, table, ledger=ledger, store=store, name=runs.name, now=system_now() if compared else None)

    procedures = [_measured(case, table, targets, registration.discount) for table in tables]
    ends = drive(procedures, code=code, executor=executor, store=store)
    found = [_Ruled(table, *end) for table, end in zip(tables, ends, strict=True)]
    leaf = registration.entry.leaf
    checks = {
        one.probe.name: _checked(one, leaf=leaf, code=code, executor=executor, name=runs.name)
        if rerun
        else ((), "it was not asked for")
        for one in found
    }

    others, controls = _run_rest(
        case, checks, targets, registration, code=code, executor=executor, store=store, progress=progress
    )
    for table in tables:
        check_drawn(table, store, name=runs.name)  # a control may have drawn units of the probe's own target
    began = int(datetime.fromisoformat(registration.entry.time).timestamp())
    ingested = tuple(
        _said(one, checks[one.probe.name], began if compared else None, manifests[one.probe.name]["manifest_sha256"])
        for one in found
    )
    own = {
        one.probe.name: _own_result(one, controls[one.probe.name], said, name=runs.name)
        for one, said in zip(found, ingested, strict=True)
    }
    results = [own[one.name] if one.name in own else others[one.name] for one in case.probes]
    premises = {premise: None for said in ingested for premise in said.premises(runs.name)}
    judged = replace(case, premises=(*case.premises, *premises))
    decisive = not any(said.retrospective for said in ingested)
    if decisive:
        rests = [Rests(said.probe, said.used, said.reproduced) for said in ingested]
        refuse_to_replace(judged, results, ledger, rests=rests)
    result = ruled(
        judged,
        registration,
        results,
        ledger=ledger,
        executor=executor,
        seconds=time.monotonic() - started,
        command=command,
        ingested={said.probe: said.content() for said in ingested},
        decisive=decisive,
    )
    for key, row in targets.rows.items():
        store.put(key, row)
    for table, said in zip(tables, ingested, strict=True):
        for measured in table.measured.values():
            store.put(ingested_key(said.root, measured.unit), measured.kept)
    return replace(result, elsewhere=banner(ingested)), ingested


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


def _checked(one: _Ruled, *, leaf: str, code: Code, executor: Executor, name: str) -> tuple[tuple[Unit, ...], str]:
    """The units run again here, as `check_again`: three drawn by lot, and the one that alone makes a rule MALFORMED."""
    root = one.reported.record(one.used).root
    checked, why = check_again(
        one.reported.used(one.used), root=root, leaf=leaf, code=code, executor=executor, name=name
    )
    wrong = malformed_unit(one.reported, one.run)
    if wrong is None or wrong.unit in checked or why:
        return checked, why
    also, why = check_again([wrong], root=root, leaf=leaf, code=code, executor=executor, name=name)
    return ((), why) if why else ((*checked, *also), "")


def _check(case: Case, table: Reported, *, ledger: Ledger, store: UnitStore, name: str, now: int | None) -> None:
    """Raises BadInput for starts in the future, and units that are here with other numbers. now: None compares none."""
    if now is not None:
        check_not_ahead(list(table.measured.values()), now=now, name=name)
    drawn = check_drawn(table, store, name=name)
    check_reported(case, table, drawn=drawn, ledger=ledger, store=store, name=name)


def _measured(
    case: Case, reported: Reported, targets: Targets, discount: float
) -> Generator[Sequence[Job], Results, tuple[Any, bool]]:
    """The rule on the prefix r*: what it found, and whether it came to its end there.

    None where not even the first look can be made.
    """
    probe = reported.layout.probe
    rows = {key: one.row for key, one in reported.measured.items()}

    def judged(by: UnitProbe, budget: int | None) -> Asking:
        return served(probe_tasks(case, by, targets, Limits(discount=discount, budget=budget))[0].procedure, rows)

    try:
        run = yield from judged(probe, reported.prefix)
    except OutOfBudget:
        looks = tuple(look for look in probe.rule.looks if look <= reported.prefix)
        if not looks:
            return None, False
        run = yield from judged(_until(probe, looks), None)
        return run, False
    return run, True


def _until(probe: UnitProbe, looks: tuple[int, ...]) -> UnitProbe:
    """The same probe, whose rule ends at an earlier look."""
    shorter: Any = {"rule": replace(probe.rule, looks=looks)}
    if isinstance(probe, SweepProbe):
        shorter["stages"] = probe.stages[: len(looks)]
    return replace(probe, **shorter)


def _said(one: _Ruled, check: tuple[tuple[Unit, ...], str], began: int | None, manifest_sha256: str) -> IngestedRuns:
    """What is said of one probe's runs; began: the registration's second, None where times are not compared."""
    reported = one.reported
    horizon = one.probe.rule.maximum if not one.complete else reported.last_replicate()
    missing = list(reported.missing(horizon))
    checked, unchecked = check
    return IngestedRuns(
        layout=reported.layout,
        rows=reported.rows,
        used=one.used,
        prefix=reported.prefix,
        root=reported.record(one.used).root,
        retrospective=began is not None and is_retrospective(reported.used(one.used), began),
        reproduced=bool(checked),
        checked=checked,
        unchecked=unchecked,
        missing=tuple(missing[:MOST_LISTED]),
        missing_cells=len(missing),
        later=tuple(reported.later(reported.prefix)),
        manifest_sha256=manifest_sha256,
    )


def _run_rest(
    case: Case,
    measured: Mapping[str, Any],
    targets: Targets,
    registration: Registration,
    *,
    code: Code,
    executor: Executor,
    store: UnitStore,
    progress: RunProgress,
) -> tuple[dict[str, ProbeResult], dict[str, list[ControlRun]]]:
    """The other probes' results by name, and the controls of those in `measured`: all run here."""
    limits = Limits(discount=registration.discount)
    tasks = [(one, probe_tasks(case, one, targets, limits)) for one in case.probes]
    tasks = [(one, own[1:] if one.name in measured else own) for one, own in tasks]
    flat = [task for _, own in tasks for task in own]
    progress.begin([task.name for task in flat], [task.jobs for task in flat])
    procedures = [task.procedure for task in flat]
    ends = iter(drive(procedures, code=code, executor=executor, store=store, progress=progress))
    found: list[tuple[Probe, list[Any]]] = [(one, [next(ends) for _ in own]) for one, own in tasks]
    controls = {one.name: results for one, results in found if one.name in measured}
    return {one.name: probe_result(one, results) for one, results in found if one.name not in measured}, controls


def _own_result(one: _Ruled, controls: Sequence[ControlRun], ingested: IngestedRuns, *, name: str) -> ProbeResult:
    """What the probe says, its units' record replaced by that of the rows, before and after what came too early."""
    run = Failure("no look can be made") if one.run is None else one.run
    result = probe_result(one.probe, [run, *controls])
    ends = tuple(replace(end, units=one.reported.record(end.units.count)) for end in result.evidence)
    result = replace(result, evidence=ends)
    if not one.complete and not isinstance(one.run, Failure):
        result = _incomplete(one, result, ingested)
    after = result.own
    if ingested.retrospective and after.outcome.decided:
        after = undecided(Reason.PREMISE_UNCHECKED)
    finding = after_controls(after, [control.result for control in controls])
    return with_line(replace(result, finding=finding), one.reported, used=one.used, name=name)


def _incomplete(one: _Ruled, result: ProbeResult, ingested: IngestedRuns) -> ProbeResult:
    """The result where the runs end before the rule does: too little to decide, with what they show so far."""
    cells = f"{ingested.missing_cells} of the cells up to its last look are missing"
    what = (
        f"the runs are complete for {ingested.prefix} of {one.probe.rule.maximum} replicates, and the rule had not "
        f"decided by then ({cells})"
    )
    if result.evidence:
        what += f"; at {one.reported.layout.complete(ingested.used)} replicates: {result.summary}"
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
