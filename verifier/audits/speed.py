"""What "faster" means: two times as a factor, as per cent faster, as per cent less time, and as a difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

from verifier.audits.audit import Audit, Side
from verifier.audits.interval import Interval, exactly
from verifier.audits.pairs import smallest_pair
from verifier.audits.printed import Printed, printed
from verifier.audits.residuals import folded, short
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.complaints import listed, nearest, shown
from verifier.model.errors import BadInput

MECHANISM = "speed"
SaidAs = Literal["factor", "percent-faster", "percent-less-time", "points"]

_READINGS: Mapping[SaidAs, Callable[[Interval, Interval], Interval]] = {
    "factor": lambda before, after: before / after,
    "percent-faster": lambda before, after: (before / after - exactly(1)) * exactly(100),
    "percent-less-time": lambda before, after: (exactly(1) - after / before) * exactly(100),
    "points": lambda before, after: before - after,
}

_WORDS: Mapping[str, str] = {
    "factor": "the factor",
    "percent-faster": "per cent faster",
    "percent-less-time": "per cent less time",
    "points": "the difference",
}


def speed_readings(before: Interval, after: Interval) -> dict[SaidAs, Interval]:
    """Each reading of two times above zero, over their roundings.

    factor: before ÷ after; per cent faster: 100 (before ÷ after − 1), of the speed; per cent less time:
    100 (1 − after ÷ before); points: before − after.
    """
    return {name: of(before, after) for name, of in _READINGS.items()}


def speed(before: str, after: str, *, claimed: str | None = None, said_as: str | None = None) -> Audit:
    """The four readings of two printed times, and which of them a printed claim is.

    before, after: times above zero, as printed. claimed: the printed speed-up; said_as: the reading that its words
    mean, None where they leave it open. A claim is a reading where their rounding intervals overlap.

    SAME_BASIS where the claim is what it says; MISMATCH_PROVEN (DIR) where it is another reading instead;
    JOINTLY_INCONSISTENT where it is none; INSUFFICIENT where its words are open and it is several.

    Raises BadInput for a text that is no number, a time that is not above zero, or a word that is no reading.
    """
    if said_as is not None and said_as not in _READINGS:
        raise BadInput(f"unknown word {shown(said_as)}", mend=nearest(said_as, get_args(SaidAs)))
    times = printed(before), printed(after)
    for time in times:
        if not time.interval.above(0):
            raise BadInput(f"the time {shown(time.text)} is not above zero over its roundings", mend="check it")
    intervals = speed_readings(times[0].interval, times[1].interval)
    values = {name: of.low for name, of in speed_readings(*(exactly(time.value) for time in times)).items()}
    given = None if claimed is None else printed(claimed)
    fits = [] if given is None else [name for name, of in intervals.items() if of.meets(given.interval)]
    return _audit(times, given, said_as, values=values, fits=fits)


def recheck(audit: Audit) -> bool:
    """Whether the witness's readings, worked out again, come out as stated and differ."""
    witness = audit.witness
    if witness is None:
        return False
    again = speed_readings(exactly(witness["before"]), exactly(witness["after"]))
    stated = {name: Fraction(witness[name]) for name in again if name in witness}
    return len(set(stated.values())) == 2 and all(again[name] == exactly(value) for name, value in stated.items())


def _audit(
    times: tuple[Printed, Printed],
    claimed: Printed | None,
    said_as: str | None,
    *,
    values: dict[SaidAs, Fraction],
    fits: list[SaidAs],
) -> Audit:
    said = _said(times, values)
    finding, basis_class = AuditAnswer.SAME_BASIS, BasisClass.DIR
    missing: tuple[str, ...] = ()
    witness, residual = speed_witness(("percent-faster", "percent-less-time")), None
    if claimed is not None:
        one_digit = claimed.significant_digits == 1
        if said_as in fits or (said_as is None and len(fits) == 1):
            said += f"; the printed {claimed.text} is {_WORDS[said_as or fits[0]]}"
            if not claimed.interval.meets(exactly(values[_word(said_as or fits[0])])):
                said += f" only within the rounding of {times[0].text} and {times[1].text}"
        elif said_as is None and fits:
            finding, missing = AuditAnswer.INSUFFICIENT, (f"what {claimed.text} is meant as",)
            said += f"; the printed {claimed.text} may be {_listed(fits)}"
        elif said_as is not None and fits and not one_digit:
            finding = AuditAnswer.MISMATCH_PROVEN
            said += f"; the printed {claimed.text} is {_listed(fits)}, not {_WORDS[said_as]}"
            witness = speed_witness((_word(said_as), fits[0]))
        else:
            finding, basis_class = AuditAnswer.JOINTLY_INCONSISTENT, BasisClass.CLOSE
            said += (
                f"; the printed {claimed.text} is {'none of these' if said_as is None else f'not {_WORDS[said_as]}'}"
            )
        if said_as is not None and values[_word(said_as)] > 0 and claimed.interval.above(0):
            reading = speed_readings(times[0].interval, times[1].interval)[_word(said_as)]
            if reading.above(0):
                residual = folded(claimed.value / values[_word(said_as)], claimed.interval / reading)
    return Audit(
        mechanism=MECHANISM,
        basis_class=basis_class,
        finding=finding,
        sentence=said + ".",
        left=Side("before", times[0].text, "time"),
        right=Side("after", times[1].text, "time"),
        residual=residual,
        missing=missing,
        witness=witness,
        details={
            **{name: float(value) for name, value in values.items()},
            "intervals": {
                name: [float(of.low), float(of.high)]
                for name, of in speed_readings(times[0].interval, times[1].interval).items()
            },
            "claimed_fits": list(fits),
        },
    )


def speed_witness(names: tuple[SaidAs, SaidAs]) -> Mapping[str, Any] | None:
    """The smallest whole times, the second shorter, for which two readings differ, with both as exact text."""

    def differ(before: int, after: int) -> bool:
        found = speed_readings(exactly(before), exactly(after))
        return after < before and found[names[0]] != found[names[1]]

    pair = smallest_pair(differ)
    if pair is None:
        return None
    found = speed_readings(exactly(pair[0]), exactly(pair[1]))
    return {"before": pair[0], "after": pair[1], **{name: str(found[name].low) for name in names}}


def _said(times: tuple[Printed, Printed], values: dict[SaidAs, Fraction]) -> str:
    before, after = times
    return (
        f"From {before.text} to {after.text} is {short(values['factor'])} times as fast, "
        f"{short(values['percent-faster'])} % faster, {short(values['percent-less-time'])} % less time, "
        f"{short(values['points'])} less"
    )


def _listed(names: Sequence[str]) -> str:
    return listed([_WORDS[name] for name in names], last="or")


def _word(said_as: str) -> SaidAs:
    return next(name for name in _READINGS if name == said_as)
