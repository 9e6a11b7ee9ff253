"""What `stats test` shows a person: the looks, the estimate, what is needed, flags, teams; and the pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from verifier.cli.output import Output
from verifier.cli.stats_answers import SIDES, Tested
from verifier.cli.stats_document import write_picture
from verifier.cli.stats_samples import Sample
from verifier.cli.stats_teams import TeamsTested, estimate_of, interval_of, separation_lines
from verifier.report.text import OUTCOME_WORDS, counted, decimal, e_value, plain
from verifier.stats import margin_sentences
from verifier.stats.flags import Flag
from verifier.stats.growth_rule import HALF_BAR
from verifier.stats.growth_statistics import GrowthFinding
from verifier.stats.margin_design import MIDDLE_BAR
from verifier.stats.run_table import RunTable

MOST_LOOKS, MOST_TEAMS = 40, 60
SLOPES = {
    "full": "slope over all scales",
    "up": "slope over the upper half",
    "cone": "slope that no bounded function explains",
}


def outcome_words(finding: Any) -> str:
    """The outcome in words, with its reason."""
    words = OUTCOME_WORDS[finding.outcome]
    return words if finding.reason is None else f"{words}: {finding.reason}"


def summary_of(tested: Tested) -> str:
    """The rule's own sentence."""
    return tested.finding.summary


def show(
    output: Output,
    main: Tested,
    teams: TeamsTested | None,
    *,
    samples: Sequence[Sample],
    table: RunTable,
    flags: Sequence[Flag],
    classical: Sequence[Mapping[str, Any]] | None,
    drawn: Mapping[str, str] | None,
    covariates: Sequence[str] = (),
    noisiest: int | None = None,
) -> None:
    """Prints everything but the last sentence.

    covariates: those declared. noisiest: whose noise the plan named last takes, an index of teams; None for no plan.
    """
    output.show(rule_line(main.rule))
    output.show(data_line(table, samples))
    if teams is None:
        _show_looks(output, main)
        for line in (*estimate_lines(main), needed_line(main, samples[0].axis)):
            output.show(line)
    else:
        _show_teams(output, teams, samples[0].axis, noisiest=noisiest)
        for line in separation_lines(teams, covariates):
            output.show(plain(line))
    for flag in flags:
        output.show(f"flag {flag.name}: {plain(flag.evidence)}")
    for line in main.finding.flags:
        output.show(f"by its design: {plain(line)}")
    for number, fits in enumerate(classical or [], 1):
        of = f" of team {plain(teams.names[number - 1])}" if teams else ""
        for name, numbers in fits.items():
            output.show(f"classical{of}: {name.replace('_', ' ')}: {_numbers(numbers)}")
    if drawn is not None:
        output.show(f"picture: {plain(drawn['svg'])}, numbers: {plain(drawn['csv'])}")


def rule_line(rule: Any) -> str:
    """The rule as it was applied, in one line."""
    names = ("claimed", "alleged", "alternative", "delta", "law", "noise", "population", "method", "estimand", "size")
    parts = [f"{name} {_written(getattr(rule, name))}" for name in names if getattr(rule, name, "") not in ("", None)]
    looks = ", ".join(map(str, rule.looks[:12])) + (", …" if len(rule.looks) > 12 else "")
    return (
        f"rule {rule.kind}: {', '.join(parts)}, threshold {float(rule.threshold):,.0f}, minimum n {rule.minimum_n}, "
        f"looks {looks}"
    )


def _written(value: Any) -> str:
    """An exact number as a decimal where that is the same number."""
    if isinstance(value, Fraction) and Fraction(repr(float(value))) == value:
        return f"{float(value):g}" if Fraction(f"{float(value):g}") == value else repr(float(value))
    return str(value)


def data_line(table: RunTable, samples: Sequence[Sample]) -> str:
    """What the table holds, and where the first cell is missing."""
    listed, n = sum(x.listed for x in samples), sum(x.n for x in samples)
    parts = [counted(len(table), "row"), f"{n:,} of {counted(listed, 'replicate')} complete and in order"]
    if samples[0].scales:
        scales = samples[0].scales
        ends = f"{scales[0]}" if len(scales) == 1 else f"{scales[0]} to {scales[-1]}"
        parts.append(f"{counted(len(scales), 'scale')}, {samples[0].axis} = {ends}")
    if len(samples) > 1:
        parts.append(f"{len(samples)} teams")
    gaps = [x.gap for x in samples if x.gap]
    rest = f"; {gaps[0]}, so it and what follows it are listed and not counted" if gaps else ""
    return f"data: {', '.join(parts)}{rest}"


