"""Options that several commands share."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verifier.model.addresses import shown
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.casefile import Case

DEFAULT_LEDGER = "verifier.db"

Command = Callable[..., Any]


def ledger_option(command: Command) -> Command:
    """`--ledger`: which ledger a command reads or appends to."""
    return click.option(
        "--ledger",
        "ledger_url",
        default=DEFAULT_LEDGER,
        show_default=True,
        metavar="URL",
        help="Ledger: a path, sqlite:///PATH, or postgresql+psycopg://USER@HOST/DATABASE.",
    )(command)


def exploratory_options(command: Command) -> Command:
    """`--scale` and `--set`: an exploratory variation, recorded and counted, never the standing ruling."""
    command = click.option(
        "--set", "set_", multiple=True, metavar="NAME=VALUE", help="Exploratory: another value of a parameter."
    )(command)
    return click.option(
        "--scale", multiple=True, metavar="AXIS=8,16,32", help="Exploratory: other scales of the sweep."
    )(command)


def executor_option(command: Command) -> Command:
    """`--executor`: where units run."""
    return click.option(
        "--executor",
        "executor_name",
        default="auto",
        show_default=True,
        metavar="auto|local[=N]|ray[=HOST:PORT]",
        help="Where units run; the numbers are the same everywhere.",
    )(command)


def trust_option(command: Command) -> Command:
    """`--trust`: run case code that never ran here without asking."""
    return click.option("--trust", is_flag=True, help="Run case code that never ran here without asking.")(command)


def seconds_of(text: str | None, *, option: str) -> float | None:
    """`100s`, `5m`, `2h` or plain seconds. Raises BadInput for anything else."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,7}(?:\.\d{1,3})?)(s|m|h)?", text)
    if not match or float(match[1]) <= 0:
        raise BadInput(f"{text!r} is not a duration", where=option, mend="write 100s, 5m or 2h")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2] or "s"]


def command_line(name: str, case: Case, ledger_url: str, *flags: str) -> str:
    """The command `verifier NAME` for this case, with its overrides and ledger, as a person would type it."""
    words = ["verifier", name, str(case.folder)]
    for axis, scales in case.overrides.get("scale", {}).items():
        words += ["--scale", f"{axis}={','.join(map(str, scales))}"]
    for parameter, value in case.overrides.get("set", {}).items():
        words += ["--set", f"{parameter}={value}"]
    if ledger_url != DEFAULT_LEDGER:
        words += ["--ledger", shown(ledger_url)]
    return shlex.join([*words, *flags])


def ledger_command(name: str, ledger_url: str, *arguments: str) -> str:
    """The command `verifier ledger NAME`, as a person would type it."""
    where = () if ledger_url == DEFAULT_LEDGER else ("--ledger", shown(ledger_url))
    return shlex.join(["verifier", "ledger", name, *arguments, *where])


def judge_command(name: str, ledger_url: str, *arguments: str) -> str:
    """The command `verifier judge NAME`, as a person would type it."""
    where = () if ledger_url == DEFAULT_LEDGER else ("--ledger", ledger_url)
    return shlex.join(["verifier", "judge", name, *arguments, *where])


def ledger_outside(cases: Iterable[Case], ledger: Path) -> None:
    """Raises BadInput where the ledger would stand in a case folder, whose every file belongs to the registration."""
    for case in cases:
        folder = case.folder.resolve()
        if ledger.resolve().is_relative_to(folder):
            raise BadInput(
                "the ledger would stand inside the case folder and become part of the case",
                where=str(ledger),
                mend="name another place with --ledger, or call from another folder",
            )


def written_outside(case: Case, path: Path, *, option: str) -> None:
    """Raises BadInput where a file to be written would stand in the case folder and become part of the case."""
    if path.resolve().is_relative_to(case.folder.resolve()):
        raise BadInput(
            "the file would stand inside the case folder and become part of the case",
            where=str(path),
            mend=f"name another place with {option}",
        )


def beside(ledger: Path, name: str) -> Path:
    """A path next to the ledger file, named after it."""
    return ledger.with_name(f"{ledger.stem}-{name}")
