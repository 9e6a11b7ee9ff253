"""The driver over an executor that runs in this process and does what the test scripts."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from verifier.engine.sweep import Grid, NoAnswer, ask_units, ask_values
from verifier.model.errors import BadInput
from verifier.sweeps.code import Code
from verifier.sweeps.drive import TASK_SECONDS, OutOfTime, drive
from verifier.sweeps.executors import Event, Finished, Lost, Task, check_executor, open_executor
from verifier.sweeps.jobs import Failure, Inspection, Job, Row, Unit
from verifier.sweeps.probe import parse_sweep
from verifier.sweeps.store import UnitStore

CODE = Code("c" * 64, {})

Results = Mapping[str, Row | Failure]
Asking = Generator[Sequence[Job], Results, Any]


def unit(target: str, k: int = 8, replicate: int = 0) -> Unit:
    return Unit("r", "p", f"m:{target}", f"m:{target}", (("k", k),), replicate, ())


def row(job: Job) -> Row:
    return {"values": "integer", "n": 9, "sum": "9", "sum_sq": "9", "values_sha256": job.key}


@dataclass
class Scripted:
    """Performs tasks in the order they came, one job an event, `workers` tasks at a time.

    `fails` names targets whose jobs raise, `kills` how many workers each job's key takes with it, `seconds` how long
    a job of a target takes.
    """

    workers: int = 1
    fails: set[str] = field(default_factory=set)
    kills: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    waiting: deque[deque[Job]] = field(default_factory=deque)
    name = "scripted"

    def has_room(self) -> bool:
        return len(self.waiting) < self.workers

    def submit(self, task: Task) -> None:
        assert self.has_room()
        assert task.jobs
        self.tasks.append(task)
        self.waiting.append(deque(task.jobs))

    def events(self, *, timeout: float) -> Sequence[Event]:
        assert timeout > 0
        assert self.waiting, "the driver waits for nothing"
        jobs = self.waiting[0]
        if self.kills.get(jobs[0].key):
            self.kills[jobs[0].key] -= 1
            self.waiting.popleft()
            return [Lost(tuple(jobs))]
        job = jobs.popleft()
        if not jobs:
            self.waiting.popleft()
        result = Failure(f"{job.target} raised", "traceback") if job.target in self.fails else row(job)
        return [Finished(job, result, self.seconds.get(job.target, 1.0))]

    def close(self) -> None: ...

    @property
    def sizes(self) -> list[int]:
        return [len(task.jobs) for task in self.tasks]

    @property
    def sent(self) -> list[str]:
        return [job.key for task in self.tasks for job in task.jobs]


@dataclass
class Watched:
    updates: list[tuple[int, int, bool]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def update(self, procedure: int, *, done: int, over: bool) -> None:
        self.updates.append((procedure, done, over))

    def note(self, text: str) -> None:
        self.notes.append(text)


def asking(*requests: Sequence[Job]) -> Asking:
    """Asks for each request in turn and returns all the results."""
    given: list[dict[str, Row | Failure]] = []
    for jobs in requests:
        results = yield jobs
        wanted = {job.key for job in jobs}
        failed = any(isinstance(result, Failure) for result in results.values())
        assert set(results) <= wanted if failed else set(results) == wanted
        given.append(dict(results))
    return given


def run(executor: Scripted, *procedures: Asking, **options: Any) -> list[Any]:
    return drive(procedures, code=CODE, executor=executor, **options)


# who gets what


def test_results_come_in_the_order_of_the_procedures() -> None:
    a, b = unit("a"), unit("b")
    executor = Scripted(workers=2)
    assert run(executor, asking([a], [a]), asking([b])) == [[{a.key: row(a)}] * 2, [{b.key: row(b)}]]
    assert all(task.code is CODE for task in executor.tasks)


def test_nothing_to_do_needs_no_executor() -> None:
    def nothing() -> Asking:
        assert (yield []) == {}
        assert (yield []) == {}
        return "done"

    executor = Scripted()
    assert run(executor, nothing()) == ["done"]
    assert run(executor) == []
    assert executor.tasks == []


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("seconds", [1.0, 0.01])
def test_a_job_wanted_by_two_procedures_is_done_once(workers: int, seconds: float) -> None:
    shared = [unit("shared", replicate=r) for r in range(6)]
    mine, theirs = [unit("a", replicate=r) for r in range(3)], [unit("b", replicate=r) for r in range(9)]
    executor = Scripted(workers=workers, seconds={"m:shared": seconds, "m:a": seconds, "m:b": seconds})
    first, second, third = run(executor, asking([*shared, *mine]), asking([*theirs, *shared]), asking(shared[::-1]))
    assert Counter(executor.sent) == Counter(job.key for job in (*shared, *mine, *theirs))
    assert first[0].items() >= third[0].items()
    assert second[0].items() >= third[0].items()
    assert set(third[0]) == {job.key for job in shared}


def test_a_job_done_for_one_procedure_is_not_handed_out_for_another_that_still_waits() -> None:
    x, others = unit("x"), [unit("y", replicate=r) for r in range(4)]
    executor = Scripted(workers=1)
    run(executor, asking([x]), asking([*others[:2], x, *others[2:]]))
    assert executor.sent.count(x.key) == 1
    assert len(executor.sent) == 5


def test_a_job_asked_for_twice_at_once_is_done_once() -> None:
    job = unit("a")
    executor = Scripted()
    assert run(executor, asking([job, unit("a"), job])) == [[{job.key: row(job)}]]
    assert executor.sent == [job.key]


def test_earlier_procedures_go_first() -> None:
    firsts, then = [unit("a", replicate=r) for r in range(2)], [unit("a", replicate=r) for r in range(2, 4)]
    later = [unit("b", replicate=r) for r in range(3)]
    executor = Scripted(workers=1)
    run(executor, asking(firsts, then), asking(later))
    assert executor.sent == [job.key for job in (*firsts, *then, *later)]


def test_a_later_procedure_uses_the_room_that_an_earlier_one_leaves() -> None:
    a, b, c = unit("a"), unit("b"), unit("c")
    executor = Scripted(workers=2)
    run(executor, asking([a], [c]), asking([b]))
    assert executor.sent == [a.key, b.key, c.key]


# how jobs are grouped


@pytest.mark.parametrize(
    ("seconds", "size"), [(1.0, 1), (TASK_SECONDS, 1), (TASK_SECONDS / 2, 2), (TASK_SECONDS / 7.5, 8), (0.0, 2000)]
)
def test_tasks_are_about_as_long_as_they_should_be(seconds: float, size: int) -> None:
    executor = Scripted(seconds={"m:a": seconds})
    run(executor, asking([unit("a", replicate=r) for r in range(2 * size + 2)]))
    assert executor.sizes == [1, size, size, 1]  # the first tells how long one takes
    assert len(set(executor.sent)) == 2 * size + 2


def test_a_task_holds_jobs_of_one_target_and_scale() -> None:
    executor = Scripted(seconds={"m:a": 0.01, "m:b": 0.01})
    jobs = [unit(target, k, r) for r in range(40) for target, k in (("a", 8), ("a", 16), ("b", 8))]
    by_group = sorted(jobs, key=lambda job: job.group)
    run(executor, asking(by_group))
    assert all(len({job.group for job in task.jobs}) == 1 for task in executor.tasks)
    assert executor.sent == [job.key for job in by_group]
    assert executor.sizes == [1, 20, 19] * 3


# workers that die


def test_what_a_dead_worker_had_is_handed_out_again_and_the_unit_under_way_goes_alone() -> None:
    jobs = [unit("a", replicate=r) for r in range(5)]
    executor = Scripted(seconds={"m:a": 0.01}, kills={jobs[2].key: 1})
    watched = Watched()
    (results,) = run(executor, asking(jobs), progress=watched)
    assert set(results[0]) == {job.key for job in jobs}
    assert [[jobs.index(job) for job in task.jobs] for task in executor.tasks] == [[0], [1, 2, 3, 4], [2], [3, 4]]
    assert watched.notes == ["a worker died during m:a; attempt 1 of 3"]


def test_a_unit_that_kills_three_workers_has_no_answer_and_those_of_others_do() -> None:
    jobs = [unit("a", replicate=r) for r in range(4)]
    executor = Scripted(seconds={"m:a": 0.01}, kills={jobs[1].key: 9})
    watched = Watched()
    results, others = run(executor, asking(jobs[:2]), asking(jobs[2:]), progress=watched)
    assert results[0][jobs[1].key] == Failure("m:a: 3 workers died during this unit", lost=True)
    assert results[0][jobs[0].key] == row(jobs[0])
    assert [others[0][job.key] for job in jobs[2:]] == [row(job) for job in jobs[2:]]
    assert Counter(executor.sent)[jobs[1].key] == 3
    assert [note[-6:] for note in watched.notes] == ["1 of 3", "2 of 3", "3 of 3"]


def test_a_lost_job_wanted_by_two_procedures_is_done_once_for_both() -> None:
    shared, other = unit("shared"), unit("other")
    executor = Scripted(kills={shared.key: 1})
    results = run(executor, asking([shared]), asking([other, shared]))
    assert results[0][0][shared.key] == results[1][0][shared.key] == row(shared)
    assert Counter(executor.sent) == {shared.key: 2, other.key: 1}


# failures


def test_a_failure_reaches_every_procedure_that_wants_the_job_and_no_other() -> None:
    bad, good = unit("bad"), unit("good")
    executor = Scripted(fails={"m:bad"})
    first, second, third = run(executor, asking([bad]), asking([good, bad]), asking([good]))
    assert first[0][bad.key] == second[0][bad.key] == Failure("m:bad raised", "traceback")
    assert third[0][good.key] == row(good)
    assert executor.sent.count(bad.key) == 1


def test_a_procedure_that_met_a_failure_waits_for_nothing_more() -> None:
    jobs = [unit("good", replicate=0), unit("bad"), *(unit("good", replicate=r) for r in range(1, 9))]
    executor = Scripted(fails={"m:bad"})
    (results,) = run(executor, asking(jobs))
    assert set(results[0]) == {jobs[0].key, jobs[1].key}
    assert executor.sent == [jobs[0].key, jobs[1].key]


def test_an_exception_of_a_procedure_ends_the_drive_and_what_was_finished_is_stored(tmp_path: Path) -> None:
    def refuses(job: Job) -> Asking:
        yield [job]
        raise BadInput("no")

    store = UnitStore(tmp_path / "units.db")
    job = unit("a")
    with pytest.raises(BadInput, match="no"):
        run(Scripted(), refuses(job), asking([unit("b")]), store=store)
    assert store.get([job.key]) == {job.key: row(job)}
    store.close()


PROBE = parse_sweep(
    {
        "name": "p",
        "kind": "sweep",
        "part": "a",
        "target": "m:f",
        "scale": {"k": [8, 16]},
        "rule": {"kind": "growth", "delta": "1", "alternative": "2", "replicate": {"n": 9}, "looks": [2, 3]},
    },
    path=(),
)


def grid(target: str) -> Grid:
    def keywords(target: str, settings: object, replicate: Mapping[str, int] | None = None) -> Any:
        assert settings == {}, target
        return tuple((replicate or {}).items())

    targets: Any = SimpleNamespace(keywords=keywords)
    return Grid("r", PROBE, target, target, (8, 16), {}, targets)


@pytest.mark.parametrize(
    "ask",
    [lambda: ask_units(grid("m:bad"), 2), lambda: ask_values(grid("m:f"), ["m:bad"])],
    ids=["units", "values"],
)
def test_a_failure_leaves_its_own_procedure_as_no_answer_with_its_traceback(ask: Any) -> None:
    def procedure() -> Asking:
        try:
            return (yield from ask())
        except NoAnswer as error:
            return error.failure

    executor = Scripted(fails={"m:bad"})
    failure, drawn = run(executor, procedure(), ask_units(grid("m:f"), 3))
    assert failure == Failure("m:bad raised", "traceback")
    assert {scale: len(sums) for scale, sums in drawn.sums.items()} == {8: 3, 16: 3}


# the store and the time


def test_what_is_stored_is_not_asked_of_the_executor(tmp_path: Path) -> None:
    jobs = [unit("a", replicate=r) for r in range(4)]
    store = UnitStore(tmp_path / "units.db")
    first = run(Scripted(), asking(jobs[:2]), store=store)
    executor = Scripted()
    (second,) = run(executor, asking(jobs), store=store)
    assert second[0].items() >= first[0][0].items()
    assert executor.sent == [job.key for job in jobs[2:]]
    unused = Scripted()
    assert run(unused, asking(jobs), asking(jobs[:1]), store=store)[0] == second
    assert unused.tasks == []
    store.close()


def test_a_row_is_stored_before_the_next_event_is_awaited(tmp_path: Path) -> None:
    store = UnitStore(tmp_path / "units.db")
    jobs = [unit("a", replicate=r) for r in range(5)]
    seen: list[int] = []

    class Looking(Scripted):
        def events(self, *, timeout: float) -> Sequence[Event]:
            seen.append(len(store.get(job.key for job in jobs)))
            return super().events(timeout=timeout)

    run(Looking(seconds={"m:a": 0.01}), asking(jobs), store=store)
    assert seen == [0, 1, 2, 3, 4]
    store.close()


def test_a_failed_unit_is_kept_as_a_failure_and_a_failed_import_leaves_no_trace(tmp_path: Path) -> None:
    store = UnitStore(tmp_path / "units.db")
    run(Scripted(fails={"m:f"}), asking([Inspection("c", "m:f")]), store=store)
    assert not (tmp_path / "units.db").exists()
    run(Scripted(fails={"m:f"}), asking([unit("f")]), store=store)
    assert (tmp_path / "units.db").exists()
    assert store.get([unit("f").key]) == {}
    store.close()


def test_the_deadline_comes_between_events_and_keeps_what_was_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(100))
    monkeypatch.setattr("verifier.sweeps.drive.time.monotonic", lambda: float(next(clock)))
    store = UnitStore(tmp_path / "units.db")
    jobs = [unit("a", replicate=r) for r in range(9)]
    with pytest.raises(OutOfTime):
        run(Scripted(), asking(jobs), store=store, deadline=3.0)
    assert len(store.get(job.key for job in jobs)) == 3
    executor = Scripted()
    run(executor, asking(jobs), store=store, deadline=99.0)
    assert executor.sent == [job.key for job in jobs[3:]]
    store.close()


def test_what_is_at_hand_needs_no_time(tmp_path: Path) -> None:
    store = UnitStore(tmp_path / "units.db")
    jobs = [unit("a")]
    whole = run(Scripted(), asking(jobs), store=store)
    assert run(Scripted(), asking(jobs), store=store, deadline=float("-inf")) == whole
    store.close()


def test_progress_counts_each_procedures_jobs() -> None:
    a, b = [unit("a", replicate=r) for r in range(2)], [unit("b")]
    watched = Watched()
    run(Scripted(), asking(a, [*a, *b]), asking(b), progress=watched)
    assert [update for update in watched.updates if update[0] == 0][-1] == (0, 5, True)
    assert [update for update in watched.updates if update[0] == 1][-1] == (1, 1, True)
    counts = [done for procedure, done, _ in watched.updates if procedure == 0]
    assert counts == sorted(counts)


# names of executors


@pytest.mark.parametrize(
    "name", ["auto", "local", "local=1", "local=64", "ray", "ray=127.0.0.1:6379", "ray=[::1]:10001"]
)
def test_names_of_executors(name: str) -> None:
    check_executor(name)
    executor = open_executor(name)  # no worker starts before the first task
    assert executor.has_room()
    assert executor.workers == 0
    assert list(executor.events(timeout=0.0)) == []
    executor.close()


@pytest.mark.parametrize(
    "name", ["", "Local", "local=0", "local=-1", "local=two", "ray=", "ray=host", "ray=a b:1", "dask", "local "]
)
def test_what_is_no_executor_is_said(name: str) -> None:
    with pytest.raises(BadInput, match="is not an executor; use auto, local, local=WORKERS, ray or ray=HOST:PORT"):
        open_executor(name)
