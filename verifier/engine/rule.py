"""From what the probes found to a ruling and a verdict: applies the tables of the model to a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verifier.casefile import Case
from verifier.model.results import ProbeResult
from verifier.model.rulings import CaseRuling, PartRuling, ProbeFinding, rule_case, rule_part
from verifier.model.verdicts import Circumstances, VerdictFinding, verdict_of


def rule_parts(case: Case, probes: Sequence[ProbeResult]) -> dict[str, PartRuling]:
    """The ruling on every part of the claim that a probe tests, in the claim's order."""
    rulings = {}
    for part in case.claim.parts:
        findings = [ProbeFinding(p.name, p.finding, p.required) for p in probes if part.id in p.parts and p.weighs]
        if findings:
            rulings[part.id] = rule_part(findings)
    return rulings


def decide(case: Case, probes: Sequence[ProbeResult]) -> tuple[Mapping[str, PartRuling], CaseRuling, VerdictFinding]:
    """The rulings per part, the ruling over the disputed parts, and the verdict on the claim."""
    parts = rule_parts(case, probes)
    ruling = rule_case({part: parts[part] for part in parts if part in case.dispute.parts})
    fixed_by = {name for part in ruling.parts for name in parts[part].fixed_by}
    fixing = [probe for probe in probes if probe.name in fixed_by]
    verdict = verdict_of(
        Circumstances(
            ruling=ruling.ruling,
            parameters_differ=case.parameters_differ,
            below_scale=all(probe.below_scale for probe in fixing),
            premise_unchecked=any(premise.checked == "no" for premise in case.premises),
            reproduces_claim=any(probe.reproduces_claim for probe in fixing),
            reason=ruling.reason,
            parts=ruling.parts,
        )
    )
    return parts, ruling, verdict