def _show_looks(output: Output, main: Tested) -> None:
    if not main.looks:
        return
    from rich.table import Table

    sides = SIDES[main.family]
    grid = Table("n", *(f"E: {words}" for words in sides.values()), "", box=None)
    shown = main.looks if len(main.looks) <= MOST_LOOKS else main.looks[-MOST_LOOKS:]
    for look in shown:
        values = [e_value(look.e[name]) if name in look.e else "–" for name in sides]
        grid.add_row(f"{look.n:,}", *values, "stop" if look.n == main.stop else "")
    output.show(grid)
    if len(shown) < len(main.looks):
        output.show(f"the last {len(shown)} of {len(main.looks):,} looks are shown; --json has all")


def estimate_lines(main: Tested) -> list[str]:
    """The estimate at the stop with its interval: three slopes for growth, one effect for a margin rule."""
    statistics: Any = main.finding.statistics
    if isinstance(main.finding, GrowthFinding):
        from verifier.stats import growth_sentences  # brings scipy.optimize, which other rules can do without

        lines = []
        for name, words in SLOPES.items():
            slope = getattr(statistics, f"slope_{name}")
            if slope is not None:
                lines.append(
                    f"{words}: {slope.estimate:.3f}, standard error {decimal(slope.stderr)}"
                    f"{growth_sentences.interval_text(slope)}"
                )
        return lines
    effect = statistics.effect
    if effect is None:
        return []
    error = "" if effect.stderr is None else f", standard error {effect.stderr:.3g}"
    logs = " of its logarithm" if main.rule.kind == "ratio" and error else ""
    return [f"estimate {margin_sentences.effect_text(effect, main.rule.shown)}{error}{logs}"]


def needed_line(main: Tested, axis: str) -> str:
    """What would decide nine times in ten, at the noise seen."""
    adequacy = main.finding.adequacy
    if not isinstance(main.finding, GrowthFinding):
        return f"needed: {margin_sentences.would_decide(adequacy)}"
    from verifier.stats import growth_sentences

    return f"needed: {growth_sentences.would_decide(adequacy, axis=axis)}"


def _show_teams(output: Output, found: TeamsTested, axis: str, *, noisiest: int | None) -> None:
    from rich.table import Table
    from rich.text import Text

    shown = getattr(found.tested[0].rule, "shown", lambda x: f"{x:.4g}")
    grid = Table("team", "n", "estimate", "95 % at any stop", "E for", "E against", "alone", box=None)
    for name, one in list(zip(found.names, found.tested, strict=True))[:MOST_TEAMS]:
        estimate, interval = estimate_of(one), interval_of(one)
        grid.add_row(
            Text(plain(name)),
            str(one.stop),
            "–" if estimate is None else shown(estimate[0]),
            "–" if interval is None else f"{shown(interval[0])} to {shown(interval[1])}",
            *(e_value(math.exp(min(log_e, 700.0))) for log_e in one.log_e),
            f"{one.finding.answer}, {outcome_words(one.finding)}{_no_vote(found, name)}",
        )
    output.show(grid)
    for duplicate in found.duplicates:
        output.show(f"duplicate, not counted: {plain(duplicate.sentence)}")
    together = found.together
    if together.log_e_for is not None and together.log_e_against is not None:
        both = [e_value(math.exp(min(x, 700.0))) for x in (together.log_e_for, together.log_e_against)]
        output.show(
            f"together ({together.method}, u = {together.u}): E for {both[0]}, E against {both[1]}; on trust: "
            f"{together.assumes}"
        )
    spread = found.spread
    if spread is not None:
        ahead = "" if spread.prediction is None else f"; another team: {_span(spread.prediction, shown)}"
        output.show(
            f"mean of teams {shown(spread.estimate)} ({spread.level:.0%}, Hartung–Knapp: "
            f"{_span(spread.interval, shown)}{ahead}); between teams sd {spread.tau:.3g}, I² {spread.i2:.0%}, "
            f"Q = {spread.q:.3g} on {spread.df}, p = {spread.p:.2g}"
        )
    most = max(range(len(found.tested)), key=lambda i: max(found.tested[i].finding.adequacy.needed.values(), default=0))
    output.show(f"{needed_line(found.tested[most], axis)} (team {plain(found.names[most])}, which needs most)")
    if noisiest is not None:
        output.show(f"the plan named last takes the noise of team {plain(found.names[noisiest])}, the largest")


