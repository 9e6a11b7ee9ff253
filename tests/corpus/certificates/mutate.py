"""Every mutation of a certificate: each leaf, each container, the file as a whole. Deterministic, no randomness.

A mutant is (where, how, bytes). Outside `problem` every operation is applied to every leaf; inside it, where the same
shapes recur many times, the operations take turns.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.corpus.certificates.joint import joint

Path = tuple[str | int, ...]
Mutant = tuple[str, str, bytes]

QUANTITY = re.compile(r"-?[0-9]+(?:/[0-9]+)?")
HUGE = "7" * 5000
NUMBERS = ["4", "-7", "4.0", "4.5", "1e2", "NaN", "Infinity", "-Infinity", "null", "true", "false", '["4"]', "{}", HUGE]
STRINGS = [
    "",
    " 4",
    "4 ",
    "4\\n",
    "+4",
    "04",
    "-0",
    "4/1",
    "8/2",
    "6/4",
    "0/5",
    "1/0",
    "4/-5",
    "--4",
    "4e0",
    "4.0",
    "1/2/3",
]
STRINGS += ["\u0664", "0x4", "1_000", "\\u0034\\u0000", HUGE, "1/" + HUGE]
COUNTERS = ['"2"', "2.0", "2.5", "1e2", "true", "false", "null", "[2]", "-0", "-1", "1000000000000001", "02", HUGE]
TEXTS = ["4", "null", "[]", '""', '"\\u0000\\u001b[31m\\u202e"', '"\\ud800"', '"' + "x" * 5000 + '"']
STEPS = ["2/(t+2)", "2/(t+1)", "1/(t+2)", "1/2", "1", "2", "0", "-1/2", "2/(t+3)", "2/(T+2)", "1/t"]
RELATIONS = [">", ">=", "<", "<=", "=", "!=", "=>"]
WORDS: dict[str, list[str]] = {
    "schema": ["verifier/certificate/2", "verifier/problem/1", "verifier/certificate/1"],
    "kind": ["violation", "for-all", "invariant", "spectral", "witness", "ball", "psd", "inequality", "heavy-ball"],
    "system": ["hardmax-frank-wolfe", "piecewise-affine", "expressions", "linear-iteration", "heavy-ball"],
    "step": STEPS,
    "claim": ["energy-bound", "energy-bound-any-step", "energy-bound-inside", "conclusion"],
    "ties": ["any-selection", "lowest-index", "highest-index"],
    "relation": RELATIONS,
    "tuning": ["none", "optimal-for-quadratics"],
    "order": ["simultaneous", "alternating"],
    "of": ["start", "difference"],
    "type": ["points", "ellipsoid", "box", "ray", "level"],
    "name": ["converges-to", "converges", "bounded", "limit-points-stationary", "stays-below"],
}
FREE = {"openreview", "arxiv", "title", "locator", "quote"}
SWAPS = [
    ("<=", "<"),
    ("<=", "="),
    ("<", "<="),
    ("<", "!="),
    ("=", "!="),
    ("+", "-"),
    ("-", "+"),
    ("*", "+"),
    ("*", "/"),
]
SWAPS += [
    ("/", "*"),
    ("^", "*"),
    ("..", "..1+"),
    ("in 0", "in 1"),
    ("min", "max"),
    ("max", "min"),
    ("abs", ""),
    ("(", ""),
]
SWAPS += [(")", ""), ("[", "("), (" ", "  "), (" ", "\\t"), ("sum", "forall"), ("forall", "sum"), ("psd", "sqrt")]
SWAPS += [("sqrt", "exp"), ("exp", "log"), ("log", "abs"), ("if", "max"), ("i", "k"), ("<", "<" + "(" * 40)]


def compact(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value of a document with its path, the document first."""
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from walk(inner, (*path, key))


def put(document: Any, path: Path, value: Any) -> Any:
    """A copy of the document with `value` at `path`."""
    if not path:
        return value
    new = copy.deepcopy(document)
    inner = new
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return new


def raw(document: Any, path: Path, text: str) -> str:
    """The file with the bare text at `path`."""
    return compact(put(document, path, "@RAW@")).replace('"@RAW@"', text, 1)


def turns(items: list[Any], count: int, turn: int) -> list[Any]:
    """`count` of the items, starting at a place that moves with the turn."""
    start = turn * count
    return [items[(start + k) % len(items)] for k in range(min(count, len(items)))]


