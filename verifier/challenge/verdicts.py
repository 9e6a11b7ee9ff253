"""verdicts.json: read a record at a time, and written in the same schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from verifier.challenge.records import VerdictRecord, record_of
from verifier.challenge.stream import members, shown
from verifier.model.errors import BadInput


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is not what it must be: its key, printable and cut to 60 characters, and why."""

    key: str
    why: str


def read_verdicts(path: Path, *, skip_invalid: bool = False) -> Iterator[VerdictRecord | Skipped]:
    """The records of a verdicts.json, in the file's order, one in memory at a time.

    With `skip_invalid` a record with a wrong field comes out as Skipped. Raises BadInput, naming file and record, for
    one otherwise, and always for what is not JSON, repeats a key or is too large; OSError where it cannot be read.
    """
    with path.open("rb") as file:
        for key, value in members(file, name=path.name):
            try:
                record = record_of(key, value)
            except BadInput as error:
                if not skip_invalid:
                    raise BadInput(
                        error.what,
                        where=f"{path.name}, record {shown(key)}",
                        mend="correct it, or skip what is not right",
                    ) from error
                yield Skipped(shown(key), error.what)
            else:
                yield record


def written_verdicts(records: Iterable[VerdictRecord]) -> str:
    """The text of a verdicts.json holding these records, whose Space ids differ."""
    document: dict[str, object] = {}
    for record in records:
        assert record.space_id not in document, record.space_id
        document[record.space_id] = asdict(record)
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
