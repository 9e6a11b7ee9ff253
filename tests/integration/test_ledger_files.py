"""Files that are no ledger, disks that refuse, and processes that die: nothing is lost and nothing else is touched."""

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from verifier.ledger import Ledger
from verifier.model.errors import BadInput, Exit, InfrastructureFailed, VerifierError

REGISTRATION = hashlib.sha256(b"a case").hexdigest()


@pytest.fixture(autouse=True)
def _no_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)


def append(ledger: Ledger, number: int, *, size: int = 0) -> None:
    content = {"registration": REGISTRATION, "number": number, "bulk": "x" * size}
    with ledger.transaction() as transaction:
        transaction.append(kind="evidence", content=content, by="engine")


def other_database(path: Path, *, wal: bool) -> None:
    connection = sqlite3.connect(path)
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE notes (n INTEGER, text TEXT)")
    connection.execute("INSERT INTO notes VALUES (1, 'mine')")
    connection.commit()
    connection.close()


def a_look_alike(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE ledger_entries (n INTEGER)")
    connection.commit()
    connection.close()


WRONG = {
    "text": lambda path: path.write_text("not a ledger, but long enough to be one\n" * 100),
    "short": lambda path: path.write_bytes(b"x"),
    "start of a database": lambda path: path.write_bytes(b"SQLite format 3\x00"),
    "torn header": lambda path: path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4080),
    "other database": lambda path: other_database(path, wal=False),
    "other database with a log": lambda path: other_database(path, wal=True),
    "look-alike": a_look_alike,
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
}


def state(folder: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("kind", WRONG)
def test_what_is_no_ledger_is_refused_and_left_as_it_is(tmp_path: Path, kind: str, *, create: bool) -> None:
    path = tmp_path / "verifier.db"
    WRONG[kind](path)
    before = state(tmp_path)
    with pytest.raises(BadInput) as caught:
        Ledger.open(path, create=create)
    assert str(path) in caught.value.sentence
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a\0b",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "http://x/y",
        "postgresql+psycopg://host",
        "postgresql://h:port/db",
        "postgresql+psycopg2://h/db",
    ],
)
def test_addresses_that_name_no_ledger_are_refused(url: str) -> None:
    with pytest.raises(BadInput):
        Ledger.open(url, create=True)


@pytest.mark.parametrize("name", ["verifier.db", "a b?c#d%20.db", "größer.db", "-x.db", "sqlite:x.db"])
def test_paths_and_urls_name_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with Ledger.open(name, create=True) as ledger:
        append(ledger, 1)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    for url in (tmp_path / name, f"sqlite:///{name}", f"sqlite:///{tmp_path / name}"):
        with Ledger.open(url, create=False) as ledger:
            assert ledger.size == 1


def test_a_missing_ledger_is_refused_unless_it_may_be_made(tmp_path: Path) -> None:
    for path in (tmp_path / "verifier.db", tmp_path / "no" / "verifier.db"):
        with pytest.raises(BadInput, match="no ledger"):
            Ledger.open(path, create=False)
        with Ledger.open(path, create=True) as ledger:
            append(ledger, 1)
            assert ledger.size == 1
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput):
        Ledger.open(tmp_path / "file" / "verifier.db", create=True)


def test_an_empty_file_becomes_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "verifier.db"
    path.touch()
    with Ledger.open(path, create=True) as ledger:
        assert ledger.size == 0
        append(ledger, 1)
        assert ledger.verify().size == 1