def quantities(text: str) -> list[tuple[str, str]]:
    """Other values of a quantity: (how, text)."""
    x = Fraction(text)
    last = str((int(text[-1]) + 1) % 10)
    digit = text[:-1] + last
    other = digit if digit[-2:] != "/0" and digit != "-0" else text + "1"
    changes = [
        ("a digit changed", Fraction(other)),
        ("sign flipped", -x),
        ("plus 1", x + 1),
        ("numerator and denominator swapped", 1 / x if x else Fraction(1)),
        ("minus 1", x - 1),
        ("plus 1/1000000", x + Fraction(1, 10**6)),
        ("doubled", 2 * x),
        ("zero", Fraction(0)),
        ("minus 1/10^30", x - Fraction(1, 10**30)),
    ]
    return [(how, str(value)) for how, value in changes if value != x]


def leaf(document: Any, path: Path, value: Any, turn: int) -> Iterator[tuple[str, str]]:
    """(how, file) for one leaf."""
    inside = path[0] == "problem"
    key = next((k for k in reversed(path) if isinstance(k, str)), "")
    if isinstance(value, bool):
        for text in ["false" if value else "true", "1", '"true"', "null"]:
            yield f"boolean as {text}", raw(document, path, text)
    elif isinstance(value, int):
        for how, number in [("plus 1", value + 1), ("minus 1", value - 1), ("times 10", value * 10 + 3), ("zero", 0)]:
            yield how, raw(document, path, str(number))
        for text in turns(COUNTERS, 4, turn):
            yield f"counter as {text[:20]}", raw(document, path, text)
    elif "symbols" in path or key in FREE or (key == "name" and "hypotheses" in path):
        yield "another text", compact(put(document, path, value + "!"))
        for text in turns(TEXTS, 3, turn):
            yield f"text as {text[:20]}", raw(document, path, text)
    elif (
        path[:2] == ("problem", "parameters")
        and path[2] in {"hypotheses", "conclusion"}
        and len(path) <= 4
        and " " in value
    ):
        yield from formula(document, path, value)
    elif key in WORDS and (key != "claim" or path[-1] == "claim"):
        for word in [w for w in WORDS[key] if w != value]:
            yield f"the word {word}", compact(put(document, path, word))
        for text in [compact(value.upper()), compact(value + " "), "0", "null"]:
            yield f"word as {text}", raw(document, path, text)
    elif QUANTITY.fullmatch(value):
        other = quantities(value)
        for how, text in turns(other, 2, turn) if inside else other:
            yield how, compact(put(document, path, text))
        for text in turns(STRINGS, 1 if inside else 3, turn):
            yield f"quantity as string {text[:20]}", raw(document, path, f'"{text}"')
        for text in turns(NUMBERS, 1 if inside else 2, turn):
            yield f"quantity as {text[:20]}", raw(document, path, text)
    else:
        for text in ['"vector"', '{"vector":1}', '{"matrix":[1,1]}', "null", '{"vector":0}']:
            yield f"variable as {text}", raw(document, path, text)


def formula(document: Any, path: Path, text: str) -> Iterator[tuple[str, str]]:
    for old, new in SWAPS:
        if old in text:
            yield f"{old} becomes {new[:8]}", raw(document, path, '"' + text.replace(old, new, 1) + '"')
            if text.count(old) > 1:
                yield f"last {old} becomes {new[:8]}", raw(document, path, '"' + new.join(text.rsplit(old, 1)) + '"')
    for match in re.finditer(r"[0-9]+", text):
        for number in (int(match.group()) + 1, int(match.group()) * 3 + 2):
            changed = text[: match.start()] + str(number) + text[match.end() :]
            yield f"number at {match.start()} becomes {number}", compact(put(document, path, changed))
    sides = re.split(r" (<=|<|!=|=) ", text)
    if len(sides) == 3:
        yield "sides swapped", compact(put(document, path, f"{sides[2]} {sides[1]} {sides[0]}"))
    for rest in [" ", "1", ")", " ;", "\u00a0", "+", "^99", "*" + HUGE, " = 1", "^2^2"]:
        yield f"followed by {rest[:10]!r}", compact(put(document, path, text + rest))
    yield "emptied", compact(put(document, path, ""))
    yield "of another world", compact(put(document, path, "__import__('os').system('true') = 1"))
    yield "negated", compact(put(document, path, "-" * 40 + text))


