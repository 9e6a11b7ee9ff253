"""The manifest: what a registration asks for, unit by unit, so that somebody else can run it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

from verifier.casefile import Case
from verifier.engine.entries import hashable
from verifier.engine.layout import Layout
from verifier.engine.register import Registration, same_dispute
from verifier.ledger import Ledger
from verifier.model.canonical import Json, canonical_bytes, canonical_sha256
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.identity import registration_sha256
from verifier.sweeps.jobs import Unit

SCHEMA = "verifier/manifest/1"
_REMAKE = "take the file that `verifier register` writes, as it is"


def registered(case: Case, ledger: Ledger) -> Registration:
    """The case's registration in this ledger. Raises BadInput where it has none."""
    earlier = same_dispute(case, ledger.entries)
    for index, entry in enumerate(earlier):
        if entry.content["registration"] == case.registration:
            return Registration(entry, index + 1, found=True)
    known = f"; of this dispute it holds {earlier[-1].content['registration'][:12]}" if earlier else ""
    raise BadInput(
        f"the case as it stands here, {case.registration[:12]}, is not registered in this ledger{known}",
        where=str(case.folder),
        mend="take the folder and the ledger of the registration under which the runs were made; runs made before "
        "`verifier register` decide nothing",
    )


def manifest(case: Case, layout: Layout) -> dict[str, Any]:
    """The manifest of one probe, as JSON values.

    `case_sha256` is over case.toml as registered, without what reading more of the paper may amend; `rule_sha256` over
    the rule with its defaults filled in. A unit's `arm` is the one for which the target is called, "" where there is
    none or one call gives both; `stream` is its 128-bit key in 32 hexadecimal digits; replicates count from 0.
    `manifest_sha256` is over the RFC 8785 bytes of the other fields.
    """
    probe = layout.probe
    rule: Any = hashable({"kind": probe.rule.kind, **dataclasses.asdict(probe.rule)})
    fields: dict[str, Json] = {
        "schema": SCHEMA,
        "registration": case.registration,
        "case_sha256": registration_sha256(case.table, overrides={}, files={}),
        "probe": probe.name,
        "rule_sha256": canonical_sha256(rule),
        "looks": list(probe.rule.looks),
        "units": [_unit(unit, layout.arm(unit)) for unit in layout.units],
    }
    return {**fields, "manifest_sha256": canonical_sha256(fields)}


def _unit(unit: Unit, arm: str) -> Json:
    return {
        "unit": unit.key,
        "scale": dict(unit.scale),
        "arm": arm,
        "replicate": unit.replicate,
        "stream": f"{unit.stream:032x}",
    }


def manifest_lines(manifests: Iterable[Mapping[str, Any]]) -> bytes:
    """The file of a case: a manifest a line, one for each probe that draws units, so often one JSON object."""
    return b"".join(canonical_bytes(one) + b"\n" for one in manifests)


def check_manifest(content: bytes, expected: Mapping[str, Any], *, name: str) -> None:
    """Returns where the manifest of the expected one's probe in this file is the one computed here.

    Nothing in the file is used for anything else. Raises BadInput, naming what differs first.
    """
    if len(content) > most_bytes(expected):
        raise BadInput("it is larger than the manifest of this registration", where=name, mend=_REMAKE)
    read = [_read(line, f"{name}, line {n}") for n, line in enumerate(content.splitlines(), 1) if line.strip()]
    found = [one for one in read if one.get("probe") == expected["probe"]]
    if len(found) != 1:
        what = f"it holds {len(found) or 'no'} manifests of the probe {expected['probe']}"
        raise BadInput(what, where=name, mend=_REMAKE)
    (given,) = found
    if given.get("registration") != expected["registration"]:
        raise BadInput(
            f"it belongs to the registration {shown(given.get('registration'))}, and the case as it stands here is "
            f"{expected['registration'][:12]}",
            where=name,
            mend="take the case folder as it was registered, or the manifest of this registration",
        )
    for key in [*expected, *sorted(set(given) - set(expected))]:
        if key not in given or key not in expected or not _same(given[key], expected[key]):
            at = _first_unit(given.get(key), expected["units"]) if key == "units" else ""
            raise BadInput(f"its {shown(key)} is not what the registration gives{at}", where=name, mend=_REMAKE)


def most_bytes(expected: Mapping[str, Any]) -> int:
    """More bytes than a file of this case's manifests has."""
    return 8_000 * (len(expected["units"]) + 1_000)


def _read(line: bytes, where: str) -> dict[str, Any]:
    """One manifest of a file. Raises BadInput for anything but a JSON object whose keys stand once."""
    try:
        found = json.loads(line, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):  # a repeated key and a number of too many digits are ValueErrors too
        found = None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise BadInput(f"it is no manifest ({SCHEMA})", where=where, mend=_REMAKE)
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _same(given: Any, expected: Any) -> bool:
    """Whether two JSON values are written alike: 1 is neither true nor 1.0."""
    return json.dumps(given, sort_keys=True) == json.dumps(expected, sort_keys=True)


def _first_unit(given: Any, expected: list[Any]) -> str:
    """Where two lists of units differ first, in words."""
    if not isinstance(given, list):
        return ""
    for n, (one, other) in enumerate(zip(given, expected, strict=False), 1):
        if not _same(one, other):
            return f", first in unit {n}"
    return f": it lists {len(given)}, and there are {len(expected)}"
