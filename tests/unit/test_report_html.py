"""The page: one file, nothing from outside, strangers' words escaped, written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.unit import report_factory as made
from verifier.model.errors import InfrastructureFailed
from verifier.report import render_report, ruling_headline, write_report
from verifier.report.html import paper_links

VOID = {"meta", "link", "br", "img", "hr", "input"}
VERSIONS = {"python": "3.11.7", "dispute-verifier": "0.1.0"}


class Page(HTMLParser):
    """Elements with their attributes, the visible text, script contents; fails where tags do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif not self.open or self.open[-1] != "style":
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


@pytest.mark.parametrize("name", [*made.ALL, "hostile"])
def test_it_is_one_file_with_nothing_from_outside(name: str) -> None:
    html = render_report({**made.ALL, "hostile": made.hostile}[name]())
    page = Page(html)
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not any(key.startswith("on") or key in ("src", "srcset", "action") for key in attributes), attributes
        if tag == "script":
            assert attributes == {"type": "application/json", "class": "figure-data"}
        if tag == "a":
            assert re.match(r"https://(openreview\.net|arxiv\.org)/", attributes["href"] or "")
    assert not re.search(r"@import|url\((?!#)", html)


def test_the_order_is_claim_ruling_gate_premises_picture_changes() -> None:
    result = made.upheld()
    words = Page(render_report(result)).words
    headline = ruling_headline(result)
    order = [
        made.CLAIM.quote,
        made.DISPUTE.text,
        headline[1:],
        "ontact gate closed",
        "Nobody on this case read the full paper",
        "given that",
        made.PREMISE.text,
        "Registration 1 of 1",
        "What was measured",
        "Controls: runs whose answer is known",
        "The statistics",
        "What would change the ruling",
        "What was registered when",
        "The command that repeats this run",
        result.command,
        result.ledger.root,
        result.ledger.ruling,
    ]
    places = [words.index(each) for each in order]
    assert places == sorted(places)


def test_a_paraphrase_is_called_one() -> None:
    words = Page(render_report(made.upheld(claim=replace(made.CLAIM, quote="")))).words
    assert "paraphrase; the paper was not read" in words
    assert "the paper's words" not in words


def test_numbers_that_decided_nothing_say_so() -> None:
    assert "so far, not a ruling: slope per ln k" in Page(render_report(made.short())).words
    assert "the design was too small to decide; needed: k up to 1,024" in Page(render_report(made.short())).words
    failed = Page(render_report(made.control_failed())).words.split("ontact gate")[0]
    assert "slope per ln k" not in failed


def test_registrations_tell_what_changed_and_how_each_ended() -> None:
    words = Page(render_report(made.short())).words
    ended = "this design could not decide the dispute (UNDERPOWERED)"
    assert f"2 (this run) 2026-07-01T12:00:00Z exploratory --scale.k {ended}" in words
    assert "1 2026-07-01T12:00:00Z first registered the dispute stands (UPHELD)" in words
    assert "scale k = 4, 5, 6, 7, 8, 10" in words


def test_the_numbers_stand_in_the_table_and_in_the_data() -> None:
    page = Page(render_report(made.upheld()))
    (data,) = page.scripts
    points = json.loads(data)["series"][0]["points"]
    for drawn, point in zip(points, made.growing_points(), strict=True):
        assert drawn["estimate"] == point.estimate
        assert f"{point.estimate:.4f}" in page.words


def test_hostile_words_are_shown_as_they_are() -> None:
    html = render_report(made.hostile())
    page = Page(html)
    shown = '<script>alert(1)</script> [red]x[/red] \\x1b[31m\\x07 \\u202eevil & "quoted"'
    assert shown in page.words
    assert "{{ 7*7 }}" in page.words  # not a template
    assert "<script>alert" not in html
    for character in ("\x1b", "\x07", "\u202e"):
        assert character not in html
    assert json.loads(page.scripts[0])["series"][1]["points"]
    assert not paper_links(made.hostile())


def test_equal_results_give_equal_pages() -> None:
    assert render_report(made.upheld(), versions=VERSIONS) == render_report(made.upheld(), versions=VERSIONS)


def test_public_pages_name_run_only() -> None:
    for make in made.ALL.values():
        commands = set(
            re.findall(
                r"\bverifier (run|plan|status|ledger|doctor|register|judge)\b", Page(render_report(make())).words
            )
        )
        assert commands == {"run"}


def test_it_is_written_with_its_folders_and_can_be_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "new" / "reports" / "paging.html"
    write_report(made.upheld(), path)
    assert Page(path.read_text(encoding="utf-8")).words
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "paging.html"
    path.write_text("the old page")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InfrastructureFailed, match="No space left on device") as caught:
        write_report(made.upheld(), path)
    assert caught.value.where == str(path)
    assert path.read_text() == "the old page"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_a_file_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("")
    with pytest.raises(InfrastructureFailed, match="cannot be written"):
        write_report(made.upheld(), tmp_path / "reports" / "paging.html")
