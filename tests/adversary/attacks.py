"""What somebody does to a stored ledger: eleven ways, each in a clumsy, a careful and a thorough form.

"bytes" changes what is stored and nothing else; "leaf" also makes the entry's own hashes fit; "all" recomputes every
hash, reference, root, index and the head, so that the ledger agrees with itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.adversary.store import Book, content_of, envelope_of, recompute, with_content, with_envelope, with_text

DEPTHS = ("bytes", "leaf", "all")


@dataclass
class Attacked:
    """The ledger after an attack. `agrees`: it agrees with itself, so that only a checkpoint can tell."""

    name: str
    depth: str
    book: Book
    agrees: bool


def attacked(honest: Book, seed: int) -> Attacked:
    """The attack of a number: which, how deep, where."""
    draw = random.Random(seed)  # noqa: S311  # repeatable, not secret
    name = list(ATTACKS)[seed % len(ATTACKS)]
    depth = draw.choice(DEPTHS)
    while True:
        book = honest.copy()
        agrees = ATTACKS[name](book, draw, depth)
        if book.rows != honest.rows or (book.size, book.root) != (honest.size, honest.root):
            return Attacked(name, depth, book, agrees)


def edit(book: Book, draw: random.Random, depth: str) -> bool:
    row = draw.choice(book.rows)
    leaves = [one.leaf for one in book.rows]
    what = draw.choice(["number", "text", "by", "group", "salt", "byte"])
    if depth == "bytes" or what == "byte":
        column = draw.choice(["leaf", "envelope", "content", "salt", "root"])
        before = bytearray(getattr(row, column))
        before[draw.randrange(len(before))] ^= 1 << draw.randrange(8)
        setattr(row, column, bytes(before))
        return False
    if what == "number":
        with_content(row, {**content_of(row), "number": draw.randrange(10**6)})
    elif what == "text":
        with_text(row, b"we never said so %d" % draw.randrange(10**6))
    elif what == "salt":
        row.salt = draw.randbytes(32)
        with_content(row, content_of(row))
    else:
        with_envelope(row, {**envelope_of(row), what: f"somebody {draw.randrange(10**6)}"})
    return thorough(book, leaves, depth)


def drop(book: Book, draw: random.Random, depth: str) -> bool:
    gone = draw.randrange(len(book.rows))
    del book.rows[gone]
    if depth == "bytes":
        book.index = [(n, same) for n, same in book.index if n != gone + 1]
        return False
    leaves = [row.leaf for row in book.rows]
    for n, row in enumerate(book.rows, start=1):
        row.n = n
    return thorough(book, leaves, depth)


def insert(book: Book, draw: random.Random, depth: str) -> bool:
    at = draw.randrange(len(book.rows))
    made = book.copy().rows[at]
    leaves = [row.leaf for row in book.rows]
    leaves.insert(at, bytes(32))
    if depth != "bytes":
        made.salt = draw.randbytes(32)
        with_content(made, {**content_of(made), "number": draw.randrange(10**6)})
    book.rows.insert(at, made)
    for n, row in enumerate(book.rows, start=1):
        row.n = n
    return thorough(book, leaves, depth)


def reorder(book: Book, draw: random.Random, depth: str) -> bool:
    one, two = sorted(draw.sample(range(len(book.rows)), 2))
    times = [envelope_of(row)["time"] for row in book.rows]
    book.rows[one], book.rows[two] = book.rows[two], book.rows[one]
    leaves = [row.leaf for row in book.rows]
    for n, (row, time) in enumerate(zip(book.rows, times, strict=True), start=1):
        row.n = n
        if depth != "bytes" and envelope_of(row)["time"] != time:
            with_envelope(row, {**envelope_of(row), "time": time})
    return thorough(book, leaves, depth)


def truncate(book: Book, draw: random.Random, depth: str) -> bool:
    size = draw.randrange(1, len(book.rows))
    del book.rows[size:]
    book.index = [(n, same) for n, same in book.index if n <= size]
    if depth == "bytes":
        return False
    recompute(book, [row.leaf for row in book.rows])  # nothing is left that could disagree
    return True


def fork(book: Book, draw: random.Random, depth: str) -> bool:
    start = draw.randrange(len(book.rows))
    leaves = [row.leaf for row in book.rows]
    for row in book.rows[start:]:
        if depth == "bytes":
            row.content = row.content.replace(b'"number":', b'"number":9')
        else:
            with_content(row, {**content_of(row), "number": draw.randrange(10**6)})
    return thorough(book, leaves, depth)


def back_date(book: Book, draw: random.Random, depth: str) -> bool:
    at = draw.randrange(1, len(book.rows))
    row = book.rows[at]
    leaves = [one.leaf for one in book.rows]
    before = envelope_of(book.rows[at - 1])["time"]
    earlier = draw.random() < 0.5
    time = "2020-01-01T00:00:00Z" if earlier else before
    if depth == "bytes":
        row.envelope = row.envelope.replace(envelope_of(row)["time"].encode(), time.encode())
        return False
    with_envelope(row, {**envelope_of(row), "time": time})
    return thorough(book, leaves, depth) and not earlier


def replay(book: Book, draw: random.Random, depth: str) -> bool:
    """An old entry a second time, at the end or in the place of another."""
    old = draw.choice(book.copy().rows)
    leaves = [row.leaf for row in book.rows]
    if draw.random() < 0.5:
        old.n = len(book.rows) + 1
        book.rows.append(old)
        leaves.append(bytes(32))
        time = envelope_of(book.rows[-2])["time"]
    else:
        at = draw.randrange(len(book.rows))
        old.n, time = at + 1, envelope_of(book.rows[at])["time"]
        book.rows[at] = old
    if depth != "bytes":
        with_envelope(old, {**envelope_of(old), "time": time})
    return thorough(book, leaves, depth)


def erase(book: Book, draw: random.Random, depth: str) -> bool:
    """Content or texts gone, as if an administrator had withheld them."""
    row = draw.choice([one for one in book.rows if one.texts])
    if depth == "bytes":
        row.texts.pop()
    else:
        row.content, row.salt, row.texts = b"", bytes(32), []
    if depth == "all":
        book.index = [(n, same) for n, same in book.index if n != row.n]
    return False


def head(book: Book, draw: random.Random, depth: str) -> bool:  # noqa: ARG001  # a head has no depth
    """The head says another size or root."""
    what = draw.choice(["size", "root", "peaks"])
    if what == "size":
        book.size = draw.choice([1, len(book.rows) - 1, len(book.rows) + 1, 2**40])
    else:
        setattr(book, what, draw.randbytes(32))
    return False


def thorough(book: Book, leaves: list[bytes], depth: str) -> bool:
    """Recomputes everything where the attack is that deep. Returns whether the ledger now agrees with itself."""
    if depth != "all":
        return False
    recompute(book, leaves)
    return True


ATTACKS: dict[str, Callable[[Book, random.Random, str], bool]] = {
    "edit": edit,
    "drop": drop,
    "insert": insert,
    "reorder": reorder,
    "truncate": truncate,
    "fork": fork,
    "back-date": back_date,
    "replay": replay,
    "erase": erase,
    "head": head,
}
