"""Proof bundles and the checker that stands alone: nothing changed in one passes, and it needs no package."""

import ast
import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verifier.ledger import FreeText, Ledger, bundle_checker
from verifier.ledger.bundle import make_bundle
from verifier.ledger.checkpoints import open_checkpoint, sign_checkpoint
from verifier.ledger.cosign import cosign
from verifier.ledger.keys import KeyType, generate
from verifier.ledger.notes import with_signatures
from verifier.model.errors import BadInput, TamperingDetected

REGISTRATION = "ab" * 32
LOG, WITNESS = generate("example.org/ledger"), generate("w.example/one", KeyType.COSIGNATURE)
KEYS = (bundle_checker.verifier_key(LOG.public.vkey, 1), [bundle_checker.verifier_key(WITNESS.public.vkey, 4)])


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    ledger = Ledger.open(tmp_path_factory.mktemp("bundle") / "verifier.db", create=True)
    with ledger.transaction() as transaction:
        leaf = None
        for number in range(9):
            leaf = transaction.append(
                kind="evidence" if number else "registration",
                content={"registration": REGISTRATION, "number": number, "says": FreeText(f"größe {number}\x1b[2J")},
                refs=[leaf] if leaf and number != 5 else [],
                by="engine",
            ).entry.leaf
    return ledger


def signed(book: Ledger, size: int) -> Any:
    note = sign_checkpoint(LOG, size=size, root=book.tree().root(size))
    return with_signatures(note, [cosign(note, WITNESS, second=1_700_000_000)])


def bundle_of(book: Ledger, n: int, size: int = 8) -> dict[str, Any]:
    note = signed(book, size)
    stated = open_checkpoint(str(note).encode(), key=LOG.public, where="checkpoint").checkpoint
    return make_bundle(entry=book.entry(n), find=book.entry, tree=book.tree(), checkpoint=stated, note=note)


def checked(bundle: Any) -> list[str]:
    again = bundle_checker.parse(json.dumps(bundle), "the file")
    return bundle_checker.check(again, *KEYS, show_content=True)


def test_a_bundle_holds_what_an_entry_rests_on_and_nothing_else(book: Ledger) -> None:
    bundle = bundle_of(book, 5)
    assert [one["n"] for one in bundle["entries"]] == [1, 2, 3, 4, 5]
    assert [one["n"] for one in bundle_of(book, 7)["entries"]] == [6, 7]
    lines = checked(bundle)
    assert lines[-1].startswith("ACCEPTED: entry 5")
    assert "Not checked here: whether anything newer exists." in lines[-1]
    assert all(line.isprintable() or line.startswith("{") for line in lines)


def test_a_checkpoint_too_old_or_of_another_tree_proves_nothing(book: Ledger) -> None:
    with pytest.raises(BadInput, match="newer than the checkpoint"):
        bundle_of(book, 9)
    note = sign_checkpoint(LOG, size=4, root=bytes(32))
    stated = open_checkpoint(str(note).encode(), key=LOG.public, where="checkpoint").checkpoint
    with pytest.raises(TamperingDetected):
        make_bundle(entry=book.entry(1), find=book.entry, tree=book.tree(), checkpoint=stated, note=note)


