"""No sequence of entries publishes a private dispute: a mixed ledger is written, exported every way, and searched."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.integration.conftest import Verifier
from tests.integration.judged import ledger_of
from tests.integration.served import BASE, Served
from verifier.judge import JudgeIndex
from verifier.ledger import FreeText, Ledger
from verifier.ledger.audience import visible
from verifier.ledger.keys import PrivateKey, fingerprint, generate
from verifier.ledger.public import check_public, public_lines
from verifier.ledger.signed import signed_content
from verifier.ledger.speak import speak
from verifier.ledger.standing import Replay
from verifier.model.errors import VerifierError

KEYS: dict[str, PrivateKey] = {name: generate(name) for name in ("adm", "author", "ann", "bob", "carl")}
DISPUTES = {name: name[-1] * 64 for name in ("dispute-a", "dispute-b", "dispute-c")}
NAMES = st.sampled_from(sorted(DISPUTES))
START = 1_700_000_000


def marker(name: str) -> str:
    return f"ONLY-{name}"


class MixedLedger(RuleBasedStateMachine):
    """Three disputes in one ledger, each of whose entries carry its own marker in every text and name."""

    published: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = START
        self.count = 0
        self.book = Ledger.open(Path(self.folder.name) / "verifier.db", create=True, now=lambda: self.now)
        self.public: set[str] = set()
        self.accepted: set[str] = set()
        self.said("adm", "key", "", self.administrator())
        for number, name in enumerate(sorted(DISPUTES)):
            self.register(name, number, "UPHELD" if number != 1 else "DISMISSED")

    def teardown(self) -> None:
        with self.book:
            self.search()
        self.folder.cleanup()

    def administrator(self) -> dict[str, Any]:
        sealed = signed_content({}, KEYS["adm"])
        return {"role": "administrator", "public": sealed["key"], "pseudonym": "", "replaces": "", "proof": ""}

    def register(self, name: str, number: int, ruling: str) -> None:
        mark = marker(name)
        registration = f"{self.count:04x}" * 16
        self.count += 1
        case = {
            "case": {"written_by": mark},
            "paper": {"title": FreeText(mark), "arxiv": "2401.00001v1"},
            "claim": {"quote": FreeText(mark), "text": FreeText(mark)},
            "dispute": {"reported_by": FreeText(mark)},
        }
        content = {"registration": registration, "dispute": DISPUTES[name], "paper": f"arxiv:{number}", "case": case}
        with self.book.transaction() as transaction:
            first = transaction.append(
                kind="registration", content={**content, "claim_sha256": mark, "exploratory": False}, by="engine"
            ).entry
            about = {"registration": registration, "probe": mark, "controls": [], "outcome": mark}
            evidence = transaction.append(kind="evidence", content=about, refs=[first.leaf], by="engine").entry
            transaction.append(
                kind="ruling",
                content={"registration": registration, "ruling": ruling, "exploratory": False, "because": mark},
                refs=[first.leaf, evidence.leaf],
                by="engine",
            )
        if ruling == "UPHELD" and self.public_unheard(name):
            self.public.discard(name)

    def public_unheard(self, name: str) -> bool:
        """Whether it was made public on the ground that nothing was upheld."""
        grounds = [
            entry.content["ground"]
            for entry in self.book.entries("publication")
            if entry.content["dispute"] == DISPUTES[name] and entry.leaf in self.accepted
        ]
        return bool(grounds) and grounds[-1] == "not-upheld"

    def said(self, by: str, kind: str, name: str, fields: dict[str, Any], group: str = "") -> bool:
        """Says it through the front door; whether it was accepted."""
        dispute = DISPUTES.get(name, "")

        def content(read: Replay) -> dict[str, Any]:
            status = read.statuses.get(dispute)
            target = {
                "author-reply": status.notice.leaf if status and status.notice else "",
                "challenge-end": status.challenges[0].leaf if status and status.challenges else "",
            }.get(kind, status.ruling.leaf if status and status.ruling else "")
            text = {} if kind in ("key", "publication") else {"text": FreeText(marker(name))}
            named = {} if kind in ("key", "publication", "correction") else {"target": target}
            notices = {"notices": [one.leaf for one in status.notices]} if kind == "retraction" and status else {}
            return {**fields, **text, **named, **notices}

        try:
            spoken = speak(self.book, private=KEYS[by], kind=kind, fields=content, dispute=dispute, group=group)
        except VerifierError:
            return False
        self.accepted.add(spoken.entry.leaf)
        return True

    @rule(name=NAMES)
    def to_a_notice(self, name: str) -> None:
        for by in ("ann", "bob"):
            fields = {"about": "ruling", "agrees": True, "tie": "none"}
            self.said(by, "adjudication", name, fields, group=f"{marker(name)}-{by}")
        author = fingerprint(KEYS["author"].public)
        self.said("ann", "author-notice", name, {"window_days": 7, "author_keys": [author]})

    @rule(name=NAMES, consent=st.booleans())
    def reply(self, name: str, consent: bool) -> None:  # noqa: FBT001  # drawn by name
        fields = {"reply": "agrees", "consent": consent, "version": "", "on_behalf_of": FreeText(marker(name))}
        self.said("author", "author-reply", name, fields)

    @rule(name=NAMES)
    def publish(self, name: str) -> None:
        """On any ground by anybody, until somebody may."""
        for by in ("carl", "ann", "adm"):
            for ground in ("not-upheld", "consent", "window"):
                if self.said(by, "publication", name, {"ground": ground, "source": FreeText(marker(name))}):
                    assert by in ("ann", "adm")
                    self.public.add(name)
                    type(self).published += 1

    @rule(name=NAMES)
    def challenge(self, name: str) -> None:
        self.said("carl", "challenge", name, {})

    @rule(name=NAMES)
    def withdraw(self, name: str) -> None:
        self.said("carl", "challenge-end", name, {"how": "withdrawn", "tie": "none"})

    @rule(name=NAMES)
    def retract(self, name: str) -> None:
        self.said("adm", "retraction", name, {})

    @rule(name=NAMES, ruling=st.sampled_from(["UPHELD", "DISMISSED", "NO_ANSWER"]))
    def rule_again(self, name: str, ruling: str) -> None:
        number = sorted(DISPUTES).index(name)
        self.register(name, number, ruling)

    @rule(days=st.integers(min_value=1, max_value=8))
    def wait(self, days: int) -> None:
        self.now += days * 86_400

    @rule(name=NAMES, kind=st.sampled_from(["publication", "author-notice"]), by=st.sampled_from(sorted(KEYS)))
    def past_the_commands(self, name: str, kind: str, by: str) -> None:
        """Appended without asking the table, by somebody who can write the store: signed, but by nobody who may."""
        with self.book.transaction() as transaction:
            read = Replay()
            for entry in transaction.entries():
                read.add(entry)
            status = read.statuses[DISPUTES[name]]
            rest = {
                "kind": kind,
                "dispute": DISPUTES[name],
                "group": "",
                "request": f"{self.count:08x}-0000-0000-0000-000000000000",
            }
            self.count += 1
            own = {"ground": "window", "source": FreeText("")} if kind == "publication" else {"target": "00" * 32}
            content = signed_content({**rest, **own}, KEYS["carl"])
            if by != "carl":
                content["key"] = signed_content({}, KEYS[by])["key"]  # another's key under carl's signature
            transaction.append(kind=kind, content=content, by=fingerprint(KEYS[by].public), refs=[status.last])

    def search(self) -> None:
        lines = list(public_lines(self.book.entries()))
        assert check_public(lines) == self.book.root
        shown = visible(self.book.entries(), "public")
        served = Served(Path(self.folder.name) / "verifier.db")
        with served.ledger:
            asked = [f"{BASE}/verdicts?paper=arxiv:{n}" for n in range(3)]
            crawled = served.crawl(*asked, *(f"{BASE}/disputes/{one}" for one in DISPUTES.values()))
        for text in (json.dumps(lines), repr(shown), crawled):
            for name in DISPUTES:
                assert (marker(name) in text) == (name in self.public), (name, self.public)


def search(examples: int, steps: int) -> None:
    MixedLedger.published = 0
    run_state_machine_as_test(  # type: ignore[no-untyped-call]  # hypothesis has no types for it
        MixedLedger,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_short_search() -> None:
    search(3, 10)


@pytest.mark.slow
def test_a_long_search_publishes_often_and_shows_nothing_else() -> None:
    search(12, 25)
    assert MixedLedger.published >= 1


def test_every_way_out_of_the_command_line(verifier: Verifier, tmp_path: Path) -> None:
    mixed = MixedLedger()
    mixed.publish("dispute-b")
    mixed.to_a_notice("dispute-a")
    mixed.challenge("dispute-c")
    assert mixed.public == {"dispute-b"}
    url = str(Path(mixed.folder.name) / "verifier.db")
    mixed.book.close()
    said = [verifier("ledger", "export", "--public", "--out", "public.jsonl", "--json", "--ledger", url).out]
    said += [(tmp_path / "public.jsonl").read_text()]
    for flags in ([], ["--json"], ["--all"]):
        said += [verifier("docket", "--audience", "public", "--ledger", url, *flags).out]
    for paper in ("arxiv:0", "arxiv:1", "arxiv:2"):
        for command, *flags in (("show",), ("show", "--json"), ("packet",), ("contested", "--json")):
            done = verifier("judge", command, paper, "--audience", "public", "--ledger", url, *flags)
            assert done.code in (0, 2), done
            said += [done.out, done.err]
    done = verifier("judge", "show", "--format", "verdicts", "--out", "verdicts.json", "--ledger", url)
    said += [done.out, done.err]
    said += [(tmp_path / "verdicts.json").read_text()] if (tmp_path / "verdicts.json").exists() else []
    everything = "\n".join(said)
    assert marker("dispute-b") in everything
    assert marker("dispute-a") not in everything
    assert marker("dispute-c") not in everything
    assert DISPUTES["dispute-a"] not in everything
    mixed.teardown()


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_private_paper_is_answered_like_an_unknown_one(
    verifier: Verifier, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    ledger_of(
        tmp_path / "verifier.db",
        {"paper": "arxiv:1408.3595", "version": "1408.3595v1", "space": "one"},
        {"paper": "openreview:ESa07RwpVr", "version": "2606.01342v1", "space": "two"},
    )

    def said(command: str, paper: str, audience: str) -> str:
        done = verifier("judge", command, paper, "--audience", audience, *flags)
        assert done.code == 0, done
        # a packet's own hash is over the name that was asked for
        return re.sub(r'"sha256": "\w+"', "", (done.out + done.err).replace(paper, "PAPER"))

    for command in ("show", "packet", "contested"):
        for private, unknown in (
            ("1408.3595", "1408.3596"),
            ("2606.01342", "2606.01343"),
            ("ESa07RwpVr", "ESa07RwpVs"),
        ):
            assert said(command, private, "public") == said(command, unknown, "public")
    assert "PRIVATE" in said("show", "1408.3595", "organizer") or "--json" in flags
    assert "openreview:ESa07RwpVr" in said("show", "2606.01342", "organizer")


def test_a_private_dispute_lends_a_public_paper_no_name(tmp_path: Path) -> None:
    paper = "openreview:ESa07RwpVr"
    public, _ = ledger_of(
        tmp_path / "verifier.db",
        {"paper": paper, "version": "", "space": "one", "ruling": "DISMISSED"},
        {"paper": paper, "version": "2606.01342v1", "space": "two"},
    )
    with Ledger.open(tmp_path / "verifier.db", create=False) as book:
        sealed = signed_content({}, KEYS["adm"])
        key = {"role": "administrator", "public": sealed["key"], "pseudonym": "", "replaces": "", "proof": ""}
        speak(book, private=KEYS["adm"], kind="key", fields=lambda _read: key)
        ground = {"ground": "not-upheld", "source": FreeText("a Space")}
        speak(book, private=KEYS["adm"], kind="publication", fields=lambda _read: ground, dispute=public)
        index = JudgeIndex(book)
        assert index.paper("ESa07RwpVr", "public") == paper
        assert index.paper("2606.01342", "public") == "2606.01342"
        assert index.paper("2606.01342v2", "organizer") == paper
