"""`verifier stats test|plan|portfolio`: statistics on a table, the power of a design, many disputes at once."""

from __future__ import annotations

import click

from verifier.cli.stats_plan import plan
from verifier.cli.stats_portfolio import portfolio
from verifier.cli.stats_test import test


@click.group()
def stats() -> None:
    """Run a rule on a table of runs, plan a design, or count many disputes together."""


for _command in (test, plan, portfolio):
    stats.add_command(_command)
