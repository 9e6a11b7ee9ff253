"""The options of a statistical rule on the command line, and the rule that they or a file spell out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from verifier.model.complaints import nearest, shown
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from pydantic import BaseModel

    from verifier.model.tables import TableError

Command: TypeAlias = Callable[..., Any]

KINDS = ("growth", "rate", "difference", "ratio", "proportion", "count", "bound")
MOST_BYTES = 1 << 20

_RULE_OPTIONS: Mapping[str, str] = {
    "claimed": "What the claim says: a difference, a ratio, a share, or p of O(t^-p).",
    "alleged": "What the dispute says instead; for growth the slope per unit of the law.",
    "delta": "Growth, rate: smallest slope of interest; ratio: what the claim may be short by; difference: --claimed.",
    "threshold": "What an E-value must reach, both ways.",
    "noise": "block or pooled (growth); paired, unpaired or pooled (difference, ratio).",
    "looks": "The n at which the data are looked at, like 10,20,30.",
    "minimum-n": "The n below which nothing is decided.",
    "bounds": "The least and largest value a bounded metric can take, like 0,1.",
    "better": "Whether higher or lower values favour the claim.",
    "population": "What items stand for: this-test-set or items-drawn.",
    "method": "t, or betting on a bounded metric.",
    "estimand": "geometric or ratio-of-means.",
    "law": "What grows: log, loglog, sqrt, linear or power.",
    "exponent": "Of the law power.",
    "gamma0": "The slowest power of saturation that counts as bounded.",
    "floor": "Systematic error that every scale's mean may carry.",
    "resolution": "Rate: the least value that is told from zero.",
    "total": "Count: how many the list holds.",
    "members": "Bound: the instances of a finite class, all of them, like a,b,c.",
}
"""Option of a rule -> its line of help."""

_RENAMED: Mapping[str, Mapping[str, str]] = {
    "growth": {"alleged": "alternative"},
    "difference": {"claimed": "delta"},
    "count": {"total": "size"},
}
"""Kind -> option -> the key of its table, where it has another name."""


def rule_options(command: Command) -> Command:
    """`--rule KIND` with the numbers of the rule, or `--rule-file FILE`."""
    for name, line in reversed(list(_RULE_OPTIONS.items())):
        command = click.option(f"--{name}", metavar=_metavar(name), help=line)(command)
    command = click.option(
        "--rule-file", type=click.Path(path_type=Path), metavar="FILE", help="A TOML file with a [rule] table."
    )(command)
    return click.option("--rule", "kind", metavar="KIND", help=f"One of {', '.join(KINDS)}.")(command)


def _metavar(name: str) -> str:
    words = {"looks": "N,N,…", "minimum-n": "N", "total": "N", "bounds": "LO,HI", "members": "NAME,…"}
    worded = ("noise", "better", "population", "method", "estimand", "law")
    return words.get(name, "WORD" if name in worded else "NUMBER")


def rule_words(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `rule_options` taken out of a command's arguments."""
    return {name: options[name] for name in ("kind", "rule_file", *(name.replace("-", "_") for name in _RULE_OPTIONS))}


@dataclass(frozen=True, kw_only=True)
class GivenRule:
    """A rule as somebody wrote it, its looks open where they are left to the data.

    kind: the rule's name. table: as a case file would hold it, without `looks` where none were given. source: the
    file's name, "" where it stands in options.
    """

    kind: str
    table: Mapping[str, Any]
    source: str = ""

    def word(self, key: str) -> Any:
        """The value of a key, the rule's own default where it is not written; None for a key that it has not."""
        field = _model(self.kind).model_fields.get(key)
        return self.table.get(key, None if field is None else field.default)

    def rule(self, n: int) -> Any:
        """The rule as registered, for n replicates where no looks were given: one look at all of them.

        Where nothing may be decided on so few, a look at the least number that may decide follows, so that the answer
        is that there are too few. Raises BadInput naming the option or the key that is wrong.
        """
        from verifier.model.tables import TableError, validate

        table = dict(self.table)
        size = table.get("size")
        if "looks" not in table and isinstance(size, int) and n > size > 1:
            what = f"the table holds {n} outcomes, and the list {size}"
            raise BadInput(what, where=option_of(self.kind, "size"), mend="give each listed thing once")
        if "looks" not in table and self.kind != "bound":
            table["looks"] = self._looks(n)
        try:
            return validate(_model(self.kind), table).to_rule()  # type: ignore[attr-defined]  # every table has it
        except TableError as error:
            raise self._complaint(error) from None

    def _complaint(self, error: TableError) -> BadInput:
        """The error where whoever wrote the rule finds it: at its key in the file, or at the option."""
        key = str(error.path[0]) if error.path else ""
        if self.source:
            return BadInput(error.what, where=f"{self.source}, rule{'.' if key else ''}{key}", mend=error.mend)
        if key == "looks" and "looks" not in self.table and "minimum_n" in self.table:
            key = "minimum_n"  # nobody wrote looks: there is one at the minimum
        place = option_of(self.kind, key) if key else f"--rule {self.kind}"
        return BadInput(error.what.replace("minimum_n", "--minimum-n"), where=place, mend=error.mend)

    def _looks(self, n: int) -> list[int]:
        from verifier.stats.margin_design import FEW

        least = self.table.get("minimum_n")
        if self.kind in {"growth", "rate"}:
            least = max(6 if least is None else least, 2)
        elif self.kind in {"proportion", "count"}:
            least = max(1 if least is None else least, 2)
        elif self.table.get("population") == "items-drawn" and n <= 1:
            return [1]
        else:
            bounded = self.table.get("bounds") is not None
            least = FEW["bounded" if bounded else "unbounded"] if least is None else least
        if n >= least or self.table.get("population") == "items-drawn":
            return [max(n, least)]
        return [n, least] if n >= 2 else [least]


