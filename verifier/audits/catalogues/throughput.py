"""Throughput of timed steps, and utilisation of hardware by two counts of floating point operations."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from verifier.audits.catalogues.entry import INPUTS, Arguments, Catalogue, Entry, generator, uniform, whole
from verifier.audits.space import Draw, Raw, Space

THROUGHPUT_ENTRIES = (
    Entry("items per second", "Σitems/Σs", "total over total", lambda items, s, _g: np.sum(items) / np.sum(s)),
    Entry(
        "items per second per GPU",
        "Σitems/(g Σs)",
        "total over total",
        lambda items, s, g: np.sum(items) / np.sum(s) / g,
    ),
    Entry(
        "items per second times GPUs",
        "g Σitems/Σs",
        "one device's rate times the devices",
        lambda items, s, g: g * np.sum(items) / np.sum(s),
    ),
    Entry("mean of step rates", "mean_i items_i/s_i", "mean of ratios", lambda items, s, _g: np.mean(items / s)),
    Entry(
        "mean of step rates per GPU",
        "mean_i items_i/s_i/g",
        "mean of ratios",
        lambda items, s, g: np.mean(items / s) / g,
    ),
    Entry(
        "median of step rates", "median_i items_i/s_i", "median of ratios", lambda items, s, _g: np.median(items / s)
    ),
    Entry("best step rate", "max_i items_i/s_i", "fastest step", lambda items, s, _g: np.max(items / s)),
    Entry(
        "items per second without the first step",
        "Σ_{i≥2} items/Σ_{i≥2} s",
        "warm-up left out",
        lambda items, s, _g: np.sum(items[1:]) / np.sum(s[1:]),
    ),
    Entry("seconds per item", "Σs/Σitems", "total over total", lambda items, s, _g: np.sum(s) / np.sum(items)),
    Entry("GPU seconds per item", "g Σs/Σitems", "total over total", lambda items, s, g: g * np.sum(s) / np.sum(items)),
    Entry("mean of seconds per item", "mean_i s_i/items_i", "mean of ratios", lambda items, s, _g: np.mean(s / items)),
    Entry("seconds per step", "Σs/n", "mean step time", lambda _items, s, _g: np.mean(s)),
    Entry("GPU seconds per step", "g Σs/n", "mean step time of all devices", lambda _items, s, g: g * np.mean(s)),
    Entry("steps per second", "n/Σs", "inverse of the mean step time", lambda _items, s, _g: 1 / np.mean(s)),
    Entry(
        "items per step per mean step time, unweighted",
        "mean_i items_i · mean_i (1/s_i)",
        "means multiplied",
        lambda items, s, _g: np.mean(items) * np.mean(1 / s),
    ),
)


def _throughput_generic() -> tuple[Arguments, ...]:
    rng = generator("throughput")
    drawn: list[Arguments] = []
    for index in range(INPUTS):
        count = 4 + index % 4
        items = np.array([float(whole(rng, 20, 90)) for _ in range(count)])
        drawn.append((items, uniform(rng, 0.3, 3.0, count=count), (2, 4, 8, 3)[index % 4]))
    return tuple(drawn)


def _steps(draw: Draw, *, count: int) -> Raw:
    items = tuple(1 + draw(8) for _ in range(count))
    return items, tuple(1 + draw(4) for _ in range(count)), 1 + draw(4)


def _step_arguments(raw: Raw) -> tuple[Any, ...]:
    items, seconds, gpus = raw
    return np.array(items, dtype=np.float64), np.array(seconds, dtype=np.float64), gpus


def throughput_complaint(arguments: Arguments) -> str | None:
    """What makes an input no timed steps; None where nothing does."""
    if len(arguments) != 3:
        return "it is not items, seconds and gpus"
    items, seconds = (np.asarray(each) for each in arguments[:2])
    if items.ndim != 1 or items.shape != seconds.shape or not items.size:
        return "it is not two arrays of one length"
    if min(items.min(), seconds.min(), arguments[2]) <= 0:
        return "a step has no items or no time, or there is no GPU"
    return None


THROUGHPUT = Catalogue(
    name="throughput",
    takes="items and seconds (float64 arrays, one entry a step), gpus (a whole number)",
    entries=THROUGHPUT_ENTRIES,
    generic=_throughput_generic,
    space=Space(
        ("items", "seconds", "gpus"), tuple(partial(_steps, count=count) for count in range(1, 4)), _step_arguments
    ),
    complaint=throughput_complaint,
    ambiguous={"throughput": "say per what, and whether totals or step rates are averaged"},
)


def _flops(parameters: float, layers: float, width: float, context: float, *, attention: float) -> float:
    return 6 * parameters + attention * layers * width * context


def _utilisation(*, attention: float, per_gpu: bool) -> Any:
    def formula(  # noqa: PLR0917  # the catalogue's seven arguments
        parameters: float, layers: float, width: float, context: float, rate: float, gpus: float, peak: float
    ) -> float:
        available = peak * (gpus if per_gpu else 1)
        return rate * _flops(parameters, layers, width, context, attention=attention) / available

    return formula


def _entry(name: str, formula: str, source: str, *, attention: float, gpus: bool) -> Entry:
    # the same count of operations in other words: multiply-adds as one, the forward pass alone, one more forward pass
    aliases = {f"{name}, in MACs": 1 / 2, f"{name}, forward only": 1 / 3, f"{name}, with recomputation": 4 / 3}
    return Entry(name, formula, source, _utilisation(attention=attention, per_gpu=gpus), aliases)


UTILISATION_ENTRIES = (
    _entry("6N", "6N·r/(g·peak)", "Kaplan 2020", attention=0, gpus=True),
    _entry("6N + attention", "(6N + 12·L·d·T)·r/(g·peak)", "Chowdhery 2022, appendix B", attention=12, gpus=True),
    _entry("6N + causal attention", "(6N + 6·L·d·T)·r/(g·peak)", "half the attention matrix", attention=6, gpus=True),
    _entry("6N, not per GPU", "6N·r/peak", "devices forgotten", attention=0, gpus=False),
    _entry("6N + attention, not per GPU", "(6N + 12·L·d·T)·r/peak", "devices forgotten", attention=12, gpus=False),
    _entry("6N + causal attention, not per GPU", "(6N + 6·L·d·T)·r/peak", "devices forgotten", attention=6, gpus=False),
)


def _utilisation_generic() -> tuple[Arguments, ...]:
    rng = generator("utilisation")
    drawn: list[Arguments] = []
    for index in range(INPUTS):
        layers, width = whole(rng, 8, 40), 128 * whole(rng, 4, 32)
        parameters = 12.0 * layers * width**2 * (1 + rng.random())
        context = 512 * whole(rng, 1, 16)
        rate = 1e3 * (1 + 9 * rng.random())
        drawn.append((parameters, layers, width, context, rate, (2, 4, 8, 3)[index % 4], 1e14 * (1 + rng.random())))
    return tuple(drawn)


def _model(draw: Draw) -> Raw:
    return tuple(1 + draw(8) for _ in range(7))


def utilisation_complaint(arguments: Arguments) -> str | None:
    """What makes an input no model with a rate; None where nothing does."""
    if len(arguments) != 7 or not all(np.isfinite(each) and each > 0 for each in arguments):
        return "it is not seven positive numbers: parameters, layers, width, context, tokens per second, gpus, peak"
    return None


UTILISATION = Catalogue(
    name="utilisation",
    share=True,
    takes="parameters, layers, width, context, tokens per second, gpus, peak FLOP/s of one GPU: seven numbers",
    entries=UTILISATION_ENTRIES,
    generic=_utilisation_generic,
    space=Space(
        ("parameters", "layers", "width", "context", "tokens_per_second", "gpus", "peak"), (_model,), lambda raw: raw
    ),
    complaint=utilisation_complaint,
    ambiguous={"MFU": "say 6N or 6N + attention", "utilisation": "say 6N or 6N + attention"},
)
