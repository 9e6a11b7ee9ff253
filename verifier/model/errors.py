"""The one error base: what is wrong, where, and how to mend it."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command line. 1 is absent: Python and click use it for crashes."""

    DONE = 0
    BAD_INPUT = 2
    NO_ANSWER = 3
    TAMPERED = 4
    DOES_NOT_HOLD = 10
    INTERRUPTED = 130


class VerifierError(Exception):
    """A failure that a person can act on.

    `what` says what is wrong, `where` names the file, line, key or option, `mend` says how to put it
    right. Each is a clause without a final full stop; `sentence` joins them.
    """

    exit_code: Exit = Exit.BAD_INPUT

    def __init__(self, what: str, *, where: str = "", mend: str = "") -> None:
        self.what = what
        self.where = where
        self.mend = mend
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """The error as one sentence: where, what, how to mend."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}; {self.mend}." if self.mend else f"{head}."


class BadInput(VerifierError):
    """A file, number or option is not what it must be; nothing was changed."""


class InfrastructureFailed(VerifierError):
    """No answer: a disk, a folder, a worker, a dependency or a clock failed."""

    exit_code = Exit.NO_ANSWER


EXTRAS = {
    "numba": "sweep",
    "statsmodels": "sweep",
    "ray": "ray",
    "jax": "jax",
    "pyarrow": "parquet",
    "psycopg": "postgres",
    "starlette": "web",
    "uvicorn": "web",
}
"""Module -> the extra of this distribution that installs it."""


class MissingExtra(InfrastructureFailed):
    """A module that an extra of this distribution installs is not there."""

    def __init__(self, module: str, *, where: str = "") -> None:
        super().__init__(
            f"{module} is not installed",
            where=where,
            mend=f"install it with: pip install 'dispute-verifier[{EXTRAS[module]}]'",
        )


class Interrupted(VerifierError):
    """The user stopped the command."""

    exit_code = Exit.INTERRUPTED


class TamperingDetected(VerifierError):
    """A record differs from what its hashes say."""

    exit_code = Exit.TAMPERED