def given_rule(words: Mapping[str, Any]) -> GivenRule:
    """The rule that the options or the file spell out, its keys known and its required ones there.

    Raises BadInput for neither or both, an unknown kind, an option that the kind has not, a file that is no table.
    """
    given = {name: value for name, value in words.items() if value is not None and name not in {"kind", "rule_file"}}
    kind, file = words["kind"], words["rule_file"]
    if file is not None:
        if given or kind is not None:
            extra = next(iter(given), "rule").replace("_", "-")
            raise BadInput("a rule file says the whole rule", where=f"--{extra}", mend="write it in the file")
        return _from_file(file)
    return _from_options(kind, given)


def _from_options(kind: str | None, given: Mapping[str, str]) -> GivenRule:
    if kind is None:
        raise BadInput("no rule is named", where="--rule", mend=f"name one of {', '.join(KINDS)}, or give --rule-file")
    if kind not in KINDS:
        raise BadInput(f"unknown rule {shown(kind)}", where="--rule", mend=nearest(kind, KINDS, what="rule"))
    table: dict[str, Any] = {"kind": kind}
    for name, value in given.items():
        key, option = _key(kind, name)
        if key in table:
            raise BadInput("it says what --claimed says already", where=option, mend="give one of them")
        table[key] = _value(name, value, option=option)
    if kind == "growth" and "delta" not in table:
        table["delta"] = _half(table.get("alternative", "1"))
    for key, field in _model(kind).model_fields.items():
        if field.is_required() and key not in {"kind", "looks"} and key not in table:
            raise BadInput(f"the rule {kind} needs {option_of(kind, key)}", where="--rule", mend="add it, as a number")
    return GivenRule(kind=kind, table=table)


def _key(kind: str, name: str) -> tuple[str, str]:
    """The key that an option writes in the kind's table, and the option. Raises BadInput where it has none."""
    key, option = _RENAMED.get(kind, {}).get(name, name), f"--{name.replace('_', '-')}"
    fields = _model(kind).model_fields
    if key not in fields:
        has = {option_of(kind, k) for k in fields} & {f"--{known}" for known in _RULE_OPTIONS}
        raise BadInput(f"the rule {kind} has none", where=option, mend=f"it takes {', '.join(sorted(has))}")
    return key, option


def option_of(kind: str, key: str) -> str:
    """The option that writes a key of a rule's table."""
    back = {new: old for old, new in _RENAMED.get(kind, {}).items()}
    return f"--{back.get(key, key).replace('_', '-')}"


def whole_numbers(text: str, *, option: str) -> list[int]:
    """`10,20,30` as integers. Raises BadInput for anything else."""
    words = [word.strip() for word in text.split(",")]
    if len(words) > 10_000 or not all(word.isascii() and word.isdecimal() and len(word) <= 16 for word in words):
        raise BadInput(f"{shown(text)} is not a list of whole numbers", where=option, mend="write it like 10,20,30")
    return [int(word) for word in words]


def _value(name: str, text: str, *, option: str) -> Any:
    if name == "looks":
        return whole_numbers(text, option=option)
    if name in {"minimum_n", "total"}:
        numbers = whole_numbers(text, option=option)
        if len(numbers) != 1:
            raise BadInput(f"{shown(text)} is not one whole number", where=option, mend="write it like 30")
        return numbers[0]
    if name == "members":
        return [word.strip() for word in text.split(",")]
    if name == "bounds":
        ends = [word.strip() for word in text.split(",")]
        if len(ends) != 2:
            raise BadInput(
                f"{shown(text)} is not two numbers", where=option, mend="write the least value first, like 0,1"
            )
        return ends
    return text


def _half(text: str) -> str:
    from verifier.model.canonical import rational_text
    from verifier.model.numbers import parse_rational

    try:
        return rational_text(parse_rational(text) / 2)
    except BadInput as error:
        raise BadInput(error.what, where="--alleged", mend=error.mend) from None


def _from_file(path: Path) -> GivenRule:
    from verifier.model.toml import parse_toml

    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or "it fails").lower()
        raise BadInput(f"the file cannot be read: {reason}", where=str(path), mend="name a TOML file") from None
    if len(content) > MOST_BYTES:
        raise BadInput("it is larger than 1 MiB", where=str(path), mend="it holds one [rule] table")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise BadInput("not UTF-8 text", where=str(path), mend="save the file as UTF-8") from None
    tables = parse_toml(text, where=str(path))
    table = tables.get("rule")
    others = [name for name in tables if name != "rule"]
    if not isinstance(table, dict) or others:
        what = f"unknown key {shown(others[0])}" if others else "there is no [rule] table"
        raise BadInput(what, where=str(path), mend='write [rule] and its keys, as kind = "growth"')
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        mend = f"write one of {', '.join(KINDS)}"
        raise BadInput(f"unknown rule kind {shown(kind) if kind is not None else 'none'}", where=str(path), mend=mend)
    if kind != "bound" and "looks" not in table:
        raise BadInput("the rule has no looks", where=f"{path}, rule", mend="add looks = [10, 20, 30]")
    return GivenRule(kind=kind, table=table, source=str(path))


def _model(kind: str) -> type[BaseModel]:
    from verifier.stats.rules import RULES

    return RULES[kind]
