"""Names of a catalogue's formulas: written with the caller's letters, and found again from what a person writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from verifier.audits.catalogues import Catalogue, Entry, Family
from verifier.audits.catalogues.entry import Formula
from verifier.model.complaints import nearest, shown
from verifier.model.errors import BadInput

Letters = tuple[str, str]

_NUMBER = r"(\d+(?:\.\d+)?|\.\d+)"
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Named:
    """A formula that a text names: its name, itself (an alias with its factor), and whether the text is an alias."""

    name: str
    formula: str
    function: Formula
    alias: bool


def lettered(name: str, letters: Letters, *, alpha: float | None = None) -> str:
    """A catalogue name with the caller's letters, and alpha where it has one."""
    text = name.replace("{p}", letters[0]).replace("{q}", letters[1])
    return text if alpha is None else text.replace("{alpha}", f"{alpha:.6g}").replace("{beta}", f"{1 - alpha:.6g}")


def family_aliases(family: Family, letters: Letters, *, alpha: float) -> tuple[str, ...]:
    """The aliases of a family's member; those of order 1 − alpha only where that is positive."""
    return tuple(lettered(name, letters, alpha=alpha) for name in family.aliases if alpha < 1 or "{beta}" not in name)


def resolve(text: str, catalogue: Catalogue, *, letters: Letters) -> Named:
    """The formula that `text` names in the catalogue, by name or alias; ‖ is read as ||, case and blanks do not count.

    Raises BadInput for a name that stands for several formulas, or for none.
    """
    wanted = _plain(text)
    for name, instead in catalogue.ambiguous.items():
        if _plain(lettered(name, letters)) == wanted:
            raise BadInput(
                f"{shown(text)} does not say which formula is meant", where="expected", mend=lettered(instead, letters)
            )
    for entry in catalogue.entries:
        found = _entry(entry, wanted, letters)
        if found is not None:
            return found
    for family in catalogue.families:
        found = _member(family, wanted, letters)
        if found is not None:
            return found
    names = tuple(lettered(entry.name, letters) for entry in catalogue.entries)
    raise BadInput(
        f"{shown(text)} is not in the catalogue {catalogue.name}", where="expected", mend=nearest(text, names)
    )


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text[:LONGEST_NAME].replace("‖", "||").replace("∥", "||")).casefold()


def _entry(entry: Entry, wanted: str, letters: Letters) -> Named | None:
    name = lettered(entry.name, letters)
    if _plain(name) == wanted:
        return Named(name, entry.formula, entry.function, alias=False)
    for alias, factor in entry.aliases.items():
        if _plain(lettered(alias, letters)) == wanted:
            return Named(name, entry.formula, partial(_times, entry.function, factor), alias=True)
    return None


def _times(function: Formula, factor: float, *arguments: object) -> object:
    return factor * function(*arguments)


def _member(family: Family, wanted: str, letters: Letters) -> Named | None:
    for template, alias in _templates(family):
        pattern = re.escape(_plain(lettered(template, letters))).replace(re.escape("{alpha}"), _NUMBER)
        found = re.fullmatch(pattern, wanted, re.ASCII)
        values = {float(number) for number in found.groups()} if found is not None else set()
        if len(values) == 1 and 0 < (alpha := values.pop()) < family.high and alpha != 1:
            name = lettered(family.name, letters, alpha=alpha)
            return Named(name, family.formula, partial(family.function, alpha=alpha), alias=alias)
    return None


def _templates(family: Family) -> Iterator[tuple[str, bool]]:
    yield family.name, False
    for alias in family.aliases:
        if "{beta}" not in alias:
            yield alias, True
