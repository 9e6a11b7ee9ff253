"""The corpus of mutated certificates: written here, compared by tests/unit/test_certificate_corpus.py.

    python -m tests.corpus.certificates.generate            write seeds, mutants and the table
    python -m tests.corpus.certificates.generate --measure  seconds and memory of the checker

A line of mutants/KIND.jsonl is a mutant: seed, where, how, `patch` = [place, length cut, pieces put there] in the
seed's characters (a piece is a text or [character, times]) or `bytes` in base64; `is`: what the oracle says of it
(syntactic, false, true, or same: true
and nothing but its seed in other words); `word`: the checker's.
"""

from __future__ import annotations

import base64
import json
import os
import re
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CHECKER = HERE.parents[2] / "verifier" / "exact" / "checker.py"
KINDS = ("violation", "for-all", "invariant", "spectral", "witness", "ball")
RUN = re.compile(r"(.)\1{199,}", re.DOTALL)


def checker() -> Any:
    """The checker's module, loaded from its one file."""
    spec = spec_from_file_location("standalone_checker", CHECKER)
    assert spec and spec.loader
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def pieces(text: str) -> list[Any]:
    """The text, with long runs of one character as [character, times]."""
    found: list[Any] = []
    at = 0
    for match in RUN.finditer(text):
        found += [text[at : match.start()], [match.group(1), len(match.group())]]
        at = match.end()
    return [piece for piece in [*found, text[at:]] if piece]


