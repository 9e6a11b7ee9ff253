"""`verifier plan`: what would run, at what cost, with what power."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.options import command_line, executor_option, exploratory_options, ledger_option, trust_option
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.audits.probe import AuditProbe
    from verifier.casefile import Case
    from verifier.engine.bound_plan import BoundPlan
    from verifier.engine.plan import Noise, ProbePlan
    from verifier.engine.replication_plan import ReplicationPlan
    from verifier.exact.probe import ExactProbe
    from verifier.ledger import Ledger
    from verifier.stats.margin_statistics import MarginPower
    from verifier.stats.power import Power
    from verifier.sweeps.replication import ReplicationProbe


@click.command()
@click.argument("case")
@ledger_option
@executor_option
@exploratory_options
@click.option("--pilot", is_flag=True, help="Measure sd and seconds first, on streams that never become evidence.")
@trust_option
@with_output
def plan(
    output: Output, case: str, ledger_url: str, executor_name: str, pilot: bool, trust: bool, **changes: Any
) -> None:
    """Show what CASE would run, at what cost and with what power. Runs nothing but a pilot, if asked."""
    from verifier.casefile import load, override
    from verifier.engine.bound_plan import plan_bound
    from verifier.engine.plan import PILOT_SOURCE, plan_probe, stated_noise, stored_noise
    from verifier.engine.register import same_dispute
    from verifier.engine.replication_plan import plan_replication
    from verifier.exact.probe import ExactProbe
    from verifier.ledger import Ledger
    from verifier.model.identity import discount

    loaded = override(load(case), scale=changes["scale"], set_=changes["set_"])
    if pilot and not (loaded.sweeps or any(not probe.file for probe in loaded.replications)):
        raise BadInput(
            "a pilot measures what a sweep or a replication draws, and this case draws nothing",
            where=str(loaded.folder),
            mend="leave --pilot out",
        )
    measured, replicated = _pilot(loaded, executor_name, trust=trust) if pilot else ({}, {})
    with Ledger.open(ledger_url, create=True) as ledger:
        earlier = same_dispute(loaded, ledger.entries) if ledger.exists() else []
        registered = [entry.content["registration"] for entry in earlier]
        noises = {
            probe.name: measured.get(probe.name) or _stored(loaded, ledger, probe, stored_noise) or stated_noise(probe)
            for probe in loaded.sweeps
        }
    known = loaded.registration in registered
    ordinal = registered.index(loaded.registration) + 1 if known else len(registered) + 1
    factor = discount(ordinal)
    plans = [plan_probe(probe, noises[probe.name], discount=factor) for probe in loaded.sweeps]
    exact = [probe for probe in loaded.probes if isinstance(probe, ExactProbe)]
    replications = [
        plan_replication(replicated[probe.name], discount=factor, source=PILOT_SOURCE)
        if probe.name in replicated
        else plan_replication(probe, discount=factor)
        for probe in loaded.replications
    ]
    bounds = [plan_bound(probe, discount=factor) for probe in loaded.bounds]
    for entry in plans:
        output.show(_table(entry))
    opening = _registration_sentence(loaded, ordinal, factor, known=known)
    output.result(
        "verifier/plan/1",
        " ".join(
            [
                opening,
                *map(_sentence, plans),
                *map(_bound_sentence, bounds),
                *map(_exact_sentence, exact),
                *map(_audit_sentence, loaded.audits),
                *map(_replication_sentence, replications),
            ]
        ),
        next_=_next(loaded, plans, replications, ledger_url),
        registration=loaded.registration,
        registered=known,
        ordinal=ordinal,
        discount=factor,
        exploratory=loaded.exploratory,
        probes=[
            *map(_fields, plans),
            *map(_bound_fields, bounds),
            *map(_exact_fields, exact),
            *map(_audit_fields, loaded.audits),
            *map(_replication_fields, replications),
        ],
    )


def _stored(case: Case, ledger: Ledger, probe: Any, stored_noise: Any) -> Noise | None:
    noise: Noise | None = stored_noise(case, probe, ledger.entries) if ledger.exists() else None
    return noise


def _pilot(case: Case, executor_name: str, *, trust: bool) -> tuple[dict[str, Noise], dict[str, ReplicationProbe]]:
    """What a few replicates show: of each sweep its noise, of each replication the probe with the noise in it."""
    from verifier.cli.progress import SweepProgress
    from verifier.cli.trust import ensure_trusted
    from verifier.engine.plan import PILOT_REPLICATES, pilot_noise
    from verifier.engine.replication_pilot import pilot_jobs, piloted
    from verifier.sweeps.executors import open_executor

    executor = open_executor(executor_name)
    ensure_trusted(case, trust=trust)
    try:
        with SweepProgress() as progress:
            noises, replicated = {}, {}
            for probe in case.sweeps:
                progress.begin([f"pilot of {probe.name}"], [PILOT_REPLICATES * len(probe.scales)])
                noises[probe.name] = pilot_noise(case, probe, executor=executor, progress=progress)
            for drawn in case.replications:
                if not drawn.file:
                    progress.begin([f"pilot of {drawn.name}"], [pilot_jobs(drawn)])
                    replicated[drawn.name] = piloted(case, drawn, executor=executor, progress=progress)
            return noises, replicated
    finally:
        executor.close()


def _registration_sentence(case: Case, ordinal: int, discount: float, *, known: bool) -> str:
    which = "is registered" if known else "would be registered"
    return (
        f"{case.name} {which} as {case.registration[:12]}, number {ordinal} for this claim and dispute: its E-values "
        f"count {discount:.3g} times."
    )


def _next(case: Case, plans: list[ProbePlan], replications: list[ReplicationPlan], ledger_url: str) -> list[str]:
    unknown = any(entry.enough_scales and not entry.powers for entry in plans)
    unknown |= any(entry.lacks_sd for entry in replications)
    flags = ["--pilot"] if unknown else []
    return [command_line("plan" if unknown else "run", case, ledger_url, *flags)]


def _sentence(entry: ProbePlan) -> str:
    from verifier.stats.growth_rule import LEAST_SCALES

    rule, scales = entry.probe.rule, entry.probe.scales
    inner = "".join(f" of {count:,} {name}" for name, count in rule.replicate.items())
    text = [
        (
            f"{entry.probe.name}: {len(scales)} scales to {entry.probe.axis} = {scales[-1]}, at most {rule.maximum} "
            f"replicates{inner}, looks at {', '.join(map(str, rule.looks))}; {entry.units:,} units and "
            f"{entry.control_units:,} of its {len(entry.probe.controls)} controls."
        )
    ]
    if entry.seconds is not None and entry.seconds_with_controls is not None:
        cores = len(os.sched_getaffinity(0))
        text.append(
            f"It costs at most {_cost(entry.seconds)} CPU s, {_cost(entry.seconds_with_controls)} with controls, "
            f"on {cores} cores here; a decision ends it earlier."
        )
    if not entry.enough_scales:
        text.append(f"This design cannot decide: {len(scales)} scales ({LEAST_SCALES} needed).")
    elif not entry.powers:
        text.append("Its power is unknown: no sd of a replicate is stated; measure with --pilot.")
    else:
        at_alleged, at_none = entry.powers
        if entry.probe.stages:
            text.append(f"Of its {len(entry.probe.stages)} stages, the last alone:")
        text.append(
            f"If the alleged slope {at_alleged.slope:g} is true it ends {_outcomes(at_alleged)}, after "
            f"{at_alleged.mean_n:.0f} replicates on average; if there is none, {_outcomes(at_none)}, after "
            f"{at_none.mean_n:.0f} (simulated, {at_alleged.runs:,} runs each, sd {entry.noise.source})."
        )
        if entry.needed is not None:
            text.append(f"{entry.needed} replicates decide nine times in ten.")
        if scales[-1] < entry.probe.claim_scale:
            text.append(
                f"The largest scale is below the claim's {entry.probe.axis} = {entry.probe.claim_scale}: "
                "it cannot decide against the dispute."
            )
    return " ".join(text)


def _bound_sentence(entry: BoundPlan) -> str:
    probe = entry.probe
    looks = f"looks at {', '.join(map(str, probe.rule.looks))} replicates" if probe.rule.looks else "each computed once"
    text = (
        f"{probe.name}: {entry.instances:,} instances, {looks}; {entry.units:,} units at most and "
        f"{entry.control_units:,} of its {len(probe.controls)} controls."
    )
    if not entry.chances:
        return f"{text} They are a whole class, computed without chance."
    unit = "by {:g} sd" if probe.rule.looks else "in a share {:g} of instances"
    found = ", ".join(f"{unit.format(at)} in {chance:.1%}" for at, chance in entry.chances.items())
    return f"{text} It finds an excess {found} of runs; passes are never evidence against the dispute."


def _bound_fields(entry: BoundPlan) -> dict[str, Any]:
    probe = entry.probe
    return {
        "name": probe.name,
        "rule": probe.rule.kind,
        "scale": {probe.axis: list(probe.scales)},
        "instances": entry.instances,
        "looks": list(probe.rule.looks),
        "units": entry.units,
        "control_units": entry.control_units,
        "chances": [{"excess" if probe.rule.looks else "share": at, "found": p} for at, p in entry.chances.items()],
    }


def _exact_sentence(probe: ExactProbe) -> str:
    return (
        f"{probe.name}: exact work on {probe.problem} and {len(probe.controls)} controls, at most {probe.horizon:,} "
        "steps where nothing is proved for all of them; there is no chance in it, so no power to state."
    )


def _exact_fields(probe: ExactProbe) -> dict[str, Any]:
    return {
        "name": probe.name,
        "problem": probe.problem,
        "horizon": probe.horizon,
        "controls": [control.target for control in probe.controls],
    }


def _audit_sentence(probe: AuditProbe) -> str:
    first = ", before anything else" if probe.comparison else ""
    return (
        f"{probe.name}: a basis audit of {probe.subject} and {len(probe.controls)} controls{first}; there is no chance "
        "in it, so no power to state."
    )


def _audit_fields(probe: AuditProbe) -> dict[str, Any]:
    return {"name": probe.name, "audits": probe.subject, "controls": [control.target for control in probe.controls]}


def _replication_sentence(entry: ReplicationPlan) -> str:
    probe, rule = entry.probe, entry.probe.rule
    if probe.file:
        return f"{probe.name}: reads {probe.file} and {len(probe.controls)} controls; what it finds decides nothing."
    inner = "".join(f" of {count:,} {name}" for name, count in probe.replicate.items())
    looks = ", ".join(map(str, rule.looks))
    text = [
        (
            f"{probe.name}: at most {entry.replicates:,} {rule.unit}{inner}, looks at {looks}; "
            f"{entry.control_replicates:,} more of its {len(probe.controls)} controls."
        )
    ]
    if entry.seconds is not None:
        text.append(f"It costs at most {_cost(entry.seconds)} CPU s without controls; a decision ends it earlier.")
    if not entry.powers:
        measure = ", or measure with --pilot" if entry.lacks_sd else ""
        text.append(f"Its power is unknown: state planned = {{ sd = ... }}{measure}.")
    else:
        claimed, alleged = entry.powers
        text.append(
            f"If the claim is right it ends {_outcomes(claimed)}, after {claimed.mean_n:.0f} {rule.unit} on average; "
            f"if the dispute is, {_outcomes(alleged)}, after {alleged.mean_n:.0f} "
            f"({claimed.method}{_sd_words(entry)})."
        )
    if entry.needed:
        needed = " and ".join(f"{count:,} {unit}" for unit, count in entry.needed.items())
        text.append(f"{needed} decide nine times in ten.")
    return " ".join(text)


def _sd_words(entry: ReplicationPlan) -> str:
    """The sd that the chances rest on and where it is from; nothing where they need none."""
    from verifier.stats.bounded_design import CountRule, ProportionRule

    sd = entry.probe.planned_sd
    return (
        ""
        if sd is None or isinstance(entry.probe.rule, CountRule | ProportionRule)
        else f", sd {sd:.3g} {entry.source}"
    )


def _replication_fields(entry: ReplicationPlan) -> dict[str, Any]:
    return {
        "name": entry.probe.name,
        "file": entry.probe.file,
        "rule": entry.probe.rule.kind,
        "looks": list(entry.probe.rule.looks),
        "maximum": entry.replicates,
        "replicate": dict(entry.probe.replicate),
        "control_replicates": entry.control_replicates,
        "cpu_seconds": entry.seconds,
        "sd": entry.probe.planned_sd,
        "sd_source": entry.source,
        "power": [
            {
                "effect": power.effect,
                "outcomes": {str(outcome): share for outcome, share in power.outcomes.items()},
                "mean_n": power.mean_n,
                "runs": power.runs,
                "method": power.method,
            }
            for power in entry.powers
        ],
        "needed": dict(entry.needed),
    }


def _cost(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 1 else "1"  # a figure below a second is none to plan by


def _outcomes(power: Power | MarginPower) -> str:
    return ", ".join(f"{outcome} in {share:.1%}" for outcome, share in power.outcomes.items())


def _table(entry: ProbePlan) -> Any:
    from rich.table import Table

    from verifier.stats.adequacy import interpolate_sd

    table = Table(entry.probe.axis, "replicates at most", "sd of a replicate", "CPU seconds at most", box=None)
    known = entry.noise.sd
    sds = interpolate_sd(entry.probe.scales, known) if known else [None] * len(entry.probe.scales)
    for scale, sd in zip(entry.probe.scales, sds, strict=True):
        each = entry.noise.seconds.get(scale)
        cost = "–" if each is None else f"{each * entry.probe.rule.replicate_size * entry.probe.rule.maximum:.1f}"
        table.add_row(str(scale), str(entry.probe.rule.maximum), "–" if sd is None else f"{sd:.3f}", cost)
    return table


def _fields(entry: ProbePlan) -> dict[str, Any]:
    return {
        "name": entry.probe.name,
        "scale": {entry.probe.axis: list(entry.probe.scales)},
        "looks": list(entry.probe.rule.looks),
        "maximum": entry.probe.rule.maximum,
        "replicate": dict(entry.probe.rule.replicate),
        "units": entry.units,
        "control_units": entry.control_units,
        "cpu_seconds": entry.seconds,
        "cpu_seconds_with_controls": entry.seconds_with_controls,
        "sd": {str(scale): sd for scale, sd in entry.noise.sd.items()},
        "sd_source": entry.noise.source,
        "power": [
            {
                "slope": power.slope,
                "outcomes": {str(outcome): share for outcome, share in power.outcomes.items()},
                "mean_n": power.mean_n,
                "runs": power.runs,
                "method": power.method,
            }
            for power in entry.powers
        ],
        "needed_replicates": entry.needed,
        "slope_test_misses": entry.misses,
    }
