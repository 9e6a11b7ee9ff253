"""Where each key of a TOML text stands: against texts that are written down together with their positions."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.model.toml_lines import Path, key_lines, line_of

NASTY = ["", " ", "#", "[x]", "a = 1", "= [", "'", "]]", "{", ",", "\\\\", "é"]
"""What may stand in comments, keys and texts to mislead a scanner."""

SCALARS = ["1", "-0.5", "true", "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", "0xff", "inf", "1_000", "1e3"]


class Writer:
    """Writes a random TOML text and notes at which line each path was first mentioned."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.text = ""
        self.expected: dict[Path, int] = {}
        self.names = 0

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(1, one_in)) == 1

    def pick(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def write(self, text: str) -> None:
        self.text += text

    def mention(self, path: Path) -> None:
        self.expected.setdefault(path, self.text.count("\n") + 1)

    def blank(self, *, newlines: bool) -> None:
        if newlines and self.chance(3):
            self.write(self.pick("\n", "\n\n", " # " + self.pick(*NASTY) + "\n", "\r\n", "\n\t"))
        elif self.chance(3):
            self.write(self.pick(" ", "\t", "  "))

    def key(self) -> str:
        """A key no table has yet; writes nothing."""
        self.names += 1
        return f"k{self.names}" + (self.pick(*NASTY) if self.chance(4) else "")

    def write_key(self, key: str) -> None:
        bare = key.isascii() and key.isalnum()
        style = self.pick("bare", "basic", "literal") if bare else self.pick("basic", "literal")
        if style == "bare":
            self.write(key)
        elif style == "literal" and "'" not in key:
            self.write(f"'{key}'")
        else:
            escaped = key.replace("\\", "\\\\").replace('"', '\\"')
            self.write(f'"{escaped}"')

    def write_path(self, keys: list[str]) -> None:
        for index, key in enumerate(keys):
            if index:
                self.write(self.pick(".", " . ", ". "))
            self.write_key(key)

    def pair(self, table: Path) -> None:
        keys = [self.key() for _ in range(self.pick(1, 1, 1, 2, 3))]
        for length in range(1, len(keys) + 1):
            self.mention((*table, *keys[:length]))
        self.write_path(keys)
        self.write(self.pick("=", " = ", "\t="))
        self.value((*table, *keys), depth=0)

    def value(self, path: Path, *, depth: int) -> None:
        self.mention(path)
        kind = self.pick("scalar", "text", "lines", "list", "table") if depth < 3 else "text"
        inside = self.pick(*NASTY)
        if kind == "scalar":
            self.write(self.pick(*SCALARS))
        elif kind == "text":
            self.write(self.pick('"' + inside.replace("\\", "") + '\\"\\t"', "'" + inside.replace("'", "") + '"' + "'"))
        elif kind == "lines":
            quotes, last = self.pick(('"""', '\\"'), ("'''", "")), self.pick("", "\n", "\n\n[t]\nx = 1\n")
            self.write(f"{quotes[0]}\n{inside.replace(quotes[0][0], '')}{quotes[1]}{last} {quotes[0]}")
        elif kind == "list":
            self.write("[")
            self.blank(newlines=True)
            for index in range(self.pick(0, 1, 3)):
                if index:
                    self.write(",")
                    self.blank(newlines=True)
                self.value((*path, index), depth=depth + 1)
                self.blank(newlines=True)
            self.write("]")
        else:
            self.write("{")
            self.blank(newlines=False)
            for index in range(self.pick(0, 1, 2)):
                if index:
                    self.write(", ")
                self.inline_pair(path, depth=depth + 1)
                self.blank(newlines=False)
            self.write("}")

    def inline_pair(self, path: Path, *, depth: int) -> None:
        key = self.key()
        self.mention((*path, key))
        self.write_key(key)
        self.write(" = ")
        self.value((*path, key), depth=depth)

    def lines(self, table: Path) -> None:
        for _ in range(self.pick(0, 1, 2, 3)):
            self.write(self.pick("", "  ", "\n", "# " + self.pick(*NASTY) + "\n"))
            self.pair(table)
            self.write(self.pick("", " ", " # " + self.pick(*NASTY)) + self.pick("\n", "\r\n"))

    def table(self, parent: Path, keys: list[str]) -> Path:
        """[table] below `parent`, whose text is `keys` less the last."""
        path = (*parent, keys[-1])
        self.mention(path)
        self.write(self.pick("[", "[ "))
        self.write_path(keys)
        self.write(self.pick("]", " ]") + self.pick("", " # [") + "\n")
        self.lines(path)
        return path

    def array(self) -> None:
        key = self.key()
        for index in range(self.pick(1, 2, 3)):
            self.mention((key,))
            self.mention((key, index))
            self.write("[[")
            self.write_key(key)
            self.write("]]\n")
            self.lines((key, index))
            if self.chance(2):
                inner = self.table((key, index), [key, self.key()])
                assert inner[:2] == (key, index)
            nested = self.key()
            for below in range(self.pick(0, 1, 2)):
                self.mention((key, index, nested))
                self.mention((key, index, nested, below))
                self.write("[[")
                self.write_path([key, nested])
                self.write("]]\n")
                self.lines((key, index, nested, below))

    def document(self) -> str:
        self.lines(())
        for _ in range(self.pick(0, 1, 2, 3)):
            if self.chance(2):
                self.array()
            else:
                outer = self.table((), [self.key()])
                if self.chance(2):
                    self.table(outer, [str(outer[0]), self.key()])
        return self.text


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[Path, int]]:
    writer = Writer(draw)
    return writer.document(), writer.expected


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


