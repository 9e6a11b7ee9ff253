"""`verifier stats plan`: what a design would miss, whether it can decide, and what would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.output import Output, with_output
from verifier.cli.stats_options import GivenRule, given_rule, rule_options, rule_words, whole_numbers
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.cli.stats_designs import Planned

MOST_REPLICATES = 10_000_000
LEAST_SHOWN = 0.0005  # of a chance: less is 0.0 %


@click.command()
@rule_options
@click.option("--scale", metavar="k=8,16,32", help="Growth, rate: the scales of the design.")
@click.option("--replicates", type=click.IntRange(1, MOST_REPLICATES), metavar="N", help="Replicates of the design.")
@click.option(
    "--sd", metavar="NUMBER", help="Sd of a replicate (ratio: of a launch and arm, relative); or 8=0.1,64=0.3."
)
@click.option("--effect", metavar="NUMBER", help="The truth to ask about: a slope, a difference, a ratio, a share.")
@click.option("--claim-scale", type=click.IntRange(1, 10**16), metavar="K", help="The scale that must be reached.")
@click.option("--seconds", metavar="8=0.1,64=1", help="Seconds of a replicate at some scales, to compare designs by.")
@click.option("--items", type=click.IntRange(1, MOST_REPLICATES), metavar="N", help="Items drawn, of a test set.")
@click.option("--item-sd", metavar="NUMBER", help="Sd of one item's difference.")
@click.option("--instances", type=click.IntRange(1, 100_000), metavar="N", help="Bound: instances that are drawn.")
@click.option("--share", metavar="NUMBER", help="Bound: the share of instances that violate it.")
@click.option("--figure", type=click.Path(path_type=Path), metavar="FILE.svg",
              help="Draw power against n; the numbers go to FILE.csv.")  # fmt: skip
@with_output
def plan(output: Output, **options: Any) -> None:
    """Say what a design would miss, whether it can decide, and which one would. Runs nothing."""
    words = rule_words(options)
    if words["kind"] == "growth" and words["alleged"] is None:
        words["alleged"] = options["effect"]  # the slope asked about is the one alleged, where none is
    given = given_rule(words)

    from verifier.cli.stats_document import document, picture_path, rule_document

    target = picture_path(options["figure"])
    found = _planned(given, options)
    drawn = None
    if target is not None:
        drawn = _draw(target, found)
    if not output.json:
        _show(output, found)
        if drawn is not None:
            output.show(f"picture: {drawn['svg']}, numbers: {drawn['csv']}")
    output.result(
        "verifier/stats-plan/1",
        found.sentence,
        rule=rule_document(found.rule),
        design=document(found.design),
        can_decide=found.can_decide,
        needed=document(found.needed),
        power=document(found.chances),
        growth=document(found.growth),
        figure=drawn,
    )


def _planned(given: GivenRule, options: Mapping[str, Any]) -> Planned:
    from verifier.cli import stats_designs

    effect = _number(options["effect"], option="--effect")
    unused = {
        "bound": ("scale", "sd", "claim_scale", "seconds", "items", "item_sd"),
        "growth": ("items", "item_sd", "instances", "share"),
        "rate": ("items", "item_sd", "instances", "share"),
    }.get(given.kind, ("scale", "claim_scale", "seconds", "instances", "share"))
    if given.kind in {"proportion", "count"}:
        unused = (*unused, "sd", "items", "item_sd")
    elif given.word("population") != "items-drawn":
        unused = (*unused, "items", "item_sd")
    for name in unused:
        if options.get(name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise BadInput(
                f"it is no part of such a design of the rule {given.kind}", where=option, mend="leave it out"
            )
    if given.kind == "bound":
        share = _number(options["share"], option="--share")
        return stats_designs.bound_design(
            given, instances=options["instances"], replicates=options["replicates"], effect=effect, share=share
        )
    if given.kind in {"growth", "rate"}:
        axis, scales = _scales(options["scale"])
        if options["replicates"] is None:
            raise BadInput("nothing says how many replicates", where="--replicates", mend="give a number, like 3")
        return stats_designs.sweep_design(
            given,
            axis=axis,
            scales=scales,
            replicates=options["replicates"],
            sd=_by_scale(options["sd"], scales, option="--sd"),
            effect=effect,
            claim_scale=options["claim_scale"],
            seconds=None if options["seconds"] is None else _by_scale(options["seconds"], scales, option="--seconds"),
        )
    return stats_designs.margin_design(
        given,
        replicates=options["replicates"],
        sd=_number(options["sd"], option="--sd"),
        effect=effect,
        items=options["items"],
        item_sd=_number(options["item_sd"], option="--item-sd"),
    )


def _number(text: str | None, *, option: str) -> float | None:
    from verifier.model.numbers import parse_rational

    if text is None:
        return None
    try:
        return float(parse_rational(text))
    except BadInput as error:
        raise BadInput(error.what, where=option, mend=error.mend) from None


def _scales(text: str | None) -> tuple[str, list[int]]:
    if text is None:
        raise BadInput("nothing says which scales", where="--scale", mend="write them like k=8,16,32,64")
    axis, equals, numbers = text.partition("=")
    axis = axis.strip()
    if not equals or not (axis.isascii() and axis.isidentifier() and len(axis) <= 40):
        raise BadInput(f"{shown(text)} names no axis", where="--scale", mend="write it like k=8,16,32,64")
    return axis, whole_numbers(numbers, option="--scale")


def _by_scale(text: str | None, scales: Sequence[int], *, option: str) -> dict[int, float]:
    """`0.3`, the same everywhere, or `8=0.1,64=0.3`."""
    if text is None:
        raise BadInput("no standard deviation of a replicate is known", where=option, mend="give one, like 0.3")
    if "=" not in text:
        value = _number(text, option=option)
        assert value is not None
        return dict.fromkeys(scales[:1], value)
    found: dict[int, float] = {}
    for pair in text.split(","):
        scale, equals, number = pair.partition("=")
        scale = scale.strip()
        if not equals or not (scale.isascii() and scale.isdecimal() and 0 < len(scale) <= 16 and int(scale) > 0):
            raise BadInput(f"{shown(pair)} is not a scale and a number", where=option, mend="write it like 8=0.1")
        value = _number(number.strip(), option=option)
        assert value is not None
        found[int(scale)] = value
    return found


def _show(output: Output, found: Planned) -> None:
    from rich.table import Table

    from verifier.report.text import OUTCOME_WORDS

    if found.growth is not None:
        grid = Table("largest scale", "scales", "replicates needed", "decides", "cost", box=None)
        for option in found.growth.options:
            n = "–" if option.replicates is None else f"{option.replicates:,}"
            cost = "–" if option.replicates is None else f"{option.cost:,.0f}"
            grid.add_row(f"{option.largest:,}", str(len(option.scales)), n, "yes" if option.decides else "no", cost)
        output.show(grid)
    for chance in found.chances:
        how = chance.method if chance.runs is None else f"{chance.method}, {chance.runs:,} runs"
        ends = ", ".join(
            f"{OUTCOME_WORDS[outcome]} {share:.1%}"
            for outcome, share in chance.outcomes.items()
            if share >= LEAST_SHOWN
        )
        mean = "" if chance.mean_n is None else f"; {chance.mean_n:,.0f} on average"
        output.show(f"if {chance.what}: {ends}{mean} ({how})")


def _draw(target: Path, found: Planned) -> dict[str, str]:
    from verifier.cli.stats_designs import curves
    from verifier.cli.stats_document import write_picture
    from verifier.report.power_figure import power_svg

    lines = curves(found)
    svg = power_svg(lines, planned=found.replicates, unit=found.unit, title=f"rule {found.rule.kind}")
    rows: list[list[Any]] = [["line", "n", "chance"]]
    rows += [[line.name, n, repr(float(p))] for line in lines for n, p in zip(line.n, line.chance, strict=True)]
    return write_picture(target, svg, rows)
