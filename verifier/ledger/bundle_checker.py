"""Checks a proof bundle offline: one file, the standard library alone, Python 3.9 or newer.

    python bundle_checker.py BUNDLE.json --key VKEY [--witness VKEY ...] [--content]

VKEY is the log's verifier key, NAME+ID+KEY, which you have from somewhere else than the bundle. Prints what was checked
and ends with ACCEPTED (exit 0), REJECTED (exit 10) or MALFORMED (exit 2). It says that the entries stand in the log
under the checkpoint, in this order and with this content; it does not say that nothing newer exists.

Written from docs/ledger.md and the C2SP pages on signed notes, checkpoints and cosignatures; it shares no code with the
program that made the bundle.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import sys
from typing import Any, Tuple  # noqa: UP035 -- aliases are evaluated, and Python 3.9 has no other

MAX_BYTES = 96 * 2**20
MAX_ENTRIES = 10_000
MAX_SIGNATURES = 100
MAX_INTEGER = 2**53 - 1
ENVELOPE_KEYS = {"schema", "kind", "time", "refs", "supersedes", "by", "group", "content_commitment"}
ENTRY_KEYS = {"n", "envelope", "content", "salt", "texts", "proof"}
HEX = re.compile(r"[0-9a-f]{64}")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")

# Ed25519 (RFC 8032, 5.1): the field, the group's order, the curve's d, a square root of -1, the base point
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)

Point = Tuple[int, int, int, int]  # noqa: UP006 -- as above; extended coordinates X, Y, Z, T
Named = Tuple[str, bytes, bytes]  # noqa: UP006 -- as above; a key or signature: its name, its id, its bytes


class Malformed(Exception):
    """The file or a key is not what it must be."""


class Rejected(Exception):
    """Something in the bundle does not hold."""


def add(a: Point, b: Point) -> Point:
    """The sum of two points in extended coordinates (RFC 8032, 5.1.4)."""
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    return ((f - e) * (h - g) % P, (h + g) * (f + e) % P, (h - g) * (h + g) % P, (f - e) * (f + e) % P)


def times(scalar: int, point: Point) -> Point:
    """The scalar multiple of a point, by doubling."""
    total = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point = add(point, point)
        scalar >>= 1
    return total


def decompress(data: bytes) -> Point | None:
    """The point that 32 bytes encode, or None (RFC 8032, 5.1.3)."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_1 % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def compress(point: Point) -> bytes:
    """The 32 bytes of a point."""
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def small(point: Point) -> bool:
    """Whether the point is one of the eight of small order: as keys, some signatures hold for them over any message."""
    eight = times(8, point)
    return eight[0] % P == 0 and (eight[1] - eight[2]) % P == 0


def base_point() -> Point:
    """The base point: y = 4/5, x even (RFC 8032, 5.1)."""
    found = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    assert found is not None
    return found


BASE = base_point()


