"""Units that are run again here: which of those reported, and whether they give what was reported."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence

from verifier.engine.ingest_cells import numbers_words
from verifier.engine.ingest_rows import Measured, same_unit
from verifier.engine.sweep import Results
from verifier.model.errors import BadInput
from verifier.sweeps.code import Code
from verifier.sweeps.drive import drive
from verifier.sweeps.executors import Executor
from verifier.sweeps.jobs import Failure, Job, Unit

CHECKED_UNITS = 3
"""How many of the reported units are run again here."""


def check_again(
    rows: Sequence[Measured], *, root: str, leaf: str, code: Code, executor: Executor, name: str
) -> tuple[tuple[Unit, ...], str]:
    """The units that were run again here and are equal, or none and why. Raises BadInput where one is not equal.

    They come from no store: each is run. root: over the rows used. leaf: of the registration. name: of the file.
    """
    if not rows:
        return (), "no row was used"
    chosen = [rows[index] for index in drawn_for_check(root, leaf, len(rows))]

    def ask() -> Generator[Sequence[Job], Results, Results]:
        return (yield [one.unit for one in chosen])

    (results,) = drive([ask()], code=code, executor=executor)
    for one in chosen:
        found = results.get(one.unit.key)
        if found is None or isinstance(found, Failure):
            continue
        if not same_unit(one, found):
            raise BadInput(
                f"the unit {one.unit.key[:12]} run here does not give what this line reports (here "
                f"{numbers_words(found, means=one.means)})",
                where=f"{name}, line {one.line}",
                mend="run it again where it was run, from the registered folder; nothing was recorded",
            )
    failures = [found for found in results.values() if isinstance(found, Failure)]
    if failures:
        return (), f"a unit has no answer here: {failures[0].what}"
    return tuple(one.unit for one in chosen), ""


def drawn_for_check(root: str, leaf: str, count: int) -> list[int]:
    """Which of `count` units are run again: three different indices.

    From SHA-256(root ‖ ":" ‖ leaf ‖ ":" ‖ 0, 1, …) modulo count. The registration's leaf hash commits to a random
    salt, so whoever sends the rows without having seen the ledger cannot compute, and so not steer, which are drawn.
    """
    chosen: list[int] = []
    counter = 0
    while len(chosen) < min(CHECKED_UNITS, count):
        digest = hashlib.sha256(f"{root}:{leaf}:{counter}".encode()).digest()
        index = int.from_bytes(digest, "big") % count
        chosen += [] if index in chosen else [index]
        counter += 1
    return chosen
