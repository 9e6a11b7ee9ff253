"""Whoever writes the store and knows the code: what changes, drops or reorders entries is caught and named."""

# ruff: noqa: S608  # the statements are put together from this file's own names
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verifier.ledger import FreeText, Ledger
from verifier.ledger.merkle import CompactRange
from verifier.model.errors import TamperingDetected

REGISTRATION = hashlib.sha256(b"a case").hexdigest()
SIZE = 6
ENTRY_COLUMNS = ("n", "leaf", "kind", "registration", "envelope", "content", "salt", "root")
TEXT_COLUMNS = ("n", "commitment", "salt", "text")
HEAD_COLUMNS = ("id", "format", "reproducible", "size", "root", "peaks")
MAIN = "from verifier.cli.main import main; main()"

Attack = Callable[[sqlite3.Connection], object]


def write(path: Path, *, said: str = "as printed") -> str:
    """A ledger of SIZE entries with references and texts. Returns its root."""
    with Ledger.open(path, create=True) as ledger, ledger.transaction() as transaction:
        first = transaction.append(
            kind="registration",
            content={"registration": REGISTRATION, "quote": FreeText(said), "text": FreeText("b")},
            by="engine",
        ).entry
        for number in range(SIZE - 2):
            last = transaction.append(
                kind="evidence",
                content={"registration": REGISTRATION, "number": number, "note": FreeText(f"größer {number}")},
                refs=[first.leaf],
                by="engine",
                group="one",
            ).entry
        transaction.append(
            kind="ruling", content={"registration": REGISTRATION}, refs=[last.leaf], supersedes=first.leaf, by="engine"
        )
    with Ledger.open(path, create=False) as ledger:
        return ledger.verify().root


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    path = tmp_path_factory.mktemp("honest") / "verifier.db"
    return path, write(path)


def attacked(honest: Path, path: Path, attack: Attack) -> Path:
    for leftover in path.parent.glob(f"{path.name}*"):
        leftover.unlink()
    shutil.copy(honest, path)
    connection = sqlite3.connect(path)
    attack(connection)
    connection.commit()
    assert connection.total_changes > 0
    connection.close()
    return path


def found_in(path: Path, root: str | None = None) -> str:
    """The sentence that `verify` raises. Anything but TamperingDetected fails the test."""
    with pytest.raises(TamperingDetected) as caught, Ledger.open(path, create=False) as ledger:
        ledger.verify(root)
    return caught.value.sentence


def set_column(table: str, row: int, column: str, value: object) -> Attack:
    chosen = f"SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {row}"
    return lambda connection: connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ({chosen})", (value,))


def owner(honest: Path, table: str, row: int) -> str:
    """The entry that a row belongs to, as sentences name it."""
    if table == "ledger_head":
        return "ledger head"
    with sqlite3.connect(honest) as connection:
        ((n,),) = connection.execute(f"SELECT n FROM {table} ORDER BY rowid LIMIT 1 OFFSET {row}")
    return f"ledger entry {n}"


JUNK = (5, -(2**63), 0.5, "text", "", b"", b"\x00" * 32)
PLACES = (
    [("ledger_entries", row, column) for row in range(SIZE) for column in ENTRY_COLUMNS]
    + [("ledger_texts", row, column) for row in range(SIZE) for column in TEXT_COLUMNS]
    + [("ledger_head", 0, column) for column in HEAD_COLUMNS]
)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(map(str, place)))
def test_junk_in_any_column_is_caught_and_named(
    honest: tuple[Path, str], tmp_path: Path, place: tuple[str, int, str]
) -> None:
    table, row, column = place
    name = owner(honest[0], table, row)
    for value in JUNK:
        with sqlite3.connect(honest[0]) as connection:
            connection.text_factory = bytes
            before = connection.execute(f"SELECT {column} FROM {table} ORDER BY rowid").fetchall()[row][0]
        if value == before or (column == "format" and isinstance(value, int) and value > 1):
            continue
        if isinstance(value, bytes | str | float) and column in ("n", "id") and table != "ledger_texts":
            continue  # SQLite itself refuses these for a row number
        try:
            path = attacked(honest[0], tmp_path / "verifier.db", set_column(table, row, column, value))
        except sqlite3.IntegrityError:
            continue  # two rows of one number or leaf
        sentence = found_in(path)
        if column == "n":  # the row now belongs to another entry, or to none
            assert "ledger entr" in sentence or "ledger texts" in sentence
        elif column == "size":
            assert sentence.startswith(("ledger head:", "ledger entry 6:", "ledger entry 7:"))
        else:
            assert sentence.startswith(f"{name}:")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), at=st.integers(0, 2**20), flip=st.integers(1, 255))
