"""What an executor is: it takes tasks and reports each job the moment it finishes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from verifier.sweeps.code import Code
from verifier.sweeps.jobs import Failure, Job, Row
from verifier.sweeps.worker import perform


@dataclass(frozen=True)
class Task:
    """Jobs of one case that one worker performs in order."""

    code: Code
    jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """A job ended, with its row or its failure, after `seconds` on the worker."""

    job: Job
    result: Row | Failure
    seconds: float


@dataclass(frozen=True, slots=True)
class Lost:
    """A worker died: these jobs of its task did not report, the first of them was under way."""

    jobs: tuple[Job, ...]


Event = Finished | Lost


class Garbled(Exception):
    """A worker sent something that is no report on the job it was asked for."""


def reports(code: Code, jobs: Sequence[Job]) -> Iterator[bytes]:
    """A worker's reports on its jobs, one by one. JSON: the driver never unpickles what a case's process sends."""
    own = os.getpid()
    for job in jobs:
        started = time.perf_counter()
        result = perform(code, job)
        if os.getpid() != own:  # the case's code forked, and this is the copy
            os._exit(0)
        outcome = {"failure": asdict(result)} if isinstance(result, Failure) else {"row": result}
        yield json.dumps({"job": job.key, "seconds": time.perf_counter() - started, **outcome}).encode()


def decode_report(job: Job, report: bytes) -> Finished:
    """The event that `report` tells about `job`. Raises Garbled for anything that is no report on it."""
    try:
        fields = json.loads(report)
        if fields["job"] != job.key:
            raise Garbled
        seconds = max(0.0, min(float(fields["seconds"]), 1e9))
        if "row" in fields:
            job.check(fields["row"])
            return Finished(job, fields["row"], seconds)
        failure = fields["failure"]
        what, traceback, missing = (str(failure[name]) for name in ("what", "traceback", "missing"))
        return Finished(job, Failure(what, traceback, missing), seconds)
    except (ArithmeticError, KeyError, LookupError, RecursionError, TypeError, ValueError):
        raise Garbled from None


class Executor(Protocol):
    """Runs tasks somewhere. Results do not depend on where: a job's stream is bound to what the job is."""

    @property
    def name(self) -> str:
        """The words `local` or `ray`."""
        ...

    @property
    def workers(self) -> int:
        """How many jobs run at a time."""
        ...

    def has_room(self) -> bool:
        """Whether a task submitted now would soon be started."""
        ...

    def submit(self, task: Task) -> None:
        """Takes a task. Call only when there is room."""
        ...

    def events(self, *, timeout: float) -> Sequence[Event]:
        """What happened since the last call; waits at most `timeout` seconds for something to happen."""
        ...

    def close(self) -> None:
        """Ends the workers at once; what they had not reported is dropped."""
        ...
