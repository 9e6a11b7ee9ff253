"""What a case's targets can be called with, asked in a worker before anything is registered."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from verifier.casefile import Case
from verifier.model.case import Value
from verifier.model.errors import EXTRAS, BadInput, InfrastructureFailed, MissingExtra, VerifierError
from verifier.model.tables import nearest
from verifier.sweeps.bound import INSTANCE, BoundProbe
from verifier.sweeps.code import Code
from verifier.sweeps.drive import drive
from verifier.sweeps.executors import Executor
from verifier.sweeps.jobs import Failure, Inspection, Job, Keywords, Row
from verifier.sweeps.probe import SweepProbe
from verifier.sweeps.replication import ReplicationProbe
from verifier.sweeps.store import UnitStore


@dataclass(frozen=True)
class Targets:
    """Target -> the names it accepts, and the inspections' rows (key -> row) that say so."""

    names: Mapping[str, frozenset[str]]
    rows: Mapping[str, Row]

    def keywords(
        self, target: str, settings: Mapping[str, Value], replicate: Mapping[str, int] | None = None
    ) -> Keywords:
        """The replicate keys, and the settings that `target` names."""
        accepted = self.names[target]
        named = {name: value for name, value in settings.items() if name in accepted or "**" in accepted}
        return tuple(sorted({**named, **(replicate or {})}.items()))


def inspect_targets(case: Case) -> Generator[Sequence[Job], Mapping[str, Row | Failure], Targets]:
    """A procedure: imports every target of the case and checks how it can be called.

    Raises BadInput for a target that does not import, does not take `stream` or a replicate key, or wants a name that
    the case does not give, and for a parameter that no target names.
    """
    called: tuple[SweepProbe | BoundProbe | ReplicationProbe, ...] = (*case.sweeps, *case.bounds, *case.replications)
    jobs = {
        target: Inspection(case.code_sha256, target) for probe in (*called, *case.audits) for target in probe.targets
    }
    results = yield list(jobs.values())
    names: dict[str, frozenset[str]] = {}
    rows: dict[str, Row] = {}
    required: dict[str, frozenset[str]] = {}
    for result in results.values():
        if isinstance(result, Failure):
            raise _not_imported(case, result)
    for target, job in jobs.items():
        result = results[job.key]
        assert not isinstance(result, Failure), "failures were raised before"
        rows[job.key] = result
        names[target], required[target] = frozenset(result["names"]), frozenset(result["required"])
    for probe in called:
        by_arm = isinstance(probe, ReplicationProbe) and probe.separate
        told = {INSTANCE} if isinstance(probe, BoundProbe) else set[str]()
        drawing = {"stream", *probe.replicate, *(("arm",) if by_arm else ()), *told}
        optional = {"arm"} if isinstance(probe, ReplicationProbe) and probe.arms else set[str]()
        for given, may, targets in (
            (drawing, optional, probe.drawing_targets),
            (set[str](), told, probe.value_targets),
        ):
            for target in sorted(targets):
                _check_call(case, target, given, may=may, names=names[target], required=required[target])
    for parameter in case.defaults:
        if not any(parameter in accepted or "**" in accepted for accepted in names.values()):
            raise BadInput(
                f"no target takes the parameter {parameter}", where=str(case.folder / "case.toml"), mend="remove it"
            )
    return Targets(names, rows)


def _not_imported(case: Case, failure: Failure) -> VerifierError:
    """Why a target could not be inspected: the machine's fault, or the case's."""
    where = str(case.folder)
    if failure.missing in EXTRAS:
        return MissingExtra(failure.missing, where=where)
    if failure.lost:
        return InfrastructureFailed(failure.what, where=where, mend="see what ends the process that imports it")
    return BadInput(failure.what, where=where, mend="mend the re-implementation, or the name in case.toml")


def check_targets(case: Case, *, executor: Executor, store: UnitStore | None = None) -> Targets:
    """Runs `inspect_targets` by itself; without a store nothing is kept."""
    code = Code(case.code_sha256, case.files)
    (targets,) = drive([inspect_targets(case)], code=code, executor=executor, store=store, progress=None)
    return targets


def _check_call(
    case: Case, target: str, given: set[str], *, may: set[str], names: frozenset[str], required: frozenset[str]
) -> None:
    """Raises BadInput unless `target` takes the names `given`, and wants no other than those, `may` and parameters."""
    if "**" not in names and (absent := given - names):
        raise BadInput(
            f"{target} does not take {', '.join(sorted(absent))}",
            where=str(case.folder),
            mend=f"add it to its keyword arguments ({nearest(min(absent), sorted(names))})",
        )
    if missing := required - given - may - set(case.defaults):
        raise BadInput(
            f"{target} wants {', '.join(sorted(missing))}, which the case does not give",
            where=str(case.folder / "case.toml"),
            mend="add it to [parameters] or give it a default",
        )
