"""The judge's speed: importing a verdicts file of 28 MB, and a query with proofs over many claims.

    python -m benchmarks.judge [--claims N] [--full]

Goals: the import under 10 s and 200 MB; a query in a running process over 36,000 claims (--full) under 100 ms.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from verifier.challenge import Pins
from verifier.judge import JudgeIndex, import_verdicts, judge_paper
from verifier.ledger import FreeText, Ledger
from verifier.model.canonical import sha256_hex, text_sha256

WORDS = ("the", "bound", "holds", "under", "these", "seeds", "while", "table", "numbers", "differ", "from", "reports")


def verdicts_file(path: Path, *, records: int) -> float:
    """Writes a verdicts file with five claims a record; returns its megabytes."""
    drawn = random.Random(1)  # noqa: S311  # prose, not secrets

    def prose(count: int) -> str:
        return " ".join(drawn.choices(WORDS, k=count))

    document = {}
    for i in range(records):
        claims = [{"claim": prose(25), "verdict": "toy", "evidence": prose(80)} for _ in range(5)]
        document[f"user{i % 1500}/repro-{i}"] = {
            "space_id": f"user{i % 1500}/repro-{i}",
            "orid": f"{i:010d}",
            "paper_title": prose(9),
            "sha": f"{drawn.getrandbits(160):040x}",
            "judged_at": "2026-07-01T00:00:00Z",
            "model": "a-model",
            "claims": claims,
            "overall": prose(130),
            "quality": "medium",
        }
    path.write_text(json.dumps(document))
    return path.stat().st_size / 1e6


def fill(ledger: Ledger, *, claims: int) -> None:
    """A registration, one piece of evidence and a ruling for each claim, five claims a paper."""
    with ledger.transaction() as transaction:
        for i in range(claims):
            registration = sha256_hex(f"registration {i}".encode())
            text = f"Claim {i} of a paper, which says that a bound holds."
            case: dict[str, Any] = {
                "paper": {"title": FreeText(f"Paper {i // 5}")},
                "claim": {"text": FreeText(text), "quote": "q", "parts": [{"id": "a", "text": "the bound"}]},
                "dispute": {"text": FreeText("It does not."), "source": {"kind": "logbook", "space": f"u/{i}"}},
            }
            common: dict[str, Any] = {"registration": registration, "exploratory": False}
            first = transaction.append(
                kind="registration",
                content={
                    **common,
                    "paper": f"openreview:{i // 5:010d}",
                    "version": "",
                    "claim_sha256": text_sha256(text),
                    "dispute": sha256_hex(f"dispute {i}".encode()),
                    "case": case,
                },
                by="engine",
            ).entry
            evidence = transaction.append(
                kind="evidence",
                content={**common, "probe": "x", "kind": "sweep", "outcome": "FOR_DISPUTE", "controls": []},
                refs=[first.leaf],
                by="engine",
            ).entry
            part = {"id": "a", "ruling": "UPHELD", "reason": None, "fixed_by": ["x"]}
            transaction.append(
                kind="ruling",
                content={**common, "ruling": "UPHELD", "parts": [part]},
                refs=[first.leaf, evidence.leaf],
                by="engine",
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=3_600)
    parser.add_argument("--full", action="store_true", help="36,000 claims: minutes")
    options = parser.parse_args()
    claims = 36_000 if options.full else options.claims
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = verdicts_file(folder / "verdicts.json", records=6_200)
        wall, cpu = time.perf_counter(), time.process_time()
        with Ledger.open(folder / "imported.db", create=True) as ledger:
            done = import_verdicts(ledger, folder / "verdicts.json", pins=Pins())
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(
            f"import of {size:.1f} MB, {done.appended} records: {wall:.1f} s ({cpu:.1f} s of CPU), peak {peak:.0f} MB"
        )
        with Ledger.open(folder / "many.db", create=True) as ledger:
            fill(ledger, claims=claims)
            start = time.perf_counter()
            index = JudgeIndex(ledger)
            print(f"index over {claims} claims, {index.size} entries: {time.perf_counter() - start:.1f} s, once")
            taken = []
            for i in range(50):
                start = time.perf_counter()
                index.refresh()
                paper = judge_paper(index, f"{i * 7 % (claims // 5):010d}", audience="organizer")
                proofs = [index.proof(e.n) for c in paper.claims for d in c.disputes for _, e in d.entries]
                taken.append(time.perf_counter() - start)
                assert len(paper.claims) == 5
                assert len(proofs) == 15
            print(
                f"query of 5 claims with 15 proofs: median {1e3 * statistics.median(taken):.1f} ms, "
                f"worst {1e3 * max(taken):.1f} ms"
            )


if __name__ == "__main__":
    main()
