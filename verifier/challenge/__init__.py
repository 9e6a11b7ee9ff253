"""The challenge's files: what its claims are, and what its judge said of them. Read a record at a time, any size."""

from verifier.challenge.claims import ListedClaim, PaperClaims, Pins, pins_of, read_claims
from verifier.challenge.records import ClaimVerdict, VerdictRecord
from verifier.challenge.verdicts import Skipped, read_verdicts, written_verdicts

__all__ = [
    "ClaimVerdict",
    "ListedClaim",
    "PaperClaims",
    "Pins",
    "Skipped",
    "VerdictRecord",
    "pins_of",
    "read_claims",
    "read_verdicts",
    "written_verdicts",
]
