"""`verifier run`: register, run, rule, record and report."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifier.cli.options import (
    beside,
    command_line,
    executor_option,
    exploratory_options,
    ledger_option,
    ledger_outside,
    seconds_of,
    trust_option,
)
from verifier.cli.output import Output, print_error, with_output
from verifier.cli.witnessing import witness_options
from verifier.model.errors import Exit, VerifierError
from verifier.model.rulings import Ruling, ruling_words

if TYPE_CHECKING:
    from verifier.casefile import Case
    from verifier.cli.witnessing import Witnessing
    from verifier.engine import Options
    from verifier.model.results import CaseResult
    from verifier.sweeps.executors import Executor


@click.command()
@click.argument("cases", nargs=-1, required=True, metavar="CASE...")
@ledger_option
@executor_option
@exploratory_options
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="N",
    help="Draw at most N replicates of a probe, then stop as partial.",
)
@click.option("--time-limit", metavar="100s", help="Stop cleanly after this time; the same command continues.")
@click.option("--to-maximum", is_flag=True, help="Continue a decided sweep to its last look; the ruling stays.")
@click.option("--expect", type=click.Choice([*Ruling]), help="Exit 10 unless the ruling is this one.")
@witness_options
@trust_option
@with_output
def run(
    output: Output,
    cases: tuple[str, ...],
    ledger_url: str,
    executor_name: str,
    scale: tuple[str, ...],
    set_: tuple[str, ...],
    budget: int | None,
    time_limit: str | None,
    to_maximum: bool,
    expect: str | None,
    sign_file: str | None,
    witness_by: str | None,
    witness_vkey: str | None,
    first_seen: bool,
    trust: bool,
) -> None:
    """Put each CASE on trial: register its rule, run it, rule, record and report.

    A finished unit is never computed twice: an interrupted run continues where it stopped.
    """
    from verifier.casefile import load, override
    from verifier.cli.trust import ensure_trusted
    from verifier.cli.witnessing import witnessing_of
    from verifier.engine import Options
    from verifier.ledger import fixed_epoch, ledger_path
    from verifier.sweeps.executors import open_executor

    limit = seconds_of(time_limit, option="--time-limit")
    loaded = [override(load(case), scale=scale, set_=set_) for case in cases]
    executor = open_executor(executor_name)
    fixed_epoch()  # a bad SOURCE_DATE_EPOCH is said before libraries trip over it
    witnessing = witnessing_of(sign_file, witness_by, witness_vkey, first_seen=first_seen)
    ledger_outside(loaded, ledger_path(ledger_url))
    for case in loaded:
        ensure_trusted(case, trust=trust)
    options = Options(
        to_maximum=to_maximum, budget=budget, deadline=None if limit is None else time.monotonic() + limit
    )
    codes = []
    try:
        for case in loaded:
            codes.append(_run_one(output, case, ledger_url, executor, options, expect, witnessing))
            if codes[-1] is Exit.INTERRUPTED:  # the user meant the command, not one of its cases
                break
    finally:
        executor.close()
    output.exit_code = _worst(codes)


def _worst(codes: list[Exit]) -> Exit:
    """No answer is worse than an unexpected one: it says nothing at all."""
    order = [Exit.DONE, Exit.DOES_NOT_HOLD, Exit.NO_ANSWER, Exit.BAD_INPUT, Exit.TAMPERED, Exit.INTERRUPTED]
    return max(codes, key=order.index)


def _run_one(
    output: Output,
    case: Case,
    ledger_url: str,
    executor: Executor,
    options: Options,
    expect: str | None,
    witnessing: Witnessing | None,
) -> Exit:
    """Runs one case of several; what fails in one leaves the others to run."""
    from verifier.cli.progress import SweepProgress
    from verifier.engine import Partial
    from verifier.engine import run as run_case
    from verifier.ledger import Ledger
    from verifier.report import write_certificates, write_report
    from verifier.sweeps.store import UnitStore

    command = command_line("run", case, ledger_url, *(["--to-maximum"] if options.to_maximum else []))
    try:
        with Ledger.open(ledger_url, create=True) as ledger, SweepProgress() as progress:
            store = UnitStore(beside(ledger.path, "units.db"))
            try:
                result = run_case(
                    case,
                    ledger=ledger,
                    store=store,
                    executor=executor,
                    progress=progress,
                    options=options,
                    command=command,
                    registered=None if witnessing is None else functools.partial(witnessing.before_evidence, ledger),
                )
            finally:
                store.close()
            if witnessing is not None:
                result = witnessing.told(ledger, result)
            path = beside(ledger.path, "reports") / f"{case.name}-{case.registration[:12]}.html"
            write_report(result, path)
            certificates = write_certificates(result, path)
    except Partial as partial:
        again = command if witnessing is None else f"{command} {witnessing.flags}"
        return _say_partial(output, case, partial, again)
    except VerifierError as error:
        print_error(error, as_json=output.json)
        return error.exit_code
    _say(output, result, path, certificates, expect)
    if result.ruling.ruling is Ruling.NO_ANSWER:
        return Exit.NO_ANSWER
    return Exit.DONE if expect in (None, result.ruling.ruling) else Exit.DOES_NOT_HOLD


def _say(output: Output, result: CaseResult, path: Path, certificates: dict[str, str], expect: str | None) -> None:
    from verifier.cli.output import print_json
    from verifier.report import run_document, summary

    met = expect == result.ruling.ruling
    if output.json:
        expected = {"expected": {"ruling": expect, "met": met}} if expect else {}
        print_json({**run_document(result, report=str(path), certificates=certificates), **expected})
    else:
        output.show(*summary(result, path, certificates))
        if expect and not met:
            output.show(f"expected was {ruling_words(expect)}")


def _say_partial(output: Output, case: Case, partial: Exception, command: str) -> Exit:
    from verifier.engine import Partial

    assert isinstance(partial, Partial)
    interrupted = partial.because == "interrupted"
    words = {"interrupted": "interrupted", "time-limit": "the time limit came", "budget": "the budget is spent"}
    if partial.registration is None:
        sentence = f"{case.folder}: {words[partial.because]} before anything was registered; nothing is kept."
    else:
        sentence = (
            f"{case.folder}: {words[partial.because]} before the case was decided. Kept: registration "
            f"{case.registration[:12]} and every finished unit; no evidence was written. The same command continues."
        )
    output.result("verifier/run/1", sentence, ok=False, next_=[command], state="partial", because=partial.because)
    return Exit.INTERRUPTED if interrupted else Exit.NO_ANSWER
