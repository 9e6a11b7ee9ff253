"""What an executor is: it takes tasks and reports each job the moment it finishes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from verifier.sweeps.code import Code
from verifier.sweeps.jobs import Failure, Job, Row


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


def encode_report(result: Row | Failure, seconds: float) -> bytes:
    """A worker's report on one job. JSON: the driver never unpickles what a process that ran a case sends."""
    if isinstance(result, Failure):
        report = {"failure": asdict(result), "seconds": seconds}
    else:
        report = {"row": result, "seconds": seconds}
    return json.dumps(report).encode()


def decode_report(job: Job, report: bytes) -> Finished:
    """The event that `report` tells about `job`; a garbled report is a failure of that job."""
    try:
        fields = json.loads(report)
        seconds = float(fields["seconds"])
        if "row" in fields:
            job.check(fields["row"])
            return Finished(job, fields["row"], seconds)
        failure = fields["failure"]
        return Finished(job, Failure(*(str(failure[name]) for name in ("what", "traceback", "missing"))), seconds)
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        return Finished(job, Failure(f"{job.target}: the worker sent a garbled report"), 0.0)


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
