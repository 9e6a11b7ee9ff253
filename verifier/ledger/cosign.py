"""Cosignatures (C2SP tlog-cosignature v1, type 0x04): a witness's word that it saw a checkpoint, and when."""

from __future__ import annotations

from verifier.ledger import keys
from verifier.ledger.keys import SIGNATURE_BYTES, KeyType, PrivateKey, PublicKey
from verifier.ledger.notes import Note, Signature
from verifier.model.errors import BadInput, TamperingDetected

_TIME_BYTES = 8
_LAST_SECOND = 2**63 - 1


def cosigned_message(text: str, second: int) -> bytes:
    """The bytes a witness signs: a header line, the time in seconds since 1970, and the checkpoint's text."""
    return f"cosignature/v1\ntime {second}\n{text}".encode()


def cosign(note: Note, private: PrivateKey, *, second: int) -> Signature:
    """The witness's signature line over a checkpoint, stamped with `second`. Raises BadInput for another type of key.

    Whether the checkpoint may be cosigned is not asked here: see `witness`.
    """
    if private.type is not KeyType.COSIGNATURE:
        raise BadInput(
            "this is not a witness's key", where=private.name, mend="make one with `ledger keygen --witness`"
        )
    if not 0 < second <= _LAST_SECOND:
        raise BadInput("the time of a cosignature is out of range", where="clock")
    data = second.to_bytes(_TIME_BYTES, "big") + keys.sign(private, cosigned_message(note.text, second))
    return Signature(private.name, private.public.id, data)


def check_cosigned(note: Note, witness: PublicKey, *, where: str) -> int:
    """When the witness cosigned the note, in seconds since 1970; the first time where it did so repeatedly.

    Raises TamperingDetected where it did not, or where a line that claims to be its cosignature does not fit.
    """
    found = note.of(witness)
    if not found:
        raise TamperingDetected(
            f"the witness {witness.name}+{witness.id.hex()} has not cosigned this note", where=where
        )
    seconds = [cosignature_second(note, one, witness) for one in found]
    if None in seconds:
        raise TamperingDetected(
            f"the cosignature of {witness.name}+{witness.id.hex()} does not fit this note", where=where
        )
    return min(second for second in seconds if second is not None)


def cosignature_second(note: Note, signature: Signature, witness: PublicKey) -> int | None:
    """The time stamped on a cosignature, or None where it does not fit the note and the witness's key."""
    if len(signature.data) != _TIME_BYTES + SIGNATURE_BYTES:
        return None
    second = int.from_bytes(signature.data[:_TIME_BYTES], "big")
    if not 0 < second <= _LAST_SECOND:
        return None
    fits = keys.verify(witness, signature.data[_TIME_BYTES:], cosigned_message(note.text, second))
    return second if fits else None
