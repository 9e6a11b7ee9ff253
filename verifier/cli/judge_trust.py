"""`--key` and `--witness` of `judge show|packet|read`: whose cosignatures say that a registration was witnessed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.judge.index import JudgeIndex
    from verifier.ledger import Ledger


def trust_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the two options; the command is given `log_vkey` and `witness_vkeys`."""
    command = click.option(
        "--witness",
        "witness_vkeys",
        metavar="VKEY",
        multiple=True,
        help="A witness's verifier key; without one nothing counts as witnessed.",
    )(command)
    return click.option(
        "--key", "log_vkey", metavar="VKEY", help="The log's verifier key; the checkpoints kept beside it are read."
    )(command)


def trusted_cosignatures(
    book: Ledger, index: JudgeIndex, log_vkey: str | None, witness_vkeys: Sequence[str]
) -> list[tuple[int, int]]:
    """(size, second) of the ledger's kept checkpoints that log and witnesses signed; none where no key is given.

    Raises BadInput where only one of the two is given, or a key is none.
    """
    if log_vkey is None and not witness_vkeys:
        return []
    if log_vkey is None or not witness_vkeys:
        raise BadInput("trust needs both keys, the log's and a witness's", where="--key, --witness", mend="give both")
    from verifier.cli.signing import checkpoints_folder
    from verifier.ledger.checkpoints import check_roles
    from verifier.ledger.cosigned import cosigned_in
    from verifier.ledger.keys import parse_vkey
    from verifier.ledger.log_keys import log_keys

    log = parse_vkey(log_vkey)
    witnesses = [parse_vkey(one, where="--witness") for one in witness_vkeys]
    check_roles(log, witnesses)
    keys = log_keys(book.entries("key"), log)
    return cosigned_in(checkpoints_folder(book), tree=index.tree, keys=keys, witnesses=witnesses)
