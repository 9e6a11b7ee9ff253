"""A real PostgreSQL for tests, started by scripts/postgres.sh on loopback, and ledgers of their own in it."""

import contextlib
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "postgres.sh"


class Server:
    """A cluster in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = ""

    def start(self) -> None:
        """Starts it; the first time makes it. Skips the test where PostgreSQL can be neither found nor installed."""
        installed = subprocess.run([SCRIPT, "install"], capture_output=True, text=True, check=False)
        if installed.returncode:
            pytest.skip(f"no PostgreSQL: {installed.stderr.strip()[-300:]}")
        pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
        done = subprocess.run([SCRIPT, "start", self.folder], capture_output=True, text=True, check=True)
        self.url = done.stdout.strip()

    def stop(self, how: str = "fast") -> None:
        """Stops it; `immediate` leaves everything as a power cut would."""
        subprocess.run([SCRIPT, "stop", self.folder, how], check=True, capture_output=True)

    def new_ledger(self) -> str:
        """The URL of a schema in which nothing is yet."""
        import psycopg

        schema = f"s{uuid.uuid4().hex}"
        with psycopg.connect(self.plain_url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        return f"{self.url}?options={quote(f'-csearch_path={schema}')}"

    @property
    def plain_url(self) -> str:
        """The URL as libpq reads it."""
        return self.url.replace("+psycopg", "")


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """A server that is started, and stopped and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="verifier-postgres-"))
    folder.chmod(0o755)  # the unprivileged user must come through
    made = Server(folder)
    try:
        made.start()
        yield made
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            made.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)
