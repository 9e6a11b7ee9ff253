"""Ray: a local cluster bound to loopback, or one that is already running."""

from __future__ import annotations

import logging
import os
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from verifier.model.errors import InfrastructureFailed
from verifier.sweeps.code import Code
from verifier.sweeps.executors.base import Event, Garbled, Lost, Task, decode_report, reports
from verifier.sweeps.jobs import Job
from verifier.sweeps.worker import prepare_process

_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_task_oom_retries": "1",  # the default retries a task that runs out of memory for ever
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
# of a cluster of our own; one that is running has made these choices, and they must be the same on all sides
_LOCAL_SETTINGS = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # under it a cluster listens on loopback only
    "RAY_AUTH_MODE": "token",  # said out loud, so that Ray need not say it
}


def _serve(code: Code, jobs: tuple[Job, ...]) -> Iterator[bytes]:
    prepare_process()
    yield from reports(code, jobs)


class RayExecutor:
    """Tasks as streaming generators, so that each job reports as it finishes.

    `address` is "local" for a cluster of this process's own, or HOST:PORT of a running one. Raises
    InfrastructureFailed where Ray cannot be started or reached, or has no CPU.
    """

    name = "ray"

    def __init__(self, address: str = "local", *, workers: int | None = None) -> None:
        settings = _SETTINGS | (_LOCAL_SETTINGS if address == "local" else {})
        os.environ.update({name: value for name, value in settings.items() if name not in os.environ})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ray warns about its own defaults while it is imported and started
            import ray  # noqa: PLC0415  # half a second, and an extra

            self._ray = ray
            if ray.is_initialized():
                raise InfrastructureFailed("Ray is already in use in this process", mend="run one command at a time")
            cpus = (workers or len(os.sched_getaffinity(0))) if address == "local" else None
            try:
                ray.init(
                    address=address,
                    num_cpus=cpus,
                    include_dashboard=False if address == "local" else None,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    configure_logging=False,
                )
            except Exception as error:
                raise InfrastructureFailed(
                    f"Ray could not be reached or started ({type(error).__name__}: {str(error)[:200]})",
                    where=f"--executor ray={address}" if address != "local" else "--executor ray",
                    mend="check the address, or use --executor local",
                ) from error
        self.workers = int(ray.cluster_resources().get("CPU", 0))  # type: ignore[no-untyped-call]  # Ray leaves it untyped
        if self.workers < 1:
            self.close()
            raise InfrastructureFailed(
                "the Ray cluster has no CPU to run on", mend="add a node, or use --executor local"
            )
        # a dead worker's task is submitted again by the driver, which knows what had already reported
        self._remote = ray.remote(num_cpus=1, max_retries=0)(_serve)
        self._codes: dict[str, Any] = {}
        self._running: dict[Any, deque[Job]] = {}

    def has_room(self) -> bool:
        """Whether fewer than two tasks a CPU are under way: one runs, one waits at hand."""
        return len(self._running) < 2 * self.workers

    def submit(self, task: Task) -> None:
        """Submits the task; a case's code travels to the cluster once."""
        if task.code.sha256 not in self._codes:
            self._codes[task.code.sha256] = self._ray.put(task.code)
        generator = self._remote.remote(self._codes[task.code.sha256], task.jobs)
        self._running[generator] = deque(task.jobs)

    def events(self, *, timeout: float) -> Sequence[Event]:
        """Finished jobs, and the tasks whose worker or node died."""
        if not self._running:
            return []
        waiting = list(self._running)
        ready, _ = self._ray.wait(waiting, num_returns=1, timeout=timeout)
        if ready:  # whatever else is ready by now comes along
            ready, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=0)
        return [event for generator in ready if (event := self._next(generator)) is not None]

    def _next(self, generator: Any) -> Event | None:
        jobs = self._running[generator]
        try:
            report = self._ray.get(next(generator))
        except StopIteration:
            del self._running[generator]
            return Lost(tuple(jobs)) if jobs else None
        except self._ray.exceptions.RayError:
            del self._running[generator]
            return Lost(tuple(jobs)) if jobs else None
        try:
            event = decode_report(jobs[0], report)
        except Garbled:
            del self._running[generator]
            return Lost(tuple(jobs))
        jobs.popleft()
        if not jobs:
            del self._running[generator]
        return event

    def close(self) -> None:
        """Leaves the cluster; one of our own ends with its workers."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._ray.shutdown()
