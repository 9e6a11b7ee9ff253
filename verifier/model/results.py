"""What a run of a case found: everything that the ledger, the report and the machine output are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from verifier.model.answers import About, Finding
from verifier.model.case import Claim, Control, Dispute, Implementation, Paper, Premise, Prior, Value
from verifier.model.controls import ControlResult
from verifier.model.outcomes import Outcome, Reason
from verifier.model.rulings import CaseRuling, PartRuling
from verifier.model.verdicts import VerdictFinding


@dataclass(frozen=True, slots=True)
class Point:
    """The estimate at one scale: mean over `n` replicates, baseline subtracted, with its fixed-n standard error.

    `exact` is the exact value there, where the case can compute it.
    """

    at: Mapping[str, int]
    estimate: float
    stderr: float | None
    n: int
    exact: Fraction | None = None


@dataclass(frozen=True, slots=True)
class UnitsRecord:
    """The units behind an evidence entry: how many, and the Merkle root over their rows in unit order."""

    count: int
    root: str


@dataclass(frozen=True, slots=True)
class ControlRun:
    """A control that was run, with the points its target gave, or its audits, and the units behind them.

    `traceback` is what was raised where it has no answer.
    """

    result: ControlResult
    points: tuple[Point, ...]
    units: UnitsRecord | None = None
    traceback: str = ""
    audits: tuple[Mapping[str, Any], ...] = ()

    @property
    def control(self) -> Control:
        """Which control."""
        return self.result.control


@dataclass(frozen=True, slots=True)
class Adequacy:
    """Whether the registered design could have decided at this horizon, and what would.

    `needed` is like `{"k": 1024, "replicates": 57, "phases": 5700}`; it lacks "replicates" (and the inner units) where
    nothing is known of the noise, and holds "scales" where there are too few.
    """

    adequate: bool
    needed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ExactEvidence:
    """What exact work found: the fields of `refute --json`, and the points of its picture.

    `certificate` is the certificate's text and `checked` all that the checker printed on it; None where the answer has
    no certificate.
    """

    document: Mapping[str, Any]
    certificate: str | None
    checked: str | None
    margins: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a probe gave at one end of its run: at its decision, or later at its registered maximum.

    A sweep gives statistics and points, exact work its own evidence, an audit the fields of `audits[]` and the hash of
    the mechanisms' code.
    """

    stage: str
    statistics: Mapping[str, Any] | None
    points: tuple[Point, ...]
    units: UnitsRecord
    exact: ExactEvidence | None = None
    audits: tuple[Mapping[str, Any], ...] = ()
    mechanisms: str = ""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe found. `own` is its finding by the rule alone, `finding` the one after its controls.

    `flags` say what its design cannot see, whatever the data. `rule`, `axis` and the scales are those of a sweep;
    other kinds have none. `question` names what the probe was run on, where that is not a sweep's target.

    `comparison`: it audits the two numbers that the dispute compares. `weighs` is False where that finds nothing to
    object to, so that it fixes no ruling.

    `evidence` holds one element, or a second one where the run was continued to its maximum. `failure` is what went
    wrong where there is no answer, with the traceback.
    """

    name: str
    kind: str
    parts: tuple[str, ...]
    about: About
    required: bool
    answer: str
    own: Finding
    finding: Finding
    summary: str
    evidence: tuple[Evidence, ...]
    controls: tuple[ControlRun, ...]
    below_scale: bool = False
    reproduces_claim: bool = False
    question: str = ""
    rule: Mapping[str, Any] = field(default_factory=dict)
    axis: str = ""
    scale_reached: int = 0
    claim_scale: int = 0
    adequacy: Adequacy | None = None
    residual_class: str | None = None
    so_far: Mapping[str, Any] | None = None
    flags: tuple[str, ...] = ()
    failure: str = ""
    comparison: bool = False
    weighs: bool = True

    @property
    def outcome(self) -> Outcome:
        """What the probe says about the dispute, after its controls."""
        return self.finding.outcome

    @property
    def reason(self) -> Reason | None:
        """The reason, where the outcome is not a decision."""
        return self.finding.reason

    @property
    def latest(self) -> Evidence:
        """The evidence with the most data."""
        return self.evidence[-1]


@dataclass(frozen=True, slots=True)
class RegistrationRecord:
    """One registration of the same claim and dispute in this ledger."""

    leaf: str
    registration: str
    time: str
    exploratory: bool
    changed: tuple[str, ...]
    ended: str


@dataclass(frozen=True, slots=True)
class LedgerRecord:
    """Where the run stands in the ledger (leaf hashes) and the ledger's head after it.

    `witness` names who cosigned a checkpoint between the registration and its first evidence, no later than that
    evidence says it was written; "" where nobody is known to have.
    """

    url: str
    registration: str
    evidence: tuple[str, ...]
    ruling: str
    size: int
    root: str
    witness: str = ""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A run of one case, complete.

    `settings` are the parameters' values in this run, `code_sha256` the hash of the case's files other than case.toml.
    `elsewhere` are sentences on runs that were made elsewhere, which stand first in every report; () where none were.
    """

    case: str
    folder: str
    paper: Paper
    claim: Claim
    claim_sha256: str
    quote_sha256: str
    dispute: Dispute
    dispute_id: str
    premises: tuple[Premise, ...]
    registration: str
    ordinal: int
    registrations: tuple[RegistrationRecord, ...]
    exploratory: bool
    overrides: Mapping[str, Any]
    probes: tuple[ProbeResult, ...]
    parts: Mapping[str, PartRuling]
    ruling: CaseRuling
    verdict: VerdictFinding
    ledger: LedgerRecord
    seconds: float
    command: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    code_sha256: str = ""
    implementations: tuple[Implementation, ...] = ()
    priors: tuple[Prior, ...] = ()
    elsewhere: tuple[str, ...] = ()
