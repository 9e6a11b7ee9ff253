"""Units of printed numbers, with everything that is counted as a dimension of its own.

pint reads the names in units.txt (prefixes, plurals, definitions); pint's own registry would let counts cancel. The
grammar is this module's: names joined by `*`, `/` and `per`, with small whole exponents, so that nothing a stranger
writes is evaluated.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from typing import TYPE_CHECKING, Literal

from verifier.audits.interval import Interval, exactly
from verifier.model.complaints import nearest, shown
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    import pint

UNSCALED = exactly(1)

MEASURED = frozenset({"joule", "metre", "gram", "dollar"})
"""Base units of what is not counted: a rate of these is no speed of the work."""

LONGEST_UNIT = 80
LARGEST_EXPONENT = 4
MOST_FACTORS = 8

_TOKEN = re.compile(r"\s*(?:(?P<op>\*\*|[*/·^])|(?P<name>%|[A-Za-zµ_]+)|(?P<number>[+-]?\d{1,2}))", re.ASCII)
_AMBIGUOUS = {
    "FLOPS": "FLOP for a count, FLOP/s for a rate",
    "MACS": "MAC for a count, MAC/s for a rate",
    "b": "bit or byte",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """A product of base units. `dimensions`: (base unit, exponent), sorted, no 0; `scale`: one of it in base units.

    `bits`: how often a bit was turned into ln 2 nats on the way, the one scale that no fraction holds; the scale is
    then an enclosure.
    """

    dimensions: tuple[tuple[str, int], ...] = ()
    scale: Interval = UNSCALED
    bits: int = 0

    def __mul__(self, other: Unit) -> Unit:
        return Unit(_added(self.dimensions, other.dimensions), self.scale * other.scale, self.bits + other.bits)

    def __truediv__(self, other: Unit) -> Unit:
        return self * other.inverse

    @property
    def inverse(self) -> Unit:
        """One over this unit."""
        return Unit(tuple((name, -power) for name, power in self.dimensions), exactly(1) / self.scale, -self.bits)

    @property
    def base(self) -> Unit:
        """The same dimensions in base units."""
        return Unit(self.dimensions)

    def __str__(self) -> str:
        above = " ".join(_power(name, power) for name, power in self.dimensions if power > 0)
        below = " per ".join(_power(name, -power) for name, power in self.dimensions if power < 0)
        return f"{above or '1'} per {below}" if below else above or "1"


ONE = Unit()


@functools.lru_cache(maxsize=4096)
def unit(text: str) -> Unit:
    """The unit `text` names: `"s"`, `"tokens/s"`, `"J per trajectory"`, `"GFLOP"`, `"%"`; `""` and `"1"` are no unit.

    Raises BadInput for a name that nobody knows, with the nearest known one, for a name that means two things, and for
    a text that is longer or has larger exponents than a printed unit.
    """
    if len(text) > LONGEST_UNIT:
        raise BadInput(f"the unit {shown(text)} is too long", mend=f"use at most {LONGEST_UNIT} characters")
    return functools.reduce(lambda product, part: product * part, _parts(text), ONE)


def thing(word: str) -> Unit:
    """What something is counted per, or holds: one unit to the power 1. Raises BadInput as `unit` does."""
    found = unit(word)
    if len(found.dimensions) != 1 or found.dimensions[0][1] != 1:
        raise BadInput(f"{shown(word)} is not one thing that can be counted", mend='write one like "batch"')
    return found


def ln2() -> Interval:
    """An enclosure of ln 2 narrower than 1e-36: ln 2 = Σ 1/(k 2^k), whose terms after K sum to less than 2^-K."""
    terms = 120
    low = sum((Fraction(1, k << k) for k in range(1, terms + 1)), Fraction(0))
    return Interval(low, low + Fraction(1, 1 << terms))


def faster_when(one: Unit) -> Literal["higher", "lower"] | None:
    """Which numbers of this unit are faster: lower times (per anything), higher rates of what is counted; else None."""
    powers = dict(one.dimensions)
    above = {name for name, power in powers.items() if power > 0}
    if above == {"second"} and powers["second"] == 1:
        return "lower"
    return "higher" if powers.get("second") == -1 and above and not above & MEASURED else None


def known_units() -> tuple[str, ...]:
    """Every name in units.txt, without prefixes and plurals."""
    return _names()


def _parts(text: str) -> Iterable[Unit]:
    """The factors of a unit text, each with its sign and exponent."""
    tokens = _tokens(text)
    if tokens in ([], ["1"]):
        return
    sign, at = 1, 0
    if tokens[:2] == ["1", "/"] or tokens[:2] == ["1", "per"]:
        sign, at = -1, 2
    factors = 0
    while at < len(tokens):
        one = _named(tokens[at], text)
        at += 1
        power = 1
        if at < len(tokens) and tokens[at] in ("^", "**"):
            power = _exponent(tokens[at + 1 : at + 2], text)
            at += 2
        factors += 1
        if factors > MOST_FACTORS:
            raise BadInput(f"the unit {shown(text)} has more than {MOST_FACTORS} factors", mend="write it shorter")
        yield _raised(one, sign * power)
        if at < len(tokens) and tokens[at] in ("*", "·", "/", "per"):
            turn = -1 if tokens[at] in ("/", "per") else 1
            at += 1
            if at == len(tokens) or turn > sign:  # "J/token*s" is read both ways
                raise _malformed(text)
            sign = turn


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _malformed(text)
        found.append(match[0].strip())
        at = match.end()
    return found


def _exponent(token: list[str], text: str) -> int:
    if not token or not re.fullmatch(r"[+-]?\d+", token[0]) or not 1 <= abs(int(token[0])) <= LARGEST_EXPONENT:
        raise BadInput(
            f"the unit {shown(text)} has an exponent that no printed unit has",
            mend=f"use whole exponents from -{LARGEST_EXPONENT} to {LARGEST_EXPONENT}",
        )
    return int(token[0])


def _malformed(text: str) -> BadInput:
    return BadInput(f"{shown(text)} is not a unit", mend='write one like "s", "tokens/s" or "J per trajectory"')


def _named(name: str, text: str) -> Unit:
    """The unit of one name, through pint. Raises BadInput for a name it does not know."""
    if not re.fullmatch(r"%|[A-Za-zµ_]+", name):
        raise _malformed(text)
    if name in _AMBIGUOUS:
        raise BadInput(f"the unit {name} means two things", mend=f"write {_AMBIGUOUS[name]}")
    return _resolved(name)


@functools.lru_cache(maxsize=256)
def _resolved(name: str) -> Unit:
    import pint  # noqa: PLC0415  # half a second, only where a unit is read

    try:
        scale, base = _registry().get_root_units(name)
    except (pint.errors.PintError, ValueError, TypeError, AttributeError, KeyError):
        raise BadInput(f"nobody knows the unit {shown(name)}", mend=_nearest(name)) from None
    powers: Mapping[str, int] = {str(key): int(str(power)) for key, power in base._units.items()}  # noqa: SLF001  # pint has no other way to list them
    bits = powers.get("bit", 0)
    found = Unit(_added((), tuple(powers.items())), exactly(Fraction(str(scale))))
    # nats are the base, by definition: 1 bit = ln 2 nat
    return found * _raised(Unit((("bit", -1), ("nat", 1)), ln2(), 1), bits)


def _nearest(name: str) -> str:
    import pint  # noqa: PLC0415  # as above

    for spelled in dict.fromkeys((name[:1].swapcase() + name[1:], name.lower())):
        with contextlib.suppress(pint.errors.PintError, ValueError, TypeError, AttributeError, KeyError):
            _registry().get_root_units(spelled)
            return f"the nearest valid unit is {spelled}"
    known = _names()
    near = nearest(name, known, what="unit")
    return near if near.startswith("the nearest") else 'write one like "s", "token", "byte" or "FLOP"'


@functools.cache
def _registry() -> pint.UnitRegistry[Fraction]:
    """The registry of units.txt and nothing else: none of pint's own definitions, no file written."""
    import pint  # noqa: PLC0415  # as above

    registry: pint.UnitRegistry[Fraction] = pint.UnitRegistry(None, cache_folder=None, non_int_type=Fraction)
    registry.load_definitions(_definitions())
    return registry


@functools.cache
def _definitions() -> list[str]:
    text = resources.files("verifier.audits").joinpath("units.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@functools.cache
def _names() -> tuple[str, ...]:
    names = []
    for line in _definitions():
        name, _, *others = (part.strip() for part in line.split("="))
        if not name.endswith("-"):
            names += [name, *(other for other in others if other != "_")]
    return tuple(names)


def _raised(one: Unit, power: int) -> Unit:
    factor = one if power > 0 else one.inverse
    return functools.reduce(lambda product, part: product * part, [factor] * abs(power), ONE)


def _added(left: tuple[tuple[str, int], ...], right: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    powers: Counter[str] = Counter()
    for name, power in left + right:
        powers[name] += power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"
