"""What every executor must do: the same rows, each reported as it finishes, whatever a case does to its worker."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from verifier.casefile.folder import read_folder
from verifier.model.canonical import canonical_sha256
from verifier.sweeps import drive as drive_module
from verifier.sweeps.code import Code
from verifier.sweeps.drive import MAX_ATTEMPTS, OutOfTime, drive
from verifier.sweeps.executors import Executor, Finished, LocalExecutor, Lost, Task, local, open_executor
from verifier.sweeps.jobs import Failure, Inspection, Job, Row, Unit, ValueCall, sums_of, value_of
from verifier.sweeps.store import UnitStore
from verifier.sweeps.worker import unit_row

PATIENCE = 60.0
"""Seconds after which something that must happen is said not to have happened."""

KINDS = ["local=1", "local=2", pytest.param("ray", marks=pytest.mark.slow)]

CASE = """
import os
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

def integers(k, *, stream, n):
    return np.random.Generator(np.random.Philox(key=stream)).integers(0, k, n)

def floats(k, *, stream, n):
    return np.random.Generator(np.random.Philox(key=stream)).standard_normal(n) * 10.0**k

def half(k):
    return Fraction(k, 2)

def raises(k, *, stream):
    raise ValueError(f"no luck at {k}")

def exits(k, *, stream):
    sys.exit(3)

def log(path, word):
    with open(path, "a") as file:
        file.write(f"{word}\\n")

def logged(k, *, stream, path):
    log(path, k)
    return [k]

def vanishes(k, *, stream, path):
    log(path, k)
    os._exit(0)

def is_killed(k, *, stream, path):
    log(path, k)
    os.kill(os.getpid(), signal.SIGKILL)

def is_killed_once(k, *, stream, path):
    first = not os.path.exists(path)
    log(path, k)
    if first:
        os.kill(os.getpid(), signal.SIGKILL)
    return [k]

def raises_until(k, *, stream, path):
    if not os.path.exists(path):
        raise ValueError("not yet")
    return [k]

def waits(k, *, stream, path):
    log(path + ".pid", os.getpid())
    while not os.path.exists(path):
        time.sleep(0.01)
    return [k]

def at_four_waits(k, *, stream, path):
    log(path + ".log", k)
    while k == 4 and not os.path.exists(path):
        time.sleep(0.01)
    return [k, k]

def shouts(k, *, stream):
    print("SHOUT")
    print("SHOUT", file=sys.__stdout__, flush=True)
    print("SHOUT", file=sys.stderr, flush=True)
    os.write(1, b"SHOUT")
    os.write(2, b"SHOUT")
    os.system("echo SHOUT; echo SHOUT >&2")
    return [k]

def process(k, *, stream):
    return [os.getpid()]

BAD = {
    "nan": [1.0, float("nan")],
    "infinity": [float("inf")],
    "empty": [],
    "two_dimensions": [[1, 2], [3, 4]],
    "objects": np.array([1, None], dtype=object),
    "mapping": {"left": [1]},
    "nothing": None,
    "number": 3,
    "texts": ["a"],
    "ragged": [[1], [1, 2]],
}

def bad(k, *, stream, what):
    return BAD[what]

def large(k, *, stream):
    return np.full(k, 2**63 - 1, dtype=np.int64)

def cancelling(k, *, stream):
    return np.roll([1e16, 1.0, -1e16, 1.0, 1e-3, 3.0], k)
