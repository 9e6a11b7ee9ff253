"""Where in a TOML text each key stands, so that an error can name its line.

`tomllib` reads the values but keeps no positions. The scanner below walks a text that `tomllib` has already
accepted, so it only has to tell keys, strings, brackets and comments apart.
"""

from __future__ import annotations

import contextlib
import re
import tomllib

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_INLINE_BLANK = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'',
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\n#]+")


def key_lines(text: str) -> dict[Path, int]:
    """Path of every key, table and array element of a valid TOML text -> its line, from 1.

    Where it is nested too deeply to walk, the paths before that place.
    """
    scanner = _Scanner(text)
    with contextlib.suppress(RecursionError):
        scanner.scan()
    return scanner.lines


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of `path`, or of the nearest enclosing key that stands in the text."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.lines: dict[Path, int] = {}
        self.tables: dict[Path, int] = {}  # arrays of tables -> index of their last element
        self.counted, self.line = 0, 1

    def scan(self) -> None:
        table: Path = ()
        while True:
            self.skip(_BLANK)
            if self.position >= len(self.text):
                return
            if self.text.startswith("[[", self.position):
                table = self.header(width=2)
            elif self.text[self.position] == "[":
                table = self.header(width=1)
            else:
                self.pair(table)

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.position)
        assert match is not None, f"unexpected text at {self.position}"
        self.position = match.end()
        return match.group()

    def note(self, path: Path) -> None:
        self.line += self.text.count("\n", self.counted, self.position)
        self.counted = self.position
        self.lines.setdefault(path, self.line)

    def key(self) -> list[str]:
        """A dotted key, its parts unquoted."""
        parts = []
        while True:
            self.skip(_INLINE_BLANK)
            if self.text[self.position] in "\"'":
                quoted = self.skip(_STRING)
                parts.append(str(tomllib.loads(f"k = {quoted}")["k"]))
            else:
                parts.append(self.skip(_BARE_KEY))
            self.skip(_INLINE_BLANK)
            if self.position >= len(self.text) or self.text[self.position] != ".":
                return parts
            self.position += 1

    def header(self, *, width: int) -> Path:
        self.position += width
        path: Path = ()
        parts = self.key()
        for index, part in enumerate(parts):
            path = (*path, part)
            last = index == len(parts) - 1
            if last and width == 2:
                self.note(path)
                self.tables[path] = self.tables.get(path, -1) + 1
            if path in self.tables:
                path = (*path, self.tables[path])
            self.note(path)
        self.position += width
        return path

    def pair(self, table: Path) -> None:
        path = table
        for part in self.key():
            path = (*path, part)
            self.note(path)
        self.position += 1  # the equals sign
        self.skip(_INLINE_BLANK)
        self.value(path)

    def value(self, path: Path) -> None:
        self.note(path)
        character = self.text[self.position]
        if character in "\"'":
            self.skip(_STRING)
        elif character == "[":
            self.items(path, closing="]")
        elif character == "{":
            self.items(path, closing="}")
        else:
            self.skip(_SCALAR)

    def items(self, path: Path, *, closing: str) -> None:
        self.position += 1
        index = 0
        while True:
            self.skip(_BLANK)
            if self.text[self.position] == closing:
                self.position += 1
                return
            if self.text[self.position] == ",":
                self.position += 1
            elif closing == "]":
                self.value((*path, index))
                index += 1
            else:
                self.pair(path)
