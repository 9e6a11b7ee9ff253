"""Keys against the vectors of RFC 8032 and of Go's signed notes; key files that others could read are refused."""

import base64
import os
import stat
from pathlib import Path

import pytest

from verifier.ledger import bundle_checker
from verifier.ledger.keys import (
    KeyType,
    PrivateKey,
    PublicKey,
    fingerprint,
    generate,
    is_small_order,
    key_id,
    load_private,
    parse_private,
    parse_vkey,
    private_text,
    save_private,
    sign,
    verify,
)
from verifier.model.errors import BadInput, InfrastructureFailed

# RFC 8032, 7.1: seed, public key, message, signature
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe"
            "24655141438e7a100b"
        ),
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302a"
            "eeb00d291612bb0c00"
        ),
    ),
]
# golang.org/x/mod/sumdb/note
GO_VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_SKEY = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
# transparency-dev/formats, note_cosigv1_test.go: types 0x01 and 0x04, one with a plus in its base64
OTHER_VKEYS = [
    "TEST+7997405c+AQcC+FTVKf0jlTdHDY3rbevmnKxxPjigCXlVtGe6RIr6",
    "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2",
]


@pytest.mark.parametrize(("seed", "public", "message", "signature"), VECTORS)
def test_rfc_8032(seed: str, public: str, message: str, signature: str) -> None:
    private = PrivateKey("k", bytes.fromhex(seed))
    data = bytes.fromhex(message)
    assert private.public.raw.hex() == public
    assert sign(private, data).hex() == signature
    assert verify(private.public, bytes.fromhex(signature), data)
    assert not verify(private.public, bytes.fromhex(signature), data + b"!")
    assert not verify(private.public, bytes.fromhex(signature)[:63], data)
    assert bundle_checker.signed(bytes.fromhex(public), bytes.fromhex(signature), data)
    assert not bundle_checker.signed(bytes.fromhex(public), bytes.fromhex(signature), data + b"!")


