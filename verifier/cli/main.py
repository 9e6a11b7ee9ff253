"""The `verifier` command: commands load when they are used, and every failure is one sentence."""

from __future__ import annotations

import importlib
import io
import os
import sys
from pathlib import Path
from typing import Any

import click

from verifier.cli.output import print_error
from verifier.model.errors import EXTRAS, BadInput, Exit, InfrastructureFailed, Interrupted, MissingExtra, VerifierError

# name -> (module, one line of help); the line stands here so that --help imports no command
COMMANDS = {
    "register": ("verifier.cli.cases", "Fix a case's rule in the ledger, before any data."),
    "plan": ("verifier.cli.plan", "What would run, at what cost, with what power. Runs nothing."),
    "run": ("verifier.cli.run", "Register, run, rule, record and report one case or several."),
    "ingest": ("verifier.cli.ingest", "Rule on runs made elsewhere, under a registration of this ledger."),
    "status": ("verifier.cli.cases", "Where a case stands."),
    "refute": ("verifier.cli.exact", "Decide a claim for one start exactly; write a certificate where it fails."),
    "check": ("verifier.cli.exact", "Check a certificate with the checker that stands alone."),
    "shrink": ("verifier.cli.exact", "Make the start of a certificate smaller, with the same answer."),
    "audit": ("verifier.cli.audit", "Whether compared numbers stand on the same basis."),
    "stats": ("verifier.cli.stats", "Statistics on a table, power of a design, many disputes at once."),
    "docket": ("verifier.cli.docket", "Open disputes: state, whose turn it is, what is missing."),
    "adjudicate": ("verifier.cli.people", "Agree or disagree with a ruling, signed."),
    "challenge": ("verifier.cli.people", "Challenge a ruling, or end a challenge."),
    "notify": ("verifier.cli.people_authors", "Record that the authors were written to."),
    "reply": ("verifier.cli.people_authors", "Record what the authors answer."),
    "correct": ("verifier.cli.people_authors", "Amend what reading more of the paper has shown."),
    "retract": ("verifier.cli.people", "Withdraw a ruling."),
    "publish": ("verifier.cli.people", "Make a dispute public."),
    "withhold": ("verifier.cli.ledger_people", "Take texts of an entry out of the ledger."),
    "ledger": ("verifier.cli.ledger", "Read and verify the append-only record."),
    "judge": ("verifier.cli.judge", "What is established about each claim; others' verdicts; the board."),
    "serve": ("verifier.cli.serve", "The ledger over HTTP: to everybody what is public, writes with a token."),
    "doctor": ("verifier.cli.doctor", "What is installed, what is missing, how to mend it."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """The commands in the order a case goes through them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports the command's module. Raises InfrastructureFailed where a dependency is missing."""
        if cmd_name not in COMMANDS:
            return None
        module = COMMANDS[cmd_name][0]
        try:
            command: click.Command = getattr(importlib.import_module(module), cmd_name)
        except ImportError as error:
            raise missing_dependency(error) from error
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the list of commands from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="dispute-verifier", prog_name="verifier")
def verifier() -> None:
    """Puts disputed claims of scientific papers on trial."""


def missing_dependency(error: ImportError) -> VerifierError:
    """The sentence for an import that failed: a missing extra, or a broken installation."""
    name = (error.name or "").split(".")[0]
    if name in EXTRAS:
        return MissingExtra(name)
    return InfrastructureFailed(
        f"the installation is broken ({error})", mend="reinstall with: pip install --force-reinstall dispute-verifier"
    )


def main() -> None:
    """Runs the command line and exits with one of the codes of `Exit`."""
    arguments = sys.argv[1:]
    _make_writable()
    try:
        code = _answer(arguments, as_json="--json" in arguments, debug="--debug" in arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has gone
        code = int(Exit.NO_ANSWER)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that the interpreter's own last flush does not fail either
    sys.exit(code)


def _make_writable() -> None:
    """Streams that take any text, whatever the locale, and that exist even where the caller closed them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # lives as long as the process
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _answer(arguments: list[str], *, as_json: bool, debug: bool) -> int:
    """The exit code. Nothing leaves as a traceback or as exit 1, unless --debug asks for it."""
    try:
        return invoke(arguments)
    except BrokenPipeError:
        raise
    except Exception as error:
        if debug:
            raise
        failure = as_verifier_error(error)
    except KeyboardInterrupt:
        failure = Interrupted("interrupted; what the ledger and the store of units already held is kept")
    print_error(failure, as_json=as_json)
    return int(failure.exit_code)


def invoke(arguments: list[str]) -> int:
    """Calls click without letting it exit the process. Returns the exit code."""
    try:
        result: Any = verifier.main(args=arguments, prog_name="verifier", standalone_mode=False)
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except SystemExit as stop:  # click's own word for a reader that has gone
        raise BrokenPipeError from stop
    return result if isinstance(result, int) else 0


def as_verifier_error(error: Exception) -> VerifierError:
    """Any exception as the sentence it becomes at the door."""
    if isinstance(error, VerifierError):
        return error
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        where = error.ctx.command_path if error.ctx else "verifier"
        return BadInput("no command is named", where=where, mend=f"see `{where} --help`")
    if isinstance(error, click.UsageError):
        where = error.ctx.command_path if error.ctx else "verifier"
        return BadInput(error.format_message().rstrip("."), where=where, mend=f"see `{where} --help`")
    if isinstance(error, click.ClickException):
        return BadInput(error.format_message().rstrip("."))
    if isinstance(error, ImportError):
        return missing_dependency(error)
    if isinstance(error, OSError):
        where = os.fspath(error.filename) if isinstance(error.filename, str | os.PathLike) else ""
        return InfrastructureFailed(
            error.strerror or str(error), where=where, mend="check the folder, its rights and the free space"
        )
    return InfrastructureFailed(
        f"an internal error ({type(error).__name__}: {error})", mend="repeat with --debug and report it"
    )
