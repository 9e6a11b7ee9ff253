"""Exact answers beside plain stepping, and the checker's own cost: ratios from one run, each against its goal.

The finder proves what holds for every t; the peers are tight loops that only step. A gmpy2 peer works in whichever of
two forms is faster here: rationals (mpq), or integers over one denominator reduced by their content at every step. Both
sides run in this process, one after the other. All times are CPU seconds, so other load shows little. Exits with 10
where a goal is not met.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul
from pathlib import Path
from typing import Any

import flint
from gmpy2 import gcd, mpq, mpz

import verifier.exact
from verifier.exact import Refutation, parse_problem, read_problem, refute
from verifier.exact.refute import Problem

ROOT = Path(__file__).parents[1]
CHECKER = Path(verifier.exact.__file__).parent / "checker.py"
SEED = 20260808
MEGABYTE = 1_000_000
TRIAL = 2_000
"""Steps by which the faster form of the peer is chosen."""

Token = tuple[Any, ...]
Stepper = Callable[[list[list[Fraction]], int, float], tuple[int, int | None]]
"""(tokens, last step, seconds) -> (steps taken, first failure): the identity as B, the step 2/(t+2), lowest index."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    ours: str
    peer: str
    result: str
    goal: str
    met: bool


def child_seconds() -> float:
    """CPU seconds of all processes started here that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def document(tokens: list[list[Fraction]], ties: str = "lowest-index") -> dict[str, Any]:
    d = len(tokens[0])
    return {
        "schema": "verifier/problem/1",
        "system": "hardmax-frank-wolfe",
        "parameters": {"B": [[str(int(i == j)) for j in range(d)] for i in range(d)], "step": "2/(t+2)"},
        "state": {"tokens": [[str(x) for x in token] for token in tokens]},
        "claim": "energy-bound",
        "ties": ties,
    }


def random_tokens(n: int, d: int) -> list[list[Fraction]]:
    """Integer tokens in [−9, 9] and one that puts the origin into their hull."""
    rng = random.Random(SEED)  # noqa: S311  # reproducible, not secret
    some = [[Fraction(rng.randint(-9, 9)) for _ in range(d)] for _ in range(n - 1)]
    return [*some, [-sum(column) / Fraction(n - 1) for column in zip(*some, strict=True)]]


def level_of(tokens: list[list[Fraction]]) -> Fraction:
    """4D²: component i fails iff (t+1)·|x_i|² exceeds it."""
    gaps = (sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0)) for x in tokens for y in tokens)
    return 4 * max(gaps)


def pair_in_rationals(tokens: list[list[Fraction]], last: int, limit: float) -> tuple[int, int | None]:
    """Two tokens on a line, in mpq."""
    del limit
    x, y = (mpq(token[0].numerator, token[0].denominator) for token in tokens)
    level, one, first = mpq(level_of(tokens)), mpq(1), None
    for t in range(last):
        g = mpq(2, t + 2)
        keep = one - g
        xx, xy, yy = x * x, x * y, y * y
        x, y = keep * x + g * (y if xy < xx else x), keep * y + g * (y if yy < xy else x)
        if (t + 1) * max(x * x, y * y) > level and first is None:
            first = t
    return last, first


def pair_in_integers(tokens: list[list[Fraction]], last: int, limit: float) -> tuple[int, int | None]:
    """Two tokens on a line, in mpz over one reduced denominator."""
    del limit
    (x,), (y,), q = *whole(tokens)[0], whole(tokens)[1]
    level, first = mpz(int(level_of(tokens))), None
    xx, xy, yy = x * x, x * y, y * y
    for t in range(last):
        x, y, q = t * x + 2 * (y if xy < xx else x), t * y + 2 * (y if yy < xy else x), (t + 2) * q
        content = gcd(x, y, q)
        if content != 1:
            x, y, q = x // content, y // content, q // content
        xx, xy, yy = x * x, x * y, y * y
        if (t + 1) * max(xx, yy) > level * q * q and first is None:
            first = t
    return last, first


def whole(tokens: list[list[Fraction]]) -> tuple[list[Token], Any]:
    """Tokens as integers over one denominator."""
    q = lcm(*(x.denominator for token in tokens for x in token))
    return [tuple(mpz(int(x * q)) for x in token) for token in tokens], mpz(q)


def products(x: list[Token]) -> list[list[Any]]:
    """All scalar products; unrolled in three dimensions."""
    if len(x[0]) == 3:
        return [[a * p + b * q + c * r for p, q, r in x] for a, b, c in x]
    return [[sum(map(mul, y, z)) for z in x] for y in x]


def in_integers(tokens: list[list[Fraction]], last: int, limit: float) -> tuple[int, int | None]:
    """Any tokens, in mpz over one reduced denominator."""
    x, q = whole(tokens)
    level, first = level_of(tokens), None
    top, bottom = mpz(level.numerator), mpz(level.denominator)
    scores = products(x)
    start = time.process_time()
    for t in range(last):
        to = [x[row.index(min(row))] for row in scores]
        x = [tuple(t * a + 2 * b for a, b in zip(y, z, strict=True)) for y, z in zip(x, to, strict=True)]
        q *= t + 2
        content = q
        for y in x:
            content = gcd(content, *y)
            if content == 1:
                break
        else:
            q //= content
            x = [tuple(a // content for a in y) for y in x]
        scores = products(x)
        if (t + 1) * max(row[i] for i, row in enumerate(scores)) * bottom > top * q * q and first is None:
            first = t
        if time.process_time() - start > limit:
            return t + 1, first
    return last, first


def in_rationals(tokens: list[list[Fraction]], last: int, limit: float) -> tuple[int, int | None]:
    """Any tokens, in mpq."""
    x: list[Token] = [tuple(mpq(a.numerator, a.denominator) for a in token) for token in tokens]
    level, one, first = mpq(level_of(tokens)), mpq(1), None
    scores = products(x)
    start = time.process_time()
    for t in range(last):
        to = [x[row.index(min(row))] for row in scores]
        g = mpq(2, t + 2)
        keep = one - g
        x = [tuple(keep * a + g * b for a, b in zip(y, z, strict=True)) for y, z in zip(x, to, strict=True)]
        scores = products(x)
        if (t + 1) * max(row[i] for i, row in enumerate(scores)) > level and first is None:
            first = t
        if time.process_time() - start > limit:
            return t + 1, first
    return last, first


def fastest(forms: dict[str, Stepper], tokens: list[list[Fraction]]) -> tuple[str, Stepper]:
    """The form that takes the least time over a trial."""
    times = {name: seconds(lambda form=form: form(tokens, TRIAL, 60.0)) for name, form in forms.items()}  # type: ignore[misc]  # a default binds the loop variable
    name = min(times, key=times.__getitem__)
    return name, forms[name]


def proof(problem: Problem, rounds: int) -> tuple[float, Refutation]:
    """Median seconds from the parsed problem to the certificate."""
    found = refute(problem)
    return statistics.median(seconds(lambda: refute(problem)) for _ in range(rounds)), found


def pair() -> Row:
    """(4, −1) for all t against stepping to 10^6."""
    tokens = [[Fraction(4)], [Fraction(-1)]]
    ours, found = proof(parse_problem(document(tokens, "any-selection")), 50)
    name, form = fastest({"mpq": pair_in_rationals, "mpz": pair_in_integers}, tokens)
    start = time.process_time()
    _, first = form(tokens, 10**6, 0.0)
    peer = time.process_time() - start
    agree(found, first)
    return Row("(4, -1): proof for all t", f"{ours * 1e3:.3f} ms", f"{name} to t = 10^6: {peer:.2f} s",
               f"{peer / ours:,.0f}x", "5,000x", peer / ours >= 5_000)  # fmt: skip


def frozen() -> Row:
    """A frozen 8×3 instance against stepping to 10^5."""
    tokens = random_tokens(8, 3)
    ours, found = proof(parse_problem(document(tokens)), 50)
    name, form = fastest({"mpq": in_rationals, "mpz": in_integers}, tokens)
    start = time.process_time()
    _, first = form(tokens, 10**5, 600.0)
    peer = time.process_time() - start
    agree(found, first)
    return Row("8 tokens in 3D: proof for all t", f"{ours * 1e3:.2f} ms", f"{name} to t = 10^5: {peer:.2f} s",
               f"{peer / ours:,.0f}x", "1,000x", peer / ours >= 1_000)  # fmt: skip


def large() -> Row:
    """40 tokens in 8 dimensions; the peer gets as far as it gets in the same time."""
    tokens = random_tokens(40, 8)
    ours, found = proof(parse_problem(document(tokens)), 5)
    name, form = fastest({"mpq": in_rationals, "mpz": in_integers}, tokens)
    steps, _ = form(tokens, 10**6, ours)
    proved = found.certificate is not None and found.answer == "VIOLATED_FOR_ALL"
    return Row("40 tokens in 8D: proof for all t", f"{ours:.3f} s", f"{name} gets to t = {steps} in that time",
               f"fails from t = {found.fails_from}", "3 s", proved and ours < 3.0)  # fmt: skip


def agree(found: Refutation, first: int | None) -> None:
    """Ends the benchmark where the two sides do not tell the same."""
    if found.first_violation is None or found.certificate is None or found.first_violation.t != first:
        sys.exit(f"the finder says {found.sentence!r}, the peer first fails at {first}: there is nothing to compare")


def enclosed(tokens: list[list[int]], last: int, bits: int) -> int:
    """A plain arb loop of the same start: certain selections, a certain bound; returns the steps in doubt."""
    before, flint.ctx.prec = flint.ctx.prec, bits
    x = [[flint.arb(a) for a in token] for token in tokens]
    level = 4 * max(sum((a - b) ** 2 for a, b in zip(y, z, strict=True)) for y in tokens for z in tokens)
    doubts, count = 0, range(len(x))
    scores = [[y[0] * z[0] + y[1] * z[1] for z in x] for y in x]
    for t in range(last):
        picked = []
        for row in scores:
            best = min(count, key=lambda k, row=row: float(row[k].mid()))  # type: ignore[misc]  # as above
            doubts += not all(k == best or row[best] < row[k] for k in count)
            picked.append(best)
        x = [
            [(t * a + 2 * b) / (t + 2) for a, b in zip(x[i], x[k], strict=True)]
            for i, k in zip(count, picked, strict=True)
        ]
        scores = [[y[0] * z[0] + y[1] * z[1] for z in x] for y in x]
        doubts += not all((t + 1) * scores[i][i] < level for i in count)
    flint.ctx.prec = before
    return doubts


def endless() -> Row:
    """The start that never freezes, to t = 10^4."""
    path = ROOT / "problems" / "frank-wolfe-never-freezes.json"
    problem = read_problem(path)
    tokens = [[int(a) for a in token] for token in json.loads(path.read_text(encoding="utf-8"))["state"]["tokens"]]
    ours, peer = [], []
    for _ in range(3):
        ours.append(seconds(lambda: refute(problem, horizon=10_000)))
        peer.append(seconds(lambda: enclosed(tokens, 10_000, 256)))
    found, doubts = refute(problem, horizon=10_000), enclosed(tokens, 10_000, 256)
    if found.horizon is None or found.horizon.t != 9_999 or doubts:
        sys.exit(f"the finder says {found.sentence!r}, arb is in doubt {doubts} times: there is nothing to compare")
    ratio = min(ours) / min(peer)
    return Row("never freezes: to t = 10^4", f"{min(ours):.2f} s", f"arb at 256 bits: {min(peer):.2f} s",
               f"{ratio:.1f} times as long", "3 times", ratio <= 3.0)  # fmt: skip


def checker() -> Row:
    """The checker on the certificate of every shipped problem, each in a process of its own."""
    times: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((ROOT / "problems").glob("*.json")):
            found = refute(read_problem(path), horizon=300)
            if found.certificate is None:
                continue
            file = Path(folder) / path.name
            file.write_text(json.dumps(found.certificate), encoding="utf-8")
            command = [sys.executable, "-I", str(CHECKER), str(file)]
            start = child_seconds()
            run = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  # our own file, no shell
            times[path.stem] = child_seconds() - start
            if run.returncode != 0:
                sys.exit(f"the checker does not accept the certificate of {path.name}")
    # counts the moment before a child's program is loaded, too: an upper bound, at least this process's own size
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1_024 / MEGABYTE
    slowest = max(times, key=times.__getitem__)
    return Row(f"checker on {len(times)} certificates", f"at most {times[slowest]:.2f} s ({slowest})",
               f"{most:.0f} MB at most", "", "1 s and 100 MB", times[slowest] < 1.0 and most < 100.0)  # fmt: skip


def main() -> int:
    """Prints the table; 10 where a goal is not met."""
    rows = []
    titles = ("exact work", "ours", "peer", "result", "goal")
    widths = (33, 34, 38, 22, 15)
    print("".join(title.ljust(width) for title, width in zip(titles, widths, strict=True)))
    for part in (checker, pair, large, frozen, endless):  # the checker first: its memory is the children's largest
        row = part()
        cells = (row.what, row.ours, row.peer, row.result, row.goal)
        said = "goal met" if row.met else "goal not met"
        print("".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + said, flush=True)
        rows.append(row)
    return 0 if all(row.met for row in rows) else 10


if __name__ == "__main__":
    sys.exit(main())
