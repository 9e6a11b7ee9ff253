"""What the audit of a function asks of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

EVALUATORS = "evaluators"
"""The catalogue of a function that is an evaluator of a language model; the others hold formulas."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a function is asked.

    `catalogue`: the formulas it may be, or `EVALUATORS`. `stated`: the formula that the text names, "" for an
    evaluator. `inputs`, `letters`: what it is called with, and what the text calls its arguments. `returns`: what an
    evaluator returns. `threshold`: the least relative difference between both formulas that is material, 0 where none
    is registered.
    """

    catalogue: str
    stated: str
    inputs: Literal["probabilities", "log-probabilities"]
    returns: Literal["perplexity", "loss"]
    letters: tuple[str, ...]
    threshold: Fraction

    @property
    def document(self) -> dict[str, Any]:
        """The question as JSON values."""
        return {
            "catalogue": self.catalogue,
            "stated": self.stated,
            "inputs": self.inputs,
            "returns": self.returns,
            "letters": list(self.letters),
            "threshold": str(self.threshold),
        }
