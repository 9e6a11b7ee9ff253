"""What a fingerprint answers with, and the same as an audit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from verifier.audits.audit import Audit, Side
from verifier.audits.fingerprint.calls import Returns
from verifier.audits.fingerprint.diagnosis import CORRECT, NO_ANSWER, NOT_DETERMINISTIC, REFUSES, UNKNOWN
from verifier.audits.fingerprint.relations import BASE, BUILDERS, LARGEST_LOG
from verifier.audits.fingerprint.witness import Witness
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass

RELATIONS = len(BUILDERS) + 1
"""With `twice`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Which relations an evaluator violates, and the fault that this names.

    `diagnosis`: `correct`, a table row's name, `unknown fault`, `not deterministic`, `this looks like a loss` (or
    `a perplexity`: the declaration is wrong), or `no answer` where the base call has no finite value.
    `calls`: call name -> what came back, None for no finite number. `failures`: call name -> why there is none.
    `not_run`: relation -> why it cannot be run on this corpus. `reason`: a clause with what the diagnosis rests on.
    `expected`: ln perplexity of the base call for the mean over real tokens.
    """

    violated: frozenset[str]
    diagnosis: str
    basis_class: BasisClass
    calls: Mapping[str, float | None]
    failures: Mapping[str, str]
    not_run: Mapping[str, str]
    reason: str
    returns: Returns
    expected: float
    witness: Witness | None = None

    @property
    def finding(self) -> AuditAnswer:
        """The empty set is the same basis; a base call without a value settles nothing."""
        if self.diagnosis == NO_ANSWER:
            return AuditAnswer.INSUFFICIENT
        return AuditAnswer.MISMATCH_PROVEN if self.violated else AuditAnswer.SAME_BASIS

    @property
    def sentence(self) -> str:
        """One sentence for a person."""
        if self.diagnosis == NO_ANSWER:
            return f"The evaluator gives no value on the base corpus: {self.reason}."
        if self.diagnosis == CORRECT:
            ran = f"; {len(self.not_run)} could not be run here" if self.not_run else ""
            coarse = self.reason.partition("; ")[2]
            return (
                f"None of {RELATIONS - len(self.not_run)} relations is broken: on these calls the evaluator averages "
                f"the loss over real tokens{ran}{f'; {coarse}' if coarse else ''}."
            )
        if self.diagnosis == NOT_DETERMINISTIC:
            return f"The evaluator is not deterministic: {self.reason}. Nothing else is said about it."
        which = ", ".join(sorted(self.violated))
        if self.diagnosis == UNKNOWN and self.reason.startswith(REFUSES):
            return f"The evaluator violates {which}: {self.reason}."
        what = "a fault without a name" if self.diagnosis == UNKNOWN else self.diagnosis
        return f"The evaluator violates {which}: {what} ({self.reason})."

    def _side(self) -> Side:
        """The base corpus's number as it came back, and as the mean over its real tokens gives it."""
        logs = self.returns == "loss" or self.expected > LARGEST_LOG
        return Side(
            label="evaluator",
            stated=f"{self.calls[BASE]:.10g}",
            basis=self.diagnosis,
            restated=f"{self.expected if logs else math.exp(self.expected):.10g}",
            restated_basis=f"{'mean loss in nats' if logs else 'perplexity'} of the real tokens",
        )

    def audit(self) -> Audit:
        """The fingerprint as an audit."""
        insufficient = self.finding is AuditAnswer.INSUFFICIENT
        return Audit(
            mechanism="fingerprint",
            basis_class=self.basis_class,
            finding=self.finding,
            sentence=self.sentence,
            missing=("an evaluator that returns a finite float on the base corpus",) if insufficient else (),
            left=None if insufficient else self._side(),
            witness=None if self.witness is None else self.witness.as_json(),
            details={
                "violated": sorted(self.violated),
                "diagnosis": self.diagnosis,
                "reason": self.reason,
                "returns": self.returns,
                "calls": dict(self.calls),
                "failures": dict(self.failures),
                "not_run": dict(self.not_run),
                "base_log_perplexity_over_tokens": self.expected,
            },
        )
