"""Units: counted things are dimensions of their own, nothing a stranger writes is evaluated."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from verifier.audits.quantity import perplexity
from verifier.audits.units import ONE, Unit, faster_when, known_units, ln2, thing, unit
from verifier.model.errors import BadInput

FIXTURES = {
    case["id"]: case for case in json.loads((Path(__file__).parents[1] / "fixtures" / "audits.json").read_text("utf-8"))
}


@pytest.mark.parametrize(
    ("text", "dimensions", "scale"),
    [
        ("", {}, 1),
        ("1", {}, 1),
        ("%", {}, Fraction(1, 100)),
        ("ms", {"second": 1}, Fraction(1, 1000)),
        ("minutes", {"second": 1}, 60),
        ("GFLOP", {"FLOP": 1}, 10**9),
        ("kWh", {"joule": 1}, 3_600_000),
        ("W", {"joule": 1, "second": -1}, 1),
        ("KiB", {"byte": 1}, 1024),
        ("tokens/s", {"token": 1, "second": -1}, 1),
        ("s per batch per gpu", {"second": 1, "batch": -1, "gpu": -1}, 1),
        ("GPU hours", {"gpu": 1, "second": 1}, 3600),
        ("s^-2", {"second": -2}, 1),
        ("1/s", {"second": -1}, 1),
        ("token per token", {}, 1),
    ],
)
def test_a_unit_is_read(text: str, dimensions: dict[str, int], scale: Fraction | int) -> None:
    found = unit(text)
    assert dict(found.dimensions) == dimensions
    assert found.scale.low == found.scale.high == scale


@pytest.mark.parametrize(
    ("text", "which"),
    [("ms", "lower"), ("s per batch", "lower"), ("tokens/s", "higher"), ("GFLOP/s", "higher"),
     ("batch per hour", "higher"), ("W", None), ("GPU hours", None), ("J per token", None),
     ("dollar/hour", None), ("1/s", None), ("s^2", None), ("%", None)],
)  # fmt: skip
def test_only_times_and_rates_of_what_is_counted_are_fast_or_slow(text: str, which: str | None) -> None:
    assert faster_when(unit(text)) == which


def test_counted_things_never_cancel() -> None:
    counted = ["token", "word", "byte", "character", "position", "sequence", "batch", "trajectory", "item", "gpu"]
    counted += ["step", "MAC", "FLOP", "nat"]
    bases = [unit(word).dimensions for word in counted]
    assert len(set(bases)) == len(counted)
    assert all(base not in ((), ONE.dimensions) for base in bases)


def test_every_name_in_the_table_is_a_unit() -> None:
    for name in known_units():
        assert isinstance(unit(name), Unit), name


def test_a_bit_is_ln_2_nats_by_definition() -> None:
    assert unit("bit").dimensions == unit("nat").dimensions
    assert unit("bit").scale == ln2()
    assert unit("bit/byte").bits == 1
    assert ln2().high - ln2().low < Fraction(1, 10**36)
    assert float(ln2().low) == float(ln2().high) == math.log(2)
    assert (unit("bit") / unit("bit")).dimensions == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tokn", 'nobody knows the unit "tokn"; the nearest valid unit is token'),
        ("FLOPS", "write FLOP for a count, FLOP/s for a rate"),
        ("b", "bit or byte"),
        ("m**9999999", "exponent"),
        ("m**99", "exponent"),
        ("s^0", "exponent"),
        ("s^", "exponent"),
        ("s" * 81, "too long"),
        ("s/", "is not a unit"),
        ("(s)", "is not a unit"),
        ("J/token*s", "is not a unit"),
        ("9 m", "is not a unit"),
        ("__import__('os')", "is not a unit"),
        ("__class__", "nobody knows"),
        ("1e9", "is not a unit"),
        ("s*s*s*s*s*s*s*s*s", "more than 8 factors"),
        ("s\nimport", "nobody knows"),
        ("m²", "is not a unit"),
    ],
)
def test_what_is_no_unit_gets_one_sentence(text: str, says: str) -> None:
    with pytest.raises(BadInput) as error:
        unit(text)
    assert says in error.value.sentence
    assert "\n" not in error.value.sentence


@pytest.mark.parametrize("word", ["", "s/batch", "s^2", "%"])
def test_a_thing_is_one_counted_thing(word: str) -> None:
    with pytest.raises(BadInput, match="is not one thing"):
        thing(word)


@pytest.mark.slow
def test_pint_is_imported_only_where_a_unit_is_read_and_writes_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, verifier.audits.basis, verifier.audits.reconcile, verifier.audits.speed\n"
        "assert 'pint' not in sys.modules\n"
        "from verifier.audits.units import unit\n"
        "unit('kB/s')\n"
        "assert 'pint' in sys.modules\n"
    )
    home = tmp_path / "home"
    home.mkdir()
    path = str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-c", code], check=True, env={"HOME": str(home), "PYTHONPATH": path}, cwd=tmp_path)
    assert not list(home.iterdir())


def test_n20_bits_and_nats_bytes_and_characters() -> None:
    case = FIXTURES["N20"]
    rate = str(case["input"]["bits_per_byte"])
    assert perplexity(rate, "bit/byte", per="byte") == pytest.approx(case["expected"]["ppl_byte"], rel=1e-9)
    for held, expected in zip(case["input"]["bytes_per_char"], case["expected"]["ppl_char"], strict=True):
        assert perplexity(rate, "bit/byte", per="character", holds=str(held)) == pytest.approx(expected, rel=1e-9)
    assert perplexity("1.0", "nat/byte", per="byte") == pytest.approx(math.e)
    with pytest.raises(BadInput, match="declare byte per character"):
        perplexity(rate, "bit/byte", per="character")
    with pytest.raises(BadInput, match="not an information per thing"):
        perplexity(rate, "s/byte", per="byte")
