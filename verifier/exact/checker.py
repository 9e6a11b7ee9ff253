"""Check one certificate: `python checker.py CERT` says ACCEPTED, REJECTED or MALFORMED.

The page `docs/certificates.md` is the whole specification; "section n" below is a section of that page. This file
imports nothing but the standard library, runs on Python 3.9, and shares no code with the programs that search for
certificates, so that an error there cannot hide here. It decides with integers and fractions only.

Order of the file: results and bounds; text and numbers; reading JSON; vectors and matrices; hardmax (sections 3, 4);
maps (sections 5 to 7); expressions (section 8); the certificate as a whole; the command.
"""
# ruff: noqa: B905, RUF007 -- zip(strict=) and itertools.pairwise need Python 3.10, this file runs on 3.9
# ruff: noqa: D403 -- docstrings begin with a letter of the page: b, d, m
# ruff: noqa: S105 -- a token here is a token of the grammar
# ruff: noqa: C901 -- conditions of the page stand in one function each, in the order of the page

from __future__ import annotations

import itertools
import json
import math
import os
import re
import sys
from fractions import Fraction
from typing import Any, Callable, Iterator, NamedTuple, NoReturn, Sequence  # noqa: UP035 -- one source of types on 3.9

# ---------------------------------------------------------------------------------------------------------------------
# Results and bounds (sections 1 and 2)
# ---------------------------------------------------------------------------------------------------------------------

FILE_BYTES = 1_048_576
NESTING = 32
PROBLEM_DIGITS = 100
CERTIFICATE_DIGITS = 4_000
COMPUTED_BITS = 13_300
COUNTER_MAX = 10**15
TOKENS = MATRICES = 64
DIMENSION = PHASES = MAP_BRANCHES = GUARDS = 16
CYCLE = BRANCHES = 64
EXPLICIT_STEPS = 2_001
TAIL_TIMES = 2_000
WORK_UNITS = 4_000_000
NODE_SQUARE_BITS = 150_000
UNIT_SQUARE_BITS = 35_000  # one unit pays for a product and a quotient of numbers whose lengths multiply to this
WORD_CHARACTERS = 400
SOURCE_TEXTS = {"title": 400, "openreview": 40, "arxiv": 40, "locator": 400, "quote": 2_000}
SYMBOLS, SYMBOL_CHARACTERS, MEANING_CHARACTERS = 32, 100, 400
NAME_CHARACTERS = 200
MAP_HYPOTHESES = 8
FORMULA_CHARACTERS = 4_000
FORMULA_TOKENS = 2_000
FORMULA_DEPTH = 32
FORMULAS = VARIABLES = 32
VECTOR_ENTRIES = 256
MATRIX_SIDE = 32
RANGES = 8
TERMS = 100_000
NODES = 200_000
EXPONENT = 64
EXP_ARGUMENT = 1_000

EXIT = {"ACCEPTED": 0, "REJECTED": 10, "MALFORMED": 2}
NOT_CHECKED = "Not checked here: that this is the paper's theorem; compare the quoted text."
SECTIONS = ("Paper", "Locator", "Quoted", "Statement", "Symbols", "Data", "Hypotheses", "Sides")

Vector = list[Fraction]
Matrix = list[Vector]


class Refusal(Exception):
    """A reason not to accept: a code of section 1 and one sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(code, sentence)
        self.code = code
        self.sentence = sentence


class Malformed(Refusal):
    """The file is not a certificate in this format."""


class Rejected(Refusal):
    """The file is well formed and a condition is false or undecided."""


class Result(NamedTuple):
    """What the checker says about a file; `lines` is everything printed before the last line."""

    word: str
    code: str
    sentence: str
    lines: list[str]

    @property
    def last_line(self) -> str:
        """The line that decides."""
        return ": ".join(part for part in (self.word, self.code, self.sentence) if part)

    @property
    def exit_code(self) -> int:
        """0 accepted, 10 rejected, 2 malformed."""
        return EXIT[self.word]

    @property
    def text(self) -> str:
        """All of standard output."""
        return "".join(line + "\n" for line in [*self.lines, self.last_line])


class Meter:
    """Counts work units, tail times and node evaluations (section 1): the time is bounded by the file's own bounds."""

    def __init__(self) -> None:
        self.units = 0
        self.tail_times = 0
        self.nodes = 0

    def charge(self, units: int) -> None:
        """Charge before computing."""
        self.units += units
        if self.units > WORK_UNITS:
            raise Malformed("too-large", f"checking this takes more than {WORK_UNITS} work units")

    def tails(self, count: int) -> None:
        """Charge tail times that are checked one by one; called before the loop over them."""
        self.tail_times += max(count, 0)
        if self.tail_times > TAIL_TIMES:
            raise Malformed("too-large", f"more than {TAIL_TIMES} tail times would have to be checked one by one")

    def tails_left(self) -> int:
        """How many more tail times may be checked."""
        return TAIL_TIMES - self.tail_times

    def node(self) -> None:
        """Charge one evaluation of one node of an expression, for small numbers."""
        self.nodes += 1
        if self.nodes > NODES:
            raise Malformed("too-large", f"more than {NODES} node evaluations")
        self.charge(10)


class Report:
    """The parts of the output (section 2), printed in a fixed order whatever the order in which they became known."""

    def __init__(self) -> None:
        self.parts: dict[str, list[str]] = {}

    def add(self, part: str, *lines: str) -> None:
        """Add lines to a part."""
        self.parts.setdefault(part, []).extend(lines)

    def lines(self) -> list[str]:
        """A part of one line stands beside its name, a longer one is indented below it."""
        out: list[str] = []
        for part in SECTIONS:
            body = self.parts.get(part, [])
            if len(body) == 1:
                out.append(f"{part}: {body[0]}")
            elif body:
                out.append(f"{part}:")
                out.extend("  " + line for line in body)
        return out


# ---------------------------------------------------------------------------------------------------------------------
# Text and numbers
# ---------------------------------------------------------------------------------------------------------------------

INTEGER = re.compile(r"0|-?[1-9][0-9]*")
RATIONAL = re.compile(r"(0|-?[1-9][0-9]*)(?:/([1-9][0-9]*))?")
# Python refuses int <-> str beyond a limit that the caller may have lowered to 640 digits; pieces of 500 never meet it,
# and no global setting of the importing program is touched.
PIECE = 500
PIECE_POWER = 10**PIECE


def printable(text: str) -> str:
    """Printable ASCII; every other character as its JSON escape (beyond the BMP as two surrogates)."""
    out = []
    for char in text:
        code = ord(char)
        if 0x20 <= code < 0x7F:
            out.append(char)
        elif code < 0x10000:
            out.append(f"\\u{code:04x}")
        else:
            rest = code - 0x10000
            out.append(f"\\u{0xD800 + (rest >> 10):04x}\\u{0xDC00 + (rest & 0x3FF):04x}")
    return "".join(out)


def brief(text: str) -> str:
    """A stranger's word inside a sentence: printable and short."""
    return printable(text if len(text) <= 40 else text[:37] + "...")


def quoted(text: str) -> str:
    """A stranger's text where it would begin a line: no such line can look like the one that decides."""
    return '"' + printable(text).replace('"', "\\u0022") + '"'


def number_of(count: int, one: str, many: str) -> str:
    """A number of things."""
    return f"{count} {one if count == 1 else many}"


def parse_digits(text: str) -> int:
    """The integer of a string already known to be `-?[0-9]+` of bounded length."""
    if text.startswith("-"):
        return -parse_digits(text[1:])
    value = 0
    head = len(text) % PIECE
    for start in range(head - PIECE if head else 0, len(text), PIECE):
        piece = text[max(start, 0) : start + PIECE]
        value = value * PIECE_POWER + int(piece)
    return value


def integer_text(value: int) -> str:
    """Decimal digits of an integer of bounded length."""
    if value < 0:
        return "-" + integer_text(-value)
    pieces: list[str] = []
    while value >= PIECE_POWER:
        value, piece = divmod(value, PIECE_POWER)
        pieces.append(str(piece).zfill(PIECE))
    return str(value) + "".join(reversed(pieces))


def number_text(value: Fraction) -> str:
    """A rational in the notation of section 1."""
    top = integer_text(value.numerator)
    return top if value.denominator == 1 else f"{top}/{integer_text(value.denominator)}"


def vector_text(values: Sequence[Fraction]) -> str:
    """A vector, printed."""
    return "(" + ", ".join(number_text(value) for value in values) + ")"


def matrix_text(rows: Sequence[Sequence[Fraction]]) -> str:
    """A matrix, printed row by row."""
    return "[" + "; ".join(vector_text(row) for row in rows) + "]"


def decimal_text(value: Fraction) -> str:
    """The first 12 significant digits, truncated, followed by `...` where inexact (section 2)."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    top, bottom = abs(value.numerator), value.denominator
    exponent = len(integer_text(top)) - len(integer_text(bottom))
    if top * 10 ** max(-exponent, 0) < bottom * 10 ** max(exponent, 0):
        exponent -= 1
    shift = 11 - exponent
    lead, rest = divmod(top * 10 ** max(shift, 0), bottom * 10 ** max(-shift, 0))
    digits, tail = str(lead), "..." if rest else ""
    if exponent < -6 or exponent > 11:
        fraction = digits[1:] if rest else digits[1:].rstrip("0")
        return f"{sign}{digits[0]}{'.' if fraction else ''}{fraction}e{exponent}{tail}"
    if exponent < 0:
        digits, exponent = "0" * -exponent + digits, 0
    whole, fraction = digits[: exponent + 1], digits[exponent + 1 :]
    fraction = fraction if rest else fraction.rstrip("0")
    return f"{sign}{whole}{'.' if fraction else ''}{fraction}{tail}"


def side_text(value: Fraction) -> str:
    """A compared number, exact and as a decimal."""
    exact, decimal = number_text(value), decimal_text(value)
    return exact if exact == decimal else f"{exact} = {decimal}"


def fit_integer(value: int) -> int:
    """The integer itself, if it stays inside the bound on computed numbers."""
    if value.bit_length() > COMPUTED_BITS:
        raise Malformed("too-large", f"a computed number has more than {COMPUTED_BITS} bits")
    return value


def fit(value: Fraction) -> Fraction:
    """The rational itself, if its numerator and denominator stay inside the bound on computed numbers."""
    fit_integer(value.numerator)
    fit_integer(value.denominator)
    return value


def bits(values: Sequence[Fraction]) -> int:
    """b of section 1: the largest bit length of a numerator or denominator."""
    return max((max(v.numerator.bit_length(), v.denominator.bit_length()) for v in values), default=1)


def matrix_bits(rows: Sequence[Sequence[Fraction]]) -> int:
    """b of a matrix."""
    return max((bits(row) for row in rows), default=1)


# ---------------------------------------------------------------------------------------------------------------------
# Reading JSON (section 1): every length is checked before what it bounds is touched
# ---------------------------------------------------------------------------------------------------------------------


def check_nesting(text: str) -> None:
    """Refuse deep nesting before the JSON parser, which recurses, sees it."""
    depth = 0
    in_string = False
    skip = -1
    for match in re.finditer(r'["\\\[\]{}]', text):
        char, at = match.group(), match.start()
        if in_string:
            if at == skip:
                continue
            if char == "\\":
                skip = at + 1
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            if depth > NESTING:
                raise Malformed("too-large", f"brackets are nested more than {NESTING} deep")
        elif char in "]}":
            depth -= 1


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, refusing a key that occurs twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise Malformed("json", f'the key "{brief(key)}" occurs twice in one object')
            seen.add(key)
    return found


def json_counter(text: str) -> int:
    """A JSON integer: only counters are written so, hence no sign and at most 16 digits."""
    if not re.fullmatch(r"0|[1-9][0-9]*", text):
        raise Malformed("number", f'the JSON number "{brief(text)}" is not a counter')
    if len(text) > 16 or int(text) > COUNTER_MAX:
        raise Malformed("too-large", "a counter is larger than 10^15")
    return int(text)


def json_float(text: str) -> NoReturn:
    """No floats in this format."""
    raise Malformed("number", f'the JSON number "{brief(text)}" has a fraction or an exponent')


def json_constant(text: str) -> NoReturn:
    """NaN and Infinity are not JSON."""
    raise Malformed("json", f"the constant {brief(text)} is not JSON")


def read_json(data: bytes) -> Any:
    """The JSON value of the file, or Malformed."""
    if len(data) > FILE_BYTES:
        raise Malformed("too-large", f"the file has more than {FILE_BYTES} bytes")
    if data.startswith(b"\xef\xbb\xbf"):
        raise Malformed("encoding", "the file begins with a byte-order mark")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("encoding", f"the file is not UTF-8 at byte {error.start}") from None
    check_nesting(text)
    try:
        return json.loads(
            text,
            object_pairs_hook=unique_object,
            parse_int=json_counter,
            parse_float=json_float,
            parse_constant=json_constant,
        )
    except json.JSONDecodeError as error:
        raise Malformed("json", f"no JSON value: line {error.lineno}, column {error.colno}") from None


def fields(value: Any, where: str, required: str, optional: str = "") -> dict[str, Any]:
    """An object with exactly the fields listed."""
    if not isinstance(value, dict):
        raise Malformed("schema", f"{where} is not an object")
    need = required.split()
    for key in need:
        if key not in value:
            raise Malformed("schema", f'{where} lacks the field "{key}"')
    allowed = {*need, *optional.split()}
    for key in value:
        if key not in allowed:
            raise Malformed("schema", f'{where} has a field "{brief(key)}" that is not listed')
    return value


def array(value: Any, where: str, low: int, high: int) -> list[Any]:
    """A list of low to high entries."""
    if not isinstance(value, list):
        raise Malformed("schema", f"{where} is not a list")
    if len(value) > high:
        raise Malformed("too-large", f"{where} has more than {high} entries")
    if len(value) < low:
        raise Malformed("shape", f"{where} has fewer than {number_of(low, 'entry', 'entries')}")
    return value


def sized(value: Any, where: str, size: int) -> list[Any]:
    """A list whose length is fixed by something else in the file."""
    if not isinstance(value, list):
        raise Malformed("schema", f"{where} is not a list")
    if len(value) != size:
        raise Malformed("shape", f"{where} has {number_of(len(value), 'entry', 'entries')}, not {size}")
    return value


def text_of(value: Any, where: str, characters: int, *, least: int = 1) -> str:
    """A text of `least` to `characters` characters."""
    if not isinstance(value, str):
        raise Malformed("schema", f"{where} is not a string")
    if len(value) < least:
        raise Malformed("schema", f"{where} is empty")
    if len(value) > characters:
        raise Malformed("too-large", f"{where} has more than {characters} characters")
    return value


def choice(value: Any, where: str, words: Sequence[str]) -> str:
    """One of a few fixed words."""
    if not isinstance(value, str) or value not in words:
        raise Malformed("schema", f"{where} is not one of: {', '.join(words)}")
    return value


def counter(value: Any, where: str, below: int = COUNTER_MAX + 1) -> int:
    """A counter; `below` bounds an index."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Malformed("schema", f"{where} is not a counter")
    if value >= below:
        raise Malformed("shape", f"{where} is {value}, not below {below}")
    return value


def rational(value: Any, where: str, digits: int) -> Fraction:
    """A quantity: the whole string, lowest terms, bounded digits before conversion."""
    if not isinstance(value, str):
        raise Malformed("schema", f"{where} is not a string")
    if len(value) > 2 * digits + 2:
        raise Malformed("too-large", f"{where} has more than {digits} digits")
    match = RATIONAL.fullmatch(value)
    if match is None:
        raise Malformed("number", f'{where}: "{brief(value)}" is not a rational number')
    top, bottom = match.group(1), match.group(2)
    if len(top.lstrip("-")) > digits or len(bottom or "") > digits:
        raise Malformed("too-large", f"{where} has more than {digits} digits")
    if bottom is None:
        return Fraction(parse_digits(top))
    numerator, denominator = parse_digits(top), parse_digits(bottom)
    if denominator == 1 or math.gcd(numerator, denominator) != 1:
        raise Malformed("number", f'{where}: "{brief(value)}" is not in lowest terms')
    return Fraction(numerator, denominator)


def integer(value: Any, where: str, digits: int) -> int:
    """An integer quantity."""
    number = rational(value, where, digits)
    if number.denominator != 1:
        raise Malformed("number", f"{where} is not an integer")
    return number.numerator


def vector(value: Any, where: str, size: int, digits: int) -> Vector:
    """A vector of the given length."""
    return [rational(entry, f"{where}[{k}]", digits) for k, entry in enumerate(sized(value, where, size))]


def free_vector(value: Any, where: str, digits: int) -> Vector:
    """A vector that fixes a dimension itself."""
    return vector(value, where, len(array(value, where, 1, DIMENSION)), digits)


def matrix(value: Any, where: str, rows: int, columns: int, digits: int) -> Matrix:
    """A matrix of the given shape."""
    return [vector(row, f"{where}[{k}]", columns, digits) for k, row in enumerate(sized(value, where, rows))]


def free_matrix(value: Any, where: str, digits: int) -> Matrix:
    """A matrix that fixes its shape itself: rows of equal length."""
    rows = array(value, where, 1, DIMENSION)
    columns = len(array(rows[0], f"{where}[0]", 1, DIMENSION))
    return matrix(rows, where, len(rows), columns, digits)


def square_matrix(value: Any, where: str, digits: int) -> Matrix:
    """A square matrix that fixes its size itself."""
    size = len(array(value, where, 1, DIMENSION))
    return matrix(value, where, size, size, digits)


# ---------------------------------------------------------------------------------------------------------------------
# Vectors and matrices (section 9)
# ---------------------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A vector as integers over one positive denominator: sums of products then need no gcd but the last one."""

    entries: list[int]
    den: int


def common_denominator(values: Iterator[Fraction], most: int) -> int:
    """The common denominator of some numbers, refused beyond `most` bits: it is a computed integer too."""
    den = 1
    for value in values:
        if den % value.denominator:
            den = math.lcm(den, value.denominator)
            if den.bit_length() > most:
                raise Malformed("too-large", f"a common denominator has more than {most} bits")
    return den


