"""`verifier notify|reply|correct`: what passes between organizers and authors, as signed entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from verifier.cli.output import Output, with_output
from verifier.cli.people_options import dispute_command, standing, text_options, told, words
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.ledger import Content
    from verifier.ledger.standing import Replay
    from verifier.model.dispute_status import DisputeStatus

REPLIES = (
    "agrees",
    "agrees-not-material",
    "not-our-claim",
    "hypothesis",
    "implementation",
    "fixed-in-version",
    "other",
)
_CHECKED = ("by-us", "by-author", "no")
_FOUND = ("unchanged", "changed", "withdrawn", "not-read")


@click.command()
@dispute_command
@click.option("--window-days", type=click.IntRange(1, 365), default=14, show_default=True, help="How long they have.")
@click.option("--author-key", "author_keys", multiple=True, metavar="HEX", help="Fingerprint of a key of an author.")
@text_options
@with_output
def notify(
    output: Output, window_days: int, author_keys: tuple[str, ...], text: str, text_file: str | None, **common: Any
) -> None:
    """Record that the authors were written to. The contact gate must be open."""
    from verifier.ledger import FreeText
    from verifier.report.text import counted

    said = FreeText(words(text, text_file))
    told(
        output,
        kind="author-notice",
        fields=lambda read, dispute: {
            "target": standing(read, dispute)[1].leaf,
            "window_days": window_days,
            "author_keys": list(author_keys),
            "text": said,
        },
        says=f"that the authors were written to and have {counted(window_days, 'day')}",
        **common,
    )


@click.command()
@dispute_command
@click.option("--kind", type=click.Choice(REPLIES), required=True, help="What the authors answer.")
@click.option("--consent", is_flag=True, help="They consent to publication before the window ends.")
@click.option("--version", "version", default="", metavar="ARXIV", help="The version in which it is fixed.")
@click.option("--on-behalf-of", default="", metavar="WHO", help="For whom you type it in.")
@text_options
@with_output
def reply(
    output: Output,
    kind: str,
    consent: bool,
    version: str,
    on_behalf_of: str,
    text: str,
    text_file: str | None,
    **common: Any,
) -> None:
    """Record the authors' reply: signed by them, or typed in by whoever wrote to them."""
    from verifier.ledger import FreeText

    if bool(version) != (kind == "fixed-in-version"):
        raise BadInput("--version goes with --kind fixed-in-version, and with no other", where="--version")
    said = FreeText(words(text, text_file))

    def fields(read: Replay, dispute: str) -> dict[str, Content]:
        return {
            "target": _notice(standing(read, dispute)[0]),
            "reply": kind,
            "consent": consent,
            "version": version,
            "on_behalf_of": FreeText(on_behalf_of),
            "text": said,
        }

    told(output, kind="author-reply", fields=fields, says=f"the authors' reply ({kind})", **common)


def _notice(status: DisputeStatus) -> str:
    if status.notice is None:
        raise BadInput("the authors were not written to yet", where=status.dispute[:12])
    return status.notice.leaf


@click.command()
@dispute_command
@click.option("--title", metavar="TEXT", help="The paper's title.")
@click.option("--source-sha256", metavar="HEX", help="SHA-256 of the PDF or LaTeX that was read.")
@click.option("--quote", metavar="TEXT", help="The claim in the paper's own words.")
@click.option("--locator", metavar="TEXT", help="Where the quote stands.")
@click.option("--later-version", "versions", multiple=True, metavar="ARXIV=FOUND", help=f"Any of {', '.join(_FOUND)}.")
@click.option("--premise", "premises", multiple=True, metavar="N=CHECKED", help=f"Any of {', '.join(_CHECKED)}.")
@click.option("--premise-source", "sources", multiple=True, metavar="N=TEXT", help="By what it was checked.")
@click.option("--answers-notice", is_flag=True, help="Tell the authors what changed since the last notice.")
@text_options
@with_output
def correct(
    output: Output,
    title: str | None,
    source_sha256: str | None,
    quote: str | None,
    locator: str | None,
    versions: tuple[str, ...],
    premises: tuple[str, ...],
    sources: tuple[str, ...],
    answers_notice: bool,
    text: str,
    text_file: str | None,
    **common: Any,
) -> None:
    """Amend what reading more of the paper has shown. Rule, scales and code are never amended."""
    from verifier.ledger import FreeText

    said = FreeText(words(text, text_file))
    read_versions = dict(_pair(one, "--later-version", _FOUND) for one in versions)
    amended = _premises(premises, sources)

    def free(**given: str | None) -> dict[str, Content]:
        return {name: FreeText(value) for name, value in given.items() if value is not None}

    def fields(read: Replay, dispute: str) -> dict[str, Content]:
        status = standing(read, dispute)[0]
        paper: dict[str, Content] = free(title=title)
        if source_sha256 is not None:
            paper["source_sha256"] = source_sha256
        if read_versions:
            merged = {**dict(status.facts.later_versions), **read_versions}
            paper["later_versions"] = [{"arxiv": arxiv, "claim": found} for arxiv, found in merged.items()]
        changes: dict[str, Content] = {"paper": paper, "claim": free(quote=quote, locator=locator), "premises": amended}
        return {"changes": changes, "answers": _notice(status) if answers_notice else "", "text": said}

    told(output, kind="correction", fields=fields, says="a correction", **common)


def _pair(given: str, option: str, values: tuple[str, ...] = ()) -> tuple[str, str]:
    left, equals, right = given.partition("=")
    if not left or not equals or (values and right not in values):
        mend = f"write NAME=VALUE with one of {', '.join(values)}" if values else "write N=TEXT"
        raise BadInput(f"{given[:80]!r} is not what this option takes", where=option, mend=mend)
    return left, right


def _premises(premises: tuple[str, ...], sources: tuple[str, ...]) -> list[Content]:
    from verifier.ledger import FreeText

    amended: dict[int, dict[str, Content]] = {}
    for option, given, values in (("--premise", premises, _CHECKED), ("--premise-source", sources, ())):
        for one in given:
            number, value = _pair(one, option, values)
            if not number.isascii() or not number.isdecimal() or len(number) > 4:
                raise BadInput(f"{number[:20]!r} is not the number of a premise", where=option, mend="count from 1")
            told_of = amended.setdefault(int(number), {"number": int(number)})
            told_of["checked" if values else "source"] = value if values else FreeText(value)
    return list(amended.values())