CHANGES = {
    "another n": lambda b: b["entries"][1].update(n=b["entries"][1]["n"] + 1),
    "an entry left out": lambda b: b["entries"].pop(1),
    "an entry twice": lambda b: b["entries"].insert(1, b["entries"][1]),
    "two entries exchanged": lambda b: b["entries"].insert(0, b["entries"].pop(1)),
    "another content": lambda b: b["entries"][2].update(content=b["entries"][2]["content"].replace("2", "3", 1)),
    "another salt": lambda b: b["entries"][2].update(salt="00" * 32),
    "another text": lambda b: b["entries"][2]["texts"][0].update(text="other"),
    "a text too many": lambda b: b["entries"][2]["texts"].append({"salt": "00" * 32, "text": ""}),
    "another envelope": lambda b: b["entries"][2].update(envelope=b["entries"][2]["envelope"].replace("engine", "e")),
    "another proof": lambda b: b["entries"][2]["proof"].reverse(),
    "a longer proof": lambda b: b["entries"][2]["proof"].append("00" * 32),
    "another subject": lambda b: b.update(subject="00" * 32),
    "another size": lambda b: b.update(checkpoint=b["checkpoint"].replace("\n8\n", "\n9\n")),
    "no witness": lambda b: b.update(checkpoint=b["checkpoint"].rpartition("— ")[0]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_rejected(book: Ledger, change: str) -> None:
    bundle = bundle_of(book, 5)
    checked(copy.deepcopy(bundle))
    CHANGES[change](bundle)
    with pytest.raises(bundle_checker.Rejected):
        checked(bundle)


def test_content_that_is_not_there_is_said(book: Ledger) -> None:
    bundle = bundle_of(book, 5)
    assert "in this order and with this content." in checked(bundle)[-1]
    bundle["entries"][0].update(content=None, salt="", texts=[])
    bundle["entries"][1]["texts"] = []
    lines = checked(bundle)
    assert sum("content not in the bundle, NOT checked" in line for line in lines) == 1
    assert sum("1 of its texts not in the bundle, NOT checked" in line for line in lines) == 1
    assert "content of entries 1 and texts of entries 2 NOT checked" in lines[-1]
    assert "with this content" not in lines[-1]


@pytest.mark.parametrize("forged", [{"salt": "zz"}, {"salt": "00" * 32}, {"texts": [{"salt": "zz", "text": "forged"}]}])
def test_nothing_stands_beside_a_content_that_is_not_there(book: Ledger, forged: dict[str, Any]) -> None:
    bundle = bundle_of(book, 5)
    bundle["entries"][0].update(**{"content": None, "salt": "", "texts": [], **forged})
    with pytest.raises(bundle_checker.Malformed, match="entry 1: it has no content"):
        checked(bundle)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    return [at, *(place for key, item in inner for place in places(item, (*at, key)))]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pick=st.integers(0, 2**20),
    value=st.sampled_from([None, True, 0, -1, 2**60, "", "00", "x" * 64, "\ud800", [], {}, [[]], "{}", "[" * 3000]),
)
def test_junk_anywhere_is_rejected_or_malformed(book: Ledger, pick: int, value: Any) -> None:
    bundle = bundle_of(book, 3)
    every = [place for place in places(bundle) if place and place != ("says",)]
    *path, last = every[pick % len(every)]
    target = bundle
    for key in path:
        target = target[key]
    if target[last] == value:
        return
    if last == "texts" and value == []:
        return  # a text may be left out, and that is said
    target[last] = value
    with pytest.raises((bundle_checker.Rejected, bundle_checker.Malformed, UnicodeError, RecursionError)):
        checked(bundle)


def run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", bundle_checker.__file__, str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=path.parent)


def test_it_runs_alone_with_its_three_exits(book: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    bundle = bundle_of(book, 5)
    path.write_text(json.dumps(bundle))
    keys = ("--key", LOG.public.vkey, "--witness", WITNESS.public.vkey)
    done = run(path, *keys)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("ACCEPTED")
    done = run(path, "--key", generate("example.org/ledger").public.vkey)
    assert done.returncode == 10
    assert done.stdout == "REJECTED: the checkpoint is not signed by the log's key.\n"
    assert run(path).returncode == 2  # the key comes from outside, always
    for broken in ("", "{", '{"a":1,"a":2}', '{"a":1.5}', "[" * 100_000, "\ufeff{}"):
        path.write_text(broken)
        done = run(path, *keys)
        assert (done.returncode, done.stdout[:10], done.stderr) == (2, "MALFORMED:", "")
    assert run(tmp_path / "none.json", *keys).returncode == 2


def test_it_imports_nothing_but_the_standard_library_and_parses_on_python_3_9() -> None:
    source = Path(bundle_checker.__file__).read_text()
    tree = ast.parse(source, feature_version=(3, 9))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert names <= set(sys.stdlib_module_names)
