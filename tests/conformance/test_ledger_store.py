"""What every store of the ledger must do. A new store joins by a line in STORES and in `new_url`."""

import hashlib
import itertools
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from verifier.ledger import KINDS, Draft, FreeText, Ledger, store
from verifier.ledger import entry as entry_module
from verifier.ledger.merkle import EMPTY_ROOT, Tree
from verifier.ledger.migrations import STEPS
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected

STORES = ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)]
REGISTRATION = hashlib.sha256(b"a case").hexdigest()
OTHER = hashlib.sha256(b"another case").hexdigest()


@pytest.fixture(params=STORES)
def new_url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Gives the address of another ledger at each call, none of which exists yet."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    if request.param == "postgres":
        return request.getfixturevalue("postgres").new_ledger
    folders = map(str, itertools.count())
    return lambda: f"sqlite:///{tmp_path / next(folders)}.db"


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    return new_url()


def interrupt() -> None:
    raise InterruptedError


def registration(hash_: str = REGISTRATION) -> dict:
    return {"kind": "registration", "content": {"registration": hash_, "quote": FreeText("H_k + O(1)")}, "by": "engine"}


def evidence(number: int, hash_: str = REGISTRATION) -> dict:
    return {"kind": "evidence", "content": {"registration": hash_, "number": number}, "by": "engine"}


def test_a_ledger_nobody_wrote_to_is_empty_and_leaves_no_trace(url: str, tmp_path: Path) -> None:
    with Ledger.open(url, create=True) as ledger:
        assert (ledger.size, ledger.root, list(ledger.entries()), ledger.notes(1)) == (0, EMPTY_ROOT.hex(), [], [])
        assert ledger.verify().size == 0
        assert ledger.verify(EMPTY_ROOT.hex()).vouched == 0
        with pytest.raises(TamperingDetected):
            ledger.verify("ab" * 32)
        with pytest.raises(BadInput):
            ledger.entry(1)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadInput, match="no ledger"):
        Ledger.open(url, create=False)


def test_content_that_cannot_be_recorded_leaves_no_trace_either(url: str, tmp_path: Path) -> None:
    with (
        Ledger.open(url, create=True) as ledger,
        pytest.raises(BadInput, match="float"),
        ledger.transaction() as transaction,
    ):
        transaction.append(kind="registration", content={"registration": REGISTRATION, "x": 0.5}, by="engine")
    assert list(tmp_path.iterdir()) == []


def test_entries_come_back_as_they_were_written(url: str) -> None:
    now = iter((1_700_000_000, 1_700_000_060))
    with Ledger.open(url, create=True, now=lambda: next(now)) as ledger:
        with ledger.transaction() as transaction:
            first = transaction.append(**registration()).entry
            second = transaction.append(**evidence(1), refs=[first.leaf], supersedes=first.leaf, group="team").entry
        assert list(ledger.entries()) == [first, second] == [ledger.entry(1), ledger.entry(second.leaf[:6])]
        assert ledger.entry(first.leaf) == first
        assert (ledger.size, ledger.root) == (2, second.root)
    assert (first.n, first.kind, first.time, first.by, first.group) == (
        1,
        "registration",
        "2023-11-14T22:13:20Z",
        "engine",
        "",
    )
    assert first.content == {"registration": REGISTRATION, "quote": "H_k + O(1)"}
    assert (second.refs, second.supersedes, second.group) == ((first.leaf,), first.leaf, "team")
    assert second.time == "2023-11-14T22:14:20Z"
    with Ledger.open(url, create=False) as ledger:
        assert list(ledger.entries()) == [first, second]


def test_salts_differ_between_entries_texts_and_ledgers(new_url: Callable[[], str]) -> None:
    salts = set()
    for number, where in enumerate((new_url(), new_url())):
        with Ledger.open(where, create=True) as ledger, ledger.transaction() as transaction:
            for hash_ in (REGISTRATION, OTHER):
                entry = transaction.append(**registration(hash_)).entry
                salts |= {entry.salt, *(text.salt for text in entry.texts)}
        assert len(salts) == 4 * (number + 1)


def test_the_root_is_that_of_the_tree_over_the_leaves(url: str) -> None:
    tree = Tree()
    with Ledger.open(url, create=True) as ledger:
        for number in range(21):
            with ledger.transaction() as transaction:
                entry = transaction.append(**evidence(number)).entry
            tree.append(bytes.fromhex(entry.leaf))
            assert entry.root == ledger.root == tree.root().hex()
        for size in range(1, 22):
            found = ledger.verify(tree.root(size).hex().upper())
            assert (found.vouched, found.size, found.root) == (size, 21, ledger.root)
        assert ledger.verify().vouched is None
        assert "nothing vouches" in ledger.verify().sentence
        with pytest.raises(TamperingDetected, match="no beginning"):
            ledger.verify("ab" * 32)


