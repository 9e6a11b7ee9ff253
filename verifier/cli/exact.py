"""`verifier refute PROBLEM`, `check CERT`, `shrink CERT`: exact counterexamples, found, checked, made smaller."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifier.cli.options import seconds_of
from verifier.cli.output import Output, with_output
from verifier.cli.progress import StepProgress
from verifier.model.answers import ExactAnswer
from verifier.model.errors import BadInput, Exit, InfrastructureFailed

if TYPE_CHECKING:
    from verifier.exact import Checked

CHECKER_SECONDS = 60


@click.command()
@click.argument("problem", type=click.Path(path_type=Path))
@click.option("--horizon", type=click.IntRange(1, 1_000_000), default=10_000, show_default=True, metavar="N",
              help="Steps where nothing freezes; never limits a proof.")  # fmt: skip
@click.option("--time-limit", metavar="100s", help="Stop cleanly after this long.")
@click.option("--out", type=click.Path(path_type=Path), metavar="CERT", help="Where to write the certificate.")
@click.option("--figure", type=click.Path(path_type=Path), metavar="FILE.svg",
              help="Draw the claim's margin, exact and in float64; its numbers go to FILE.csv.")  # fmt: skip
@click.option("--expect", type=click.Choice([*ExactAnswer]), help="Exit 10 unless this is the answer.")
@with_output
def refute(
    output: Output,
    problem: Path,
    horizon: int,
    time_limit: str | None,
    out: Path | None,
    figure: Path | None,
    expect: str | None,
) -> None:
    """Decide a claim for one start, exactly, and write a certificate where it fails.

    A start that the problem leaves open is searched for.
    """
    from verifier.cli.figure import checked_target, draw
    from verifier.exact import SearchProblem, accepted, float_report, out_of_time, read_problem, refutation_document
    from verifier.exact import refute as decide
    from verifier.exact.spoken import refutation_lines

    given = read_problem(problem)
    place = _place(out or Path(f"{problem.stem}.certificate.json"), given=problem)
    target = None if figure is None else checked_target(figure)
    limit = seconds_of(time_limit, option="--time-limit")
    with StepProgress(_starts_line if isinstance(given, SearchProblem) else _step_line) as progress:
        checked = accepted(decide(given, horizon=horizon, time_limit=limit, progress=progress))
        found, path = checked.found, _write(checked, place)
        progress.kept = path
        floats = None if found.answer == "UNSUPPORTED_HYPOTHESIS" else float_report(given, found, horizon=horizon)
    if not output.json:
        for line in refutation_lines(given, found, floats):
            output.show(line)
    document = refutation_document(found, certificate=path, floats=floats)
    met = expect in (None, found.answer)
    if expect is not None:
        document["expected"] = {"answer": expect, "met": met}
    if target is not None:
        drawn, reason = draw(given, found, target, horizon=horizon)
        document |= {"figure": drawn, "no_figure": reason or None}
        output.show(f"  picture: {drawn['svg']}, numbers: {drawn['csv']}" if drawn else f"  no picture: {reason}")
    next_ = [shlex.join(["verifier", "check", path])] if path else []
    output.result("verifier/refute/1", found.sentence, next_=next_, **document)
    if not met:
        output.show(f"expected was {expect}")
        output.exit_code = Exit.DOES_NOT_HOLD
    if out_of_time(found):
        output.exit_code = Exit.NO_ANSWER


def _step_line(t: int, remark: str) -> str:
    return f"t = {t}: {remark}"


def _starts_line(starts: int, remark: str) -> str:
    return f"{starts} starts: {remark}"


def _place(path: Path, *, given: Path) -> Path:
    """`path`, if a certificate can stand there: asked before the work begins, so that nothing given is overwritten."""
    where, mend = f"--out {path}", "choose another name"
    if path.exists() and path.samefile(given):
        raise BadInput("the certificate would overwrite the file it is made from", where=where, mend=mend)
    if path.exists() and not path.is_file():
        raise BadInput("there is something that is no file", where=where, mend=mend)
    return path


def _write(checked: Checked, path: Path) -> str | None:
    """Writes the certificate, whole or not at all; returns its path, or None where there is none."""
    from verifier.report.files import write_whole

    if checked.text is None:
        return None
    mend = "choose a folder that can be written, or free space"
    write_whole({path: checked.text.encode()}, what="the certificate", mend=mend)
    return str(path)


@click.command()
@click.argument("certificate", type=click.Path(path_type=Path))
@with_output
def check(output: Output, certificate: Path) -> None:
    """Check a certificate with the checker that stands alone, in a process of its own."""
    import subprocess
    import sys
    from importlib.util import find_spec

    spec = find_spec("verifier.exact")
    assert spec is not None
    assert spec.submodule_search_locations
    checker = Path(spec.submodule_search_locations[0]) / "checker.py"
    if not checker.is_file():
        raise InfrastructureFailed(
            "the checker is not installed", where=str(checker), mend="reinstall dispute-verifier"
        )
    command = [sys.executable, "-I", str(checker), str(certificate)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=CHECKER_SECONDS, check=False)  # noqa: S603  # our own file, no shell
    except subprocess.TimeoutExpired as error:
        what = f"the checker did not end within {CHECKER_SECONDS} s"
        raise InfrastructureFailed(what, where=str(certificate), mend="run it alone: python checker.py CERT") from error
    lines = run.stdout.splitlines()
    word = lines[-1].partition(":")[0] if lines else ""
    expected = {"ACCEPTED": Exit.DONE, "REJECTED": Exit.DOES_NOT_HOLD, "MALFORMED": Exit.BAD_INPUT}
    if word not in expected or run.returncode != expected[word]:
        raise InfrastructureFailed(
            f"the checker ended with code {run.returncode} and no verdict", where=str(checker), mend="report this file"
        )
    output.exit_code = expected[word]
    for line in lines[:-1]:
        output.show(line)
    if output.json:
        sentence = f"The checker's verdict is {word}."
        output.result("verifier/check/1", sentence, ok=word == "ACCEPTED", verdict=word, quoted={"lines": lines})
    else:
        output.show(lines[-1])


@click.command()
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--time-limit", metavar="100s", help="Stop with the smallest start found after this long.")
@click.option("--keep-parameters", is_flag=True, help="Change the start alone, not B or the method's parameters.")
@click.option("--out", type=click.Path(path_type=Path), metavar="CERT", help="Where to write the new certificate.")
@with_output
def shrink(
    output: Output, certificate: Path, time_limit: str | None, out: Path | None, *, keep_parameters: bool
) -> None:
    """Make the start of a certificate smaller: fewer coordinates, fewer tokens, smaller numbers, the same answer."""
    import json

    from verifier.exact import accepted, parse_problem, refutation_document
    from verifier.exact import shrink as make_smaller
    from verifier.exact.reading import Reader, read_json
    from verifier.exact.spoken import tokens_text

    document = Reader(read_json(certificate), str(certificate))
    if not isinstance(document.value, dict) or "problem" not in document.value:
        raise document.error("this is not a certificate: it holds no problem", mend="give a file that refute wrote")
    given = parse_problem(document.value["problem"], where=f"{certificate}: problem")
    place = _place(out or Path(f"{certificate.stem}.small.json"), given=certificate)
    small = make_smaller(
        given, time_limit=seconds_of(time_limit, option="--time-limit"), keep_parameters=keep_parameters
    )
    checked = accepted(small.found)
    path = _write(checked, place)
    start = small.document["state"]
    tokens = start.get("tokens")
    shown = json.dumps(next(iter(start.values())), ensure_ascii=False) if tokens is None else tokens_text(tokens)
    changes = small.changes or ("nothing but the start was changed",)
    for change in changes:
        output.show(f"  {change}")
    sentence = f"The smallest start found: {shown}. {checked.found.sentence}"
    if path is None:
        output.show(f"  no certificate: {checked.found.no_certificate}")
        output.exit_code = Exit.NO_ANSWER
    output.result(
        "verifier/shrink/1",
        sentence,
        ok=path is not None,
        next_=[shlex.join(["verifier", "check", path])] if path else [],
        start=start,
        tokens=tokens,
        changes=list(small.changes),
        tried=small.tried,
        **refutation_document(checked.found, certificate=path, floats=None),
    )
