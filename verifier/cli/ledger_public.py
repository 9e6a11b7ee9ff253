"""`verifier ledger export --public`: the ledger as everybody may have it."""

from __future__ import annotations

import json
from pathlib import Path

from verifier.cli.options import ledger_command
from verifier.cli.output import Output
from verifier.cli.people_options import open_ledger
from verifier.model.errors import BadInput


def export_public(output: Output, *, ledger_url: str, out_name: str | None) -> None:
    """Writes JSON lines to a file. Raises BadInput where no file is named."""
    from verifier.ledger.public import public_lines
    from verifier.report.files import write_whole

    if out_name is None:
        raise BadInput("no file is named for the export", where="--out", mend="add --out FILE.jsonl")
    with open_ledger(ledger_url) as book:
        lines = list(public_lines(book.entries()))
    path = Path(out_name)
    data = "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines).encode()
    write_whole({path: data}, what="the export", mend="free space, or choose another place with --out")
    head, entries = lines[0], lines[1:]
    whole = sum("envelope" in line for line in entries)
    output.result(
        "verifier/ledger-export/1",
        f"{path} holds {whole} of the ledger's {len(entries)} entries, those of public disputes, and of every other "
        f"its number and leaf hash; the root over all is {head['root']}.",
        next_=[ledger_command("verify", ledger_url)],
        file=str(path),
        size=head["size"],
        root=head["root"],
        shown=whole,
    )
