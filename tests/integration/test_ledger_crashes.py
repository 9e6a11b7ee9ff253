"""Writers that die and servers that stop: what was acknowledged is there, once, in order."""

from pathlib import Path

import pytest

from tests.crashes import Writers, check
from tests.postgres import Server, server
from verifier.ledger import Ledger
from verifier.model.errors import InfrastructureFailed


@pytest.fixture(autouse=True)
def _no_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)


def killed(url: str, folder: Path, *, writers: int, target: int, kills: int, at_least: int) -> None:
    made = Writers(url, folder, writers=writers, target=target)
    made.run(kills=kills, seed=6)
    check(url, made, target)
    assert made.kills >= at_least  # one that had ended by itself was not killed


def test_a_few_writers_killed_at_random_moments(tmp_path: Path) -> None:
    killed(f"sqlite:///{tmp_path / 'verifier.db'}", tmp_path, writers=3, target=40, kills=6, at_least=4)


@pytest.mark.slow
def test_eight_writers_killed_at_random_moments_sqlite(tmp_path: Path) -> None:
    killed(f"sqlite:///{tmp_path / 'verifier.db'}", tmp_path, writers=8, target=1000, kills=27, at_least=25)


@pytest.mark.slow
def test_eight_writers_killed_at_random_moments_postgres(tmp_path: Path, postgres: Server) -> None:
    killed(postgres.new_ledger(), tmp_path, writers=8, target=1000, kills=27, at_least=25)


@pytest.mark.slow
def test_a_server_stopped_at_once_loses_nothing_and_clients_reconnect(tmp_path: Path) -> None:
    with server() as own:
        url = own.new_ledger()
        stops = iter((60, 180, 300))
        stop_at = [next(stops)]

        def stop(writers: Writers) -> None:
            if stop_at and writers.progress() >= stop_at[0]:
                own.stop("immediate")
                own.start()
                stop_at[:] = [after] if (after := next(stops, None)) is not None else []

        made = Writers(url, tmp_path, writers=4, target=100)
        made.run(kills=3, seed=6, meanwhile=stop)
        assert not stop_at
        assert len(list(tmp_path.glob("*.waited"))) >= 1
        check(url, made, 100)
        with Ledger.open(url, create=True) as ledger:
            root = ledger.root
            own.stop("immediate")
            own.start()
            assert ledger.verify(root).size == 400  # the same object, over a new connection


@pytest.mark.slow
def test_a_server_that_is_not_there_is_one_sentence_without_the_password() -> None:
    with server() as own:
        url = own.new_ledger().replace("verifier@", "verifier:geheim@")
        with Ledger.open(url, create=True) as ledger:
            assert ledger.size == 0
            assert "geheim" not in ledger.name
        own.stop()
        with pytest.raises(InfrastructureFailed) as caught:
            Ledger.open(url, create=False)
        assert "geheim" not in caught.value.sentence
        assert caught.value.sentence.count("\n") == 0
