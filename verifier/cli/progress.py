"""Progress of a run on stderr: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from verifier.model.errors import Interrupted

_LINE_EVERY_SECONDS = 10.0


class SweepProgress:
    """A bar for each procedure and one for all of them, with rate and time left."""

    def __init__(self) -> None:
        self._bars: Any = None
        self._tasks: list[Any] = []
        self._maxima: list[int] = []
        self._done: list[int] = []
        self._started = self._said = time.monotonic()
        self._found = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def begin(self, names: Sequence[str], maxima: Sequence[int]) -> None:
        """Shows an empty bar for each procedure."""
        self._maxima, self._done = list(maxima), [0] * len(names)
        self._started = self._said = time.monotonic()
        if not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._tasks = [
            self._bars.add_task(name, total=total, rate="")
            for name, total in zip(["all units", *names], [sum(maxima), *maxima], strict=True)
        ]
        self._bars.start()

    def update(self, procedure: int, *, done: int, over: bool) -> None:
        """Moves a bar. A procedure that stopped early needs no more than it has."""
        if not self._done:
            return
        self._done[procedure] = done
        if over:
            self._maxima[procedure] = done
        if self._bars is not None:
            self._bars.update(self._tasks[procedure + 1], completed=done, total=max(self._maxima[procedure], done))
            self._bars.update(
                self._tasks[0],
                completed=sum(self._done),
                total=max(sum(self._maxima), sum(self._done)),
                rate=self._rate(),
            )
        elif time.monotonic() - self._said >= _LINE_EVERY_SECONDS:
            self._said = time.monotonic()
            sys.stderr.write(f"{sum(self._done)} of at most {sum(self._maxima)} units, {self._rate()}\n")

    def note(self, text: str) -> None:
        """A line of its own."""
        if self._bars is not None:
            self._bars.console.print(text, markup=False)
        else:
            sys.stderr.write(text + "\n")

    def _rate(self) -> str:
        elapsed = time.monotonic() - self._started
        return f"{sum(self._done) / elapsed:.0f} units/s" if elapsed > 1 else ""


class StepProgress:
    """Where a long exact run stands: one line on stderr that changes on a terminal, a line each time elsewhere.

    `shown` turns the count and the remark of the finder into the line; `kept` is a file already written.
    """

    def __init__(self, shown: Callable[[int, str], str]) -> None:
        self._shown = shown
        self.kept: str | None = None
        self._status: Any = None
        self._line = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clears the line. An interrupt becomes Interrupted, which says what is kept."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        if isinstance(error, KeyboardInterrupt):
            at = f" at {self._line}" if self._line else ""
            kept = f"{self.kept} is kept" if self.kept else "no file was written, what was found so far is not kept"
            raise Interrupted(f"interrupted{at}; {kept}") from error

    def __call__(self, count: int, remark: str) -> None:
        """Shows where the run stands."""
        self._line = self._shown(count, remark)
        if not sys.stderr.isatty():
            sys.stderr.write(self._line + "\n")
            return
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True).status("")
            self._status.start()
        from rich.text import Text

        self._status.update(Text(self._line))
