"""Where units run: spawned processes on this machine, or Ray."""

from __future__ import annotations

import os
import re

from verifier.model.errors import BadInput
from verifier.sweeps.executors.base import Event, Executor, Finished, Lost, Task
from verifier.sweeps.executors.lazy import LazyExecutor
from verifier.sweeps.executors.local import LocalExecutor

__all__ = ["Event", "Executor", "Finished", "LocalExecutor", "Lost", "Task", "check_executor", "open_executor"]

_FORM = re.compile(r"auto|local(=(?P<workers>[1-9]\d{0,3}))?|ray(=(?P<address>[^=\s]{1,255}:\d{1,5}))?")

RAY_FROM_CORES = 32
"""`auto` takes Ray from this many cores on: below it a pool starts sooner and is as fast."""


def check_executor(name: str) -> None:
    """Raises BadInput unless `name` is auto, local, local=WORKERS, ray or ray=HOST:PORT."""
    if not _FORM.fullmatch(name):
        raise BadInput(
            f"{name!r} is not an executor",
            where="--executor",
            mend="use auto, local, local=WORKERS, ray or ray=HOST:PORT",
        )


def open_executor(name: str) -> Executor:
    """The executor called `name`, whose workers start with the first task.

    `auto` is the local pool, or Ray on a large machine; it joins no cluster by itself.
    """
    check_executor(name)
    return LazyExecutor(name, lambda: _start(name))


def _start(name: str) -> Executor:
    match = _FORM.fullmatch(name)
    assert match is not None
    if name.startswith("ray") or (name == "auto" and _ray_pays()):
        from verifier.sweeps.executors.ray import RayExecutor  # noqa: PLC0415  # Ray is an extra

        return RayExecutor(match["address"] or "local")
    return LocalExecutor(int(match["workers"]) if match["workers"] else None)


def _ray_pays() -> bool:
    from importlib.util import find_spec  # noqa: PLC0415

    return len(os.sched_getaffinity(0)) >= RAY_FROM_CORES and find_spec("ray") is not None
