"""What a system is: how its parameters read, the map they mean, the hypotheses, and what solves its problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verifier.exact.answer import Hypothesis
from verifier.exact.piecewise.maps import Map
from verifier.exact.reading import Reader, Vector


@dataclass(frozen=True, slots=True)
class System:
    """A piecewise affine system in one file.

    `read` parses the parameters of a problem file and raises BadInput. `derive` gives the map. `hypotheses` decides
    each hypothesis exactly. `solves` says whether a state is a solution of the underlying problem (None: not asked);
    `gradient` is ∇f where the claim speaks of stationary points. `entries` are the hypotheses that a certificate
    carries; `kind` names the deriving hypothesis of docs/certificates.md, or is None where the format has none, so
    that the certificate carries the map and `entries` alone.
    """

    name: str
    read: Callable[[Reader], Any]
    derive: Callable[[Any], Map]
    hypotheses: Callable[[Any], tuple[Hypothesis, ...]]
    solves: Callable[[Any, Vector], bool] | None = None
    gradient: Callable[[Any, Vector], Vector] | None = None
    kind: str | None = None
    entries: Callable[[Any], list[dict[str, Any]]] | None = None


def comparison(name: str, left: Fraction | int, relation: str, right: Fraction | int) -> Hypothesis:
    """A hypothesis that compares two numbers; both are its witness."""
    holds = {"<": left < right, "<=": left <= right, "=": left == right, "!=": left != right}[relation]
    witness = {"left": str(left), "relation": relation, "right": str(right)}
    return Hypothesis(name, holds=holds, witness=witness, sentence=f"{left} {relation} {right}")
