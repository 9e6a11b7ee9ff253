"""`verifier judge` as a person and a program see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Verifier
from tests.integration.judged import ledger_of
from verifier.challenge import VerdictRecord, read_verdicts, written_verdicts
from verifier.judge import JudgeIndex, judge_paper
from verifier.judge.sentences import not_checked
from verifier.ledger import FreeText, Ledger
from verifier.ledger.checkpoints import sign_checkpoint
from verifier.ledger.cosign import cosign
from verifier.ledger.keys import KeyType, PublicKey, generate, save_private
from verifier.ledger.merkle import verify_inclusion
from verifier.ledger.notes import with_signatures
from verifier.model.canonical import canonical_sha256, text_sha256

PAPER = "ESa07RwpVr"
TWO = (("a", "first"), ("b", "second"))
NINE = ["space_id", "orid", "paper_title", "sha", "judged_at", "model", "claims", "overall", "quality"]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "verifier.db"


def shown(verifier: Verifier, *arguments: str) -> dict[str, Any]:
    said = verifier("judge", "show", *(arguments or (PAPER,)), "--json")
    assert said.code == 0, said.out
    return said.document


def test_what_a_run_ruled_is_what_the_judge_shows(verifier: Verifier, after_a_run: dict[str, Any]) -> None:
    ran = after_a_run
    document = shown(verifier, "2401.00001")
    (claim,) = document["claims"]
    assert (claim["verdict"], claim["because"]) == (ran["verdict"], ran["because"]) == ("falsified", "part a")
    assert claim["points"] == 2
    (dispute,) = claim["disputes"]
    assert dispute["version"] == "2401.00001v1"
    leaves = {entry["kind"]: entry["leaf"] for entry in dispute["entries"]}
    assert leaves["ruling"] == ran["ledger"]["ruling"]
    for entry in dispute["entries"]:
        assert verify_inclusion(
            leaf=bytes.fromhex(entry["leaf"]),
            index=entry["n"] - 1,
            size=document["size"],
            proof=[bytes.fromhex(one) for one in entry["proof"]],
            root=bytes.fromhex(document["root"]),
        )
    assert "O(1)" not in json.dumps({**document, "quoted": None})
    people = verifier("judge", "show", "arxiv:2401.00001v3").out
    assert "The paper's claim: does not hold as stated." in people
    packet = verifier("judge", "packet", "2401.00001")
    assert packet.code == 0
    assert "The paper's claim: does not hold as stated." in packet.out.split("\n")


def test_several_disputes_of_one_claim_combine(verifier: Verifier, db: Path) -> None:
    ledger_of(
        db,
        {"name": "one", "claim_parts": TWO, "parts": {"a": {}}},
        {"name": "two", "claim_parts": TWO, "parts": {"b": {}}, "ruling": "DISMISSED"},
        {"name": "silent", "claim_parts": TWO, "parts": {"b": {}}, "ruling": "NO_ANSWER"},
    )
    (claim,) = shown(verifier)["claims"]
    assert (claim["verdict"], claim["because"]) == ("falsified", "part a")
    assert [part["verdict"] for part in claim["parts"]] == ["falsified", "verified"]
    ledger_of(db, {"name": "three", "claim_parts": TWO, "parts": {"a": {}}, "ruling": "DISMISSED"})
    (claim,) = shown(verifier)["claims"]
    assert (claim["verdict"], claim["because"]) == ("inconclusive", "conflict")
    assert [part["verdict"] for part in claim["parts"]] == ["inconclusive", "verified"]
    contested = verifier("judge", "contested", PAPER, "--json").document
    assert [one["parts"] for one in contested["positions"]] == [
        {"a": "falsified"},
        {"b": "verified"},
        {"b": "no answer"},
        {"a": "verified"},
    ]


@pytest.mark.parametrize("order", [(TWO, TWO[:1]), (TWO[:1], TWO)])
def test_a_part_that_any_case_names_is_a_part_of_the_claim(verifier: Verifier, db: Path, order: Any) -> None:
    ledger_of(db, *({"name": f"c{i}", "claim_parts": parts, "ruling": "DISMISSED"} for i, parts in enumerate(order)))
    (claim,) = shown(verifier)["claims"]
    assert (claim["verdict"], claim["because"], claim["points"]) == ("inconclusive", "parts-untested", 0)
    assert {part["id"]: part["tested"] for part in claim["parts"]} == {"a": True, "b": False}


@pytest.mark.parametrize(
    ("fields", "verdict", "because"),
    [
        ({}, "falsified", "part a"),
        ({"ruling": "DISMISSED"}, "verified", "part a"),
        ({"ruling": "DISMISSED", "parts": {"a": {"reproduces_claim": False}}}, "inconclusive", "dispute-dismissed"),
        ({"parts": {"a": {"below_scale": True}}}, "toy", "below the registered scale or on synthetic data"),
        ({"checked": "no"}, "inconclusive", "premise-unchecked"),
        ({"ruling": "UNDERPOWERED"}, "inconclusive", "underpowered"),
        ({"claim_parts": TWO, "ruling": "DISMISSED"}, "inconclusive", "parts-untested"),
        ({"ruling": "NO_ANSWER"}, None, None),
    ],
)
def test_the_rows_of_the_verdict_table(
    verifier: Verifier, db: Path, fields: dict[str, Any], verdict: str | None, because: str | None
) -> None:
    ledger_of(db, fields)
    (claim,) = shown(verifier)["claims"]
    assert (claim["verdict"], claim["because"]) == (verdict, because)
    assert claim["points"] == {"falsified": 2, "verified": 2, "toy": 1}.get(verdict or "", 0)


def test_exploratory_runs_are_listed_under_the_standing_ruling_and_change_nothing(verifier: Verifier, db: Path) -> None:
    ledger_of(db, {"ruling": "DISMISSED"}, {"exploratory": True})
    (claim,) = shown(verifier)["claims"]
    assert claim["verdict"] == "verified"
    (dispute,) = claim["disputes"]
    assert [(run["ruling"], run["varied"]) for run in dispute["exploratory"]] == [("UPHELD", ["scale k"])]
    assert "exploratory, entry 6: UPHELD with scale k" in verifier("judge", "show", PAPER).out
    assert verifier("judge", "contested", "--json").document["claims"] == 0
    assert "exploratory runs, which replace no ruling" in verifier("judge", "packet", PAPER).out


def test_a_claim_nobody_put_on_trial_is_absent(verifier: Verifier, db: Path) -> None:
    ledger_of(db, {"exploratory": True}, {"paper": "openreview:61234"})
    assert shown(verifier)["claims"] == []
    assert shown(verifier, "unknown123")["claims"] == []
    assert len(shown(verifier, "61234")["claims"]) == 1
    assert verifier("judge", "show", "").code == 2


def test_the_reason_of_a_decided_claim_says_something_on_one_line(verifier: Verifier, db: Path) -> None:
    ledger_of(
        db,
        {"claim_parts": (("a\nverdict verified", "x"),), "parts": {"a\nverdict verified": {}}},
        {"name": "two", "claim": "Second.", "ruling": "DISMISSED"},
    )
    lines = verifier("judge", "show", PAPER).out.split("\n")
    assert "  verdict falsified, 2 points, because part a\\x0averdict verified does not hold as stated" in lines
    assert "  verdict verified, 2 points, because part a was reproduced at the registered scale" in lines
    assert not any(line.startswith("verdict") for line in lines)
    first, second = shown(verifier)["claims"]
    assert first["because_words"].isprintable()
    assert second["because_words"] == "part a was reproduced at the registered scale"


def test_a_correction_is_read_and_a_retraction_withdraws(verifier: Verifier, db: Path, tmp_path: Path) -> None:
    save_private(generate("adm"), tmp_path / "adm.key")
    (dispute,) = ledger_of(db, {"checked": "no", "later": [{"arxiv": "2606.01342v3", "claim": "not-read"}]})
    key = ("--key", str(tmp_path / "adm.key"))
    assert verifier("ledger", "admit", "--administrator", *key).code == 0
    (claim,) = shown(verifier)["claims"]
    assert claim["because"] == "premise-unchecked"
    warnings = claim["disputes"][0]["later_versions"]
    assert warnings == ["a later version is known, 2606.01342v3, in which nobody has looked for the claim"]
    corrected = verifier("correct", dispute, *key, "--premise", "1=by-us", "--text", "checked it", "--json")
    assert corrected.code == 0, corrected.out
    (claim,) = shown(verifier)["claims"]
    assert claim["verdict"] == "falsified"
    retracted = verifier("retract", dispute, *key, "--text", "we erred", "--json")
    assert retracted.code == 0, retracted.out
    (claim,) = shown(verifier)["claims"]
    assert (claim["verdict"], claim["because"]) == ("inconclusive", "withdrawn")
    packet = verifier("judge", "packet", PAPER).out
    assert "The paper's claim: not decided, because the ruling was retracted." in packet
    assert "nothing made from it should be used" in packet


class TestVerdictFile:
    @pytest.fixture
    def public(self, verifier: Verifier, db: Path, tmp_path: Path) -> list[str]:
        """Six disputes, of which the last one stays private."""
        save_private(generate("adm"), tmp_path / "adm.key")
        key = ("--key", str(tmp_path / "adm.key"))
        space = {"space": "ada/repro-1", "revision": "ab" * 20}
        disputes = ledger_of(
            db,
            {"name": "one", **space, "ruling": "DISMISSED", "claim": "First."},
            {"name": "two", **space, "ruling": "UNDERPOWERED", "claim": "Second."},
            {"name": "of arxiv", "paper": "arxiv:2401.00001", "ruling": "DISMISSED"},
            {"name": "sp aced", "paper": "openreview:61234", "ruling": "DISMISSED", "claim": "Third."},
            {"name": "silent", "paper": "openreview:61234", "ruling": "NO_ANSWER", "claim": "Fourth."},
            {"name": "private", **space, "ruling": "DISMISSED", "claim": "SECRET."},
        )
        assert verifier("ledger", "admit", "--administrator", *key).code == 0
        for dispute in disputes[:-1]:
            said = verifier("publish", dispute, *key, "--ground", "not-upheld", "--source", "a Space", "--json")
            assert said.code == 0, said.out
        return disputes

    @pytest.mark.usefixtures("public")
    def test_it_has_the_schema_and_passes_through_our_importer(self, verifier: Verifier, tmp_path: Path) -> None:
        said = verifier("judge", "show", "--format", "verdicts")
        assert said.code == 0
        assert "SECRET" not in said.out
        assert "skipped arxiv:2401.00001" in said.err
        document = json.loads(said.out)
        assert list(document) == ["ada/repro-1", "verifier/sp-aced"]
        for record in document.values():
            assert list(record) == NINE
            assert all(list(claim) == ["claim", "verdict", "evidence"] for claim in record["claims"])
        ours = document["ada/repro-1"]
        assert (ours["sha"], ours["quality"]) == ("ab" * 20, "medium")
        assert [(one["claim"], one["verdict"]) for one in ours["claims"]] == [
            ("First.", "verified"),
            ("Second.", "inconclusive"),
        ]
        other = document["verifier/sp-aced"]
        assert (len(other["claims"]), len(other["sha"]), other["quality"]) == (1, 40, "high")
        (tmp_path / "v.json").write_text(said.out)
        records = [one for one in read_verdicts(tmp_path / "v.json") if isinstance(one, VerdictRecord)]
        assert written_verdicts(records) == said.out
        done = verifier("judge", "import", "v.json", "--ledger", "other.db", "--json").document
        assert (done["appended"], done["skipped"]) == (2, 0)

    @pytest.mark.usefixtures("public")
    def test_it_is_for_the_public_alone(self, verifier: Verifier) -> None:
        assert verifier("judge", "show", "--format", "verdicts", "--audience", "organizer").code == 2
        said = verifier("judge", "show", PAPER, "--audience", "public")
        assert "PRIVATE" not in said.out
        assert "SECRET" not in said.out
        assert "PRIVATE" in verifier("judge", "show", PAPER).out

    def test_a_claim_whose_text_is_withheld_is_left_out_and_named(
        self, verifier: Verifier, public: list[str], tmp_path: Path
    ) -> None:
        key = ("--key", str(tmp_path / "adm.key"))
        assert verifier("withhold", "1", "--at", "/case/claim/text", *key).code == 0
        assert public
        said = verifier("judge", "show", "--format", "verdicts")
        assert said.code == 0
        assert "[withheld]" not in said.out
        assert [one["claim"] for one in json.loads(said.out)["ada/repro-1"]["claims"]] == ["Second."]
        sha256 = text_sha256("First.")
        assert f"skipped claim {sha256[:12]} of openreview:{PAPER}: its text is withheld" in said.err
        document = verifier("judge", "show", "--format", "verdicts", "--json").document
        assert document["quoted"]["withheld"] == [{"paper": f"openreview:{PAPER}", "claim_sha256": sha256}]

    def test_a_space_with_two_papers_gives_its_name_to_none(self, verifier: Verifier, db: Path, tmp_path: Path) -> None:
        save_private(generate("adm"), tmp_path / "adm.key")
        key = ("--key", str(tmp_path / "adm.key"))
        fields = {"space": "ada/both", "ruling": "DISMISSED", "name": "same"}
        disputes = ledger_of(db, {**fields}, {**fields, "paper": "openreview:61234"})
        verifier("ledger", "admit", "--administrator", *key)
        for dispute in disputes:
            verifier("publish", dispute, *key, "--ground", "not-upheld", "--source", "a Space", "--json")
        document = json.loads(verifier("judge", "show", "--format", "verdicts").out)
        assert list(document) == [f"verifier/same-{PAPER}", "verifier/same-61234"]


def record(space: str, verdict: str = "verified", **fields: Any) -> dict[str, Any]:
    return {
        "space_id": space,
        "orid": PAPER,
        "paper_title": "A title",
        "sha": "0a" * 20,
        "judged_at": "2026-07-02T10:00:00Z",
        "model": "a-judge",
        "claims": [{"claim": "The excess is O(1).", "verdict": verdict, "evidence": f"seen by {space}"}],
        "overall": "x",
        "quality": "high",
        **fields,
    }


def written(path: Path, *records: dict[str, Any]) -> str:
    path.write_text(json.dumps({one["space_id"]: one for one in records}))
    return str(path)


class TestImport:
    def test_one_entry_a_record_pinned_found_again_and_never_examined(
        self, verifier: Verifier, db: Path, tmp_path: Path
    ) -> None:
        file = written(tmp_path / "v.json", record("ada/x"), record("bob/y", "falsified"))
        (tmp_path / "claims.json").write_text(json.dumps({PAPER: [{"text": "The  excess is O(1).", "status": "toy"}]}))
        said = verifier("judge", "import", file, "--claims", "claims.json", "--revision", "main@1", "--json")
        assert said.code == 0, said.out
        document = said.document
        assert (document["appended"], document["claims"], document["pinned"]) == (2, 2, 2)
        with Ledger.open(db, create=False) as book:
            first, second = book.entries("import")
            book.verify()
        assert first.content["claims"][0]["claim_sha256"] == text_sha256("The excess is O(1).")
        assert first.content["claims"][0]["pin"]["place"] == 0
        assert first.content["source"]["revision"] == "main@1"
        assert json.loads(first.content["record"]) == record("ada/x")
        assert second.content["claims"][0]["verdict"] == "falsified"
        again = written(tmp_path / "final.json", record("bob/y", "falsified"), record("cyd/z"))
        document = verifier("judge", "import", again, "--json").document
        assert (document["appended"], document["found"]) == (1, 1)
        assert shown(verifier)["claims"] == []

    def test_a_wrong_record_imports_nothing_or_is_named(self, verifier: Verifier, db: Path, tmp_path: Path) -> None:
        file = written(tmp_path / "v.json", record("ada/x"), record("bob/y", quality="superb"))
        said = verifier("judge", "import", file)
        assert said.code == 2
        assert said.err.startswith("Error: v.json, record bob/y: ")
        assert said.err.count("\n") == 1
        assert not db.exists()
        said = verifier("judge", "import", file, "--skip-invalid")
        assert said.code == 0
        assert "skipped bob/y: its quality" in said.out
        assert "1 record imported" in said.out
        for words in (("missing.json",), (str(tmp_path),), (file, "--claims", "missing.json")):
            said = verifier("judge", "import", *words)
            assert (said.code, said.err[:7]) == (2, "Error: ")

    def test_the_board_counts_the_first_judged_space_of_a_user_and_paper(
        self, verifier: Verifier, tmp_path: Path
    ) -> None:
        file = written(
            tmp_path / "v.json",
            record("ada/late", "verified", judged_at="2026-07-03T00:00:00Z"),
            record("ada/early", "toy", judged_at="2026-07-02T23:30:00+00:00"),
            record("Ada/other", "falsified", orid="61234"),
            record("bob/y", "falsified"),
        )
        verifier("judge", "import", file)
        document = verifier("judge", "board", "--json").document
        assert document["quoted"]["users"] == ["ada", "bob"]
        assert [one["points"] for one in document["users"]] == [3, 2]
        assert document["users"][0]["words"] == {"verified": 0, "falsified": 1, "toy": 1, "inconclusive": 0}
        assert "bob" in verifier("judge", "board", "--top", "2").out

    def test_contested_shows_every_team_once_and_folds_nothing(
        self, verifier: Verifier, db: Path, tmp_path: Path
    ) -> None:
        ledger_of(db, {"group": "here"})
        same = {"claims": [{"claim": "The excess is O(1).", "verdict": "verified", "evidence": "word for word"}]}
        file = written(
            tmp_path / "v.json", record("ada/x", **same), record("eve/copy", **same), record("bob/y", "inconclusive")
        )
        said = verifier("judge", "import", file)
        assert "1 record says the same" in said.out
        document = verifier("judge", "contested", "--json").document
        assert document["quoted"]["paper"] == f"openreview:{PAPER}"
        teams = {one["team"]: one for one in document["quoted"]["teams"]}
        assert list(teams) == ["here", "ada", "bob"]
        assert teams["here"]["adequacy"] == "adequate (k up to 1024)"
        assert teams["ada"]["adequacy"] == "not examined here"
        assert [(one["verdict"], one["copies"]) for one in document["positions"]] == [
            ("falsified", 0),
            ("verified", 1),
            ("inconclusive", 0),
        ]
        people = verifier("judge", "contested", PAPER).out
        assert "2 of 3 positions are words alone" in people
        assert verifier("judge", "contested", "--audience", "public", "--json").document["claims"] == 0

    def test_entries_appended_by_hand_are_no_positions(self, verifier: Verifier, db: Path) -> None:
        with Ledger.open(db, create=True) as book, book.transaction() as transaction:
            for content in (
                {"x": 1},
                {"space": "a/b", "judged_at": "never"},
                {"claims": "none", "text": FreeText("x")},
            ):
                transaction.append(kind="import", content=content, by="somebody")
        assert verifier("judge", "board").code == 0
        assert verifier("judge", "contested").code == 0


def test_the_index_grows_with_the_ledger_and_notices_another_one(db: Path) -> None:
    ledger_of(db, {"name": "one"})
    with Ledger.open(db, create=False) as book:
        index = JudgeIndex(book)
        assert len(judge_paper(index, PAPER, audience="organizer").claims) == 1
        ledger_of(db, {"name": "two", "claim": "Another."})
        index.refresh()
        assert (index.size, index.root) == (book.size, book.root)
        judged = judge_paper(index, PAPER, audience="organizer")
        assert [claim.text for claim in judged.claims] == ["The excess is O(1).", "Another."]
        ledger_of(db, *({"name": f"n{i}", "claim": f"Claim {i}."} for i in range(30)))
        index.refresh()
        assert (index.size, index.root) == (book.size, book.root)
        assert len(judge_paper(index, PAPER, audience="organizer").claims) == 32
        assert "two independent people have not yet agreed with the ruling" in not_checked(judged.claims[0].disputes[0])
        assert len(canonical_sha256(index.proof(1))) == 64


def test_a_packet_says_not_witnessed_unless_a_trusted_witness_saw_the_registration(
    verifier: Verifier, db: Path
) -> None:
    ledger_of(db, {"name": "one"})
    said = "not witnessed: that the rule was registered before its evidence is the word of this ledger alone"
    assert f"- dispute 1: {said}" in verifier("judge", "packet", PAPER).out.split("\n")
    log, witness, other = generate("log"), generate("w", KeyType.COSIGNATURE), generate("w", KeyType.COSIGNATURE)
    with Ledger.open(db, create=False) as book:
        roots = {n: bytes.fromhex(book.entry(n).root) for n in (1, 2)}
    (db.parent / "verifier-checkpoints").mkdir()

    def keep(size: int, second: int) -> None:
        note = sign_checkpoint(log, size=size, root=roots[size])
        cosigned = with_signatures(note, [cosign(note, witness, second=second)])
        (db.parent / f"verifier-checkpoints/{size}.txt").write_text(str(cosigned))

    def packet(key: PublicKey, *witnesses: PublicKey) -> str:
        trust = ["--key", key.vkey, *(word for one in witnesses for word in ("--witness", one.vkey))]
        return verifier("judge", "packet", PAPER, *trust).out

    keep(2, second=5)  # covers the evidence already
    assert said in packet(log.public, witness.public)
    keep(1, second=2**40)  # cosigned after the evidence says it was written
    assert said in packet(log.public, witness.public)
    keep(1, second=5)
    assert "The paper's claim: does not hold as stated." in packet(log.public, witness.public)
    assert "not witnessed" not in packet(log.public, witness.public)
    assert said in packet(log.public, other.public)
    assert said in packet(log.public, witness.public, other.public)
    assert said in packet(generate("log").public, witness.public)
    assert verifier("judge", "packet", PAPER, "--witness", witness.public.vkey).code == 2
    trust = ("--key", log.public.vkey, "--witness", witness.public.vkey)
    assert shown(verifier, PAPER, *trust)["claims"][0]["disputes"][0]["witnessed"] is True
    assert shown(verifier, PAPER)["claims"][0]["disputes"][0]["witnessed"] is False
