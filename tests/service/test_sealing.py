"""Seals are those of RFC 9180: its vectors open, others open ours and we theirs, and nothing else opens at all."""

import os
from dataclasses import replace

import numpy as np
import pytest
from Crypto.Protocol import HPKE
from Crypto.PublicKey import ECC
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKey
from rig import Truthful, plan

from headcount.errors import BadArgument, WireError
from headcount.protocols.base.report_size import HEAD, HYBRID, KEYS, P256, X25519
from headcount_service.wire.keys import Announced, Signer
from headcount_service.wire.report import INNER, NO_CREDENTIAL, Report, ReportFormat
from headcount_service.wire.suites import (
    HybridPrivateKey,
    new_key,
    private_bytes,
    private_key,
    public_bytes,
    public_key,
    seal,
    unseal,
)

INFO = bytes.fromhex("4f6465206f6e2061204772656369616e2055726e")
PLAIN = bytes.fromhex("4265617574792069732074727574682c20747275746820626561757479")
AAD = b"Count-0"
VECTORS = {  # RFC 9180, A.1.1 and A.3.1: the receiver's key, enc, key, base_nonce, and the first text that was sealed
    X25519: (
        "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
        "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
        "4531685d41d65f03dc48f6b8302c05b0", "56d890e5accaaf011cff4b7d",
        "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
    ),
    P256: (
        "f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2",
        "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78e5b7f951c0900be863c403ce65c9"
        "bfcb9382657222d18c4",
        "868c066ef58aae6dc589b6cfdd18f97e", "4e0bc5018beba4bf004cca59",
        "5ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab2523f39513434",
    ),
}  # fmt: skip
LOW_ORDER = [
    bytes(32), b"\x01" + bytes(31), b"\xec" + b"\xff" * 30 + b"\x7f", b"\xed" + b"\xff" * 30 + b"\x7f",
    b"\xee" + b"\xff" * 30 + b"\x7f",
    bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
]  # fmt: skip
suites = pytest.mark.parametrize("suite", KEYS)
curves = pytest.mark.parametrize("suite", [X25519, P256])


def receiver(suite, digits):
    if suite == X25519:
        return x25519.X25519PrivateKey.from_private_bytes(bytes.fromhex(digits))
    return ec.derive_private_key(int(digits, 16), ec.SECP256R1())


@curves
def test_the_vectors_of_the_specification(suite):
    """They have additional data, which ours have not: so the text is sealed anew with the key that they derive."""
    digits, enc, key, nonce, sealed = VECTORS[suite]
    cipher = AESGCM(bytes.fromhex(key))
    assert cipher.encrypt(bytes.fromhex(nonce), PLAIN, AAD).hex() == sealed
    without = cipher.encrypt(bytes.fromhex(nonce), PLAIN, b"")
    assert unseal(suite, bytes.fromhex(enc) + without, receiver(suite, digits), INFO) == PLAIN


@curves
def test_two_other_implementations_open_ours_and_we_open_theirs(suite):
    key, size = new_key(suite), KEYS[suite]
    public = public_bytes(key.public_key())
    ours = seal(suite, PLAIN, key.public_key(), INFO)

    kem = KEMId.DHKEM_X25519_HKDF_SHA256 if suite == X25519 else KEMId.DHKEM_P256_HKDF_SHA256
    other = CipherSuite.new(kem, KDFId.HKDF_SHA256, AEADId.AES128_GCM)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    shown = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    assert other.create_recipient_context(ours[:size], KEMKey.from_pem(private), INFO).open(ours[size:]) == PLAIN
    enc, sender = other.create_sender_context(KEMKey.from_pem(shown), INFO)
    assert unseal(suite, enc + sender.seal(PLAIN), key, INFO) == PLAIN

    theirs = ECC.import_key(private)
    assert theirs.public_key().export_key(format="raw") == public
    opening = HPKE.new(receiver_key=theirs, aead_id=HPKE.AEAD.AES128_GCM, enc=ours[:size], info=INFO)
    assert opening.unseal(ours[size:]) == PLAIN
    sealing = HPKE.new(receiver_key=theirs.public_key(), aead_id=HPKE.AEAD.AES128_GCM, info=INFO)
    assert unseal(suite, sealing.enc + sealing.seal(PLAIN), key, INFO) == PLAIN


@suites
def test_a_key_is_kept_and_read_again(suite):
    key = new_key(suite)
    again = private_key(private_bytes(key))
    public = public_bytes(key.public_key())
    assert public_bytes(again.public_key()) == public
    assert unseal(suite, seal(suite, PLAIN, public_key(suite, public), INFO), again, INFO) == PLAIN
    assert public_bytes(new_key(suite).public_key()) != public


@pytest.mark.parametrize(
    "damage", [lambda key: key[:-1], lambda key: b"\xff" * 1184 + key[1184:], lambda _: bytes(1216)]
)
def test_half_a_hybrid_key_is_none(damage):
    """Neither half may be missing, of the wrong form, or one with which everybody has the same secret."""
    public = public_bytes(new_key(HYBRID).public_key())
    public_key(HYBRID, public)
    with pytest.raises(WireError):
        public_key(HYBRID, damage(public))
    with pytest.raises(WireError):
        public_key(HYBRID, public[:1184] + LOW_ORDER[1])


def test_a_hybrid_seal_needs_both_halves():
    """Whoever has one half of the private key opens nothing."""
    key = new_key(HYBRID)
    sealed = seal(HYBRID, PLAIN, key.public_key(), INFO)
    (lattice, curve), (others_lattice, others_curve) = key._parts, new_key(HYBRID)._parts
    for parts in ((lattice, others_curve), (others_lattice, curve)):
        half = HybridPrivateKey(bytes(32))
        half.__dict__["_parts"] = parts
        with pytest.raises(WireError):
            unseal(HYBRID, sealed, half, INFO)


