"""What a witness does: it cosigns a checkpoint only where the one it saw last is provably its beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from verifier.ledger.checkpoints import Checkpoint, check_roles, open_checkpoint, parse_checkpoint
from verifier.ledger.cosign import check_cosigned, cosign
from verifier.ledger.entry import Entry
from verifier.ledger.keys import PrivateKey, PublicKey
from verifier.ledger.merkle import EMPTY_ROOT, verify_consistency
from verifier.ledger.notes import Note, parse_note, with_signatures
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected

Prove = Callable[[int, int], Sequence[bytes]]
"""(old size, new size) -> consistency proof, from a store that is not trusted. IndexError where it has too few."""


def cosign_next(
    data: bytes, *, log: PublicKey, private: PrivateKey, seen: bytes | None, prove: Prove, second: int, where: str
) -> Note:
    """The checkpoint in `data` with the witness's cosignature, once it has been found to continue what was seen.

    `seen` is the checkpoint that this witness cosigned last, as it kept it for itself; None for the first. `second` is
    the witness's clock. Raises TamperingDetected where the log's signature does not fit, where the proof fails, or
    where `seen` does not bear the witness's own cosignature; BadInput for keys of the wrong role, a checkpoint older
    than what was seen, or one of another log; InfrastructureFailed for a clock that went back.
    """
    check_roles(log, [private.public])
    trusted = open_checkpoint(data, key=log, where=where)
    checkpoint = trusted.checkpoint
    before, at = _seen(seen, private.public)
    if before is not None and before.origin != checkpoint.origin:
        raise BadInput(
            f"what this witness saw last is of {before.origin}, and this is of {checkpoint.origin}",
            where=where,
            mend="keep a file for each log, with --seen",
        )
    old, old_root = (0, EMPTY_ROOT) if before is None else (before.size, before.root)
    if checkpoint.size < old:
        raise BadInput(
            f"this checkpoint of {checkpoint.size} entries is older than the one of {old} that was cosigned last",
            where=where,
            mend="make a new one with `verifier ledger checkpoint`",
        )
    if second < at:
        raise InfrastructureFailed("the clock stands before the last cosignature", where="clock", mend="set it")
    proof = _proof(prove, old, checkpoint.size, where)
    if not verify_consistency(old=old, old_root=old_root, size=checkpoint.size, root=checkpoint.root, proof=proof):
        raise TamperingDetected(
            f"the {old} entries that this witness saw last are not the beginning of this checkpoint's "
            f"{checkpoint.size}, so it is not cosigned",
            where=where,
        )
    return with_signatures(trusted.note, [cosign(trusted.note, private, second=second)])


def _seen(data: bytes | None, witness: PublicKey) -> tuple[Checkpoint | None, int]:
    """The checkpoint cosigned last and the second it was."""
    if data is None:
        return None, 0
    where = "the checkpoint seen last"
    note = parse_note(data, where=where)
    return parse_checkpoint(note.text, where=where), check_cosigned(note, witness, where=where)


def _proof(prove: Prove, old: int, size: int, where: str) -> Sequence[bytes]:
    try:
        return prove(old, size)
    except IndexError as error:
        raise TamperingDetected(
            f"the ledger holds fewer than the {size} entries of this checkpoint", where=where
        ) from error


def witnessed(*, registered: int, first_evidence: int, time: int, cosigned: Iterable[tuple[int, int]]) -> bool:
    """Whether a registration is known to be older than its evidence by somebody else's word.

    `registered` and `first_evidence` are the numbers of the two entries, `time` the second of the latter, `cosigned`
    pairs (size, second) of trusted cosignatures. True where a checkpoint that covers the registration and not the
    evidence was cosigned no later than the evidence says it was written.
    """
    return any(registered <= size < first_evidence and second <= time for size, second in cosigned)


def registrations_witnessed(entries: Iterable[Entry], cosigned: Sequence[tuple[int, int]]) -> dict[str, bool]:
    """Registration hash -> whether it is `witnessed`, for every registration under which there is evidence.

    `entries` are registrations and evidence in order; others are passed over. `cosigned` is as in `witnessed`.
    """
    registered: dict[str, int] = {}
    leaves: dict[str, str] = {}
    found: dict[str, bool] = {}
    for entry in entries:
        key = entry.registration
        if entry.kind == "registration" and key is not None:
            leaves.setdefault(entry.leaf, key)
        if key is None and entry.kind == "evidence":  # withheld: what it refers to still says where it belongs
            key = next((leaves[leaf] for leaf in entry.refs if leaf in leaves), None)
        if entry.kind not in ("registration", "evidence") or key is None or key in found:
            continue
        if entry.kind == "registration":
            registered.setdefault(key, entry.n)
            continue
        time = int(datetime.fromisoformat(entry.time[:-1]).replace(tzinfo=UTC).timestamp())
        # evidence without its registration before it was never registered, and so not witnessed
        found[key] = key in registered and witnessed(
            registered=registered[key], first_evidence=entry.n, time=time, cosigned=cosigned
        )
    return found
