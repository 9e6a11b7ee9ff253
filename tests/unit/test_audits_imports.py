"""What importing the audits costs."""

from __future__ import annotations

import pytest

from tests.unit.test_stats_imports import loaded_by

HEAVY = {"scipy", "hypothesis", "pint", "matplotlib", "pyarrow", "pandas", "sacrebleu", "sympy"}


@pytest.mark.parametrize("module", ["verifier.audits", "verifier.audits.probe", "verifier.cli.audit"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    assert not loaded_by(f"import {module}") & HEAVY


def test_finding_the_commands_loads_no_audit() -> None:
    assert not loaded_by("import verifier.cli.main, verifier.cli.audit") & {"verifier.audits", "numpy", "pydantic"}


def test_ratios_and_printed_numbers_are_audited_without_them() -> None:
    script = """
from verifier.audits import Declared, closure, granularity, printed, reconcile, speed
reconcile("2", against="1/8", declared=[Declared("times", "50", "left")], tolerance="0.02")
speed("9.42", "5.27", claimed="78.7", said_as="percent-faster")
granularity(["42.9"], n=68)
closure(identity="mean", terms=[printed("62.0"), printed("47.9")], printed=printed("55.0"))
"""
    assert not loaded_by(script) & (HEAVY - {"pint"})


def test_arrays_are_read_without_them() -> None:
    script = """
import pathlib, tempfile
from verifier.audits import audit_file
with tempfile.TemporaryDirectory() as folder:
    audit = pathlib.Path(folder, "audit.toml")
    pathlib.Path(folder, "losses.csv").write_text("nll,real\\n3,1\\n2,1\\n0,0\\n")
    audit.write_text('[arrays]\\npath = "losses.csv"\\ncolumns = { loss = "nll", mask = "real" }\\nprinted = "5.3"\\n')
    assert audit_file(audit)
"""
    assert not loaded_by(script) & HEAVY