def test_the_same_entry_is_found_and_not_appended_twice(url: str) -> None:
    with Ledger.open(url, create=True) as ledger:
        with ledger.transaction() as transaction:
            first = transaction.append(**registration())
            again = transaction.append(**registration())
            assert (first.found, again.found) == (False, True)
            assert first.entry == again.entry
        with ledger.transaction() as transaction:
            content = {"registration": REGISTRATION, "quote": "H_k + O(1)"}
            later = transaction.append(kind="registration", content=content, by="somebody else", group="x")
            assert later == again
        assert ledger.size == 1


@pytest.mark.parametrize("change", ["kind", "content", "type", "refs", "order of refs", "supersedes"])
def test_an_entry_that_differs_is_appended(url: str, change: str) -> None:
    with Ledger.open(url, create=True) as ledger, ledger.transaction() as transaction:
        a, b = (transaction.append(**registration(hash_)).entry.leaf for hash_ in (REGISTRATION, OTHER))
        entry = evidence(1) | {"refs": [a, b], "supersedes": a}
        changed = {
            "kind": {"kind": "ruling"},
            "content": {"content": {"registration": REGISTRATION, "number": 2}},
            "type": {"content": {"registration": REGISTRATION, "number": True}},
            "refs": {"refs": [a]},
            "order of refs": {"refs": [b, a]},
            "supersedes": {"supersedes": None},
        }[change]
        assert not transaction.append(**entry).found
        assert not transaction.append(**(entry | changed)).found
        assert transaction.append(**entry).found


def test_references_must_name_earlier_entries_of_this_ledger(url: str) -> None:
    with Ledger.open(url, create=True) as ledger:
        with ledger.transaction() as transaction:
            transaction.append(**registration())
        for wrong in ({"refs": ["ab" * 32]}, {"supersedes": "ab" * 32}):
            with pytest.raises(BadInput, match="leaf hash"), ledger.transaction() as transaction:
                transaction.append(**evidence(1), **wrong)
        assert ledger.size == 1


def test_a_transaction_is_kept_whole_or_not_at_all(url: str) -> None:
    with Ledger.open(url, create=True) as ledger:
        with pytest.raises(InterruptedError), ledger.transaction() as transaction:  # noqa: PT012  # a block it is
            transaction.append(**registration())
            interrupt()
        assert ledger.size == 0
        with ledger.transaction() as transaction:
            transaction.append(**registration())
        root = ledger.root
        with pytest.raises(InterruptedError), ledger.transaction() as transaction:  # noqa: PT012  # as above
            transaction.append(**evidence(1))
            transaction.note(1, {"seconds": 1.5})
            assert [entry.n for entry in transaction.entries()] == [1, 2]
            interrupt()
        assert (ledger.size, ledger.root, ledger.notes(1)) == (1, root, [])
        ledger.verify(root)


def test_reading_within_a_transaction_sees_what_it_appended(url: str) -> None:
    with Ledger.open(url, create=True) as ledger, ledger.transaction() as transaction:
        assert list(transaction.entries()) == []
        transaction.append(**registration())
        transaction.append(**registration(OTHER))
        for entry in transaction.entries("registration"):
            transaction.append(**evidence(1, entry.registration))
        assert [entry.kind for entry in transaction.entries()] == ["registration"] * 2 + ["evidence"] * 2
        assert [entry.n for entry in transaction.entries(registration=OTHER)] == [2, 4]
        assert [entry.n for entry in transaction.entries("evidence", registration=OTHER)] == [4]
        assert list(transaction.entries("ruling")) == []


def test_readers_see_nothing_of_an_unfinished_transaction(url: str) -> None:
    with Ledger.open(url, create=True) as ledger:
        with ledger.transaction() as transaction:
            transaction.append(**registration())
        with ledger.transaction() as transaction:
            transaction.append(**evidence(1))
            assert ledger.size == 1
            assert ledger.verify().size == 1
        assert ledger.size == 2


