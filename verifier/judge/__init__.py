"""The judge's side: what is established about each claim, from what stands in the ledger."""

from verifier.judge.board import Standing, board
from verifier.judge.claims import ClaimJudgement, PaperJudgement, PartJudgement, judge_paper
from verifier.judge.contested import ContestedClaim, contested
from verifier.judge.importing import Imported, import_verdicts
from verifier.judge.index import JudgeIndex
from verifier.judge.packet import packet
from verifier.judge.verdict_file import VerdictFile, verdict_file

__all__ = [
    "ClaimJudgement",
    "ContestedClaim",
    "Imported",
    "JudgeIndex",
    "PaperJudgement",
    "PartJudgement",
    "Standing",
    "VerdictFile",
    "board",
    "contested",
    "import_verdicts",
    "judge_paper",
    "packet",
    "verdict_file",
]
