"""How `judge` shows claims, positions and the board: for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verifier.model.printable import printable
from verifier.model.verdicts import Verdict

if TYPE_CHECKING:
    from verifier.cli.output import Output
    from verifier.judge import ContestedClaim, PaperJudgement, Standing
    from verifier.judge.claims import DisputeJudgement

_TEXT = 160


def _short(text: str) -> str:
    return printable(text if len(text) <= _TEXT else text[: _TEXT - 1] + "…")


def show_paper(output: Output, paper: PaperJudgement) -> None:
    """What stands about a paper, for people."""
    from verifier.judge.sentences import because_words, first_line, not_checked, private_words, verdict_word
    from verifier.report.text import counted

    output.show(f"{printable(paper.paper)}  {_short(paper.title)}")
    if private := private_words(paper):
        output.show(private)
    for claim in paper.claims:
        output.show("")
        output.show(first_line(claim))
        output.show(f"  “{_short(claim.text)}”")
        points, because = counted(claim.points, "point"), because_words(claim.finding)
        output.show(f"  verdict {verdict_word(claim.finding)}, {points}, because {because}")
        for part in claim.parts:
            word, because = verdict_word(part.finding), because_words(part.finding)
            output.show(f"  part {printable(part.id)}: {word}, because {printable(because)}")
        for dispute in claim.disputes:
            _show_dispute(output, dispute, not_checked(dispute))
    if paper.claims:
        output.show("")


def _show_dispute(output: Output, dispute: DisputeJudgement, not_checked: Sequence[str]) -> None:
    from verifier.judge.sentences import ruling_words_of

    mark = "PRIVATE " if dispute.private else ""
    name, version = printable(dispute.name), printable(dispute.version) or "no version named"
    output.show(f"  {mark}dispute {name}: {ruling_words_of(dispute)}; judged: {version}")
    for one in dispute.evidence:
        content = one.content
        said = f"{content.get('probe')}: {content.get('answer')}, {content.get('outcome')}"
        output.show(f"    entry {one.n} evidence {printable(said)}")
    output.show(f"    entry {dispute.ruling.n} ruling {dispute.ruling.leaf[:12]} of {dispute.ruling.time}")
    for what in not_checked:
        output.show(f"    not checked: {printable(what)}")
    for run in dispute.exploratory:
        output.show(f"    exploratory, entry {run.n}: {printable(run.ruling)} with {printable(', '.join(run.varied))}")


def show_contested(output: Output, claim: ContestedClaim) -> None:
    """A contested claim, for people."""
    output.show(f"{printable(claim.paper)}  claim {claim.claim_sha256[:12]}  “{_short(claim.text)}”")
    for one in claim.positions:
        copies = f"; the same under {one.copies} further names" if one.copies else ""
        private = "PRIVATE " if one.private else ""
        team = printable(one.team)
        output.show(
            f"  {private}{team}: {one.verdict}, {printable(one.because)}; horizon: {printable(one.adequacy)}{copies}"
        )
    for what in claim.separates:
        output.show(f"  separates them: {printable(what)}")
    output.show("")


def contested_document(claim: ContestedClaim) -> dict[str, Any]:
    """A contested claim as JSON."""
    return {
        "claim_sha256": claim.claim_sha256,
        "positions": [
            {
                "verdict": one.verdict,
                "parts": dict(one.parts),
                "examined": one.examined,
                "copies": one.copies,
                "private": one.private,
                "n": one.n,
                "leaf": one.leaf,
            }
            for one in claim.positions
        ],
        "quoted": {
            "paper": claim.paper,
            "text": claim.text,
            "teams": [
                {"team": one.team, "because": one.because, "adequacy": one.adequacy, "version": one.version}
                for one in claim.positions
            ],
            "separates": list(claim.separates),
        },
    }


def show_board(output: Output, standings: Sequence[Standing]) -> None:
    """The board, for people."""
    words = list(Verdict)
    output.show(f"{'points':>6}  {'papers':>6}  {'  '.join(f'{word.value:>12}' for word in words)}  user")
    for one in standings:
        counts = "  ".join(f"{one.words[word]:>12}" for word in words)
        output.show(f"{one.points:>6}  {one.papers:>6}  {counts}  {printable(one.user)}")


def read_sentence(times: int, failed: int, alpha: Any, n: int, private: int) -> str:
    """How many readings gave an answer, how far they agree, and how many private claims left for the endpoint."""
    from verifier.report.text import counted

    agree = "their agreement is not defined" if alpha is None else f"Krippendorff's alpha is {float(alpha):.3f}"
    sentence = (
        f"{times - failed} of {counted(times, 'reading')} gave an answer; {agree}; recorded as entry {n}, no verdict "
        "changed"
    )
    if not private:
        return f"{sentence}."
    were = "was" if private == 1 else "were"
    return f"{sentence}; {counted(private, 'private claim')} {were} sent to the endpoint."
