"""Which checkpoints kept beside a ledger were cosigned, and what that says of its registrations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from verifier.ledger.checkpoints import open_checkpoint
from verifier.ledger.kept import kept_checkpoints, read_note_file
from verifier.ledger.keys import PublicKey
from verifier.ledger.log_keys import LogKey
from verifier.ledger.merkle import Tree
from verifier.ledger.proofs import states_root
from verifier.model.errors import VerifierError


def cosigned_in(
    folder: Path, *, tree: Tree, keys: Sequence[LogKey], witnesses: Sequence[PublicKey]
) -> list[tuple[int, int]]:
    """(size, second) of each checkpoint in a folder that the log and every witness signed and whose root is the tree's.

    `keys` are those of the log, `second` is that of the witness who was last. The folder is not trusted: a file that
    does not fit is passed over, and adds nothing. Empty where no witness is named.
    """
    found = []
    for path in kept_checkpoints(folder) if witnesses else []:
        for one in keys:
            try:
                opened = open_checkpoint(read_note_file(path), key=one.key, witnesses=witnesses, where=str(path))
            except VerifierError:
                continue
            if one.signs(opened.checkpoint.size) and states_root(tree, opened.checkpoint):
                found.append((opened.checkpoint.size, max(by.second for by in opened.cosigned)))
    return found