def _no_vote(found: TeamsTested, name: str) -> str:
    """What follows the outcome of a team that decided alone and whose vote does not count."""
    return ", no vote" if name in found.together.dropped else ""


def _span(interval: tuple[float, float], shown: Any) -> str:
    return f"{shown(interval[0])} to {shown(interval[1])}"


def _numbers(numbers: Any) -> str:
    if not isinstance(numbers, Mapping):
        return plain(str(numbers))
    words = [
        f"{name.replace('_', ' ')} "
        + (" to ".join(f"{x:.4g}" for x in value) if isinstance(value, list) else f"{value:.4g}")
        for name, value in numbers.items()
    ]
    return ", ".join(words)


def draw(target: Path, main: Tested, teams: TeamsTested | None) -> dict[str, str] | None:
    """Writes the picture: the teams if there are several, else the e-processes. None where there was no look."""
    if teams is not None:
        return _draw_teams(target, teams)
    from verifier.report.eprocess_figure import Bar, Process, eprocess_svg

    if not main.looks:
        return None
    sides = SIDES[main.family]
    processes = [Process(name=words, e=[look.e.get(name, 0.0) for look in main.looks]) for name, words in sides.items()]
    middle = HALF_BAR if main.family == "growth" else MIDDLE_BAR
    bars = [
        Bar(name="decides, either way", value=float(main.rule.threshold)),
        Bar(name="delta/2" if main.family == "growth" else "the middle", value=middle),
    ]
    looks = [look.n for look in main.looks]
    svg = eprocess_svg(
        looks,
        processes,
        bars=bars,
        stop=main.stop,
        unit=getattr(main.rule, "unit", "replicates"),
        title=f"rule {main.rule.kind}, retrospective: {main.finding.answer}",
    )
    rows: list[list[Any]] = [
        ["n", *sides],
        *([look.n, *(p.e[i] for p in processes)] for i, look in enumerate(main.looks)),
    ]
    return write_picture(target, svg, rows)


def _draw_teams(target: Path, found: TeamsTested) -> dict[str, str]:
    from verifier.report.forest_figure import Summary, TeamRow, forest_svg

    rule = found.tested[0].rule
    shown = getattr(rule, "shown", lambda x: f"{x:.4g}")
    rows, numbers = [], [["team", "estimate", "stderr", "low", "high", "outcome"]]
    for name, one in zip(found.names, found.tested, strict=True):
        estimate, interval = estimate_of(one), interval_of(one)
        rows.append(
            TeamRow(
                name=name,
                estimate=None if estimate is None else estimate[0],
                interval=interval,
                word=f"{OUTCOME_WORDS[one.finding.outcome]}{_no_vote(found, name)}",
            )
        )
        ends = ["", ""] if interval is None else [repr(float(x)) for x in interval]
        middle = ["", ""] if estimate is None else [repr(float(x)) for x in estimate]
        numbers.append([_safe(name), *middle, *ends, str(one.finding.outcome)])
    spread = found.spread
    summary = (
        None
        if spread is None
        else Summary(estimate=spread.estimate, interval=spread.interval, prediction=spread.prediction)
    )
    if hasattr(rule, "nulls"):
        marks = [("alleged", rule.nulls.alleged), ("claimed", rule.nulls.claimed)]
    else:
        marks = [("0", 0.0), ("alleged", float(getattr(rule, "alternative", getattr(rule, "gap", 0))))]
    svg = forest_svg(
        rows,
        summary=summary,
        marks=marks,
        shown=shown,
        quantity="slope" if not hasattr(rule, "nulls") else rule.kind,
        title=f"rule {rule.kind}, retrospective, 95 % at any stopping time: {found.together.answer}",
    )
    return write_picture(target, svg, numbers)


def _safe(name: str) -> str:
    """A stranger's word for a spreadsheet: nothing that it would take for a formula."""
    text = plain(name)
    return f"'{text}" if text[:1] in "=+-@" else text
