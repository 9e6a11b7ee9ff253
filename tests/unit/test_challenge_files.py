"""The challenge's files, as strangers may send them: one sentence, or exactly what was skipped."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from verifier.challenge import Skipped, VerdictRecord, pins_of, read_claims, read_verdicts, written_verdicts
from verifier.model.canonical import text_sha256
from verifier.model.errors import BadInput
from verifier.model.verdicts import Verdict

SPACE = "ada/repro-1"


def record(space: str = SPACE, **fields: Any) -> dict[str, Any]:
    claims = [{"claim": "C.", "verdict": "verified", "evidence": "E."}]
    made = {
        "space_id": space,
        "orid": "ESa07RwpVr",
        "paper_title": "A title",
        "sha": "0a" * 20,
        "judged_at": "2026-07-02T10:00:00.5Z",
        "model": "a-judge",
        "claims": claims,
        "overall": "Fine.",
        "quality": "high",
    }
    return {**made, **fields}


def written(folder: Path, text: str | bytes, name: str = "verdicts.json") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_records_come_out_in_order_and_are_written_as_they_were(tmp_path: Path) -> None:
    document = {f"ada/repro-{i}": record(f"ada/repro-{i}", orid=str(60000 + i)) for i in range(50)}
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    records = [one for one in read_verdicts(written(tmp_path, text)) if isinstance(one, VerdictRecord)]
    assert [one.space_id for one in records] == list(document)
    assert written_verdicts(records) == text


def test_the_boards_words_are_the_judges(tmp_path: Path) -> None:
    claims = [{"claim": word, "verdict": word, "evidence": ""} for word in ("refuted", "reproduced", "toy")]
    (one,) = read_verdicts(written(tmp_path, json.dumps({SPACE: record(claims=claims)})))
    assert isinstance(one, VerdictRecord)
    assert [claim.verdict for claim in one.claims] == [Verdict.FALSIFIED, Verdict.VERIFIED, Verdict.TOY]


GOOD = json.dumps({SPACE: record()})
BROKEN: dict[str, str | bytes] = {
    "empty": "",
    "a list": "[]",
    "a text": '"x"',
    "truncated": GOOD[:-4],
    "followed by more": GOOD + "{}",
    "NaN": '{"ada/x": NaN}',
    "a number": '{"ada/x": 1}',
    "a huge number": '{"ada/x": ' + "7" * 6000 + "}",
    "true": '{"ada/x": {"claims": true}}',
    "a key twice": GOOD[:-1] + "," + GOOD[1:],
    "a key twice inside": '{"ada/x": {"sha": "a", "sha": "a"}}',
    "keys that differ in case": json.dumps({SPACE: record(), "Ada/repro-1": record("Ada/repro-1")}),
    "too deep": '{"ada/x":' + "[" * 5000,
    "a million characters": json.dumps({SPACE: record(overall="x" * 10**6)}),
    "a text without an end": b'{"ada/x": "' + b"x" * 3_000_000,
    "too many values": json.dumps({SPACE: record(claims=["x"] * 30_000)}),
    "not UTF-8": b'{"ada/\xff": "x"}',
    "half a surrogate pair": GOOD.replace("A title", "A \\ud800 title"),
    "half a pair before a pair": GOOD.replace("A title", "A \\ud83d\\ud83d\\ude00 title"),
    "half a pair at the end": '{"ada/x": "\\ud800"}',
    "the other half": GOOD.replace("A title", "A \\udc00 title"),
    "a byte order mark": "\ufeff{}",
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_json_of_this_kind_is_refused_in_one_sentence_even_when_skipping(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, BROKEN[name])
    for skip in (False, True):
        with pytest.raises(BadInput) as error:
            list(read_verdicts(path, skip_invalid=skip))
        assert error.value.sentence.startswith("verdicts.json")
        assert len(error.value.sentence) < 300
        assert error.value.sentence.isprintable()


def test_whole_pairs_and_what_only_looks_like_half_of_one_are_read_as_they_are(tmp_path: Path) -> None:
    title = '\U0001f600 \\ud800 \\\\ " é \n \U0001f600' * 8_000  # more than one piece of the file
    (one,) = read_verdicts(written(tmp_path, json.dumps({SPACE: record(paper_title=title[:90_000])})))
    assert isinstance(one, VerdictRecord)
    assert one.paper_title == title[:90_000]


WRONG: dict[str, dict[str, Any]] = {
    "space in another case": {"space_id": "ADA/repro-1"},
    "another space": {"space_id": "bob/x"},
    "orid": {"orid": "ESa07RwpV"},
    "an orid in other digits": {"orid": "١٢٣"},
    "a time in other digits": {"judged_at": "٢٠٢٦-07-02T10:00:00Z"},
    "a claim with two words": {
        "claims": [{"claim": one, "verdict": word, "evidence": ""} for one, word in (("c", "verified"), (" c", "toy"))]
    },
    "sha": {"sha": "0A" * 20},
    "time": {"judged_at": "2026-13-40T00:00:00Z"},
    "day alone": {"judged_at": "2026-07-02"},
    "quality": {"quality": "superb"},
    "a field more": {"note": "x"},
    "claims": {"claims": "none"},
    "a claim's word": {"claims": [{"claim": "c", "verdict": "Verified", "evidence": ""}]},
    "an unjudged word": {"claims": [{"claim": "c", "verdict": "in-progress", "evidence": ""}]},
    "a claim's field": {"claims": [{"claim": "c", "verdict": "toy"}]},
    "a list for a text": {"overall": ["x"]},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_field_refuses_the_file_or_is_skipped_and_named(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({SPACE: record(**WRONG[name]), "ada/other": record("ada/other")}))
    with pytest.raises(BadInput, match=f"record {SPACE}"):
        list(read_verdicts(path))
    skipped, kept = read_verdicts(path, skip_invalid=True)
    assert isinstance(skipped, Skipped)
    assert (skipped.key, bool(skipped.why)) == (SPACE, True)
    assert isinstance(kept, VerdictRecord)


def test_random_damage_never_leaves_as_anything_but_a_sentence(tmp_path: Path) -> None:
    drawn = random.Random(11)  # noqa: S311  # damage, not secrets
    text = json.dumps({f"ada/r{i}": record(f"ada/r{i}") for i in range(4)}).encode()
    sentences: list[str] = []
    for _ in range(400):
        damaged = bytearray(text)
        for _ in range(drawn.randint(1, 4)):
            place = drawn.randrange(len(damaged))
            match drawn.randrange(3):
                case 0:
                    damaged[place] = drawn.randrange(256)
                case 1:
                    del damaged[place : place + drawn.randint(1, 30)]
                case _:
                    damaged[place:place] = damaged[drawn.randrange(len(damaged)) :][: drawn.randint(1, 60)]
        path = written(tmp_path, bytes(damaged))
        try:
            records = list(read_verdicts(path))
        except BadInput as error:
            sentences.append(error.sentence)
        else:
            assert all(isinstance(one, VerdictRecord) for one in records)
    assert len(sentences) > 200
    assert all(sentence.isprintable() for sentence in sentences)


class TestClaims:
    def test_an_anchored_list_takes_the_place_of_the_plain_one(self, tmp_path: Path) -> None:
        plain = {"ESa07RwpVr": [{"text": "old", "status": "unverified"}], "61234": [{"text": "c", "status": "toy"}]}
        anchored = {"ESa07RwpVr": [{"text": "x", "status": "toy"}, {"text": " new  text ", "status": "refuted"}]}
        first = written(tmp_path, json.dumps(plain), "claims.json")
        second = written(tmp_path, json.dumps(anchored), "claims_anchored.json")
        pins = pins_of([first], [second])
        assert (pins.papers, pins.claims) == (2, 3)
        assert pins.find("ESa07RwpVr", text_sha256("old")) is None
        found = pins.find("ESa07RwpVr", text_sha256("new text"))
        assert found is not None
        assert (found.file, found.place, len(found.sha256)) == ("claims_anchored.json", 1, 64)
        numeric = pins.find("61234", text_sha256("c"))
        assert numeric is not None
        assert numeric.file == "claims.json"
        assert pins.find("61234", text_sha256("new text")) is None

    @pytest.mark.parametrize(
        "document",
        [
            {"ESa07RwpV": []},
            {"ESa07RwpVr": {}},
            {"ESa07RwpVr": ["x"]},
            {"ESa07RwpVr": [{"text": "x"}]},
            {"ESa07RwpVr": [{"text": "x", "status": ["y"]}]},
            {"ESa07RwpVr": [{"text": "x", "status": "y", "id": "z"}]},
            {"ESa07RwpVr": [], "esa07rwpvr": []},
        ],
    )
    def test_what_is_no_list_of_claims_is_refused(self, document: Any, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"claims\.json"):
            list(read_claims(written(tmp_path, json.dumps(document), "claims.json")))
