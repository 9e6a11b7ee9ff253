"""What people say, through the command line: an organizer's hour, who may do what, what the public sees."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import verifier.ledger.times as clock
from tests.integration.conftest import TOY, Said, Verifier
from verifier.ledger import FreeText, Ledger
from verifier.ledger.keys import PrivateKey, fingerprint, generate, save_private
from verifier.ledger.public import check_public, public_lines
from verifier.ledger.signed import signed_content
from verifier.ledger.speak import speak
from verifier.ledger.standing import replay
from verifier.model.errors import TamperingDetected

PEOPLE = ("ann", "bob", "carl", "adm", "org", "rep", "author")
KEYS: dict[str, PrivateKey] = {name: generate(name) for name in PEOPLE}
AUTHOR = ("--author-key", fingerprint(KEYS["author"].public))
DISPUTE, OTHER, REGISTRATION = "ab" * 32, "cd" * 32, "12" * 32
CASE = {
    "case": {"written_by": "writer"},
    "paper": {"title": FreeText("A title")},
    "claim": {"quote": FreeText("its excess is bounded"), "text": FreeText("SECRET of the claim")},
    "dispute": {"reported_by": FreeText("rep")},
    "premise": [{"text": FreeText("a premise"), "checked": "by-us", "source": "here"}],
}


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, str]:
    files = {name: str(tmp_path / f"{name}.key") for name in PEOPLE}
    for name, file in files.items():
        save_private(KEYS[name], file)
    return files


def begun(
    path: Path,
    dispute: str = DISPUTE,
    registration: str = REGISTRATION,
    ruling: str = "UPHELD",
    writer: str = "writer",
) -> None:
    """A ledger, or more of one, with a registration, its evidence and a ruling."""
    with Ledger.open(path, create=True) as book, book.transaction() as transaction:
        case = {"registration": registration, "dispute": dispute, "paper": "arxiv:1", "claim_sha256": "ef" * 32}
        registered = transaction.append(
            kind="registration",
            content={**case, "exploratory": False, "case": {**CASE, "case": {"written_by": writer}}},
            by="engine",
        ).entry
        evidence = transaction.append(
            kind="evidence",
            content={"registration": registration, "probe": "x", "controls": [], "said": FreeText("SECRET evidence")},
            refs=[registered.leaf],
            by="engine",
        ).entry
        transaction.append(
            kind="ruling",
            content={"registration": registration, "ruling": ruling, "exploratory": False},
            refs=[registered.leaf, evidence.leaf],
            by="engine",
        )


Say = Callable[..., Said]


@pytest.fixture
def say(verifier: Verifier, keys: dict[str, str], tmp_path: Path) -> Say:
    """`say("adjudicate", "ann", …)`: the command on the dispute, with that person's key; answers in JSON."""
    begun(tmp_path / "verifier.db")

    def command(name: str, by: str, *flags: str, which: str = DISPUTE[:12]) -> Said:
        return verifier(name, which, "--key", keys[by], "--json", *flags)

    return command


FAILS = "does not hold as stated."
AGREE = ("--agree", "--tie", "none", "--text", "read it")


def stands(said: Said) -> tuple[str, str]:
    assert said.code == 0, said.out
    return said.document["state"], said.document["visibility"]


def refused(said: Said, words: str) -> None:
    assert said.code == 2
    assert re.search(words, said.document["error"]["what"]), said.out


