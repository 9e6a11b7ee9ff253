"""Measures of spread, with either number of degrees of freedom: the callable takes one float array."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from verifier.audits.catalogues.entry import INPUTS, Arguments, Catalogue, Entry, Floats, generator, uniform
from verifier.audits.space import Draw, Raw, Space


def _interquartile(x: Floats) -> float:
    high, low = np.percentile(x, [75, 25])
    return float(high - low)


ENTRIES = (
    Entry("std (ddof 0)", "√(Σ(x−x̄)²/n)", "population standard deviation", np.std, {"population std": 1}),
    Entry("std (ddof 1)", "√(Σ(x−x̄)²/(n−1))", "Bessel's correction", lambda x: np.std(x, ddof=1), {"sample std": 1}),
    Entry("variance (ddof 0)", "Σ(x−x̄)²/n", "population variance", np.var),
    Entry("variance (ddof 1)", "Σ(x−x̄)²/(n−1)", "Bessel's correction", lambda x: np.var(x, ddof=1)),
    Entry("sum of squares", "Σ(x−x̄)²", "second central moment times n", lambda x: np.var(x) * x.size),
    Entry(
        "standard error (ddof 0)",
        "√(Σ(x−x̄)²)/n",
        "std (ddof 0) / √n",
        lambda x: np.std(x) / np.sqrt(x.size),
        {"95 % half-width (ddof 0)": 1.959963984540054},
    ),
    Entry(
        "standard error (ddof 1)",
        "√(Σ(x−x̄)²/(n(n−1)))",
        "std (ddof 1) / √n",
        lambda x: np.std(x, ddof=1) / np.sqrt(x.size),
        {"SEM": 1, "95 % half-width (ddof 1)": 1.959963984540054},
    ),
    Entry("coefficient of variation (ddof 0)", "std (ddof 0) / x̄", "Pearson 1896", lambda x: np.std(x) / np.mean(x)),
    Entry(
        "coefficient of variation (ddof 1)",
        "std (ddof 1) / x̄",
        "Pearson 1896",
        lambda x: np.std(x, ddof=1) / np.mean(x),
    ),
    Entry("mean absolute deviation", "Σ|x−x̄|/n", "first absolute moment", lambda x: np.mean(np.abs(x - np.mean(x)))),
    Entry(
        "median absolute deviation",
        "median|x − median x|",
        "Hampel 1974",
        lambda x: np.median(np.abs(x - np.median(x))),
        {"MAD scaled to the normal": 1.482602218505602},
    ),
    Entry("range", "max x − min x", "order statistics", lambda x: np.max(x) - np.min(x), {"half range": 0.5}),
    Entry("interquartile range", "x_(75 %) − x_(25 %)", "linear interpolation", _interquartile),
    Entry("root mean square", "√(Σx²/n)", "not centred", lambda x: np.sqrt(np.mean(x * x))),
)


def _generic() -> tuple[Arguments, ...]:
    rng = generator("std")
    return tuple((uniform(rng, 0.5, 9.5, count=3 + index),) for index in range(INPUTS))


def _raw(draw: Draw, *, count: int) -> Raw:
    return (tuple(1 + draw(8) for _ in range(count)),)


def _arguments(raw: Raw) -> tuple[Any, ...]:
    return (np.array(raw[0], dtype=np.float64),)


def complaint(arguments: Arguments) -> str | None:
    """What makes an input no sample with spread; None where nothing does."""
    if len(arguments) != 1:
        return "it is not one array"
    x = np.asarray(arguments[0])
    if x.ndim != 1 or x.size < 2 or not np.issubdtype(x.dtype, np.number) or not np.all(np.isfinite(x)):
        return "it is not one array of at least two finite numbers"
    return "all its numbers are equal" if np.ptp(x) == 0 else None


STD = Catalogue(
    name="std",
    takes="one float64 array",
    entries=ENTRIES,
    generic=_generic,
    space=Space(("x",), tuple(partial(_raw, count=count) for count in range(2, 6)), _arguments),
    complaint=complaint,
    ambiguous={"std": "say std (ddof 0) or std (ddof 1)", "variance": "say variance (ddof 0) or variance (ddof 1)"},
)
