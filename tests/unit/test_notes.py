"""Notes, checkpoints and cosignatures against published ones, and against a reader written from the C2SP pages."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import signed_note
from verifier.ledger.checkpoints import open_checkpoint, parse_checkpoint, sign_checkpoint
from verifier.ledger.cosign import check_cosigned, cosign
from verifier.ledger.keys import KeyType, generate, parse_private, parse_vkey
from verifier.ledger.notes import Note, check_signed, parse_note, sign_note, with_signatures
from verifier.model.errors import BadInput, TamperingDetected, VerifierError

# (verifier key, note): the example of C2SP signed-note, the one of golang.org/x/mod/sumdb/note
PUBLISHED = [
    (
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        (
            "This is an example message.\n\n— example.com/foo "
            "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
        ),
    ),
    (
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        (
            "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n"
            "— PeterNeumann "
            "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
        ),
    ),
]
GO_SKEY = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
# a checkpoint that another program signed and a third cosigned: the test network of dnsid-ai/dnsid-c2sp
LOG = "registry.dev.dnsid.test+63709d10+ARwL6oG1DPOaYXpfGFYdSw26SwXFlXwg/4pSQkH+meO1"
WITNESS = "dnsid-testnet-witness+140f1588+BAsNEfLiOQ/CLTgTGutdjkXbl+Ur7aleRlda6PWY0lcW"
CHECKPOINT = (
    "registry.dev.dnsid.test\n1\nhoRk0hkPFzObCxDX9po81RS5jnJB3iXBewKTs061yX0=\n\n"
    "— registry.dev.dnsid.test "
    "Y3CdECgpKysQCRqhl6VHhpBNH1fVarM6rb7x1GEaTHLOm6N4EyO/wy+ZjAf3wU+zJeBzJZ0zs0DA+u/D9ooB6RFJtAA=\n"
    "— dnsid-testnet-witness "
    "FA8ViAAAAABqVT7r7JIYyN4uQ5HTMTos+yN1oxBaNRgxoLkpzkWDR3LhxYQ3urhvCZ7hdbVNZU2OsUues3gpgSCrOrpSBmQAJOgDAg==\n"
)
ROOT = bytes(range(32))


@pytest.mark.parametrize(("vkey", "published"), PUBLISHED)
def test_published_notes_are_read_and_written_back(vkey: str, published: str) -> None:
    note = parse_note(published.encode(), where="note")
    check_signed(note, parse_vkey(vkey), where="note")
    assert str(note) == published
    assert signed_note.open_note(published, [vkey]) == (note.text, {vkey: None})
    changed = parse_note(published.replace("h", "H", 1).encode(), where="note")
    with pytest.raises(TamperingDetected, match="does not fit"):
        check_signed(changed, parse_vkey(vkey), where="note")


def test_our_signature_is_the_published_one() -> None:
    text, _, line = PUBLISHED[1][1].rpartition("\n\n")
    assert sign_note(f"{text}\n", parse_private(GO_SKEY, where="key")).line == line


def test_a_published_cosigned_checkpoint_is_read() -> None:
    trusted = open_checkpoint(
        CHECKPOINT.encode(), key=parse_vkey(LOG), witnesses=[parse_vkey(WITNESS)], where="checkpoint"
    )
    assert (trusted.checkpoint.origin, trusted.checkpoint.size) == ("registry.dev.dnsid.test", 1)
    assert [one.second for one in trusted.cosigned] == [0x6A553EEB]
    assert signed_note.open_note(CHECKPOINT, [LOG, WITNESS])[1] == {LOG: None, WITNESS: 0x6A553EEB}
    later = CHECKPOINT.replace("AABqVT7r", "AABqVT7s")  # another time, the same signature
    with pytest.raises(TamperingDetected, match="cosignature"):
        open_checkpoint(later.encode(), key=parse_vkey(LOG), witnesses=[parse_vkey(WITNESS)], where="checkpoint")
    with pytest.raises(signed_note.NotRead):
        signed_note.open_note(later, [LOG, WITNESS])


@given(size=st.integers(0, 2**63 - 1), root=st.binary(min_size=32, max_size=32), second=st.integers(1, 2**63 - 1))
def test_the_reader_from_the_pages_reads_what_we_sign(size: int, root: bytes, second: int) -> None:
    log, witness = generate("example.org/größe"), generate("w.example/one", KeyType.COSIGNATURE)
    note = sign_checkpoint(log, size=size, root=root)
    note = with_signatures(note, [cosign(note, witness, second=second)])
    text, signed = signed_note.open_note(str(note), [log.public.vkey, witness.public.vkey])
    assert signed == {log.public.vkey: None, witness.public.vkey: second}
    assert signed_note.read_checkpoint(text) == ("example.org/größe", size, root, [])
    trusted = open_checkpoint(str(note).encode(), key=log.public, witnesses=[witness.public], where="checkpoint")
    assert (trusted.checkpoint.size, trusted.checkpoint.root) == (size, root)
    assert trusted.cosigned[0].second == second


GOOD = PUBLISHED[0][1]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text\n",
        b"text\n\n",
        GOOD[:-1].encode(),
        GOOD.replace("\u2014", "-").encode(),
        GOOD.replace("— ", "—").encode(),
        GOOD.replace("example.com/foo", "example.com foo").encode(),
        GOOD.replace("example.com/foo", "a+b").encode(),
        GOOD.replace("yaQM=", "yaQM").encode(),
        GOOD.replace("yaQM=", "ya!M=").encode(),
        GOOD.replace("yaQM=", "yaQN=").encode(),  # bits after the last byte
        GOOD.replace("example m", "example\tm").encode(),
        GOOD.encode() + b"\xff",
        (GOOD + "trailing\n").encode(),
        b"x" * 2**17 + GOOD.encode(),
        (GOOD.partition("\n\n")[0] + "\n\n" + GOOD.partition("\n\n")[2] * 101).encode(),
    ],
)
def test_what_is_no_note_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        parse_note(data, where="note")


@given(at=st.integers(0, len(CHECKPOINT.encode()) - 1), flip=st.integers(1, 255))
def test_no_changed_byte_passes(at: int, flip: int) -> None:
    data = bytearray(CHECKPOINT.encode())
    data[at] ^= flip
    with pytest.raises(VerifierError):
        open_checkpoint(bytes(data), key=parse_vkey(LOG), witnesses=[parse_vkey(WITNESS)], where="checkpoint")


@pytest.mark.parametrize(
    "text",
    [
        "a\n01\n{}\n",
        "a\n-1\n{}\n",
        "a\n1\n{}\nextension\n",
        "a\n1\n{}",
        "\n1\n{}\n",
        "a b\n1\n{}\n",
        "a\n\u0661\n{}\n",
        "a\n" + "9" * 20 + "\n{}\n",
        "a\n1\n\n",
        "a\n1\nAAAA\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_checkpoint(text.format(base64.b64encode(ROOT).decode()), where="checkpoint")


def test_every_key_keeps_to_its_role() -> None:
    log, witness = generate("log"), generate("w", KeyType.COSIGNATURE)
    note = sign_checkpoint(log, size=1, root=ROOT)
    data = str(note).encode()
    with pytest.raises(BadInput, match="cosignatures only"):
        sign_checkpoint(witness, size=1, root=ROOT)
    with pytest.raises(BadInput, match="not a witness's"):
        cosign(note, log, second=1)
    with pytest.raises(BadInput, match="a witness's key, not a log's"):
        open_checkpoint(data, key=witness.public, where="checkpoint")
    with pytest.raises(BadInput, match="does not sign cosignatures"):
        open_checkpoint(data, key=log.public, witnesses=[generate("x").public], where="checkpoint")
    own = type(log)("w", log.seed, KeyType.COSIGNATURE)
    both = with_signatures(note, [cosign(note, own, second=5)])
    with pytest.raises(BadInput, match="witnesses nothing"):
        open_checkpoint(str(both).encode(), key=log.public, witnesses=[own.public], where="checkpoint")


def test_signatures_of_unknown_keys_are_passed_over_and_missing_ones_named() -> None:
    log, other = generate("log"), generate("log")
    note = sign_checkpoint(log, size=1, root=ROOT)
    more = with_signatures(note, [sign_note(note.text, other)])
    open_checkpoint(str(more).encode(), key=log.public, where="checkpoint")
    for key in (generate("log").public, generate("else").public):
        with pytest.raises(TamperingDetected, match="has not signed"):
            open_checkpoint(str(more).encode(), key=key, where="checkpoint")
    with pytest.raises(TamperingDetected, match="has not cosigned"):
        check_cosigned(more, generate("w", KeyType.COSIGNATURE).public, where="checkpoint")
    # a log that signs under another origin
    text = note.text.replace("log", "gol")
    forged = Note(text, (sign_note(text, log),))
    with pytest.raises(TamperingDetected, match="checkpoint of gol"):
        open_checkpoint(str(forged).encode(), key=log.public, where="checkpoint")


def test_a_newer_signature_replaces_the_older_one_of_its_key_alone() -> None:
    log, one, two = generate("log"), generate("w1", KeyType.COSIGNATURE), generate("w2", KeyType.COSIGNATURE)
    note = sign_checkpoint(log, size=1, root=ROOT)
    note = with_signatures(note, [cosign(note, one, second=5), cosign(note, two, second=6)])
    note = with_signatures(note, [cosign(note, one, second=9)])
    assert len(note.signatures) == 3
    assert check_cosigned(note, one.public, where="checkpoint") == 9
    assert check_cosigned(note, two.public, where="checkpoint") == 6