@pytest.mark.slow
def test_an_organizers_hour(verifier: Verifier, keys: dict[str, str], tmp_path: Path) -> None:  # noqa: PLR0915  # an hour
    shutil.copytree(TOY, tmp_path / "toy")
    case = (tmp_path / "toy/case.toml").read_text().replace('reported_by = "somebody"', 'reported_by = "rep"')
    (tmp_path / "toy/case.toml").write_text(case.replace('quote = "its excess is bounded"', 'quote = ""'))

    def packet(audience: str = "organizer") -> str:
        said = verifier("judge", "packet", "arxiv:2401.00001", "--audience", audience)
        assert said.code == 0
        return said.out

    def told(name: str, by: str, *flags: str) -> Said:
        return verifier(name, "toy", "--key", keys[by], "--json", *flags)

    def seen(says: str, *, notes: tuple[str, ...] = (), gone: tuple[str, ...] = ()) -> None:
        """The judge's packet as it stands now, for organizers; the public's has nothing of a private dispute."""
        text = packet()
        assert f"The paper's claim: {says}" in text
        assert all(note in text for note in notes), text
        assert not any(note in text for note in gone), text
        assert ("PRIVATE" in text) == ("No claim of this paper" in packet("public"))

    assert verifier("ledger", "admit", "--administrator", "--key", keys["adm"]).code == 0
    vkey = KEYS["rep"].public.vkey
    assert verifier("ledger", "admit", "--public", vkey, "--pseudonym", "rep", "--key", keys["adm"]).code == 0
    assert verifier("register", "toy", "--trust").code == 0
    assert verifier("docket", "--json").out.count('"state": "open"') == 1
    assert "No claim of this paper" in packet()
    assert verifier("run", "toy", "--trust").code == 0
    unread, disputed = "two independent people have not yet agreed", "a challenge to the ruling is open"
    seen(FAILS, notes=(unread,), gone=(disputed,))

    assert stands(told("adjudicate", "ann", "--group", "g1", *AGREE)) == ("ruled", "private")
    disagreed = told("adjudicate", "bob", "--group", "g2", "--disagree", "--tie", "none", "--text", "not so")
    assert stands(disagreed) == ("ruled", "private")
    assert disagreed.document["challenge_open"]
    seen(FAILS, notes=(unread, disputed))
    refused(told("notify", "org", "--text", "Dear authors"), "a challenge is open")
    decided = ("--end", disagreed.document["leaf"], "--how", "dismissed", "--tie", "none")
    refused(told("challenge", "ann", *decided), "adjudicated")
    assert stands(told("challenge", "carl", *decided)) == ("ruled", "private")
    assert stands(told("adjudicate", "bob", "--group", "g2", *AGREE)) == ("adjudicated", "private")

    seen(FAILS, gone=(unread, disputed, "the paper's words, quoted"))
    refused(told("notify", "org", "--text", "Dear authors"), "not quoted")
    missing = verifier("docket", "--json").document["missing"]
    assert [one["what"] for one in missing] == ["the claim is not quoted in the paper's own words"]
    assert stands(told("correct", "org", "--quote", "its excess is bounded")) == ("adjudicated", "private")
    seen(FAILS, notes=("the paper's words, quoted",))
    refused(told("notify", "org", "--text", "Dear authors"), "only the reporter")
    assert stands(told("notify", "ann", *AUTHOR, "--text", "Dear authors")) == ("notified", "notified")
    seen(FAILS)
    assert stands(told("reply", "author", "--kind", "hypothesis", "--consent")) == (
        "contested",
        "notified",
    )
    refused(told("publish", "ann", "--ground", "consent"), "objection waits")
    refused(told("publish", "ann", "--ground", "window"), "window ends at")
    refused(told("correct", "org", "--answers-notice", "--text", "We clarify."), "only whoever sent the notice")
    assert stands(told("correct", "ann", "--answers-notice", "--text", "We clarify.")) == ("contested", "notified")
    assert verifier("docket", "--audience", "public", "--json").out.count("arxiv") == 0
    assert stands(told("publish", "ann", "--ground", "consent")) == ("contested", "public")
    seen(FAILS)
    assert verifier("docket", "--audience", "public", "--json").out.count("arxiv") > 0
    refused(told("retract", "org", "--text", "We erred."), "only the reporter")
    assert stands(told("retract", "rep", "--text", "We erred.")) == ("retracted", "public")
    seen("not decided, because", notes=("the ruling was retracted",))
    refused(told("adjudicate", "ann", "--group", "g1", *AGREE), "retracted")
    assert verifier("ledger", "verify").code == 0


