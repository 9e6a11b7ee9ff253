"""`verifier stats test` on tables of 10⁵ rows and `verifier stats plan`, a fresh process each: seconds, and for what.

    python -m benchmarks.stats_test_speed

Processor seconds of the whole command, start of Python included, the best of a few rounds; wall-clock seconds beside
them, which other load lengthens. A further run with clocks inside says what goes into imports, into reading the table
and into the rule; the rest is Python's start, flags and output. Exits with 10 where a goal is not met.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 20261130
ROWS = 100_000
GOAL = 2.0  # seconds
ROUNDS = 2
ARMS = ("left", "right")
SCALES = tuple(2**power for power in range(3, 13))

CLOCKS = """
import builtins, functools, json, sys, time
spent = {"imports": 0.0, "reading": 0.0, "rule": 0.0}
open_clocks = []

def clocked(name, function):
    @functools.wraps(function)
    def timed(*args, **kwargs):
        if name in open_clocks:
            return function(*args, **kwargs)
        now = time.process_time()
        if open_clocks:
            spent[open_clocks[-1]] += now - begun[0]
        open_clocks.append(name)
        begun[0] = now
        try:
            return function(*args, **kwargs)
        finally:
            now = time.process_time()
            spent[open_clocks.pop()] += now - begun[0]
            begun[0] = now
    return timed

begun = [0.0]
builtins.__import__ = clocked("imports", builtins.__import__)
from verifier.cli import main
from verifier.stats import run_csv
run_csv.read_runs = clocked("reading", run_csv.read_runs)
if sys.argv[2] == "test":
    from verifier.cli import stats_answers
    stats_answers.run_rule = clocked("rule", stats_answers.run_rule)
try:
    main.main()
finally:
    print(json.dumps(spent), file=sys.stderr)
