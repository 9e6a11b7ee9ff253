"""What a float64 run says beside the exact one: where the two part, by how much, and whether that is rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

CLASSES = ("agree", "same answer, details differ", "different step", "different answer")
BOUND = (
    "running error analysis (Higham 2002, section 3.3) of the form's own operations, carried through the exact linear "
    "steps: it holds while both runs select alike"
)


@dataclass(frozen=True, slots=True)
class Selection:
    """The first step at which float64 selects another token or branch than the exact run.

    `exact` lists what exact arithmetic admits, the one it takes first; `taken` is float64's, None where it finds none.
    `gap` is exact: by how much the wrong choice misses, 0 at a tie. `error` is float64's value of the deciding quantity
    less the exact one (None where two quantities are compared). `error_bound` bounds it beforehand.
    """

    t: int
    token: int | None
    taken: int | None
    exact: tuple[int, ...]
    gap: float
    error: float | None
    error_bound: float

    def document(self) -> dict[str, Any]:
        """The fields of `--json`."""
        found: dict[str, Any] = {"t": self.t}
        if self.token is not None:
            found |= {"token": self.token, "float": self.taken, "exact": list(self.exact)}
        else:
            found |= {"float": self.taken, "exact": self.exact[0]}
        found["gap"] = self.gap
        if self.error is not None:
            found["error"] = self.error
        return {**found, "error_bound": self.error_bound, "float64_can_tell": abs(self.gap) > self.error_bound}


@dataclass(frozen=True, slots=True)
class Predicate:
    """The first step at which float64 decides an inequality otherwise.

    `what` is "claim" or "guard"; `component` the token or the guard. `holds` is what float64 says of "left > right" (a
    claim that fails) or of the guard; `gap` is left − right exactly, `excess` the same in float64, `error` float64's
    left side (for a guard its value) less the exact one, `error_bound` a bound beforehand on the error of `excess`.
    `parted` says that another selection came earlier: then two orbits differ, and there is no bound.
    """

    t: int
    what: str
    component: int
    holds: bool
    gap: float
    excess: float
    error: float
    error_bound: float | None
    parted: bool

    def document(self) -> dict[str, Any]:
        """The fields of `--json`."""
        return {
            "t": self.t,
            "what": self.what,
            "component": self.component,
            "float": self.holds,
            "gap": self.gap,
            "excess": self.excess,
            "error": self.error,
            "error_bound": self.error_bound,
            "after_selection": self.parted,
            "float64_can_tell": None if self.error_bound is None else abs(self.gap) > self.error_bound,
        }


@dataclass(frozen=True, slots=True)
class Divergence:
    """One form of evaluation: its first violation (step, components), where it parts, and its class.

    `name` is what the selection is of, "token" or "branch"; `stopped` says at which step float64 had no next state.
    `short_of` is the last step compared where the exact first violation is known and lies beyond it, else None: the
    class then speaks of the steps before alone.
    """

    form: str
    cls: str
    name: str
    first_violation: tuple[int, tuple[int, ...]] | None = None
    first_selection: Selection | None = None
    first_predicate: Predicate | None = None
    stopped: str = ""
    short_of: int | None = None

    @property
    def sentence(self) -> str:
        """The form, its class, and the first difference with its gap and error bound, in words."""
        parts = [f"{self.form}: {self.cls}"]
        if self.first_selection is not None:
            parts.append(_selection_words(self.first_selection, self.name))
        predicate = self.first_predicate
        if predicate is not None and not (
            predicate.what == "guard" and self.first_selection is not None and predicate.t == self.first_selection.t
        ):
            parts.append(_predicate_words(predicate))
        if self.stopped:
            parts.append(self.stopped)
        if self.short_of is not None:
            parts.append(f"compared up to t = {self.short_of}, the first violation comes later")
        return "; ".join(parts)

    def document(self) -> dict[str, Any]:
        """The fields of `--json`."""
        first = self.first_violation
        selection = self.first_selection.document() if self.first_selection is not None else None
        found: dict[str, Any] = {"form": self.form, "class": self.cls, "sentence": self.sentence}
        if self.name == "branch":
            found["first_branch"] = selection
        found["first_selection"] = selection
        found["first_predicate"] = self.first_predicate.document() if self.first_predicate is not None else None
        found["first_violation"] = None if first is None else {"t": first[0], "components": list(first[1])}
        found["stopped"] = self.stopped or None
        found["short_of_first_violation"] = self.short_of is not None
        return found


def _selection_words(found: Selection, name: str) -> str:
    of = f"for token {found.token} " if found.token is not None else ""
    taken = f"{name} {found.taken}" if found.taken is not None else f"no {name}"
    exact = f"{name} {found.exact[0]}"
    return f"at t = {found.t} {of}it takes {taken}, exact is {exact}: {_size(found.gap, found.error_bound)}"


def _predicate_words(found: Predicate) -> str:
    said = {
        ("claim", True): f"at t = {found.t} it calls component {found.component} a violation, exact does not",
        ("claim", False): f"at t = {found.t} it misses the violation of component {found.component}",
        ("guard", True): f"at t = {found.t} it calls guard {found.component} true, exact does not",
        ("guard", False): f"at t = {found.t} it calls guard {found.component} false, exact does not",
    }[found.what, found.holds]
    if found.parted or found.error_bound is None:
        return f"{said} (gap {found.gap:.2g}): by then the two runs have selected differently"
    return f"{said} (float64's excess {found.excess:.2g}): {_size(found.gap, found.error_bound)}"


def _size(gap: float, bound: float) -> str:
    told = "float64 cannot tell" if abs(gap) <= bound else "more than rounding explains"
    return f"gap {gap:.2g}, error bound {bound:.2g}, {told}"


@dataclass(frozen=True, slots=True)
class FloatSeries:
    """A form's run, step by step: the claim's quantity, the distance to the exact run, and the bound on that distance.

    `apart` is |float − exact|, of the quantity itself (hardmax) or of the state's largest entry (maps). `bounds` is
    None from where the runs have selected differently, and where nobody asked; all are None where float64 has no state.
    """

    form: str
    values: tuple[float | None, ...]
    apart: tuple[float | None, ...]
    bounds: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The exact run and every float64 form side by side, from the start to step `steps`.

    `t` are the steps; `exact` the claim's quantity there, a double rounded from the exact value; `component` the one
    where it is largest. `quantity` names it; `threshold` is the value that the claim forbids to exceed, None where the
    claim is about the limit. `rule` is the tie rule that both sides follow, "" where there is none. `first` is the
    exact run's first violation (step, component); `asks` says what the claim wants of the quantity.
    """

    quantity: str
    asks: str
    threshold: float | None
    rule: str
    first: tuple[int, int] | None
    t: tuple[int, ...]
    exact: tuple[float, ...]
    component: tuple[int, ...]
    floats: tuple[FloatSeries, ...]
    divergences: tuple[Divergence, ...]

    @property
    def steps(self) -> int:
        """The last step compared."""
        return self.t[-1]

    def document(self) -> dict[str, Any]:
        """The field `float` of `refute --json`."""
        return {
            "steps": self.steps,
            "ties": self.rule or None,
            "error_bound": BOUND,
            "forms": [each.document() for each in self.divergences],
        }


def classified(found: Divergence, first: tuple[int, int] | None, *, short_of: int | None = None) -> Divergence:
    """The class by first violations within the range compared: `first` is the exact one (step, component)."""
    seen = found.first_violation
    if (seen is None) != (first is None):
        cls = CLASSES[3]
    elif seen is not None and first is not None and seen[0] != first[0]:
        cls = CLASSES[2]
    else:
        same = found.first_selection is None and found.first_predicate is None and not found.stopped
        cls = CLASSES[0] if same else CLASSES[1]
    return replace(found, cls=cls, short_of=short_of)