@given(documents())
@settings(deadline=None, max_examples=60)
def test_every_path_is_found_at_its_line(document: tuple[str, dict[Path, int]]) -> None:
    text, expected = document
    lines = key_lines(text)
    found = set(paths(tomllib.loads(text)))
    assert found == set(expected)  # the writer and TOML agree on what the text says
    assert {path: lines[path] for path in found} == expected


@given(documents(), st.data())
@settings(deadline=None, max_examples=60)
def test_whatever_toml_accepts_is_walked(document: tuple[str, dict[Path, int]], data: st.DataObject) -> None:
    text, _ = document
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 4)))
        text = (
            text[:start]
            + data.draw(st.sampled_from([*NASTY, "\n", '"', "[", "]", ".", "a.b", '"""', "'''"]))
            + text[end:]
        )
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = key_lines(text)
    assert set(paths(table)) <= set(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


FRAGMENTS = [
    "a",
    "b",
    "'c'",
    '"d"',
    ".",
    "=",
    "1",
    '"x"',
    "'y'",
    '"""',
    "'''",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    ",",
    "\n",
    "\r\n",
    " ",
    "#",
    "\\",
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
@settings(deadline=None, max_examples=500)
def test_short_texts_that_toml_accepts_are_walked(text: str) -> None:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(paths(table)) <= set(key_lines(text))


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ('a = """x"""""\nb = 1', ("b",), 2),
        ("a = '''x'''''\nb = 1", ("b",), 2),
        ('a = """\\"""" # "\nb = 1', ("b",), 2),
        ('a = """"""\nb = 1', ("b",), 2),
        ('a = "\\\\"\nb = 1', ("b",), 2),
        ("a.b = 1\na.c = 2", ("a", "c"), 2),
        ("a.b = 1\na.c = 2", ("a",), 1),
        ("[a]\nx = 1\n[a.b]\ny = 2", ("a", "b", "y"), 4),
        ("[a.b]\ny = 2\n[a]\nx = 1", ("a", "x"), 4),
        ("[[a]]\n[[a]]\n[a.b]\nx = 1", ("a", 1, "b", "x"), 4),
        ("[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\nx = 1", ("a", 1, "b", 0, "x"), 5),
        ("a = [ # one\n  1, # two\n\n  2,\n]", ("a", 1), 4),
        ("1.2 = 3", ("1", "2"), 1),
        ('"" = 1\n', ("",), 1),
        ("a = 1979-05-27 07:32:00\nb = 1", ("b",), 2),
    ],
)
def test_what_is_easy_to_get_wrong(text: str, path: Path, line: int) -> None:
    assert path in set(paths(tomllib.loads(text)))
    assert key_lines(text)[path] == line


def test_a_missing_key_has_the_line_of_its_table() -> None:
    lines = key_lines("x = 1\n[a]\nb = { c = 1 }\n")
    assert line_of(lines, ("a", "b", "c")) == 3
    assert line_of(lines, ("a", "b", "z", 0)) == 3
    assert line_of(lines, ("a", "z")) == 2
    assert line_of(lines, ("z",)) is None
    assert line_of(lines, ()) is None


@pytest.mark.parametrize("depth", [10, 100, 300, 400, 450, 480, 490])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a=", "}")])
def test_deep_nesting_never_raises(depth: int, opening: str, closing: str) -> None:
    text = f"a = 1\nb = {opening * depth}1{closing * depth}\n"
    assert key_lines(text)["b",] == 2
