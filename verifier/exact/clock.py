"""How long a search may take: a deadline that every loop heeds, and a word about progress once a second."""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[int, str], None]
REMARK_AFTER = 1.0
"""Seconds between two remarks."""


class TimeUp(Exception):
    """The time limit has passed; caught where the answer is put together."""


class Clock:
    """Calls `progress` about once a second and raises TimeUp after `time_limit` seconds (None: never)."""

    def __init__(self, time_limit: float | None, progress: Progress | None) -> None:
        self._progress = progress
        self._said = time.monotonic()
        self._deadline = None if time_limit is None else self._said + time_limit

    def tick(self, t: int, remark: str) -> None:
        """To be called in every loop whose length depends on the problem. Raises TimeUp."""
        now = time.monotonic()
        if self._deadline is not None and now > self._deadline:
            raise TimeUp
        if self._progress is not None and now - self._said >= REMARK_AFTER:
            self._said = now
            self._progress(t, remark)
