"""The keys of case.toml that every kind of probe has, and what a control may be expected to give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from verifier.model.case import Expectation
from verifier.model.complaints import shown
from verifier.model.outcomes import Outcome
from verifier.model.tables import Name, OneOrMore, Path, Table, TableError, form, nearest

FileName = Annotated[
    str,
    form(
        r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,7}",
        what="a file of the case folder",
        mend='write its path inside the folder, like "problem.json" or "controls/tie.json"',
    ),
]
"""The path of a file inside the case folder."""


class ProbeTable(Table):
    """What every `[[probe]]` holds beside the keys of its kind."""

    name: Name
    part: Annotated[list[Name], OneOrMore]
    about: Literal["claim", "dispute"] = "claim"
    required: bool = True
    data: Literal["paper", "released", "synthetic"] = "paper"


def named_expectation(expect: str, answers: Iterable[str], *, path: Path, whose: str) -> Expectation:
    """An expected outcome or answer by its name; `whose` answers they are: `this rule`, `exact work`.

    Raises TableError for a word that is neither.
    """
    known = [*Outcome, *answers]
    if expect not in known:
        raise TableError(
            f"{shown(expect)} is neither an outcome nor an answer of {whose}", path=path, mend=nearest(expect, known)
        )
    return Expectation("named", expect)
