"""`verifier judge show|packet|read|contested|board|import`: the judge's side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from verifier.cli.judge_shown import contested_document, read_sentence, show_board, show_contested, show_paper
from verifier.cli.judge_trust import trust_options, trusted_cosignatures
from verifier.cli.options import judge_command, ledger_option
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput, Exit
from verifier.model.printable import printable

if TYPE_CHECKING:
    from verifier.judge.index import JudgeIndex
    from verifier.ledger import Ledger

Audience = Literal["organizer", "public"]
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_TIMES = 50
_KEY_VARIABLE = "VERIFIER_ENDPOINT_KEY"


@click.group()
def judge() -> None:
    """What is established about each claim, for judges: people, programs and language models."""


def _audience_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--audience",
        type=click.Choice(["organizer", "public"]),
        default=None,
        help="Who it is for: organizers see all, marked PRIVATE (the default); the public sees public disputes alone.",
    )(command)


def _open(ledger_url: str, *, create: bool = False) -> Ledger:
    from verifier.ledger import Ledger

    return Ledger.open(ledger_url, create=create)


def _index(book: Ledger) -> JudgeIndex:
    from verifier.judge.index import JudgeIndex

    return JudgeIndex(book)


@judge.command()
@click.argument("paper", required=False)
@click.option("--format", "form", type=click.Choice(["table", "verdicts"]), default="table", help="verdicts: the file.")
@click.option("--out", "out_name", metavar="FILE", help="With --format verdicts: write the file there.")
@_audience_option
@trust_options
@ledger_option
@with_output
def show(
    output: Output,
    paper: str | None,
    form: str,
    out_name: str | None,
    audience: Audience | None,
    log_vkey: str | None,
    witness_vkeys: tuple[str, ...],
    ledger_url: str,
) -> None:
    """Show per claim and part of PAPER what is established, and why; without PAPER all papers."""
    from verifier.judge.claims import judge_paper
    from verifier.judge.documents import claim_document, claim_quoted

    if form == "verdicts":
        _show_verdicts(output, paper, out_name, audience, ledger_url)
        return
    if out_name is not None:
        raise BadInput("a table is not written to a file", where="--out", mend="add --format verdicts")
    with _open(ledger_url) as book:
        index = _index(book)
        cosigned = trusted_cosignatures(book, index, log_vkey, witness_vkeys)
        for identity in [index.paper(paper, audience or "organizer")] if paper is not None else index.papers():
            judged = judge_paper(index, identity, audience=audience or "organizer", cosigned=cosigned)
            if not judged.claims and paper is None:
                continue
            if not output.json:
                show_paper(output, judged)
            output.result(
                "verifier/judge-show/1",
                _shown_sentence(len(judged.claims)),
                next_=[judge_command("packet", ledger_url, identity)] if judged.claims else [],
                audience=judged.audience,
                private=any(claim.private for claim in judged.claims),
                size=judged.size,
                root=judged.root,
                claims=[claim_document(claim, index) for claim in judged.claims],
                quoted={
                    "paper": judged.paper,
                    "title": judged.title,
                    "claims": [claim_quoted(claim) for claim in judged.claims],
                },
            )


def _shown_sentence(claims: int) -> str:
    if not claims:
        return "No claim of this paper was ruled on here: nothing is established about any."
    return f"{claims} claim{'s' if claims > 1 else ''} of this paper {'were' if claims > 1 else 'was'} ruled on here."


def _show_verdicts(
    output: Output, paper: str | None, out_name: str | None, audience: Audience | None, ledger_url: str
) -> None:
    from verifier.challenge import written_verdicts
    from verifier.judge.claims import judge_paper
    from verifier.judge.verdict_file import verdict_file
    from verifier.report.files import write_whole
    from verifier.report.text import counted

    if audience == "organizer":
        raise BadInput(
            "a verdicts file is for the public and holds nothing private", where="--audience", mend="leave it out"
        )
    with _open(ledger_url) as book:
        index = _index(book)
        papers = [index.paper(paper, "public")] if paper is not None else index.papers()
        made = verdict_file(judge_paper(index, one, audience="public") for one in papers)
    text = written_verdicts(made.records)
    if out_name is not None:
        write_whole(
            {Path(out_name): text.encode()}, what="the verdicts", mend="free space, or choose another place with --out"
        )
    elif not output.json:
        click.echo(text, nl=False)
    for skipped in made.skipped:
        click.echo(f"skipped {printable(skipped)}: it has no OpenReview id", err=True)
    for of, sha256 in made.withheld:
        click.echo(f"skipped claim {sha256[:12]} of {printable(of)}: its text is withheld", err=True)
    if output.json or out_name is not None:
        output.result(
            "verifier/judge-verdicts/1",
            f"{counted(len(made.records), 'record')}, {counted(len(made.skipped), 'paper')} skipped for want of an "
            f"OpenReview id, {counted(len(made.withheld), 'claim')} because its text is withheld.",
            file=out_name,
            records=len(made.records),
            quoted={
                "verdicts": None if out_name is not None else text,
                "skipped": list(made.skipped),
                "withheld": [{"paper": of, "claim_sha256": sha256} for of, sha256 in made.withheld],
            },
        )


@judge.command()
@click.argument("paper")
@_audience_option
@trust_options
@ledger_option
@with_output
def packet(
    output: Output,
    paper: str,
    audience: Audience | None,
    log_vkey: str | None,
    witness_vkeys: tuple[str, ...],
    ledger_url: str,
) -> None:
    """Print what is established about PAPER as a packet for a language model."""
    from verifier.judge.claims import judge_paper
    from verifier.judge.packet import packet as packet_of
    from verifier.report.text import counted

    with _open(ledger_url) as book:
        index = _index(book)
        cosigned = trusted_cosignatures(book, index, log_vkey, witness_vkeys)
        made = packet_of(judge_paper(index, paper, audience=audience or "organizer", cosigned=cosigned))
    if not output.json:
        click.echo(made.text, nl=False)
        return
    output.result(
        "verifier/judge-packet/1",
        f"A packet on {counted(len(made.claims), 'claim')}, {len(made.text)} characters; "
        f"{counted(made.left_out, 'claim')} left out.",
        audience=audience or "organizer",
        claims=made.claims,
        left_out=made.left_out,
        sha256=made.sha256,
        quoted={"packet": made.text},
    )


@judge.command()
@click.argument("paper")
@click.option("--endpoint", required=True, metavar="URL", help="Base address of an OpenAI-compatible server.")
@click.option("--model", required=True, metavar="NAME", help="The model asked for.")
@click.option("--times", type=click.IntRange(1, _TIMES), default=3, show_default=True, help="How many readings.")
@click.option("--timeout", default="120s", show_default=True, metavar="TIME", help="The most one reading may take.")
@_audience_option
@trust_options
@ledger_option
@with_output
def read(
    output: Output,
    paper: str,
    endpoint: str,
    model: str,
    times: int,
    timeout: str,
    audience: Audience | None,
    log_vkey: str | None,
    witness_vkeys: tuple[str, ...],
    ledger_url: str,
) -> None:
    """Send the packet on PAPER to a model several times; record its readings and how far they agree."""
    import os

    from verifier.cli.options import seconds_of
    from verifier.judge.claims import judge_paper
    from verifier.judge.endpoint import ask, endpoint_of
    from verifier.judge.packet import packet as packet_of
    from verifier.judge.reading import agreement
    from verifier.judge.reading import read as read_once
    from verifier.judge.recorded_readings import may_be_recorded, record_readings

    server = endpoint_of(endpoint)
    seconds = seconds_of(timeout, option="--timeout")
    assert seconds is not None
    key = os.environ.get(_KEY_VARIABLE, "")
    may_be_recorded(model=model, key=key)
    with _open(ledger_url) as book:
        index = _index(book)
        cosigned = trusted_cosignatures(book, index, log_vkey, witness_vkeys)
        judged = judge_paper(index, paper, audience=audience or "organizer", cosigned=cosigned)
        made = packet_of(judged)
        if not made.claims:
            raise BadInput("no claim of this paper was ruled on here, so there is nothing to read", where="PAPER")
        readings = [
            read_once(made, lambda said: ask(server, model=model, messages=said, key=key, seconds=seconds))
            for _ in range(times)
        ]
        agreed = agreement(readings)
        entry = record_readings(book, judged, made, readings, agreement=agreed, model=model, endpoint=server.shown)
    failures = [reading.failure for reading in readings if reading.failure]
    if not output.json:
        for name, sha256 in made.claims.items():
            output.show(f"{name:<6}{sha256[:12]}  {', '.join(agreed.words[sha256])}")
        for failure in failures:
            output.show(f"no answer: {failure}")
    if len(failures) == times:
        output.exit_code = Exit.NO_ANSWER
    private = sum(claim.private for claim in judged.claims) if any(reading.sent for reading in readings) else 0
    output.result(
        "verifier/judge-read/1",
        read_sentence(times, len(failures), agreed.alpha, entry.n, private),
        ok=len(failures) < times,
        next_=[judge_command("show", ledger_url, judged.paper)],
        n=entry.n,
        leaf=entry.leaf,
        model_readings=times,
        failures=failures,
        alpha=None if agreed.alpha is None else str(agreed.alpha),
        missing=agreed.missing,
        words={sha256: list(words) for sha256, words in agreed.words.items()},
        packet_sha256=made.sha256,
        quoted={
            "model": model,
            "because": [
                {sha256: said.because for sha256, said in reading.claims.items() if said.because}
                for reading in readings
            ],
        },
    )


@judge.command()
@click.argument("paper", required=False)
@_audience_option
@ledger_option
@with_output
def contested(output: Output, paper: str | None, audience: Audience | None, ledger_url: str) -> None:
    """List the claims on which independent teams hold opposite positions, and what separates them."""
    from verifier.judge.claims import judge_paper
    from verifier.judge.contested import contested as contested_of
    from verifier.judge.positions import imported_verdicts
    from verifier.report.text import counted

    whose = audience or "organizer"
    with _open(ledger_url) as book:
        index = _index(book)
        wanted = None if paper is None else index.paper(paper, whose)
        names = {wanted, f"openreview:{wanted}"}
        papers = [judge_paper(index, one, audience=whose) for one in index.papers() if wanted is None or one in names]
        # the public sees no entry that belongs to no public dispute
        imports = imported_verdicts(index.imported()) if whose == "organizer" else iter(())
        found = contested_of(papers, (one for one in imports if wanted is None or one.paper in names))
    for claim in found:
        if output.json:
            output.result(
                "verifier/judge-contested/1",
                f"{len(claim.positions)} independent teams hold positions on this claim, opposite ones among them.",
                **contested_document(claim),
            )
        else:
            show_contested(output, claim)
    if not output.json or not found:
        output.result("verifier/judge-contested/1", f"{counted(len(found), 'contested claim')}.", claims=len(found))


@judge.command()
@click.option("--top", type=click.IntRange(1, 100_000), default=None, help="Only the first so many.")
@ledger_option
@with_output
def board(output: Output, top: int | None, ledger_url: str) -> None:
    """Rebuild the challenge's board from the imported verdicts: points per user."""
    from verifier.judge.board import board as board_of
    from verifier.judge.positions import imported_verdicts
    from verifier.report.text import counted

    with _open(ledger_url) as book:
        standings = board_of(imported_verdicts(book.entries("import")))
    if not output.json:
        show_board(output, standings[:top])
    output.result(
        "verifier/judge-board/1",
        f"{counted(len(standings), 'user')}; one Space for each user and paper counts, the first judged.",
        users=[
            {"points": one.points, "papers": one.papers, "words": {word.value: n for word, n in one.words.items()}}
            for one in standings[:top]
        ],
        quoted={"users": [one.user for one in standings[:top]]},
    )