"""
"""The same command with clocks: an import inside a rule counts as import, and nothing counts twice."""

PEER = """
import sys, pandas
from scipy import stats
print(stats.ttest_1samp(pandas.read_csv(sys.argv[1]).value, 0.0))
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A command: its name, its words after `verifier stats`, and its table by name (None for a plan)."""

    name: str
    words: Sequence[str]
    table: str | None


def tables(folder: Path) -> None:
    """Writes every table, 10⁵ rows each."""
    rng = np.random.default_rng(SEED)

    def write(name: str, header: str, rows: Iterator[str]) -> None:
        (folder / f"{name}.csv").write_text("\n".join([header, *rows, ""]))

    def arms(name: str, left: np.ndarray, right: np.ndarray) -> None:
        pairs = enumerate(zip(left.tolist(), right.tolist(), strict=True))
        rows = (f"{r},{arm},{x!r}" for r, pair in pairs for arm, x in zip(ARMS, pair, strict=True))
        write(name, "replicate,arm,value", rows)

    half, tenth = ROWS // 2, ROWS // 10
    differences = rng.normal(4.0, 3.0, ROWS).tolist()
    write("differences", "replicate,value", (f"{r},{x!r}" for r, x in enumerate(differences)))
    write("outcomes", "replicate,value", (f"{r},{x}" for r, x in enumerate(rng.integers(0, 2, ROWS).tolist())))
    arms("arms", rng.normal(74.0, 3.0, half).clip(0, 100), rng.normal(70.0, 3.0, half).clip(0, 100))
    arms("launches", *np.exp(rng.normal((np.log(8.0), 0.0), 0.1, (half, 2)).T))
    hits = rng.random((50, 2, 1_000)) < np.array([[0.8], [0.7]])
    write(
        "items",
        "replicate,arm,item,value",
        (f"{r},{ARMS[a]},{i},{int(hits[r, a, i])}" for r in range(50) for a in (0, 1) for i in range(1_000)),
    )
    noise = rng.normal(0.0, 0.3, (tenth, len(SCALES)))
    growing = (noise + 0.38 * np.log(SCALES)).tolist()
    falling = (np.exp(noise) / np.array(SCALES, float)).tolist()
    for name, axis, values in (("sweep", "k", growing), ("decay", "t", falling)):
        cells = (f"{k},{r},{x!r}" for r, row in enumerate(values) for k, x in zip(SCALES, row, strict=True))
        write(name, f"{axis},replicate,value", cells)
    of_teams = rng.normal(4.0, 3.0, (ROWS // 5, 5)).tolist()
    write(
        "teams",
        "team,replicate,value",
        (f"{team},{r},{x!r}" for r, row in enumerate(of_teams) for team, x in zip("abcde", row, strict=True)),
    )
    sums = rng.binomial(100, 0.6, ROWS).tolist()
    write("sums", "replicate,n,sum,sum_sq", (f"{r},100,{x},{x}" for r, x in enumerate(sums)))


DIFFERENCE = ("test", "--rule", "difference", "--claimed", "4")
SHARE = ("--claimed", "0.6", "--alleged", "0.5")
CASES = (
    Case(name="difference, no arms", words=DIFFERENCE, table="differences"),
    Case(name="difference, paired", words=DIFFERENCE, table="arms"),
    Case(name="difference, unpaired", words=(*DIFFERENCE, "--noise", "unpaired"), table="arms"),
    Case(name="difference, bounded", words=(*DIFFERENCE, "--bounds", "0,100"), table="arms"),
    Case(name="difference, betting", words=(*DIFFERENCE, "--bounds", "0,100", "--method", "betting"), table="arms"),
    Case(
        name="difference, 1,000 items",
        words=("test", "--rule", "difference", "--claimed", "0.1", "--population", "this-test-set"),
        table="items",
    ),
    Case(name="difference, n, sum, sum_sq", words=("test", "--rule", "difference", *SHARE), table="sums"),
    Case(name="difference, five teams", words=DIFFERENCE, table="teams"),
    Case(
        name="ratio",
        words=("test", "--rule", "ratio", "--claimed", "8", "--delta", "1.25", "--alleged", "1/2"),
        table="launches",
    ),
    Case(name="proportion", words=("test", "--rule", "proportion", *SHARE), table="outcomes"),
    Case(name="count", words=("test", "--rule", "count", *SHARE, "--total", "200000"), table="outcomes"),
    Case(name="growth", words=("test", "--rule", "growth", "--alleged", "0.38"), table="sweep"),
    Case(name="growth, pooled", words=("test", "--rule", "growth", "--alleged", "0.38", "--noise", "pooled"),
         table="sweep"),
    Case(name="rate", words=("test", "--rule", "rate", "--claimed", "1", "--alleged", "0.5"), table="decay"),
    Case(
        name="plan: growth",
        words=("plan", "--rule", "growth", "--scale", "k=8,16,32,64", "--replicates", "3", "--sd", "0.3",
               "--effect", "0.38"),
        table=None,
    ),
    Case(name="plan: difference", words=("plan", "--rule", "difference", "--claimed", "4", "--sd", "3"), table=None),
    Case(name="plan: proportion", words=("plan", "--rule", "proportion", *SHARE), table=None),
)  # fmt: skip


def measured(command: Sequence[str]) -> tuple[float, float]:
    """Processor and wall-clock seconds of a command. Raises RuntimeError where it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603  # our own words
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {said.decode()}")
    return usage.ru_utime + usage.ru_stime, wall


def shares(words: Sequence[str]) -> dict[str, float]:
    """Processor seconds by what they were spent on, of one more run with clocks inside."""
    command = [sys.executable, "-c", CLOCKS, "stats", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # our own words
    found: dict[str, float] = json.loads(done.stderr.strip().rpartition("\n")[2])
    return found


def main() -> int:
    """Prints the table; 10 where a command takes longer than its goal."""
    met = True
    print(f"{'stats, 10^5 rows':28}{'seconds':>8}{'wall':>7}{'goal':>6}   of it imports, reading, rule")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables(folder)
        for case in CASES:
            verb, *options = case.words
            words = [verb, *([str(folder / f"{case.table}.csv")] if case.table else []), *options]
            took = [measured([sys.executable, "-m", "verifier", "stats", *words]) for _ in range(ROUNDS)]
            seconds, wall = (min(times) for times in zip(*took, strict=True))
            parts = ", ".join(f"{value:.2f}" for value in shares(words).values())
            met &= seconds < GOAL
            verdict = "goal met" if seconds < GOAL else "goal not met"
            print(f"{case.name:28}{seconds:8.2f}{wall:7.2f}{GOAL:6.0f}   {parts:18}{verdict}", flush=True)
        peer = min(measured([sys.executable, "-c", PEER, str(folder / "differences.csv")]) for _ in range(ROUNDS))
    print(f"{'peer: pandas, scipy t test':28}{peer[0]:8.2f}{peer[1]:7.2f}        no arms, one t test and nothing else")
    return 0 if met else 10


if __name__ == "__main__":
    sys.exit(main())
