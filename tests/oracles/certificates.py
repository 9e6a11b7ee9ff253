"""The brute-force oracle for certificates: is a file a certificate, and is everything it says true?

A third reading of docs/certificates.md, beside the finder and the checker; it imports neither.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.oracles import certificate_form, certificate_formulas, certificate_hardmax, certificate_invariant
from tests.oracles.certificate_form import NotACertificate, fractions
from tests.oracles.certificate_hardmax import FalseStatement, need
from tests.oracles.certificate_maps import stays_below


class Judgement(NamedTuple):
    """`form`: `semantic` (a certificate) or `syntactic` (none); `true`: its whole statement holds; `why` if not."""

    form: str
    true: bool
    why: str

    @property
    def label(self) -> str:
        """`syntactic`, or of a certificate `true` or `false`."""
        return str(self.true).lower() if self.form == "semantic" else self.form


def judge(data: bytes) -> Judgement:
    """Decide by brute force whether the bytes are a certificate whose whole statement is true."""
    try:
        statement(certificate_form.read(data))
    except NotACertificate as error:
        return Judgement(form="syntactic", true=False, why=str(error))
    except FalseStatement as error:
        return Judgement(form="semantic", true=False, why=str(error))
    return Judgement(form="semantic", true=True, why="")


def statement(document: dict[str, Any]) -> None:
    """Raises FalseStatement unless the whole statement of a well-formed certificate is true."""
    if document["kind"] in {"witness", "ball"}:
        assignment(document)
    elif document["kind"] == "invariant":
        certificate_invariant.check(document)
    elif document["kind"] == "spectral":
        certificate_invariant.spectral(document)
    elif document["problem"]["system"] == "piecewise-affine":
        stays_below(document)
    else:
        certificate_hardmax.whole(document)


def assignment(document: dict[str, Any]) -> None:
    """Every hypothesis true, the conclusion false, at this assignment."""
    parameters = document["problem"]["parameters"]
    values = {name: fractions(value) for name, value in document["problem"]["state"]["assignment"].items()}

    def true(text: str) -> bool:
        run = certificate_formulas.parse(text, variables=parameters["variables"], real=document["kind"] == "ball")
        return run(dict(values))

    try:
        for text in parameters["hypotheses"]:
            need(true(text), f"hypothesis: {text[:40]}")
        need(not true(parameters["conclusion"]), "the conclusion holds")
    except certificate_formulas.OutOfDomain:
        raise FalseStatement("domain") from None
    except certificate_formulas.Undecided:
        raise FalseStatement("not separated") from None
