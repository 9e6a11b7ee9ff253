"""Seconds per phase of the paging case, plain Python against numba, from one run on one core.

Plain Python is cases/paging/paging_reference.py without its checks; both sides play the same phases of one stream.
Compilation is not counted and is shown on its own line. The best of several rounds counts.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parents[1] / "cases" / "paging"))


def best_seconds(function: Callable[..., object], k: int, *, rounds: int, **keywords: int) -> float:
    """The shortest wall-clock time of `rounds` calls of function(k, **keywords)."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function(k, **keywords)
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

    unchecked = functools.partial(reference_run, checked=False)
    compilation = best_seconds(additive_term, 4, rounds=1, stream=0, phases=1)
    few, many = options.phases, 10 * options.phases
    print(f"{'k':>6} {'plain Python':>14} {'numba':>14} {'ratio':>8}   (seconds per phase)")
    for k in options.scale:
        if additive_term(k, stream=k, phases=few).tolist() != unchecked(k, stream=k, phases=few).costs:
            sys.exit(f"the implementations differ at k = {k}: there is nothing to compare")
        plain = best_seconds(unchecked, k, rounds=options.rounds, stream=k, phases=few) / few
        fast = best_seconds(additive_term, k, rounds=options.rounds, stream=k, phases=many) / many
        print(f"{k:>6} {plain:>14.3e} {fast:>14.3e} {plain / fast:>7.0f}x")
    print(f"first call, compiled or loaded from numba's cache: {compilation:.2f} s")


if __name__ == "__main__":
    main()