def test_any_changed_byte_is_caught_and_named(
    honest: tuple[Path, str], tmp_path: Path, place: tuple[str, int, str], at: int, flip: int
) -> None:
    table, row, column = place
    with sqlite3.connect(honest[0]) as connection:
        connection.text_factory = bytes
        before = connection.execute(f"SELECT {column} FROM {table} ORDER BY rowid").fetchall()[row][0]
    if isinstance(before, int):
        after: object = before ^ (1 << at % 40)
        if column == "format" and after > before:
            return
        if column == "reproducible":
            after = 1 - before
    else:
        changed = bytearray(before)
        changed[at % len(before)] ^= flip
        after = bytes(changed)
    attack = set_column(table, row, column, after)
    if column in ("kind", "registration"):
        # as text, also where the bytes are no UTF-8
        chosen = f"(SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {row})"
        statement = f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE rowid = {chosen}"
        attack = lambda connection: connection.execute(statement, (after,))  # noqa: E731  # like the one above
    try:
        path = attacked(honest[0], tmp_path / "verifier.db", attack)
    except sqlite3.IntegrityError:
        return
    sentence = found_in(path)
    if column == "reproducible":
        assert sentence.startswith("ledger entry 1:")
    elif column == "size":
        assert sentence.startswith(("ledger entry ", "ledger head:"))
    elif column != "n":
        assert sentence.startswith(f"{owner(honest[0], table, row)}:")


@pytest.mark.parametrize("n", range(1, SIZE + 1))
@pytest.mark.parametrize("renumber", [False, True])
def test_a_dropped_entry_is_named(honest: tuple[Path, str], tmp_path: Path, n: int, *, renumber: bool) -> None:
    def drop(connection: sqlite3.Connection) -> None:
        for table in ("ledger_texts", "ledger_index", "ledger_entries"):
            connection.execute(f"DELETE FROM {table} WHERE n = {n}")
            if renumber:
                connection.execute(f"UPDATE {table} SET n = -n WHERE n > {n}")
                connection.execute(f"UPDATE {table} SET n = -n - 1 WHERE n < 0")

    sentence = found_in(attacked(honest[0], tmp_path / "verifier.db", drop))
    named = SIZE if renumber and n == SIZE else n
    assert sentence.startswith(f"ledger entry {named}:")


@pytest.mark.parametrize(("a", "b"), [(1, 2), (2, 3), (3, 5), (5, 6), (1, 6)])
def test_two_entries_in_each_others_place_are_named(honest: tuple[Path, str], tmp_path: Path, a: int, b: int) -> None:
    def swap(connection: sqlite3.Connection) -> None:
        for table in ("ledger_texts", "ledger_index", "ledger_entries"):
            for old, new in ((a, -1), (b, a), (-1, b)):
                connection.execute(f"UPDATE {table} SET n = {new} WHERE n = {old}")

    assert found_in(attacked(honest[0], tmp_path / "verifier.db", swap)).startswith(f"ledger entry {a}:")


def extra_entry(connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT INTO ledger_entries SELECT 7, zeroblob(32), kind, registration, envelope, content, salt, root "
        "FROM ledger_entries WHERE n = 6"
    )


def extra_text(connection: sqlite3.Connection) -> None:
    salt, text = bytes(32), b"never said"
    row = (2, hashlib.sha256(salt + text).digest(), salt, text)
    connection.execute("INSERT INTO ledger_texts VALUES (?, ?, ?, ?)", row)


