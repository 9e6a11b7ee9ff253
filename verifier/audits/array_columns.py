"""What the readers of array files share: labels as numbers, mask words, named columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from verifier.audits.token_arrays import Columns
from verifier.model.complaints import nearest, shown
from verifier.model.errors import BadInput

MOST_LABELS = 5_000_000
MOST_CHARACTERS = 200
MASK_WORDS = {"1": True, "0": False, "true": True, "false": False, "1.0": True, "0.0": False}


class Labels:
    """Numbers from 0 for labels, in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, label: Hashable, *, where: str) -> int:
        """The label's number. Raises BadInput for more different ones than are kept."""
        found = self._numbers.setdefault(label, len(self._numbers))
        if len(self._numbers) > MOST_LABELS:
            raise BadInput(f"there are more than {MOST_LABELS} labels", where=where, mend="give a sample")
        return found


def mask_value(text: str, *, where: str) -> bool:
    """True for a real token. Raises BadInput for a word that is neither 1 nor 0, true nor false."""
    found = MASK_WORDS.get(text.strip().lower())
    if found is None:
        raise BadInput(f"the mask is {shown(text)}", where=where, mend="write 1 for a real token and 0 for padding")
    return found


def check_named(columns: Columns, given: Sequence[str], *, where: str) -> None:
    """Raises BadInput for a named column that the file does not have, or has twice, and for one named twice."""
    named = columns.named
    for kind, name in named.items():
        if name not in given:
            there = [each for each in dict.fromkeys(map(str, given)) if each.isprintable()][:50]
            mend = nearest(name, there, what="column") if there else "write a header with the names of the columns"
            raise BadInput(f"there is no column {shown(name)} for the {kind}", where=where, mend=mend)
        if list(given).count(name) > 1:
            raise BadInput(f"the column {shown(name)} stands twice", where=where, mend="leave one of them out")
    if len(set(named.values())) < len(named):
        raise BadInput("two of arrays.columns name one column", where=where, mend="name a column for each")
