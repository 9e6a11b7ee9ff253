"""`verifier stats test --rule bound`: costs of instances against g, from a table with a line a run of an instance."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verifier.cli.stats_document import document, picture_path, rule_document, write_picture
from verifier.cli.stats_shown import MOST_LOOKS, outcome_words
from verifier.cli.stats_table import read_table
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.report.text import counted, e_value, plain
from verifier.stats import bound
from verifier.stats.bound import BoundFinding, Instance
from verifier.stats.bound_rule import BoundAnswer, BoundRule
from verifier.stats.laws import Floats
from verifier.stats.run_columns import one_for_each
from verifier.stats.run_table import Ints, RunTable

if TYPE_CHECKING:
    from verifier.cli.output import Output
    from verifier.cli.stats_options import GivenRule

MOST_INSTANCES = 12  # shown to a person
_EXACT = re.compile(r"[+-]?\d+(/\d+)?", re.ASCII)
_NOT_HERE = {"printed": "--printed", "printed_error": "--printed-error", "printed_interval": "--printed-interval"}


@dataclass(frozen=True, kw_only=True)
class Costs:
    """One search: names of the instances, g of each, and their costs.

    draws: float64 (instances, n), n replicates that all have, and rows: int64 of the same shape, where each stands in
    the table; values: of a cost without chance, as written. One of the two is None. rounded: names of the instances
    whose value is a decimal, which may have been rounded, with the line it stands in.
    """

    names: tuple[str, ...]
    bounds: tuple[Fraction, ...]
    draws: Floats | None
    values: tuple[Fraction, ...] | None
    listed: int
    table: RunTable
    rows: Ints | None = None
    rounded: Mapping[str, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Replicates of every instance; 0 for a cost without chance."""
        return 0 if self.draws is None else self.draws.shape[1]

    def instances(self, n: int) -> list[Instance]:
        """The instances as the rule takes them, on their first n replicates."""
        if self.values is not None:
            return [
                Instance(name=name, bound=g, value=x, rounded=name in self.rounded)
                for name, g, x in zip(self.names, self.bounds, self.values, strict=True)
            ]
        assert self.draws is not None
        assert self.rows is not None
        return [
            Instance(name=name, bound=g, draws=draws[:n], same=self._same(draws[:n], rows[:n]))
            for name, g, draws, rows in zip(self.names, self.bounds, self.draws, self.rows, strict=True)
        ]

    def _same(self, draws: Floats, rows: Ints) -> Fraction | None:
        if not len(draws) or np.ptp(draws) > 0:
            return None
        return min(value for value in self.table.rows(rows).exact if value is not None)


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
    undecided = _why_not_decided(rule, costs, named=not output.json)
    said = undecided or (finding.answer.sentence if output.json else finding.summary)
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
        values = tuple(x for item in names if (x := table.exact[rows[item]]) is not None)
        rounded = {item: int(table.line[row]) for item, row in rows.items() if not _is_exact(table, row)}
        return Costs(
            names=names,
            bounds=tuple(bounds[x] for x in names),
            draws=None,
            values=values,
            listed=1,
            table=table,
            rounded=rounded,
        )
    n = grid.prefix
    draws = grid.values[0, 0, :n, :].T
    row_of = {(int(table.item[row]), int(table.replicate[row])): row for row in range(len(table))}
    number_of = {item: i for i, item in enumerate(table.items)}
    rows_of = [[row_of[number_of[item], int(r)] for r in grid.replicates[:n]] for item in grid.items]
    return Costs(
        names=grid.items,
        bounds=tuple(bounds[x] for x in grid.items),
        draws=draws,
        values=None,
        listed=len(grid.replicates),
        table=table,
        rows=np.array(rows_of, np.int64).reshape(len(grid.items), n),
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


def _is_exact(table: RunTable, row: int) -> bool:
    """Whether the text is an integer or p/q; a decimal may have been rounded."""
    numbers = table.numbers[row]
    return len(numbers) == 1 and _EXACT.fullmatch(numbers[0]) is not None


def _why_not_decided(rule: BoundRule, costs: Costs, *, named: bool) -> str:
    """Why a class whose costs are all within their bounds is not decided; "" where that is not so."""
    names = bound.rounded_only(rule, costs.instances(costs.n))
    if not names:
        return ""
    first = min(names, key=lambda name: costs.rounded[name])
    which = f"{shown(first)}, line {costs.rounded[first]}," if named else f"the value in line {costs.rounded[first]}"
    more = f", as {counted(len(names) - 1, 'other')} are" if len(names) > 1 else ""
    what = f"{which} is a decimal{more}, and may have been rounded"
    return f"no cost is above its bound, but {what}; write an integer or p/q"


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