def signed(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the 64 bytes are the Ed25519 signature of the 32-byte key over the message (RFC 8032, 5.1.7)."""
    point = decompress(key)
    if len(signature) != 64 or point is None or small(point):
        return False
    s = int.from_bytes(signature[32:], "little")
    if s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    minus = (P - point[0], point[1], 1, P - point[3])
    return compress(add(times(s, BASE), times(k, minus))) == signature[:32]


def decoded(text: str, what: str) -> bytes:
    """The bytes of canonical base64. Raises Malformed."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        data = b""
    if not data or base64.b64encode(data).decode() != text:
        raise Malformed(f"{what} is not base64")
    return data


def verifier_key(text: str, type_byte: int) -> Named:
    """(name, id, 32 bytes) of a verifier key of the given type. Raises Malformed."""
    parts = text.strip().split("+", 2)
    if len(parts) != 3:
        raise Malformed("a verifier key is NAME+ID+KEY")
    data = decoded(parts[2], "the key")
    id_ = hashlib.sha256(parts[0].encode() + b"\n" + data).digest()[:4]
    if len(data) != 33 or data[0] != type_byte or id_.hex() != parts[1]:
        raise Malformed(f"{ascii(text)[:80]} is not a verifier key of type {type_byte}")
    return parts[0], id_, data[1:]


def note_parts(note: str) -> tuple[str, list[Named]]:
    """(text, [(name, id, bytes)]) of a signed note. Raises Malformed."""
    text, separator, lines = note.rpartition("\n\n")
    if not separator or not text or not lines.endswith("\n") or any(c < " " and c != "\n" for c in note):
        raise Malformed("the checkpoint is not a signed note")
    signatures = []
    for line in lines[:-1].split("\n"):
        words = line.split(" ")
        if len(words) != 3 or words[0] != "\u2014" or not words[1]:
            raise Malformed("a line under the checkpoint is no signature")
        data = decoded(words[2], "a signature")
        signatures.append((words[1], data[:4], data[4:]))
    if len(signatures) > MAX_SIGNATURES:
        raise Malformed("there are too many signatures")
    return text + "\n", signatures


def check_checkpoint(note: str, key: Named, witnesses: list[Named]) -> tuple[str, int, bytes, list[tuple[str, int]]]:
    """(origin, size, root, [(witness, second)]) once log and witnesses are found to have signed the note."""
    text, signatures = note_parts(note)
    lines = text.split("\n")
    if len(lines) != 4 or not re.fullmatch(r"0|[1-9][0-9]{0,18}", lines[1]):
        raise Malformed("the note is not a checkpoint")
    root = decoded(lines[2], "the root")
    if len(root) != 32:
        raise Malformed("the root has not 32 bytes")
    mine = [one[2] for one in signatures if one[:2] == key[:2]]
    if not mine or not all(signed(key[2], data, text.encode()) for data in mine):
        raise Rejected("the checkpoint is not signed by the log's key")
    if lines[0] != key[0]:
        raise Rejected("the checkpoint is another log's")
    seen = []
    for name, id_, public in witnesses:
        if public == key[2]:
            raise Malformed("the witness's key is the log's own")
        found = [cosigned_at(public, one[2], text) for one in signatures if one[:2] == (name, id_)]
        seconds = [second for second in found if second is not None]
        if not seconds or len(seconds) < len(found):
            raise Rejected(f"the witness {name!a} has not cosigned the checkpoint")
        seen.append((name, min(seconds)))
    return lines[0], int(lines[1]), root, seen


def cosigned_at(public: bytes, data: bytes, text: str) -> int | None:
    """The second of a cosignature (type 0x04), or None where it does not fit."""
    if len(data) != 72:
        return None
    second = int.from_bytes(data[:8], "big")
    message = f"cosignature/v1\ntime {second}\n{text}".encode()
    return second if 0 < second < 2**63 and signed(public, data[8:], message) else None


def node(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node (RFC 6962, 2.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_from(leaf: bytes, index: int, size: int, proof: list[bytes]) -> bytes | None:
    """The root that a path leads to, or None where it has the wrong length (RFC 6962, 2.1.1, read from the leaf)."""
    path = list(proof)
    value = leaf
    first, last = index, size - 1
    while last > 0:
        if first & 1 or first < last:  # a lone last node is carried up as it is
            if not path:
                return None
            sibling = path.pop(0)
            value = node(sibling, value) if first & 1 else node(value, sibling)
        first, last = first >> 1, last >> 1
    return None if path else value


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys are all different. Raises ValueError."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return made


def integer(text: str) -> int:
    """An integer of a canonical document. Raises ValueError beyond 2^53 - 1."""
    if len(text) > 17 or abs(int(text)) > MAX_INTEGER:
        raise ValueError("an integer is too large")
    return int(text)


def refuse(text: str) -> Any:
    """Raises ValueError: no float, NaN or infinity is part of a bundle."""
    raise ValueError(f"{text[:20]} is not an integer")


def parse(text: str, what: str) -> Any:
    """A JSON document without floats and double keys. Raises Malformed."""
    try:
        return json.loads(
            text, object_pairs_hook=no_duplicates, parse_float=refuse, parse_constant=refuse, parse_int=integer
        )
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{what} is not the JSON it must be ({ascii(str(error))[:120]})") from error


def hashes(value: Any, what: str) -> list[str]:
    """A list of SHA-256 in hexadecimal. Raises Malformed."""
    if not isinstance(value, list) or not all(isinstance(one, str) and HEX.fullmatch(one) for one in value):
        raise Malformed(f"{what} is not a list of hashes")
    return value


def commitments(value: Any, found: list[Any]) -> list[Any]:
    """Appends every text commitment in a content, in the order of a walk."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict) and "text_commitment" in one:
            found.append(one["text_commitment"])
        elif isinstance(one, (dict, list)):
            waiting.extend(one.values() if isinstance(one, dict) else one)
    return found


def check_content(entry: dict[str, Any], envelope: dict[str, Any]) -> str:
    """Says what of the content was not checked; "" where nothing. Raises Rejected where it is not what was hashed."""
    n, content = entry["n"], entry["content"]
    if content is None:
        return "content"
    salt = bytes.fromhex(entry["salt"])
    if hashlib.sha256(salt + content.encode()).hexdigest() != envelope["content_commitment"]:
        raise Rejected(f"entry {n}: its content is not the one that was hashed")
    named = commitments(parse(content, f"the content of entry {n}"), [])
    for text in entry["texts"]:
        if not isinstance(text, dict) or text.keys() != {"salt", "text"}:
            raise Malformed(f"entry {n}: a text has not the keys salt and text")
        hashes([text["salt"]], f"entry {n}: the salt of a text")
        if not isinstance(text["text"], str):
            raise Malformed(f"entry {n}: a text is not a string")
        committed = hashlib.sha256(bytes.fromhex(text["salt"]) + text["text"].encode()).hexdigest()
        if committed not in named:
            raise Rejected(f"entry {n}: a text is not one that its content names")
        named.remove(committed)
    return f"{len(named)} of its texts" if named else ""


def check_entry(entry: Any, size: int, root: bytes) -> tuple[str, dict[str, Any], str]:
    """(leaf, envelope, what of the content was not checked). Raises Rejected or Malformed."""
    if not isinstance(entry, dict) or entry.keys() != ENTRY_KEYS:
        raise Malformed("an entry has not the keys n, envelope, content, salt, texts, proof")
    n, proof = entry["n"], hashes(entry["proof"], "a proof")
    whole = isinstance(entry["content"], (str, type(None))) and isinstance(entry["texts"], list)
    if type(n) is not int or n < 1 or not isinstance(entry["envelope"], str) or not whole:
        raise Malformed("a field of an entry is not what it must be")
    if entry["content"] is not None:
        hashes([entry["salt"]], f"entry {n}: its salt")
    elif entry["salt"] != "" or entry["texts"]:  # nothing could vouch for them
        raise Malformed(f"entry {n}: it has no content, but a salt or texts")
    leaf = hashlib.sha256(b"\x00" + entry["envelope"].encode()).digest()
    if n > size or root_from(leaf, n - 1, size, [bytes.fromhex(one) for one in proof]) != root:
        raise Rejected(f"entry {n}: it does not stand in the log at this place under the checkpoint")
    envelope = parse(entry["envelope"], f"the envelope of entry {n}")
    if not isinstance(envelope, dict) or envelope.keys() != ENVELOPE_KEYS:
        raise Rejected(f"entry {n}: its envelope has not the fields of an entry")
    hashes(envelope["refs"], f"entry {n}: what it refers to")
    hashes([] if envelope["supersedes"] is None else [envelope["supersedes"]], f"entry {n}: what it supersedes")
    if not isinstance(envelope["time"], str) or not TIME.fullmatch(envelope["time"]):
        raise Rejected(f"entry {n}: its time is none")
    return leaf.hex(), envelope, check_content(entry, envelope)


def check(bundle: Any, key: Named, witnesses: list[Named], *, show_content: bool) -> list[str]:
    """The lines to print for a bundle that holds. Raises Rejected or Malformed."""
    keys = {"schema", "says", "checkpoint", "subject", "entries"}
    if not isinstance(bundle, dict) or bundle.keys() != keys or bundle["schema"] != "verifier/proof-bundle/1":
        raise Malformed("this is not a proof bundle of version 1")
    entries = bundle["entries"]
    if not isinstance(bundle["checkpoint"], str) or not isinstance(bundle["subject"], str):
        raise Malformed("the checkpoint or the subject is not a string")
    if not isinstance(entries, list) or len(entries) > MAX_ENTRIES:
        raise Malformed(f"the entries are not a list of at most {MAX_ENTRIES}")
    origin, size, root, seen = check_checkpoint(bundle["checkpoint"], key, witnesses)
    lines = [f"checkpoint of {size} entries, root {root.hex()}, signed by {origin!a}"]
    lines += [f"cosigned by {name!a} at {second} seconds since 1970" for name, second in seen]
    places: dict[str, int] = {}
    unchecked: dict[int, str] = {}
    last = (0, "")
    for entry in entries:
        leaf, envelope, absent = check_entry(entry, size, root)
        n = entry["n"]
        if n <= last[0] or envelope["time"] < last[1]:
            raise Rejected(f"entry {n}: it stands out of order")
        for ref in [*envelope["refs"], *([envelope["supersedes"]] if envelope["supersedes"] else [])]:
            if ref not in places:
                raise Rejected(f"entry {n}: it refers to {ref[:16]}, which is no earlier entry of this bundle")
        places[leaf], last = n, (n, envelope["time"])
        said = f"{absent} not in the bundle, NOT checked" if absent else "content matches"
        lines.append(f"entry {n}  {envelope['time']}  {envelope['kind']!a}  {leaf}  {said}")
        unchecked[n] = absent
        if show_content and entry["content"] is not None:
            lines.append(json.dumps(json.loads(entry["content"]), indent=2, sort_keys=True))
            lines += [f"text: {text['text']!a}" for text in entry["texts"]]
    if bundle["subject"] not in places:
        raise Rejected("the entry that the bundle is about is not in it")
    witness = "" if seen else " No witness's key was given, so only the log's own word stands for it."
    lines.append(
        f"ACCEPTED: entry {places[bundle['subject']]} and what it refers to stand in the log {origin!a} under its "
        f"checkpoint of {size} entries, in this order and with {content_words(unchecked)}.{witness} Not checked here: "
        "whether anything newer exists."
    )
    return lines


def content_words(unchecked: dict[int, str]) -> str:
    """How far the content was checked, from what was not ("" for nothing), by entry."""
    whole = [str(n) for n, what in unchecked.items() if what == "content"]
    texts = [str(n) for n, what in unchecked.items() if what not in ("", "content")]
    if not whole and not texts:
        return "this content"
    said = [f"content of entries {', '.join(whole)}"] if whole else []
    said += [f"texts of entries {', '.join(texts)}"] if texts else []
    return f"the content that is in the bundle; {' and '.join(said)} NOT checked, being absent"


def read(path: str) -> str:
    """The text of the file. Raises Malformed where it is too large, OSError and UnicodeError as `open` and `decode`."""
    with open(path, "rb") as file:  # noqa: PTH123 -- nothing else here needs pathlib
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Malformed(f"the file has more than {MAX_BYTES} bytes")
    return data.decode()


def main(arguments: list[str]) -> int:
    """Checks one file. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Checks a proof bundle offline.")
    parser.add_argument("bundle")
    parser.add_argument("--key", required=True, help="the log's verifier key, from outside the bundle")
    parser.add_argument("--witness", action="append", default=[], help="the verifier key of a witness")
    parser.add_argument("--content", action="store_true", help="show the contents")
    chosen = parser.parse_args(arguments)
    try:
        key = verifier_key(chosen.key, 1)
        witnesses = [verifier_key(one, 4) for one in chosen.witness]
        bundle = parse(read(chosen.bundle), "the file")
        lines, status = check(bundle, key, witnesses, show_content=chosen.content), 0
    except (Malformed, OSError, UnicodeError, RecursionError) as error:
        lines, status = [f"MALFORMED: {error}."], 2
    except Rejected as error:
        lines, status = [f"REJECTED: {error}."], 10
    sys.stdout.write("\n".join(lines) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
