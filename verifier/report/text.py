"""Words and numbers as people read them, with strangers' text made harmless."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from verifier.model.e_values import e_value, scientific
from verifier.model.outcomes import Outcome
from verifier.model.printable import printable

__all__ = [
    "OUTCOME_WORDS",
    "capitalised",
    "counted",
    "decimal",
    "e_value",
    "expectation_words",
    "listed",
    "obtained_words",
    "plain",
    "plain_lines",
    "quoted",
    "scientific",
]

_BLANKS = re.compile(r"[ \t\r\n]+")

OUTCOME_WORDS: Mapping[str, str] = {
    Outcome.FOR_DISPUTE: "for the dispute",
    Outcome.AGAINST_DISPUTE: "against the dispute",
    Outcome.UNDECIDED: "undecided",
    Outcome.UNDERPOWERED: "could not decide",
    Outcome.INVALID: "does not bear on it",
    Outcome.NO_ANSWER: "no answer",
}


def plain(text: str) -> str:
    """`text` on one line: blanks run together, and every control, format or direction character as its escape.

    A terminal escape sequence, a right-to-left override or a zero-width character in a case file is shown, not obeyed.
    """
    return printable(_BLANKS.sub(" ", text).strip())


def plain_lines(text: str) -> str:
    """The same for a text of several lines, whose lines and indentation stay."""
    lines = text.expandtabs(4).replace("\r\n", "\n").split("\n")
    return "\n".join(printable(line.rstrip()) for line in lines).strip("\n")


def quoted(text: str) -> str:
    """Somebody's words in quotation marks, harmless."""
    return f"“{plain(text)}”"


def capitalised(text: str) -> str:
    """`text` with its first character as a capital and every other as it is, a blank after it too."""
    return text[:1].upper() + text[1:]


def listed(words: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 replicate`, `5,700 replicates`; `plural` where it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def decimal(value: float, digits: int = 3) -> str:
    """A number with `digits` decimals, in scientific notation where those would show nothing of it."""
    if value and abs(value) < 0.5 * 10**-digits:
        return scientific(value)
    return f"{value:.{digits}f}" if abs(value) < 1e9 else scientific(value)


def expectation_words(kind: str, value: str) -> str:
    """What a control must give, in words."""
    if kind == "equals":
        return f"the same draws as {plain(value.rpartition(':')[2])}"
    if kind == "values":
        return f"the values of {plain(value.rpartition(':')[2])}"
    return OUTCOME_WORDS.get(value, f"the answer {plain(value)}")


def obtained_words(kind: str, *, value: str, answer: str, outcome: Outcome | None) -> str:
    """What a control gave, in the words of what was expected of it."""
    if outcome is Outcome.NO_ANSWER:
        return OUTCOME_WORDS[outcome]
    if kind in ("equals", "values"):
        return {"AGREES": "agrees", "DIFFERS": "differs"}.get(answer, plain(answer))
    words = OUTCOME_WORDS[outcome] if outcome is not None else ""
    if value in OUTCOME_WORDS and words:
        return words
    return f"the answer {plain(answer)}" + (f" ({words})" if words else "")
