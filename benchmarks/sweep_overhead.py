"""What a sweep costs beside a bare loop: seconds per unit of the same units, and ratios, from one run.

The bare loop calls the target in this process and keeps nothing. The others go through `drive` with a store, as
`verifier run` does: one worker shows what handing out, summing, hashing, reporting and storing a unit costs; two show
what is won back. Workers are started before the clock and their start is shown on its own line. The best of several
rounds counts, the ways taken in turns; the results of every way must be equal. Other load shows in every number, in the
ratios least where the rounds are many.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from verifier.model.canonical import canonical_sha256, sha256_hex
from verifier.sweeps.code import Code
from verifier.sweeps.drive import drive
from verifier.sweeps.executors import Executor, LocalExecutor
from verifier.sweeps.jobs import Failure, Job, Row, Unit, sums_of
from verifier.sweeps.store import UnitStore

SOURCE = '''
from verifier.sweeps.streams import uniforms

def below_half(k, *, stream, lists):
    """How many of 200 k draws lie below one half, in each of `lists` lists; 200 at a time, to stay in the cache."""
    size = 200 * lists
    parts = (uniforms(stream, part * size, size).reshape(lists, 200) for part in range(k))
    return sum((part < 0.5).sum(axis=1) for part in parts)
'''
TARGET, LISTS = "work:below_half", 100
Way = Callable[[Sequence[Unit]], list[int]]


def units_of(scale: int, count: int) -> list[Unit]:
    """Units at one scale, each with its own stream."""
    return [
        Unit("0" * 64, "overhead", TARGET, TARGET, (("k", scale),), replicate, (("lists", LISTS),))
        for replicate in range(count)
    ]


def target() -> Callable[..., Any]:
    """The function that workers import, in this process."""
    namespace: dict[str, Any] = {}
    exec(SOURCE, namespace)  # noqa: S102  # the constant above
    return namespace["below_half"]  # type: ignore[no-any-return]  # as its source says


def scale_for(seconds: float, function: Callable[..., Any]) -> int:
    """The scale at which one unit takes about `seconds` here."""
    trial = 5
    times = []
    for replicate in range(50):
        start = time.perf_counter()
        function(trial, stream=replicate, lists=LISTS)
        times.append(time.perf_counter() - start)
    return max(1, round(trial * seconds / min(times)))


def bare_loop(units: Sequence[Unit]) -> list[int]:
    """The sums, by nothing but calls."""
    function = target()
    return [int(function(unit.scale[0][1], stream=unit.stream, lists=LISTS).sum()) for unit in units]


def driven(executor: Executor, folder: Path) -> Way:
    """The sums through `drive`, each call with a store of its own."""
    files = {"work.py": SOURCE.encode()}
    code = Code(canonical_sha256({name: sha256_hex(content) for name, content in files.items()}), files)

    def ask(units: Sequence[Unit]) -> Generator[Sequence[Job], Mapping[str, Row | Failure], list[int]]:
        results = yield units
        rows = [results[unit.key] for unit in units]
        failed = next((row.what for row in rows if isinstance(row, Failure)), None)
        if failed is not None:
            sys.exit(failed)
        return [int(sums_of(row).total) for row in rows if not isinstance(row, Failure)]

    def way(units: Sequence[Unit]) -> list[int]:
        path = Path(tempfile.mkdtemp(dir=folder), "units.db")
        with closing(UnitStore(path)) as store:
            (sums,) = drive([ask(units)], code=code, executor=executor, store=store)
        return sums

    return way


def best_of(ways: Mapping[str, Way], units: Sequence[Unit], *, rounds: int) -> dict[str, float]:
    """Seconds per unit of each way."""
    best = dict.fromkeys(ways, float("inf"))
    sums: set[tuple[int, ...]] = set()
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            sums.add(tuple(way(units)))
            best[name] = min(best[name], (time.perf_counter() - start) / len(units))
    if len(sums) != 1:
        sys.exit("the ways differ in their results: there is nothing to compare")
    return best


def show(ways: Mapping[str, Way], designs: Sequence[tuple[str, int, int]], *, rounds: int) -> None:
    """Prints a table: one line for each way and design (name, scale, units)."""
    print(f"{'unit':<8} {'way':<16} {'s per unit':>11} {'ratio to bare':>14} {'s above bare':>13}")
    for name, scale, count in designs:
        found = best_of(ways, units_of(scale, count), rounds=rounds)
        bare = found["bare loop"]
        for way, seconds in found.items():
            print(f"{name:<8} {way:<16} {seconds:>11.2e} {seconds / bare:>13.2f}x {seconds - bare:>13.2e}")


def started(name: str, start: Callable[[], Executor], folder: Path) -> tuple[Executor, Way]:
    """An executor that has done a first unit on every worker, with its starting time printed."""
    begin = time.perf_counter()
    executor = start()
    way = driven(executor, folder)
    way(units_of(10, 20))
    print(f"{name}: ready after {time.perf_counter() - begin:.1f} s")
    return executor, way


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cheap", type=int, default=500, help="units of about 1 ms")
    parser.add_argument("--costly", type=int, default=20, help="units of about 50 ms")
    parser.add_argument(
        "--ray", action=argparse.BooleanOptionalAction, default=True, help="measure Ray too, if installed"
    )
    options = parser.parse_args()
    function = target()
    designs = [
        ("cheap", scale_for(1e-3, function), options.cheap),
        ("costly", scale_for(5e-2, function), options.costly),
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, through_one = started("local=1", lambda: LocalExecutor(1), folder)
        two, through_two = started("local=2", lambda: LocalExecutor(2), folder)
        with closing(one), closing(two):
            ways: dict[str, Way] = {
                "bare loop": bare_loop,
                "drive, local=1": through_one,
                "drive, local=2": through_two,
            }
            show(ways, designs, rounds=options.rounds)
        if options.ray and importlib.util.find_spec("ray") is not None:
            from verifier.sweeps.executors.ray import RayExecutor  # noqa: PLC0415  # an extra

            print()
            ray, through_ray = started("ray, two CPUs", lambda: RayExecutor(workers=2), folder)
            with closing(ray):
                show({"bare loop": bare_loop, "drive, ray": through_ray}, designs, rounds=options.rounds)


if __name__ == "__main__":
    main()
