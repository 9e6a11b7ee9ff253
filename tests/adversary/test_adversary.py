"""Two attackers on a ledger of 64 entries, and what a reader with keys and checkpoints from outside sees of it.

Attacker A writes the store, knows the code and has no key. Attacker B also has the log's key. The reader has the log's
verifier key, a witness's, and checkpoints of 16, 32 and 48 entries that both signed.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.adversary.attacks import ATTACKS, DEPTHS, Attacked, attacked
from tests.adversary.postgres import PostgresTarget
from tests.adversary.signatures import FORGERIES, forged
from tests.adversary.store import Book, Row, Target, read
from tests.postgres import Server
from verifier.cli.main import main
from verifier.ledger import FreeText, Ledger, Verification
from verifier.ledger.checkpoints import open_checkpoint, sign_checkpoint
from verifier.ledger.keys import KeyType, PrivateKey, generate
from verifier.ledger.merkle import Tree
from verifier.ledger.notes import Note
from verifier.ledger.proofs import anchors_of
from verifier.ledger.witness import cosign_next
from verifier.model.errors import TamperingDetected

SIZE, CHECKPOINTS = 64, (16, 32, 48)
NEWEST = max(CHECKPOINTS)
# attacker -> store -> the numbers of the attacks that are made on it
SEEDS = {
    "A": {"SQLite": (0, 5600), "PostgreSQL": (5600, 7000)},
    "B": {"SQLite": (0, 2400), "PostgreSQL": (2400, 3000)},
}
PAGE = Path(__file__).parents[2] / "docs/ledger-attacks.md"


@dataclass
class Scene:
    """The honest ledger, a file for attacked ones and a reader of it, the keys, and the notes that the reader keeps."""

    honest: Book
    target: Target | PostgresTarget
    ledger: Ledger
    log: PrivateKey
    witness: PrivateKey
    notes: list[Note]

    @property
    def tree(self) -> Tree:
        return Tree(row.leaf for row in self.honest.rows)

    def read(self, notes: Sequence[Note], *, witnessed: bool = True) -> Verification:
        """All that a reader does. Raises TamperingDetected."""
        witnesses = [self.witness.public] if witnessed else []
        opened = [
            open_checkpoint(str(note).encode(), key=self.log.public, witnesses=witnesses, where="checkpoint")
            for note in notes
        ]
        return self.ledger.verify(anchors=anchors_of(opened))


def write_honest(path: Path) -> None:
    second = iter(range(1_700_000_000, 1_800_000_000, 60))
    with Ledger.open(path, create=True, now=lambda: next(second)) as ledger, ledger.transaction() as transaction:
        for case in range(4):
            content = {"registration": f"{case:064x}", "number": 0, "quote": FreeText(f"the claim {case}")}
            first = transaction.append(kind="registration", content=content, by="engine").entry
            leaves, ruling = [first.leaf], None
            for number in range(1, SIZE // 4):
                kind = "evidence" if number % 5 else "ruling"
                entry = transaction.append(
                    kind=kind,
                    content={**content, "number": number, "says": FreeText(f"größer {number}")},
                    refs=leaves[-3:],
                    supersedes=ruling if kind == "ruling" else None,
                    by="engine",
                    group="one",
                ).entry
                leaves.append(entry.leaf)
                ruling = entry.leaf if kind == "ruling" else ruling


@pytest.fixture(scope="module")
def honest_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("adversary") / "honest.db"
    write_honest(path)
    return path


@pytest.fixture(scope="module")
def scene(honest_file: Path) -> Iterator[Scene]:
    with contextlib.closing(Target(honest_file, honest_file.with_name("verifier.db"))) as target:
        yield from scene_of(read(honest_file), target)


@pytest.fixture(scope="module")
def postgres_scene(honest_file: Path, postgres: Server) -> Iterator[Scene]:
    with contextlib.closing(PostgresTarget(honest_file, postgres.new_ledger())) as target:
        yield from scene_of(read(honest_file), target)


def scene_of(honest: Book, target: Target | PostgresTarget) -> Iterator[Scene]:
    log, witness = generate("example.org/ledger"), generate("w.example/one", KeyType.COSIGNATURE)
    tree, seen, notes = Tree(row.leaf for row in honest.rows), None, []
    for second, size in enumerate(CHECKPOINTS, start=1_700_000_000):
        seen = cosign_next(
            str(sign_checkpoint(log, size=size, root=tree.root(size))).encode(),
            log=log.public,
            private=witness,
            seen=None if seen is None else str(seen).encode(),
            prove=tree.consistency_proof,
            second=second,
            where="checkpoint",
        )
        notes.append(seen)
    # one reader for all attacks: what it costs to open a ledger is not the question here
    with Ledger.open(target.url, create=False) as ledger:
        yield Scene(honest, target, ledger, log, witness, notes)


def touched(book: Book, honest: Book) -> int:
    """The lowest number whose row differs in anything, is missing or is new."""
    blank = Row(0, b"", "", None, b"", b"", b"", b"")
    ours, theirs = ({row.n: row for row in one.rows} for one in (book, honest))
    return min(n for n in ours.keys() | theirs.keys() if ours.get(n, blank) != theirs.get(n, blank))


def check_location(found: TamperingDetected, attack: Attacked, honest: Book) -> None:
    """The entry where stored hashes show it, else the interval between checkpoints."""
    if attack.agrees:
        first, last = map(int, re.fullmatch(r"ledger entries (\d+) to (\d+)", found.where).groups())
        assert first <= attack.book.first_change(honest) <= last
        assert first - 1 in (0, len(attack.book.rows), *CHECKPOINTS)
        assert last in CHECKPOINTS
    elif attack.name == "head":
        assert re.fullmatch(r"ledger (head|entry \d+)", found.where)
    else:
        assert found.where == f"ledger entry {touched(attack.book, honest)}"


def attacker_a(scene: Scene, seed: int) -> str:
    """One attack of A: "caught" or "missed". Anything unexpected fails."""
    attack = attacked(scene.honest, seed)
    scene.target.write(attack.book)
    above = attack.book.first_change(scene.honest) > NEWEST
    try:
        found = scene.read(scene.notes)
    except TamperingDetected as error:
        check_location(error, attack, scene.honest)
        assert not (attack.agrees and above)
        return "caught"
    # what stands above the newest checkpoint and agrees with itself is nobody's word but the store's, and that is said
    assert attack.agrees, attack
    assert above, attack
    assert found.vouched == NEWEST
    assert found.size == len(attack.book.rows)
    if found.size > NEWEST:
        assert f"Nothing outside this ledger vouches for entr{'y' if found.size == NEWEST + 1 else 'ies'} 49" in (
            found.sentence_by("checkpoint")
        )
    return "missed"


def attacker_b(scene: Scene, seed: int) -> str:
    """One attack of B: the ledger rewritten, a new checkpoint signed over it, and a cosignature made up."""
    attack = attacked(scene.honest, seed)
    scene.target.write(attack.book)
    name = list(FORGERIES)[seed // len(ATTACKS) % len(FORGERIES)]
    note = forged(name, scene.notes, attack.book, log=scene.log, witness=scene.witness)
    # the reader is handed the new checkpoint alone, and asks for the witness
    with pytest.raises(TamperingDetected):
        scene.read([note])
    # an honest witness that is asked to cosign it, with whatever proofs the rewritten store gives
    fresh = sign_checkpoint(scene.log, size=attack.book.size, root=attack.book.root)
    tree = Tree(row.leaf for row in attack.book.rows)
    below = attack.book.first_change(scene.honest) <= NEWEST
    if attack.agrees and below and attack.book.size >= NEWEST:
        with pytest.raises(TamperingDetected):
            cosign_next(
                str(fresh).encode(),
                log=scene.log.public,
                private=scene.witness,
                seen=str(scene.notes[-1]).encode(),
                prove=tree.consistency_proof,
                second=1_700_000_100,
                where="checkpoint",
            )
    # a reader who keeps a witnessed checkpoint catches B as A
    if attack.agrees and below:
        with pytest.raises(TamperingDetected) as caught:
            scene.read(scene.notes)
        check_location(caught.value, attack, scene.honest)
    # a reader who trusts the log alone takes a rewritten ledger for the log's: the reason for witnesses
    try:
        scene.read([fresh], witnessed=False)
    except TamperingDetected:
        assert not attack.agrees
        return "caught"
    assert attack.agrees
    return "missed without a witness"


def test_the_honest_ledger_is_vouched_for(scene: Scene) -> None:
    scene.target.write(scene.honest)
    found = scene.read(scene.notes)
    assert (found.size, found.vouched) == (SIZE, NEWEST)
    assert [scene.read([note]).vouched for note in scene.notes] == list(CHECKPOINTS)


def test_300_attacks(scene: Scene) -> None:
    a = Counter(attacker_a(scene, seed) for seed in range(200))
    b = Counter(attacker_b(scene, seed) for seed in range(100))
    assert a["caught"] > 150
    assert a["missed"] > 5
    assert b["missed without a witness"] > 10


def test_every_attack_is_made_at_every_depth(scene: Scene) -> None:
    made = [attacked(scene.honest, seed) for seed in range(300)]
    assert {(one.name, one.depth) for one in made} == {(name, depth) for name in ATTACKS for depth in DEPTHS}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_no_forged_checkpoint_is_taken(scene: Scene, forgery: str) -> None:
    scene.target.write(scene.honest)
    with pytest.raises(TamperingDetected):
        scene.read([forged(forgery, scene.notes, scene.honest, log=scene.log, witness=scene.witness)])


def counted(kind: str, start: int, stop: int, scene: Scene) -> Counter[tuple[str, str]]:
    attack = {"A": attacker_a, "B": attacker_b}[kind]
    names = list(ATTACKS)
    return Counter((names[seed % len(names)], attack(scene, seed)) for seed in range(start, stop))


def on_the_page(kind: str, store: str) -> dict[str, tuple[int, int]]:
    """Attack -> (made, missed), as the page's table of that attacker says of a store."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## Attacker {kind}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z-]+)" + r" \| (\d+) \| (\d+)" * 2 + r" \|$", section, re.MULTILINE)
    first = 2 * list(SEEDS["A"]).index(store)
    return {name: (int(counts[first]), int(counts[first + 1])) for name, *counts in rows}


