"""`verifier stats portfolio`: which disputes of a ledger survive when all that were tried are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from verifier.cli.options import ledger_command, ledger_option
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.cli.stats_ledger import Dispute, Found
    from verifier.stats.portfolio import Family


@click.command()
@ledger_option
@click.option("--alpha", default="0.05", show_default=True, metavar="RATE",
              help="The false discovery rate of each side by itself.")  # fmt: skip
@with_output
def portfolio(output: Output, ledger_url: str, alpha: str) -> None:
    """Count all disputes of a ledger together: which survive, at which rate, by e-BH and by Holm.

    E is taken at each run's own stop, after its registrations' discount; standing rulings only. What is exact or
    retrospective is counted in neither family, and listed.
    """
    from verifier.cli.stats_document import document
    from verifier.cli.stats_ledger import disputes_of
    from verifier.ledger import Ledger
    from verifier.report.text import counted
    from verifier.stats.portfolio import portfolio as count_together

    rate = _rate(alpha)
    with Ledger.open(ledger_url, create=False) as book:
        found = disputes_of(book.entries("registration"), book.entries("ruling"), book.entries("evidence"))
    disputes = {dispute.name: dispute for dispute in found.disputes}
    both = count_together([dispute.entry for dispute in found.disputes], alpha=rate)
    if not output.json:
        _show(output, both.support, "for the dispute", disputes)
        _show(output, both.opposition, "against the dispute", disputes)
        for name, why in both.outside:
            output.show(f"in neither family: {name}: {why}")
        for line in (*_several(found), *_left_out(found)):
            output.show(line)
    output.result(
        "verifier/stats-portfolio/1",
        f"{counted(both.support.size, 'dispute')} counted together: {len(both.support.survivors)} supported and "
        f"{len(both.opposition.survivors)} opposed at a false discovery rate of {rate:g} on each side; "
        f"{len(both.outside)} in neither family.",
        next_=[ledger_command("log", ledger_url)],
        alpha=rate,
        disputes=[
            {
                "name": one.name,
                "paper": one.paper,
                "dispute": one.id,
                "ruling": one.ruling or None,
                "kind": one.entry.kind,
                "probes": list(one.probes),
                "void": list(one.void),
            }
            for one in found.disputes
        ],
        families={"for": document(both.support), "against": document(both.opposition)},
        outside=[{"name": name, "why": why} for name, why in both.outside],
        exploratory=list(found.exploratory),
    )


def _rate(text: str) -> float:
    from verifier.model.numbers import parse_rational

    try:
        rate = float(parse_rational(text))
    except BadInput as error:
        raise BadInput(error.what, where="--alpha", mend="0.05 is usual") from None
    if not 0 < rate < 1:
        raise BadInput(f"the rate {rate:g} is not between 0 and 1", where="--alpha", mend="0.05 is usual")
    return rate


def _several(found: Found) -> list[str]:
    """What E is of a dispute with several probes, where there is one."""
    names = [f"{one.name} ({len(one.probes)})" for one in found.disputes if len(one.probes) > 1]
    if not names:
        return []
    return [f"E of several probes is, on each side, the largest of theirs divided by their number: {', '.join(names)}"]


def _left_out(found: Found) -> list[str]:
    lines = [
        f"E = 0 counted for {one.name}, probe {probe}: its controls did not leave it its outcome, or it has no answer"
        for one in found.disputes
        for probe in one.void
    ]
    return [*lines, *(f"not counted, only exploratory runs: {name}" for name in found.exploratory)]


def _show(output: Output, family: Family, side: str, disputes: dict[str, Dispute]) -> None:
    from rich.table import Table
    from rich.text import Text

    from verifier.report.text import e_value, plain

    output.show(
        f"{side}: {len(family.survivors)} of {family.size} at a false discovery rate of {family.alpha:g}; one alone "
        f"needs E = {family.alone:,.0f}"
    )
    if not family.standings:
        return
    table = Table("dispute", "E at stop", "rate", "survives", "sup E", "Holm p", "by Holm", "ruling", box=None)
    for one in family.standings:
        table.add_row(
            Text(plain(one.name)),
            "runs on" if one.running else e_value(one.e),
            "–" if one.rate is None else f"{one.rate:.2g}",
            _word(one.survives),
            e_value(one.sup_e),
            f"{one.holm_p:.2g}",
            _word(one.holm_survives),
            disputes[one.name].ruling or "none yet",
        )
    output.show(table)


def _word(survives: Any) -> str:
    return "yes" if survives else "no"
