"""Where two basis records state a field and differ in it, in the order in which bases are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from verifier.audits.records import ItemSet, Record, Selection
from verifier.model.basis import BasisClass


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which two records differ, `left` and `right` in words. `open`: what would have to be known first."""

    basis_class: BasisClass
    what: str
    left: str
    right: str
    open: tuple[str, ...] = ()


def before_units(left: Record, right: Record) -> Iterator[Difference]:
    """State, names and formulas, items, masks, aggregation: what is judged before units and denominators."""
    for compared in (_state, _names, _items, _mask, _aggregation):
        yield from compared(left, right)


def after_units(left: Record, right: Record) -> Iterator[Difference]:
    """The better direction, then the selection."""
    if left.better and right.better and left.better != right.better:
        yield Difference(BasisClass.DIR, "better direction", f"{left.better} is better", f"{right.better} is better")
    yield from _selection(left, right)


def one_sided(left: Record, right: Record) -> tuple[str, ...]:
    """The fields that one record states and the other does not: they are not compared."""
    states: dict[str, Callable[[Record], object]] = {
        "state": lambda each: dict(each.state),
        "formula": lambda each: each.formula,
        "name": lambda each: each.name,
        "items": lambda each: each.items,
        "mask": lambda each: each.mask,
        "aggregation": lambda each: each.aggregation,
        "better": lambda each: each.better,
        "selection": lambda each: each.selection,
    }
    return tuple(name for name, stated in states.items() if bool(stated(left)) != bool(stated(right)))


def _state(left: Record, right: Record) -> Iterator[Difference]:
    for key in left.state:
        if key in right.state and left.state[key] != right.state[key]:
            yield Difference(BasisClass.STATE, key, left.state[key], right.state[key])


def _names(left: Record, right: Record) -> Iterator[Difference]:
    """Names decide nothing: formulas are compared where both are known, and asked for where only the names differ."""
    if left.formula and right.formula:
        if left.formula != right.formula:
            one_name = left.name and left.name == right.name
            yield Difference(
                BasisClass.NAME if one_name else BasisClass.FORM,
                f"formula behind the name {left.name}" if one_name else "formula",
                str(left.formula),
                str(right.formula),
            )
    elif left.name and right.name and left.name != right.name:
        unknown = tuple(f"the formula of {each.label} ({each.name})" for each in (left, right) if not each.formula)
        yield Difference(BasisClass.NAME, "name", left.name, right.name, open=unknown)


def _items(left: Record, right: Record) -> Iterator[Difference]:
    if left.items is None or right.items is None:
        return
    for what, of in (("hash of the items", _hash), ("number of items", _number), ("items", _id)):
        ours, theirs = of(left.items), of(right.items)
        if ours and theirs:
            if ours != theirs:
                yield Difference(BasisClass.MASK, what, ours, theirs)
            if what == "hash of the items" or ours != theirs:  # equal hashes are the same items, whatever their names
                return


def _hash(items: ItemSet) -> str:
    return items.sha256.lower()


def _number(items: ItemSet) -> str:
    return "" if items.n is None else str(items.n)


def _id(items: ItemSet) -> str:
    return items.id


def _mask(left: Record, right: Record) -> Iterator[Difference]:
    if left.mask and right.mask and left.mask != right.mask:
        yield Difference(BasisClass.MASK, "mask", left.mask, right.mask)


def _aggregation(left: Record, right: Record) -> Iterator[Difference]:
    if left.aggregation and right.aggregation and left.aggregation != right.aggregation:
        ours, theirs = (
            " then ".join(f"mean over {each}" for each in of) for of in (left.aggregation, right.aggregation)
        )
        yield Difference(BasisClass.AGG, "aggregation", ours, theirs)


def _selection(left: Record, right: Record) -> Iterator[Difference]:
    ours, theirs = left.selection or Selection(), right.selection or Selection()
    if ours.rule and theirs.rule and ours.rule != theirs.rule:
        yield Difference(BasisClass.SEL, "selection", ours.rule, theirs.rule)
    elif ours.trials and theirs.trials and ours.trials != theirs.trials:
        yield Difference(BasisClass.SEL, "trials selected from", str(ours.trials), str(theirs.trials))
