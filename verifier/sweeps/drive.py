"""Drives sequential procedures over one executor: whatever a procedure asks for next is computed or found.

A procedure is a generator. It yields jobs, is sent their results (key -> row or failure), and returns its own result;
so a stopping rule reads like a loop, and several run at once without knowing of each other. After a failure it is sent
what there is, the failure among it, without waiting for the rest.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from verifier.sweeps.code import Code
from verifier.sweeps.executors import Executor, Finished, Task
from verifier.sweeps.jobs import Failure, Inspection, Job, Row
from verifier.sweeps.store import UnitStore

R = TypeVar("R")
Results = Mapping[str, Row | Failure]
Procedure = Generator[Sequence[Job], Results, R]

TASK_SECONDS = 0.2
"""Jobs are grouped to tasks of about this length, so that handing them out costs little."""

MAX_ATTEMPTS = 3
"""A unit during which this many workers died has no answer."""

_POLL_SECONDS = 0.2


class LeastSeconds(dict[object, float]):
    """The least seconds of a job of each group: a worker's first job also pays for importing the case's code."""

    def __setitem__(self, group: object, seconds: float) -> None:
        """Keeps the smaller of two."""
        super().__setitem__(group, min(seconds, self.get(group, math.inf)))


class Progress(Protocol):
    """Told how far the procedures are."""

    def update(self, procedure: int, *, done: int, over: bool) -> None:
        """Procedure number `procedure` has had `done` of its jobs finished; `over` where it needs no more."""
        ...

    def note(self, text: str) -> None:
        """Something worth a line, such as a worker that died."""
        ...


class OutOfTime(Exception):
    """The time limit came first. Every finished unit is stored."""


@dataclass
class _Run(Generic[R]):
    procedure: Procedure[R]
    rows: dict[str, Row | Failure] = field(default_factory=dict)
    queue: deque[Job] = field(default_factory=deque)
    missing: set[str] = field(default_factory=set)
    wanted: int = 0
    result: R | None = None
    started: bool = False
    over: bool = False

    def ask(self) -> Sequence[Job]:
        """The jobs wanted next. Raises StopIteration with the procedure's result."""
        if self.started:
            return self.procedure.send(self.rows)
        self.started = True
        return next(self.procedure)


class _Drive(Generic[R]):
    def __init__(
        self, runs: list[_Run[R]], *, code: Code, executor: Executor, store: UnitStore | None, progress: Progress | None
    ) -> None:
        self.runs = runs
        self.code = code
        self.executor = executor
        self.store = store
        self.progress = progress
        self.in_flight: set[str] = set()
        self.attempts: dict[str, int] = {}
        self.failed: dict[str, Failure] = {}  # not tried again in this run, but in the next
        self.seconds: dict[object, float] = {}

    def advance(self, run: _Run[R]) -> None:
        """Takes a run forward until it needs a job that is not at hand, or is over."""
        while not run.over and not run.missing:
            try:
                jobs = run.ask()
            except StopIteration as stop:
                run.result, run.over = stop.value, True
                run.queue.clear()
                break
            run.rows = {}
            run.wanted += len(jobs)
            if self.store:
                run.rows.update(self.store.get(job.key for job in jobs))
            run.rows.update({job.key: self.failed[job.key] for job in jobs if job.key in self.failed})
            absent = {job.key: job for job in jobs if job.key not in run.rows}
            run.missing = set(absent)
            run.queue = deque(absent.values())
        self.report(run)

    def report(self, run: _Run[R]) -> None:
        if self.progress:
            self.progress.update(self.runs.index(run), done=run.wanted - len(run.missing), over=run.over)

    def hand_out(self) -> None:
        """Fills the executor: earlier procedures first, jobs of one kind together."""
        while self.executor.has_room():
            run = next((run for run in self.runs if self.prune(run)), None)
            if run is None:
                return
            first = run.queue[0]
            size = self.group_size(first)
            jobs: list[Job] = []
            while len(jobs) < size and self.prune(run) and run.queue[0].group == first.group:
                job = run.queue.popleft()
                jobs.append(job)
                self.in_flight.add(job.key)
            self.executor.submit(Task(self.code, tuple(jobs)))

    def prune(self, run: _Run[R]) -> bool:
        """Drops jobs from the head that another procedure has sent out or had done; whether something is left."""
        while run.queue and (run.queue[0].key in self.in_flight or run.queue[0].key not in run.missing):
            run.queue.popleft()
        return bool(run.queue)

    def group_size(self, job: Job) -> int:
        if self.attempts.get(job.key):
            return 1  # a unit that a worker died of goes alone
        seconds = self.seconds.get(job.group)
        return 1 if seconds is None else max(1, math.ceil(TASK_SECONDS / max(seconds, 1e-4)))

    def note(self, text: str) -> None:
        if self.progress:
            self.progress.note(text)

    def finished(self, event: Finished) -> None:
        job, result = event.job, event.result
        self.in_flight.discard(job.key)
        if isinstance(result, Failure):
            self.failed[job.key] = result
            if self.store and not isinstance(job, Inspection):
                self.store.put_failure(job.key, result)
        else:
            if self.store and not isinstance(job, Inspection):  # before a registration nothing is written
                self.store.put(job.key, result)
            self.seconds[job.group] = event.seconds
        for run in self.runs:
            if job.key in run.missing:
                run.missing.discard(job.key)
                run.rows[job.key] = result
                if isinstance(result, Failure):  # no later unit can make an answer of it
                    run.missing.clear()
                    run.queue.clear()
                self.report(run)

    def lost(self, jobs: Sequence[Job]) -> None:
        """A worker died: its jobs go back to whoever wants them, the one under way with one attempt less."""
        self.in_flight.difference_update(job.key for job in jobs)
        first = jobs[0]
        self.attempts[first.key] = self.attempts.get(first.key, 0) + 1
        self.note(f"a worker died during {first.target}; attempt {self.attempts[first.key]} of {MAX_ATTEMPTS}")
        if self.attempts[first.key] >= MAX_ATTEMPTS:
            self.finished(
                Finished(
                    first, Failure(f"{first.target}: {MAX_ATTEMPTS} workers died during this unit", lost=True), 0.0
                )
            )
        for run in self.runs:
            run.queue.extendleft(job for job in reversed(jobs) if job.key in run.missing)


def drive(
    procedures: Sequence[Procedure[R]],
    *,
    code: Code,
    executor: Executor,
    store: UnitStore | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
    seconds: dict[object, float] | None = None,
) -> list[R]:
    """The results of the procedures, in order.

    Every finished job is stored, where there is a store, before anything else happens with it. `deadline` is on
    `time.monotonic`; `seconds` is filled with how long a job of each group took last. Raises OutOfTime at the deadline.
    """
    runs = [_Run(procedure) for procedure in procedures]
    state = _Drive(runs, code=code, executor=executor, store=store, progress=progress)
    if seconds is not None:
        state.seconds = seconds
    for run in runs:
        state.advance(run)
    while not all(run.over for run in runs):
        if deadline is not None and time.monotonic() >= deadline:
            raise OutOfTime
        state.hand_out()
        for event in executor.events(timeout=_POLL_SECONDS):
            if isinstance(event, Finished):
                state.finished(event)
            else:
                state.lost(event.jobs)
        for run in runs:
            state.advance(run)
    return [run.result for run in runs]  # type: ignore[misc]  # a run that is over has its result
