"""Hand-built results for the report's tests: what the engine could hand over, one ruling each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from verifier.model.answers import AGAINST, FOR, NO_ANSWER, Finding, invalid, undecided, underpowered
from verifier.model.case import Claim, Control, Dispute, Expectation, LaterVersion, Paper, Part, Premise
from verifier.model.controls import ControlResult
from verifier.model.outcomes import Outcome, Reason
from verifier.model.results import (
    Adequacy,
    CaseResult,
    ControlRun,
    Evidence,
    LedgerRecord,
    Point,
    ProbeResult,
    RegistrationRecord,
    UnitsRecord,
)
from verifier.model.rulings import PartRuling, ProbeFinding, rule_case, rule_part
from verifier.model.verdicts import Circumstances, verdict_of

SCALES = (32, 64, 128, 256, 512, 1024)
EXACT = Fraction(112417351, 86643648)  # c(32) of the paging case

RULE = {
    "kind": "growth",
    "delta": Fraction(19, 100),
    "alternative": Fraction(38, 100),
    "looks": (10, 20, 40, 80),
    "law": "log",
    "threshold": Fraction(10_000),
    "noise": "block",
    "replicate": {"phases": 100},
    "gamma0": Fraction(1, 2),
    "floor": Fraction(0),
    "extrapolate": True,
    "variance": {},
    "minimum_n": 6,
}

RESIDUAL_CLASS = (
    "bounded means: up to K = 1024, a constant plus non-negative multiples of -k^-g with 0.5 <= g <= 4, -1/ln k, "
    "-1/ln^2 k and -1/ln^3 k; the smallest slope of interest is 0.19 per ln k"
)


def slope(estimate: float, stderr: float, sigma: float | None = 9.4) -> dict[str, Any]:
    return {
        "estimate": estimate,
        "stderr": stderr,
        "interval": (estimate - 5 * stderr, estimate + 5 * stderr),
        "sigma_fixed_n": sigma,
    }


def statistics(**changes: Any) -> dict[str, Any]:
    """The growth statistics of a run that ended for the dispute, as the engine writes them (tuples included)."""
    return {
        "n": 40,
        "looks_made": (10, 20, 40),
        "stopped_by": "decision",
        "discount": 0.6079271018540267,
        "slope_cone": slope(0.341, 0.021, 6.1),
        "slope_up": slope(0.372, 0.018, 8.0),
        "slope_full": slope(0.3682, 0.0091),
        "e_grow": {"current": 2.4e6, "sup": 2.4e6, "at_stop": 2.4e6},
        "e_flat": {"current": 1.2e-5, "sup": 1.0, "at_stop": 1.2e-5},
        "e_half": {"current": 3e-9, "sup": 1.0, "at_stop": 3e-9},
        "sigma_anytime": 4.93,
        "sigma_discounted": 4.83,
        "misfit": {"chi2": 2.81, "df": 3, "p": 0.42},
        "inflation": 1.0,
        "extrapolation": {"applied": True, "p": 0.71, "why_not": ""},
        "contrast_l1": 3.805,
        "classical": {"wls": {"slope": 0.3679, "stderr": 0.0088}, "hc3": {"slope": 0.3679, "stderr": 0.0102}},
        **changes,
    }


def exact_value(k: int) -> Fraction:
    return EXACT + Fraction(255, 1000) * round(math.log2(k / 32))


def growing_points(scales: Sequence[int] = SCALES, *, n: int = 40, exact: bool = True) -> tuple[Point, ...]:
    return tuple(
        Point(
            {"k": k}, float(exact_value(k)) + (0.011 if i % 2 else -0.009), 0.03, n, exact_value(k) if exact else None
        )
        for i, k in enumerate(scales)
    )


def flat_points(level: float, scales: Sequence[int] = SCALES, *, n: int = 40) -> tuple[Point, ...]:
    return tuple(Point({"k": k}, level + 0.01 * (i % 3 - 1), 0.02, n) for i, k in enumerate(scales))


def control(
    target: str,
    expect: Expectation,
    answer: str,
    outcome: Outcome | None,
    points: tuple[Point, ...],
    *,
    summary: str = "as known",
) -> ControlRun:
    result = ControlResult(Control(f"reimplementation:{target}", expect), answer, outcome, summary)
    return ControlRun(result, points, UnitsRecord(len(points) * 40, "c" * 64))


def named(outcome: Outcome) -> Expectation:
    return Expectation("named", outcome.value)


def controls() -> tuple[ControlRun, ...]:
    """All of them pass; every kind of expectation occurs, and two lie on top of each other."""
    no_gate = Expectation("equals", "reimplementation:no_gate")
    return (
        control("online_min", named(Outcome.AGAINST_DISPUTE), "BOUNDED", Outcome.AGAINST_DISPUTE, flat_points(0.0)),
        control("no_gate", Expectation("named", "BOUNDED"), "BOUNDED", Outcome.AGAINST_DISPUTE, flat_points(0.98)),
        control("refresh_every_request", no_gate, "AGREES", None, flat_points(0.98)),
        control(
            "perfect_predictions",
            Expectation("values", "reimplementation:exact_perfect"),
            "AGREES",
            None,
            flat_points(-0.5),
        ),
        control("refresh_only_on_pass", named(Outcome.FOR_DISPUTE), "GROWS", Outcome.FOR_DISPUTE, growing_points()),
    )


def probe(**changes: Any) -> ProbeResult:
    fields: dict[str, Any] = {
        "name": "additive-term",
        "kind": "sweep",
        "parts": ("a",),
        "about": "claim",
        "required": True,
        "answer": "GROWS",
        "own": FOR,
        "finding": FOR,
        "summary": "it grows, faster than any registered bounded function allows: slope 0.368 per ln k",
        "rule": RULE,
        "axis": "k",
        "scale_reached": 1024,
        "claim_scale": 1024,
        "below_scale": False,
        "reproduces_claim": True,
        "evidence": (Evidence("decision", statistics(), growing_points(), UnitsRecord(240, "d" * 64)),),
        "controls": controls(),
        "adequacy": Adequacy(adequate=True, needed={"k": 1024, "replicates": 57, "phases": 5700}),
        "residual_class": RESIDUAL_CLASS,
    }
    return ProbeResult(**{**fields, **changes})


PAPER = Paper(
    openreview="ESa07RwpVr",
    arxiv="2606.01342v1",
    title="Towards Optimal Robustness in Learning-Augmented Paging",
    source_sha256="",
    later_versions=(LaterVersion("2606.01342v3", "not-read"),),
)

CLAIM = Claim(
    quote="the best-possible robustness up to an additive constant for learning-augmented paging: H_k + O(1)",
    text="RPB-OM is (H_k + O(1))-robust.",
    locator="abstract",
    kind="theorem",
    parts=(Part("a", "the additive term is O(1)"),),
)

DISPUTE = Dispute(
    parts=("a",),
    text="The additive term grows like 0.38 ln k.",
    source={"kind": "logbook", "space": "owner/name", "revision": "", "page": ""},
    reported_by="organizers",
    alleged={"slope_per_ln_k": "0.38"},
    comparison="",
)

PREMISE = Premise("The simulated algorithm is the paper's.", "by-us", "the authors' public code")


def registration(ended: str = "UPHELD", **changes: Any) -> RegistrationRecord:
    fields: dict[str, Any] = {
        "leaf": "1" * 64,
        "registration": "2" * 64,
        "time": "2026-07-01T12:00:00Z",
        "exploratory": False,
        "changed": (),
        "ended": ended,
    }
    return RegistrationRecord(**{**fields, **changes})


def result(*probes: ProbeResult, **changes: Any) -> CaseResult:
    """A case whose ruling and verdict follow from its probes by the model's tables."""
    probes = probes or (probe(),)
    claim: Claim = changes.get("claim", CLAIM)
    premises: tuple[Premise, ...] = changes.get("premises", (PREMISE,))
    parts: Mapping[str, PartRuling] = {
        part.id: rule_part([ProbeFinding(p.name, p.finding, p.required) for p in probes if part.id in p.parts])
        for part in claim.parts
        if any(part.id in p.parts for p in probes)
    }
    ruling = rule_case(parts)
    fixing = [p for p in probes if any(p.name in parts[part].fixed_by for part in ruling.parts)]
    verdict = verdict_of(
        Circumstances(
            ruling=ruling.ruling,
            below_scale=all(p.below_scale for p in fixing),
            premise_unchecked=any(premise.checked == "no" for premise in premises),
            reproduces_claim=any(p.reproduces_claim for p in fixing),
            reason=ruling.reason,
            parts=ruling.parts,
        )
    )
    fields: dict[str, Any] = {
        "case": "paging",
        "folder": "cases/paging",
        "paper": PAPER,
        "claim": claim,
        "claim_sha256": "3" * 64,
        "quote_sha256": "4" * 64,
        "dispute": DISPUTE,
        "dispute_id": "5" * 64,
        "premises": premises,
        "registration": "2" * 64,
        "ordinal": 1,
        "registrations": (registration(ruling.ruling.value),),
        "exploratory": False,
        "overrides": {},
        "probes": probes,
        "parts": parts,
        "ruling": ruling,
        "verdict": verdict,
        "ledger": LedgerRecord("demo/verifier.db", "6" * 64, ("7" * 64,), "8" * 64, 3, "9" * 64),
        "seconds": 43.2,
        "command": "verifier run cases/paging --ledger demo/verifier.db",
    }
    return CaseResult(**{**fields, **changes})


