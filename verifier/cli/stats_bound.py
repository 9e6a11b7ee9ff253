"""`verifier stats test --rule bound`: costs of instances against g, from a table with a line a run of an instance."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verifier.cli.stats_document import document, picture_path, rule_document, write_picture
from verifier.cli.stats_shown import MOST_LOOKS, outcome_words
from verifier.cli.stats_table import read_table
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.report.text import counted, e_value, plain
from verifier.stats import bound
from verifier.stats.bound import BoundFinding, Instance
from verifier.stats.bound_rule import BoundAnswer, BoundRule
from verifier.stats.laws import Floats
from verifier.stats.run_columns import one_for_each
from verifier.stats.run_table import RunTable

if TYPE_CHECKING:
    from verifier.cli.output import Output
    from verifier.cli.stats_options import GivenRule

MOST_INSTANCES = 12  # shown to a person
_EXACT = re.compile(r"[+-]?\d+(/\d+)?", re.ASCII)
_NOT_HERE = {"printed": "--printed", "printed_error": "--printed-error", "printed_interval": "--printed-interval"}


@dataclass(frozen=True, kw_only=True)
class Costs:
    """One search: names of the instances, g of each, and their costs.

    draws: float64 (instances, n), n replicates that all have; values: of a cost without chance, exact where the table
    writes it as an integer or p/q. One of the two is None.
    """

    names: tuple[str, ...]
    bounds: tuple[Fraction, ...]
    draws: Floats | None
    values: tuple[Fraction | float, ...] | None
    listed: int

    @property
    def n(self) -> int:
        """Replicates of every instance; 0 for a cost without chance."""
        return 0 if self.draws is None else self.draws.shape[1]

    def instances(self, n: int) -> list[Instance]:
        """The instances as the rule takes them, on their first n replicates."""
        if self.values is not None:
            return [
                Instance(name=name, bound=g, value=x)
                for name, g, x in zip(self.names, self.bounds, self.values, strict=True)
            ]
        assert self.draws is not None
        return [
            Instance(name=name, bound=g, draws=row[:n])
            for name, g, row in zip(self.names, self.bounds, self.draws, strict=True)
        ]


def test_bound(output: Output, data: Path, given: GivenRule, options: Mapping[str, Any]) -> None:
    """The whole command under the rule `bound`."""
    from verifier.cli.stats_test import RETROSPECTIVE

    _refuse_options(options)
    target = picture_path(options["figure"], data=data)
    number, column = _bound_option(options["bound"])
    declared = () if column is None else (column,)
    table, _ = read_table(data, given, axis=options["axis"], at=options["at"], declared=declared)
    costs = costs_of(table, number=number, column=column, name=str(data))
    rule = rule_for(given, costs)
    made = [look for look in rule.looks if look <= costs.n] if costs.draws is not None else [0]
    path = [(n, _evaluate(rule, costs, n)) for n in made]
    stop, finding = next(((n, found) for n, found in path if found.outcome.decided), path[-1] if path else (0, None))
    if finding is None:
        finding = bound.evaluate(rule, [], discount=1.0, last=True)
    looks = [(n, found.statistics.e_mean) for n, found in path if found.statistics.e_mean is not None]
    flags = list(finding.flags)
    passed = finding.answer is BoundAnswer.NO_VIOLATION_FOUND and costs.n > 1
    needed = bound.needed_as_seen(rule, costs.instances(costs.n)) if passed else {}
    drawn = None if target is None else _draw(target, rule, looks, stop=stop, answer=finding.answer)
    if not output.json:
        output.show(RETROSPECTIVE)
        output.show(_rule_line(rule))
        output.show(_data_line(table, costs))
        _show(output, costs, looks, stop=stop)
        if needed:
            output.show(
                f"needed: {counted(needed['replicates'], 'replicate')} of each instance would show such an excess"
            )
        for flag in flags:
            output.show(f"by its design: {plain(flag)}")
        if drawn is not None:
            output.show(f"picture: {plain(drawn['svg'])}, numbers: {plain(drawn['csv'])}")
    said = finding.answer.sentence if output.json else finding.summary
    output.result(
        "verifier/stats-test/1",
        f"Retrospective, so it decides nothing; the rule bound says {finding.answer} "
        f"({outcome_words(finding)}): {said}.",
        next_=[],
        retrospective=True,
        decisive=False,
        rule={
            key: value for key, value in rule_document(rule).items() if key not in {"instances", "weights", "alleged"}
        },
        data={
            "rows": len(table),
            "missing": table.missing,
            "instances": len(costs.names),
            "registered": len(rule.instances),
            "replicates": costs.listed,
            "used": costs.n,
        },
        answer=str(finding.answer),
        outcome=str(finding.outcome),
        reason=document(finding.reason),
        stop=stop,
        looks=[{"n": n, "e_mean": document(e.current)} for n, e in looks],
        statistics={k: v for k, v in document(finding.statistics).items() if k != "worst_instance"},
        needed=needed,
        design_flags=flags,
        figure=drawn,
        quoted={"instances": list(costs.names), "summary": finding.summary},
    )


def costs_of(table: RunTable, *, number: Fraction | None, column: str | None, name: str) -> Costs:
    """The search that a table holds; g is `number` for all, or what the declared `column` says of each item.

    Raises BadInput for a table without items, of several scales, arms or teams, for a g that is no number.
    """
    if not len(table):
        raise BadInput("there is no row", where=name, mend="give a row for each run")
    first = f"{name}, line 1"
    if table.items == ("",):
        raise BadInput("the rule bound needs to know whose cost a row is", where=first, mend="add a column item")
    for what in ("arm", "team"):
        if getattr(table, f"{what}s") != ("",):
            mend = "give one value a replicate and instance, and leave the column out"
            raise BadInput(f"the rule bound has no use for the column {what}", where=first, mend=mend)
    if table.axes and len(np.unique(table.scale, axis=0)) > 1:
        mend = f"choose one, as --at {table.axes[0]}={table.scale[0, 0]}, or name size and instance in item"
        raise BadInput("a table of instances is of one scale", where=name, mend=mend)
    grid = table.grid()
    g = dict.fromkeys(grid.items, number) if column is None else _column_bounds(table, column, name=name)
    bounds = {item: value for item, value in g.items() if value is not None}
    if len(grid.replicates) == 1:
        rows = {table.items[table.item[row]]: row for row in range(len(table)) if table.present[row]}
        names = tuple(sorted(rows))
        values = tuple(_value(table, rows[item]) for item in names)
        return Costs(names=names, bounds=tuple(bounds[x] for x in names), draws=None, values=values, listed=1)
    n = grid.prefix
    draws = grid.values[0, 0, :n, :].T
    return Costs(
        names=grid.items,
        bounds=tuple(bounds[x] for x in grid.items),
        draws=draws,
        values=None,
        listed=len(grid.replicates),
    )


def rule_for(given: GivenRule, costs: Costs) -> BoundRule:
    """The rule: instances as listed in it, else those of the table; looks as given, else one at all replicates.

    Raises BadInput as the rule's table does, and for looks that do not fit the costs.
    """
    table = dict(given.table)
    open_ended = "instances" not in table and "members" not in table
    if open_ended:
        table["instances"] = len(costs.names)
    if costs.draws is None and table.get("looks"):
        raise BadInput(
            "every instance has one replicate", where="--looks", mend="leave looks out: a cost without chance"
        )
    if costs.draws is not None and not table.get("looks"):
        if given.source:
            what = f"the rule has no looks, and an instance has {costs.listed} replicates"
            raise BadInput(what, where=f"{given.source}, rule", mend="add looks = [60]")
        least = table.get("minimum_n", 30)
        table["looks"] = [costs.n] if costs.n >= least else [costs.n, least] if costs.n >= 2 else [least]
    rule: BoundRule = dataclasses.replace(given, table=table).rule(costs.n)
    return dataclasses.replace(rule, instances=costs.names) if open_ended else rule


def _evaluate(rule: BoundRule, costs: Costs, n: int) -> BoundFinding:
    try:
        return bound.evaluate(rule, costs.instances(n), discount=1.0, last=n == (rule.looks or (0,))[-1])
    except BadInput as error:
        raise BadInput(error.what, where="the column item", mend=error.mend) from None


def _refuse_options(options: Mapping[str, Any]) -> None:
    for name, option in _NOT_HERE.items():
        if options[name]:
            raise BadInput("the rule bound compares with no printed number", where=option, mend="leave it out")
    if options["classical"]:
        raise BadInput("there is no usual test of a bound for every instance", where="--classical", mend="leave it out")
    if options["covariates"]:
        raise BadInput("a covariate is of teams", where="--covariate", mend="leave it out")
    if options["claim_scale"] is not None:
        raise BadInput("the rule bound has no scale to reach", where="--claim-scale", mend="leave it out")


def _bound_option(text: str | None) -> tuple[Fraction | None, str | None]:
    """A number for every instance, or the column that holds it."""
    if text is None:
        mend = "add --bound 3/2, or --bound g where a column g holds each instance's"
        raise BadInput("the rule bound needs g, which no cost may exceed", where="--bound", mend=mend)
    try:
        return parse_rational(text), None
    except BadInput as error:
        if text[:1].isdigit() or text[:1] in "+-." or not text.isprintable():
            raise BadInput(error.what, where="--bound", mend=error.mend) from None
        return None, text


def _column_bounds(table: RunTable, column: str, *, name: str) -> dict[str, Fraction]:
    texts = one_for_each(table, column, of="item", name=name)
    found = {}
    for row in range(len(table)):
        item = table.items[table.item[row]]
        if item in found:
            continue
        try:
            found[item] = parse_rational(texts[item])
        except BadInput as error:
            raise BadInput(error.what, where=f"{name}, line {table.line[row]}, {column}", mend=error.mend) from None
    return found


def _value(table: RunTable, row: int) -> Fraction | float:
    """Exact where the text is: an integer or p/q; a decimal may have been rounded."""
    numbers = table.numbers[row]
    if len(numbers) == 1 and _EXACT.fullmatch(numbers[0]):
        return parse_rational(numbers[0])
    return float(table.value[row])


def _rule_line(rule: BoundRule) -> str:
    which = "all of a finite class" if rule.whole_class else "a sample of them"
    looks = ", ".join(map(str, rule.looks[:12])) + (", …" if len(rule.looks) > 12 else "")
    mean = f", minimum n {rule.minimum_n}, looks {looks}" if rule.looks else ", costs without chance"
    return (
        f"rule bound: {counted(len(rule.instances), 'instance')}, {which}, threshold {float(rule.threshold):,.0f}{mean}"
    )


def _data_line(table: RunTable, costs: Costs) -> str:
    parts = [counted(len(table), "row"), counted(len(costs.names), "instance")]
    if costs.draws is not None:
        parts.append(f"{costs.n:,} of {counted(costs.listed, 'replicate')} complete and in order")
    elif table.missing:
        parts.append(f"{counted(table.missing, 'instance')} without a value")
    return f"data: {', '.join(parts)}"


def _show(output: Output, costs: Costs, looks: Sequence[tuple[int, Any]], *, stop: int) -> None:
    from rich.table import Table
    from rich.text import Text

    means = (
        [float(x) for x in costs.values]
        if costs.values is not None
        else costs.draws.mean(axis=1).tolist()
        if costs.draws is not None and costs.n
        else []
    )
    if means:
        order = sorted(range(len(means)), key=lambda i: (float(costs.bounds[i]) - means[i], costs.names[i]))
        grid = Table("instance", "cost" if costs.draws is None else "mean cost", "bound", "excess", box=None)
        for i in order[:MOST_INSTANCES]:
            g = float(costs.bounds[i])
            grid.add_row(Text(plain(costs.names[i])), f"{means[i]:.4g}", f"{g:.4g}", f"{means[i] - g:+.4g}")
        output.show(grid)
        if len(order) > MOST_INSTANCES:
            output.show(f"the {MOST_INSTANCES} instances with the largest excess of {len(order):,} are shown")
    if looks:
        grid = Table("n", "E: the expected cost exceeds the bound", "", box=None)
        for n, e in looks[-MOST_LOOKS:]:
            grid.add_row(f"{n:,}", e_value(e.current), "stop" if n == stop else "")
        output.show(grid)


def _draw(
    target: Path, rule: BoundRule, looks: Sequence[tuple[int, Any]], *, stop: int, answer: BoundAnswer
) -> dict[str, str] | None:
    from verifier.report.eprocess_figure import Bar, Process, eprocess_svg

    if not looks:
        return None
    numbers = [n for n, _ in looks]
    svg = eprocess_svg(
        numbers,
        [Process(name="the expected cost exceeds the bound", e=[e.current for _, e in looks])],
        bars=[Bar(name="decides", value=float(rule.threshold))],
        stop=stop,
        unit="replicates",
        title=f"rule bound, retrospective: {answer}",
    )
    return write_picture(target, svg, [["n", "e_mean"], *([n, e.current] for n, e in looks)])
