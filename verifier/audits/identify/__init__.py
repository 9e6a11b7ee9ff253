"""Which formula of a catalogue a function computes, up to a constant: a few generic inputs decide."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from verifier.audits.catalogues import Catalogue, Entry, catalogue_named
from verifier.audits.catalogues.entry import Arguments, Floats, as_given
from verifier.audits.identify.constants import reading
from verifier.audits.identify.fit import MATCH, Fit, fit, fit_family, offset, transform
from verifier.audits.identify.identification import NONE, Identification
from verifier.audits.identify.observe import formula_values, observe
from verifier.audits.identify.resolve import Letters, family_aliases, lettered
from verifier.model.answers import AuditAnswer
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

__all__ = ["Identification", "Inputs", "identify"]

Inputs = Literal["probabilities", "log-probabilities"]

FEWEST = 4
"""Inputs from which on no two formulas stay ambiguous; three leave 0.9 % of pairs so, two 9.8 %, one all."""

NEAR = 1e-3
"""Relative residual to a fixed formula below which no member of a family is fitted."""

Candidate = tuple[Entry, Floats, Fit]


def identify(
    function: Callable[..., Any],
    *,
    catalogue: str,
    inputs: Inputs = "probabilities",
    pairs: Sequence[Arguments] | None = None,
    letters: Letters = ("p", "q"),
) -> Identification:
    """The formula of the catalogue that `function` computes, up to a constant of either sign.

    `function` is called with the catalogue's own arguments (`Catalogue.takes`) on eight generic inputs, twice each,
    and returns a number, or an array where the catalogue's formulas do. A match has a relative residual of at most
    1e-5 over all inputs; families with one parameter are fitted where no fixed formula matches. `inputs` declares
    whether `function` takes probabilities or their natural logarithms. `pairs` replaces the generic inputs (always
    probabilities); `letters` names the two arguments, ("T", "S").

    Raises BadInput for an unknown catalogue, for letters that are no two names, and for pairs that cannot tell
    formulas apart: malformed, symmetric, near-equal, or all with one and the same first or second argument.
    """
    chosen = catalogue_named(catalogue)
    _check_inputs(inputs, chosen)
    _check_letters(letters)
    if pairs is None:
        given, formulas = _generic(catalogue)
    else:
        given = _checked(pairs, chosen)
        formulas = _formulas(chosen, given)
    callable_ = _on_logarithms(function) if inputs == "log-probabilities" else function
    shapes = [np.shape(chosen.entries[0].function(*each)) for each in given] if chosen.arrays else None
    observed = observe(callable_, given, shapes=shapes)

    def result(name: str, **fields: Any) -> Identification:
        return Identification(
            name=name,
            catalogue=chosen,
            letters=letters,
            inputs=given,
            values=observed.values,
            function=callable_,
            **fields,
        )

    if observed.values is None:
        return result(NONE, finding=AuditAnswer.INSUFFICIENT, reason=observed.reason)
    values = observed.values
    fits: list[Candidate] = [
        (entry, v, fit(values, v)) for entry, v in zip(chosen.entries, formulas, strict=True) if v is not None
    ]
    if not fits:
        reason = f"no formula of the catalogue {catalogue} is defined on these inputs"
        return result(NONE, finding=AuditAnswer.INSUFFICIENT, reason=reason)
    matches = [candidate for candidate in fits if candidate[2].residual <= MATCH]
    if len(matches) > 1 or len(given) < FEWEST:
        return result(NONE, **_ambiguous(matches, len(given), letters))
    if matches:
        return result(**_matched(matches[0], chosen, letters))
    # A family bends to a fixed formula at its limits: so near one, a member would only be that formula's error.
    near_limit = min(candidate[2].residual for candidate in fits) < NEAR
    member = None if near_limit else _member(values, chosen, given, letters)
    return result(**member) if member is not None else result(NONE, **_nearest(values, fits, letters))


@functools.cache
def _generic(name: str) -> tuple[tuple[Arguments, ...], list[Floats | None]]:
    """A catalogue's generic inputs and its entries' values on them."""
    chosen = catalogue_named(name)
    given = chosen.generic()
    return given, _formulas(chosen, given)


def _formulas(catalogue: Catalogue, given: tuple[Arguments, ...]) -> list[Floats | None]:
    return [formula_values(entry.function, given) for entry in catalogue.entries]


def _matched(match: Candidate, catalogue: Catalogue, letters: Letters) -> dict[str, Any]:
    entry, _, found = match
    name = lettered(entry.name, letters)
    objective = next(iter(entry.objective.items()), None)
    return {
        "name": name,
        "constant": found.constant,
        "nearest": name,
        "residual": found.residual,
        "same_objective_as": None if objective is None else lettered(objective[0], letters),
        "same_objective_in": None if objective is None else lettered(objective[1], letters),
        "aliases": tuple(lettered(alias, letters) for alias in entry.aliases),
        "order": _ordered(entry.order, catalogue, letters),
        "formula": entry.formula,
        "remark": _telling(found.constant, entry, letters),
    }


def _telling(constant: float, entry: Entry, letters: Letters) -> str | None:
    """What the constant says: an alias whose factor it is, or a small fraction."""
    if abs(constant - 1) <= MATCH:
        return None
    for alias, factor in entry.aliases.items():
        if factor != 1 and abs(abs(constant) / factor - 1) <= MATCH:
            return f"the constant is that of {lettered(alias, letters)}" + (", negated" if constant < 0 else "")
    if "constant length" in entry.aliases and 0 < constant < 1:
        return f"the constant is 1/L of a constant length L = {reading(1 / constant)}"
    text = reading(constant)
    return f"the constant is {text}" if "/" in text else None


def _member(
    values: Floats, catalogue: Catalogue, given: tuple[Arguments, ...], letters: Letters
) -> dict[str, Any] | None:
    """The member of a family that matches best, where one does."""
    best: dict[str, Any] | None = None
    for family in catalogue.families:
        fitted = fit_family(values, family, given)
        if fitted is None or fitted[1].residual > MATCH or (best and best["residual"] <= fitted[1].residual):
            continue
        alpha, found = fitted
        name = lettered(family.name, letters, alpha=alpha)
        best = {
            "name": name,
            "constant": found.constant,
            "nearest": name,
            "residual": found.residual,
            "aliases": family_aliases(family, letters, alpha=alpha),
            "order": _ordered(family.order, catalogue, letters),
            "parameter": alpha,
            "formula": family.formula,
            "remark": f"alpha = {alpha:.6g} was fitted",
        }
    return best


def _ordered(order: tuple[int, int] | None, catalogue: Catalogue, letters: Letters) -> tuple[str, str] | None:
    if order is None:
        return None
    first, second = letters if catalogue.logarithms else catalogue.space.names[:2]
    return (first, second) if order == (0, 1) else (second, first)


def _nearest(values: Floats, fits: list[Candidate], letters: Letters) -> dict[str, Any]:
    """The entry that an added constant or a transform explains, else the one with the smallest residual."""
    by_residual = sorted(fits, key=lambda candidate: candidate[2].residual)
    for entry, formula, found in by_residual:
        name = lettered(entry.name, letters)
        added = offset(values, formula)
        if added is not None:
            return {
                "nearest": name,
                "residual": found.residual,
                "remark": f"it is a multiple of {name} plus {added:.6g}",
            }
    for entry, formula, found in by_residual:
        name = lettered(entry.name, letters)
        change = transform(values, formula)
        if change is not None:
            return {"nearest": name, "residual": found.residual, "remark": f"its {change} is a multiple of {name}"}
    entry, _, found = by_residual[0]
    return {"nearest": lettered(entry.name, letters), "residual": found.residual}


def _ambiguous(matches: list[Candidate], count: int, letters: Letters) -> dict[str, Any]:
    names = tuple(lettered(entry.name, letters) for entry, _, _ in matches)
    agreeing = f"{', '.join(names)} agree with it" if names else "no entry agrees with it"
    more = f"give at least {FEWEST} inputs" if count < FEWEST else "give inputs with more classes or more variety"
    return {
        "finding": AuditAnswer.INSUFFICIENT,
        "reason": f"on {count} input{'s' if count > 1 else ''} {agreeing}; {more}",
        "candidates": names,
    }


def _on_logarithms(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *vectors: function(*(np.log(vector) for vector in vectors))


def _check_inputs(inputs: str, catalogue: Catalogue) -> None:
    if inputs not in ("probabilities", "log-probabilities"):
        raise BadInput(
            f"{shown(inputs)} is no representation", where="inputs", mend="declare probabilities or log-probabilities"
        )
    if inputs == "log-probabilities" and not catalogue.logarithms:
        raise BadInput(
            f"the catalogue {catalogue.name} takes no probabilities", where="inputs", mend="leave the declaration out"
        )


def _check_letters(letters: Letters) -> None:
    if len(letters) != 2 or not all(each.isidentifier() and len(each) <= 20 for each in letters):
        raise BadInput(f"{shown(letters)} are no two names", where="letters", mend='give two words such as ("T", "S")')
    if letters[0].casefold() == letters[1].casefold():
        raise BadInput("both arguments have one name", where="letters", mend='give two words such as ("T", "S")')


def _checked(pairs: Sequence[Arguments], catalogue: Catalogue) -> tuple[Arguments, ...]:
    """The caller's inputs as arrays. Raises BadInput for one that cannot tell formulas apart."""
    if not len(pairs):
        raise BadInput("there are no inputs", where="pairs", mend=f"give at least {FEWEST}, or leave them out")
    given = []
    for number, pair in enumerate(pairs, start=1):
        try:
            arguments = as_given(tuple(pair))
            complaint = catalogue.complaint(arguments)
        except (TypeError, ValueError, IndexError) as error:
            raise BadInput(
                f"it is not {catalogue.takes}", where=f"pairs, number {number}", mend="give what the catalogue takes"
            ) from error
        if complaint is not None:
            raise BadInput(complaint, where=f"pairs, number {number}", mend="replace it by a generic, asymmetric one")
        given.append(arguments)
    if catalogue.logarithms and len(given) > 1:
        for position, which in enumerate(("first", "second")):
            if all(np.array_equal(each[position], given[0][position]) for each in given):
                raise BadInput(
                    f"the {which} argument never varies", where="pairs", mend="vary both: KL and cross-entropy need it"
                )
    return tuple(given)