def misses_what_the_page_says(scene: Scene, kind: str, store: str) -> None:
    found = counted(kind, *SEEDS[kind][store], scene)
    made = Counter(name for (name, _), n in found.items() for _ in range(n))
    missed = Counter({name: n for (name, answer), n in found.items() if answer != "caught"})
    assert {name: (made[name], missed[name]) for name in ATTACKS} == on_the_page(kind, store)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
def test_8000_attacks_on_sqlite_miss_what_the_page_says(scene: Scene, kind: str) -> None:
    misses_what_the_page_says(scene, kind, "SQLite")


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
def test_2000_attacks_on_postgresql_miss_what_the_page_says(postgres_scene: Scene, kind: str) -> None:
    misses_what_the_page_says(postgres_scene, kind, "PostgreSQL")


def outside(scene: Scene, tmp_path: Path) -> list[str]:
    """What a reader types: the keys, and checkpoints from a folder the attacker cannot write."""
    words = ["--key", scene.log.public.vkey, "--witness", scene.witness.public.vkey]
    for size, note in zip(CHECKPOINTS, scene.notes, strict=True):
        (tmp_path / f"{size}.txt").write_text(str(note), encoding="utf-8")
        words += ["--checkpoint", str(tmp_path / f"{size}.txt")]
    return words


