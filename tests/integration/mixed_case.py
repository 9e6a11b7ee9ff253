"""A case whose probes draw units of every kind that can be measured elsewhere, and its target functions."""

from __future__ import annotations

import shutil
from pathlib import Path

TOY = Path(__file__).parent / "toy"

LOOKS = "looks = [6, 12], minimum_n = 6"
REPLICATIONS = f"""
[[probe]]
name = "pairs"
kind = "replication"
part = "a"
target = "measured:pairs"
rule = {{ kind = "difference", delta = "4", {LOOKS}, bounds = ["0", "100"] }}
replicate = {{ tasks = 20 }}

[[probe]]
name = "called"
kind = "replication"
part = "a"
target = "measured:called"
rule = {{ kind = "difference", delta = "4", {LOOKS} }}

[[probe]]
name = "speed"
kind = "replication"
part = "a"
target = "measured:seconds"
rule = {{ kind = "ratio", claimed = "8", delta = "1.25", alleged = "1/2", {LOOKS}, noise = "unpaired" }}

[[probe]]
name = "drawn-items"
kind = "replication"
part = "a"
target = "measured:items"
rule = {{ kind = "difference", delta = "1/10", population = "items-drawn", looks = [8], minimum_n = 6 }}

[[probe]]
name = "gains"
kind = "replication"
part = "a"
target = "measured:gains"
rule = {{ kind = "difference", delta = "4", {LOOKS} }}

[[probe]]
name = "rate"
kind = "replication"
part = "a"
target = "measured:successes"
rule = {{ kind = "proportion", claimed = "9/10", alleged = "1/5", looks = [20, 40], minimum_n = 6 }}
"""

MEASURED = '''"""Replicates of every form that a target may return."""

import numpy as np


def _rng(stream):
    return np.random.Generator(np.random.Philox(key=stream))


def pairs(*, stream, tasks):
    rng = _rng(stream)
    shared = 50 + 5 * rng.standard_normal(tasks)
    return {arm: np.clip(shared + 6 * rng.standard_normal(tasks), 0, 100) for arm in ("left", "right")}


def called(*, stream, arm):
    return _rng(stream).poisson(40 if arm == "left" else 50, 7)  # whole numbers, as many as it likes


def seconds(*, stream, arm):
    return [(1.0 if arm == "left" else 2.0) * (1 + 0.1 * float(_rng(stream).standard_normal()))]


def items(*, stream):
    rng = _rng(stream)
    return {arm: (rng.random(32) < 0.7).astype(int) for arm in ("left", "right")}


def gains(*, stream):
    return [float(_rng(stream).normal(0, 3))]


def successes(*, stream):
    return [int(_rng(stream).random() < 0.3)]
'''

PROBES = ("excess", "pairs", "called", "speed", "drawn-items", "gains", "rate")


def write_mixed_case(folder: Path, *, only: tuple[str, ...] = PROBES) -> Path:
    """Writes the case with these of its probes into `folder`, which must not be there, and returns it."""
    shutil.copytree(TOY, folder)
    (folder / "measured.py").write_text(MEASURED)
    text = (folder / "case.toml").read_text()
    head, table, sweep = text.partition("[[probe]]")
    sweep = sweep.partition("controls = [")[0].replace("looks = [10, 20, 30]", "looks = [10, 12]")
    blocks = [table + sweep, *(f"[[probe]]{block}" for block in REPLICATIONS.split("[[probe]]")[1:])]
    kept = [block for block in blocks if block.split('name = "')[1].partition('"')[0] in only]
    if "excess" not in only:
        head = head.partition("[parameters]")[0]
    (folder / "case.toml").write_text(head + "\n".join(kept))
    return folder