"""


def code_of(files: Mapping[str, str | bytes]) -> Code:
    content = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    return Code(canonical_sha256({name: hashlib.sha256(data).hexdigest() for name, data in content.items()}), content)


CODE = code_of({"case.py": CASE})


def unit(function: str, k: int = 1, replicate: int = 0, **keywords: Any) -> Unit:
    target = f"case:{function}"
    named = tuple(sorted((name, str(value) if isinstance(value, Path) else value) for name, value in keywords.items()))
    return Unit("r", "probe", target, target, (("k", k),), replicate, named)


def wanting(jobs: Sequence[Job]) -> Generator[Sequence[Job], Mapping[str, Row | Failure], list[Row | Failure]]:
    results = yield jobs
    return [results[job.key] for job in jobs]


def outcome(executor: Executor, jobs: Sequence[Job], *, code: Code = CODE, **options: Any) -> list[Any]:
    # a procedure each: one that has met a failure waits for nothing more
    results = drive([wanting([job]) for job in jobs], code=code, executor=executor, **options)
    return [row for rows in results for row in rows]


def eventually(what: str, happened: Callable[[], Any]) -> None:
    until = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < until, f"{what} did not happen in {PATIENCE} s"
        time.sleep(0.01)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def has_pid(path: Path) -> bool:
    return path.exists() and path.read_text().endswith("\n")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="module", params=KINDS)
def executor(request: pytest.FixtureRequest, cache: Path) -> Iterator[Executor]:  # noqa: ARG001  # workers inherit it
    opened = open_executor(request.param)
    yield opened
    opened.close()


# rows


def test_rows_are_what_the_target_returns_on_the_units_own_stream(executor: Executor) -> None:
    units = [unit(name, k, r, n=50) for name in ("integers", "floats") for k in (3, 9) for r in range(3)]
    rows = outcome(executor, units)
    for job, row in zip(units, rows, strict=True):
        drawn = np.random.Generator(np.random.Philox(key=job.stream))
        k = job.scale[0][1]
        sums = sums_of(row)
        if job.target == "case:integers":
            values = drawn.integers(0, k, 50).tolist()
            assert (sums.exact, sums.total, sums.total_of_squares) == (True, sum(values), sum(v * v for v in values))
        else:
            values = (drawn.standard_normal(50) * 10.0**k).tolist()
            assert (sums.exact, float(sums.total)) == (False, math.fsum(values))
        assert sums.n == 50
    assert len({row["values_sha256"] for row in rows}) == len(units)


def test_rows_are_those_of_a_plain_call(executor: Executor) -> None:
    # whatever an executor adds between a target and its row must not show; so all executors give the same rows
    plain: dict[str, Any] = {}
    exec(CASE, plain)  # noqa: S102  # the text above
    units = [unit(name, k, r, n=200) for name in ("integers", "floats") for k in (2, 50) for r in range(4)]
    expected: list[Row] = [
        unit_row(plain[job.target.removeprefix("case:")](job.scale[0][1], stream=job.stream, n=200)) for job in units
    ]
    assert json.dumps(outcome(executor, units)) == json.dumps(expected)
    values = outcome(executor, [ValueCall("r", "case:half", (("k", k),), ()) for k in (3, 4)])
    assert [value_of(row) for row in values] == [Fraction(3, 2), 2]
    (names,) = outcome(executor, [Inspection(CODE.sha256, "case:integers")])
    assert names == {"names": ["stream", "n"], "required": ["stream", "n"]}


def test_integers_are_summed_beyond_64_bits(executor: Executor) -> None:
    (row,) = outcome(executor, [unit("large", 1000)])
    assert sums_of(row).total == 1000 * (2**63 - 1)
    assert sums_of(row).total_of_squares == 1000 * (2**63 - 1) ** 2


def test_the_sum_of_floats_does_not_depend_on_their_order(executor: Executor) -> None:
    sums = [sums_of(row) for row in outcome(executor, [unit("cancelling", k) for k in range(6)])]
    assert {float(s.total) for s in sums} == {math.fsum([1e16, 1.0, -1e16, 1.0, 1e-3, 3.0])}
    assert len({s.total_of_squares for s in sums}) == 1
    assert len({s.values_sha256 for s in sums}) == 6


# what goes wrong in a unit


def test_a_unit_that_raises_is_a_failure_with_its_traceback_and_the_others_finish(executor: Executor) -> None:
    first, failure, value, last = outcome(
        executor,
        [unit("integers", n=5), unit("raises", 7), ValueCall("r", "case:raises", (("k", 7),), ()), unit("large", 2)],
    )
    assert isinstance(failure, Failure)
    assert failure.what == "case:raises raised ValueError: no luck at 7"
    assert 'raise ValueError(f"no luck at {k}")' in failure.traceback
    assert isinstance(value, Failure)  # `stream` is not given to a value
    assert "TypeError" in value.what
    assert sums_of(first).n == 5
    assert sums_of(last).n == 2


def test_a_unit_that_exits_is_a_failure(executor: Executor) -> None:
    failure, row = outcome(executor, [unit("exits"), unit("large", 2)])
    assert failure.what == "case:exits raised SystemExit: 3"
    assert "sys.exit(3)" in failure.traceback
    assert sums_of(row).n == 2


@pytest.mark.parametrize("death", ["vanishes", "is_killed"])
def test_a_unit_that_workers_die_of_has_three_attempts(executor: Executor, death: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    jobs = [unit("large", 2), unit(death, 5, path=path), *(unit("integers", 9, r, n=3) for r in range(5))]
    first, failure, *others = outcome(executor, jobs)
    assert failure == Failure(f"case:{death}: {MAX_ATTEMPTS} workers died during this unit", lost=True)
    assert lines(path) == ["5"] * MAX_ATTEMPTS == ["5"] * 3
    assert [sums_of(row).n for row in (first, *others)] == [2, 3, 3, 3, 3, 3]


def test_a_unit_whose_worker_was_killed_once_is_computed_again(executor: Executor, tmp_path: Path) -> None:
    path = tmp_path / "log"
    (row,) = outcome(executor, [unit("is_killed_once", 5, path=path)])
    assert sums_of(row).total == 5
    assert lines(path) == ["5", "5"]


def test_a_worker_killed_from_outside_loses_what_it_had_not_reported(executor: Executor, tmp_path: Path) -> None:
    path = tmp_path / "go"
    jobs = (unit("large", 1), unit("waits", 2, path=path), unit("large", 3))
    executor.submit(Task(CODE, jobs))
    events = collect(executor, 1)
    assert [event.job for event in events if isinstance(event, Finished)] == [jobs[0]]  # while the task goes on
    pid = Path(f"{path}.pid")
    eventually("the second unit", lambda: has_pid(pid))
    os.kill(int(pid.read_text()), signal.SIGKILL)
    (lost,) = collect(executor, 1)
    assert lost == Lost(jobs[1:])
    path.touch()
    assert [sums_of(row).n for row in outcome(executor, jobs)] == [1, 1, 3]


def collect(executor: Executor, count: int) -> list[Any]:
    events: list[Any] = []

    def more() -> bool:
        events.extend(executor.events(timeout=0.05))
        return len(events) >= count

    eventually("an event", more)
    return events


def test_a_worker_that_died_idle_costs_nothing(executor: Executor) -> None:
    pids = {int(sums_of(row).total) for row in outcome(executor, [unit("process", r, r) for r in range(6)])}
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    assert [sums_of(row).n for row in outcome(executor, [unit("large", k) for k in (2, 3, 4)])] == [2, 3, 4]


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("nan", "returned nan at position 1"),
        ("infinity", "returned inf at position 0"),
        ("empty", "not one value per inner repetition"),
        ("two_dimensions", "shape (2, 2), not one value per inner repetition"),
        ("objects", "type object, neither integers nor floats"),
        ("mapping", "returned a mapping; this rule takes one array"),
        ("nothing", "returned nothing"),
        ("number", "shape ()"),
        ("texts", "neither integers nor floats"),
        ("ragged", "a list that is no array"),
    ],
)
def test_what_may_not_be_returned_is_a_failure_in_clear_words(executor: Executor, what: str, says: str) -> None:
    (failure,) = outcome(executor, [unit("bad", what=what)])
    assert isinstance(failure, Failure)
    assert failure.what.startswith("case:bad: returned ")
    assert says in failure.what
    assert failure.traceback == ""  # it is not the case's code that raised


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("cases:integers", "the case folder has no module cases.py, or it is a link"),
        ("json:dumps", "the case folder has no module json.py, or it is a link"),
        ("case:integer", "case.py has no function integer"),
        ("case:BAD", "case.py has no function BAD"),
        ("broken:f", "broken:f raised SyntaxError"),
        ("needy:f", "needy:f raised ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_a_target_that_does_not_import_is_a_failure(executor: Executor, target: str, says: str) -> None:
    code = code_of({"case.py": CASE, "broken.py": "def f(:", "needy.py": "import no_such_module"})
    (failure,) = outcome(executor, [Inspection(code.sha256, target)], code=code)
    assert isinstance(failure, Failure)
    assert says in failure.what


def test_a_worker_that_reports_too_much_is_ended(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setattr(local, "MAX_REPORT", 8)
    executor = LocalExecutor(1)
    try:
        (failure,) = outcome(executor, [unit("large", 2)])
    finally:
        executor.close()
    assert failure == Failure("case:large: 3 workers died during this unit", lost=True)


def test_an_interrupt_of_the_terminal_does_not_reach_local_workers(cache: Path, tmp_path: Path) -> None:  # noqa: ARG001
    executor = LocalExecutor(1)
    path = tmp_path / "go"
    pid = Path(f"{path}.pid")
    try:
        executor.submit(Task(CODE, (unit("waits", 2, path=path),)))
        eventually("the unit", lambda: has_pid(pid))
        os.kill(int(pid.read_text()), signal.SIGINT)
        path.touch()
        (event,) = collect(executor, 1)
    finally:
        executor.close()
    assert isinstance(event, Finished)
    assert sums_of(event.result).total == 2


# code


def test_code_edited_during_a_run_changes_nothing(executor: Executor, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "late.py").write_text("VALUE = 1\n")
    (folder / "case.py").write_text(CASE + "\ndef imports(k, *, stream):\n    import late\n    return [late.VALUE]\n")
    code = code_of(read_folder(folder))

    def procedure() -> Generator[Sequence[Job], Mapping[str, Row | Failure], list[Row | Failure]]:
        first = unit("large", 2)
        rows = [(yield [first])[first.key]]
        (folder / "late.py").write_text("VALUE = 2\n")
        (folder / "case.py").unlink()
        second = unit("imports")
        rows.append((yield [second])[second.key])
        return rows

    (rows,) = drive([procedure()], code=code, executor=executor)
    assert sums_of(rows[1]).total == 1


def test_cases_with_the_same_module_names_do_not_mix(executor: Executor) -> None:
    text = "import helper, package\ndef f(k, *, stream):\n    return [helper.VALUE + package.VALUE]\n"
    codes = [
        code_of({"case.py": text, "helper.py": f"VALUE = {v}", "package/__init__.py": f"VALUE = {100 * v}"})
        for v in (1, 2)
    ]
    for _ in range(3):
        for value, code in enumerate(codes, 1):
            rows = outcome(executor, [unit("f", k, k) for k in range(4)], code=code)
            assert {int(sums_of(row).total) for row in rows} == {101 * value}


def test_nothing_is_written_into_the_case_folder(executor: Executor, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "case.py").write_text(CASE + "\nimport helper\n")
    (folder / "helper.py").write_text("")
    before = sorted(folder.rglob("*"))
    outcome(executor, [unit("large", 2), unit("raises")], code=code_of(read_folder(folder)))
    assert sorted(folder.rglob("*")) == before


def test_code_is_laid_out_once_and_mended_where_it_differs(executor: Executor, cache: Path) -> None:
    code = code_of({"case.py": "def f(k, *, stream):\n    return [1]\n", "data/x.txt": "x"})
    other = code_of({"case.py": "def f(k, *, stream):\n    return [2]\n"})
    outcome(executor, [unit("f")], code=code)
    folder = cache / "verifier" / "code" / code.sha256
    assert (folder / "data" / "x.txt").read_text() == "x"
    (folder / "case.py").write_text("def f(k, *, stream):\n    return [3]\n")
    (folder / "extra.py").write_text("")
    for _ in range(2):  # every worker leaves the case and comes back to it
        outcome(executor, [unit("f", k, k) for k in range(4)], code=other)
    rows = outcome(executor, [unit("f", k, k) for k in range(4)], code=code)
    assert {int(sums_of(row).total) for row in rows} == {1}
    assert not (folder / "extra.py").exists()


# the store


def test_a_stored_unit_is_not_computed_again(executor: Executor, tmp_path: Path) -> None:
    store, path = UnitStore(tmp_path / "units.db"), tmp_path / "log"
    jobs = [unit("logged", k, path=path) for k in range(5)]
    first = outcome(executor, jobs, store=store)
    again = outcome(executor, [*jobs, unit("logged", 5, path=path)], store=store)
    store.close()
    assert again[:5] == first
    assert sorted(lines(path)) == ["0", "1", "2", "3", "4", "5"]


def test_a_failure_is_kept_and_tried_again_next_time(executor: Executor, tmp_path: Path) -> None:
    store, path = UnitStore(tmp_path / "units.db"), tmp_path / "ready"
    job = unit("raises_until", 4, path=path)
    (failure,) = outcome(executor, [job], store=store)
    assert isinstance(failure, Failure)
    assert store.get([job.key]) == {}
    path.touch()
    (row,) = outcome(executor, [job], store=store)
    assert sums_of(row).total == 4
    assert store.get([job.key]) == {job.key: row}
    store.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "units.db")) as file:
        ((key, what),) = file.execute("SELECT key, what FROM failures").fetchall()
    assert (key, what) == (job.key, "case:raises_until raised ValueError: not yet")


def test_the_time_limit_keeps_what_is_finished(
    executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, path = UnitStore(tmp_path / "units.db"), tmp_path / "go"
    quick, slow = unit("large", 2), unit("waits", 3, path=path)
    pid = Path(f"{path}.pid")

    def now() -> float:
        return float(bool(store.get([quick.key])) and has_pid(pid))

    monkeypatch.setattr(drive_module, "time", SimpleNamespace(monotonic=now))
    with pytest.raises(OutOfTime):
        outcome(executor, [quick, slow], store=store, deadline=1.0)
    assert list(store.get([quick.key, slow.key])) == [quick.key]
    path.touch()
    store.close()
    eventually("the slow unit", lambda: any(e.job == slow for e in executor.events(timeout=0.05)))


# the driver's process

DRIVER = """
import json, sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from test_executors import CODE, outcome, unit
from verifier.sweeps.executors import open_executor
from verifier.sweeps.jobs import Failure
from verifier.sweeps.store import UnitStore