def upheld(**changes: Any) -> CaseResult:
    return result(**changes)


def toy() -> CaseResult:
    return result(
        probe(below_scale=True, scale_reached=128), exploratory=True, overrides={"scale": {"k": [8, 16, 128]}}
    )


def dismissed(*, reproduces: bool = True) -> CaseResult:
    numbers = statistics(
        slope_full=slope(0.004, 0.008, 0.4),
        slope_cone=slope(-0.01, 0.03, -0.3),
        e_grow={"current": 0.02, "sup": 1.4, "at_stop": 0.02},
        e_flat={"current": 8.1e7, "sup": 8.1e7, "at_stop": 8.1e7},
        sigma_anytime=0.0,
        sigma_discounted=0.0,
    )
    return result(
        probe(
            answer="BOUNDED",
            own=AGAINST,
            finding=AGAINST,
            summary="its slope is below the smallest slope of interest up to the claim's own scale",
            reproduces_claim=reproduces,
            evidence=(Evidence("decision", numbers, flat_points(0.98), UnitsRecord(240, "d" * 64)),),
        )
    )


def short() -> CaseResult:
    """UNDERPOWERED: too small to decide, and says what would."""
    finding = underpowered(Reason.HORIZON)
    numbers = dict.fromkeys(statistics()) | {
        "n": 80,
        "looks_made": (10, 20, 40, 80),
        "stopped_by": "maximum-n",
        "discount": 0.15198,
        "slope_full": slope(0.11, 0.06, 1.8),
        "slope_cone": {**slope(0.2, 0.3, 0.6), "interval": None},
        "inflation": 1.0,
    }
    return result(
        probe(
            answer="NEITHER_INADEQUATE",
            own=finding,
            finding=finding,
            summary="this design could not be expected to decide: scales up to k = 1024 with 57 replicates",
            scale_reached=10,
            below_scale=True,
            evidence=(
                Evidence(
                    "maximum", numbers, growing_points((4, 5, 6, 7, 8, 10), exact=False), UnitsRecord(480, "d" * 64)
                ),
            ),
            adequacy=Adequacy(adequate=False, needed={"k": 1024, "replicates": 57, "phases": 5700}),
            so_far={
                "estimate": 0.11,
                "interval": (-0.1, 0.3),
                "sup_e_grow": 1.2,
                "sup_e_flat": 3.4,
                "share_of_budget": 1.0,
                "note": "not a ruling",
            },
        ),
        ordinal=2,
        registrations=(registration(), registration("UNDERPOWERED", exploratory=True, changed=("--scale.k",))),
        exploratory=True,
        overrides={"scale": {"k": [4, 5, 6, 7, 8, 10]}},
    )


