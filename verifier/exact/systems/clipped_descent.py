"""Gradient descent with every sample's gradient clipped, in one variable: x ← x − (η/n) Σ clip(s_i(x − m_i), ±κ).

On f(x) = Σ s_i(x − m_i)²/2. Clipping biases the limit (Koloskova, Hendrikx, Stich 2023), so "converges to the
minimiser" fails. It is also the example of a user's own system: this file is all there is to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verifier.exact.answer import Hypothesis
from verifier.exact.piecewise.maps import MOST_PARTS, Branch, Guard, Map
from verifier.exact.reading import Reader, Vector
from verifier.exact.systems.base import System, comparison

ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class ClippedDescent:
    """Curvatures s_i > 0, centres m_i, clipping level κ, step η."""

    curvatures: Vector
    centres: Vector
    clip: Fraction
    eta: Fraction


def read(reader: Reader) -> ClippedDescent:
    """The parameters. Raises BadInput."""
    fields = reader.fields(("curvatures", "centres", "clip", "eta"))
    curvatures = fields["curvatures"].vector(most=(MOST_PARTS - 1) // 2)
    for index, s in enumerate(curvatures):
        if s <= 0:
            raise fields["curvatures"].child(index).error(f"the curvature {s} is not positive", mend="give one above 0")
    centres = fields["centres"].vector(len(curvatures))
    clip = fields["clip"].rational()
    if clip <= 0:
        raise fields["clip"].error("the clipping level is not positive", mend="give one above 0")
    return ClippedDescent(curvatures, centres, clip, fields["eta"].rational())


def derive(data: ClippedDescent) -> Map:
    """A branch between neighbouring kinks m_i ± κ/s_i; the update is continuous, so kinks go to the right piece."""
    pairs = list(zip(data.curvatures, data.centres, strict=True))
    kinks = sorted({m + sign * data.clip / s for s, m in pairs for sign in (-1, 1)})
    branches = []
    for i in range(len(kinks) + 1):
        guards = []
        if i > 0:
            guards.append(Guard((ONE,), -kinks[i - 1], strict=False))
        if i < len(kinks):
            guards.append(Guard((-ONE,), kinks[i], strict=True))
        inside = kinks[0] - 1 if i == 0 else kinks[-1] + 1 if i == len(kinks) else (kinks[i - 1] + kinks[i]) / 2
        slope = offset = Fraction(0)
        for s, m in pairs:
            pull = s * (inside - m)
            if abs(pull) < data.clip:
                slope, offset = slope + s, offset - s * m
            else:
                offset += data.clip if pull > 0 else -data.clip
        rate = data.eta / len(pairs)
        branches.append(Branch(tuple(guards), ((1 - rate * slope,),), (-rate * offset,)))
    return (tuple(branches),)


def _step_bound(data: ClippedDescent) -> tuple[Fraction, str, Fraction]:
    """η·mean(s) < 2: plain gradient descent with this step converges."""
    return data.eta * sum(data.curvatures) / len(data.curvatures), "<", Fraction(2)


def hypotheses(data: ClippedDescent) -> tuple[Hypothesis, ...]:
    """The step is one with which unclipped descent converges."""
    left, relation, right = _step_bound(data)
    return (
        comparison("eta is positive", 0, "<", data.eta),
        comparison("the step times the mean curvature is below 2", left, relation, right),
    )


def entries(data: ClippedDescent) -> list[dict[str, Any]]:
    """The hypotheses as a certificate carries them."""
    return [{"kind": "inequality", "name": h.name, **h.witness} for h in hypotheses(data)]


def solves(data: ClippedDescent, z: Vector) -> bool:
    """Whether z minimises f."""
    return sum(s * (z[0] - m) for s, m in zip(data.curvatures, data.centres, strict=True)) == 0


SYSTEM = System("clipped-descent", read, derive, hypotheses, solves=solves, entries=entries)