if __name__ == "__main__":
    executor = open_executor(sys.argv[1])
    store = UnitStore(Path(sys.argv[2])) if sys.argv[2] else None
    jobs = [unit(*arguments, **keywords) for arguments, keywords in json.loads(sys.argv[3])]
    rows = outcome(executor, jobs, store=store)
    executor.close()
    print(json.dumps([row.what if isinstance(row, Failure) else row for row in rows]))
"""


@pytest.fixture(params=KINDS[1:])
def driver(request: pytest.FixtureRequest, cache: Path, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:  # noqa: ARG001
    script = tmp_path / "driver.py"
    script.write_text(textwrap.dedent(DRIVER.format(folder=str(Path(__file__).parent))))

    def start(jobs: list[tuple[list[Any], dict[str, str]]], *, store: Path | str = "") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(script), request.param, str(store), json.dumps(jobs)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_what_a_case_prints_does_not_reach_the_terminal(driver: Callable[..., subprocess.Popen[str]]) -> None:
    process = driver([(["shouts", 3], {}), (["raises", 3], {})])
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    (line,) = out.splitlines()
    row, failure = json.loads(line)
    assert row["sum"] == "3"
    assert failure.endswith("no luck at 3")
    assert "SHOUT" not in err
    assert "Traceback" not in err


def test_workers_end_when_the_driver_is_killed(driver: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    path = tmp_path / "go"
    pid = Path(f"{path}.pid")
    process = driver([(["waits", 3], {"path": str(path)})])
    eventually("the unit", lambda: has_pid(pid))
    worker = int(pid.read_text())
    assert alive(worker)
    process.kill()
    process.communicate()
    eventually("the worker's end", lambda: not alive(worker))


def test_a_killed_run_finishes_from_the_store(driver: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    go, store = tmp_path / "go", tmp_path / "units.db"
    log = Path(f"{go}.log")
    jobs = [(["at_four_waits", k], {"path": str(go)}) for k in range(8)]
    keys = [unit("at_four_waits", k, path=go).key for k in range(8)]

    def stored() -> set[str]:
        if store.exists():
            with contextlib.closing(sqlite3.connect(store, timeout=30)) as file:
                tables = file.execute("SELECT count(*) FROM sqlite_master WHERE name = 'rows'").fetchone()[0]
                return {key for (key,) in file.execute("SELECT key FROM rows")} if tables else set()
        return set()

    process = driver(jobs, store=store)
    eventually("the first four units", lambda: set(keys[:4]) <= stored() and "4" in lines(log))
    process.kill()
    process.communicate()
    assert keys[4] not in stored()
    done = {k for k in range(8) if keys[k] in stored()}
    go.touch()
    process = driver(jobs, store=store)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert [row["sum"] for row in json.loads(out)] == [str(2 * k) for k in range(8)]
    counts = [lines(log).count(str(k)) for k in range(8)]
    assert all(counts[k] == 1 for k in done), counts
    assert {0, 1, 2, 3} <= done
    assert counts[4] == 2
    assert max(counts) == 2
