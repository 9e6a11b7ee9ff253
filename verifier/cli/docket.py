"""`verifier docket`: every dispute, where it stands, whose turn it is, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from verifier.cli.options import ledger_option
from verifier.cli.output import Output, with_output
from verifier.cli.people_options import open_ledger
from verifier.model.printable import printable

if TYPE_CHECKING:
    from verifier.model.dispute_status import DisputeStatus
    from verifier.model.docket import Turn


@click.command()
@ledger_option
@click.option("--all", "everything", is_flag=True, help="Also disputes in which nobody has anything left to do.")
@click.option(
    "--audience",
    type=click.Choice(("organizer", "public")),
    default="organizer",
    show_default=True,
    help="The public sees public disputes only.",
)
@with_output
def docket(output: Output, ledger_url: str, everything: bool, audience: str) -> None:
    """List the open disputes: state, owner, next step, what is missing and who could supply it."""
    from verifier.ledger.standing import STILL, replay
    from verifier.ledger.times import system_now, time_text
    from verifier.model.dispute_document import status_fields
    from verifier.model.disputes import Visibility
    from verifier.model.docket import turn

    with open_ledger(ledger_url) as book:
        statuses = replay(book.entries(without=STILL))
    now = time_text(system_now())
    rows = [(status, turn(status, now)) for status in statuses.values()]
    if audience == "public":
        rows = [(status, whose) for status, whose in rows if status.visibility is Visibility.PUBLIC]
    shown = [(status, whose) for status, whose in rows if everything or audience == "public" or not whose.settled]
    for status, whose in shown:
        if output.json:
            output.result(
                "verifier/docket/1",
                f"The dispute {status.dispute[:12]} is {status.state}: {_whose(whose)}.",
                **status_fields(status),
                owner=whose.owner or None,
                step=whose.step,
                missing=[{"what": one.what, "who": one.who} for one in whose.missing],
                quoted={"title": status.facts.title},
            )
        else:
            _show(output, status, whose)
    if not output.json:
        output.result("verifier/docket/1", _count(len(shown), len(statuses)))


def _count(shown: int, every: int) -> str:
    return f"Disputes in this ledger: {every}; shown here: {shown}."


def _whose(whose: Turn) -> str:
    return f"{whose.owner} {whose.step}" if whose.owner else whose.step


def _show(output: Output, status: DisputeStatus, whose: Turn) -> None:
    mark = {"private": "PRIVATE  ", "notified": "NOTIFIED  "}.get(str(status.visibility), "")
    ruling = "" if status.ruling is None else f"  {status.ruling.ruling.words}"
    output.show(f"{status.dispute[:12]}  {mark}{status.state}  {printable(status.paper)}{ruling}")
    if status.facts.title:
        output.show(f"  {printable(status.facts.title)}")
    output.show(f"  next: {_whose(whose)}")
    for one in whose.missing:
        output.show(f"  missing: {one.what} (from {one.who})")
    for leaf, because in status.refused:
        output.show(f"  not counted: {leaf[:12]}: {printable(because)}")