TRACEBACK = 'Traceback (most recent call last):\n  File "r.py", line 1\nZeroDivisionError: 1/0'


def silent(traceback: str = TRACEBACK) -> CaseResult:
    """NO_ANSWER: a unit raised."""
    return result(
        probe(
            answer="NO_ANSWER",
            own=NO_ANSWER,
            finding=NO_ANSWER,
            summary="the unit k = 64, replicate 3 raised ZeroDivisionError",
            evidence=(),
            controls=(),
            adequacy=None,
            residual_class=None,
            failure=traceback,
        )
    )


def control_failed() -> CaseResult:
    """INVALID: a planted wrong control."""
    wrong = control("online_min", named(Outcome.FOR_DISPUTE), "BOUNDED", Outcome.AGAINST_DISPUTE, flat_points(0.0))
    return result(
        probe(
            finding=invalid(Reason.CONTROL_FAILED),
            controls=(wrong, *controls()[1:]),
            summary="the control reimplementation:online_min should give FOR_DISPUTE and gave BOUNDED (as known)",
        )
    )


def conflict() -> CaseResult:
    """UNDECIDED: two probes of one part contradict each other."""
    return result(probe(), probe(name="second", own=AGAINST, finding=AGAINST, answer="BOUNDED"))


def open_for(reason: Reason, finding: Finding | None = None) -> CaseResult:
    """UNDECIDED for any reason."""
    found = finding or undecided(reason)
    return result(probe(answer="NEITHER", own=found, finding=found, summary=reason.sentence))


