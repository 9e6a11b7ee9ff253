"""Several disputes of one claim: their verdicts combined, per part and then per claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verifier.model.outcomes import Reason
from verifier.model.verdicts import Verdict, VerdictFinding

CONFLICT = VerdictFinding(Verdict.INCONCLUSIVE, Reason.CONFLICT)


def combine_part(findings: Sequence[VerdictFinding]) -> VerdictFinding | None:
    """The verdict on one part over all disputes with a standing ruling on it, oldest first; None: it is absent.

    First row that applies, over the rulings that are not retracted. Where every ruling that wrote a verdict is
    retracted, the part is `inconclusive`, because withdrawn: a retraction is shown and is no absence. An `inconclusive`
    part has the reason of its latest ruling.
    """
    written = [finding for finding in findings if finding.verdict is not None]
    standing = [finding for finding in written if finding.because != Reason.WITHDRAWN]
    if written and not standing:
        return written[-1]
    by_verdict = {finding.verdict: finding for finding in standing}
    if Verdict.FALSIFIED in by_verdict and Verdict.VERIFIED in by_verdict:
        return CONFLICT
    for verdict in (Verdict.FALSIFIED, Verdict.VERIFIED, Verdict.TOY):
        if verdict in by_verdict:
            return by_verdict[verdict]
    return by_verdict.get(Verdict.INCONCLUSIVE)


def combine_claim(parts: Mapping[str, VerdictFinding | None]) -> VerdictFinding | None:
    """The verdict on a claim from those of all its parts, in the claim's order; None where no part has one.

    First row that applies. The last says `parts-untested` also where every part was ruled on: each part's own reason
    stands beside it. The reason of a claim's only part is the claim's, and so is a retraction of all there is.
    """
    written = {part: finding for part, finding in parts.items() if finding is not None}
    if not written:
        return None
    in_conflict = [part for part, finding in written.items() if finding == CONFLICT]
    if in_conflict:
        return CONFLICT
    falsified = [part for part, finding in written.items() if finding.verdict is Verdict.FALSIFIED]
    if falsified:
        return VerdictFinding(Verdict.FALSIFIED, parts_words(falsified))
    whole = len(written) == len(parts)
    verdicts = {finding.verdict for finding in written.values()}
    if whole and verdicts == {Verdict.VERIFIED}:
        return VerdictFinding(Verdict.VERIFIED, parts_words(list(parts)))
    if whole and verdicts <= {Verdict.VERIFIED, Verdict.TOY}:
        toys = [part for part, finding in written.items() if finding.verdict is Verdict.TOY]
        return VerdictFinding(Verdict.TOY, written[toys[0]].because)
    found = list(written.values())
    if whole and (len(found) == 1 or all(one.because == Reason.WITHDRAWN for one in found)):
        return found[0]
    return VerdictFinding(Verdict.INCONCLUSIVE, Reason.PARTS_UNTESTED)


def parts_words(parts: Sequence[str]) -> str:
    """`part a`, `parts a, b`."""
    return ("part " if len(parts) == 1 else "parts ") + ", ".join(parts)
