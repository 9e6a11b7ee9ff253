"""`run --witness`: between registration and first evidence the head is signed, and cosigned by a witness."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.signing import checkpoints_folder, cosign_file, sign_head
from verifier.model.errors import BadInput, InfrastructureFailed
from verifier.model.printable import printable

if TYPE_CHECKING:
    from verifier.engine.register import Registration
    from verifier.ledger import Ledger
    from verifier.ledger.keys import PrivateKey, PublicKey
    from verifier.model.results import CaseResult

_SECONDS = 120  # that a witness's command may take
_AHEAD = 30  # seconds by which a witness's clock may be ahead: they are waited for


def witness_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--sign`, `--witness`, `--witness-key` and `--first-seen`."""
    options = [
        click.option("--sign", "sign_file", metavar="KEYFILE", help="The log's private key; with --witness."),
        click.option(
            "--witness",
            "witness_by",
            metavar="KEYFILE|CMD",
            help="Who cosigns the registration before anything is run: a witness's private key, or with --witness-key "
            "a command.",
        ),
        click.option(
            "--witness-key",
            "witness_vkey",
            metavar="VKEY",
            help="--witness is a command that cosigns the file named as its last word; this key checks it.",
        ),
        click.option("--first-seen", is_flag=True, help="The witness in KEYFILE never saw this log before."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True)
class Witnessing:
    """The log's key, and a witness: `cosign` has it sign the checkpoint in a file.

    `flags` are the options that ask for the same again.
    """

    log: PrivateKey
    witness: PublicKey
    cosign: Callable[[Ledger, Path], None]
    flags: str

    def before_evidence(self, ledger: Ledger, registration: Registration) -> None:
        """Has the head witnessed, unless the registration is already, or has evidence, which nothing can precede now.

        Raises a VerifierError where it is not witnessed in the end: then nothing is run.
        """
        key = registration.entry.registration
        assert key is not None
        if next(ledger.entries("evidence", registration=key), None) is not None:
            return
        if any(registration.entry.n <= size for size, _ in self._cosigned(ledger)):
            return
        from verifier.ledger.checkpoints import open_checkpoint
        from verifier.ledger.kept import read_note_file
        from verifier.ledger.times import system_now

        path, note = sign_head(ledger, self.log)
        self.cosign(ledger, path)
        opened = open_checkpoint(
            read_note_file(path), key=self.log.public, witnesses=[self.witness], where=f"--witness {path}"
        )
        if opened.note.text != note.text:
            raise BadInput("the witness left another checkpoint in the file", where=f"--witness {path}")
        ahead = opened.cosigned[0].second - system_now()
        if ahead > _AHEAD:
            raise InfrastructureFailed(
                f"the witness's clock is {ahead} seconds ahead of this one", where="--witness", mend="set one of them"
            )
        time.sleep(max(ahead, 0))  # evidence is not older than what it follows

    def told(self, ledger: Ledger, result: CaseResult) -> CaseResult:
        """The result, saying who witnessed its registration, if anybody did."""
        from verifier.ledger.witness import registrations_witnessed

        of_case = chain.from_iterable(
            ledger.entries(kind, registration=result.registration) for kind in ("registration", "evidence")
        )
        if not registrations_witnessed(of_case, self._cosigned(ledger)).get(result.registration):
            return result
        return replace(result, ledger=replace(result.ledger, witness=self.witness.name))

    def _cosigned(self, ledger: Ledger) -> list[tuple[int, int]]:
        from verifier.ledger.cosigned import cosigned_in
        from verifier.ledger.log_keys import log_keys

        keys = log_keys(ledger.entries("key"), self.log.public)
        return cosigned_in(checkpoints_folder(ledger), tree=ledger.tree(), keys=keys, witnesses=[self.witness])


def witnessing_of(
    sign_file: str | None, witness_by: str | None, witness_vkey: str | None, *, first_seen: bool
) -> Witnessing | None:
    """What the options ask for; None for none. Raises BadInput where they do not belong together."""
    if sign_file is None and witness_by is None and witness_vkey is None and not first_seen:
        return None
    if sign_file is None or witness_by is None:
        raise BadInput(
            "a witness cosigns what the log signed", where="--sign, --witness", mend="give both the log's key and it"
        )
    from verifier.ledger import fixed_epoch
    from verifier.ledger.checkpoints import check_roles
    from verifier.ledger.keys import load_private, parse_vkey

    if fixed_epoch() is not None:
        raise BadInput(
            "a witness says when, and under SOURCE_DATE_EPOCH no entry does", where="--witness", mend="leave one out"
        )
    log = load_private(sign_file)
    if witness_vkey is not None:
        if first_seen:
            raise BadInput("what the witness saw is its own command's to know", where="--first-seen")
        witness = parse_vkey(witness_vkey, where="--witness-key")
        words = _words(witness_by)
        flags = shlex.join(["--sign", sign_file, "--witness", witness_by, "--witness-key", witness_vkey])
        made = Witnessing(log, witness, lambda _ledger, path: _call([*words, str(path)]), flags)
    else:
        private = load_private(witness_by)
        seen = Path(f"{witness_by}.seen")

        def cosign(ledger: Ledger, path: Path) -> None:
            cosign_file(
                ledger, path, private=private, log=log.public, seen=seen, first=first_seen and not seen.exists()
            )

        flags = shlex.join(["--sign", sign_file, "--witness", witness_by])
        made = Witnessing(log, private.public, cosign, flags)
    check_roles(log.public, [made.witness])
    return made


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"the command cannot be read ({error})", where="--witness") from error
    if not words:
        raise BadInput("the command is empty", where="--witness")
    return words


def _call(words: list[str]) -> None:
    """Runs a witness's command, without a shell. Raises InfrastructureFailed where it fails."""
    try:
        done = subprocess.run(  # noqa: S603  # the user's own words, typed for this
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise InfrastructureFailed(
            f"the witness has not answered for {_SECONDS} seconds", where="--witness", mend="run it again"
        ) from error
    except OSError as error:
        raise InfrastructureFailed(
            f"the witness's command cannot be run ({error.strerror})", where="--witness", mend="look at its name"
        ) from error
    if done.returncode:
        said = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
        raise InfrastructureFailed(
            f"the witness refused: {printable(said)[:300]}", where="--witness", mend="see why, and run it again"
        )