def format_of(agreed, collection, batch):
    return ReportFormat.of(agreed.protocol, agreed.wire, collection, batch)


class Sealed:
    """One upload, with all keys that opening it takes."""

    def __init__(self, suite):
        self.plan = plan(suite=suite)
        self.format = format_of(self.plan, bytes(range(32)), 3)
        self.outer, self.inner = new_key(suite), new_key(suite)
        records = self.plan.protocol.reports(np.array([5]), Truthful()).messages
        self.messages = tuple(self.format.seal_messages(records, self.inner.public_key()))
        self.report = Report(os.urandom(16), NO_CREDENTIAL, b"".join(self.messages))
        self.body = self.format.seal_report(self.report, self.outer.public_key(), 7)


@suites
def test_an_upload_opens_as_it_was_sealed(suite):
    sealed = Sealed(suite)
    assert sealed.format.open_report(sealed.body, sealed.outer) == sealed.report
    records = [sealed.format.open_message(message, sealed.inner)[1] for message in sealed.messages]
    assert sorted(record is None for record in records) == [False, True]


@suites
def test_no_truncation_and_no_flipped_bit_opens(suite):
    """Of an upload, and of a message."""
    sealed = Sealed(suite)
    for whole, opened in (
        (sealed.body, lambda body: sealed.format.open_report(body, sealed.outer)),
        (sealed.messages[0], lambda message: sealed.format.open_message(message, sealed.inner)),
    ):
        opened(whole)
        step = 1 if suite != HYBRID else 37  # of which the encapsulated key is most
        for size in range(0, len(whole), step):
            with pytest.raises(WireError):
                opened(whole[:size])
        for bit in range(0, 8 * len(whole), step):
            if whole is sealed.body and 8 <= bit < 16:
                continue  # the number of the key, which the shuffler looks up and the seal does not know
            with pytest.raises(WireError):
                opened(_flipped(whole, bit))


def _flipped(whole, bit):
    at = bit // 8
    return whole[:at] + bytes([whole[at] ^ 1 << bit % 8]) + whole[at + 1 :]


@suites
@pytest.mark.parametrize("what", ["batch", "collection", "layer", "key", "plan"])
def test_a_seal_is_for_one_batch_of_one_collection_and_one_layer(suite, what):
    sealed, other = Sealed(suite), new_key(suite)
    other_format = {
        "batch": replace(sealed.format, batch=4),
        "collection": replace(sealed.format, collection=bytes(32)),
        "plan": format_of(plan(messages=3, suite=suite), sealed.format.collection, 3),
    }.get(what, sealed.format)
    outer, inner = (other, other) if what == "key" else (sealed.outer, sealed.inner)
    if what == "layer":
        outer, inner = sealed.inner, sealed.outer
    with pytest.raises(WireError):
        other_format.open_report(sealed.body, outer)
    if what != "plan":  # which the collection's hash is of; a message is as long in both
        with pytest.raises(WireError):
            other_format.open_message(sealed.messages[0], inner)


@pytest.mark.parametrize("point", LOW_ORDER, ids=lambda point: point.hex()[:8])
def test_points_that_make_a_secret_known_to_all_open_nothing(point):
    sealed = Sealed(X25519)
    tail = sealed.body[HEAD + 32 :]
    with pytest.raises(WireError):
        sealed.format.open_report(sealed.body[:HEAD] + point + tail, sealed.outer)
    with pytest.raises(WireError):
        sealed.format.open_message(point + sealed.messages[0][32:], sealed.inner)


@pytest.mark.parametrize("point", LOW_ORDER, ids=lambda point: point.hex()[:8])
def test_nobody_seals_to_a_key_that_makes_a_secret_known_to_all(point):
    """Not even if its owner has signed it."""
    signer = Signer(Ed25519PrivateKey.generate())
    announced = signer.signed("announcement", Announced("analyser", "x", 1, X25519, point.hex(), 2**40).to_json())
    with pytest.raises(BadArgument):
        Announced.from_json(announced, signer.public, "analyser")


@pytest.mark.parametrize(
    "point", [b"\x04" + bytes(64), b"\x04" + b"\xff" * 64, b"\x02" + bytes(64), bytes(65)], ids=range(4)
)
def test_points_that_are_not_on_the_curve_open_nothing(point):
    sealed = Sealed(P256)
    with pytest.raises(WireError):
        sealed.format.open_message(point + sealed.messages[0][65:], sealed.inner)


def test_a_message_that_says_neither_real_nor_dummy_is_none():
    sealed = Sealed(X25519)
    size, key = sealed.plan.protocol.message.itemsize, sealed.inner
    for content in (b"\x02" + bytes(size), b"\x00" + b"\x01" * size, b"\xff" * (1 + size)):
        message = seal(X25519, bytes(16) + content, key.public_key(), sealed.format.info(INNER))
        with pytest.raises(WireError):
            sealed.format.open_message(message, key)


def test_ids_are_fresh_and_the_order_means_nothing():
    """Which of two messages is the real one: over many uploads, either as often."""
    places, seen = [0, 0], set()
    for _ in range(400):
        sealed = Sealed(X25519)
        read = [sealed.format.open_message(message, sealed.inner) for message in sealed.messages]
        seen |= {identity for identity, _ in read}
        places[[record is not None for _, record in read].index(True)] += 1
    assert len(seen) == 800
    assert min(places) > 120  # below that with a chance of 1e-16
