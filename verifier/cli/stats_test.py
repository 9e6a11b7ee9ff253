"""`verifier stats test DATA.csv`: what a rule says of a table of runs; always retrospective, never decisive."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.output import Output, with_output
from verifier.cli.stats_options import GivenRule, given_rule, option_of, rule_options, rule_words
from verifier.cli.stats_table import read_table
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.cli.stats_answers import Tested
    from verifier.cli.stats_flags import Printed
    from verifier.cli.stats_noise import Noise
    from verifier.cli.stats_samples import Sample
    from verifier.stats.run_table import RunTable

RETROSPECTIVE = (
    "retrospective: these numbers were not drawn under a registration, so what follows is shown and decides nothing"
)


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@rule_options
@click.option("--axis", metavar="NAME", help="The column that holds the scale; scale, k and t are known.")
@click.option("--at", metavar="[NAME=]SCALE", help="Take the rows of this scale alone, as in k=64.")
@click.option("--claim-scale", type=click.IntRange(1, 10**16), metavar="K",
              help="The scale up to which the claim is tested; the largest of the table by default.")  # fmt: skip
@click.option("--teams", "combined", default="partial-conjunction", show_default=True,
              type=click.Choice(["partial-conjunction", "product", "average"]),
              help="How the evidence of several teams is combined.")  # fmt: skip
@click.option("--least-teams", type=click.IntRange(1, 1_000), default=2, show_default=True, metavar="U",
              help="How many teams must have the effect.")  # fmt: skip
@click.option("--covariate", "covariates", multiple=True, metavar="NAME",
              help="A column that says something of each team; which separates the teams that disagree?")  # fmt: skip
@click.option("--bound", metavar="NUMBER|COLUMN", help="Bound: g for every instance, or the column that holds it.")
@click.option("--printed", multiple=True, metavar="CELL=NUMBER",
              help="What a paper prints for a scale or an arm, to look for the same digits.")  # fmt: skip
@click.option("--printed-error", metavar="NUMBER", help="The standard error a paper prints for a paired difference.")
@click.option("--printed-interval", metavar="LO,HI", help="The interval a paper prints for the mean.")
@click.option("--classical", is_flag=True, help="Beside it the usual tests and fits (seconds; needs statsmodels).")
@click.option("--figure", type=click.Path(path_type=Path), metavar="FILE.svg",
              help="Draw E against the looks, or the teams; the numbers go to FILE.csv.")  # fmt: skip
@with_output
def test(output: Output, data: Path, **options: Any) -> None:
    """Run a rule on the runs in DATA, a CSV with a line a run. Retrospective: shown, never decisive.

    Columns: the scale, replicate (or seed), value (or n, sum, sum_sq), arm (left, right), item, team.
    """
    given = given_rule(rule_words(options))
    if given.kind == "bound":
        from verifier.cli.stats_bound import test_bound

        test_bound(output, data, given, options)
        return
    if options["bound"] is not None:
        raise BadInput(f"the rule {given.kind} has none", where="--bound", mend="it belongs to --rule bound")
    wanted = given.rule(2)  # what is wrong with the rule is said before the table is read
    printed = _printed(options)

    from verifier.cli import stats_shown
    from verifier.cli.stats_document import document, picture_path, rule_document
    from verifier.cli.stats_flags import found_flags
    from verifier.cli.stats_noise import largest_noise
    from verifier.cli.stats_samples import refuse_impossible
    from verifier.cli.stats_teams import has_teams, team_document

    target = picture_path(options["figure"], data=data)
    declared = options["covariates"]
    table, seeds = read_table(data, given, axis=options["axis"], at=options["at"], declared=declared)
    refuse_impossible(table, getattr(wanted, "bounds", None), name=str(data))
    several = has_teams(table)
    if options["covariates"] and not several:
        raise BadInput("a covariate is of teams, and the table has one", where="--covariate", mend="leave it out")
    samples, main, teams = (_several if several else _one)(table, given, data, options, seeds=seeds)
    flags = found_flags(main.rule, table, samples, printed=printed, seeds=seeds)
    classical = None
    if options["classical"]:
        from verifier.cli.stats_classical import classical as fits

        classical = [dict(fits(one.rule, x)) for one, x in zip(teams.tested if teams else [main], samples, strict=True)]
    finding = teams.together if teams else main.finding
    drawn = None if target is None else stats_shown.draw(target, main, teams)
    noise = None if given.word("population") == "items-drawn" else largest_noise(main.rule, samples)
    noisiest = noise.team if noise is not None and noise.sd else None
    fields, quoted = ({}, {}) if teams is None else team_document(teams, document, noisiest=noisiest)
    if not output.json:
        output.show(RETROSPECTIVE)
        stats_shown.show(
            output,
            main,
            teams,
            samples=samples,
            table=table,
            flags=flags,
            classical=classical,
            drawn=drawn,
            covariates=options["covariates"],
            noisiest=noisiest,
        )
    summary = teams.together.summary if teams else stats_shown.summary_of(main)
    said = teams.together.answer.sentence if teams and output.json else summary
    output.result(
        "verifier/stats-test/1",
        f"Retrospective, so it decides nothing; the rule {given.kind} says {finding.answer} "
        f"({stats_shown.outcome_words(finding)}): {said}.",
        next_=_next(given, noise),
        retrospective=True,
        decisive=False,
        rule=rule_document(main.rule),
        data={
            "rows": len(table),
            "missing": table.missing,
            "scales": list(samples[0].scales),
            "axis": samples[0].axis,
            "teams": len(samples),
            "replicates": sum(x.listed for x in samples),
            "complete": sum(x.n for x in samples),
            "used": sum(one.used for one in (teams.tested if teams else [main])),
            "gap": next((x.gap for x in samples if x.gap), ""),
        },
        answer=str(finding.answer),
        outcome=str(finding.outcome),
        reason=document(finding.reason),
        **({} if teams else _single(main)),
        flags=document(flags),
        teams=fields or None,
        classical=document(classical),
        figure=drawn,
        quoted=quoted,
    )


def _single(main: Tested) -> dict[str, Any]:
    from verifier.cli.stats_document import document
    from verifier.cli.stats_shown import summary_of

    finding = main.finding
    return {
        "summary": summary_of(main),
        "stop": main.stop,
        "looks": document(main.looks),
        "statistics": document(finding.statistics),
        "adequacy": document(finding.adequacy),
        "so_far": document(finding.so_far),
        "design_flags": list(finding.flags),
    }


def _one(
    table: RunTable, given: GivenRule, data: Path, options: dict[str, Any], *, seeds: bool
) -> tuple[list[Sample], Tested, None]:
    from verifier.cli.stats_document import Telling

    x, tested = _judge(table, given, data, options, seeds=seeds, tell=Telling("looks"))
    return [x], tested, None


def _several(
    table: RunTable, given: GivenRule, data: Path, options: dict[str, Any], *, seeds: bool
) -> tuple[list[Sample], Tested, Any]:
    from verifier.cli.stats_document import Telling
    from verifier.cli.stats_teams import run_teams
    from verifier.stats.run_columns import as_values, one_for_each

    tell, samples = Telling("teams"), []

    def run(part: RunTable) -> Tested:
        x, tested = _judge(part, given, data, options, seeds=seeds, tell=lambda _done, _of: None)
        samples.append(x)
        tell(len(samples), len(table.teams))
        return tested

    found = run_teams(
        table,
        run,
        method=options["combined"],
        u=options["least_teams"],
        threshold=float(given.rule(30).threshold),
        spread=options["classical"],
        covariates={
            column: as_values(one_for_each(table, column, of="team", name=str(data)))
            for column in options["covariates"]
        },
    )
    return samples, found.tested[0], found


def _judge(
    table: RunTable, given: GivenRule, data: Path, options: dict[str, Any], *, seeds: bool, tell: Any
) -> tuple[Sample, Tested]:
    from verifier.cli.stats_answers import run_rule
    from verifier.cli.stats_samples import sample

    noise = str(given.word("noise") or "")
    x = sample(table, kind=given.kind, noise=noise, name=str(data))
    rule = given.rule(x.n)
    shared = seeds and given.kind == "growth" and noise == "block"
    return x, run_rule(rule, x, claim_scale=options["claim_scale"], shared_seeds=shared, tell=tell)


def _printed(options: dict[str, Any]) -> Printed:
    from verifier.cli.stats_flags import Printed
    from verifier.model.numbers import parse_rational

    values: dict[str, str] = {}
    for pair in options["printed"]:
        cell, equals, number = pair.partition("=")
        if not equals or not cell:
            raise BadInput(f"{shown(pair)} names no cell", where="--printed", mend="write it like 64=0.31 or left=0.31")
        values[cell] = number
    interval = None
    if options["printed_interval"] is not None:
        low, comma, high = options["printed_interval"].partition(",")
        if not comma:
            raise BadInput("an interval has two ends", where="--printed-interval", mend="write it like 1.2,3.4")
        interval = (low.strip(), high.strip())
    named = [("--printed", text) for text in values.values()]
    named += [("--printed-interval", text) for text in interval or ()]
    named += [] if options["printed_error"] is None else [("--printed-error", options["printed_error"])]
    for option, text in named:
        try:
            parse_rational(text)
        except BadInput as error:
            raise BadInput(error.what, where=option, mend="write it as printed, like 0.310") from None
    return Printed(error=options["printed_error"], interval=interval, values=values)


def _next(given: GivenRule, noise: Noise | None) -> list[str]:
    """The plan of a design like this one, with the noise that was seen."""
    if noise is None:
        return []
    if given.source:
        rule = ["--rule-file", given.source]
    else:
        rule = ["--rule", given.kind]
        for key, value in given.table.items():
            if key != "kind":
                text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
                rule += [option_of(given.kind, key), text]
    return [shlex.join(["verifier", "stats", "plan", *rule, *noise.options])]