def test_the_window_is_a_ground_when_it_is_over(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    say("adjudicate", "ann", "--group", "g1", *AGREE)
    say("adjudicate", "bob", "--group", "g2", *AGREE)
    assert say("notify", "ann", "--window-days", "3").document["state"] == "notified"
    now = clock.system_now()
    later = lambda: now + 3 * 86_400 + 60  # noqa: E731  # a clock
    monkeypatch.setattr(Ledger.open.__func__, "__kwdefaults__", {"now": later})
    assert stands(say("publish", "ann", "--ground", "window")) == ("notified", "public")


def test_a_retry_repeats_its_request(say: Say) -> None:
    request = ("--request", "12345678-1234-1234-1234-123456789abc")
    first = say("adjudicate", "ann", "--group", "g1", *AGREE, *request)
    again = say("adjudicate", "ann", "--group", "g1", *AGREE, *request)
    assert (first.document["n"], first.document["found"]) == (4, False)
    assert (again.document["n"], again.document["found"]) == (4, True)
    refused(say("adjudicate", "ann", "--group", "g1", *AGREE, "--request", "1"), "is not a UUID")


def test_a_request_repeated_for_something_else_is_refused(say: Say) -> None:
    request = ("--request", "12345678-1234-1234-1234-123456789abc")
    assert say("adjudicate", "ann", "--group", "g1", *AGREE, *request).code == 0
    for command, flags in (
        ("adjudicate", ("--group", "g1", "--disagree", "--tie", "none", "--text", "read it")),
        ("adjudicate", ("--group", "g2", *AGREE)),
        ("adjudicate", ("--group", "g1", "--agree", "--tie", "none", "--text", "read it twice")),
        ("challenge", ("--group", "g1", "--text", "not so")),
    ):
        refused(say(command, "ann", *flags, *request), "another entry was recorded under this request: entry 4")
    assert not say("challenge", "bob", "--text", "not so", *request).document["found"], "another person's request"


def test_a_key_that_is_somebody_replaces_none(
    say: Say, verifier: Verifier, keys: dict[str, str], tmp_path: Path
) -> None:
    rotate = ("ledger", "rotate", "--json", "--key")
    made = {name: generate(name) for name in ("x", "y", "case", "half")}
    for name, key in made.items():
        save_private(key, tmp_path / f"{name}.key")
        keys[name] = str(tmp_path / f"{name}.key")
    begun(tmp_path / "verifier.db", OTHER, "34" * 32, writer=fingerprint(made["case"].public).upper())
    begun(tmp_path / "verifier.db", OTHER, "35" * 32, writer=fingerprint(made["half"].public)[:16])
    assert say("adjudicate", "ann", "--group", "north", *AGREE).code == 0
    assert verifier("ledger", "admit", "--administrator", "--key", keys["adm"]).code == 0
    vkey = KEYS["carl"].public.vkey
    assert verifier("ledger", "admit", "--public", vkey, "--pseudonym", "writer", "--key", keys["adm"]).code == 0
    assert say("adjudicate", "bob", "--group", "south", *AGREE).code == 0
    assert say("notify", "bob", *AUTHOR).code == 0
    for taken in ("ann", "adm", "carl", "author", "case", "half"):
        refused(verifier(*rotate, keys["x"], "--new", keys[taken]), "is somebody's already")
    assert verifier(*rotate, keys["x"], "--new", keys["y"]).code == 0


def test_a_key_that_replaced_one_keeps_the_name_of_its_owner(
    say: Say, verifier: Verifier, keys: dict[str, str], tmp_path: Path
) -> None:
    made = {name: generate(name) for name in ("two", "three")}
    for name, key in made.items():
        save_private(key, tmp_path / f"{name}.key")
        keys[name] = str(tmp_path / f"{name}.key")
    assert verifier("ledger", "rotate", "--key", keys["carl"], "--new", keys["two"]).code == 0
    assert verifier("ledger", "rotate", "--key", keys["two"], "--new", keys["three"]).code == 0
    begun(tmp_path / "verifier.db", DISPUTE, "34" * 32, writer=fingerprint(made["two"].public))
    assert say("adjudicate", "ann", "--group", "north", *AGREE).code == 0
    said = say("adjudicate", "three", "--group", "south", *AGREE)
    assert stands(said) == ("ruled", "private")
    assert "does not count: its author wrote a case" in said.document["sentence"]
    assert "does not count: no --group" in say("adjudicate", "bob", *AGREE).document["sentence"]
    assert stands(say("adjudicate", "bob", "--group", "south", *AGREE)) == ("adjudicated", "private")
    author = ("--author-key", fingerprint(KEYS["author"].public))
    save_private(generate("author2"), tmp_path / "author2.key")
    keys["author2"] = str(tmp_path / "author2.key")
    assert say("notify", "bob", *author).code == 0
    assert verifier("ledger", "rotate", "--key", keys["author"], "--new", keys["author2"]).code == 0
    assert stands(say("reply", "author2", "--kind", "agrees", "--consent")) == ("acknowledged", "notified")
    assert stands(say("publish", "bob", "--ground", "consent")) == ("acknowledged", "public")


def test_an_author_named_by_a_later_key_replies(
    say: Say, verifier: Verifier, keys: dict[str, str], tmp_path: Path
) -> None:
    later = generate("author2")
    save_private(later, tmp_path / "author2.key")
    keys["author2"] = str(tmp_path / "author2.key")
    assert verifier("ledger", "rotate", "--key", keys["author"], "--new", keys["author2"]).code == 0
    for by, group in (("ann", "north"), ("bob", "south")):
        assert say("adjudicate", by, "--group", group, *AGREE).code == 0
    assert say("notify", "bob", "--author-key", fingerprint(later.public)).code == 0
    assert stands(say("reply", "author2", "--kind", "agrees", "--consent")) == ("acknowledged", "notified")


def test_consent_typed_in_publishes_nothing(say: Say, verifier: Verifier, keys: dict[str, str]) -> None:
    assert verifier("ledger", "admit", "--administrator", "--key", keys["adm"]).code == 0
    for by, group in (("ann", "north"), ("bob", "south")):
        assert say("adjudicate", by, "--group", group, *AGREE).code == 0
    refused(say("notify", "org", "--text", "Dear authors"), "only the reporter")
    assert say("notify", "adm", "--text", "Dear authors").code == 0
    typed = ("--kind", "agrees", "--consent", "--on-behalf-of", "the first author")
    refused(say("reply", "org", *typed), "key that the notice names")
    assert stands(say("reply", "adm", *typed)) == ("acknowledged", "notified")
    refused(say("publish", "adm", "--ground", "consent"), "was typed in")


def test_the_log_says_what_an_adjudication_says(say: Say, verifier: Verifier) -> None:
    say("adjudicate", "ann", "--group", "g1", *AGREE)
    say("adjudicate", "bob", "--group", "g2", "--disagree", "--tie", "coauthor")
    out = verifier("ledger", "log").out
    for words, group in ((" agrees; tie none", "group g1"), ("disagrees; tie coauthor", "group g2")):
        assert f"{words}; dispute {DISPUTE[:12]}; {group}" in out


@pytest.mark.parametrize(
    ("name", "flags", "words"),
    [
        ("challenge", ["--text", " "], "says nothing"),
        ("challenge", ["--how", "withdrawn"], "no challenge to end"),
        ("challenge", ["--end", "00" * 32, "--how", "dismissed"], "not said"),
        ("challenge", ["--end", "00" * 32, "--how", "withdrawn"], "no entry of this ledger"),
        ("reply", ["--kind", "agrees"], "not written to"),
        ("reply", ["--kind", "fixed-in-version"], "--version goes with"),
        ("correct", ["--premise", "2=by-us"], "no premise 2"),
        ("correct", ["--premise", "x=by-us"], "not the number"),
        ("correct", ["--premise", "1=perhaps"], "not what this option takes"),
        ("correct", ["--source-sha256", "xy"], "is not a SHA-256"),
        ("correct", ["--later-version", "v2=unchanged"], "not an arXiv id"),
        ("correct", [], "amends nothing"),
        ("retract", [], "gives no reason"),
        ("publish", ["--ground", "not-upheld", "--source", "x"], "UPHELD"),
        ("adjudicate", ["--agree", "--tie", "none", "--reading", "00" * 32], "no entry of this ledger"),
    ],
)
def test_what_is_not_allowed_is_one_sentence_and_appends_nothing(
    say: Say, tmp_path: Path, name: str, flags: list[str], words: str
) -> None:
    refused(say(name, "org", *flags), words)
    with Ledger.open(tmp_path / "verifier.db", create=False) as book:
        assert book.verify().size == 3


def test_a_dispute_is_named_by_its_id_or_case(say: Say) -> None:
    refused(say("adjudicate", "ann", *AGREE, which="abab"), "neither a case folder")
    refused(say("adjudicate", "ann", *AGREE, which="00" * 6), "no dispute registered")


def test_a_reading_is_bound_to_evidence_of_the_dispute(say: Say, tmp_path: Path) -> None:
    begun(tmp_path / "verifier.db", OTHER, "34" * 32)
    with Ledger.open(tmp_path / "verifier.db", create=False) as book:
        own, foreign = (entry.leaf for entry in book.entries("evidence"))
    reading = ("--group", "g1", *AGREE, "--reading")
    assert say("adjudicate", "ann", *reading, own[:20]).code == 0
    refused(say("adjudicate", "ann", *reading, foreign), "not evidence of this dispute")


def test_what_is_appended_past_the_commands_changes_nothing(say: Say, tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "verifier.db", create=False) as book:
        ruling = next(book.entries("ruling")).leaf
        fields: dict[str, Any] = {"target": ruling, "window_days": 1, "author_keys": [], "text": FreeText("")}
        rest = {
            "kind": "author-notice",
            "dispute": DISPUTE,
            "group": "",
            "request": "12345678-1234-1234-1234-123456789abc",
        }
        good = signed_content({**rest, **fields}, KEYS["org"])
        by = fingerprint(KEYS["org"].public)
        forged = [
            ({**good}, by, "the contact gate is closed"),
            ({**good, "window_days": 2}, by, "signature does not hold"),
            ({**good, "key": "AA=="}, by, "carries no key"),
            ({**good}, "organizer", "another name"),
            ({name: value for name, value in good.items() if name != "signature"}, by, "signature does not hold"),
        ]
        for content, name, _ in forged:
            with book.transaction() as transaction:
                last = replay(transaction.entries())[DISPUTE].last
                refs = list(dict.fromkeys([last, ruling]))
                transaction.append(kind="author-notice", content={**content}, by=name, refs=refs)
        status = replay(book.entries())[DISPUTE]
        assert str(status.state) == "ruled"
        for (_, because), (_, _, words) in zip(status.refused, forged, strict=True):
            assert words in because
    assert say("docket", "org").code == 2, "the docket takes no dispute"


def test_a_rotated_key_is_the_same_person(say: Say, verifier: Verifier, keys: dict[str, str], tmp_path: Path) -> None:
    say("adjudicate", "ann", "--group", "g1", *AGREE)
    new = generate("ann2")
    save_private(new, tmp_path / "ann2.key")
    keys["ann2"] = str(tmp_path / "ann2.key")
    assert verifier("ledger", "rotate", "--key", keys["ann"], "--new", keys["ann2"]).code == 0
    assert stands(say("adjudicate", "ann2", "--group", "g2", *AGREE)) == ("ruled", "private")
    refused(say("adjudicate", "ann", "--group", "g1", *AGREE), "was replaced")
    assert stands(say("adjudicate", "bob", "--group", "g3", *AGREE)) == ("adjudicated", "private")


def test_only_an_administrator_admits_and_withholds(say: Say, verifier: Verifier, keys: dict[str, str]) -> None:
    admit = ("ledger", "admit", "--json", "--key")
    refused(verifier(*admit, keys["ann"], "--pseudonym", "rep"), "no administrator yet")
    assert verifier(*admit, keys["adm"], "--administrator").code == 0
    refused(verifier(*admit, keys["ann"], "--administrator"), "only an administrator")
    refused(say("withhold", "ann", which="2"), "only an administrator withholds")
    refused(say("withhold", "adm", "--whole", which="3"), "needed to understand a ruling")
    refused(say("withhold", "adm", "--whole", which="2"), "needed to understand a ruling")
    refused(say("withhold", "adm", "--at", "/nowhere", which="2"), "no text at /nowhere")


def test_a_withheld_text_is_gone_and_nothing_else_may_be(
    say: Say, verifier: Verifier, keys: dict[str, str], tmp_path: Path
) -> None:
    assert verifier("ledger", "admit", "--administrator", "--key", keys["adm"]).code == 0
    say("challenge", "bob", "--text", "SECRET challenge")
    assert say("withhold", "adm", which="2").code == 0
    assert say("withhold", "adm", "--at", "/text", which="5").code == 0
    with Ledger.open(tmp_path / "verifier.db", create=False) as book:
        assert book.verify().size == 7
        assert book.entry(2).content["said"] == book.entry(5).content["text"] == "[withheld]"
        assert str(replay(book.entries())[DISPUTE].challenge_open) == "True", "the signature holds without the text"
        book.rebuild()
        book.verify()
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("verifier.db*"))
    assert b"SECRET evidence" not in stored
    assert b"SECRET challenge" not in stored
    assert b"SECRET of the claim" in stored
    with Ledger.open(tmp_path / "verifier.db", create=False) as book, book.transaction() as transaction:
        transaction.withhold(1, [book.entry(1).texts[0].commitment])
    assert verifier("ledger", "verify").code == 4


