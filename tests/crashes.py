"""Writers that are killed at random moments, and what must be true of the ledger afterwards."""

import hashlib
import multiprocessing
import random
import time
from collections.abc import Callable
from pathlib import Path

from verifier.ledger import Ledger
from verifier.model.errors import InfrastructureFailed

REGISTRATION = hashlib.sha256(b"a case").hexdigest()


def acknowledged(file: Path) -> list[tuple[int, int, str]]:
    """(what the writer counted, the entry's number, its leaf) of each append that returned; a torn line is none."""
    if not file.exists():
        return []
    lines = [line.split() for line in file.read_text().split("\n")[:-1]]
    return [(int(count), int(n), leaf) for count, n, leaf in lines]


def write(url: str, me: int, target: int, file: Path) -> None:
    """Appends entries 0 to target − 1 of writer `me`, each in a transaction; goes on where its own file ends.

    A number whose append was not acknowledged is appended again, and found if it was kept after all. A store that
    stops is waited for.
    """
    known = acknowledged(file)
    done = [count for count, _, _ in known]
    with _opened(url, file) as ledger, file.open("a") as out:
        if out.tell():
            out.write("" if file.read_bytes().endswith(b"\n") else " torn torn\n")
        for number in range(max(done, default=-1) + 1, target):
            while True:
                try:
                    with ledger.transaction() as transaction:
                        content = {"registration": REGISTRATION, "of": me, "number": number}
                        entry = transaction.append(kind="evidence", content=content, by="engine").entry
                    break
                except InfrastructureFailed:
                    _waited(file)
            out.write(f"{number} {entry.n} {entry.leaf}\n")
            out.flush()


def _opened(url: str, file: Path) -> Ledger:
    while True:
        try:
            return Ledger.open(url, create=True)
        except InfrastructureFailed:
            _waited(file)


def _waited(file: Path) -> None:
    file.with_name(f"{file.name}.waited").touch()
    time.sleep(0.05)


class Writers:
    """Several processes that append to one ledger. They start fast: each is forked from one that imported it all."""

    def __init__(self, url: str, folder: Path, *, writers: int, target: int) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["tests.crashes", "verifier.ledger.ledger"])
        self._url, self._target = url, target
        self.files = [folder / f"writer-{me}" for me in range(writers)]
        self.kills = 0
        self._running = [self._started(me) for me in range(writers)]

    def _started(self, me: int) -> multiprocessing.process.BaseProcess:
        process = self._context.Process(target=write, args=(self._url, me, self._target, self.files[me]))
        process.start()
        return process

    def progress(self) -> int:
        """About how many appends were acknowledged so far: a torn line counts. It is asked often, and so is cheap."""
        return sum(file.read_bytes().count(b"\n") for file in self.files if file.exists())

    def run(self, *, kills: int, seed: int, meanwhile: Callable[["Writers"], None] | None = None) -> None:
        """Kills one writer after another and starts it again, `kills` times, then lets all of them end.

        The moments are spread over the work: after a random share of the appends, and a random pause after that.
        """
        draw = random.Random(seed)  # noqa: S311  # moments, not secrets
        whole = len(self.files) * self._target
        moments = sorted(draw.uniform(0.02, 0.9) * whole for _ in range(kills))
        for moment in moments:
            while self.progress() < moment:
                self._check()
                time.sleep(0.01)
                if meanwhile is not None:
                    meanwhile(self)
            time.sleep(draw.uniform(0, 0.02))
            alive = [me for me, process in enumerate(self._running) if process.is_alive()]
            me = draw.choice(alive)
            self._running[me].kill()
            self._running[me].join()
            assert self._running[me].exitcode in (-9, 0)
            self.kills += self._running[me].exitcode == -9
            self._running[me].close()
            self._running[me] = self._started(me)
        for process in self._running:
            while process.is_alive():
                process.join(0.01)
                if meanwhile is not None:
                    meanwhile(self)
            assert process.exitcode == 0
            process.close()

    def _check(self) -> None:
        assert all(process.exitcode in (None, 0) for process in self._running)
        assert any(process.is_alive() for process in self._running)


def check(url: str, writers: Writers, target: int) -> None:
    """Every acknowledged entry is there once, at its number, in its writer's order, and the whole ledger verifies."""
    with Ledger.open(url, create=False) as ledger:
        found = ledger.verify()
        entries = list(ledger.entries())
    assert found.size == len(entries) == len(writers.files) * target
    assert [entry.n for entry in entries] == list(range(1, len(entries) + 1))
    for me, file in enumerate(writers.files):
        said = acknowledged(file)
        assert [count for count, _, _ in said] == list(range(target))
        for count, n, leaf in said:
            entry = entries[n - 1]
            assert (entry.leaf, entry.content["of"], entry.content["number"]) == (leaf, me, count)
        assert [n for _, n, _ in said] == sorted(n for _, n, _ in said)
