"""Checkpoints and cosignatures read by `aics-tlog`, somebody else's program, in a Python 3.12 of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from verifier.ledger.checkpoints import sign_checkpoint
from verifier.ledger.cosign import cosign
from verifier.ledger.keys import KeyType, generate
from verifier.ledger.merkle import Tree, leaf_hash
from verifier.ledger.notes import with_signatures

pytestmark = pytest.mark.slow
LEAST = (3, 12)
READER = """
import dataclasses, json, sys
from aics_tlog.checkpoint import verify_checkpoint
from aics_tlog.note import parse_note, parse_vkey
log, witness, note = json.load(sys.stdin)
found = verify_checkpoint(parse_note(note), parse_vkey(log), [parse_vkey(witness)], 1)
json.dump([found.ok, found.origin, found.size, found.root and found.root.hex(), found.timestamps], sys.stdout)
"""


def pythons() -> Iterator[str]:
    """Interpreters that may be 3.12 or newer."""
    yield sys.executable
    yield from filter(None, (shutil.which(f"python3.{minor}") for minor in (12, 13, 14)))
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions", Path("/opt"), Path("/usr/local")]
    yield from (str(path) for root in roots for path in sorted(root.glob("*/bin/python3.1[2-9]")))


def new_enough(python: str) -> bool:
    words = [python, "-c", "import sys; print(*sys.version_info[:2])"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode == 0 and tuple(map(int, done.stdout.split())) >= LEAST


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that imports aics_tlog; skips, saying why, where it cannot be had."""
    found = next(filter(new_enough, pythons()), None)
    if found is None:
        pytest.skip("no Python 3.12 or newer is here, and aics-tlog needs one")
    folder = tmp_path_factory.mktemp("aics") / "venv"
    subprocess.run([found, "-m", "venv", folder], check=True, capture_output=True)
    python = folder / "bin/python"
    words = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "aics-tlog>=0.2.1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""})
    if done.returncode:
        pytest.skip(f"aics-tlog cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    return python


def test_another_program_reads_our_cosigned_checkpoint(reader: Path) -> None:
    log, witness = generate("example.org/ledger"), generate("w.example/one", KeyType.COSIGNATURE)
    root = Tree(leaf_hash(bytes([n])) for n in range(7)).root()
    note = sign_checkpoint(log, size=7, root=root)
    note = with_signatures(note, [cosign(note, witness, second=1_700_000_000)])

    def read(text: str) -> list[object]:
        given = json.dumps([log.public.vkey, witness.public.vkey, text])
        done = subprocess.run([reader, "-I", "-c", READER], input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert read(str(note)) == [True, log.name, 7, root.hex(), {witness.name: 1_700_000_000}]
    other = sign_checkpoint(log, size=8, root=root)
    assert read(str(with_signatures(other, note.of(witness.public))))[0] is False
    assert read(str(with_signatures(note, note.of(log.public))).replace("\n7\n", "\n8\n"))[0] is False