@pytest.mark.parametrize(
    ("attack", "named"),
    [
        (extra_entry, "ledger entry 7"),
        (extra_text, "ledger entry 2"),
        (lambda c: c.execute("UPDATE ledger_texts SET n = 3 WHERE n = 2"), "ledger entry 2"),
        (lambda c: c.execute("DELETE FROM ledger_texts WHERE n = 3"), "ledger entry 3"),
        (lambda c: c.execute("UPDATE ledger_texts SET n = 77 WHERE n = 3"), "ledger entry 3"),
        (lambda c: c.execute("UPDATE ledger_entries SET content = zeroblob(17000000) WHERE n = 3"), "ledger entry 3"),
        (lambda c: c.execute("UPDATE ledger_entries SET envelope = zeroblob(2000000) WHERE n = 3"), "ledger entry 3"),
        (lambda c: c.execute("UPDATE ledger_entries SET kind = 'ruling' WHERE n = 3"), "ledger entry 3"),
        (lambda c: c.execute("UPDATE ledger_texts SET text = zeroblob(17000000) WHERE n = 3"), "ledger entry 3"),
        (lambda c: c.execute("DELETE FROM ledger_entries"), "ledger entry 1"),
        (lambda c: c.execute("DELETE FROM ledger_head"), "ledger head"),
        (
            lambda c: c.execute("INSERT INTO ledger_head SELECT 2, 1, 0, size, root, peaks FROM ledger_head"),
            "ledger head",
        ),
        (lambda c: c.execute("UPDATE ledger_head SET size = 5"), "ledger entry 6"),
        (lambda c: c.execute("UPDATE ledger_head SET size = 7"), "ledger entry 7"),
    ],
)
def test_rows_added_moved_or_swollen_are_named(
    honest: tuple[Path, str], tmp_path: Path, attack: Attack, named: str
) -> None:
    assert found_in(attacked(honest[0], tmp_path / "verifier.db", attack)).startswith(f"{named}:")


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE ledger_texts",
        "DROP TABLE ledger_head",
        "ALTER TABLE ledger_entries DROP COLUMN salt",
        "ALTER TABLE ledger_entries RENAME COLUMN leaf TO blatt",
    ],
)
def test_tables_that_are_gone_are_tampering(honest: tuple[Path, str], tmp_path: Path, statement: str) -> None:
    def attack(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE ledger_head SET format = 1")
        connection.execute(statement)

    path = attacked(honest[0], tmp_path / "verifier.db", attack)
    with pytest.raises(TamperingDetected), Ledger.open(path, create=False) as ledger:
        ledger.verify()


def rebuilt(connection: sqlite3.Connection, *, keep: int, change: Callable[[dict], object] | None = None) -> None:
    """Rewrites the ledger to its first `keep` entries with every hash, root and the head recomputed.

    `change` edits the envelope of the last entry kept.
    """
    for table in ("ledger_texts", "ledger_index", "ledger_entries"):
        connection.execute(f"DELETE FROM {table} WHERE n > {keep}")
    grown = CompactRange()
    for n, envelope in connection.execute("SELECT n, envelope FROM ledger_entries ORDER BY n").fetchall():
        data = envelope
        if change is not None and n == keep:
            fields = json.loads(envelope)
            change(fields)
            data = rfc8785.dumps(fields)
        leaf = hashlib.sha256(b"\x00" + data).digest()
        grown.append(leaf)
        connection.execute(
            "UPDATE ledger_entries SET envelope = ?, leaf = ?, root = ? WHERE n = ?", (data, leaf, grown.root(), n)
        )
    connection.execute(
        "UPDATE ledger_head SET size = ?, root = ?, peaks = ?", (grown.size, grown.root(), grown.to_bytes())
    )


def test_a_truncated_ledger_with_its_head_rewritten_is_caught_by_a_root_noted_elsewhere(
    honest: tuple[Path, str], tmp_path: Path
) -> None:
    path = attacked(honest[0], tmp_path / "verifier.db", lambda connection: rebuilt(connection, keep=4))
    with Ledger.open(path, create=False) as ledger:
        assert ledger.verify().size == 4  # nothing inside contradicts it, as the sentence says
        assert "nothing vouches" in ledger.verify().sentence
    assert "no beginning" in found_in(path, honest[1])


def test_a_ledger_rewritten_as_a_whole_is_caught_by_a_root_noted_elsewhere(
    honest: tuple[Path, str], tmp_path: Path
) -> None:
    path = tmp_path / "verifier.db"
    with Ledger.open(honest[0], create=False) as ledger:
        noted = [entry.root for entry in ledger.entries()]
    write(path, said="as never printed")
    for root in noted:
        assert "no beginning" in found_in(path, root)
    with Ledger.open(honest[0], create=False) as ledger:
        assert [ledger.verify(root).vouched for root in noted] == list(range(1, SIZE + 1))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda fields: fields.update(time="2001-01-01T00:00:00Z"), "time"),
        (lambda fields: fields.update(refs=["ab" * 32]), "no earlier entry"),
        (lambda fields: fields.update(supersedes="ab" * 32), "no earlier entry"),
        (lambda fields: fields.update(content_commitment="ab" * 32), "commitment"),
        (lambda fields: fields.update(kind="ruling"), "columns"),
        (lambda fields: fields.update(kind="opinion"), "not what it must be"),
        (lambda fields: fields.update(more="x"), "fields"),
    ],
)
def test_a_rewriting_that_breaks_a_rule_is_caught_from_inside(
    honest: tuple[Path, str], tmp_path: Path, change: Callable[[dict], object], why: str
) -> None:
    path = attacked(honest[0], tmp_path / "x.db", lambda connection: rebuilt(connection, keep=3, change=change))
    sentence = found_in(path)
    assert sentence.startswith("ledger entry 3:")
    assert why in sentence


