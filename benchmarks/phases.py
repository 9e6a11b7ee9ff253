"""Seconds per phase of the paging case, plain Python against numba, from one run on one core.

Plain Python is cases/paging/paging_reference.py without its checks; both sides play the same phases of one stream.
Compilation is not counted and is shown on its own line. The best of several rounds counts.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parents[1] / "cases" / "paging"))


def best_seconds(run: Callable[[], object], rounds: int) -> float:
    """The shortest wall-clock time of `rounds` calls."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, nargs="+", default=[64, 256])
    parser.add_argument(
        "--phases", type=int, default=20, help="phases a round in plain Python; numba plays ten times more"
    )
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    from paging_reference import reference_run  # noqa: PLC0415  # the folder is on the path only now
    from reimplementation import additive_term  # noqa: PLC0415  # likewise

    compilation = best_seconds(lambda: additive_term(4, stream=0, phases=1), 1)
    print(f"{'k':>6} {'plain Python':>14} {'numba':>14} {'ratio':>8}   (seconds per phase)")
    for k in options.scale:
        if (
            additive_term(k, stream=k, phases=options.phases).tolist()
            != reference_run(k, stream=k, phases=options.phases, checked=False).costs
        ):
            sys.exit(f"the implementations differ at k = {k}: nothing to compare")
        plain = (
            best_seconds(lambda k=k: reference_run(k, stream=k, phases=options.phases, checked=False), options.rounds)
            / options.phases
        )
        many = 10 * options.phases
        fast = best_seconds(lambda k=k: additive_term(k, stream=k, phases=many), options.rounds) / many
        print(f"{k:>6} {plain:>14.3e} {fast:>14.3e} {plain / fast:>7.0f}x")
    print(f"first call, compiled or loaded from numba's cache: {compilation:.2f} s")


if __name__ == "__main__":
    main()
