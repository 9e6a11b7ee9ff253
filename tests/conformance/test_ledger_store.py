"""What every store of the ledger must do. A new store joins by a line in STORES and in `new_url`."""

import hashlib
import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from verifier.ledger import KINDS, FreeText, Ledger
from verifier.ledger import entry as entry_module
from verifier.ledger.merkle import EMPTY_ROOT, Tree
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
