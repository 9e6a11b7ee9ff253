"""`--scale` and `--set`: an exploratory variation of a registered case."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from verifier.casefile.case import Case, Probe
from verifier.casefile.load import parameter_value
from verifier.model.case import Parameter, Value
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.tables import TableError, nearest
from verifier.sweeps.bound import BoundProbe
from verifier.sweeps.probe import SweepProbe, check_scales, least_scale

_INTEGER = re.compile(r"[+-]?[0-9]{1,15}")  # within ±(2^53 − 1), as in case.toml

V = TypeVar("V")


def override(case: Case, *, scale: Sequence[str] = (), set_: Sequence[str] = ()) -> Case:
    """The case with `--scale AXIS=1,2,3` and `--set NAME=VALUE` merged in.

    What equals the registered case is no override, so naming the registered scales leaves the registration as it is.
    Raises BadInput naming the option that is wrong.
    """
    scales = _once([_scale_option(option, case) for option in scale], flag="--scale", what="axis")
    settings = _once([_set_option(option, case) for option in set_], flag="--set", what="parameter")
    probes = tuple(_rescaled(probe, scales) for probe in case.probes)
    sweeps = [probe for probe in probes if isinstance(probe, SweepProbe | BoundProbe)]
    changed_scales = {probe.axis: list(probe.scales) for probe in sweeps if probe.scales != probe.registered_scales}
    changed_settings = {name: value for name, value in settings.items() if value != case.defaults[name]}
    overrides: dict[str, Any] = {}
    if changed_scales:
        overrides["scale"] = changed_scales
    if changed_settings:
        overrides["set"] = {name: str(value) for name, value in changed_settings.items()}
    return dataclasses.replace(case, probes=probes, settings={**case.settings, **changed_settings}, overrides=overrides)


def _rescaled(probe: Probe, scales: dict[str, list[int]]) -> Probe:
    if not isinstance(probe, SweepProbe | BoundProbe):
        return probe
    return dataclasses.replace(probe, scales=tuple(scales.get(probe.axis, probe.scales)))


def _once(options: Sequence[tuple[str, V]], *, flag: str, what: str) -> dict[str, V]:
    names = [name for name, _ in options]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"{name} is given twice", where=flag, mend=f"give each {what} once")
    return dict(options)


def _split(option: str, flag: str, form: str) -> tuple[str, str]:
    name, equals, value = option.partition("=")
    if not (name and equals and value):
        raise BadInput(f"{shown(option)} is not of the form {form}", where=flag, mend=f"write {flag} {form}")
    return name, value


def _scale_option(option: str, case: Case) -> tuple[str, list[int]]:
    axis, text = _split(option, "--scale", "AXIS=8,16,32")
    axes = sorted({probe.axis for probe in case.probes if isinstance(probe, SweepProbe | BoundProbe)})
    if not axes:
        raise BadInput("no probe of this case is a sweep", where="--scale", mend="leave --scale out")
    if axis not in axes:
        raise BadInput(f"no probe sweeps over {shown(axis)}", where="--scale", mend=nearest(axis, axes, what="axis"))
    if any(probe.axis == axis and probe.stages for probe in case.sweeps):
        raise BadInput("a sweep in stages has its scales listed", where="--scale", mend="leave --scale out")
    words = text.split(",")
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) <= 15):
            raise BadInput(
                f"{shown(word)} is not a scale", where="--scale", mend=f"write whole numbers, like {axis}=8,16,32"
            )
    values = [int(word) for word in words]
    try:
        least = max((least_scale(probe.rule) for probe in case.sweeps if probe.axis == axis), default=1)
        check_scales(values, path=("scale", axis), least=least)
    except TableError as error:
        raise BadInput(error.what, where="--scale", mend=error.mend) from error
    return axis, values


def _set_option(option: str, case: Case) -> tuple[str, Value]:
    name, text = _split(option, "--set", "NAME=VALUE")
    known = {parameter.name: parameter for parameter in case.parameters}
    if name not in known:
        raise BadInput(f"the case has no parameter {shown(name)}", where="--set", mend=nearest(name, sorted(known)))
    try:
        return name, parameter_value(known[name], _typed(known[name], text), path=("set", name))
    except TableError as error:
        raise BadInput(error.what, where=f"--set {name}", mend=error.mend) from error


def _typed(parameter: Parameter, text: str) -> int | str:
    return int(text) if parameter.type == "integer" and _INTEGER.fullmatch(text) else text