@judge.command("import")
@click.argument("verdicts", type=_FILE)
@click.option("--claims", "claims", multiple=True, type=_FILE, help="A claims.json to pin to.")
@click.option("--anchored", multiple=True, type=_FILE, help="A claims_anchored.json: it overrides.")
@click.option("--revision", default="", metavar="TEXT", help="Which revision of its source the file is.")
@click.option("--skip-invalid", is_flag=True, help="Leave out and list records with a wrong field.")
@ledger_option
@with_output
def import_(
    output: Output,
    verdicts: Path,
    claims: tuple[Path, ...],
    anchored: tuple[Path, ...],
    revision: str,
    skip_invalid: bool,
    ledger_url: str,
) -> None:
    """Record the challenge's verdicts in VERDICTS as somebody else's word: all of the file, or nothing."""
    from verifier.challenge import pins_of
    from verifier.judge.importing import import_verdicts
    from verifier.report.text import counted

    if len(revision) > 200 or not revision.isprintable():
        raise BadInput("the revision is not one short line", where="--revision")
    with _open(ledger_url, create=True) as book:
        done = import_verdicts(
            book, verdicts, pins=pins_of(claims, anchored), revision=revision, skip_invalid=skip_invalid
        )
    for skipped in done.skipped:
        if not output.json:
            output.show(f"skipped {skipped.key}: {printable(skipped.why)}")
    sentence = (
        f"{counted(done.appended, 'record')} imported, {done.found} stood there before, {len(done.skipped)} skipped"
    )
    have = "has" if done.pinned == 1 else "have"
    pinned = f"{done.pinned} of {counted(done.claims, 'claim')} {have} the text of the claims files"
    says = "record says" if done.same_content == 1 else "records say"
    same = f"; {done.same_content:,} {says} the same as another Space's" if done.same_content else ""
    output.result(
        "verifier/judge-import/1",
        f"{sentence}; {pinned}{same}; none of it was examined here.",
        next_=[judge_command("contested", ledger_url), judge_command("board", ledger_url)],
        appended=done.appended,
        found=done.found,
        skipped=len(done.skipped),
        claims=done.claims,
        pinned=done.pinned,
        same_content=done.same_content,
        file_sha256=done.file_sha256,
        quoted={"skipped": [{"key": one.key, "why": one.why} for one in done.skipped]},
    )