def test_a_whole_import_may_be_withheld(say: Say, verifier: Verifier, keys: dict[str, str], tmp_path: Path) -> None:
    assert verifier("ledger", "admit", "--administrator", "--key", keys["adm"]).code == 0
    with Ledger.open(tmp_path / "verifier.db", create=False) as book, book.transaction() as transaction:
        transaction.append(kind="import", content={"verdict": "SECRET verdict"}, by="importer")
    assert say("withhold", "adm", "--whole", which="5").code == 0
    with Ledger.open(tmp_path / "verifier.db", create=False) as book:
        assert book.verify().size == 6
        assert (book.entry(5).content, book.entry(5).withheld) == ({}, True)
    assert b"SECRET verdict" not in b"".join(file.read_bytes() for file in tmp_path.glob("verifier.db*"))
    for command in (("ledger", "log"), ("ledger", "show", "5"), ("docket", "--all")):
        assert verifier(*command).code == 0


def test_the_public_sees_public_disputes_only(
    say: Say, verifier: Verifier, keys: dict[str, str], tmp_path: Path
) -> None:
    begun(tmp_path / "verifier.db", OTHER, "34" * 32, ruling="DISMISSED")
    assert verifier("ledger", "admit", "--administrator", "--key", keys["adm"]).code == 0
    say("challenge", "bob", "--text", "PRIVATE challenge")
    published = say("publish", "adm", "--ground", "not-upheld", "--source", "a public Space", which=OTHER)
    assert published.document["visibility"] == "public"
    said = verifier("ledger", "export", "--public", "--out", "public.jsonl", "--json")
    assert (said.code, said.document["shown"]) == (0, 4)
    text = (tmp_path / "public.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert "PRIVATE" not in text
    assert DISPUTE not in text
    assert "a public Space" in text
    with Ledger.open(tmp_path / "verifier.db", create=False) as book:
        assert check_public(lines) == book.root
        assert list(public_lines(book.entries())) == lines
    for number, change in ((4, {"content": lines[4]["content"].replace("A", "B")}), (2, {"leaf": "00" * 32})):
        broken = [{**line, **change} if at == number else line for at, line in enumerate(lines)]
        if broken != lines:
            with pytest.raises(TamperingDetected):
                check_public(broken)
    with pytest.raises(TamperingDetected):
        check_public(lines[:-1])


def test_speaking_of_a_dispute_that_is_not_there(tmp_path: Path) -> None:
    begun(tmp_path / "verifier.db")
    with Ledger.open(tmp_path / "verifier.db", create=False) as book:
        with pytest.raises(Exception, match="no dispute"):
            speak(book, private=KEYS["ann"], kind="challenge", fields=lambda _read: {}, dispute=OTHER)
        assert book.verify().size == 3