def test_the_two_verifiers_agree_on_changed_bits_and_on_values_out_of_range() -> None:
    private = generate("k")
    signature = sign(private, b"message")
    order = bundle_checker.L
    too_large = signature[:32] + (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    tried = [too_large, bytes(64), signature[:-1], signature + b"\0"]
    tried += [bytes([*signature[:i], signature[i] ^ 1 << i % 8, *signature[i + 1 :]]) for i in range(0, 64, 3)]
    for changed in tried:
        assert not verify(private.public, changed, b"message")
        assert not bundle_checker.signed(private.public.raw, changed, b"message")
    no_point = (2**255 - 19).to_bytes(32, "little")
    assert not bundle_checker.signed(no_point, signature, b"message")
    assert not verify(PublicKey("k", no_point), signature, b"message")


def test_verifier_keys_of_other_programs_are_read_and_written_back() -> None:
    private = parse_private(GO_SKEY, where="file")
    assert private.public == parse_vkey(GO_VKEY)
    assert private_text(private).strip() == GO_SKEY
    for vkey in (GO_VKEY, *OTHER_VKEYS):
        assert parse_vkey(f" {vkey}\n").vkey == vkey
        assert bundle_checker.verifier_key(vkey, parse_vkey(vkey).type)[2] == parse_vkey(vkey).raw
    assert [parse_vkey(vkey).type for vkey in OTHER_VKEYS] == [KeyType.NOTE, KeyType.COSIGNATURE]


@pytest.mark.parametrize(
    "vkey",
    [
        "",
        "PeterNeumann",
        "PeterNeumann+c74f20a3",
        GO_VKEY.replace("c74f20a3", "c74f20a4"),
        GO_VKEY.replace("c74f20a3", "C74F20A3"),
        GO_VKEY.replace("Peter", "Petra"),
        GO_VKEY[:-1],
        GO_VKEY + "=",
        "Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "rekor.sigstore.dev+12345678+AwEB",
        GO_VKEY * 100,
    ],
)
def test_what_is_no_verifier_key_is_refused(vkey: str) -> None:
    with pytest.raises(BadInput):
        parse_vkey(vkey)
    with pytest.raises(bundle_checker.Malformed):
        bundle_checker.verifier_key(vkey, 1)


def test_a_key_file_is_its_owners_alone(tmp_path: Path) -> None:
    private, path = generate("example.org/ledger"), tmp_path / "log.key"
    umask = os.umask(0)
    try:
        save_private(private, path)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_private(path) == private
    assert private.seed.hex() not in repr(private)
    for mode in (0o640, 0o604, 0o620, 0o602, 0o666):
        path.chmod(mode)
        with pytest.raises(BadInput, match="others than its owner"):
            load_private(path)
    path.chmod(0o600)
    with pytest.raises(BadInput, match="never overwritten"):
        save_private(generate("b"), path)
    assert load_private(path) == private


def test_what_is_no_key_file_is_refused_without_showing_it(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    for content in ("", GO_VKEY, GO_SKEY.replace("c74f20a3", "c74f20a4"), GO_SKEY[:-4], "x" * 5000, "\udcff"):
        path.write_bytes(content.encode(errors="surrogateescape"))
        path.chmod(0o600)
        with pytest.raises(BadInput) as caught:
            load_private(path)
        assert "AYEKFALV" not in caught.value.sentence
    with pytest.raises(BadInput, match="cannot be read"):
        load_private(tmp_path / "none.key")
    with pytest.raises(BadInput):
        load_private(tmp_path)
    with pytest.raises(InfrastructureFailed):
        save_private(generate("a"), tmp_path / "no" / "folder.key")


def test_names_and_fingerprints() -> None:
    for name in ("", "a b", "a+b", "a\n", "a\u2003b", "x" * 201):
        with pytest.raises(BadInput):
            generate(name)
    public = PrivateKey("k", bytes.fromhex(VECTORS[0][0])).public
    assert fingerprint(public) == "21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9"
    assert generate("a").seed != generate("a").seed


def small_points() -> list[bytes]:
    """Every encoding of the eight points of small order, worked out by the checker's arithmetic, which knows none.

    L times any point of the curve has an order that divides 8.
    """
    found = {bundle_checker.compress((0, 1, 1, 0))}
    for y in range(2, 40):
        point = bundle_checker.decompress(y.to_bytes(32, "little"))
        if point is not None:
            found.add(bundle_checker.compress(bundle_checker.times(bundle_checker.L, point)))
    points = {
        bundle_checker.compress(bundle_checker.add(one, other))
        for one in map(decoded, found)
        for other in map(decoded, found)
    }
    assert len(points) == 8
    ys = {int.from_bytes(one, "little") & (2**255 - 1) for one in points}
    ys |= {y + bundle_checker.P for y in ys if y + bundle_checker.P < 2**255}  # the same points, their y not reduced
    return [(y | sign << 255).to_bytes(32, "little") for y in sorted(ys) for sign in (0, 1)]


def decoded(data: bytes) -> bundle_checker.Point:
    point = bundle_checker.decompress(data)
    assert point is not None
    return point


def test_keys_of_small_order_are_nobodys() -> None:
    small = small_points()
    assert len(small) == 14
    for raw in small:
        assert is_small_order(raw)
        data = b"\1" + raw
        with pytest.raises(BadInput, match="small order"):
            parse_vkey(f"k+{key_id('k', data).hex()}+{base64.b64encode(data).decode()}")
    # for the neutral element R = S * B holds over every message; none of the verifiers takes it
    neutral, s = (1).to_bytes(32, "little"), 5
    signature = bundle_checker.compress(bundle_checker.times(s, bundle_checker.BASE)) + s.to_bytes(32, "little")
    assert not verify(PublicKey("k", neutral), signature, b"anything")
    assert not bundle_checker.signed(neutral, signature, b"anything")
    assert not any(is_small_order(generate("k").public.raw) for _ in range(20))
    assert not any(is_small_order(bytes.fromhex(public)) for _, public, _, _ in VECTORS)
