"""One way to say a result: a sentence and tables for people, one JSON object a line for machines."""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from verifier.model.errors import BadInput, Exit, VerifierError
from verifier.model.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


@dataclass
class Output:
    """Where a command writes. `json` selects machine output; `exit_code` is what the process ends with."""

    json: bool
    debug: bool
    exit_code: Exit = Exit.DONE
    _console: Console | None = field(default=None, repr=False)

    @property
    def console(self) -> Console:
        """The rich console on stdout, made when first used."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(highlight=False, soft_wrap=True)
        return self._console

    def show(self, *renderables: RenderableType) -> None:
        """Prints for people; silent under --json."""
        if not self.json:
            self.console.print(*renderables, markup=False)

    def result(self, schema: str, sentence: str, *, ok: bool = True, next_: Sequence[str] = (), **fields: Any) -> None:
        """Ends one result: the object under --json, else its sentence and the commands that make sense now.

        `schema` is like "verifier/run/1"; `fields` are JSON values (a NaN or an infinity raises ValueError).
        """
        if self.json:
            print_json({"schema": schema, "ok": ok, "sentence": sentence, "next": list(next_), **fields})
            return
        self.console.print(printable(sentence), markup=False)
        for command in next_:
            self.console.print(f"  next: {printable(command)}", markup=False, style="dim")


def print_json(document: Mapping[str, Any]) -> None:
    """Writes one object as one line of ASCII on stdout, whatever texts it quotes.

    Raises ValueError for NaN: it is never an answer.
    """
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")
    sys.stdout.flush()


def print_error(error: VerifierError, *, as_json: bool) -> None:
    """One sentence on stderr, or the error object on stdout under --json."""
    if as_json:
        details = {"what": error.what, "where": error.where, "mend": error.mend}
        print_json(
            {"schema": "verifier/error/1", "ok": False, "sentence": error.sentence, "next": [], "error": details}
        )
    else:
        sys.stderr.write(f"Error: {printable(error.sentence)}\n")


def with_output(command: Callable[..., None]) -> Callable[..., None]:
    """Adds --json and --debug to a click command and passes it an Output as its first argument."""

    @click.option("--json", "as_json", is_flag=True, help="Print JSON only, one object per line.")
    @click.option("--debug", is_flag=True, help="Show tracebacks.")
    @functools.wraps(command)
    def wrapped(*args: Any, as_json: bool, debug: bool, **kwargs: Any) -> None:
        output = Output(json=as_json, debug=debug)
        command(output, *args, **kwargs)
        if output.exit_code != Exit.DONE:
            click.get_current_context().exit(int(output.exit_code))

    return wrapped


def finite(value: float) -> float:
    """A double for JSON: an overflowing E-value is written as the largest double. Raises BadInput for NaN."""
    if math.isnan(value):
        raise BadInput("a result is not a number")
    return max(min(value, sys.float_info.max), -sys.float_info.max)