HOSTILE = (
    '<script>alert(1)</script> [red]x[/red] \x1b[31m\x07 \u202eevil & "quoted" $\\frac{1}{2}$ {{ 7*7 }}\n</blockquote>'
)


def hostile() -> CaseResult:
    """Every text that a stranger can choose is an attack on the reader's terminal or browser."""
    bad = probe(
        name=HOSTILE,
        summary=HOSTILE,
        answer=HOSTILE,
        residual_class=HOSTILE,
        failure=HOSTILE,
        controls=(
            control(
                HOSTILE, Expectation("named", HOSTILE), HOSTILE, Outcome.INVALID, flat_points(0.5), summary=HOSTILE
            ),
        ),
    )
    base = result(
        bad,
        paper=replace(PAPER, title=HOSTILE, openreview='"><img src=x onerror=alert(1)>', arxiv="javascript:alert(1)"),
        dispute=replace(
            DISPUTE, text=HOSTILE, source={"kind": HOSTILE, "url": "javascript:alert(1)"}, reported_by=HOSTILE
        ),
        premises=(Premise(HOSTILE, "no", HOSTILE),),
        command=f"verifier run {HOSTILE}",
        overrides={"set": {"variant": HOSTILE}},
        exploratory=True,
    )
    claim = replace(CLAIM, quote=HOSTILE, text=HOSTILE, locator=HOSTILE, parts=(Part("a", HOSTILE),))
    return replace(base, claim=claim, registrations=(registration(HOSTILE, changed=(HOSTILE,)),))


ALL = {
    "upheld": upheld,
    "toy": toy,
    "dismissed": dismissed,
    "short": short,
    "silent": silent,
    "control_failed": control_failed,
    "conflict": conflict,
}
