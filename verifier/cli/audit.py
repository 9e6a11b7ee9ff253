"""`verifier audit FILE…`: whether compared numbers stand on the same basis."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.output import Output, print_error, with_output
from verifier.model.answers import AuditAnswer
from verifier.model.errors import Exit

if TYPE_CHECKING:
    from verifier.audits import Audit

CLEAR = (AuditAnswer.SAME_BASIS, AuditAnswer.NOT_MATERIAL)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--figure", type=click.Path(path_type=Path), metavar="FILE.svg",
              help="Draw the finding, where a picture says more; for one FILE.")  # fmt: skip
@click.option("--expect", type=click.Choice([*AuditAnswer]), help="Exit 10 unless every finding is this one.")
@with_output
def audit(output: Output, files: tuple[Path, ...], figure: Path | None, expect: str | None) -> None:
    """Ask of each audit FILE whether the numbers in it stand on the same basis.

    Exit 0: nothing found; 10: a finding; 3: what was given settles nothing.
    """
    from verifier.audits import audit_file
    from verifier.cli.main import as_verifier_error
    from verifier.model.errors import BadInput

    if figure is not None and len(files) != 1:
        raise BadInput("one picture shows one file", where="--figure", mend="give one FILE")
    codes = []
    for path in files:
        try:
            codes.append(_shown(output, path, audit_file(path), figure, expect))
        except Exception as error:
            if len(files) == 1 or output.debug:
                raise
            failure = as_verifier_error(error)  # the files that follow are still answered
            print_error(failure, as_json=output.json)
            codes.append(failure.exit_code)
    output.exit_code = max(codes, key=[Exit.DONE, Exit.DOES_NOT_HOLD, Exit.NO_ANSWER, Exit.BAD_INPUT].index)


def _shown(output: Output, path: Path, audits: tuple[Audit, ...], figure: Path | None, expect: str | None) -> Exit:
    """Prints the audits of one file. Returns the exit code that they ask for."""
    from verifier.audits import audit_document
    from verifier.report.audit import audit_rows, finding_line
    from verifier.report.values import json_value

    documents: list[dict[str, Any]] = [json_value(audit_document(one)) for one in audits]
    drawn = _draw(figure, documents) if figure is not None else None
    for document in documents:
        output.show(finding_line(document))
        for name, value in audit_rows(document):
            output.show(f"  {name}: {value}")
    findings = [AuditAnswer[document["finding"]] for document in documents]
    fields: dict[str, Any] = {"file": str(path), "audits": documents, "figure": drawn}
    met = expect is None or all(finding == expect for finding in findings)
    if expect is not None:
        fields["expected"] = {"finding": expect, "met": met}
    sentence = " ".join(document["sentence"] for document in documents)
    insufficient = AuditAnswer.INSUFFICIENT in findings
    output.result("verifier/audit/1", sentence, ok=not insufficient, **fields)
    if drawn:
        output.show(f"  picture: {drawn}")
    if expect is not None:
        if not met:
            output.show(f"expected was {expect}")
        return Exit.DONE if met else Exit.DOES_NOT_HOLD
    if insufficient:
        return Exit.NO_ANSWER
    return Exit.DONE if all(finding in CLEAR for finding in findings) else Exit.DOES_NOT_HOLD


def _draw(figure: Path, documents: list[dict[str, Any]]) -> str | None:
    """Writes the first picture that a finding has; None where none has one."""
    from verifier.cli.figure import checked_target
    from verifier.report.audit_figures import audit_pictures
    from verifier.report.files import write_whole

    target = checked_target(figure)
    pictures = [svg for document in documents for svg, _ in audit_pictures(document)]
    if not pictures:
        return None
    write_whole({target: pictures[0].encode()}, what="the picture", mend="choose a folder that can be written")
    return str(target)
