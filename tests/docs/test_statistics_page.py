"""The page on statistics is a test: its examples print what it shows, its tables are the code's."""

from __future__ import annotations

import doctest
import itertools
import re
from pathlib import Path

import pytest

from verifier.stats import RULES, MarginAnswer
from verifier.stats.bound_rule import BoundAnswer, bound_outcome
from verifier.stats.margin_answers import decide
from verifier.stats.margin_design import MIDDLE_BAR

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def test_the_examples_print_what_is_shown() -> None:
    """All blocks share their names, as they do for a reader who types them one after another."""
    test = doctest.DocTestParser().get_doctest("\n".join(BLOCKS), {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 50
    said: list[str] = []
    failed, tried = doctest.DocTestRunner().run(test, out=said.append)
    assert not failed, "".join(said)
    assert tried == len(test.examples)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_has_its_section_and_an_example(rule: str) -> None:
    headings = re.findall(r"^##+ `(\w+)`", TEXT, re.MULTILINE)
    assert headings.count(rule) == 1
    section = re.split(rf"^##+ `{rule}`", TEXT, flags=re.MULTILINE)[1].partition("\n## ")[0].partition("\n### ")[0]
    assert "Registered:" in section
    assert "```python" in section
    assert f"{rule}.evaluate(" in section
    assert re.search(r"\b[Ss]ilent|never speak", section)


def rows_after(heading: str) -> list[list[str]]:
    section = re.split(rf"^##+ {heading}", TEXT, flags=re.MULTILINE)[1]
    lines = list(
        itertools.takewhile(lambda line: line.startswith("|"), section[section.index("\n|") + 1 :].splitlines())
    )
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


CONDITIONS = {
    "the data cannot be judged": ("malformed", True),
    "n < minimum_n": ("too_few", True),
    "E(θ < c) ≥ T": ("below_claim", True),
    "E(θ > a) ≥ T": ("above_alleged", True),
    f"E(θ < m) ≥ {MIDDLE_BAR:.0f}": ("below_middle", True),
    f"E(θ > m) ≥ {MIDDLE_BAR:.0f}": ("above_middle", True),
    f"E(θ > a) now < {MIDDLE_BAR:.0f}": ("above_alleged_now", False),
    f"E(θ < c) now < {MIDDLE_BAR:.0f}": ("below_claim_now", False),
    "adequate": ("adequate", True),
    "not adequate": ("adequate", False),
}


def test_the_table_of_the_margin_rule_is_the_codes_for_every_combination() -> None:
    rows = rows_after("The margin rule")
    assert [row[1] for row in rows] == [f"`{answer}`" for answer in MarginAnswer]
    facts = list(dict.fromkeys(name for name, _ in CONDITIONS.values()))
    wanted = [[CONDITIONS[part] for part in re.split(r", | and ", row[0])] for row in rows]
    for values in itertools.product((False, True), repeat=len(facts)):
        given = dict(zip(facts, values, strict=True))
        first = next(i for i, row in enumerate(wanted) if all(given[name] is value for name, value in row))
        assert decide(**given) is list(MarginAnswer)[first], given
    for row, answer in zip(rows, MarginAnswer, strict=True):
        reason = f": {answer.reason}" if answer.reason else ""
        assert row[2:] == [f"`{answer.outcome}{reason}`", answer.sentence]


def test_the_table_of_bounds_is_the_codes() -> None:
    rows = rows_after("`bound`")
    assert [(row[1], row[3]) for row in rows] == [(f"`{answer}`", answer.sentence) for answer in BoundAnswer]
    for row, answer in zip(rows, BoundAnswer, strict=True):
        for alleged, words in zip(
            (True, False), row[2].split(" if the dispute alleges one of them, else "), strict=False
        ):
            found = bound_outcome(answer, alleges_in_class=alleged)
            reason = f": {found.reason}" if found.reason else ""
            assert words == f"`{found.outcome}{reason}`"


def test_the_letters_figures_are_the_examples() -> None:
    shown = re.search(r"^([\d.]+) points, ([\d.]+) to ([\d.]+)$", TEXT, re.MULTILINE)
    assert shown
    assert "a gain of {} points (95 % at any stopping time: {} to {})".format(*shown.groups()) in TEXT
