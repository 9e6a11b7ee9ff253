"""What importing the statistics costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import verifier.stats

HEAVY = ["scipy.stats", "statsmodels", "pandas", "sympy", "numba", "jax", "ray", "matplotlib"]


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_package_itself_loads_nothing() -> None:
    assert not loaded_by("import verifier.stats") & {"numpy", "scipy", "pydantic", *HEAVY}


def test_every_module_but_the_classical_fits_when_called_stays_light() -> None:
    names = "growth, power, rules, classical, growth_batch"
    assert not loaded_by(f"from verifier.stats import {names}") & set(HEAVY)


def test_reading_a_rule_needs_no_numpy() -> None:
    assert not loaded_by("import verifier.stats.rules") & {"numpy", "scipy", *HEAVY}


def test_every_public_name_is_there() -> None:
    for name in verifier.stats.__all__:
        assert getattr(verifier.stats, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        verifier.stats.nothing  # noqa: B018  # the access is the test