def test_50_attacks_through_the_command_line(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fifty_through_the_command_line(scene, outside(scene, tmp_path), monkeypatch, capsys)


@pytest.mark.slow
def test_50_attacks_on_postgresql_through_the_command_line(
    postgres_scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fifty_through_the_command_line(postgres_scene, outside(postgres_scene, tmp_path), monkeypatch, capsys)


def fifty_through_the_command_line(
    scene: Scene, words_outside: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    for seed in range(50):
        attack = attacked(scene.honest, seed)
        scene.target.write(attack.book)
        words = ["verifier", "ledger", "verify", "--ledger", scene.target.url, *words_outside, "--json"]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as stop:
            main()
        document = json.loads(capsys.readouterr().out)
        if attack.agrees and attack.book.first_change(scene.honest) > NEWEST:
            assert (stop.value.code, document["vouched"]) == (0, NEWEST)
        else:
            assert stop.value.code == 4
            check_location(TamperingDetected("", where=document["error"]["where"]), attack, scene.honest)


def test_an_older_checkpoint_vouches_for_less_and_says_so(scene: Scene) -> None:
    """A replayed checkpoint is an honest one: what it misses is above it."""
    scene.target.write(replace(scene.honest))
    assert scene.read(scene.notes[:1]).vouched == CHECKPOINTS[0]
