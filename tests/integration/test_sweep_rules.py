"""Sweeps under other rules than growth like ln k: rates, and growth under other laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.integration.conftest import Said, Verifier, edit
from tests.integration.test_cli_errors import one_sentence
from tests.integration.test_ingest import ONE, read, write
from verifier.report import run_schema

GROWTH = (
    'rule = { kind = "growth", delta = "0.19", alternative = "0.38", replicate = { draws = 1000 }, '
    "looks = [10, 20, 30] }"
)
RATE = 'rule = { kind = "rate", claimed = "1", alleged = "1/2", replicate = { draws = 1000 }, looks = [10, 20, 30] }'

DECAY = '''

def falling(k: int, *, stream: int, draws: int, percent: int = 38) -> Counts:
    """Falls like 1/k, or like its square root where `percent` is 0; in units of a millionth."""
    return _draw(1e6 / k if percent else 1e6 / math.sqrt(k), stream, draws)


def slowly(k: int, *, stream: int, draws: int) -> Counts:
    return falling(k, stream=stream, draws=draws, percent=0)


def millionth(k: int) -> Fraction:
    return Fraction(10**6, k)


def rooted(k: int, *, stream: int, draws: int, percent: int = 38) -> Counts:
    return _draw(5.5 + percent / 100 * math.sqrt(k), stream, draws)
'''


def ran(said: Said) -> dict[str, Any]:
    assert said.code == 0, said.err or said.out
    document = said.document
    jsonschema.validate(document, run_schema())
    return document


@pytest.fixture
def rate(toy: Path) -> Path:
    """The toy with a quantity that falls, and a claim about how fast."""
    (toy / "quantity.py").write_text((toy / "quantity.py").read_text() + DECAY)
    text = (toy / "case.toml").read_text().partition("controls = [")[0]
    text = text.replace(GROWTH, RATE).replace('baseline = "quantity:half"\nexact = "quantity:exact_growing"\n', "")
    text = text.replace("quantity:growing", "quantity:falling")
    (toy / "case.toml").write_text(
        f'{text}controls = [\n  {{ target = "quantity:slowly", expect = "FOR_DISPUTE" }},\n'
        '  { target = "quantity:falling", expect = { values = "quantity:millionth" } },\n]\n'
    )
    return toy


@pytest.mark.slow
@pytest.mark.usefixtures("rate")
def test_a_rate_is_judged_with_controls_and_a_report(verifier: Verifier, tmp_path: Path) -> None:
    document = ran(verifier("run", "toy", "--trust", "--json"))
    assert (document["ruling"], document["verdict"]) == ("DISMISSED", "verified")
    (probe,) = document["probes"]
    assert (probe["answer"], probe["rule"]["kind"]) == ("BOUNDED", "rate")
    assert (probe["rule"]["delta"], probe["rule"]["alternative"]) == ("1/4", "1/2")
    full = probe["statistics"]["slope_full"]
    assert abs(full["estimate"]) <= 4 * full["stderr"], "ln(t y) does not grow"
    assert all(control["passed"] for control in document["controls"])
    # points are of what is judged: ln(k · 10⁶/k)
    assert all(abs(point["estimate"] - 13.8155) < 0.01 for point in probe["points"])
    assert probe["statistics"]["classical"]["wls"]["slope"] == pytest.approx(full["estimate"], abs=0.01)
    page = (tmp_path / document["report"]).read_text()
    assert "ln(k^1 y)" in page
    assert "<svg" in page
    said = verifier("run", "toy")
    assert "y is claimed to be O(k^-1) and said to fall like k^-1/2; shown and judged is ln(k^1 y)" in said.out
    assert "slope per ln k" in said.out

    pilot = verifier("plan", "toy", "--pilot", "--json").document["probes"][0]
    relative = [pilot["sd"][str(k)] * 1000**0.5 for k in (32, 1024)]  # of ln y: 1/sqrt(mean) of a Poisson count
    assert relative[0] == pytest.approx((32 / 1e6) ** 0.5, rel=0.9)
    assert relative[1] == pytest.approx((1024 / 1e6) ** 0.5, rel=0.9)


@pytest.mark.slow
@pytest.mark.usefixtures("rate")
def test_a_slower_fall_upholds_the_dispute(verifier: Verifier) -> None:
    document = ran(verifier("run", "toy", "--trust", "--json", "--set", "percent=0"))
    assert (document["ruling"], document["probes"][0]["answer"]) == ("UPHELD", "GROWS")


@pytest.mark.slow
def test_what_is_not_above_zero_has_no_rate(verifier: Verifier, rate: Path) -> None:
    edit(rate / "quantity.py", "1e6 / k if percent", "0.0 if percent == 1 and k == 64 else 1e6 / k if percent")
    document = ran(verifier("run", "toy", "--trust", "--json", "--set", "percent=1"))
    assert document["probes"][0]["answer"] == "MALFORMED"
    assert "at k = 64 a replicate is 0" in document["probes"][0]["summary"]
    assert document["probes"][0]["points"] == []


@pytest.fixture
def root(toy: Path) -> Path:
    """The toy with a dispute that alleges growth like the square root."""
    (toy / "quantity.py").write_text((toy / "quantity.py").read_text() + DECAY)
    edit(toy / "case.toml", 'kind = "growth", ', 'kind = "growth", law = "sqrt", ')
    edit(toy / "case.toml", 'exact = "quantity:exact_growing"\n', "")
    edit(toy / "case.toml", '"quantity:growing"', '"quantity:rooted"')
    return toy


@pytest.mark.slow
@pytest.mark.usefixtures("root")
def test_growth_under_another_law_is_upheld(verifier: Verifier) -> None:
    document = ran(verifier("run", "toy", "--trust", "--json"))
    assert (document["ruling"], document["probes"][0]["answer"]) == ("UPHELD", "GROWS")
    full = document["probes"][0]["statistics"]["slope_full"]
    assert abs(full["estimate"] - 0.38) <= 4 * full["stderr"]
    said = verifier("run", "toy").out
    assert "slope per sqrt k: 0.38" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log_delta", "verdict", "because"),
    [("", "inconclusive", "dispute-dismissed"), ('log_delta = "0.19", ', "verified", "")],
)
def test_below_a_fast_law_reproduces_only_where_the_logarithm_is_excluded_too(
    verifier: Verifier, root: Path, log_delta: str, verdict: str, because: str
) -> None:
    edit(root / "case.toml", 'law = "sqrt", ', f'law = "sqrt", {log_delta}')
    edit(root / "case.toml", 'target = "quantity:rooted"', 'target = "quantity:bounded"')
    edit(root / "case.toml", "percent = { type", "unused = { type")
    text = (root / "case.toml").read_text()
    head, _, rest = text.partition("[parameters]")
    (root / "case.toml").write_text(head + rest.partition("\n\n")[2])
    document = ran(verifier("run", "toy", "--trust", "--json"))
    (probe,) = document["probes"]
    assert (document["ruling"], probe["answer"]) == ("DISMISSED", "BELOW_LAW")
    assert (document["verdict"], probe["reproduces_claim"]) == (verdict, bool(log_delta))
    assert because in document["because"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "growth"', 'kind = "growth", law = "power"', ["exponent belongs to law"]),
        ('kind = "growth"', 'kind = "growth", law = "cubic"', ["law"]),
        (GROWTH, RATE, ["exact", "ln(t^p y)"]),
        (GROWTH, RATE.replace('"1/2"', '"2"'), ["alleged", "not below claimed"]),
        (GROWTH, RATE.replace('kind = "rate"', 'kind = "difference"'), ["unknown rule kind"]),
    ],
)
def test_a_bad_rule_is_one_sentence(verifier: Verifier, toy: Path, old: str, new: str, words: list[str]) -> None:
    edit(toy / "case.toml", old, new)
    sentence = one_sentence(verifier("run", "toy", "--trust", "--json"), 2)
    for word in words:
        assert word in sentence, sentence


def test_a_scale_where_the_law_has_no_place_is_refused(verifier: Verifier, toy: Path) -> None:
    edit(toy / "case.toml", 'kind = "growth"', 'kind = "growth", law = "loglog"')
    assert "no scale below 3" in one_sentence(verifier("run", "toy", "--json", "--scale", "k=2,4,8,16,32"), 2)
    edit(toy / "case.toml", "[32, 64,", "[2, 64,")
    assert "no scale below 3" in one_sentence(verifier("run", "toy", "--json"), 2)


@pytest.mark.slow
@pytest.mark.usefixtures("rate")
def test_a_reported_unit_without_a_rate_is_always_repeated(verifier: Verifier, tmp_path: Path) -> None:
    runs, here = tmp_path / "runs.csv", ("--ledger", "here.db")
    assert verifier("register", "toy", "--trust", *ONE, *here).code == 0
    assert verifier("run", "toy", *ONE, "--ledger", "there.db").code == 0
    assert verifier("ledger", "export", "toy", "--runs", "--out", str(runs), "--ledger", "there.db").code == 0
    rows = read(runs)
    used = [i for i, row in enumerate(rows) if int(row["replicate"]) < 10]  # up to the first look, which decides
    for at in (used[0], used[len(used) // 2], used[-1]):  # 3 of all of them are drawn by lot
        write(runs, [{**row, "sum": "0", "sum_sq": "0"} if i == at else row for i, row in enumerate(rows)])
        sentence = one_sentence(verifier("ingest", "toy", str(runs), *ONE, *here, "--json"), 2)
        assert f"line {at + 2}: the unit" in sentence
        assert "run here does not give what this line reports" in sentence
