"""A pool of spawned processes on this machine, each reporting job by job over its own pipe.

concurrent.futures reports a task when all of it is done, and a dead worker breaks its whole pool; here one unit a
worker is all that a crash can lose, and which one it was is known.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait

from verifier.sweeps.code import Code
from verifier.sweeps.executors.base import Event, Garbled, Lost, Task, decode_report, reports
from verifier.sweeps.jobs import Job
from verifier.sweeps.worker import prepare_process

MAX_REPORT = 2**24


def serve(pipe: Connection) -> None:
    """A worker's life: receive code and tasks, report each job, end with the driver."""
    threading.Thread(target=_end_with_driver, daemon=True).start()
    prepare_process()
    codes: dict[str, Code] = {}
    while True:
        try:
            message = pipe.recv()
            if isinstance(message, Code):
                codes[message.sha256] = message
                continue
            sha256, jobs = message
            for report in reports(codes[sha256], jobs):
                pipe.send_bytes(report)
        except (EOFError, BrokenPipeError):
            return


def _end_with_driver() -> None:
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(0)


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


class _Worker:
    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, far_end = context.Pipe()
        self.process = context.Process(target=serve, args=(far_end,), daemon=True)
        with _interrupts_ignored():  # inherited: Ctrl-C, sent to the whole terminal, is the driver's to handle
            self.process.start()
        far_end.close()
        self.known: set[str] = set()
        self.waiting: deque[Job] = deque()

    def send(self, task: Task) -> None:
        self.waiting = deque(task.jobs)
        # a worker that died while idle is noticed by the broken pipe at the next read
        with contextlib.suppress(ConnectionError):
            if task.code.sha256 not in self.known:
                self.pipe.send(task.code)
                self.known.add(task.code.sha256)
            self.pipe.send((task.code.sha256, task.jobs))


class LocalExecutor:
    """`workers` spawned processes; the default is one for each core this process may use."""

    name = "local"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self._pool = [_Worker() for _ in range(self.workers)]

    def has_room(self) -> bool:
        """Whether a worker is idle."""
        return any(not worker.waiting for worker in self._pool)

    def submit(self, task: Task) -> None:
        """Hands the task to an idle worker."""
        next(worker for worker in self._pool if not worker.waiting).send(task)

    def events(self, *, timeout: float) -> Sequence[Event]:
        """Finished jobs, and the tasks of workers that died; a dead worker is replaced."""
        busy = {worker.pipe: worker for worker in self._pool if worker.waiting}
        events: list[Event] = []
        for pipe in wait(list(busy), timeout):
            worker = busy[pipe]  # type: ignore[index]  # wait returns the connections it was given
            try:
                events.append(decode_report(worker.waiting[0], worker.pipe.recv_bytes(MAX_REPORT)))
                worker.waiting.popleft()
            except (EOFError, OSError, Garbled):
                events.append(Lost(tuple(worker.waiting)))
                worker.process.kill()  # it may live on with a pipe that no longer carries reports
                worker.process.join()
                worker.pipe.close()
                self._pool[self._pool.index(worker)] = _Worker()
        return events

    def close(self) -> None:
        """Kills the workers: a unit under way is computed again from its stream."""
        for worker in self._pool:
            worker.process.kill()
        for worker in self._pool:
            worker.process.join()
            worker.pipe.close()
