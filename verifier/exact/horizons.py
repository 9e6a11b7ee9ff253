"""What a horizon means, in words."""

from __future__ import annotations

from verifier.exact.answer import Horizon
from verifier.exact.known import Catch


def horizon_sentences(horizon: Horizon, *, energy: bool) -> list[str]:
    """Margin, forecasts, reach and what ended the stepping, one clause each, without full stops.

    `energy`: the forecasts are those of the energy bound (`Horizon` says which model each has).
    """
    found = []
    if horizon.margin is not None and horizon.margin_at is not None:
        whose = " of the selections that do not break the bound" if horizon.partly else ""
        found.append(f"smallest margin{whose} {horizon.margin:.4g} at t = {horizon.margin_at:,}")
    if horizon.predicted_crossing is not None and energy:
        crossed = f"the bound would be crossed at t = {horizon.predicted_crossing:,}"
        found.append(f"if the energy stayed as it is {crossed}")
        trend = "not within 10^15 steps" if horizon.trend_crossing is None else f"at t = {horizon.trend_crossing:,}"
        found.append(f"if it went on as over the second half of the run, {trend}; neither is a proof")
    elif horizon.predicted_crossing is not None:
        found.append(f"if it went on as it last did, the claim would break at t = {horizon.predicted_crossing:,}")
    if horizon.would_catch:
        found.append(_reach(horizon))
    if horizon.stopped_by not in ("horizon", "starts"):
        found.append(f"stopped by the {horizon.stopped_by}, before its horizon")
    return found


def _reach(horizon: Horizon) -> str:
    caught = [entry for entry in horizon.would_catch if entry[2]]
    missed = [entry for entry in horizon.would_catch if not entry[2]]
    parts = [f"{word} {_listed(some)}" for word, some in (("reaches", caught), ("does not reach", missed)) if some]
    return f"of the first failures known, a run to t = {horizon.t:,} {' and '.join(parts)}"


def _listed(entries: list[Catch]) -> str:
    items = [f"t = {step:,} ({name})" for name, step, _ in entries]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
