"""`verifier ledger export` (everything), `import` and `rebuild`: moving a ledger, and what is kept beside its log."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from verifier.cli.options import ledger_command, ledger_option
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput, InfrastructureFailed


def export_entries(output: Output, *, ledger_url: str, out_name: str | None) -> None:
    """Writes every entry, with its notes, as JSON lines to a file. Raises BadInput where no file is named."""
    from verifier.ledger import Ledger

    if out_name is None:
        raise BadInput("no file is named for the export", where="--out", mend="add --out FILE.jsonl")
    path = Path(out_name)
    with Ledger.open(ledger_url, create=False) as book, closing(book.lines()) as lines:
        head = _write_lines(path, lines)
    output.result(
        "verifier/ledger-export/1",
        f"{path} holds all {head['size']} entries of the ledger, private ones among them; the root over them is "
        f"{head['root']}.",
        next_=[ledger_command("import", "other.db", str(path))],
        file=str(path),
        size=head["size"],
        root=head["root"],
    )


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Writes the lines to the file, complete or not at all. Returns the first."""
    rest = iter(lines)
    head = next(rest)
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            temporary = file.name
            for line in itertools.chain([head], rest):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        Path(temporary).replace(path)
    except OSError as error:
        raise InfrastructureFailed(
            f"the export cannot be written ({error.strerror})", where=str(path), mend="choose another place with --out"
        ) from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
    return head


@click.command(name="import")
@click.argument("file_name", metavar="FILE.jsonl")
@ledger_option
@with_output
def import_(output: Output, file_name: str, ledger_url: str) -> None:
    """Make a new ledger of an exported one, and verify it. Entries, times and root stay as they were."""
    from verifier.ledger import Ledger

    with Ledger.open(ledger_url, create=True) as book:
        if book.exists():
            raise BadInput("a ledger is here already", where=book.name, mend="name a new one with --ledger")
        found = book.import_lines(_lines_of(Path(file_name)))
    output.result(
        "verifier/ledger-import/1",
        f"{found.size} entries were imported and every one agrees with its hashes; the root over them is {found.root}.",
        next_=[ledger_command("verify", ledger_url)],
        size=found.size,
        root=found.root,
        reproducible=found.reproducible,
    )


def _lines_of(path: Path) -> Iterator[str]:
    from verifier.ledger.transfer import MAX_LINE

    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            while line := file.readline(MAX_LINE + 1):
                yield line
    except UnicodeDecodeError as error:
        raise BadInput("the file is not UTF-8", where=str(path)) from error
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror})", where=str(path)) from error


@click.command()
@ledger_option
@with_output
def rebuild(output: Output, ledger_url: str) -> None:
    """Make anew what is kept beside the log to find entries by; bring an older format to the present one."""
    from verifier.ledger import Ledger

    with Ledger.open(ledger_url, create=False) as book:
        size = book.rebuild()
    output.result(
        "verifier/ledger-rebuild/1",
        f"The tables beside the log were made anew from its {size} entries, none of which was changed.",
        next_=[ledger_command("verify", ledger_url)],
        size=size,
    )