def packed(seed: str, data: bytes) -> dict[str, Any]:
    """The mutant as a difference to its seed."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(data).decode()}
    ahead = len(os.path.commonprefix([seed, text]))
    behind = len(os.path.commonprefix([seed[ahead:][::-1], text[ahead:][::-1]]))
    return {"patch": [ahead, len(seed) - ahead - behind, pieces(text[ahead : len(text) - behind])]}


def unpacked(seed: str, line: dict[str, Any]) -> bytes:
    """The bytes of a mutant."""
    if "bytes" in line:
        return base64.b64decode(line["bytes"])
    at, cut, put = line["patch"]
    new = "".join(piece if isinstance(piece, str) else piece[0] * piece[1] for piece in put)
    return (seed[:at] + new + seed[at + cut :]).encode()


def meant(text: str | bytes) -> Any:
    """What a certificate says: its document without spaces in formulas and without the texts that are only shown."""
    document = json.loads(text)
    problem = document["problem"]
    for name in ("paper", "locator", "quote", "symbols"):
        problem.pop(name, None)
    parameters = problem["parameters"]
    for number, hypothesis in enumerate(parameters.get("hypotheses", [])):
        if isinstance(hypothesis, str):
            parameters["hypotheses"][number] = hypothesis.replace(" ", "")
        else:
            hypothesis.pop("name", None)
    if "conclusion" in parameters:
        parameters["conclusion"] = parameters["conclusion"].replace(" ", "")
    return document


def labelled(seed: str, data: bytes, found: str) -> str:
    """`same` where a true mutant says no more and no less than its seed; else what the oracle found."""
    return "same" if found == "true" and meant(data) == meant(seed) else found


def stored() -> tuple[dict[str, str], dict[str, list[dict[str, Any]]]]:
    """The corpus in git: seeds by name, mutants by kind."""
    seeds = {path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "seeds").glob("*.json"), key=lambda path: path.stem)}
    lines = {
        kind: [
            json.loads(line) for line in (HERE / "mutants" / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        for kind in KINDS
    }
    return seeds, lines


def drawn(seeds: dict[str, str]) -> Iterator[tuple[str, str, str, str, bytes]]:
    """(kind, seed, where, how, bytes) of every mutant."""
    from tests.corpus.certificates.mutate import mutants

    documents = {name: json.loads(text) for name, text in seeds.items()}
    names = list(documents)
    for number, (name, document) in enumerate(documents.items()):
        system = document["problem"]["system"]
        same = [n for n in names if documents[n]["problem"]["system"] == system and n != name]
        chosen = same[:5] + [names[(number + 17) % len(names)]]
        for where, how, data in mutants(document, {n: documents[n] for n in chosen if n != name}):
            yield document["kind"], name, where, how, data


def table(lines: dict[str, list[dict[str, Any]]]) -> str:
    """The README's table: what the oracle and the checker say, by kind."""
    head = (
        "| kind | seeds | mutants | syntactic | same | semantic | of these false | share | accepted | true, not accepted |\n"
    )
    rows = [head, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"]
    totals: Counter[str] = Counter()
    for kind in [*KINDS, "all"]:
        count = Counter(totals)
        for line in lines.get(kind, []):
            count["mutants"] += 1
            count[line["is"]] += 1
            count["accepted"] += line["word"] == "ACCEPTED"
            count["lost"] += line["is"] in {"true", "same"} and line["word"] != "ACCEPTED"
        count["seeds"] += len({line["seed"] for line in lines.get(kind, [])})
        if kind == "all":
            count = totals
        else:
            count -= totals
            totals += count
        count["semantic"] = count["false"] + count["true"]
        share = 1000 * count["false"] // count["semantic"]
        numbers = [count[x] for x in ("seeds", "mutants", "syntactic", "same", "semantic", "false")]
        cells = [kind, *numbers, f"{share // 10}.{share % 10} %", count["accepted"], count["lost"]]
        rows.append("| " + " | ".join(map(str, cells)) + " |\n")
    return "".join(rows)


def readme(lines: dict[str, list[dict[str, Any]]]) -> str:
    """README.md as it must read."""
    path = HERE / "README.md"
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- table -->\n")
    _, _, after = rest.partition("<!-- end -->\n")
    return f"{before}<!-- table -->\n{table(lines)}<!-- end -->\n{after}"


def write() -> None:
    """Write the whole corpus anew."""
    from tests.corpus.certificates.mutate import compact
    from tests.corpus.certificates.seeds import seeds as built
    from tests.oracles.certificates import judge

    check = checker().check
    for folder in ("seeds", "mutants"):
        (HERE / folder).mkdir(exist_ok=True)
    seeds = {name: compact(document) for name, document in sorted(built().items())}
    for name, text in seeds.items():
        (HERE / "seeds" / f"{name}.json").write_text(text, encoding="utf-8")
    lines: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for kind, name, where, how, data in drawn(seeds):
        found = judge(data)
        line = {"seed": name, "where": where, "how": how, **packed(seeds[name], data)}
        lines[kind].append({**line, "is": labelled(seeds[name], data, found.label), "word": check(data).word})
        assert unpacked(seeds[name], line) == data
    for kind, found_ in lines.items():
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in found_)
        (HERE / "mutants" / f"{kind}.jsonl").write_text(text, encoding="utf-8")
    (HERE / "README.md").write_text(readme(lines), encoding="utf-8")


def measure() -> None:
    """Each mutant in a process of its own: the largest CPU time and memory."""
    check = checker().check
    seeds, lines = stored()
    worst: list[tuple[float, int, str]] = []
    for found in lines.values():
        for line in found:
            data = unpacked(seeds[line["seed"]], line)
            child = os.fork()
            if not child:
                check(data)
                os._exit(0)
            _, _, used = os.wait4(child, 0)
            worst.append(
                (
                    used.ru_utime + used.ru_stime,
                    used.ru_maxrss // 1024,
                    f"{line['seed']}: {line['where']}: {line['how']}",
                )
            )
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(f"this process holds {own} MB\n")
    for seconds, megabytes, what in sorted(worst)[-5:] + [max(worst, key=lambda w: w[1])]:
        sys.stdout.write(f"{seconds:.3f} s {megabytes} MB {what}\n")


if __name__ == "__main__":
    measure() if "--measure" in sys.argv else write()
