"""Basis audits: seconds of each mechanism, and of reading arrays beside numpy and pandas, each against its goal.

    python -m benchmarks.audits

All times are processor seconds, the best of a few rounds, both sides in this process, so other load shows little. A
peer reads the same columns and does none of the checks. Exits with 10 where a goal is not met.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verifier.audits import audit_file, dilution, fingerprint, identify, printed, witness
from verifier.audits.arrays import read_arrays
from verifier.audits.arrays_audit import arrays_audit
from verifier.audits.catalogues import CATALOGUES
from verifier.audits.dilution_box import Measured, PadLoss, PrintedDeflation
from verifier.audits.token_arrays import Columns

SEED = 20261130
ROWS = 1_000_000
COLUMNS = Columns("nll", "real", "doc", None)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: `seconds` against `goal`, and beside them those of peers by name."""

    what: str
    seconds: float
    goal: float
    note: str = ""
    peers: tuple[tuple[str, float], ...] = ()

    @property
    def met(self) -> bool:
        """Whether the goal is met."""
        return self.seconds <= self.goal

    @property
    def line(self) -> str:
        """The row as it is printed."""
        ratios = [f"{self.seconds / peer:.1f} × {name} ({peer:.3f} s)" for name, peer in self.peers]
        said = [f"goal {'met' if self.met else 'not met'}", *ratios, self.note]
        return f"{self.what:46}{self.seconds:8.3f}{self.goal:6g}  {'; '.join(filter(None, said))}"


def best(action: Callable[[], Any], *, rounds: int = 3) -> tuple[float, Any]:
    """The fewest processor seconds of a few rounds, and what the last one returned."""
    found, seconds = None, math.inf
    for _ in range(rounds):
        begun = time.process_time()
        found = action()
        seconds = min(seconds, time.process_time() - begun)
    return seconds, found


def correct(losses: Floats, mask: NDArray[np.bool_], _: int) -> float:
    """The perplexity of the real tokens."""
    return float(np.exp(losses[mask].mean()))


def scores_pads(losses: Floats, _mask: NDArray[np.bool_], _: int) -> float:
    """A perplexity over all positions."""
    return float(np.exp(losses.mean()))


def kl(p: Floats, q: Floats) -> float:
    """KL(p || q) in nats."""
    return float(np.sum(p * np.log(p / q)))


def mechanisms() -> list[Row]:
    """Fingerprints, identification, witness and dilution."""
    seconds, found = best(lambda: fingerprint(correct))
    rows = [Row("fingerprint of a correct evaluator", seconds, 2.0, note=found.diagnosis)]
    seconds, found = best(lambda: fingerprint(scores_pads), rounds=2)
    rows.append(Row("fingerprint of one that scores its pads", seconds, 4.0, note=found.diagnosis))

    entries = CATALOGUES["divergences"].entries
    seconds, names = best(
        lambda: [identify(entry.function, catalogue="divergences").name for entry in entries], rounds=2
    )
    right = sum(name == entry.name.format(p="p", q="q") for name, entry in zip(names, entries, strict=True))
    rows.append(
        Row(f"identify, {len(entries)} divergences", seconds, 2.0, note=f"{right} of {len(entries)} by their names")
    )

    seconds, smallest = best(lambda: witness(kl, lambda p, q: kl(q, p), materiality=0.04, relative=True))
    rows.append(Row("witness of two directions", seconds, 2.0, note=f"{smallest.document['input']}"))
    seconds, none = best(lambda: witness(kl, kl, materiality=0.04, relative=True), rounds=2)
    rows.append(Row("witness where there is none", seconds, 2.0, note=f"{none}"))

    def published() -> Any:
        return dilution(
            measured=Measured(printed("5.11"), printed("5.27")),
            p=printed("0.66"),
            pad_loss=PadLoss(printed("0"), printed("0.05")),
            pad_loss_difference=printed("0"),
            printed_deflation=PrintedDeflation("perplexity", printed("3")),
            threshold=printed("1.25"),
        )

    seconds, audit = best(published)
    rows.append(Row("dilution of the published set", seconds, 0.5, note=audit.finding))
    return rows


def arrays(folder: Path) -> list[Row]:
    """10^6 rows read from CSV and NPZ, beside the readers of numpy and pandas, and audited."""
    import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415  # the peer; it ships no types

    rng = np.random.default_rng(SEED)
    table = {
        "nll": np.round(rng.exponential(3.0, ROWS), 6),
        "real": (rng.random(ROWS) < 0.4).astype(np.int64),
        "doc": np.sort(rng.integers(0, 5_000, ROWS)),
    }
    pd.DataFrame(table).to_csv(folder / "losses.csv", index=False)
    np.savez(folder / "losses.npz", **table)  # type: ignore[arg-type]  # numpy's stub takes the names for its own keys

    def by_numpy_text() -> Any:
        return np.loadtxt(folder / "losses.csv", delimiter=",", skiprows=1)

    def by_numpy() -> Any:
        with np.load(folder / "losses.npz") as data:
            return {name: data[name] for name in data}

    csv, read = best(lambda: read_arrays(folder, "losses.csv", COLUMNS), rounds=2)
    pandas, _ = best(lambda: pd.read_csv(folder / "losses.csv"), rounds=2)
    loadtxt, _ = best(by_numpy_text, rounds=2)
    npz, also = best(lambda: read_arrays(folder, "losses.npz", COLUMNS))
    load, _ = best(by_numpy)
    same = bool(np.array_equal(read.loss, also.loss) and np.array_equal(read.real, also.real))
    audited, audits = best(lambda: arrays_audit(also, printed=None, returns="perplexity"), rounds=2)
    (folder / "audit.toml").write_text(
        '[arrays]\npath = "losses.npz"\ncolumns = { loss = "nll", mask = "real", sequence = "doc" }\n'
    )
    whole, _ = best(lambda: audit_file(folder / "audit.toml"), rounds=1)
    return [
        Row(
            "10^6 rows of CSV, every cell checked",
            csv,
            5.0,
            peers=(("numpy.loadtxt", loadtxt), ("pandas.read_csv", pandas)),
        ),
        Row("10^6 rows of NPZ", npz, 1.0, f"the same as the CSV: {same}", (("numpy.load", load),)),
        Row("10^6 rows audited", audited, 3.0, note=f"{len(audits)} audits"),
        Row("10^6 rows of NPZ read and audited, as a file", whole, 5.0),
    ]


def main() -> int:
    """Prints the table; 10 where a goal is not met."""
    rows = []
    print(f"{'audits':46}{'seconds':>8}{'goal':>6}  peers")
    with tempfile.TemporaryDirectory() as folder:
        for part in (mechanisms, lambda: arrays(Path(folder))):
            for row in part():
                print(row.line, flush=True)
                rows.append(row)
    return 0 if all(row.met for row in rows) else 10


if __name__ == "__main__":
    sys.exit(main())
