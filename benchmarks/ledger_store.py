"""The ledger's stores: durable appends a second, and the memory of verifying many entries.

    python benchmarks/ledger_store.py [--full] [--postgres URL]

An append is a transaction of its own, on the disk when it returns. `--full` verifies 10^6 entries, else 10^5; without
`--postgres` that store is left out. Exits with 10 where verifying takes more than 300 MB.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

from verifier.ledger import Content, Draft, Ledger

REGISTRATION = "ab" * 32
GOAL_MB = 300
_BATCH = 5_000


def draft(of: int, number: int) -> Draft:
    """An evidence entry of about the size that a sweep writes."""
    content: dict[str, Content] = {
        "registration": REGISTRATION,
        "of": of,
        "number": number,
        "points": ["0.12345678901234567"] * 20,
    }
    return Draft(kind="evidence", content=content, by="engine", group="bench")


def append(url: str, of: int, count: int) -> None:
    """One writer: `count` transactions of one entry."""
    with Ledger.open(url, create=True) as ledger:
        for number in range(count):
            ledger.append_many([draft(of, number)])


def rate(url: str, *, writers: int, each: int) -> float:
    """Durable appends a second, all writers together, from the start of the first to the end of the last."""
    append(url, -1, 1)
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=append, args=(url, of, each)) for of in range(writers)]
    start = time.perf_counter()
    for process in running:
        process.start()
    for process in running:
        process.join()
        if process.exitcode:
            sys.exit(f"a writer ended with {process.exitcode}")
    return writers * each / (time.perf_counter() - start)


def alone(url: str, count: int) -> float:
    """Durable appends a second of one writer in this process, without its start."""
    with Ledger.open(url, create=True) as ledger:
        ledger.append_many([draft(-2, 0)])
        start = time.perf_counter()
        for number in range(count):
            ledger.append_many([draft(-2, number + 1)])
        return count / (time.perf_counter() - start)


def verifying(path: Path, entries: int) -> tuple[float, float, float]:
    """(appends a second in batches, seconds to verify, peak megabytes of the process that verified)."""
    start = time.perf_counter()
    with Ledger.open(path, create=True) as ledger:
        for first in range(0, entries, _BATCH):
            ledger.append_many(draft(0, number) for number in range(first, min(first + _BATCH, entries)))
    batched = entries / (time.perf_counter() - start)
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        seconds, peak = pool.apply(_verified, (str(path), entries))
    return batched, seconds, peak


def _verified(path: str, entries: int) -> tuple[float, float]:
    start = time.perf_counter()
    with Ledger.open(path, create=False) as ledger:
        if ledger.verify().size != entries:
            raise AssertionError("not all entries are there")
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--postgres", default="")
    chosen = parser.parse_args()
    each = 500 if chosen.full else 100
    entries = 10**6 if chosen.full else 10**5
    print("durable appends per second, each a transaction")
    with tempfile.TemporaryDirectory() as folder:
        stores = {"SQLite": [f"{folder}/{name}.db" for name in ("one", "eight")]}
        if chosen.postgres:
            stores["PostgreSQL"] = [chosen.postgres] * 2
        for name, (one, eight) in stores.items():
            print(f"  {name:<11} one writer {alone(one, 2 * each):8.0f}")
            print(f"  {name:<11} eight      {rate(eight, writers=8, each=each):8.0f}  (starts of processes included)")
        batched, seconds, peak = verifying(Path(folder) / "many.db", entries)
    print(f"  SQLite      batches of {_BATCH:,} {batched:8.0f}")
    print(f"verifying {entries:,} entries: {seconds:.1f} s, {peak:.0f} MB (goal: under {GOAL_MB} MB)")
    return 0 if peak < GOAL_MB else 10


if __name__ == "__main__":
    sys.exit(main())