def test_a_newer_format_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "verifier.db"
    with Ledger.open(path, create=True) as ledger:
        append(ledger, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE ledger_head SET format = 99")
    connection.close()
    for create in (False, True):
        with pytest.raises(BadInput, match="format 99"):
            Ledger.open(path, create=create)


def test_a_trigger_on_a_ledgers_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "verifier.db"
    with Ledger.open(path, create=True) as ledger:
        append(ledger, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON ledger_entries BEGIN DELETE FROM ledger_texts; END")
    connection.close()
    with pytest.raises(BadInput, match="trigger"):
        Ledger.open(path, create=True)


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that an unprivileged user can reach, unlike tmp_path of a test run by root."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextmanager
def unprivileged() -> Iterator[None]:
    """File modes mean nothing to root: step down to another user for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def read_only(*paths: Path) -> Iterator[None]:
    modes = {path: path.stat().st_mode for path in paths}
    for path, mode in modes.items():
        path.chmod(mode & 0o555)
    try:
        with unprivileged():
            yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def test_a_folder_that_cannot_be_written_is_an_infrastructure_failure(shared_folder: Path) -> None:
    with Ledger.open(shared_folder / "warm.db", create=True) as ledger:
        append(ledger, 1)  # everything is imported before the user changes
    for path in (shared_folder / "new.db", shared_folder / "folder" / "new.db"):
        with (
            read_only(shared_folder),
            Ledger.open(path, create=True) as ledger,
            pytest.raises(InfrastructureFailed) as caught,
        ):
            append(ledger, 1)
        assert str(shared_folder) in caught.value.sentence
        assert caught.value.exit_code == Exit.NO_ANSWER
    assert [path.name for path in shared_folder.iterdir()] == ["warm.db"]


@pytest.mark.parametrize("what", ["file", "folder", "both"])
def test_a_read_only_ledger_can_be_verified_but_not_appended_to(shared_folder: Path, what: str) -> None:
    path = shared_folder / "verifier.db"
    with Ledger.open(path, create=True) as ledger:
        append(ledger, 1)
        append(ledger, 2)
    path.chmod(0o644 if what == "folder" else 0o444)
    if what == "folder" and os.geteuid() == 0:
        os.chown(path, 65534, -1)
    before = path.read_bytes()
    with read_only(*([shared_folder] if what != "file" else [path])):
        with Ledger.open(path, create=False) as ledger:
            assert ledger.verify().size == 2
        with Ledger.open(path, create=True) as ledger, pytest.raises(InfrastructureFailed):
            append(ledger, 3)
    assert path.read_bytes() == before
    with Ledger.open(path, create=False) as ledger:
        assert ledger.verify().size == 2


def test_an_unreadable_ledger_is_an_infrastructure_failure(shared_folder: Path) -> None:
    path = shared_folder / "verifier.db"
    with Ledger.open(path, create=True) as ledger:
        append(ledger, 1)
    path.chmod(0)
    with unprivileged(), pytest.raises(InfrastructureFailed):
        Ledger.open(path, create=False)


def test_a_full_database_keeps_every_earlier_entry(tmp_path: Path) -> None:
    path = tmp_path / "verifier.db"
    with Ledger.open(path, create=True) as ledger:
        append(ledger, 0)
        append(ledger, 1)
        writer = ledger._backend.writer().raw_connection()
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        writer.execute(f"PRAGMA max_page_count = {pages + 8}")
        writer.close()
        done = 1
        with pytest.raises(InfrastructureFailed, match="full"):  # noqa: PT012  # it fails at some time
            for number in range(2, 100):
                append(ledger, number, size=4000)
                done = number
        assert 2 < done < 99
        assert ledger.verify().size == done + 1
        append_small = [entry.content["number"] for entry in ledger.entries()]
        assert append_small == list(range(done + 1))
    with Ledger.open(path, create=True) as ledger:
        append(ledger, 100)
        assert ledger.verify().size == done + 2


def test_an_append_that_failed_cannot_be_committed_by_going_on(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "verifier.db", create=True) as ledger:
        append(ledger, 0)
        append(ledger, 1)
        writer = ledger._backend.writer().raw_connection()
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        writer.execute(f"PRAGMA max_page_count = {pages}")
        writer.close()
        content = {"registration": REGISTRATION, "number": 2, "bulk": "x" * 100_000}
        with pytest.raises(InfrastructureFailed), ledger.transaction() as transaction:  # noqa: PT012  # a block it is
            try:
                transaction.append(kind="evidence", content=content, by="engine")
            except Exception as error:  # noqa: BLE001  # whatever it was, the caller goes on
                assert "full" in str(error)  # noqa: PT017  # as above
        assert ledger.verify().size == 2


HELD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    connection.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error.sqlite_errorname)
"""


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_opening_a_ledger_again_does_not_give_up_the_lock_on_it(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "verifier.db"
    with Ledger.open(path, create=True) as ledger:
        append(ledger, 1)
    held = sqlite3.connect(path, isolation_level=None)
    held.execute(f"PRAGMA journal_mode = {mode}")
    held.execute("BEGIN IMMEDIATE")
    with Ledger.open(path, create=False) as other:
        assert other.verify().size == 1
    done = subprocess.run([sys.executable, "-c", HELD, path], capture_output=True, text=True, check=True)
    assert done.stdout == "SQLITE_BUSY\n"
    held.execute("COMMIT")
    held.close()


LIMITED = """
import resource, sys
from verifier.ledger import Ledger
from verifier.model.errors import VerifierError
url, registration, limit, first = sys.argv[1:]
limit = int(limit)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    with Ledger.open(url, create=True) as ledger:
        for number in range(int(first), 10000):
            with ledger.transaction() as transaction:
                transaction.append(kind="evidence", by="engine",
                    content={"registration": registration, "number": number, "bulk": "x" * 3000})
            print(number, flush=True)
except VerifierError as error:
    print(error.sentence, file=sys.stderr)
    sys.exit(int(error.exit_code))
"""


@pytest.mark.parametrize("limit", [2_000, 30_000, 200_000])
def test_a_disk_that_refuses_more_bytes_keeps_every_acknowledged_entry(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "verifier.db"
    command = [sys.executable, "-c", LIMITED, path, REGISTRATION, str(limit), "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == Exit.NO_ANSWER, done.stderr
    assert done.stderr.count("\n") == 1
    acknowledged = [int(line) for line in done.stdout.split()]
    with Ledger.open(path, create=True) as ledger:
        assert ledger.verify().size == len(acknowledged) or limit > 2_000
        assert [entry.content["number"] for entry in ledger.entries()][: len(acknowledged)] == acknowledged
        append(ledger, 10_000)
        ledger.verify()


ENDLESS = LIMITED.replace("resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))", "")


@pytest.mark.parametrize("after", [0, 1, 2, 9])
def test_a_process_killed_while_appending_leaves_every_acknowledged_entry(tmp_path: Path, after: int) -> None:
    path = tmp_path / "verifier.db"
    acknowledged: list[int] = []
    for _ in range(2):
        command = [sys.executable, "-c", ENDLESS, path, REGISTRATION, "0", str(len(acknowledged))]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        acknowledged += [int(writer.stdout.readline()) for _ in range(after)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in writer.stdout.read().split()]
        assert writer.wait() == -signal.SIGKILL
        writer.stdout.close()
        with Ledger.open(path, create=True) as ledger:
            numbers = [entry.content["number"] for entry in ledger.entries()]
            assert ledger.verify().size == len(numbers)
            assert numbers[: len(acknowledged)] == acknowledged
            assert len(numbers) <= len(acknowledged) + 1  # one may be kept that was not yet acknowledged
            acknowledged = numbers


def test_errors_are_one_sentence(tmp_path: Path) -> None:
    for make in WRONG.values():
        path = tmp_path / hashlib.sha256(repr(make).encode()).hexdigest()[:8]
        make(path)
        with pytest.raises(VerifierError) as caught:
            Ledger.open(path, create=False)
        assert "\n" not in caught.value.sentence
        assert caught.value.mend
