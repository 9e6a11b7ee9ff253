"""A case as loaded: what was registered, and what the command line changed for this run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from verifier.audits.probe import AuditProbe
from verifier.casefile.folder import hashes
from verifier.exact.probe import ExactProbe
from verifier.model.canonical import canonical_sha256
from verifier.model.case import Claim, Dispute, Implementation, Paper, Parameter, Premise, Prior, Value
from verifier.model.identity import claim_sha256, dispute_id, quote_sha256, registration_sha256
from verifier.sweeps.bound import BoundProbe
from verifier.sweeps.probe import SweepProbe
from verifier.sweeps.replication import ReplicationProbe

Probe = SweepProbe | BoundProbe | ExactProbe | AuditProbe | ReplicationProbe
"""Any probe."""


@dataclass(frozen=True)
class Case:
    """One dispute on trial.

    `table` is case.toml as parsed, `files` the folder's other files (POSIX path -> bytes), `settings` the values of
    the parameters in this run, `overrides` what differs from the registered case (empty in a plain run).
    """

    folder: Path
    written_by: str
    paper: Paper
    claim: Claim
    dispute: Dispute
    premises: tuple[Premise, ...]
    implementations: tuple[Implementation, ...]
    parameters: tuple[Parameter, ...]
    probes: tuple[Probe, ...]
    priors: tuple[Prior, ...]
    settings: Mapping[str, Value]
    overrides: Mapping[str, Any]
    table: Mapping[str, Any] = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @property
    def sweeps(self) -> tuple[SweepProbe, ...]:
        """The probes that are sweeps along scales."""
        return tuple(probe for probe in self.probes if isinstance(probe, SweepProbe))

    @property
    def bounds(self) -> tuple[BoundProbe, ...]:
        """The probes that are sweeps over instances."""
        return tuple(probe for probe in self.probes if isinstance(probe, BoundProbe))

    @property
    def replications(self) -> tuple[ReplicationProbe, ...]:
        """The probes that are replications."""
        return tuple(probe for probe in self.probes if isinstance(probe, ReplicationProbe))

    @property
    def audits(self) -> tuple[AuditProbe, ...]:
        """The probes that are audits."""
        return tuple(probe for probe in self.probes if isinstance(probe, AuditProbe))

    @property
    def defaults(self) -> dict[str, Value]:
        """Parameter -> registered default."""
        return {parameter.name: parameter.default for parameter in self.parameters}

    @property
    def exploratory(self) -> bool:
        """Whether scales or parameters differ from the registered case."""
        return bool(self.overrides)

    @property
    def parameters_differ(self) -> bool:
        """Whether a parameter differs from its registered default."""
        return dict(self.settings) != self.defaults

    @cached_property
    def file_hashes(self) -> dict[str, str]:
        """POSIX path -> SHA-256 of the folder's files other than case.toml."""
        return hashes(self.files)

    @cached_property
    def code_sha256(self) -> str:
        """The hash of everything that a worker may import or read."""
        return canonical_sha256(self.file_hashes)

    @cached_property
    def registration(self) -> str:
        """The registration's hash: rule, scales, thresholds, parameters and code."""
        return registration_sha256(self.table, overrides=self.overrides, files=self.file_hashes)

    @cached_property
    def claim_sha256(self) -> str:
        """The claim's identity."""
        return claim_sha256(self.claim)

    @cached_property
    def quote_sha256(self) -> str:
        """The identity of the paper's own words."""
        return quote_sha256(self.claim)

    @cached_property
    def dispute_id(self) -> str:
        """The dispute's identity."""
        return dispute_id(self.paper, self.claim, self.dispute)