def line(values: Sequence[Fraction]) -> Line:
    """Bring a vector to one denominator."""
    den = common_denominator(iter(values), COMPUTED_BITS)
    return Line([value.numerator * (den // value.denominator) for value in values], den)


def line_dot(a: Line, b: Line) -> Fraction:
    """The inner product."""
    return fit(Fraction(int_dot(a.entries, b.entries), a.den * b.den))


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """The inner product."""
    pairs = [(p, q) for p, q in zip(a, b) if p and q]
    return line_dot(line([p for p, _ in pairs]), line([q for _, q in pairs]))


def apply(rows: Matrix, x: Vector) -> Vector:
    """A matrix times a vector."""
    column = line(x)
    return [line_dot(line(row), column) for row in rows]


def plus(a: Vector, b: Vector) -> Vector:
    """The sum of two vectors."""
    return [fit(p + q) for p, q in zip(a, b)]


def minus(a: Vector, b: Vector) -> Vector:
    """The difference of two vectors."""
    return [fit(p - q) for p, q in zip(a, b)]


def scale(factor: Fraction, a: Vector) -> Vector:
    """A multiple of a vector."""
    return [fit(factor * p) for p in a]


def transpose(rows: Matrix) -> Matrix:
    """Rows become columns."""
    return [list(column) for column in zip(*rows)]


def product(a: Matrix, b: Matrix) -> Matrix:
    """A matrix times a matrix."""
    columns = [line(column) for column in transpose(b)]
    return [[line_dot(row, column) for column in columns] for row in map(line, a)]


def difference(a: Matrix, b: Matrix) -> Matrix:
    """The difference of two matrices."""
    return [minus(p, q) for p, q in zip(a, b)]


def form(rows: Matrix, x: Vector) -> Fraction:
    """The quadratic form of a matrix at x."""
    return dot(apply(rows, x), x)


def shifted(number: Fraction, rows: Matrix) -> Matrix:
    """number*I - rows."""
    return [[fit(number - entry) if i == j else -entry for j, entry in enumerate(row)] for i, row in enumerate(rows)]


def unit(size: int, k: int) -> Vector:
    """The k-th unit vector."""
    return [Fraction(int(j == k)) for j in range(size)]


def symmetric(rows: Matrix) -> bool:
    """Equality of a square matrix with its transpose."""
    return all(rows[i][j] == rows[j][i] for i in range(len(rows)) for j in range(i))


def blocks(rows: Matrix) -> list[list[int]]:
    """The indices of a symmetric matrix in classes, so that entries between different classes are 0."""
    left, out = set(range(len(rows))), []
    while left:
        block, fresh = [], [min(left)]
        left.discard(fresh[0])
        while fresh:
            i = fresh.pop()
            block.append(i)
            near = [j for j in left if rows[i][j]]
            left.difference_update(near)
            fresh += near
        out.append(sorted(block))
    return out


class Primitive(NamedTuple):
    """A row of integers without common factor: the row given times `factor` > 0."""

    row: list[int]
    factor: Fraction


def primitive(values: Sequence[Fraction]) -> Primitive:
    """A row in integers. Rows may be multiplied by positive numbers: leading minors keep their signs, ranks stay."""
    entries, den = line(values)
    for entry in entries:
        fit_integer(entry)
    common = math.gcd(*entries) or 1
    return Primitive([entry // common for entry in entries], Fraction(den, common))


def elimination_units(rows: Sequence[Sequence[int]], fresh: Sequence[int]) -> int:
    """What an elimination in integers costs: `fresh[k]` entries are computed at step k.

    After k steps the entries are minors, hence no longer than k rows and their own row together. The time of one entry
    grows with the product of two lengths: Python multiplies and divides so.
    """
    lengths = [max(entry.bit_length() for entry in row) + len(rows).bit_length() for row in rows]
    units = before = 0
    for k, length in enumerate(lengths):
        longest = max(lengths[k + 1 :], default=0)
        pivot, entry = min(before + length, COMPUTED_BITS), min(before + longest, COMPUTED_BITS)
        units += fresh[k] * (pivot * entry // UNIT_SQUARE_BITS)
        before += length
    return units


def definite(rows: Matrix, meter: Meter, *, strict: bool) -> bool:
    """Section 9: elimination without exchanges; positive definite if strict, else positive semidefinite."""
    size = len(rows)
    units = size**3 * (1 + size * matrix_bits(rows) // 500)
    meter.charge(units)
    if not symmetric(rows):
        return False
    parts = [[primitive([rows[i][j] for j in block]) for i in block] for block in blocks(rows)]
    work = 0
    for part in parts:
        fresh = [k * (k + 1) // 2 for k in reversed(range(len(part)))]
        work += elimination_units([entry.row for entry in part], fresh)
    meter.charge(max(work - units, 0))
    return all(definite_block(part, strict=strict) for part in parts)


def definite_block(part: list[Primitive], *, strict: bool) -> bool:
    """Elimination in integers (Bareiss 1968), on rows multiplied by positive numbers f_i.

    After the pivots k1 < k2 < ... an entry is that of the Schur complement times f_i and the last pivot (the product of
    a minor > 0 and of the f): signs and zeros are the page's. The upper half is enough, for S_ik = S_ki f_i / f_k.
    """
    s, last = [list(entry.row) for entry in part], 1
    for k, (row, factor) in enumerate(zip(s, (entry.factor for entry in part))):
        pivot = row[k]
        if pivot < 0 or (strict and pivot == 0):
            return False
        if pivot == 0:
            if any(row[k + 1 :]):
                return False
            continue
        for i in range(k + 1, len(s)):
            ratio = part[i].factor / factor
            lead = row[i] * ratio.numerator // ratio.denominator
            s[i][i:] = [fit_integer((pivot * own - lead * above) // last) for own, above in zip(s[i][i:], row[i:])]
        last = pivot
    return True


def rank_of(rows: Matrix, meter: Meter) -> int:
    """The rank, exactly: elimination in integers as above, with exchanges."""
    size, width = max(len(rows), len(rows[0])), len(rows[0])
    units = size**3 * (1 + size * matrix_bits(rows) // 500)
    meter.charge(units)
    s = [primitive(row).row for row in rows]
    meter.charge(max(elimination_units(s, [width * k for k in reversed(range(len(s)))]) - units, 0))
    rank, last = 0, 1
    for column in range(width):
        at = next((i for i in range(rank, len(s)) if s[i][column]), None)
        if at is None:
            continue
        s[rank], s[at] = s[at], s[rank]
        lead = s[rank]
        for i in range(rank + 1, len(s)):
            factor = s[i][column]
            s[i] = [fit_integer((lead[column] * own - factor * above) // last) for own, above in zip(s[i], lead)]
        rank, last = rank + 1, lead[column]
    return rank


def inverse(rows: Matrix, meter: Meter) -> Scaled:
    """The inverse of a positive definite matrix, once a certificate; P^-1 a of section 6 is a product with it.

    Gauss-Jordan in integers and in place: after step k the first columns hold what was the unit matrix beside P.
    """
    n = len(rows)
    units = n**3 * (1 + n * matrix_bits(rows) // 500)
    meter.charge(units)
    lines = [line(row) for row in rows]
    s = [[fit_integer(entry) for entry in row.entries] for row in lines]
    meter.charge(max(elimination_units(s, [n * n] * n) - units, 0))
    last = 1
    for k in range(n):
        lead, pivot = s[k], s[k][k]
        for i in range(n):
            if i != k:
                factor = s[i][k]
                s[i] = [fit_integer((pivot * own - factor * above) // last) for own, above in zip(s[i], lead)]
                s[i][k] = -factor
        lead[k] = last
        last = pivot
    return Scaled([[entry * row.den for entry, row in zip(found, lines)] for found in s], last)


class Scaled(NamedTuple):
    """Rows of integers over one positive denominator: no gcd in the inner loops of a step."""

    rows: list[list[int]]
    den: int


def scaled(rows: Sequence[Sequence[Fraction]]) -> Scaled:
    """Bring a matrix to one denominator, which may be longer than those of its entries in lowest terms."""
    den = common_denominator((entry for row in rows for entry in row), 4 * COMPUTED_BITS)
    return Scaled([[entry.numerator * (den // entry.denominator) for entry in row] for row in rows], den)


def scaled_bits(state: Scaled) -> int:
    """At least b of section 1: common denominators are no smaller than reduced ones."""
    return max(state.den.bit_length(), *(entry.bit_length() for row in state.rows for entry in row))


def reduced(rows: list[list[int]], den: int) -> Scaled:
    """Divide by the common factor and hold every reduced component against the bound on computed numbers."""
    factor = den
    for entry in itertools.chain.from_iterable(rows):
        if factor == 1:
            break
        factor = math.gcd(factor, entry)
    state = Scaled([[entry // factor for entry in row] for row in rows], den // factor)
    if scaled_bits(state) > COMPUTED_BITS:
        for entry in itertools.chain.from_iterable(state.rows):
            fit(Fraction(entry, state.den))
    return state


def unscaled(state: Scaled) -> Matrix:
    """The same rows as fractions."""
    return [[Fraction(entry, state.den) for entry in row] for row in state.rows]


def int_dot(a: Sequence[int], b: Sequence[int]) -> int:
    """The inner product of integer vectors."""
    return sum(p * q for p, q in zip(a, b) if p and q)


# ---------------------------------------------------------------------------------------------------------------------
# Hardmax: problem, hypotheses and the exact test (sections 3 and 4)
# ---------------------------------------------------------------------------------------------------------------------

STEPS = ("2/(t+2)", "2/(t+1)", "1/(t+2)")
BOUND_TEXT = "J^t(x_i^(t+1)) <= 2/(t+1) * lambda_max(B^t0) * diam(K^t0)^2 for all i, t"
CLAIM_TEXT = {
    "energy-bound": f"{BOUND_TEXT} (energy-bound)",
    "energy-bound-any-step": f"{BOUND_TEXT} (energy-bound-any-step: the same inequality without the step hypothesis; "
    "not the theorem)",
}
HARDMAX_SYMBOLS = (
    "x_i^t0, t0: state.tokens[i]; t0 = 1 for the step 2/(t+1), else 0",
    "B^t, gamma^t: parameters.B, parameters.step",
    "K^t, D^2: hull of the tokens; the largest |x_i - x_j|^2 at t0",
    "J^t(x), lambda_max: <B^t x, x>/2; proved <= lambda_bound",
)


class Hardmax(NamedTuple):
    """A hardmax problem of section 3; `gamma` is None unless the step is constant."""

    matrices: list[Matrix]
    step: str
    gamma: Fraction | None
    tokens: list[Vector]
    claim: str
    ties: str

    @property
    def start(self) -> int:
        """t0."""
        return 1 if self.step == "2/(t+1)" else 0

    @property
    def size(self) -> int:
        """n, the number of tokens."""
        return len(self.tokens)

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.tokens[0])

    def step_at(self, t: int) -> Fraction:
        """gamma^t."""
        if self.gamma is not None:
            return self.gamma
        return Fraction(1 if self.step == "1/(t+2)" else 2, t + 1 if self.step == "2/(t+1)" else t + 2)


def read_hardmax(problem: dict[str, Any]) -> Hardmax:
    """The fields of a hardmax problem."""
    parameters = fields(problem["parameters"], "problem.parameters", "B step")
    state = fields(problem["state"], "problem.state", "tokens")
    where = "problem.state.tokens"
    rows = array(state["tokens"], where, 1, TOKENS)
    dimension = len(array(rows[0], f"{where}[0]", 1, DIMENSION))
    tokens = [vector(row, f"{where}[{i}]", dimension, PROBLEM_DIGITS) for i, row in enumerate(rows)]
    step = text_of(parameters["step"], "problem.parameters.step", WORD_CHARACTERS)
    gamma = None if step in STEPS else rational(step, "problem.parameters.step", PROBLEM_DIGITS)
    if "ties" not in problem:
        raise Malformed("schema", 'problem lacks the field "ties"')
    return Hardmax(
        read_matrices(parameters["B"], dimension),
        step,
        gamma,
        tokens,
        choice(problem["claim"], "problem.claim", tuple(CLAIM_TEXT)),
        choice(problem["ties"], "problem.ties", ("any-selection", "lowest-index", "highest-index")),
    )


def read_matrices(value: Any, dimension: int) -> list[Matrix]:
    """`parameters.B`: one matrix, or a list of them, told apart by the nesting."""
    where = "problem.parameters.B"
    outer = array(value, where, 1, MATRICES)
    inner = array(outer[0], f"{where}[0]", 1, DIMENSION)
    if not isinstance(inner[0], list):
        return [matrix(outer, where, dimension, dimension, PROBLEM_DIGITS)]
    return [matrix(m, f"{where}[{k}]", dimension, dimension, PROBLEM_DIGITS) for k, m in enumerate(outer)]


def describe_hardmax(problem: Hardmax, report: Report) -> None:
    """The lines `Symbols:` and `Data:`."""
    if "Symbols" not in report.parts:
        report.add("Symbols", *HARDMAX_SYMBOLS)
    report.add("Data", "system: hardmax-frank-wolfe", f"step: {problem.step}, t0 = {problem.start}")
    report.add("Data", *(f"B^{problem.start + k}: {matrix_text(m)}" for k, m in enumerate(problem.matrices)))
    report.add("Data", *(f"x_{i}^{problem.start}: {vector_text(x)}" for i, x in enumerate(problem.tokens)))
    report.add("Data", f"ties: {problem.ties}")


def check_hardmax_hypotheses(problem: Hardmax, weights: Vector, report: Report, meter: Meter) -> None:
    """H1 to H4 of section 3."""
    for k, m in enumerate(problem.matrices):
        if not definite(m, meter, strict=False):
            raise Rejected("hypothesis", f"H1: matrix {k} of B is not symmetric positive semidefinite")
    report.add("Hypotheses", "H1: every matrix of B is symmetric and positive semidefinite (elimination)")
    for k, (now, later) in enumerate(zip(problem.matrices, problem.matrices[1:])):
        if not definite(difference(now, later), meter, strict=False):
            raise Rejected("hypothesis", f"H2: matrix {k} of B minus matrix {k + 1} is not positive semidefinite")
    report.add("Hypotheses", "H2: neighbouring matrices of B decrease (elimination)")
    for i, w in enumerate(weights):
        if w < 0:
            raise Rejected("hypothesis", f"H3: weight {i} is negative")
    if dot(weights, [Fraction(1)] * len(weights)) != 1:
        raise Rejected("hypothesis", "H3: the weights do not sum to 1")
    for j, column in enumerate(transpose(problem.tokens)):
        if dot(weights, column) != 0:
            raise Rejected("hypothesis", f"H3: component {j} of the weighted sum of the tokens is not 0")
    report.add("Hypotheses", f"H3: 0 lies in the hull of the tokens, with weights {vector_text(weights)}")
    if problem.claim == "energy-bound":
        if problem.step != "2/(t+2)":
            raise Rejected("hypothesis", "H4: energy-bound needs the step 2/(t+2)")
    elif problem.gamma is not None and not 0 < problem.gamma <= 1:
        raise Rejected("hypothesis", "H4: the constant step is not in (0, 1]")
    report.add("Hypotheses", f"H4: the step is {problem.step}")


class Energies(NamedTuple):
    """e_i(t) of all components over one denominator: comparing them needs no gcd."""

    nums: list[int]
    den: int

    def value(self, i: int) -> Fraction:
        """e_i(t)."""
        return Fraction(self.nums[i], self.den)


def bounded_energies(nums: list[int], den: int) -> Energies:
    """Energies whose lowest terms stay inside the bound on computed numbers."""
    if max(den.bit_length(), *(num.bit_length() for num in nums)) > COMPUTED_BITS:
        for num in nums:
            fit(Fraction(num, den))
    return Energies(nums, den)


class ExactTest:
    """Section 4: component i fails at t iff D^2 > 0 and rho*I - B^{t0} > 0, with rho = (t+1) e / (2 D^2)."""

    def __init__(self, problem: Hardmax, bound: Fraction, meter: Meter) -> None:
        """`bound` is l; the test needs l*I - B^{t0} >= 0, so that lambda_max <= l."""
        self.meter = meter
        self.first_matrix = problem.matrices[0]
        self.dimension = problem.dimension
        gap = shifted(bound, self.first_matrix)
        if not definite(gap, meter, strict=False):
            raise Rejected("side", "lambda_bound is below the largest eigenvalue of the first matrix of B")
        self.bound = bound
        self.sharp = not definite(gap, meter, strict=True)
        self.diagonal = max(self.first_matrix[j][j] for j in range(problem.dimension))
        self.square_diameter = squared_diameter(problem.tokens, meter)
        self.theta = fit(4 * bound * self.square_diameter)

    def right_side(self, t: int) -> Fraction:
        """2 l D^2 / (t+1), at least the right-hand side of the claim."""
        return fit(self.theta / (2 * (t + 1)))

    def fails(self, energy: Fraction, t: int) -> bool:
        """The exact test; both shortcuts are theorems, the elimination decides between them."""
        if self.square_diameter == 0:
            return False
        rho = fit((t + 1) * energy / (2 * self.square_diameter))
        if rho > self.bound:  # lambda_max <= l < rho
            return True
        if rho <= self.diagonal:  # a diagonal entry is a value of the form on unit vectors: rho <= lambda_max
            return False
        return definite(shifted(rho, self.first_matrix), self.meter, strict=True)

    def any_fails(self, energies: Energies, t: int) -> bool:
        """Whether some component fails at t: the largest energy decides."""
        return self.fails(Fraction(max(energies.nums), energies.den), t)

    def failing(self, energies: Energies, t: int) -> list[bool]:
        """Which components fail at t: failing is monotone in the energy, so bisection finds the smallest that fails."""
        if not self.any_fails(energies, t):
            return [False] * len(energies.nums)
        order = sorted(set(energies.nums))
        low, high = 0, len(order) - 1
        while low < high:
            middle = (low + high) // 2
            if self.fails(Fraction(order[middle], energies.den), t):
                high = middle
            else:
                low = middle + 1
        return [num >= order[low] for num in energies.nums]


def squared_diameter(tokens: list[Vector], meter: Meter) -> Fraction:
    """D^2: the largest squared distance of two tokens."""
    state = scaled(tokens)
    meter.charge(len(tokens) ** 2 * len(tokens[0]) // 2 * (1 + scaled_bits(state) // 500))
    best = 0
    for a, b in itertools.combinations(state.rows, 2):
        distance = sum((p - q) ** 2 for p, q in zip(a, b))
        best = max(best, distance)
    return fit(Fraction(best, state.den**2))


# ---------------------------------------------------------------------------------------------------------------------
# Hardmax: selections and branches (section 4)
# ---------------------------------------------------------------------------------------------------------------------


class First(NamedTuple):
    """`t`, `component`, `lhs`, `rhs` of a first failure."""

    t: int
    component: int
    lhs: Fraction
    rhs: Fraction


class Branch(NamedTuple):
    """One branch: run-length selections and what it proves. Exactly one of freeze, separation for `for-all`."""

    runs: list[tuple[int, tuple[int, ...]]]
    first: First | None
    freeze: tuple[int, int] | None
    separation: tuple[int, Vector, Fraction] | None
    fails_from: int
    by_component: list[int]

    @property
    def steps(self) -> int:
        """How many explicit steps the branch takes."""
        return sum(count for count, _ in self.runs)


class Walk(NamedTuple):
    """What following a branch shows: admitted classes and failures per step, the energies asked for, the last state."""

    sequence: list[tuple[int, ...]]
    admitted: list[list[list[int]]]
    failures: list[list[bool]]
    energies: Energies
    state: Scaled


def read_runs(value: Any, where: str, size: int) -> list[tuple[int, tuple[int, ...]]]:
    """`selections`: neighbouring runs differ, so that every branch is written in one way."""
    runs: list[tuple[int, tuple[int, ...]]] = []
    for k, entry in enumerate(array(value, where, 0, EXPLICIT_STEPS)):
        here = f"{where}[{k}]"
        run = fields(entry, here, "steps targets")
        count = counter(run["steps"], f"{here}.steps")
        if count < 1:
            raise Malformed("shape", f"{here}.steps is 0")
        rows = sized(run["targets"], f"{here}.targets", size)
        targets = tuple(counter(target, f"{here}.targets[{i}]", size) for i, target in enumerate(rows))
        if runs and runs[-1][1] == targets:
            raise Malformed("shape", f"{here} has the targets of the run before")
        runs.append((count, targets))
    return runs


def read_first(value: dict[str, Any], where: str, size: int) -> First:
    """The four fields of a first failure."""
    return First(
        counter(value["t"], f"{where}.t"),
        counter(value["component"], f"{where}.component", size),
        rational(value["lhs"], f"{where}.lhs", CERTIFICATE_DIGITS),
        rational(value["rhs"], f"{where}.rhs", CERTIFICATE_DIGITS),
    )


def read_counters(value: Any, where: str, size: int) -> list[int]:
    """A list of counters, one a component."""
    return [counter(entry, f"{where}[{i}]") for i, entry in enumerate(sized(value, where, size))]


def read_violation_branch(value: Any, where: str, problem: Hardmax) -> Branch:
    """A branch of a `violation`."""
    found = fields(value, where, "selections t component lhs rhs")
    runs = read_runs(found["selections"], f"{where}.selections", problem.size)
    return Branch(runs, read_first(found, where, problem.size), None, None, 0, [])


def read_for_all_branch(value: Any, where: str, problem: Hardmax) -> Branch:
    """A branch of a `for-all`: with `freeze` and `first`, or with `separation`."""
    common = "selections fails_from fails_from_by_component"
    frozen = isinstance(value, dict) and "freeze" in value
    found = fields(value, where, f"{common} freeze first" if frozen else f"{common} separation")
    first = freeze = separation = None
    if frozen:
        here = fields(found["freeze"], f"{where}.freeze", "step target")
        freeze = (
            counter(here["step"], f"{where}.freeze.step"),
            counter(here["target"], f"{where}.freeze.target", problem.size),
        )
        mark = fields(found["first"], f"{where}.first", "t component lhs rhs")
        first = read_first(mark, f"{where}.first", problem.size)
    else:
        here = fields(found["separation"], f"{where}.separation", "step u delta")
        separation = (
            counter(here["step"], f"{where}.separation.step"),
            vector(here["u"], f"{where}.separation.u", problem.dimension, CERTIFICATE_DIGITS),
            rational(here["delta"], f"{where}.separation.delta", CERTIFICATE_DIGITS),
        )
    return Branch(
        read_runs(found["selections"], f"{where}.selections", problem.size),
        first,
        freeze,
        separation,
        counter(found["fails_from"], f"{where}.fails_from"),
        read_counters(found["fails_from_by_component"], f"{where}.fails_from_by_component", problem.size),
    )


def admitted_classes(state: Scaled, forms: Scaled, ties: str, meter: Meter) -> list[list[int]]:
    """For every token the classes its policy admits (section 3, "Classes and ties").

    Tokens with one image B x are one class, named by its lowest index; <B x_i, x_k> = <x_i, B x_k> by H1, so a class
    has one score, and a class with a minimiser consists of minimisers.
    """
    size, dimension = len(state.rows), len(state.rows[0])
    meter.charge(size * (size + dimension) * dimension * (1 + scaled_bits(state) // 500))
    images: dict[tuple[int, ...], int] = {}
    for k, x in enumerate(state.rows):
        images.setdefault(tuple(int_dot(row, x) for row in forms.rows), k)
    admitted = []
    for x in state.rows:
        scores = [(int_dot(image, x), name) for image, name in images.items()]
        low = min(score for score, _ in scores)
        names = [name for score, name in scores if score == low]  # ascending: insertion order is index order
        if ties == "lowest-index":
            names = names[:1]
        elif ties == "highest-index":
            names = names[-1:]
        admitted.append(names)
    return admitted


def moved(state: Scaled, targets: tuple[int, ...], gamma: Fraction) -> Scaled:
    """x_i <- (1 - gamma) x_i + gamma x_target, all tokens at once."""
    p, q = gamma.numerator, gamma.denominator
    rows = [
        [(q - p) * own + p * aim for own, aim in zip(x, state.rows[target])] for x, target in zip(state.rows, targets)
    ]
    return reduced(rows, q * state.den)


def energies_of(state: Scaled, forms: Scaled) -> Energies:
    """J = <B x, x>/2 of every token."""
    nums = [int_dot([int_dot(row, x) for row in forms.rows], x) for x in state.rows]
    return bounded_energies(nums, 2 * forms.den * state.den**2)


def follow(problem: Hardmax, branch: Branch, where: str, test: ExactTest, *, wanted: int | None) -> Walk:
    """Step through a branch; failures only where something asks for them (`wanted` is the t of its first failure)."""
    state = reduced(*scaled(problem.tokens))
    forms = [scaled(m) for m in problem.matrices]
    sequence = [targets for count, targets in branch.runs for _ in range(count)]
    admitted, failures, energies = [], [], Energies([], 1)
    for k, targets in enumerate(sequence):
        t = problem.start + k
        here = forms[min(k, len(forms) - 1)]
        names = admitted_classes(state, here, problem.ties, test.meter)
        for i, target in enumerate(targets):
            if target not in names[i]:
                raise Rejected("selection", f"{where}: at t = {t} class {target} is not admitted for token {i}")
        admitted.append(names)
        state = moved(state, targets, problem.step_at(t))
        if wanted is not None:
            values = energies_of(state, here)
            failures.append(test.failing(values, t))
            if t == wanted:
                energies = values
    return Walk(sequence, admitted, failures, energies, state)


def check_coverage(walks: list[Walk]) -> None:
    """Section 4, "Branches": by induction over prefixes every admitted selection follows exactly one branch."""
    groups = [(0, len(walks), 0)]  # branches low..high-1 share a prefix of this many steps
    while groups:
        low, high, depth = groups.pop()
        if any(len(walks[b].sequence) == depth for b in range(low, high)):
            if high - low > 1:
                steps = number_of(depth, "step", "steps")
                raise Rejected("branches", f"branch {low} shares {steps} with another and one of them ends there")
            continue
        wanted = math.prod(len(names) for names in walks[low].admitted[depth])
        after = f"branch {low}: after {number_of(depth, 'step', 'steps')}"
        if wanted > BRANCHES:
            raise Rejected("branches", f"{after} more than {BRANCHES} selections are admitted")
        starts = [b for b in range(low, high) if b == low or differs(walks, b, depth)]
        for b in starts[1:]:
            if walks[b - 1].sequence[depth] > walks[b].sequence[depth]:
                raise Rejected("branches", f"branches {b - 1} and {b} are not in lexicographic order")
        # the listed targets are admitted (follow) and distinct (ascending), so equal numbers mean equal sets
        if len(starts) != wanted:
            admitted = "selection is" if wanted == 1 else "selections are"
            raise Rejected("branches", f"{after} {wanted} {admitted} admitted, {len(starts)} listed")
        groups.extend((b, end, depth + 1) for b, end in zip(starts, [*starts[1:], high]))


def differs(walks: list[Walk], b: int, depth: int) -> bool:
    """Whether branch b selects otherwise at this step than the branch before it."""
    return walks[b - 1].sequence[depth] != walks[b].sequence[depth]


def check_first(first: First, where: str, energies: Energies, test: ExactTest) -> None:
    """The sides of a first failure, and that the component is the lowest that fails."""
    flags = test.failing(energies, first.t)
    if not any(flags):
        raise Rejected("inequality", f"{where}: no component fails at t = {first.t}")
    if flags.index(True) != first.component:
        raise Rejected("first", f"{where}: the lowest component failing at t = {first.t} is {flags.index(True)}")
    if first.lhs != energies.value(first.component):
        raise Rejected("side", f"{where}: lhs is not the energy of component {first.component} at t = {first.t}")
    if first.rhs != test.right_side(first.t):
        raise Rejected("side", f"{where}: rhs is not 2*lambda_bound*D^2/(t+1) at t = {first.t}")
    if not first.lhs > first.rhs:
        raise Rejected("inequality", f"{where}: lhs is not above rhs")


def first_lines(first: First, name: str) -> list[str]:
    """The compared numbers of a first failure."""
    return [
        f"{name}t = {first.t}, component {first.component}: lhs = {side_text(first.lhs)}",
        f"{name}t = {first.t}, component {first.component}: rhs = {side_text(first.rhs)}",
    ]


def bound_line(test: ExactTest) -> str:
    """What is known about lambda_max."""
    relation = "=" if test.sharp else "<="
    return f"lambda_max(B^t0) {relation} {side_text(test.bound)}, D^2 = {side_text(test.square_diameter)}"


def prepare_hardmax(
    certificate: dict[str, Any], problem: Hardmax, *, for_all: bool
) -> tuple[Vector, Fraction, list[Branch]]:
    """The fields common to both kinds, read before any condition is looked at."""
    weights = vector(certificate["weights"], "weights", problem.size, CERTIFICATE_DIGITS)
    bound = rational(certificate["lambda_bound"], "lambda_bound", CERTIFICATE_DIGITS)
    read = read_for_all_branch if for_all else read_violation_branch
    rows = array(certificate["branches"], "branches", 1, BRANCHES)
    branches = [read(entry, f"branches[{b}]", problem) for b, entry in enumerate(rows)]
    if sum(branch.steps for branch in branches) > EXPLICIT_STEPS:
        raise Malformed("too-large", f"the branches take more than {EXPLICIT_STEPS} explicit steps together")
    return weights, bound, branches


def check_hardmax_violation(certificate: dict[str, Any], problem: Hardmax, report: Report, meter: Meter) -> str:
    """Section 4, "violation": in every branch the inequality fails at t, for the first time."""
    fields(certificate, "the certificate", "schema kind problem weights lambda_bound branches")
    weights, bound, branches = prepare_hardmax(certificate, problem, for_all=False)
    describe_hardmax(problem, report)
    check_hardmax_hypotheses(problem, weights, report, meter)
    test = ExactTest(problem, bound, meter)
    walks = []
    for b, branch in enumerate(branches):
        where = f"branches[{b}]"
        first = branch.first
        assert first is not None
        if branch.steps != first.t - problem.start + 1:
            raise Rejected(
                "selection", f"{where}: selections must have t - t0 + 1 = {first.t - problem.start + 1} steps"
            )
        walk = follow(problem, branch, where, test, wanted=first.t)
        for k, flags in enumerate(walk.failures[:-1]):
            if any(flags):
                raise Rejected(
                    "first", f"{where}: component {flags.index(True)} fails already at t = {problem.start + k}"
                )
        check_first(first, where, walk.energies, test)
        walks.append(walk)
    check_coverage(walks)
    claim = CLAIM_TEXT[problem.claim]
    report.add("Sides", bound_line(test))
    for b, branch in enumerate(branches):
        assert branch.first is not None
        report.add("Sides", *first_lines(branch.first, f"branch {b}: " if len(branches) > 1 else ""))
    times = [branch.first.t for branch in branches if branch.first is not None]
    if len(branches) == 1:
        component = branches[0].first.component if branches[0].first else 0
        report.add(
            "Statement",
            f"the claim says {claim}; it fails at t = {times[0]} for component {component}, for the first time",
        )
        return f"the inequality above fails at t = {times[0]}"
    report.add("Statement", f"the claim says {claim}; for every selection at ties it fails, first at the steps listed")
    return f"the inequality above fails for every selection, at t = {', '.join(str(t) for t in times)}"


# ---------------------------------------------------------------------------------------------------------------------
# Hardmax: what lasts for ever (section 4, "for-all")
# ---------------------------------------------------------------------------------------------------------------------

Poly = list[int]  # coefficients, constant first


def poly_product(*factors: Poly) -> Poly:
    """The product of polynomials."""
    out = [1]
    for factor in factors:
        fresh = [0] * (len(out) + len(factor) - 1)
        for i, p in enumerate(out):
            for j, q in enumerate(factor):
                fresh[i + j] += p * q
        out = fresh
    return out


def poly_sum(*terms: tuple[int, Poly]) -> Poly:
    """A linear combination of polynomials."""
    out = [0] * max(len(poly) for _, poly in terms)
    for factor, poly in terms:
        for k, coefficient in enumerate(poly):
            out[k] += factor * coefficient
    return out


class Tail:
    """The orbit after a freeze at s: 2 e_i(t) = c0 + c1 r + c2 r^2 with r = r(t+1), for t >= s."""

    def __init__(self, problem: Hardmax, state: Scaled, s: int, v: int, test: ExactTest) -> None:
        """Conditions 1 and 2 hold already; condition 3 is checked here."""
        self.problem, self.s, self.test = problem, s, test
        tokens = unscaled(state)
        last = problem.matrices[-1]
        dimension = problem.dimension
        test.meter.charge(len(tokens) * dimension * dimension * (1 + scaled_bits(state) // 500))
        image = apply(last, tokens[v])
        self.c0 = dot(image, tokens[v])
        if not self.c0 > 0:
            raise Rejected("freeze", f"token {v} has energy 0 at step {s}, so nothing fails in the end")
        gaps = [minus(x, tokens[v]) for x in tokens]
        self.c1 = [fit(2 * dot(image, gap)) for gap in gaps]
        self.c2 = [form(last, gap) for gap in gaps]
        self.scaled = scaled([[self.c0], self.c1, self.c2])
        self.length = scaled_bits(self.scaled)
        kappas = {"2/(t+2)": s * (s + 1), "2/(t+1)": s * (s - 1), "1/(t+2)": s + 1}
        self.kappa = Fraction(kappas.get(problem.step, 0))

    def ratio(self, t: int) -> Fraction:
        """r(t+1), the part of the differences left after the step at t."""
        if self.problem.step == "2/(t+2)":
            return self.kappa / ((t + 1) * (t + 2))
        if self.problem.step == "2/(t+1)":
            return self.kappa / (t * (t + 1))
        if self.problem.step == "1/(t+2)":
            return self.kappa / (t + 2)
        assert self.problem.gamma is not None
        base, power = 1 - self.problem.gamma, t + 1 - self.s
        # 0 and 1 stay as small as they are; for others the page's estimate, power times the bit length
        length = max((part.bit_length() for part in (base.numerator, base.denominator) if part > 1), default=0)
        if power * length > COMPUTED_BITS:
            raise Malformed("too-large", f"the power (1 - gamma)^{power} is too long; use separation")
        return Fraction(base.numerator**power if length else 0, base.denominator**power if length else 1)

    def energies(self, t: int, components: Sequence[int]) -> Energies:
        """e_i(t) of some components, t >= s."""
        r = self.ratio(t)
        p, q = r.numerator, r.denominator
        long = (self.length + 2 * q.bit_length()) // 500
        self.test.meter.charge(len(components) * (self.problem.dimension**3 + 10 * (1 + long)))
        (constant, *_), linear, square = self.scaled.rows
        nums = [constant * q * q + linear[i] * p * q + square[i] * p * p for i in components]
        return bounded_energies(nums, 2 * self.scaled.den * q * q)

    def polynomial(self, i: int, m: int) -> Poly:
        """P_i(m + z) in z, times a positive integer: positive iff (t+1) 2 e_i(t) > theta at t = m + z."""
        self.test.meter.charge(10 * (1 + self.length // 500))
        t0, t1, t2 = ([m + k, 1] for k in (0, 1, 2))
        (first, *_), linear, square = self.scaled.rows
        times, kappa = self.test.theta.denominator, self.kappa.numerator
        c0, c1, c2 = first * times, linear[i] * times * kappa, square[i] * times * kappa**2
        theta = -self.test.theta.numerator * self.scaled.den
        if self.problem.step == "2/(t+2)":
            return poly_sum(
                (c0, poly_product(t1, t1, t2, t2)),
                (c1, poly_product(t1, t2)),
                (c2, [1]),
                (theta, poly_product(t1, t2, t2)),
            )
        if self.problem.step == "2/(t+1)":
            return poly_sum(
                (c0, poly_product(t0, t0, t1, t1)),
                (c1, poly_product(t0, t1)),
                (c2, [1]),
                (theta, poly_product(t0, t0, t1)),
            )
        return poly_sum(
            (c0, poly_product(t1, t2, t2)), (c1, poly_product(t1, t2)), (c2, t1), (theta, poly_product(t2, t2))
        )

    def positive_from(self, i: int, m: int) -> bool:
        """All coefficients of P_i(m + z) >= 0 and the constant one > 0; stays true for larger m."""
        coefficients = self.polynomial(i, m)
        return coefficients[0] > 0 and min(coefficients) >= 0

    def cut(self, i: int, m: int) -> int:
        """The smallest cut m' >= m of condition 4(c); the times between count as tail times."""
        if self.problem.gamma is not None:
            return max(m, self.s, self.test.theta // self.c0)
        if self.positive_from(i, m):
            return m
        low, high = m, m + self.test.meter.tails_left()
        if high == low or not self.positive_from(i, high):
            raise Malformed("too-large", f"component {i}: more than {TAIL_TIMES} tail times before a cut")
        while high - low > 1:  # not positive at low, positive at high
            middle = (low + high) // 2
            if self.positive_from(i, middle):
                high = middle
            else:
                low = middle
        return high


class Frozen:
    """A branch with `freeze`: explicit failures before s, the tail from s on, seen as one orbit."""

    def __init__(self, problem: Hardmax, branch: Branch, walk: Walk, where: str, test: ExactTest) -> None:
        self.start, self.where, self.test, self.walk = problem.start, where, test, walk
        self.size = problem.size
        assert branch.freeze is not None
        self.s, v = branch.freeze
        check_last_step(problem, branch, self.s, where, code="freeze")
        if problem.step in ("2/(t+2)", "2/(t+1)") and self.s < problem.start + 1:
            raise Rejected("freeze", f"{where}: with the step {problem.step} the freeze must come after the first step")
        names = admitted_classes(walk.state, scaled(problem.matrices[-1]), problem.ties, test.meter)
        for i, classes in enumerate(names):
            if classes != [v]:
                raise Rejected("freeze", f"{where}: at step {self.s} token {i} does not choose class {v} alone")
        self.tail = Tail(problem, walk.state, self.s, v, test)

    def energies(self, t: int) -> Energies:
        """e_i(t); explicit energies are kept only at the t of `first`."""
        return self.tail.energies(t, range(self.size)) if t >= self.s else self.walk.energies

    def fails(self, i: int, t: int) -> bool:
        """Whether component i fails at t."""
        if t < self.s:
            return self.walk.failures[t - self.start][i]
        return self.test.fails(self.tail.energies(t, [i]).value(0), t)

    def any_fails(self, t: int) -> bool:
        """Whether some component fails at t."""
        if t < self.s:
            return any(self.walk.failures[t - self.start])
        return self.test.any_fails(self.energies(t), t)

    def check_component(self, i: int, claimed: int) -> None:
        """Condition 4: component i fails at every t >= claimed and not at claimed - 1."""
        where = f"{self.where}.fails_from_by_component[{i}]"
        if claimed < self.start:
            raise Rejected("fails-from", f"{where} is before t0")
        if claimed > self.start and self.fails(i, claimed - 1):
            raise Rejected("fails-from", f"{where}: component {i} fails already at t = {claimed - 1}")
        for t in range(claimed, self.s):
            if not self.fails(i, t):
                raise Rejected("fails-from", f"{where}: component {i} does not fail at t = {t}")
        m = max(claimed, self.s)
        end = self.tail.cut(i, m)
        self.test.meter.tails(end - m)
        for t in range(m, end):
            if not self.fails(i, t):
                raise Rejected("fails-from", f"{where}: component {i} does not fail at t = {t}")

    def check_from(self, claimed: int, earliest: int) -> None:
        """Condition 5: from `claimed` on some component fails at every step, and not one step earlier."""
        where = f"{self.where}.fails_from"
        if not self.start <= claimed <= earliest:
            raise Rejected("fails-from", f"{where} is not between t0 and the smallest entry by component")
        self.test.meter.tails(earliest - max(claimed, self.s))
        for t in range(claimed, earliest):
            if not self.any_fails(t):
                raise Rejected("fails-from", f"{where}: no component fails at t = {t}")
        if claimed > self.start and self.any_fails(claimed - 1):
            raise Rejected("fails-from", f"{where}: a component fails already at t = {claimed - 1}")

    def check_first(self, first: First) -> None:
        """Condition 6: no component fails before first.t; for two steps convexity leaves two ends to check."""
        where = f"{self.where}.first"
        if first.t < self.start:
            raise Rejected("first", f"{where}.t is before t0")
        times = list(range(self.start, min(first.t, self.s)))
        if first.t > self.s:
            if self.tail.problem.step in ("2/(t+2)", "2/(t+1)"):
                times += [self.s, first.t - 1]
            else:
                self.test.meter.tails(first.t - self.s)
                times += range(self.s, first.t)
        for t in times:
            if self.any_fails(t):
                raise Rejected("first", f"{where}: a component fails already at t = {t}")
        check_first(first, where, self.energies(first.t), self.test)


def check_last_step(problem: Hardmax, branch: Branch, s: int, where: str, code: str) -> None:
    """Condition 1: s is where the selections end, and B is constant from s on."""
    if s != problem.start + branch.steps:
        raise Rejected(code, f"{where}: the step is not t0 plus the steps in selections")
    if s < problem.start + len(problem.matrices) - 1:
        raise Rejected(code, f"{where}: B still changes after step {s}")


def check_separation(problem: Hardmax, branch: Branch, walk: Walk, where: str, test: ExactTest) -> None:
    """Section 4, "separation": <u, x>_B >= delta on the hull at s, hence on every later hull."""
    assert branch.separation is not None
    s, u, delta = branch.separation
    check_last_step(problem, branch, s, where, code="separation")
    if not delta > 0:
        raise Rejected("separation", f"{where}: delta is not positive")
    b = max(bits(u), scaled_bits(walk.state))
    test.meter.charge(problem.dimension * (problem.dimension + problem.size) * (1 + b // 500))
    image = apply(problem.matrices[-1], u)
    for k, x in enumerate(unscaled(walk.state)):
        if not dot(image, x) >= delta:
            raise Rejected("separation", f"{where}: token {k} at step {s} is not separated by delta")
    square = dot(image, u)
    start = max(s, fit(test.theta * square / fit(delta * delta)) // 1)  # smallest t >= s, (t+1) delta^2 > theta |u|^2
    if branch.fails_from != start:
        raise Rejected("fails-from", f"{where}.fails_from is not the smallest step of the bound")
    if any(entry != start for entry in branch.by_component):
        raise Rejected("fails-from", f"{where}.fails_from_by_component does not repeat the smallest step of the bound")


def check_for_all(certificate: dict[str, Any], problem: Hardmax, report: Report, meter: Meter) -> str:
    """Section 4, "for-all": at every t >= T some component breaks the claim, whatever is selected at ties."""
    listed = "schema kind problem weights lambda_bound branches fails_from fails_from_by_component"
    fields(certificate, "the certificate", listed)
    weights, bound, branches = prepare_hardmax(certificate, problem, for_all=True)
    fails_from = counter(certificate["fails_from"], "fails_from")
    by_component = read_counters(certificate["fails_from_by_component"], "fails_from_by_component", problem.size)
    describe_hardmax(problem, report)
    check_hardmax_hypotheses(problem, weights, report, meter)
    test = ExactTest(problem, bound, meter)
    walks = []
    for b, branch in enumerate(branches):
        where = f"branches[{b}]"
        walk = follow(problem, branch, where, test, wanted=branch.first.t if branch.first else None)
        walks.append(walk)
        if branch.first is None:
            check_separation(problem, branch, walk, where, test)
            continue
        frozen = Frozen(problem, branch, walk, where, test)
        for i, claimed in enumerate(branch.by_component):
            frozen.check_component(i, claimed)
        frozen.check_from(branch.fails_from, min(branch.by_component))
        frozen.check_first(branch.first)
    check_coverage(walks)
    if fails_from != max(branch.fails_from for branch in branches):
        raise Rejected("fails-from", "fails_from is not the largest over the branches")
    if by_component != [max(column) for column in zip(*(branch.by_component for branch in branches))]:
        raise Rejected("fails-from", "fails_from_by_component is not the largest over the branches, by component")
    report.add("Sides", bound_line(test))
    for b, branch in enumerate(branches):
        name = f"branch {b}: " if len(branches) > 1 else ""
        if branch.first is not None:
            report.add("Sides", *first_lines(branch.first, f"{name}first "))
        else:
            report.add("Sides", f"{name}separation proves failure at every t >= {branch.fails_from}")
    report.add("Sides", f"by component from t = {', '.join(str(t) for t in by_component)}")
    smallest = f"; {fails_from} is the smallest such step" if all(branch.first for branch in branches) else ""
    report.add(
        "Statement",
        f"the claim says {CLAIM_TEXT[problem.claim]}; at every t >= {fails_from} some component breaks it, "
        f"for every admitted selection{smallest}",
    )
    return f"the inequality above fails at every t >= {fails_from}"


# ---------------------------------------------------------------------------------------------------------------------
# Maps: problem and claims (section 5)
# ---------------------------------------------------------------------------------------------------------------------

RELATIONS = (">", ">=")
MAP_SYMBOLS = ("z_0: state.z", "M, c, guards: parameters.map", "claim: claim", "set S_k: shape")


class Guard(NamedTuple):
    """a.z + b > 0, or >= 0."""

    a: Vector
    b: Fraction
    relation: str

    def holds(self, value: Fraction | int) -> bool:
        """Whether the guard holds where a.z + b has this value."""
        return value > 0 or (value == 0 and self.relation == ">=")

    def at(self, z: Vector) -> Fraction:
        """a.z + b."""
        return fit(dot(self.a, z) + self.b)


class Piece(NamedTuple):
    """One branch of a phase: guards and z <- M z + c."""

    guards: list[Guard]
    M: Matrix
    c: Vector

    def image(self, z: Vector) -> Vector:
        """M z + c."""
        return plus(apply(self.M, z), self.c)


class Claim(NamedTuple):
    """A claim of section 5; `vector` is the point or h, `number` is g."""

    name: str
    vector: Vector
    number: Fraction

    @property
    def text(self) -> str:
        """The claim in words."""
        return {
            "converges-to": f"z_t -> {vector_text(self.vector)}",
            "converges": "z_t has a limit",
            "bounded": "sup |z_t| < infinity",
            "limit-points-stationary": "grad f = 0 at every limit point of z_t",
            "stays-below": "h.z_t <= g for every t",
        }[self.name]


class MapProblem(NamedTuple):
    """A piecewise-affine problem; `hypotheses` are read but not yet checked."""

    phases: list[list[Piece]]
    hypotheses: list[dict[str, Any]]
    z: Vector
    claim: Claim

    @property
    def dimension(self) -> int:
        """m."""
        return len(self.z)

    def hypothesis(self, *kinds: str) -> dict[str, Any] | None:
        """The first hypothesis of one of these kinds."""
        return next((h for h in self.hypotheses if h["kind"] in kinds), None)


def read_map_problem(problem: dict[str, Any]) -> MapProblem:
    """The fields of a piecewise-affine problem."""
    if "ties" in problem:
        raise Malformed("schema", 'problem has a field "ties", which is for hardmax only')
    parameters = fields(problem["parameters"], "problem.parameters", "map hypotheses")
    state = fields(problem["state"], "problem.state", "z")
    z = free_vector(state["z"], "problem.state.z", PROBLEM_DIGITS)
    phases = []
    for q, pieces in enumerate(array(parameters["map"], "problem.parameters.map", 1, PHASES)):
        where = f"problem.parameters.map[{q}]"
        rows = array(pieces, where, 1, MAP_BRANCHES)
        phases.append([read_piece(piece, f"{where}[{k}]", len(z)) for k, piece in enumerate(rows)])
    listed = array(parameters["hypotheses"], "problem.parameters.hypotheses", 0, MAP_HYPOTHESES)
    hypotheses = [read_hypothesis(h, f"problem.parameters.hypotheses[{k}]") for k, h in enumerate(listed)]
    if sum(h["kind"] in DERIVING for h in hypotheses) > 1:
        raise Malformed("shape", "more than one hypothesis derives the map")
    return MapProblem(phases, hypotheses, z, read_claim(problem["claim"], len(z)))


def read_piece(value: Any, where: str, m: int) -> Piece:
    """One branch of a phase."""
    found = fields(value, where, "guards M c")
    guards = []
    for k, entry in enumerate(array(found["guards"], f"{where}.guards", 0, GUARDS)):
        here = f"{where}.guards[{k}]"
        guard = fields(entry, here, "a b relation")
        guards.append(
            Guard(
                vector(guard["a"], f"{here}.a", m, PROBLEM_DIGITS),
                rational(guard["b"], f"{here}.b", PROBLEM_DIGITS),
                choice(guard["relation"], f"{here}.relation", RELATIONS),
            )
        )
    return Piece(
        guards,
        matrix(found["M"], f"{where}.M", m, m, PROBLEM_DIGITS),
        vector(found["c"], f"{where}.c", m, PROBLEM_DIGITS),
    )


CLAIM_FIELDS = {
    "converges-to": "name point",
    "converges": "name",
    "bounded": "name",
    "limit-points-stationary": "name",
    "stays-below": "name h g",
}


def read_claim(value: Any, m: int) -> Claim:
    """The claim of a map."""
    where = "problem.claim"
    if not isinstance(value, dict) or "name" not in value:
        raise Malformed("schema", f"{where} is not an object with a name")
    name = choice(value["name"], f"{where}.name", tuple(CLAIM_FIELDS))
    found = fields(value, where, CLAIM_FIELDS[name])
    if name == "converges-to":
        return Claim(name, vector(found["point"], f"{where}.point", m, PROBLEM_DIGITS), Fraction(0))
    if name == "stays-below":
        number = rational(found["g"], f"{where}.g", PROBLEM_DIGITS)
        return Claim(name, vector(found["h"], f"{where}.h", m, PROBLEM_DIGITS), number)
    return Claim(name, [], Fraction(0))


def describe_map(problem: MapProblem, report: Report) -> None:
    """The lines `Symbols:` and `Data:`, every branch as used."""
    if "Symbols" not in report.parts:
        report.add("Symbols", *MAP_SYMBOLS)
    report.add("Data", "system: piecewise-affine")
    for q, pieces in enumerate(problem.phases):
        for k, piece in enumerate(pieces):
            report.add("Data", f"phase {q}, branch {k}: M = {matrix_text(piece.M)}, c = {vector_text(piece.c)}")
            report.add(
                "Data",
                *(f"  where {vector_text(g.a)}.z + {number_text(g.b)} {g.relation} 0" for g in piece.guards),
            )
    report.add("Data", f"z_0 = {vector_text(problem.z)}", f"claim: {problem.claim.text}")
    if problem.claim.name == "stays-below":
        report.add("Data", f"h = {vector_text(problem.claim.vector)}, g = {number_text(problem.claim.number)}")


# ---------------------------------------------------------------------------------------------------------------------
# Maps: hypotheses and the maps they derive (section 5)
# ---------------------------------------------------------------------------------------------------------------------

DERIVING = ("heavy-ball", "coordinate-minimisation", "gradient-descent-ascent", "three-block-admm")
COMPARISONS = ("<", "<=", "=", "!=")


def read_hypothesis(value: Any, where: str) -> dict[str, Any]:
    """One hypothesis, its texts turned into numbers, its lengths checked."""
    if not isinstance(value, dict) or "kind" not in value:
        raise Malformed("schema", f"{where} is not an object with a kind")
    kind = choice(value["kind"], f"{where}.kind", (*DERIVING, "psd", "inequality"))
    return {"kind": kind, **HYPOTHESIS_READERS[kind](value, where)}


def numbers_of(found: dict[str, Any], where: str, names: str) -> dict[str, Any]:
    """Several rational fields."""
    return {name: rational(found[name], f"{where}.{name}", PROBLEM_DIGITS) for name in names.split()}


def read_heavy_ball(value: Any, where: str) -> dict[str, Any]:
    """`heavy-ball`: k breaks and k + 1 slopes; `value` is f' at the first break, so there is one."""
    found = fields(value, where, "kind breaks slopes value alpha beta mu L tuning")
    breaks = array(found["breaks"], f"{where}.breaks", 1, MAP_BRANCHES - 1)
    return {
        "breaks": vector(breaks, f"{where}.breaks", len(breaks), PROBLEM_DIGITS),
        "slopes": vector(found["slopes"], f"{where}.slopes", len(breaks) + 1, PROBLEM_DIGITS),
        "tuning": choice(found["tuning"], f"{where}.tuning", ("optimal-for-quadratics", "none")),
        **numbers_of(found, where, "value alpha beta mu L"),
    }


def read_coordinate_minimisation(value: Any, where: str) -> dict[str, Any]:
    """`coordinate-minimisation`."""
    found = fields(value, where, "kind A")
    return {"A": square_matrix(found["A"], f"{where}.A", PROBLEM_DIGITS)}


def read_descent_ascent(value: Any, where: str) -> dict[str, Any]:
    """`gradient-descent-ascent`."""
    found = fields(value, where, "kind A eta order")
    return {
        "A": free_matrix(found["A"], f"{where}.A", PROBLEM_DIGITS),
        "order": choice(found["order"], f"{where}.order", ("simultaneous", "alternating")),
        **numbers_of(found, where, "eta"),
    }


def read_admm(value: Any, where: str) -> dict[str, Any]:
    """`three-block-admm`: rows of three entries."""
    found = fields(value, where, "kind A beta")
    rows = array(found["A"], f"{where}.A", 1, DIMENSION)
    return {
        "A": matrix(rows, f"{where}.A", len(rows), 3, PROBLEM_DIGITS),
        **numbers_of(found, where, "beta"),
    }


def read_psd(value: Any, where: str) -> dict[str, Any]:
    """`psd`."""
    found = fields(value, where, "kind name matrix strict")
    if not isinstance(found["strict"], bool):
        raise Malformed("schema", f"{where}.strict is not true or false")
    return {
        "name": text_of(found["name"], f"{where}.name", NAME_CHARACTERS),
        "matrix": square_matrix(found["matrix"], f"{where}.matrix", PROBLEM_DIGITS),
        "strict": found["strict"],
    }


def read_inequality(value: Any, where: str) -> dict[str, Any]:
    """`inequality`."""
    found = fields(value, where, "kind name left relation right")
    return {
        "name": text_of(found["name"], f"{where}.name", NAME_CHARACTERS),
        "relation": choice(found["relation"], f"{where}.relation", COMPARISONS),
        **numbers_of(found, where, "left right"),
    }


HYPOTHESIS_READERS = {
    "heavy-ball": read_heavy_ball,
    "coordinate-minimisation": read_coordinate_minimisation,
    "gradient-descent-ascent": read_descent_ascent,
    "three-block-admm": read_admm,
    "psd": read_psd,
    "inequality": read_inequality,
}


def need(condition: bool, sentence: str) -> None:  # noqa: FBT001 -- reads as a sentence
    """A hypothesis must hold."""
    if not condition:
        raise Rejected("hypothesis", sentence)


def square_root(value: Fraction) -> Fraction | None:
    """The rational square root of a number > 0, if there is one."""
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    exact = top * top == value.numerator and bottom * bottom == value.denominator
    return Fraction(top, bottom) if exact else None


def offsets(h: dict[str, Any]) -> Vector:
    """o_i of `heavy-ball`: f'(x) = g_i x + o_i on piece i, continuous."""
    slopes, out = h["slopes"], [fit(h["value"] - h["slopes"][0] * h["breaks"][0])]
    for i, point in enumerate(h["breaks"], start=1):
        out.append(fit(out[-1] + (slopes[i - 1] - slopes[i]) * point))
    return out


def derive_heavy_ball(h: dict[str, Any], meter: Meter) -> list[list[Piece]]:
    """The heavy-ball map on a piecewise quadratic f, with the conditions on f and on the parameters."""
    meter.charge(len(h["slopes"]) * 10)
    breaks, slopes, alpha, beta = h["breaks"], h["slopes"], h["alpha"], h["beta"]
    need(all(p < q for p, q in zip(breaks, breaks[1:])), "heavy-ball: the breaks do not increase")
    need(0 < h["mu"] <= h["L"], "heavy-ball: not 0 < mu <= L")
    need(all(h["mu"] <= slope <= h["L"] for slope in slopes), "heavy-ball: a slope is outside [mu, L]")
    need(alpha > 0, "heavy-ball: alpha is not positive")
    need(0 <= beta < 1, "heavy-ball: beta is not in [0, 1)")
    if h["tuning"] == "optimal-for-quadratics":
        low, high = square_root(h["mu"]), square_root(h["L"])
        need(low is not None and high is not None, "heavy-ball: mu or L is not the square of a rational number")
        assert low is not None
        assert high is not None
        need(alpha * (high + low) ** 2 == 4, "heavy-ball: alpha is not 4/(sqrt L + sqrt mu)^2")
        need(beta * (high + low) ** 2 == (high - low) ** 2, "heavy-ball: beta is not the optimal one")
    one, zero = Fraction(1), Fraction(0)
    pieces = []
    for i, (slope, offset) in enumerate(zip(slopes, offsets(h))):
        guards = []
        if i > 0:
            guards.append(Guard([one, zero], -breaks[i - 1], ">="))
        if i < len(breaks):
            guards.append(Guard([-one, zero], breaks[i], ">"))
        pieces.append(Piece(guards, [[1 - alpha * slope + beta, -beta], [one, zero]], [-alpha * offset, zero]))
    return [pieces]


def derive_coordinate_minimisation(h: dict[str, Any], meter: Meter) -> list[list[Piece]]:
    """Phase p minimises f along x_p: x_p <- sign(sigma) + sigma/2, sigma = -(row p of A).x."""
    rows, size = h["A"], len(h["A"])
    meter.charge(size**3)
    need(symmetric(rows), "coordinate-minimisation: A is not symmetric")
    need(all(rows[p][p] == 0 for p in range(size)), "coordinate-minimisation: the diagonal of A is not zero")
    phases = []
    for p, row in enumerate(rows):
        sigma = [-entry for entry in row]
        M = [unit(size, k) if k != p else [entry / 2 for entry in sigma] for k in range(size)]
        step = unit(size, p)
        phases.append(
            [
                Piece([Guard(sigma, Fraction(0), ">")], M, step),
                Piece([Guard(list(row), Fraction(0), ">")], M, [-entry for entry in step]),
            ]
        )
    return phases


def derive_descent_ascent(h: dict[str, Any], meter: Meter) -> list[list[Piece]]:
    """x' = x - eta A y; y' = y + eta A^T x, with x' in place of x if alternating."""
    A, eta = h["A"], h["eta"]
    m, n = len(A), len(A[0])
    meter.charge(m * n * (m + n))
    need(eta > 0, "gradient-descent-ascent: eta is not positive")
    x_rows = [[*unit(m, i), *(-eta * entry for entry in A[i])] for i in range(m)]
    seen = x_rows if h["order"] == "alternating" else [unit(m + n, i) for i in range(m)]
    y_rows = []
    for j, column in enumerate(transpose(A)):
        row = unit(m + n, m + j)
        for i, entry in enumerate(column):
            row = plus(row, scale(eta * entry, seen[i]))
        y_rows.append(row)
    return [[Piece([], x_rows + y_rows, [Fraction(0)] * (m + n))]]


def derive_admm(h: dict[str, Any], meter: Meter) -> list[list[Piece]]:
    """Three-block ADMM on a_1 x_1 + a_2 x_2 + a_3 x_3 = 0, as rows acting on the state (x_2, x_3, lambda)."""
    beta, count = h["beta"], len(h["A"])
    columns = transpose(h["A"])
    need(rank_of(h["A"], meter) == 3, "three-block-admm: the columns of A are not independent")
    need(beta > 0, "three-block-admm: beta is not positive")
    size = 2 + count
    meter.charge(10 * count * size)
    # functionals of the state, replaced by their updates one after another; x_1 is not part of the state
    x: list[Vector] = [[Fraction(0)] * size, unit(size, 0), unit(size, 1)]
    multiplier = [unit(size, 2 + r) for r in range(count)]
    for k in range(3):
        total = [Fraction(0)] * size
        for r in range(count):
            residual = scale(1 / beta, multiplier[r])
            for other in range(3):
                if other != k:
                    residual = minus(residual, scale(columns[other][r], x[other]))
            total = plus(total, scale(columns[k][r], residual))
        x[k] = scale(1 / dot(columns[k], columns[k]), total)
    for r in range(count):
        for k in range(3):
            multiplier[r] = minus(multiplier[r], scale(beta * columns[k][r], x[k]))
    return [[Piece([], [x[1], x[2], *multiplier], [Fraction(0)] * size)]]


DERIVERS = {
    "heavy-ball": derive_heavy_ball,
    "coordinate-minimisation": derive_coordinate_minimisation,
    "gradient-descent-ascent": derive_descent_ascent,
    "three-block-admm": derive_admm,
}


TUNING_TEXTS = {
    "optimal-for-quadratics": "tuned optimally for quadratics: alpha = 4/(sqrt L + sqrt mu)^2, "
    "beta = ((sqrt L - sqrt mu)/(sqrt L + sqrt mu))^2",
    "none": "no tuning: alpha > 0 and 0 <= beta < 1 are all that is asked",
}


def heavy_ball_text(h: dict[str, Any]) -> str:
    """The data of `heavy-ball`."""
    numbers = ", ".join(f"{name} = {number_text(h[name])}" for name in ("mu", "L", "alpha", "beta"))
    return (
        f"f' has the slopes {vector_text(h['slopes'])} between the breaks {vector_text(h['breaks'])}, "
        f"f'({number_text(h['breaks'][0])}) = {number_text(h['value'])}; {numbers}; {TUNING_TEXTS[h['tuning']]}"
    )


DATA_TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "heavy-ball": heavy_ball_text,
    "coordinate-minimisation": lambda h: f"A = {matrix_text(h['A'])}",
    "gradient-descent-ascent": lambda h: f"A = {matrix_text(h['A'])}, eta = {number_text(h['eta'])}, {h['order']}",
    "three-block-admm": lambda h: f"A = {matrix_text(h['A'])}, beta = {number_text(h['beta'])}",
}


def gradient(h: dict[str, Any], x: Vector) -> Vector:
    """The gradient of `coordinate-minimisation`: (A x)_i + 2 sign(x_i) max(|x_i| - 1, 0)."""
    bends = [(2 if entry > 0 else -2) * max(abs(entry) - 1, Fraction(0)) for entry in x]
    return plus(apply(h["A"], x), bends)


def names_solution(h: dict[str, Any], q: Vector) -> bool:
    """Whether q is a solution for the deriving hypothesis; the derived map fixes the dimension of q."""
    if h["kind"] == "heavy-ball":
        piece = sum(q[0] >= point for point in h["breaks"])
        return q[0] == q[1] and h["slopes"][piece] * q[0] + offsets(h)[piece] == 0
    if h["kind"] == "coordinate-minimisation":
        return not any(gradient(h, q))
    columns = transpose(h["A"])
    if h["kind"] == "gradient-descent-ascent":
        m = len(h["A"])
        return not any(apply(columns, q[:m])) and not any(apply(h["A"], q[m:]))
    return q[:2] == [0, 0] and not any(apply(columns, q[2:]))


def compared(left: Fraction, relation: str, right: Fraction) -> bool:
    """A comparison of two numbers."""
    return {"<": left < right, "<=": left <= right, "=": left == right, "!=": left != right}[relation]


def check_map_hypotheses(problem: MapProblem, report: Report, meter: Meter) -> None:
    """Every hypothesis of section 5, then that the map has one value at most."""
    for k, h in enumerate(problem.hypotheses):
        kind = h["kind"]
        if kind in DERIVING:
            need(DERIVERS[kind](h, meter) == problem.phases, f"{kind}: the derived map is not parameters.map")
            if problem.claim.name == "converges-to":
                meter.charge(10 * problem.dimension**2)
                need(names_solution(h, problem.claim.vector), f"{kind}: the point of the claim is not a solution")
            report.add(
                "Hypotheses", f"{kind}: {DATA_TEXTS[kind](h)}; its conditions hold and it derives exactly this map"
            )
        elif kind == "psd":
            name, word = brief(h["name"]), "positive definite" if h["strict"] else "positive semidefinite"
            need(definite(h["matrix"], meter, strict=h["strict"]), f"hypothesis {k} ({name}): the matrix is not {word}")
            report.add("Hypotheses", f"{quoted(h['name'])}: {matrix_text(h['matrix'])} is {word} (elimination)")
        else:
            name = brief(h["name"])
            need(compared(h["left"], h["relation"], h["right"]), f"hypothesis {k} ({name}): the comparison is false")
            left, right = side_text(h["left"]), side_text(h["right"])
            report.add(
                "Hypotheses",
                f"{quoted(h['name'])}: the comparison left {h['relation']} right holds: left {left}, right {right}",
            )
    check_single_valued(problem, meter)
    report.add("Hypotheses", "the branches of every phase exclude one another")


class Direction(NamedTuple):
    """A guard with a != 0 divided by a positive number so that a is a primitive integer vector."""

    a: tuple[int, ...]
    b: Fraction
    relation: str


def direction(guard: Guard) -> Direction | None:
    """The normal form that makes a' = -kappa a, kappa > 0, a comparison of integer vectors."""
    if not any(guard.a):
        return None
    row = scaled([guard.a])
    factor = math.gcd(*row.rows[0])
    return Direction(tuple(entry // factor for entry in row.rows[0]), guard.b * row.den / factor, guard.relation)


def exclusive(first: Direction, second: Direction) -> bool:
    """Adding the two guards gives 0 > or >= something that is not: both cannot hold."""
    if any(p + q for p, q in zip(first.a, second.a)):
        return False
    total = first.b + second.b
    return total < 0 or (total == 0 and not first.relation == second.relation == ">=")


def check_single_valued(problem: MapProblem, meter: Meter) -> None:
    """Section 5, "Single-valued"."""
    for q, pieces in enumerate(problem.phases):
        forms = []
        for piece in pieces:
            meter.charge(len(piece.guards) * problem.dimension)
            forms.append([form for form in map(direction, piece.guards) if form is not None])
        for (j, one), (k, two) in itertools.combinations(enumerate(forms), 2):
            meter.charge(len(one) * len(two) + 1)
            if not any(exclusive(first, second) for first in one for second in two):
                raise Rejected("map", f"phase {q}: branches {j} and {k} are not shown to exclude one another")


# ---------------------------------------------------------------------------------------------------------------------
# Maps: stepping, and `violation` of `stays-below` (section 5)
# ---------------------------------------------------------------------------------------------------------------------


class IntegerPiece(NamedTuple):
    """A branch in integers: rows [M | c] over a denominator; guards [a | b] up to positive factors."""

    step: Scaled
    guards: list[list[int]]
    piece: Piece


class Stepper:
    """The orbit of a map, one explicit step after another."""

    def __init__(self, problem: MapProblem, meter: Meter) -> None:
        self.meter = meter
        self.phases = [[integer_piece(piece) for piece in pieces] for pieces in problem.phases]
        self.guards = [sum(len(piece.guards) for piece in pieces) for pieces in problem.phases]
        self.state = reduced(*scaled([problem.z]))
        self.t = 0

    def above(self, guard: list[int]) -> bool:
        """Whether a.z_t + b > 0, for [a | b] in integers."""
        return int_dot(guard, [*self.state.rows[0], self.state.den]) > 0

    @property
    def z(self) -> Vector:
        """z_t."""
        return unscaled(self.state)[0]

    def step(self) -> None:
        """z_{t+1} by the one admissible branch at z_t."""
        phase = self.t % len(self.phases)
        values = [*self.state.rows[0], self.state.den]  # z and 1, times the denominator
        size = len(values) - 1
        self.meter.charge(size * (size + self.guards[phase]) * (1 + scaled_bits(self.state) // 500))
        for chosen in self.phases[phase]:
            signs = (int_dot(guard, values) for guard in chosen.guards)
            if all(guard.holds(sign) for guard, sign in zip(chosen.piece.guards, signs)):
                break
        else:
            raise Rejected("map", f"no branch of phase {phase} is admissible at t = {self.t}")
        fresh = [int_dot(row, values) for row in chosen.step.rows]
        self.state = reduced([fresh], chosen.step.den * self.state.den)
        self.t += 1


def integer_piece(piece: Piece) -> IntegerPiece:
    """The same branch in integers."""
    rows = scaled([[*row, shift] for row, shift in zip(piece.M, piece.c)])
    return IntegerPiece(rows, [scaled([[*guard.a, guard.b]]).rows[0] for guard in piece.guards], piece)


def bounded_steps(value: Any, where: str) -> int:
    """A number of explicit steps."""
    steps = counter(value, where)
    if steps > EXPLICIT_STEPS:
        raise Malformed("too-large", f"{where} asks for more than {EXPLICIT_STEPS} explicit steps")
    return steps


def check_map_violation(certificate: dict[str, Any], problem: MapProblem, report: Report, meter: Meter) -> str:
    """Section 5, "violation": h.z_t > g for the first time."""
    fields(certificate, "the certificate", "schema kind problem t lhs rhs")
    t = bounded_steps(certificate["t"], "t")
    lhs = rational(certificate["lhs"], "lhs", CERTIFICATE_DIGITS)
    rhs = rational(certificate["rhs"], "rhs", CERTIFICATE_DIGITS)
    if problem.claim.name != "stays-below":
        raise Rejected("claim", f"a violation does not refute the claim {problem.claim.name}")
    describe_map(problem, report)
    check_map_hypotheses(problem, report, meter)
    h, g = problem.claim.vector, problem.claim.number
    orbit = Stepper(problem, meter)
    broken = scaled([[*h, -g]]).rows[0]
    while orbit.t < t:
        if orbit.above(broken):
            raise Rejected("first", f"h.z_t is above g already at t = {orbit.t}")
        orbit.step()
    if lhs != dot(h, orbit.z):
        raise Rejected("side", f"lhs is not h.z_t at t = {t}")
    if rhs != g:
        raise Rejected("side", "rhs is not g")
    if not lhs > rhs:
        raise Rejected("inequality", f"h.z_t is not above g at t = {t}")
    report.add("Sides", f"lhs = h.z_{t} = {side_text(lhs)}", f"rhs = g = {side_text(rhs)}")
    report.add("Statement", f"the claim says {problem.claim.text}; it first fails at t = {t}")
    return f"the inequality above fails at t = {t}"


# ---------------------------------------------------------------------------------------------------------------------
# Maps: `invariant` (section 6)
# ---------------------------------------------------------------------------------------------------------------------


class Points:
    """`points`: S_k is one point."""

    def __init__(self, value: dict[str, Any], p: int, m: int) -> None:
        found = fields(value, "shape", "type points")
        rows = sized(found["points"], "shape.points", p)
        self.points = [vector(row, f"shape.points[{k}]", m, CERTIFICATE_DIGITS) for k, row in enumerate(rows)]

    def prepare(self, _cycle: list[Piece], _meter: Meter) -> None:
        """Nothing to prepare."""

    def contains(self, z: Vector) -> bool:
        """Entry: z_s is the first point."""
        return z == self.points[0]

    def guarded(self, k: int, guard: Guard) -> bool:
        """The guard holds at the point."""
        return guard.holds(guard.at(self.points[k]))

    def carried(self, k: int, piece: Piece) -> bool:
        """The point goes to the next one."""
        return piece.image(self.points[k]) == self.points[(k + 1) % len(self.points)]

    def limit_point(self, k: int) -> Vector | None:
        """Every point is visited infinitely often."""
        return self.points[k]

    def numbers(self) -> Matrix:
        """The numbers of the shape, for the meter."""
        return self.points


class Ellipsoid:
    """`ellipsoid`: (z - e_k)^T P (z - e_k) <= R."""

    def __init__(self, value: dict[str, Any], p: int, m: int) -> None:
        found = fields(value, "shape", "type P R centres")
        self.P = matrix(found["P"], "shape.P", m, m, CERTIFICATE_DIGITS)
        self.R = rational(found["R"], "shape.R", CERTIFICATE_DIGITS)
        rows = sized(found["centres"], "shape.centres", p)
        self.centres = [vector(row, f"shape.centres[{k}]", m, CERTIFICATE_DIGITS) for k, row in enumerate(rows)]

    def prepare(self, cycle: list[Piece], meter: Meter) -> None:
        """P > 0, R >= 0, and no branch of the cycle stretches the norm of P."""
        if not definite(self.P, meter, strict=True):
            raise Rejected("invariance", "P is not symmetric positive definite")
        if self.R < 0:
            raise Rejected("invariance", "R is negative")
        m = len(self.P)
        b = matrix_bits(self.P)
        done: list[Matrix] = []
        for k, piece in enumerate(cycle):
            if piece.M in done:
                continue
            done.append(piece.M)
            meter.charge(2 * m**3 * (1 + b // 500))
            shrunk = difference(self.P, product(transpose(piece.M), product(self.P, piece.M)))
            if not definite(shrunk, meter, strict=False):
                raise Rejected("invariance", f"the branch at cycle[{k}] does not contract: P - M^T P M is not >= 0")
        self.inverse = inverse(self.P, meter)
        self.meter = meter

    def contains(self, z: Vector) -> bool:
        """Entry: the inequality at z_s."""
        return form(self.P, minus(z, self.centres[0])) <= self.R

    def above(self, k: int, a: Vector, b: Fraction, *, strict: bool) -> bool:
        """a.z + b > 0 (>= 0) on S_k: its minimum is the value at the centre minus sqrt(R a^T P^-1 a)."""
        self.meter.charge(2 * len(a) ** 2 * (1 + max(bits(a), scaled_bits(self.inverse)) // 500))
        centre = fit(dot(a, self.centres[k]) + b)
        entries, den = line(a)
        inner = int_dot([int_dot(row, entries) for row in self.inverse.rows], entries)
        reach = fit(self.R * Fraction(inner, self.inverse.den * den * den))
        square = fit(centre * centre)
        return (centre > 0 and square > reach) if strict else (centre >= 0 and square >= reach)

    def guarded(self, k: int, guard: Guard) -> bool:
        """The guard holds on S_k."""
        return self.above(k, guard.a, guard.b, strict=guard.relation == ">")

    def carried(self, k: int, piece: Piece) -> bool:
        """The centre goes to the next one; the norm was settled in `prepare`."""
        return piece.image(self.centres[k]) == self.centres[(k + 1) % len(self.centres)]

    def at_least(self, k: int, h: Vector, g: Fraction) -> bool:
        """h.z >= g on S_k."""
        return self.above(k, h, -g, strict=False)

    def numbers(self) -> Matrix:
        """The numbers of the shape, for the meter."""
        return [*self.P, [self.R], *self.centres]


class Box:
    """`box`: low[k] <= z <= high[k]."""

    def __init__(self, value: dict[str, Any], p: int, m: int) -> None:
        found = fields(value, "shape", "type low high")
        sides = []
        for name in ("low", "high"):
            rows = sized(found[name], f"shape.{name}", p)
            sides.append([vector(row, f"shape.{name}[{k}]", m, CERTIFICATE_DIGITS) for k, row in enumerate(rows)])
        self.low, self.high = sides

    def prepare(self, cycle: list[Piece], _meter: Meter) -> None:
        """The boxes are not empty."""
        for k in range(len(cycle)):
            if any(p > q for p, q in zip(self.low[k], self.high[k])):
                raise Rejected("invariance", f"box {k} is empty: low is above high")

    def contains(self, z: Vector) -> bool:
        """Entry: componentwise."""
        return all(p <= x <= q for p, x, q in zip(self.low[0], z, self.high[0]))

    def least(self, k: int, a: Vector) -> Fraction:
        """The minimum of a.z on S_k, term by term."""
        total = Fraction(0)
        for entry, p, q in zip(a, self.low[k], self.high[k]):
            total = fit(total + min(entry * p, entry * q))
        return total

    def guarded(self, k: int, guard: Guard) -> bool:
        """The guard holds on S_k."""
        return guard.holds(fit(self.least(k, guard.a) + guard.b))

    def carried(self, k: int, piece: Piece) -> bool:
        """Every component of M z + c stays inside the next box."""
        after = (k + 1) % len(self.low)
        for row, shift, p, q in zip(piece.M, piece.c, self.low[after], self.high[after]):
            if fit(self.least(k, row) + shift) < p or fit(shift - self.least(k, [-entry for entry in row])) > q:
                return False
        return True

    def at_least(self, k: int, h: Vector, g: Fraction) -> bool:
        """h.z >= g on S_k."""
        return self.least(k, h) >= g

    def numbers(self) -> Matrix:
        """The numbers of the shape, for the meter."""
        return [*self.low, *self.high]


class Ray:
    """`ray`: e_k + eps u_k, 0 < eps <= 1; the centres and directions follow from the first ones."""

    def __init__(self, value: dict[str, Any], _p: int, m: int) -> None:
        found = fields(value, "shape", "type c u lambda epsilon")
        self.c = vector(found["c"], "shape.c", m, CERTIFICATE_DIGITS)
        self.u = vector(found["u"], "shape.u", m, CERTIFICATE_DIGITS)
        self.factor = rational(found["lambda"], "shape.lambda", CERTIFICATE_DIGITS)
        self.epsilon = rational(found["epsilon"], "shape.epsilon", CERTIFICATE_DIGITS)
        self.centres, self.directions = [self.c], [self.u]

    def prepare(self, cycle: list[Piece], meter: Meter) -> None:
        """Compute e_k and u_k up to k = p and close the cycle."""
        if not any(self.u):
            raise Rejected("invariance", "the direction u of the ray is zero")
        if not 0 < self.factor <= 1:
            raise Rejected("invariance", "lambda is not in (0, 1]")
        m = len(self.u)
        for piece in cycle:
            b = max(bits(self.centres[-1]), bits(self.directions[-1]))
            meter.charge(2 * m * m * (1 + b // 500))
            self.centres.append(piece.image(self.centres[-1]))
            self.directions.append(apply(piece.M, self.directions[-1]))
        if self.centres[-1] != self.c:
            raise Rejected("invariance", "the point c of the ray does not return to itself after the cycle")
        if self.directions[-1] != scale(self.factor, self.u):
            raise Rejected("invariance", "the direction u of the ray does not return to lambda*u after the cycle")

    def contains(self, z: Vector) -> bool:
        """Entry: z_s = c + epsilon u."""
        return 0 < self.epsilon <= 1 and z == plus(self.c, scale(self.epsilon, self.u))

    def guarded(self, k: int, guard: Guard) -> bool:
        """alpha + eps*beta is affine in eps: its ends decide, eps = 0 not being part of the ray."""
        alpha = guard.at(self.centres[k])
        return alpha >= 0 and guard.holds(fit(alpha + dot(guard.a, self.directions[k])))

    def carried(self, _k: int, _piece: Piece) -> bool:
        """By definition of e_k and u_k; `prepare` closed the cycle."""
        return True

    def limit_point(self, k: int) -> Vector | None:
        """e_k, if the orbit approaches it."""
        return self.centres[k] if self.factor < 1 else None

    def numbers(self) -> Matrix:
        """The numbers of the shape, for the meter."""
        return [self.c, self.u]


class Level:
    """`level`: a quadratic that every step keeps."""

    def __init__(self, value: dict[str, Any], m: int) -> None:
        found = fields(value, "shape", "type Q centre")
        self.Q = matrix(found["Q"], "shape.Q", m, m, CERTIFICATE_DIGITS)
        self.centre = vector(found["centre"], "shape.centre", m, CERTIFICATE_DIGITS)

    def value(self, z: Vector) -> Fraction:
        """(z - w)^T Q (z - w)."""
        return form(self.Q, minus(z, self.centre))

    def check(self, problem: MapProblem, meter: Meter) -> None:
        """Every phase is one affine map that keeps Q and the centre."""
        if not symmetric(self.Q):
            raise Rejected("invariance", "Q is not symmetric")
        m = len(self.Q)
        for q, pieces in enumerate(problem.phases):
            if len(pieces) != 1 or pieces[0].guards:
                raise Rejected("invariance", f"phase {q} of the map is not one branch without guards")
            meter.charge(2 * m**3 * (1 + matrix_bits(self.Q) // 500))
            M = pieces[0].M
            if product(transpose(M), product(self.Q, M)) != self.Q:
                raise Rejected("invariance", f"phase {q} of the map does not keep Q: M^T Q M is not Q")
            if pieces[0].image(self.centre) != self.centre:
                raise Rejected("invariance", f"phase {q} of the map does not keep the centre")


class Excluded(NamedTuple):
    """`excluded`: which sets contradict the claim, and by which half-spaces."""

    phase: int
    other_phase: int | None
    h: Vector
    g: Fraction
    other_g: Fraction


SHAPES: dict[str, Callable[[Any, int, int], Points | Ellipsoid | Box | Ray]] = {
    "points": Points,
    "ellipsoid": Ellipsoid,
    "box": Box,
    "ray": Ray,
}


def read_excluded(value: Any, shape: str, claim: str, p: int, m: int) -> Excluded:
    """`excluded`; `other_phase` and `other_g` stand only where section 6 lists them."""
    half = shape in ("ellipsoid", "box")
    listed = "phase h g" if half else "phase"
    if claim == "converges":
        listed += " other_phase other_g" if half else " other_phase"
    if isinstance(value, dict):
        for name in ("other_phase", "other_g"):
            if name in value and name not in listed.split():
                raise Malformed("shape", f"excluded.{name} does not belong to this shape and claim")
    found = fields(value, "excluded", listed)
    zero = Fraction(0)
    return Excluded(
        counter(found["phase"], "excluded.phase", p),
        counter(found["other_phase"], "excluded.other_phase", p) if claim == "converges" else None,
        vector(found["h"], "excluded.h", m, CERTIFICATE_DIGITS) if half else [],
        rational(found["g"], "excluded.g", CERTIFICATE_DIGITS) if half else zero,
        rational(found["other_g"], "excluded.other_g", CERTIFICATE_DIGITS) if half and claim == "converges" else zero,
    )


def check_invariant(certificate: dict[str, Any], problem: MapProblem, report: Report, meter: Meter) -> str:
    """Section 6: from step s the orbit stays in sets on which the claim is false."""
    raw = certificate.get("shape")
    if not isinstance(raw, dict) or "type" not in raw:
        raise Malformed("schema", "shape is not an object with a type")
    kind = choice(raw["type"], "shape.type", (*SHAPES, "level"))
    more = "" if kind == "level" else " cycle excluded"
    fields(certificate, "the certificate", f"schema kind problem start shape{more}")
    start = bounded_steps(certificate["start"], "start")
    if kind == "level":
        check_level(Level(raw, problem.dimension), problem, start, report, meter)
    else:
        check_sets(certificate, problem, start, report, meter)
    if kind != "level":
        report.add("Sides", f"cycle from step {start}: branches {', '.join(map(str, certificate['cycle']))}")
    report.add("Sides", f"set: {json.dumps(raw)}")  # read above, hence only listed fields and numbers
    report.add(
        "Statement",
        f"the claim says {problem.claim.text}; from step {start} the orbit stays in the set listed, where it is false",
    )
    return "the claim above fails for this start"


def check_claim(problem: MapProblem, shape: str) -> None:
    """The pairs of claim and shape that section 5 lists, and that the claim has its f."""
    name = problem.claim.name
    listed = {
        "converges-to": (*SHAPES, "level"),
        "converges": tuple(SHAPES),
        "limit-points-stationary": ("points", "ray"),
    }
    if shape not in listed.get(name, ()):
        raise Rejected("claim", f"an invariant of shape {shape} does not refute the claim {name}")
    if name == "limit-points-stationary" and problem.hypothesis("coordinate-minimisation") is None:
        raise Rejected("claim", "limit-points-stationary needs the hypothesis coordinate-minimisation")


def orbit_to(problem: MapProblem, start: int, meter: Meter) -> Vector:
    """z_s."""
    orbit = Stepper(problem, meter)
    while orbit.t < start:
        orbit.step()
    return orbit.z


def check_level(level: Level, problem: MapProblem, start: int, report: Report, meter: Meter) -> None:
    """Shape `level`: a continuous quadratic constant along the orbit has another value at the point of the claim."""
    check_claim(problem, "level")
    describe_map(problem, report)
    check_map_hypotheses(problem, report, meter)
    z = orbit_to(problem, start, meter)
    level.check(problem, meter)
    here, there = level.value(z), level.value(problem.claim.vector)
    if here == there:
        raise Rejected("excluded", "the point of the claim lies on the level set of the orbit")
    report.add(
        "Sides", f"the quadratic on the orbit: {side_text(here)}", f"at the point of the claim: {side_text(there)}"
    )


def check_sets(certificate: dict[str, Any], problem: MapProblem, start: int, report: Report, meter: Meter) -> None:
    """The other shapes: entry, guards and images by induction, then what is excluded."""
    kind = certificate["shape"]["type"]
    cycle = array(certificate["cycle"], "cycle", 1, CYCLE)
    p, q = len(cycle), len(problem.phases)
    if p % q:
        entries = number_of(p, "entry", "entries")
        raise Malformed(
            "shape", f"cycle has {entries}, which is no multiple of the map's {number_of(q, 'phase', 'phases')}"
        )
    pieces = []
    for k, entry in enumerate(cycle):
        phase = problem.phases[(start + k) % q]
        pieces.append(phase[counter(entry, f"cycle[{k}]", len(phase))])
    shape = SHAPES[kind](certificate["shape"], p, problem.dimension)
    excluded = read_excluded(certificate["excluded"], kind, problem.claim.name, p, problem.dimension)
    check_claim(problem, kind)
    describe_map(problem, report)
    check_map_hypotheses(problem, report, meter)
    z = orbit_to(problem, start, meter)
    m, b = problem.dimension, matrix_bits(shape.numbers())
    shape.prepare(pieces, meter)
    if not shape.contains(z):
        raise Rejected("entry", f"z_{start} is not in the first set")
    for k, piece in enumerate(pieces):
        meter.charge(m * (2 * m + len(piece.guards)) * (1 + b // 500))
        for g, guard in enumerate(piece.guards):
            if not shape.guarded(k, guard):
                raise Rejected("invariance", f"guard {g} of the branch at cycle[{k}] does not hold on set {k}")
        if not shape.carried(k, piece):
            raise Rejected("invariance", f"the branch at cycle[{k}] does not carry set {k} into the next set")
    if isinstance(shape, (Ellipsoid, Box)):
        check_excluded_half_space(shape, excluded, problem, report)
    else:
        check_excluded_point(shape, excluded, problem, report)


def check_excluded_point(shape: Points | Ray, excluded: Excluded, problem: MapProblem, report: Report) -> None:
    """`points` and `ray`: a limit point of the orbit contradicts the claim."""
    claim = problem.claim
    point = shape.limit_point(excluded.phase)
    if point is None:
        raise Rejected("excluded", "lambda is 1, so the end of the ray is no limit point")
    report.add("Sides", f"limit point {excluded.phase}: {vector_text(point)}")
    if claim.name == "converges-to":
        if point == claim.vector:
            raise Rejected("excluded", f"limit point {excluded.phase} is the point of the claim")
        report.add("Sides", f"the point of the claim: {vector_text(claim.vector)}")
    elif claim.name == "converges":
        assert excluded.other_phase is not None
        other = shape.limit_point(excluded.other_phase)
        if other is None or point == other:
            raise Rejected("excluded", f"limit points {excluded.phase} and {excluded.other_phase} are the same")
        report.add("Sides", f"limit point {excluded.other_phase}: {vector_text(other)}")
    else:
        h = problem.hypothesis("coordinate-minimisation")
        assert h is not None
        slope = gradient(h, point)
        if not any(slope):
            raise Rejected("excluded", f"the gradient is 0 at limit point {excluded.phase}")
        report.add("Sides", f"grad f there: {vector_text(slope)}, not 0")


def check_excluded_half_space(shape: Ellipsoid | Box, excluded: Excluded, problem: MapProblem, report: Report) -> None:
    """`ellipsoid` and `box`: a closed half-space around S_k keeps limits and leaves out what the claim needs."""
    h, g = excluded.h, excluded.g
    if not shape.at_least(excluded.phase, h, g):
        raise Rejected("excluded", f"h.z >= g does not hold on set {excluded.phase}")
    report.add("Sides", f"h.z >= {side_text(g)} on set {excluded.phase}, h = {vector_text(h)}")
    if problem.claim.name == "converges-to":
        there = dot(h, problem.claim.vector)
        if not there < g:
            raise Rejected("excluded", "h.q < g does not hold at the point of the claim")
        report.add("Sides", f"h.q = {side_text(there)} at the point of the claim")
        return
    assert excluded.other_phase is not None
    if not shape.at_least(excluded.other_phase, [-entry for entry in h], -excluded.other_g):
        raise Rejected("excluded", f"h.z <= other_g does not hold on set {excluded.other_phase}")
    if not excluded.other_g < g:
        raise Rejected("excluded", "other_g is not below g")
    report.add("Sides", f"h.z <= {side_text(excluded.other_g)} on set {excluded.other_phase}")


# ---------------------------------------------------------------------------------------------------------------------
# Maps: `spectral` (section 7)
# ---------------------------------------------------------------------------------------------------------------------


def squared(c: list[int]) -> list[int]:
    """One root squaring: c'(x^2) = c(x) c(-x)."""
    n = len(c) - 1
    out = []
    for i in range(n + 1):
        terms = ((-1) ** k * c[k] * c[2 * i - k] for k in range(max(0, 2 * i - n), min(n, 2 * i) + 1))
        out.append(fit_integer(sum(terms)))
    return out


def check_spectral(certificate: dict[str, Any], problem: MapProblem, report: Report, meter: Meter) -> str:
    """Section 7: the start excites an eigenvalue of modulus > 1 (or >= 1)."""
    fields(certificate, "the certificate", "schema kind problem of polynomial squarings j relation")
    of = choice(certificate["of"], "of", ("start", "difference"))
    relation = choice(certificate["relation"], "relation", RELATIONS)
    rows = array(certificate["polynomial"], "polynomial", 2, problem.dimension + 1)
    c = [integer(entry, f"polynomial[{i}]", CERTIFICATE_DIGITS) for i, entry in enumerate(rows)]
    n = len(c) - 1
    if c[n] <= 0 or math.gcd(*c) != 1:
        raise Malformed("shape", "polynomial has no positive leading coefficient or a common factor")
    squarings = counter(certificate["squarings"], "squarings")
    j = counter(certificate["j"], "j", n + 1)
    if j < 1:
        raise Malformed("shape", "j is 0")
    if len(problem.phases) != 1 or len(problem.phases[0]) != 1 or problem.phases[0][0].guards:
        raise Rejected("map", "the map is not one phase with one branch without guards")
    check_spectral_claim(problem, of, relation)
    describe_map(problem, report)
    check_map_hypotheses(problem, report, meter)
    piece = problem.phases[0][0]
    first = problem.z if of == "start" else minus(piece.image(problem.z), problem.z)
    check_krylov(piece.M, first, c, meter)
    # ten units more than the page charges: a polynomial of small height could be squared for minutes otherwise
    meter.charge(squarings * (n * n + 10))
    for _ in range(squarings):
        meter.charge(n * n * (max(entry.bit_length() for entry in c) // 500))
        c = squared(c)
    left, right = abs(c[n - j]), math.comb(n, j) * abs(c[n])
    after = f"after {number_of(squarings, 'squaring', 'squarings')}"
    whose = "the start z_0" if of == "start" else "the first difference z_1 - z_0"
    report.add(
        "Sides",
        f"polynomial of {whose} under M, constant first: {', '.join(rows)}",
        f"{after}: |c_{n - j}| = {side_text(Fraction(left))}",
        f"C({n}, {j}) |c_{n}| = {side_text(Fraction(right))}",
    )
    if not (left > right or (left == right and relation == ">=")):
        raise Rejected("roots", f"|c_(n-j)| {relation} C(n, j)*|c_n| is false {after}")
    modulus = "> 1" if relation == ">" else ">= 1"
    powers = f"the powers 2^{squarings} of its roots" if squarings else "its roots"
    what = f"|c_{n - j}/c_{n}| is the modulus of elementary symmetric function {j} of {powers}"
    limit = f"C({n}, {j}) = {math.comb(n, j)}"
    if relation == ">":
        report.add("Sides", f"{what}; it is larger than {limit}, the most it could be if no root had a modulus above 1")
    else:
        report.add("Sides", f"{what}; it is at least {limit}, and would be less if every root had a modulus below 1")
    report.add(
        "Statement", f"the claim says {problem.claim.text}; the start excites an eigenvalue of modulus {modulus}"
    )
    return "the claim above fails for this start"


def check_spectral_claim(problem: MapProblem, of: str, relation: str) -> None:
    """Condition 5 and the demand c = 0 of `start`."""
    claim = problem.claim
    if of == "start" and any(problem.phases[0][0].c):
        raise Rejected("claim", "the start itself is used although c is not 0")
    if claim.name == "bounded":
        proved = relation == ">"
    elif claim.name == "converges":
        proved = of == "difference"
    elif claim.name == "converges-to":
        proved = of == "difference" or not any(claim.vector)
    else:
        proved = False
    if not proved:
        raise Rejected("claim", f"of = {of} with the relation {relation} does not refute the claim {claim.name}")


def check_krylov(M: Matrix, first: Vector, c: list[int], meter: Meter) -> None:
    """Conditions 2 and 3: the polynomial is, up to a factor, the minimal polynomial of y_0 under M."""
    n, m = len(c) - 1, len(first)
    powers = [first]
    for _ in range(n):
        meter.charge(m * m * (1 + bits(powers[-1]) // 500))
        powers.append(apply(M, powers[-1]))
    meter.charge(m * n * (1 + matrix_bits(powers) // 500))
    if any(apply(transpose(powers), [Fraction(entry) for entry in c])):
        raise Rejected("polynomial", "the polynomial in M does not annihilate y_0")
    if rank_of(powers[:n], meter) != n:
        raise Rejected("polynomial", "y_0, M y_0, ..., M^(n-1) y_0 are linearly dependent")


# ---------------------------------------------------------------------------------------------------------------------
# Expressions: the grammar (section 8)
# ---------------------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9_]*|0|[1-9][0-9]*|\.\.|<=|!=|[-+*/^()\[\],:<=]")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")
REAL_FUNCTIONS = ("sqrt", "exp", "log")
RESERVED = ("forall", "psd", "min", "max", "abs", "sum", "if", "in", *REAL_FUNCTIONS)


class Shape(NamedTuple):
    """The shape of a variable: () rational, (n,) vector, (rows, columns) matrix."""

    sizes: tuple[int, ...]


class Node(NamedTuple):
    """An expression or a formula; `real` says that it contains sqrt, exp or log.

    num(value) var(name) index(name) item(name, nodes) neg(node) chain((sign, node), ...) pow(node, exponent)
    call(function, nodes) sum(ranges, node) if(comparison, node, node); compare(relation, node, node)
    forall(ranges, formula) psd(name) psdrange(i, j, low, high, node). A range is (name, low, high).
    """

    op: str
    args: tuple[Any, ...]
    real: bool


def tokens_of(text: str, where: str) -> list[tuple[str, int]]:
    """Longest match; only spaces separate."""
    out: list[tuple[str, int]] = []
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        match = TOKEN.match(text, at)
        if match is None:
            raise Malformed("expression", f'{where}: no token at character {at}, "{printable(text[at])}"')
        if len(out) == FORMULA_TOKENS:
            raise Malformed("too-large", f"{where} has more than {FORMULA_TOKENS} tokens")
        out.append((match.group(), at))
        at = match.end()
    return out


class Parser:
    """Recursive descent; the depth bound keeps Python's stack small, chains are flat."""

    def __init__(self, text: str, where: str, variables: dict[str, Shape]) -> None:
        self.where, self.variables = where, variables
        self.tokens = tokens_of(text, where)
        self.at = 0
        self.depth = 0
        self.scope: list[str] = []

    def fail(self, what: str) -> NoReturn:
        """A formula that does not parse."""
        place = f"character {self.tokens[self.at][1]}" if self.at < len(self.tokens) else "the end"
        raise Malformed("expression", f"{self.where}: {what} at {place}")

    def peek(self) -> str:
        """The next token, or nothing."""
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        """Read one of the expected tokens."""
        token = self.peek()
        if token not in expected or not token:
            self.fail(f"expected {' or '.join(expected)}")
        self.at += 1
        return token

    def open(self, token: str) -> None:
        """Read a bracket or a unary minus, which counts for the depth until `shut`."""
        self.take(token)
        self.depth += 1
        if self.depth > FORMULA_DEPTH:
            raise Malformed("too-large", f"{self.where} is nested more than {FORMULA_DEPTH} deep")

    def shut(self, token: str = "") -> None:
        """Read the closing bracket, if there is one."""
        if token:
            self.take(token)
        self.depth -= 1

    def name(self) -> str:
        """A name that is not reserved."""
        token = self.peek()
        if not token[:1].isalpha() or token in RESERVED:
            self.fail("expected a name")
        if not NAME.fullmatch(token):
            self.fail("a name of more than 32 characters")
        self.at += 1
        return token

    def new_index(self) -> str:
        """An index name, different from every variable and every index in scope."""
        at = self.at
        name = self.name()
        if name in self.variables or name in self.scope:
            self.at = at
            self.fail(f"the index {name} has the name of a variable or of an index in scope")
        return name

    def exact(self, node: Node) -> Node:
        """A place where only rational expressions may stand."""
        if node.real:
            self.fail("sqrt, exp or log where an exact number is needed, before the token")
        return node

    def whole(self) -> Node:
        """The formula, all of it."""
        node = self.formula()
        if self.at < len(self.tokens):
            self.fail("a further token")
        return node

    def formula(self) -> Node:
        """formula = forall | psd | comparison."""
        if self.peek() == "forall":
            self.take("forall")
            self.open("(")
            ranges = self.ranges()
            body = self.formula()
            self.leave(ranges)
            return Node("forall", (ranges, body), body.real)
        return self.psd() if self.peek() == "psd" else self.comparison()

    def psd(self) -> Node:
        """psd of a matrix variable, or of a matrix of expressions."""
        self.take("psd")
        self.open("(")
        at = self.at
        name = self.name()
        if self.peek() == ")":
            sizes = self.variables.get(name, Shape(())).sizes
            if name in self.scope or len(sizes) != 2 or sizes[0] != sizes[1]:
                self.at = at
                self.fail("psd of something that is not a square matrix")
            self.shut(")")
            return Node("psd", (name,), real=False)
        self.at = at
        first = self.new_index()
        self.take(",")
        self.scope.append(first)
        second = self.new_index()
        self.scope.pop()
        self.take("in")
        low = self.exact(self.expr())
        self.take("..")
        high = self.exact(self.expr())
        self.take(":")
        self.scope += [first, second]
        body = self.exact(self.expr())
        del self.scope[-2:]
        self.shut(")")
        return Node("psdrange", (first, second, low, high, body), real=False)

    def comparison(self) -> Node:
        """comparison = expr relation expr; = and != need exact sides."""
        left = self.expr()
        relation = self.take(*COMPARISONS)
        right = self.expr()
        if relation in ("=", "!="):
            self.exact(left)
            self.exact(right)
        return Node("compare", (relation, left, right), left.real or right.real)

    def chain(self, signs: tuple[str, str], part: Any) -> Node:
        """Parts joined by two signs, left to right."""
        parts = [(signs[0], part())]
        while self.peek() in signs:
            sign = self.take(*signs)
            parts.append((sign, part()))
        if len(parts) == 1:
            only: Node = parts[0][1]
            return only
        return Node("chain", tuple(parts), any(node.real for _, node in parts))

    def expr(self) -> Node:
        """expr = term { ( + | - ) term }."""
        return self.chain(("+", "-"), self.term)

    def term(self) -> Node:
        """term = unary { ( * | / ) unary }."""
        return self.chain(("*", "/"), self.unary)

    def unary(self) -> Node:
        """unary = - unary | power, so -x^2 is -(x^2)."""
        if self.peek() == "-":
            self.open("-")
            inner = self.unary()
            self.shut()
            return Node("neg", (inner,), inner.real)
        base = self.atom()
        if self.peek() != "^":
            return base
        self.take("^")
        exponent = self.number()
        if exponent > EXPONENT:
            raise Malformed("expression", f"{self.where}: an exponent larger than {EXPONENT}")
        return Node("pow", (base, exponent), base.real)

    def number(self) -> int:
        """NUMBER, at most 100 digits."""
        token = self.peek()
        if not token[:1].isdigit():
            self.fail("expected a number")
        if len(token) > PROBLEM_DIGITS:
            raise Malformed("too-large", f"{self.where}: a number of more than {PROBLEM_DIGITS} digits")
        self.at += 1
        return int(token)

    def atom(self) -> Node:
        """atom: number, name with its indices, bracket, function, sum, if."""
        token = self.peek()
        if token[:1].isdigit():
            return Node("num", (Fraction(self.number()),), real=False)
        if token == "(":
            self.open("(")
            inner = self.expr()
            self.shut(")")
            return inner
        if token in ("min", "max", "abs", *REAL_FUNCTIONS):
            return self.call(token)
        if token == "sum":
            self.take("sum")
            self.open("(")
            ranges = self.ranges()
            body = self.expr()
            self.leave(ranges)
            return Node("sum", (ranges, body), body.real)
        if token == "if":
            return self.conditional()
        return self.reference()

    def call(self, function: str) -> Node:
        """A function of one argument, or min and max of 1 to 16."""
        self.take(function)
        self.open("(")
        arguments = [self.expr()]
        while function in ("min", "max") and self.peek() == ",":
            if len(arguments) == 16:
                self.fail("more than 16 arguments")
            self.take(",")
            arguments.append(self.expr())
        self.shut(")")
        real = function in REAL_FUNCTIONS or any(argument.real for argument in arguments)
        return Node("call", (function, tuple(arguments)), real)

    def conditional(self) -> Node:
        """`if`: an exact guard and two arms."""
        self.take("if")
        self.open("(")
        guard = self.exact(self.comparison())
        self.take(",")
        yes = self.expr()
        self.take(",")
        no = self.expr()
        self.shut(")")
        return Node("if", (guard, yes, no), yes.real or no.real)

    def reference(self) -> Node:
        """A name: an index in scope or a variable with as many indices as its shape has sizes."""
        at = self.at
        name = self.name()
        if name in self.scope:
            sizes: tuple[int, ...] = ()
        elif name in self.variables:
            sizes = self.variables[name].sizes
        else:
            self.at = at
            self.fail(f"{name} is not a variable or an index in scope")
        if not sizes:
            if self.peek() == "[":
                self.fail(f"{name} takes no brackets")
            return Node("index" if name in self.scope else "var", (name,), real=False)
        self.open("[")
        indices = [self.exact(self.expr())]
        for _ in sizes[1:]:
            self.take(",")
            indices.append(self.exact(self.expr()))
        self.shut("]")
        return Node("item", (name, tuple(indices)), real=False)

    def ranges(self) -> tuple[tuple[str, Node, Node], ...]:
        """NAME in expr .. expr, ...: later ranges may use earlier names."""
        out: list[tuple[str, Node, Node]] = []
        while True:
            if len(out) == RANGES:
                raise Malformed("too-large", f"{self.where}: more than {RANGES} ranges")
            name = self.new_index()
            self.take("in")
            low = self.exact(self.expr())
            self.take("..")
            high = self.exact(self.expr())
            out.append((name, low, high))
            self.scope.append(name)
            if self.take(",", ":") == ":":
                return tuple(out)

    def leave(self, ranges: tuple[tuple[str, Node, Node], ...]) -> None:
        """The end of a sum or forall: its names leave the scope."""
        del self.scope[len(self.scope) - len(ranges) :]
        self.shut(")")


# ---------------------------------------------------------------------------------------------------------------------
# Expressions: enclosures (section 8, "ball"). An enclosure is a pair of integers over 2^p.
# ---------------------------------------------------------------------------------------------------------------------


class Ball(NamedTuple):
    """[lo/2^p, hi/2^p]."""

    lo: int
    hi: int


def ceil_div(a: int, b: int) -> int:
    """The ceiling of a/b, b > 0."""
    return -(-a // b)


def ceil_shift(a: int, k: int) -> int:
    """The ceiling of a/2^k."""
    return -(-a >> k)


def ceil_isqrt(a: int) -> int:
    """The smallest integer whose square is at least a."""
    root = math.isqrt(a)
    return root if root * root == a else root + 1


def exp_bounds(x: int, p: int, meter: Meter) -> Ball:
    """exp(x/2^p), rounded outward: halve r times, sum the series with w bits, square r times.

    Halving more often than |x/2^r| <= 1/2 needs makes the series shorter; h further times about balance the two.
    """
    if abs(x) > EXP_ARGUMENT << p:
        raise Malformed("too-large", f"the argument of exp is beyond +-{EXP_ARGUMENT}")
    r = max(0, abs(x).bit_length() - p + 1)  # then |x| < 2^(p+r-1), so |x/2^(p+r)| < 1/2
    w = p + r + ceil_shift(2 * max(x, 0), p) + 40
    h = math.isqrt(w) // 2
    r, w = r + h, w + h
    meter.charge(60 + w // 2 * (1 + w // 500))  # a loop over some sqrt(w) terms
    y = abs(x) << (w - p - r)  # exact: w >= p + r
    total, term, i = 0, 1 << w, 0
    while term:
        total += -term if x < 0 and i % 2 else term
        i += 1
        term = (term * y >> w) // i
    # every term is less than 4 too small: if one is by e, then the next by less than e/2 + 2; those left out are at
    # most twice the first of them
    error = 4 * i + 8
    low, high = max(total - error, 0), total + error
    for _ in range(r):
        low, high = low * low >> w, ceil_shift(high * high, w)
    return Ball(low >> (w - p), ceil_shift(high, w - p))


def artanh_bounds(top: int, bottom: int, w: int) -> tuple[int, int]:
    """artanh(top/bottom), 0 <= top/bottom <= 1/3, in units of 2^-w."""
    power = (top << w) // bottom
    square = power * power >> w
    small = (top, bottom) == (1, 3)  # powers of 1/9 need no product of long numbers
    total, i = 0, 1
    while power:
        total += power // i
        power = power // 9 if small else power * square >> w
        i += 2
    # every power is less than 2 too small, every quotient less than 3; the rest is at most the first term left out,
    # less than 3, divided by 1 - y^2 >= 8/9
    return total, total + 3 * i + 4


def log_bounds(x: int, p: int, meter: Meter) -> Ball:
    """log(x/2^p), x > 0, rounded outward: x/2^p = m 2^e with 3/4 <= m < 3/2."""
    k = x.bit_length()
    if 4 * x < 3 << k:  # x/2^k < 3/4: take m twice as large
        k -= 1
    e = k - p
    w = p + abs(e).bit_length() + 40
    meter.charge(60 + w * (1 + w // 500))
    low, high = artanh_bounds(abs(x - (1 << k)), x + (1 << k), w)
    if x < 1 << k:
        low, high = -high, -low
    two_low, two_high = artanh_bounds(1, 3, w)
    if e >= 0:
        low, high = 2 * low + 2 * e * two_low, 2 * high + 2 * e * two_high
    else:
        low, high = 2 * low + 2 * e * two_high, 2 * high + 2 * e * two_low
    return Ball(low >> (w - p), ceil_shift(high, w - p))


class Enclosures:
    """Operations on enclosures with p bits after the point, every endpoint rounded outward."""

    def __init__(self, p: int, meter: Meter) -> None:
        self.p, self.meter = p, meter

    def ball(self, value: Fraction | Ball) -> Ball:
        """A rational entering a real operation."""
        if isinstance(value, Ball):
            return value
        top = value.numerator << self.p
        return self.fit(top // value.denominator, ceil_div(top, value.denominator))

    def fit(self, low: int, high: int) -> Ball:
        """Endpoints are computed integers."""
        return Ball(fit_integer(low), fit_integer(high))

    def join(self, sign: str, a: Ball, b: Ball) -> Ball:
        """+ - * /."""
        if sign == "+":
            return self.fit(a.lo + b.lo, a.hi + b.hi)
        if sign == "-":
            return self.fit(a.lo - b.hi, a.hi - b.lo)
        if sign == "*":
            ends = [x * y for x in a for y in b]
            return self.fit(min(ends) >> self.p, ceil_shift(max(ends), self.p))
        if b.lo <= 0 <= b.hi:
            if b.lo == b.hi:
                raise Rejected("domain", "division by zero")
            raise Rejected("not-separated", "the enclosure of a divisor contains 0")
        quotients = [Fraction(x << self.p, y) for x in a for y in b]
        return self.fit(math.floor(min(quotients)), math.ceil(max(quotients)))

    def power(self, a: Ball, n: int) -> Ball:
        """a^n."""
        if n == 0:
            return Ball(1 << self.p, 1 << self.p)
        size = max(abs(a.lo), abs(a.hi)).bit_length()
        self.meter.charge(n * size // 10)
        if n * (size - 1 - self.p) + self.p >= COMPUTED_BITS:
            raise Malformed("too-large", "a power is too long")
        shift = (n - 1) * self.p
        if n % 2 == 0 and a.lo < 0 < a.hi:
            return self.fit(0, ceil_shift(max(-a.lo, a.hi) ** n, shift))
        low, high = sorted((a.lo**n, a.hi**n))
        return self.fit(low >> shift, ceil_shift(high, shift))

    def call(self, function: str, values: list[Ball]) -> Ball:
        """min max abs sqrt exp log."""
        a = values[0]
        if function in ("min", "max"):
            pick = min if function == "min" else max
            return Ball(pick(v.lo for v in values), pick(v.hi for v in values))
        if function == "abs":
            if a.lo >= 0:
                return a
            return Ball(-a.hi, -a.lo) if a.hi <= 0 else Ball(0, max(-a.lo, a.hi))
        if function == "sqrt":
            if a.hi < 0:
                raise Rejected("domain", "sqrt of a negative number")
            if a.lo < 0:
                raise Rejected("not-separated", "the enclosure under a sqrt contains a negative number")
            self.meter.charge(self.p // 16)
            return self.fit(math.isqrt(a.lo << self.p), ceil_isqrt(a.hi << self.p))
        bounds = exp_bounds if function == "exp" else log_bounds
        if function == "log":
            if a.hi <= 0:
                raise Rejected("domain", "log of a number <= 0")
            if a.lo <= 0:
                raise Rejected("not-separated", "the enclosure under a log contains 0")
        first = bounds(a.lo, self.p, self.meter)
        last = first if a.lo == a.hi else bounds(a.hi, self.p, self.meter)
        return self.fit(first.lo, last.hi)


# ---------------------------------------------------------------------------------------------------------------------
# Expressions: values and truth (section 8)
# ---------------------------------------------------------------------------------------------------------------------

Env = dict[str, Fraction]


def value_bits(value: Fraction | Ball) -> int:
    """b of one input of a node."""
    if isinstance(value, Ball):
        return max(value.lo.bit_length(), value.hi.bit_length())
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def length_units(b: int) -> int:
    """What a node costs beyond 10 units for numbers of b bits; lowest terms cost the square of the length."""
    return 10 * (b // 500) + b * b // NODE_SQUARE_BITS


class Evaluator:
    """Evaluates formulas at the assignment; True, False, or None for undecided (`ball` only)."""

    def __init__(self, values: dict[str, Any], precision: int | None, meter: Meter) -> None:
        self.values, self.meter = values, meter
        self.real = Enclosures(0 if precision is None else precision, meter)
        self.sides: list[str] = []

    def exact(self, node: Node, env: Env) -> Fraction:
        """The value of an expression that the parser showed to be rational."""
        value = self.value(node, env)
        assert isinstance(value, Fraction)
        return value

    def whole(self, node: Node, env: Env, what: str) -> int:
        """The value of an index or a bound."""
        value = self.exact(node, env)
        if value.denominator != 1:
            raise Rejected("domain", f"{what} is not an integer")
        return value.numerator

    def value(self, node: Node, env: Env) -> Fraction | Ball:
        """The value of an expression: exact where rational, an enclosure where real."""
        self.meter.node()
        out: Fraction | Ball = VALUES[node.op](self, node, env)
        return self.real.ball(out) if node.real else out

    def weigh(self, *inputs: Fraction | Ball) -> None:
        """The part of a node's charge that depends on its inputs, before it is computed."""
        self.meter.charge(length_units(max(map(value_bits, inputs))))

    def item(self, node: Node, env: Env) -> Fraction:
        """An entry of a vector or matrix."""
        name, indices = node.args
        entry = self.values[name]
        for index in indices:
            k = self.whole(index, env, f"an index of {name}")
            if not 0 <= k < len(entry):
                raise Rejected("domain", f"an index of {name} is out of range")
            entry = entry[k]
        assert isinstance(entry, Fraction)
        return entry

    def negated(self, node: Node, env: Env) -> Fraction | Ball:
        """Unary minus."""
        inner = self.value(node.args[0], env)
        return Ball(-inner.hi, -inner.lo) if isinstance(inner, Ball) else -inner

    def chained(self, node: Node, env: Env) -> Fraction | Ball:
        """Left to right; the part before the first real operand is exact."""
        total = self.value(node.args[0][1], env)
        for k, (sign, part) in enumerate(node.args[1:]):
            if k:
                self.meter.node()  # the node of the first operation was charged by `value`
            total = self.join(sign, total, self.value(part, env))
        return total

    def join(self, sign: str, a: Fraction | Ball, b: Fraction | Ball) -> Fraction | Ball:
        """One operation."""
        self.weigh(a, b)
        if isinstance(a, Ball) or isinstance(b, Ball):
            return self.real.join(sign, self.real.ball(a), self.real.ball(b))
        if sign == "+":
            return fit(a + b)
        if sign == "-":
            return fit(a - b)
        if sign == "*":
            return fit(a * b)
        if b == 0:
            raise Rejected("domain", "division by zero")
        return fit(a / b)

    def power(self, node: Node, env: Env) -> Fraction | Ball:
        """A power with a literal exponent; 0^0 = 1."""
        base, n = self.value(node.args[0], env), node.args[1]
        self.weigh(base)
        if isinstance(base, Ball):
            return self.real.power(base, n)
        size = value_bits(base)
        if n * (size - 1) >= COMPUTED_BITS:  # 2^(size-1) is the least number of this length
            raise Malformed("too-large", "a power is too long")
        self.meter.charge(length_units(n * size))
        return fit(base**n)

    def called(self, node: Node, env: Env) -> Fraction | Ball:
        """A function of values."""
        function, arguments = node.args
        values = [self.value(argument, env) for argument in arguments]
        self.weigh(*values)
        if node.real:
            return self.real.call(function, [self.real.ball(value) for value in values])
        exact = [value for value in values if isinstance(value, Fraction)]
        if function == "abs":
            return abs(exact[0])
        return min(exact) if function == "min" else max(exact)

    def summed(self, node: Node, env: Env) -> Fraction | Ball:
        """A sum over ranges, in order."""
        ranges, body = node.args
        total: Fraction | Ball = Fraction(0)
        for inner in self.instances(ranges, env, [0]):
            total = self.join("+", total, self.value(body, inner))
        return total

    def chosen(self, node: Node, env: Env) -> Fraction | Ball:
        """`if`: only the arm taken is evaluated."""
        (relation, left, right), yes, no = node.args[0].args, node.args[1], node.args[2]
        self.meter.node()
        return self.value(yes if compared(self.exact(left, env), relation, self.exact(right, env)) else no, env)

    def instances(self, ranges: tuple[Any, ...], env: Env, count: list[int]) -> Iterator[Env]:
        """Every assignment of the ranges, in order; `count` bounds the terms of this sum or forall."""
        if not ranges:
            count[0] += 1
            if count[0] > TERMS:
                raise Malformed("too-large", f"a sum or forall has more than {TERMS} terms")
            yield env
            return
        name, low_node, high_node = ranges[0]
        low = self.whole(low_node, env, f"the lower bound of {name}")
        high = self.whole(high_node, env, f"the upper bound of {name}")
        k = low
        while k <= high:
            yield from self.instances(ranges[1:], {**env, name: Fraction(k)}, count)
            k += 1

    def truth(self, node: Node, env: Env) -> bool | None:
        """The truth of a formula."""
        self.meter.node()
        if node.op == "forall":
            ranges, body = node.args
            answer: bool | None = True
            for inner in self.instances(ranges, env, [0]):
                found = self.truth(body, inner)
                if found is False:
                    return False
                answer = answer if found else None
            return answer
        if node.op == "compare":
            return self.comparison(node, env)
        rows = self.values[node.args[0]] if node.op == "psd" else self.range_matrix(node, env)
        held = definite(rows, self.meter, strict=False)
        if not held:
            self.sides = [f"not positive semidefinite: {matrix_text(rows)}", *self.place(env)]
        return held

    def range_matrix(self, node: Node, env: Env) -> Matrix:
        """The matrix of psd(i, j in lo..hi: e)."""
        first, second, low_node, high_node, body = node.args
        low, high = self.whole(low_node, env, "a bound of psd"), self.whole(high_node, env, "a bound of psd")
        if high < low:
            raise Rejected("domain", "psd of a matrix of size 0")
        if high - low >= MATRIX_SIDE:
            raise Malformed("too-large", f"psd of a matrix larger than {MATRIX_SIDE}")
        numbers = [Fraction(k) for k in range(low, high + 1)]
        return [[self.exact(body, {**env, first: i, second: j}) for j in numbers] for i in numbers]

    def comparison(self, node: Node, env: Env) -> bool | None:
        """A comparison; with a real side it may be undecided."""
        relation, left_node, right_node = node.args
        left, right = self.value(left_node, env), self.value(right_node, env)
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            held = compared(left, relation, right)
            if not held:
                self.sides = [f"left {side_text(left)}", f"right {side_text(right)}", *self.place(env)]
            return held
        a, b = self.real.ball(left), self.real.ball(right)
        if a.hi < b.lo or (relation == "<=" and a.hi == b.lo):
            return True
        if a.lo > b.hi or (relation == "<" and a.lo == b.hi):
            self.sides = [f"left in {self.ball_text(a)}", f"right in {self.ball_text(b)}", *self.place(env)]
            return False
        return None

    def ball_text(self, ball: Ball) -> str:
        """An enclosure, exact and as decimals."""
        ends = [decimal_text(Fraction(end, 1 << self.real.p)) for end in ball]
        low, high = integer_text(ball.lo), integer_text(ball.hi)
        return f"[{low}, {high}]/2^{self.real.p} = [{ends[0]}, {ends[1]}]"

    def place(self, env: Env) -> list[str]:
        """The indices at which something was false."""
        return [f"at {', '.join(f'{name} = {number_text(k)}' for name, k in env.items())}"] if env else []


VALUES = {
    "num": lambda _, node, __: node.args[0],
    "var": lambda self, node, _: self.values[node.args[0]],
    "index": lambda _, node, env: env[node.args[0]],
    "item": Evaluator.item,
    "neg": Evaluator.negated,
    "chain": Evaluator.chained,
    "pow": Evaluator.power,
    "call": Evaluator.called,
    "sum": Evaluator.summed,
    "if": Evaluator.chosen,
}


# ---------------------------------------------------------------------------------------------------------------------
# Expressions: problem, `witness` and `ball` (section 8)
# ---------------------------------------------------------------------------------------------------------------------


class Formulas(NamedTuple):
    """A problem of expressions with its assignment; texts stay for the output."""

    variables: dict[str, Shape]
    values: dict[str, Any]
    hypothesis_texts: list[str]
    hypotheses: list[Node]
    conclusion_text: str
    conclusion: Node


def read_formulas(problem: dict[str, Any]) -> Formulas:
    """The fields of a problem of expressions."""
    if "ties" in problem:
        raise Malformed("schema", 'problem has a field "ties", which is for hardmax only')
    parameters = fields(problem["parameters"], "problem.parameters", "variables hypotheses conclusion")
    state = fields(problem["state"], "problem.state", "assignment")
    choice(problem["claim"], "problem.claim", ("conclusion",))
    listed = parameters["variables"]
    if not isinstance(listed, dict):
        raise Malformed("schema", "problem.parameters.variables is not an object")
    if len(listed) > VARIABLES:
        raise Malformed("too-large", f"problem.parameters.variables has more than {VARIABLES} variables")
    variables: dict[str, Shape] = {}
    for name, entry in listed.items():
        if not NAME.fullmatch(name) or name in RESERVED:
            raise Malformed("expression", f'"{brief(name)}" is not a name for a variable')
        variables[name] = read_shape(entry, f"problem.parameters.variables.{name}")
    found = fields(state["assignment"], "problem.state.assignment", " ".join(variables))
    values = {name: read_value(found[name], f"problem.state.assignment.{name}", s) for name, s in variables.items()}
    where = "problem.parameters.hypotheses"
    texts = [
        text_of(entry, f"{where}[{k}]", FORMULA_CHARACTERS)
        for k, entry in enumerate(array(parameters["hypotheses"], where, 0, FORMULAS))
    ]
    conclusion = text_of(parameters["conclusion"], "problem.parameters.conclusion", FORMULA_CHARACTERS)
    return Formulas(
        variables,
        values,
        texts,
        [Parser(text, f"{where}[{k}]", variables).whole() for k, text in enumerate(texts)],
        conclusion,
        Parser(conclusion, "problem.parameters.conclusion", variables).whole(),
    )


def read_shape(value: Any, where: str) -> Shape:
    """`"rational"`, `{"vector": n}` or `{"matrix": [rows, columns]}`."""
    if value == "rational":
        return Shape(())
    if isinstance(value, dict) and "vector" in value:
        return Shape((read_size(fields(value, where, "vector")["vector"], f"{where}.vector", VECTOR_ENTRIES),))
    if isinstance(value, dict) and "matrix" in value:
        sizes = sized(fields(value, where, "matrix")["matrix"], f"{where}.matrix", 2)
        return Shape(tuple(read_size(size, f"{where}.matrix[{k}]", MATRIX_SIDE) for k, size in enumerate(sizes)))
    raise Malformed("schema", f"{where} is not rational, a vector or a matrix")


def read_size(value: Any, where: str, high: int) -> int:
    """A size from 1 to `high`."""
    size = counter(value, where)
    if size > high:
        raise Malformed("too-large", f"{where} is larger than {high}")
    if size < 1:
        raise Malformed("shape", f"{where} is 0")
    return size


def read_value(value: Any, where: str, shape: Shape) -> Any:
    """A value of the shape of its variable."""
    if not shape.sizes:
        return rational(value, where, PROBLEM_DIGITS)
    if len(shape.sizes) == 1:
        return vector(value, where, shape.sizes[0], PROBLEM_DIGITS)
    return matrix(value, where, shape.sizes[0], shape.sizes[1], PROBLEM_DIGITS)


def describe_formulas(problem: Formulas, report: Report) -> None:
    """The line `Data:`."""
    report.add("Data", "system: expressions")
    for name, shape in problem.variables.items():
        value = problem.values[name]
        texts = (number_text, vector_text, matrix_text)
        report.add("Data", f"variable {name} = {texts[len(shape.sizes)](value)}")
    report.add("Data", f"conclusion: {printable(problem.conclusion_text)}")


def check_formulas(certificate: dict[str, Any], problem: Formulas, report: Report, meter: Meter) -> str:
    """Section 8: every hypothesis is true and the conclusion is false at the assignment."""
    precision = None
    if certificate["kind"] == "witness":
        fields(certificate, "the certificate", "schema kind problem")
        if any(node.real for node in (*problem.hypotheses, problem.conclusion)):
            raise Malformed("expression", "a formula contains sqrt, exp or log, which a witness cannot decide")
    else:
        fields(certificate, "the certificate", "schema kind problem precision")
        precision = counter(certificate["precision"], "precision")
        if not 32 <= precision <= 1000:
            raise Malformed("shape", "precision is not from 32 to 1000")
    describe_formulas(problem, report)
    evaluator = Evaluator(problem.values, precision, meter)
    for k, (node, text) in enumerate(zip(problem.hypotheses, problem.hypothesis_texts)):
        found = evaluator.truth(node, {})
        if found is None:
            raise Rejected("not-separated", f"hypothesis {k} is undecided at this precision")
        if not found:
            report.add("Sides", *evaluator.sides)
            raise Rejected("hypothesis", f"hypothesis {k} is false")
        report.add("Hypotheses", f"{quoted(text)} (evaluated: true)")
    found = evaluator.truth(problem.conclusion, {})
    if found is None:
        raise Rejected("not-separated", "the conclusion is undecided at this precision")
    if found:
        raise Rejected("inequality", "the conclusion is true")
    report.add("Sides", *evaluator.sides)
    text = printable(problem.conclusion_text)
    report.add("Statement", f"the hypotheses listed hold and the conclusion {text} is false")
    return "the hypotheses above hold and the conclusion fails at this assignment"


# ---------------------------------------------------------------------------------------------------------------------
# The certificate as a whole (sections 1 to 3)
# ---------------------------------------------------------------------------------------------------------------------

KINDS = {
    "violation": ("hardmax-frank-wolfe", "piecewise-affine"),
    "for-all": ("hardmax-frank-wolfe",),
    "invariant": ("piecewise-affine",),
    "spectral": ("piecewise-affine",),
    "witness": ("expressions",),
    "ball": ("expressions",),
}


def describe_source(problem: dict[str, Any], report: Report) -> None:
    """`paper`, `locator`, `quote`, `symbols`: shown, never interpreted."""
    if "paper" in problem:
        paper = fields(problem["paper"], "problem.paper", "", "openreview arxiv title")
        if not paper:
            raise Malformed("schema", "problem.paper is empty")
        texts = [
            (key, text_of(paper[key], f"problem.paper.{key}", SOURCE_TEXTS[key]))
            for key in ("title", "openreview", "arxiv")
            if key in paper
        ]
        report.add("Paper", ", ".join(f"{key}: {printable(text)}" for key, text in texts))
    for key, part in (("locator", "Locator"), ("quote", "Quoted")):
        if key in problem:
            report.add(part, printable(text_of(problem[key], f"problem.{key}", SOURCE_TEXTS[key], least=0)))
    if "quote" not in problem:
        report.add("Quoted", "none given")
    if "symbols" in problem:
        symbols = problem["symbols"]
        if not isinstance(symbols, dict):
            raise Malformed("schema", "problem.symbols is not an object")
        if len(symbols) > SYMBOLS:
            raise Malformed("too-large", f"problem.symbols has more than {SYMBOLS} entries")
        for key, value in symbols.items():
            text_of(key, "a symbol of problem.symbols", SYMBOL_CHARACTERS)
            meaning = text_of(value, "a meaning in problem.symbols", MEANING_CHARACTERS)
            report.add("Symbols", f"{quoted(key)}: {printable(meaning)}")


def examine(data: bytes, report: Report, meter: Meter) -> str:
    """The words after `ACCEPTED: `, or a Refusal."""
    certificate = read_json(data)
    if not isinstance(certificate, dict):
        raise Malformed("schema", "the file is not an object")
    for key in ("schema", "kind", "problem"):
        if key not in certificate:
            raise Malformed("schema", f'the certificate lacks the field "{key}"')
    choice(certificate["schema"], "schema", ("verifier/certificate/1",))
    kind = choice(certificate["kind"], "kind", tuple(KINDS))
    problem = fields(
        certificate["problem"],
        "problem",
        "schema system parameters state claim",
        "ties paper locator quote symbols",
    )
    choice(problem["schema"], "problem.schema", ("verifier/problem/1",))
    system = choice(problem["system"], "problem.system", KINDS[kind])
    describe_source(problem, report)
    if system == "hardmax-frank-wolfe":
        check_hardmax = check_for_all if kind == "for-all" else check_hardmax_violation
        return check_hardmax(certificate, read_hardmax(problem), report, meter)
    if system == "expressions":
        return check_formulas(certificate, read_formulas(problem), report, meter)
    check_map = {"violation": check_map_violation, "invariant": check_invariant, "spectral": check_spectral}[kind]
    return check_map(certificate, read_map_problem(problem), report, meter)


def check(text: bytes) -> Result:
    """Check the bytes of a certificate."""
    report = Report()
    try:
        words = examine(text, report, Meter())
    except Malformed as refusal:
        return Result("MALFORMED", refusal.code, refusal.sentence, [])
    except Rejected as refusal:
        return Result("REJECTED", refusal.code, refusal.sentence, report.lines())
    except (MemoryError, RecursionError):  # the bounds should make both impossible; neither may become a traceback
        return Result("MALFORMED", "too-large", "this machine has too little memory to check the file", [])
    return Result("ACCEPTED", "", f"{words}. {NOT_CHECKED}", report.lines())


# ---------------------------------------------------------------------------------------------------------------------
# The command (section 2)
# ---------------------------------------------------------------------------------------------------------------------


def check_file(path: str) -> Result:
    """Check a file; only a regular one, so that a pipe cannot keep the checker waiting."""
    try:
        if not os.path.isfile(path):  # noqa: PTH113 -- a path with a null byte must not raise
            return Result("MALFORMED", "unreadable", "there is no regular file of this name", [])
        with open(path, "rb") as file:  # noqa: PTH123 -- the path is a string, and nothing else is done with it
            data = file.read(FILE_BYTES + 1)
    except (OSError, ValueError):
        return Result("MALFORMED", "unreadable", "the file cannot be read", [])
    return check(data)


def main(arguments: Sequence[str]) -> int:
    """Print the result and give the exit code."""
    if len(arguments) == 1:
        result = check_file(arguments[0])
    else:
        result = Result("MALFORMED", "usage", "usage: python checker.py CERT", [])
    try:
        sys.stdout.write(result.text)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader left; without this Python would complain on stderr at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
