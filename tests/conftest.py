"""What tests of every folder may ask for."""

from collections.abc import Iterator

import pytest

from tests.postgres import Server, server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """One PostgreSQL for all tests of this process; tests that ask for it are slow ones."""
    with server() as running:
        yield running
