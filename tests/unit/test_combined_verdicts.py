"""Several disputes of one claim: the rows of the table, over every combination."""

import itertools

import pytest

from verifier.model.combined import CONFLICT, combine_claim, combine_part
from verifier.model.outcomes import Reason
from verifier.model.rulings import Ruling
from verifier.model.verdicts import Circumstances, Verdict, VerdictFinding, verdict_of

FALSIFIED = VerdictFinding(Verdict.FALSIFIED, "part a")
VERIFIED = VerdictFinding(Verdict.VERIFIED, "part a")
TOY = VerdictFinding(Verdict.TOY, "below the registered scale or on synthetic data")
OPEN = VerdictFinding(Verdict.INCONCLUSIVE, Reason.UNDERPOWERED)
WITHDRAWN = VerdictFinding(Verdict.INCONCLUSIVE, Reason.WITHDRAWN)
SILENT = VerdictFinding(None, "no answer")
FINDINGS = (FALSIFIED, VERIFIED, TOY, OPEN, WITHDRAWN, SILENT)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_every_combination_of_disputes_has_the_first_row_that_applies(count: int) -> None:
    for findings in itertools.product(FINDINGS, repeat=count):
        found = combine_part(findings)
        words = {one.verdict for one in findings if one.because != Reason.WITHDRAWN} - {None}
        if {Verdict.FALSIFIED, Verdict.VERIFIED} <= words:
            assert found == CONFLICT
        elif words:
            order = [Verdict.FALSIFIED, Verdict.VERIFIED, Verdict.TOY, Verdict.INCONCLUSIVE]
            assert found is not None
            assert found.verdict is next(word for word in order if word in words)
        else:
            assert found == (WITHDRAWN if WITHDRAWN in findings else None)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_combination_of_parts_has_the_first_row_that_applies(count: int) -> None:
    for findings in itertools.product((FALSIFIED, VERIFIED, TOY, OPEN, CONFLICT, None), repeat=count):
        parts = dict(zip("abc", findings, strict=False))
        found = combine_claim(parts)
        if all(one is None for one in findings):
            assert found is None
            continue
        assert found is not None
        if CONFLICT in findings:
            assert found == CONFLICT
        elif FALSIFIED in findings:
            named = ", ".join(part for part, one in parts.items() if one is FALSIFIED)
            assert (found.verdict, found.because.split(" ", 1)[1]) == (Verdict.FALSIFIED, named)
        elif set(findings) == {VERIFIED}:
            assert found.verdict is Verdict.VERIFIED
        elif set(findings) <= {VERIFIED, TOY}:
            assert found.verdict is Verdict.TOY
        else:
            because = Reason.PARTS_UNTESTED if count > 1 else Reason.UNDERPOWERED
            assert found == VerdictFinding(Verdict.INCONCLUSIVE, because)


def test_no_answer_writes_no_verdict_and_absence_is_not_inconclusive() -> None:
    silent = verdict_of(Circumstances(Ruling.NO_ANSWER))
    assert silent.verdict is None
    assert combine_part([silent]) is None
    assert combine_claim({"a": combine_part([silent, silent])}) is None


def test_a_retraction_takes_a_word_away_and_is_not_silence() -> None:
    assert combine_part([FALSIFIED, WITHDRAWN]) == FALSIFIED
    assert combine_part([WITHDRAWN, VERIFIED]) == VERIFIED
    assert combine_claim({"a": combine_part([WITHDRAWN])}) == WITHDRAWN
    assert combine_claim({"a": WITHDRAWN, "b": WITHDRAWN}) == WITHDRAWN
    untested = VerdictFinding(Verdict.INCONCLUSIVE, Reason.PARTS_UNTESTED)
    assert combine_claim({"a": WITHDRAWN, "b": VERIFIED}) == untested
    assert combine_claim({"a": VERIFIED, "b": OPEN}) == untested
