"""What importing the statistics costs."""

from __future__ import annotations

import pkgutil
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


def test_every_public_name_but_the_classical_fits_when_called_stays_light() -> None:
    assert not loaded_by("from verifier.stats import *") & set(HEAVY)


def test_a_rule_at_work_stays_light() -> None:
    script = """
import numpy as np
from fractions import Fraction
from verifier.stats import DifferenceRule, difference, growth_plan
rule = DifferenceRule(claimed=Fraction(4), alleged=Fraction(0), looks=(30,), minimum_n=30)
difference.evaluate(rule, np.arange(30.0), discount=1.0, last=True)
difference.power(rule, 4.0, sd=3.0), difference.needed(rule, sd=3.0)
growth_plan([8, 16, 32, 64], replicates=3, sd=0.3, effect=0.38)
"""
    assert not loaded_by(script) & set(HEAVY)


def test_reading_a_rule_needs_no_numpy() -> None:
    assert not loaded_by("import verifier.stats.rules") & {"numpy", "scipy", *HEAVY}


def test_what_the_commands_compute_with_stays_light() -> None:
    names = "answers, classical, designs, document, flags, samples, shown, teams, test, plan".replace(", ", ", stats_")
    assert not loaded_by(f"from verifier.cli import stats_{names}") & set(HEAVY)


def test_every_public_name_is_there_and_is_what_type_checkers_read() -> None:
    for name in verifier.stats.__all__:
        assert getattr(verifier.stats, name) is not None
    assert sorted(verifier.stats.__all__) == sorted({*verifier.stats._HOME, *verifier.stats._MODULES})
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        verifier.stats.nothing  # noqa: B018  # the access is the test


def test_a_name_means_the_same_whatever_was_imported_before() -> None:
    """Importing a submodule puts it into the package under its own name, so no function may be called like one."""
    modules = {module.name for module in pkgutil.iter_modules(verifier.stats.__path__)}
    assert not modules & set(verifier.stats._HOME)
    assert modules >= verifier.stats._MODULES
    for name in verifier.stats._MODULES:
        assert getattr(verifier.stats, name) is sys.modules[f"verifier.stats.{name}"]


@pytest.mark.parametrize("rule", ["growth", "difference", "ratio", "proportion", "count", "rate", "bound"])
def test_every_registered_rule_is_a_module_with_its_three_functions(rule: str) -> None:
    assert rule in verifier.stats.RULES
    module = getattr(verifier.stats, rule)
    assert all(callable(getattr(module, function)) for function in ("evaluate", "power", "needed"))
