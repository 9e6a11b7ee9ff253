"""Mutations of several fields together: some keep the statement true (a scaled ellipsoid), most nearly do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

Change = tuple[str, Any]


def scaled(value: Any, factor: Fraction | int) -> Any:
    """Nested quantities times a factor."""
    return str(Fraction(value) * factor) if isinstance(value, str) else [scaled(x, factor) for x in value]


def rotated(items: list[Any]) -> list[Any]:
    return items[1:] + items[:1]


def edited(document: Any, edit: Callable[[Any], object]) -> Any:
    new = copy.deepcopy(document)
    edit(new)
    return new


def joint(document: dict[str, Any]) -> Iterator[Change]:
    """(how, document) for the kind at hand."""
    if "branches" in document:
        yield from attention(document)
        yield from proofs(document)
    elif document["kind"] == "violation":
        t = document["t"]
        yield "sides swapped", {**document, "lhs": document["rhs"], "rhs": document["lhs"]}
        yield (
            "claim's bound lower",
            edited(document, lambda d: d["problem"]["claim"].update(g=str(Fraction(d["rhs"]) - 1))),
        )
        yield "one step less, same sides", {**document, "t": t - 1}
    elif document["kind"] == "invariant":
        yield from invariant(document)
    elif document["kind"] == "spectral":
        yield from spectral(document)


def attention(document: dict[str, Any]) -> Iterator[Change]:
    weights, n = document["weights"], len(document["weights"])
    for i, j in [(0, 1), (1, 0), (n - 1, 0)]:
        for part in (Fraction(1, 100), Fraction(weights[i])):
            moved = list(weights)
            moved[i], moved[j] = str(Fraction(weights[i]) - part), str(Fraction(weights[j]) + part)
            yield f"{part} of weight {i} moved to {j}", {**document, "weights": moved}
    yield "equal weights", {**document, "weights": [str(Fraction(1, n))] * n}

    def larger(d: Any, factor: int) -> None:
        d["problem"]["state"]["tokens"] = scaled(d["problem"]["state"]["tokens"], factor)

    yield "tokens doubled", edited(document, lambda d: larger(d, 2))
    yield "tokens negated", edited(document, lambda d: larger(d, -1))

    def doubled(d: Any) -> None:
        larger(d, 2)
        for branch in d["branches"]:
            claimed = branch.get("first", branch)
            if "lhs" in claimed:
                claimed.update(lhs=scaled(claimed["lhs"], 4), rhs=scaled(claimed["rhs"], 4))
            if "separation" in branch:
                branch["separation"]["delta"] = scaled(branch["separation"]["delta"], 2)

    yield "everything in other units", edited(document, doubled)

    def stronger(d: Any) -> None:
        d["problem"]["parameters"]["B"] = scaled(d["problem"]["parameters"]["B"], 3)
        d["lambda_bound"] = scaled(d["lambda_bound"], 3)
        for branch in d["branches"]:
            claimed = branch.get("first", branch)
            if "lhs" in claimed:
                claimed.update(lhs=scaled(claimed["lhs"], 3), rhs=scaled(claimed["rhs"], 3))
            if "separation" in branch:
                branch["separation"]["delta"] = scaled(branch["separation"]["delta"], 3)

    yield "B tripled throughout", edited(document, stronger)
    for factor in (Fraction(1000001, 1000000), Fraction(11, 10), Fraction(999999, 1000000)):

        def looser(d: Any, factor: Fraction = factor) -> None:
            d["lambda_bound"] = scaled(d["lambda_bound"], factor)
            for branch in d["branches"]:
                claimed = branch.get("first", branch)
                if "rhs" in claimed:
                    claimed["rhs"] = scaled(claimed["rhs"], factor)

        yield f"lambda_bound and rhs times {factor}", edited(document, looser)
    yield "B as a list of two", edited(document, lambda d: d["problem"]["parameters"].update(B=two(d["problem"])))


def two(problem: Any) -> Any:
    B = problem["parameters"]["B"]
    return [B, B] if isinstance(B[0][0], str) else [*B, B[-1]]


def proofs(document: dict[str, Any]) -> Iterator[Change]:
    """Selections, freezes and times."""
    branches = document["branches"]
    if len(branches) > 1:
        yield "branches swapped", {**document, "branches": branches[::-1]}
        mixed = [{**b, "selections": branches[k - 1]["selections"]} for k, b in enumerate(branches)]
        yield "selections of the branches exchanged", {**document, "branches": mixed}
    for b, branch in enumerate(branches):

        def change(edit: Callable[[Any], object], b: int = b) -> Any:
            return edited(document, lambda d: edit(d["branches"][b]))

        for r, run in enumerate(branch["selections"]):
            targets = run["targets"]
            yield (
                f"run {r} of branch {b} split",
                change(lambda x, r=r, run=run: x["selections"].insert(r, {**run, "steps": 1})),
            )
            yield f"run {r} of branch {b} dropped", change(lambda x, r=r: x["selections"].pop(r))
            for i in range(len(targets)):
                other = [(y + 1) % len(targets) if k == i else y for k, y in enumerate(targets)]
                yield (
                    f"run {r} of branch {b}: token {i} selects the next",
                    change(lambda x, r=r, other=other: x["selections"][r].update(targets=other)),
                )
        yield f"first run of branch {b} from the next", change(lambda x: x["selections"][0].update(steps=2))
        if "freeze" in branch:
            v, n = branch["freeze"]["target"], len(document["weights"])

            def later(x: Any, steps: int) -> None:
                x["selections"].append({"steps": steps, "targets": [v] * n})
                x["freeze"]["step"] += steps

            for steps in (1, 7, 300):
                yield f"freeze of branch {b} {steps} later", change(lambda x, steps=steps: later(x, steps))
            yield (
                f"freeze of branch {b} later, steps not",
                change(lambda x: x["freeze"].update(step=x["freeze"]["step"] + 1)),
            )
            if branch["selections"]:
                yield f"freeze of branch {b} earlier", change(lambda x: earlier(x))
        if "separation" in branch:
            for factor in (2, Fraction(1, 3)):
                yield (
                    f"separation of branch {b} times {factor}",
                    change(
                        lambda x, factor=factor: x["separation"].update(
                            u=scaled(x["separation"]["u"], factor), delta=scaled(x["separation"]["delta"], factor)
                        )
                    ),
                )
    for name in ("fails_from",):
        if name in document:
            for shift in (-1, 1, 1000):
                yield f"{name} shifted by {shift} throughout", edited(document, lambda d, s=shift: shifted(d, s))
            yield "components exchanged throughout", edited(document, exchanged)


def earlier(branch: Any) -> None:
    run = branch["selections"][-1]
    run["steps"] -= 1
    if not run["steps"]:
        branch["selections"].pop()
    branch["freeze"]["step"] -= 1


def shifted(document: Any, by: int) -> None:
    for x in [document, *document["branches"]]:
        x["fails_from"] += by
        x["fails_from_by_component"] = [t + by for t in x["fails_from_by_component"]]


def exchanged(document: Any) -> None:
    for x in [document, *document["branches"]]:
        x["fails_from_by_component"] = rotated(x["fails_from_by_component"])


def invariant(document: dict[str, Any]) -> Iterator[Change]:
    shape = document["shape"]
    kind = shape["type"]
    if kind == "level":
        yield "Q doubled", {**document, "shape": {**shape, "Q": scaled(shape["Q"], 2)}}
        yield "Q zero", {**document, "shape": {**shape, "Q": scaled(shape["Q"], 0)}}
        yield "entered later", {**document, "start": document["start"] + 5}
        return
    cycle, p = document["cycle"], len(document["cycle"])
    lists = [name for name in ("points", "centres", "low", "high") if name in shape]
    yield "cycle rotated alone", {**document, "cycle": rotated(cycle)}
    yield "entered one step later, nothing else", {**document, "start": document["start"] + 1}
    yield "entered a whole cycle later", {**document, "start": document["start"] + p}
    if lists:
        turned = {**shape, **{name: rotated(shape[name]) for name in lists}}
        phase = {k: (v - 1) % p if k in {"phase", "other_phase"} else v for k, v in document["excluded"].items()}
        both = {**document, "cycle": rotated(cycle), "shape": turned}
        yield "shape rotated alone", {**document, "shape": turned}
        yield "cycle and shape rotated", both
        yield "all rotated, one step later", {**both, "start": document["start"] + 1, "excluded": phase}
        again = {**shape, **{name: shape[name] * 2 for name in lists}}
        yield "two rounds as one cycle", {**document, "cycle": cycle * 2, "shape": again}
        for name in lists:
            yield f"{name} doubled", {**document, "shape": {**shape, name: scaled(shape[name], 2)}}
    if kind == "ellipsoid":
        for factor in (2, Fraction(1, 7), -1):
            both = {**shape, "P": scaled(shape["P"], factor), "R": scaled(shape["R"], factor)}
            yield f"P and R times {factor}", {**document, "shape": both}
            yield f"P times {factor}", {**document, "shape": {**shape, "P": both["P"]}}
            yield f"R times {factor}", {**document, "shape": {**shape, "R": both["R"]}}
        yield "half-space doubled", edited(document, lambda d: d["excluded"].update(h=scaled(d["excluded"]["h"], 2)))
    if kind == "ray":
        for factor in (2, Fraction(1, 2), 1000, -1):
            other = {
                **shape,
                "u": scaled(shape["u"], factor),
                "epsilon": scaled(shape["epsilon"], 1 / Fraction(factor)),
            }
            yield f"u times {factor}, epsilon divided", {**document, "shape": other}
        two = {**shape, "lambda": str(Fraction(shape["lambda"]) ** 2)}
        yield "two rounds as one cycle", {**document, "cycle": cycle * 2, "shape": two}
    if "h" in document["excluded"]:
        e = document["excluded"]
        yield "half-space turned", {**document, "excluded": {**e, "h": scaled(e["h"], -1), "g": scaled(e["g"], -1)}}
        yield (
            "half-space in other units",
            {**document, "excluded": {**e, "h": scaled(e["h"], 3), "g": scaled(e["g"], 3)}},
        )


def spectral(document: dict[str, Any]) -> Iterator[Change]:
    m = [int(c) for c in document["polynomial"]]

    def with_(coefficients: list[int]) -> Any:
        return {**document, "polynomial": [str(c) for c in coefficients]}

    yield "polynomial negated", with_([-c for c in m])
    yield "polynomial doubled", with_([2 * c for c in m])
    yield "polynomial reversed roots", with_([c if k % 2 == 0 else -c for k, c in enumerate(m)])
    yield "polynomial times z - 1", with_([a - b for a, b in zip([0, *m], [*m, 0], strict=True)])
    yield "polynomial times z", with_([0, *m])
    yield "degree less", with_(m[1:])
    for more in (1, 2, 7):
        yield f"{more} squarings more", {**document, "squarings": document["squarings"] + more}
    yield "20 squarings", {**document, "squarings": 20}
    for j in range(1, len(m)):
        yield f"j = {j}", {**document, "j": j}
        yield f"j = {j}, >=", {**document, "j": j, "relation": ">="}
    start = edited(document, lambda d: d["problem"]["state"].update(z=scaled(d["problem"]["state"]["z"], 3)))
    yield "start tripled", start