def test_a_reference_forward_is_caught(honest: tuple[Path, str], tmp_path: Path) -> None:
    with Ledger.open(honest[0], create=False) as ledger:
        later = ledger.entry(SIZE).leaf
    path = tmp_path / "verifier.db"

    def attack(connection: sqlite3.Connection) -> None:
        (envelope,) = connection.execute("SELECT envelope FROM ledger_entries WHERE n = 4").fetchone()
        data = rfc8785.dumps(json.loads(envelope) | {"refs": [later]})
        connection.execute(
            "UPDATE ledger_entries SET envelope = ?, leaf = ? WHERE n = 4",
            (data, hashlib.sha256(b"\x00" + data).digest()),
        )

    assert found_in(attacked(honest[0], path, attack)).startswith("ledger entry 4:")


def test_references_far_back_are_looked_up_in_the_store(
    honest: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verifier.ledger.verify._RECENT", 1)
    with Ledger.open(honest[0], create=False) as ledger:
        assert ledger.verify(honest[1]).vouched == SIZE
        own = ledger.entry(SIZE).leaf

    def refer_to_what_was(connection: sqlite3.Connection) -> None:
        rebuilt(connection, keep=SIZE, change=lambda fields: fields.update(refs=[own]))

    assert "no earlier entry" in found_in(attacked(honest[0], tmp_path / "verifier.db", refer_to_what_was))


@pytest.mark.parametrize("what", ["entry", "text"])
def test_a_salt_that_is_not_derived_is_caught_in_a_reproducible_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path = tmp_path / "honest.db"
    write(path)

    def attack(connection: sqlite3.Connection) -> None:
        content, salt = connection.execute("SELECT content, salt FROM ledger_entries WHERE n = 3").fetchone()
        if what == "entry":
            salt = bytes(32)
        else:
            ((text,),) = connection.execute("SELECT text FROM ledger_texts WHERE n = 3").fetchall()
            commitment = hashlib.sha256(bytes(32) + text).digest()
            connection.execute("UPDATE ledger_texts SET salt = zeroblob(32), commitment = ? WHERE n = 3", (commitment,))
            content = rfc8785.dumps(json.loads(content) | {"note": {"text_commitment": commitment.hex()}})
        connection.execute("UPDATE ledger_entries SET content = ?, salt = ? WHERE n = 3", (content, salt))
        new = hashlib.sha256(salt + content).hexdigest()
        rebuilt(connection, keep=3, change=lambda fields: fields.update(content_commitment=new))

    sentence = found_in(attacked(path, tmp_path / "verifier.db", attack))
    assert sentence.startswith("ledger entry 3:")
    assert "salt" in sentence


def test_nothing_is_appended_to_a_damaged_head(honest: tuple[Path, str], tmp_path: Path) -> None:
    for number, statement in enumerate(
        (
            "UPDATE ledger_head SET peaks = zeroblob(64)",
            "UPDATE ledger_head SET size = 5",
            "UPDATE ledger_entries SET root = zeroblob(32) WHERE n = 6",
            "UPDATE ledger_entries SET envelope = zeroblob(9) WHERE n = 6",
            "DELETE FROM ledger_entries WHERE n = 6",
        )
    ):
        path = attacked(
            honest[0], tmp_path / f"{number}.db", lambda connection, statement=statement: connection.execute(statement)
        )
        with (
            pytest.raises(TamperingDetected),
            Ledger.open(path, create=True) as ledger,
            ledger.transaction() as transaction,
        ):
            transaction.append(kind="evidence", content={"registration": REGISTRATION, "number": 99}, by="engine")


def verifier(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
    return subprocess.run(
        [sys.executable, "-c", MAIN, "ledger", *arguments], capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.parametrize(
    ("attack", "named"),
    [
        (set_column("ledger_entries", 2, "content", b"{}"), "ledger entry 3"),
        (set_column("ledger_texts", 0, "text", b"as meant"), "ledger entry 1"),
        (lambda c: c.execute("DELETE FROM ledger_entries WHERE n = 6"), "ledger entry 6"),
    ],
)
def test_the_command_exits_4_and_names_the_entry(
    honest: tuple[Path, str], tmp_path: Path, attack: Attack, named: str
) -> None:
    path = str(attacked(honest[0], tmp_path / "verifier.db", attack))
    done = verifier("verify", "--ledger", path)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"Error: {named}:")
    assert done.stderr.count("\n") == 1


def test_the_command_catches_a_rewritten_head(honest: tuple[Path, str], tmp_path: Path) -> None:
    path = str(attacked(honest[0], tmp_path / "verifier.db", lambda connection: rebuilt(connection, keep=5)))
    assert verifier("verify", "--ledger", path).returncode == 0
    done = verifier("verify", "--ledger", path, "--root", honest[1], "--json")
    assert done.returncode == 4
    document = json.loads(done.stdout)
    assert (document["ok"], document["schema"]) == (False, "verifier/error/1")
    assert honest[1] in document["error"]["what"]
