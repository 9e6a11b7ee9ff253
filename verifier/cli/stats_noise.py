"""The noise that a table shows, as `stats plan` takes it: of the noisiest team where there are several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verifier.cli.stats_flags import replicate_values
from verifier.cli.stats_samples import Sample


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Options of `stats plan` that say it, and its size.

    sd: of one replicate, the root mean square over scales; 0 for outcomes, whose noise the rule knows. team: whose it
    is, an index into the samples.
    """

    options: tuple[str, ...]
    sd: float
    team: int = 0


def largest_noise(rule: Any, samples: Sequence[Sample]) -> Noise | None:
    """The noise of the sample with the largest sd, so that a plan is not made with a luckier one's.

    None where no sample shows any: fewer than two replicates, or values that do not vary.
    """
    seen = [(i, noise) for i, data in enumerate(samples) if (noise := noise_of(rule, data)) is not None]
    if not seen:
        return None
    team, noise = max(seen, key=lambda one: one[1].sd)
    return Noise(options=noise.options, sd=noise.sd, team=team)


def noise_of(rule: Any, data: Sample) -> Noise | None:
    """The noise of one sample. None where it shows none."""
    kind, n = rule.kind, data.n
    if kind in {"proportion", "count"}:
        return Noise(options=(), sd=0.0)
    if n < 2:
        return None
    if data.scales:
        rows = data.left if kind == "growth" else np.log(np.where(data.left > 0, data.left, np.nan))
        sds = rows.std(axis=1, ddof=1)
        if not np.all(sds > 0) or len(data.scales) < 2:
            return None
        pairs = ",".join(f"{k}={sd:.3g}" for k, sd in zip(data.scales, sds, strict=True))
        scale = f"{data.axis}={','.join(map(str, data.scales))}"
        options = ("--scale", scale, "--replicates", str(n), "--sd", pairs)
        return Noise(options=options, sd=float(np.sqrt(np.mean(np.square(sds)))))
    values = replicate_values(rule, data)
    if values is None or not np.ptp(values) > 0:
        return None
    sd = float(values.std(ddof=1)) / (math.sqrt(2) if kind == "ratio" else 1.0)
    return Noise(options=("--sd", f"{sd:.3g}"), sd=sd)