def array(document: Any, path: Path, value: list[Any], turn: int) -> Iterator[tuple[str, str]]:
    changes: list[tuple[str, Any]] = [
        ("last entry dropped", value[:-1]),
        ("first entry dropped", value[1:]),
        ("reversed", value[::-1]),
        ("last entry repeated", [*value, *value[-1:]]),
        ("rotated", value[1:] + value[:1]),
        ("emptied", []),
        ("wrapped", [value]),
        ("first entry null", [None, *value[1:]]),
        ("an object instead", {str(k): x for k, x in enumerate(value)}),
        ("twice", value + value),
    ]
    if all(isinstance(x, str) and QUANTITY.fullmatch(x) for x in value):
        changes += [("negated", [str(-Fraction(x)) for x in value]), ("tripled", [str(3 * Fraction(x)) for x in value])]
    for how, new in turns(changes, 3, turn) if path[0] == "problem" and len(path) > 3 else changes:
        yield how, compact(put(document, path, new))


def thing(document: Any, path: Path, value: dict[str, Any], turn: int) -> Iterator[tuple[str, str]]:
    inside = len(path) > 2 and path[0] == "problem"
    keys = list(value)
    for key in turns(keys, 1, turn) if inside else keys:
        yield f"without {key}", compact(put(document, path, {k: v for k, v in value.items() if k != key}))
        renamed = {(k.upper() if k == key else k): v for k, v in value.items()}
        yield f"{key} in capitals", compact(put(document, path, renamed))
    for key in turns(keys, 1, turn) if inside else turns(keys, 2, turn):
        for how, again in [("the same", value[key]), ("another value", "0")]:
            doubled = compact(put(document, path, {**value, "@KEY@": again}))
            yield f"{key} a second time, {how}", doubled.replace('"@KEY@"', compact(key), 1)
    yield "a field more", compact(put(document, path, {**value, "remark": "1"}))
    if not inside:
        yield "fields in another order", compact(put(document, path, dict(reversed(value.items()))))
        yield "an array instead", compact(put(document, path, list(value.values())))
        yield "null", compact(put(document, path, None))


def whole(document: Any, others: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Mutations of the file itself."""
    text = compact(document)
    data = text.encode()
    half = len(data) // 2
    yield "byte-order mark", b"\xef\xbb\xbf" + data
    yield "rubbish behind", data + b"x"
    yield "a second object behind", data + data
    yield "a zero byte behind", data + b"\0"
    yield "spaces around", b" \r\n\t" + data + b"\n"
    yield "indented", json.dumps(document, indent=1).encode()
    yield "cut in the middle", data[:half]
    yield "last brace missing", data[:-1]
    yield "a comma before the last brace", data[:-1] + b",}"
    yield "single quotes", text.replace('"', "'").encode()
    yield "a comment", data[:1] + b"/* */" + data[1:]
    yield "UTF-16", text.encode("utf-16")
    yield "a byte that is no UTF-8", data.replace(b'"kind"', b'"kind\xff"')
    yield "an overlong byte sequence", data.replace(b'"kind"', b'"kin\xc1\xa4"')
    yield "in an array", b"[" + data + b"]"
    yield "as a string", compact(text).encode()
    yield "empty", b""
    yield "null", b"null"
    yield "too many bytes", data + b" " * (1 << 20)
    yield "just within the bytes", data + b" " * ((1 << 20) - len(data))
    for depth in (31, 32, 33, 100_000):
        yield f"nested {depth} deep", (text[:-1] + ',"x":' + "[" * depth + "]" * depth + "}").encode()
    yield "brackets in a string", put_locator(document, "[{" * 100)
    for name, other in others.items():
        yield f"the problem of {name}", compact({**document, "problem": other["problem"]}).encode()


def put_locator(document: Any, text: str) -> bytes:
    return compact(put(document, ("problem", "locator"), text)).encode()


def mutants(document: dict[str, Any], others: dict[str, dict[str, Any]]) -> Iterator[Mutant]:
    """Every mutant of one seed, without repeats; `others` are seeds whose problem may take the place of its own."""
    seen = {compact(document).encode()}
    turn = 0
    for path, value in walk(document):
        where = "/".join(map(str, path)) or "file"
        turn += 1
        if isinstance(value, dict):
            found = thing(document, path, value, turn)
        elif isinstance(value, list):
            found = array(document, path, value, turn)
        else:
            found = leaf(document, path, value, turn)
        for how, text in found:
            data = text.encode("utf-8", "surrogatepass")
            if data not in seen:
                seen.add(data)
                yield where, how, data
    for where, how, data in [
        *(("file", how, data) for how, data in whole(document, others)),
        *(("joint", how, compact(new).encode()) for how, new in joint(document)),
    ]:
        if data not in seen:
            seen.add(data)
            yield where, how, data