def test_notes_are_kept_beside_and_never_hashed(url: str) -> None:
    with Ledger.open(url, create=True) as ledger:
        with ledger.transaction() as transaction:
            transaction.append(**registration())
        root = ledger.root
        with ledger.transaction() as transaction:
            transaction.note(1, {"seconds": 2.5, "executor": "local"})
            transaction.note(1, {"traceback": "…"})
        assert ledger.notes(1) == [{"seconds": 2.5, "executor": "local"}, {"traceback": "…"}]
        assert ledger.verify(root).vouched == 1
        for n, note in ((2, {}), (0, {}), (1, {"x": float("nan")}), (1, {"x": object()}), (1, {"x": "x" * 2**21})):
            with pytest.raises(BadInput), ledger.transaction() as transaction:
                transaction.note(n, note)
        assert len(ledger.notes(1)) == 2


def test_an_entry_is_chosen_by_number_or_by_an_unambiguous_leaf(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.ledger.ledger._MIN_PREFIX", 1)
    with Ledger.open(url, create=True) as ledger:
        with ledger.transaction() as transaction:
            leaves = [transaction.append(**evidence(number)).entry.leaf for number in range(17)]
        for n, leaf in enumerate(leaves, 1):
            assert ledger.entry(n).leaf == ledger.entry(leaf.upper()).leaf == leaf
        # among 17 leaves two begin with the same digit
        shared = next(leaf[0] for leaf in leaves if sum(other[0] == leaf[0] for other in leaves) > 1)
        with pytest.raises(BadInput, match="more digits"):
            ledger.entry(shared)
        for wrong in (0, 18, -1, 2**70, "ff" * 33, "", "xyz", "0" * 64):
            with pytest.raises(BadInput):
                ledger.entry(wrong)


def test_a_clock_behind_the_last_entry(url: str) -> None:
    clock = [1_700_000_000]
    with Ledger.open(url, create=True, now=lambda: clock[0]) as ledger:
        with ledger.transaction() as transaction:
            transaction.append(**evidence(1))
        clock[0] -= 300
        with ledger.transaction() as transaction:
            assert transaction.append(**evidence(2)).entry.time == "2023-11-14T22:13:20Z"
        clock[0] -= 1
        with pytest.raises(InfrastructureFailed, match="clock"), ledger.transaction() as transaction:
            transaction.append(**evidence(3))
        assert ledger.size == 2
        ledger.verify()


def filled(url: str, *, from_: int = 0) -> str:
    with Ledger.open(url, create=True) as ledger:
        for number in range(from_, 6):
            with ledger.transaction() as transaction:
                first = transaction.append(**registration()).entry
                transaction.append(**evidence(number), refs=[first.leaf])
        assert ledger.verify().reproducible
        return ledger.root


def test_a_reproducible_ledger_ends_at_the_same_root_also_when_resumed(
    new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    url, other = new_url(), new_url()
    root = filled(url)
    with Ledger.open(other, create=True) as ledger, ledger.transaction() as transaction:
        first = transaction.append(**registration()).entry
        transaction.append(**evidence(0), refs=[first.leaf])
    assert filled(other) == root
    with Ledger.open(url, create=False) as ledger:
        entries = list(ledger.entries())
    assert {entry.time for entry in entries} == {"2023-11-14T22:13:20Z"}
    for entry in entries:
        number = 1 if entry.kind == "registration" else entry.n - 1
        expected = hashlib.sha256(bytes.fromhex(REGISTRATION) + f"{entry.kind}{number}".encode()).digest()
        assert entry.salt == expected
        for text in entry.texts:
            assert text.salt == hashlib.sha256(expected + text.pointer.encode()).digest()


def test_a_ledger_is_appended_to_as_it_was_begun(new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    url, plain = new_url(), new_url()
    with Ledger.open(plain, create=True) as ledger, ledger.transaction() as transaction:
        transaction.append(**registration())
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    filled(url)
    for where, epoch in ((plain, "1700000000"), (url, "")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        with pytest.raises(BadInput, match="SOURCE_DATE_EPOCH"):
            Ledger.open(where, create=True)
        with Ledger.open(where, create=False) as ledger:
            size = ledger.verify().size
            with pytest.raises(BadInput, match="SOURCE_DATE_EPOCH"), ledger.transaction() as transaction:
                transaction.append(**evidence(99))
            assert ledger.verify().size == size


def test_a_new_kind_of_entry_is_one_line(new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    url, other = new_url(), new_url()
    rules = entry_module.KindRules(under_registration=False, found_again=False)
    monkeypatch.setitem(KINDS, "remark", rules)
    said = {"kind": "remark", "content": {"text": FreeText("no")}, "by": "somebody"}
    with Ledger.open(url, create=True) as ledger:
        with ledger.transaction() as transaction:
            assert [transaction.append(**said).found for _ in range(2)] == [False, False]
        assert ledger.verify().size == 2
        assert [entry.registration for entry in ledger.entries("remark")] == [None, None]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    with (
        Ledger.open(other, create=True) as ledger,
        pytest.raises(BadInput, match="reproducible"),
        ledger.transaction() as transaction,
    ):
        transaction.append(**said)


BEGINNER = """
url, registration, me = sys.argv[1:]
with Ledger.open(url, create=True) as ledger:
    print("ready", flush=True); sys.stdin.readline()
    with ledger.transaction() as transaction:
        content = {"registration": registration, "of": me}
        print(transaction.append(kind="evidence", content=content, by="engine").entry.leaf)
"""

WRITER = """
import sys
from verifier.ledger import Ledger
url, registration, me = sys.argv[1:]
with Ledger.open(url, create=True) as ledger:
    sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
    for number in range(25):
        with ledger.transaction() as transaction:
            same = transaction.append(kind="registration", content={"registration": registration}, by="engine")
            mine = transaction.append(
                kind="evidence", by="engine", refs=[same.entry.leaf],
                content={"registration": registration, "number": number, "of": me})
        print(mine.entry.leaf, int(same.found), flush=True)
"""


def test_processes_begin_one_ledger_at_once(url: str) -> None:
    run = "import sys; from verifier.ledger import Ledger\n" + BEGINNER
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", run, url, REGISTRATION, str(me)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for me in range(3)
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    leaves = sorted(writer.communicate(timeout=300)[0].strip() for writer in writers)
    assert [writer.returncode for writer in writers] == [0] * 3
    with Ledger.open(url, create=False) as ledger:
        assert ledger.verify().size == 3
        assert sorted(entry.leaf for entry in ledger.entries()) == leaves


def test_four_processes_append_at_once(url: str) -> None:
    command = [sys.executable, "-c", WRITER, url, REGISTRATION]
    writers = [
        subprocess.Popen([*command, str(me)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for me in range(4)
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    lines = [line.split() for writer in writers for line in writer.communicate(timeout=300)[0].splitlines()]
    assert [writer.returncode for writer in writers] == [0] * 4
    with Ledger.open(url, create=False) as ledger:
        assert ledger.verify().size == 101
        evidences = list(ledger.entries("evidence"))
        assert sorted(entry.leaf for entry in evidences) == sorted(leaf for leaf, _ in lines)
        assert sum(found == "0" for _, found in lines) == 1
        for me in "0123":
            assert [entry.content["number"] for entry in evidences if entry.content["of"] == me] == list(range(25))


def test_many_drafts_are_one_transaction(url: str) -> None:
    drafts = [Draft(**evidence(number)) for number in range(600)]
    with Ledger.open(url, create=True) as ledger:
        appended = ledger.append_many([*drafts, drafts[0], drafts[599]])
        assert [one.found for one in appended] == [False] * 600 + [True] * 2
        assert [one.entry.n for one in appended] == [*range(1, 601), 1, 600]
        assert ledger.verify().size == 600
        with pytest.raises(BadInput):
            ledger.append_many([Draft(**evidence(700)), Draft(kind="nothing", content={}, by="x")])
        assert ledger.size == 600


def test_a_repeated_request_is_found_and_anything_else_people_say_is_not(url: str) -> None:
    said = {"kind": "judge-reading", "by": "model", "content": {"answer": "yes"}}
    asked = {**said, "content": {"answer": "yes", "request": "5d0c41a6-9f2a-4a53-8d6c-0f0ad9b7a0c1"}}
    with Ledger.open(url, create=True) as ledger:
        with ledger.transaction() as transaction:
            assert [transaction.append(**entry).found for entry in (said, said, asked)] == [False] * 3
        with ledger.transaction() as transaction:
            assert [transaction.append(**entry).found for entry in (asked, said)] == [True, False]
        assert ledger.verify().size == 4


def test_a_ledger_moves_as_lines_and_nothing_of_it_changes(new_url: Callable[[], str]) -> None:
    here, there, nowhere = new_url(), new_url(), new_url()
    with Ledger.open(here, create=True) as ledger:
        with ledger.transaction() as transaction:
            first = transaction.append(**registration()).entry
            transaction.note(1, {"seconds": 0.5})
            for number in range(5):
                transaction.append(**evidence(number), refs=[first.leaf], group="größer")
        lines = [json.dumps(line) for line in ledger.lines()]
        entries, root = list(ledger.entries()), ledger.root
    with Ledger.open(there, create=True) as ledger:
        assert ledger.import_lines(lines).root == root
        assert list(ledger.entries()) == entries
        assert ledger.notes(1) == [{"seconds": 0.5}]
        with ledger.transaction() as transaction:
            assert transaction.append(**registration()).found
        with pytest.raises(BadInput, match="already"):
            ledger.import_lines(lines)
        assert ledger.verify(root).size == 6
    changed = {
        "dropped": lines[:-1],
        "reordered": [*lines[:2], lines[3], lines[2], *lines[4:]],
        "edited": [line.replace('\\"number\\":3', '\\"number\\":7') for line in lines],
        "cut": [*lines[:3], lines[3][:-5], *lines[4:]],
        "key twice": [lines[0].replace("{", '{"size": 1, ', 1), *lines[1:]],
        "other size": [lines[0].replace('"size": 6', '"size": 7'), *lines[1:]],
        "no text": [lines[0], re.sub(r'"texts": \[\{.*?\}\]', '"texts": []', lines[1]), *lines[2:]],
        "empty": [],
        "head alone": lines[:1],
        "deep": [lines[0], "[" * 100_000],
        "number": [lines[0].replace('"size": 6', '"size": ' + "9" * 5000), *lines[1:]],
    }
    for name, wrong in changed.items():
        assert wrong != lines, name
        with Ledger.open(nowhere, create=True) as ledger:
            with pytest.raises((BadInput, TamperingDetected)) as caught:
                ledger.import_lines(wrong)
            assert "\n" not in caught.value.sentence
            assert ledger.size == 0, name


def test_the_tables_beside_the_log_are_checked_and_made_anew(url: str) -> None:
    with Ledger.open(url, create=True) as ledger:
        ledger.append_many([Draft(**evidence(number)) for number in range(4)])
        root = ledger.root
        for statement in (
            "DELETE FROM ledger_index WHERE n = 2",
            "UPDATE ledger_index SET same = (SELECT same FROM ledger_index WHERE n = 1) WHERE n = 3",
            "UPDATE ledger_index SET n = 9 WHERE n = 4",
        ):
            with ledger._backend.writer().begin() as connection:
                connection.exec_driver_sql(statement)
            with pytest.raises(TamperingDetected, match="rebuild"):
                ledger.verify()
            assert ledger.rebuild() == 4
            assert ledger.verify(root).size == 4
        with ledger.transaction() as transaction:
            assert transaction.append(**evidence(3)).found


FORMAT_1 = Path(__file__).parents[1] / "corpus" / "ledgers" / "format-1.sql"
FORMAT_1_ROOT = "f9a45cdfe4cb9c5eb54ef8e919a80ed0c8046f59d622561c5df722e1056dc2fd"


def of_format_1(url: str) -> None:
    """A ledger as the first version of this program wrote it."""
    dump = FORMAT_1.read_text()
    with Ledger.open(url, create=True) as ledger:
        if url.startswith("sqlite"):
            connection = sqlite3.connect(url.removeprefix("sqlite:///"))
            connection.executescript(dump + "PRAGMA application_id = 0x76726c67;")
            connection.close()
            return
        statements = dump.replace("BLOB", "BYTEA").replace("BEGIN TRANSACTION;", "").replace("COMMIT;", "")
        statements = re.sub(r"X'([0-9A-F]*)'", r"'\\x\1'::bytea", statements)
        with ledger._backend.writer().begin() as connection:
            for statement in statements.split(";\n"):
                if statement.strip():
                    connection.exec_driver_sql(statement)


@pytest.mark.parametrize("how", ["append", "rebuild"])
def test_an_earlier_format_is_read_as_it_is_and_brought_up_by_an_append(url: str, how: str) -> None:
    assert store.FORMAT == 2
    assert sorted(STEPS) == list(range(2, store.FORMAT + 1))
    of_format_1(url)
    with Ledger.open(url, create=False) as ledger:
        assert ledger.verify(FORMAT_1_ROOT).vouched == 10
        before = list(ledger.entries())
        assert len(before) == 10
        with ledger._reading() as connection:
            assert store.read_head(connection).format == 1
        if how == "append":
            with ledger.transaction() as transaction:
                old = before[1]
                again = {"kind": old.kind, "content": old.content, "refs": old.refs, "by": "engine"}
                assert transaction.append(**again).entry.n == 2
                transaction.append(**registration(OTHER))
        else:
            assert ledger.rebuild() == 10
        with ledger._reading() as connection:
            assert store.read_head(connection).format == store.FORMAT
        assert list(ledger.entries())[:10] == before
        assert ledger.verify(FORMAT_1_ROOT).vouched == 10
