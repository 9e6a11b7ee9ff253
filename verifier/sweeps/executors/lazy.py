"""An executor that starts its workers when the first task arrives: a repeated run needs none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verifier.sweeps.executors.base import Event, Executor, Task


class LazyExecutor:
    """Wraps `start`, which is called once, at the first task."""

    def __init__(self, name: str, start: Callable[[], Executor]) -> None:
        self._start = start
        self._name = name
        self._started: Executor | None = None

    @property
    def name(self) -> str:
        """The wrapped executor's name; what was asked for, before it started."""
        return self._started.name if self._started else self._name

    @property
    def workers(self) -> int:
        """Its workers, none before it started."""
        return self._started.workers if self._started else 0

    def has_room(self) -> bool:
        """Whether a task submitted now would soon be started."""
        return self._started is None or self._started.has_room()

    def submit(self, task: Task) -> None:
        """Takes a task, starting the workers before the first."""
        if self._started is None:
            self._started = self._start()
        self._started.submit(task)

    def events(self, *, timeout: float) -> Sequence[Event]:
        """What happened since the last call."""
        return self._started.events(timeout=timeout) if self._started else []

    def close(self) -> None:
        """Ends the workers, if there are any."""
        if self._started:
            self._started.close()
