"""Tokens: RFC 9474 by its own vector, one for each invitation and batch, and no link between asking and using."""

import json
import os
from dataclasses import replace
from itertools import product
from math import gcd
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from rig import ISSUER, START, WINDOW, made, plan

from headcount.errors import BadArgument, RemoteRefusal, Unsupported
from headcount.protocols.base.report_size import TOKEN
from headcount_service.client.device import Client
from headcount_service.client.limits import Limits
from headcount_service.issuer.app import ISSUING
from headcount_service.issuer.issuer import key_name, signed
from headcount_service.store.database import many
from headcount_service.wire.admission import Issuing, Redeeming
from headcount_service.wire.blind import BITS, EXPONENT, PREFIX, SIZE, Blinding, NotSigned, encode, verifies
from headcount_service.wire.collection import Collection
from headcount_service.wire.deduplication import Deduplication, invitation
from headcount_service.wire.keys import Keys
from headcount_service.wire.report import Report, Upload

VECTOR = json.loads((Path(__file__).parents[2] / "clients" / "js" / "test" / "rfc9474.json").read_text())
ANYTHING = Limits(epsilon=50, least=1, lifetime_epsilon=1_000)
KEY = rsa.generate_private_key(EXPONENT, BITS)
MODULUS = KEY.public_key().public_numbers().n
ON_SQLITE = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
MESSAGE = b"what every token of a batch signs"


def number(name):
    return int(VECTOR[name], 16)


def content(name):
    return bytes.fromhex(VECTOR[name])


def private(p, q):
    exponent = pow(EXPONENT, -1, (p - 1) * (q - 1))
    parts = rsa.rsa_crt_dmp1(exponent, p), rsa.rsa_crt_dmq1(exponent, q), rsa.rsa_crt_iqmp(p, q)
    return rsa.RSAPrivateNumbers(p, q, exponent, *parts, rsa.RSAPublicNumbers(EXPONENT, p * q)).private_key()


# The vector of the RFC.


def test_the_vector_of_the_rfc():
    modulus = number("p") * number("q")
    blinding = Blinding(content("msg_prefix"), content("salt"), pow(number("inv"), -1, modulus))
    assert number("e") == EXPONENT
    assert blinding.blinded(modulus, content("msg")) == content("blinded_msg")
    assert signed(private(number("p"), number("q")), content("blinded_msg")) == content("blind_sig")
    assert blinding.finished(modulus, content("msg"), content("blind_sig")) == content("sig")
    assert verifies(modulus, content("msg_prefix") + content("msg"), content("sig"))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_what_is_finished_is_an_ordinary_signature(message):
    blinding = Blinding.draw(MODULUS)
    signature = blinding.finished(MODULUS, message, signed(KEY, blinding.blinded(MODULUS, message)))
    assert verifies(MODULUS, blinding.prefix + message, signature)
    assert not verifies(MODULUS, blinding.prefix + message + b"!", signature)


def test_an_answer_that_is_no_signature_is_refused():
    blinding = Blinding.draw(MODULUS)
    answer = signed(KEY, blinding.blinded(MODULUS, MESSAGE))
    for wrong in (answer[:-1], bytes(SIZE), answer[:-1] + bytes([answer[-1] ^ 1]), b"\xff" * SIZE):
        with pytest.raises(NotSigned):
            blinding.finished(MODULUS, MESSAGE, wrong)
    with pytest.raises(BadArgument, match="not a request"):
        signed(KEY, b"\xff" * SIZE)


# No link between asking and using.


def told_apart(asked, used):
    """The pairs of a request and a token that whoever has all of both, and the key, would guess to be one person's.

    A token fits a request with exactly one factor. If factors are drawn evenly and used once, every pair is as likely
    as any other; a factor that is small, or one that explains two pairs, is one that somebody chose.
    """
    factors = {}
    for (at, (blinded, answer)), (to, token) in product(enumerate(asked), enumerate(used)):
        prefix, signature = token[:PREFIX], int.from_bytes(token[PREFIX:])
        factor = int.from_bytes(answer) * pow(signature, -1, MODULUS) % MODULUS
        encoded = pow(signature, EXPONENT, MODULUS)  # of this prefix, as its verification shows
        assert verifies(MODULUS, prefix + MESSAGE, token[PREFIX:])
        assert encoded * pow(factor, EXPONENT, MODULUS) % MODULUS == int.from_bytes(blinded), "no factor explains it"
        factors[at, to] = factor
    found = list(factors.values())
    short = MODULUS >> 128
    return {
        pair for pair, factor in factors.items() if min(factor, MODULUS - factor) < short or found.count(factor) > 1
    }


def transcript(draw, people=8):
    """What the issuer saw and answered, and what the shuffler then took, of people who draw like this."""
    asked, used = [], []
    for _ in range(people):
        blinding = draw()
        blinded = blinding.blinded(MODULUS, MESSAGE)
        asked.append((blinded, signed(KEY, blinded)))
        used.append(blinding.prefix + blinding.finished(MODULUS, MESSAGE, asked[-1][1]))
    return asked, used


def unblinded():
    return replace(Blinding.draw(MODULUS), factor=1)


def hardly_blinded():
    return replace(Blinding.draw(MODULUS), factor=int.from_bytes(os.urandom(16)) | 1)


def always_the_same():
    return replace(Blinding.draw(MODULUS), factor=MODULUS // 3)


def test_every_token_could_be_everybodys():
    assert told_apart(*transcript(lambda: Blinding.draw(MODULUS))) == set()


@pytest.mark.parametrize("twin", [unblinded, hardly_blinded, always_the_same])
def test_devices_that_do_not_blind_are_caught(twin):
    assert told_apart(*transcript(twin)) == {(person, person) for person in range(8)}


def test_over_all_factors_every_message_looks_alike():
    """With a modulus so small that all factors can be tried: each request is seen as often, whatever is in it."""
    modulus = 13 * 17
    units = [one for one in range(1, modulus) if gcd(one, modulus) == 1]
    assert gcd(EXPONENT, 12 * 16) == 1
    for message in units:
        assert sorted(message * pow(factor, EXPONENT, modulus) % modulus for factor in units) == units


@ON_SQLITE
def test_a_request_holds_nothing_of_the_token(parties, tmp_path):
    """What a device says to the issuer, and what it then puts into its report, have no bytes in common."""
    parties.endowed()
    collection = parties.agreed(plan(), admission="invited")
    [code] = parties.invitations(collection, 1)
    device, issuer, offer = (
        Client(tmp_path, ANYTHING, parties.clock),
        parties.calling("analyser"),
        parties.offer(collection),
    )
    device.obtain(offer, collection.id, invitation=code, remote=issuer)
    path = device.prepare(offer, collection.id, 3, invitation=code)
    [(_, asked)] = issuer.asked
    shown = parties.shuffler.open(Upload(collection.id, 1, device.upload(path))).credential
    assert len(shown) == TOKEN
    assert asked[:32].hex() == code
    pieces = {asked[at : at + 4] for at in range(len(asked) - 3)}
    assert not pieces & {shown[at : at + 4] for at in range(len(shown) - 3)}
    assert code not in path.read_text().replace(f'"invitation": "{code}"', "")


# One token for each invitation and batch.


def asking(parties, collection, code, batch=1):
    redeeming = Redeeming.of(collection.issuer, collection.hash, batch)
    blinded = Blinding.draw(redeeming.modulus).blinded(redeeming.modulus, redeeming.message)
    return bytes.fromhex(code) + blinded, f"{ISSUING}/{collection.id}/batches/{batch}/tokens"


def test_an_invitation_gets_one_token_for_each_batch(parties):
    parties.endowed()
    collection = parties.agreed(plan(), admission="invited", batches=2)
    [code] = parties.invitations(collection, 1)
    for batch in (1, 2):
        (first, path), (second, _) = (asking(parties, collection, code, batch) for _ in range(2))
        answers = [parties.ask("analyser", "POST", path, body) for body in (first, first, second, first)]
        assert [answer.status for answer in answers] == [200, 200, 409, 200]
        assert len({answers[at].body for at in (0, 1, 3)}) == 1
        assert "has had its token" in answers[2].json["error"]


@ON_SQLITE
def test_whoever_has_no_invitation_gets_no_token(parties):
    parties.endowed()
    mine, theirs = (parties.agreed(plan(), admission="invited") for _ in range(2))
    [own], [elsewhere] = parties.invitations(mine, 1), parties.invitations(theirs, 1)
    for code in ("00" * 32, os.urandom(32).hex(), elsewhere, own[:-2] + f"{int(own[-2:], 16) ^ 1:02x}"):
        body, path = asking(parties, mine, code)
        assert parties.ask("analyser", "POST", path, body).status == 400
    body, path = asking(parties, mine, own)
    for wrong in (body[:-1], body + b"0", bytes.fromhex(own) + b"\xff" * SIZE):
        assert parties.ask("analyser", "POST", path, wrong).status in (400, 413)
    assert parties.ask("analyser", "POST", path.replace("batches/1", "batches/2"), body).status == 400
    with parties.analyser.database.reading() as connection:
        assert len(many(connection, "SELECT * FROM issued")) <= 1, "who is refused is not written down"


@ON_SQLITE
def test_invitations_are_all_different_and_only_where_they_are_needed(parties):
    parties.endowed()
    collection, open_to_all = parties.agreed(plan(), admission="invited"), parties.agreed(plan())
    assert len({*parties.invitations(collection, 500)}) == 500
    path = f"{ISSUING}/{open_to_all.id}/invitations"
    assert parties.ask("analyser", "POST", path, {"number": 1}, "operator").status == 404


@ON_SQLITE
def test_a_device_that_lost_the_answer_asks_for_the_same_again(parties, tmp_path):
    parties.endowed()
    collection = parties.agreed(plan(), admission="invited")
    [code] = parties.invitations(collection, 1)
    device, offer, issuer = (
        Client(tmp_path, ANYTHING, parties.clock),
        parties.offer(collection),
        parties.calling("analyser"),
    )

    class Lossy:
        def ask(self, *given):
            issuer.ask(*given)
            raise RemoteRefusal("lost on the way")

    with pytest.raises(RemoteRefusal):
        device.obtain(offer, collection.id, invitation=code, remote=Lossy())
    with pytest.raises(Unsupported, match="no token for the batch yet"):
        device.prepare(offer, collection.id, 3, invitation=code)
    assert not device.receipts()
    for _ in range(2):
        Client(tmp_path, ANYTHING, parties.clock).obtain(offer, collection.id, invitation=code, remote=issuer)
    first, second = issuer.asked
    assert first == second
    body = device.upload(device.prepare(offer, collection.id, 3, invitation=code))
    assert parties.report(collection, 1, body).status == 200


@ON_SQLITE
def test_a_device_refuses_what_the_issuer_did_not_sign(parties, tmp_path):
    parties.endowed()
    collection = parties.agreed(plan(), admission="invited")
    [code] = parties.invitations(collection, 1)
    for number, answer in enumerate(({}, {"signature": "00" * SIZE}, {"signature": "zz"}, {"signature": 3}, [])):

        class Wrong:
            def ask(self, *_, answer=answer):
                return answer

        device = Client(tmp_path / str(number), ANYTHING)
        with pytest.raises(RemoteRefusal, match="not a token for this batch"):
            device.obtain(parties.offer(collection), collection.id, invitation=code, remote=Wrong())


@ON_SQLITE
def test_a_device_asks_nobody_for_a_token_if_it_would_not_report(parties, tmp_path):
    parties.endowed()
    collection = parties.agreed(plan(), admission="invited")
    issuer = parties.calling("analyser")
    with pytest.raises(Unsupported, match="relies on"):
        Client(tmp_path).obtain(parties.offer(collection), collection.id, invitation="ab" * 32, remote=issuer)
    assert issuer.asked == []


# Whoever is an issuer.


def announced(parties, batches=1):
    told = parties.told("analyser", "POST", "/v1/issuing/keys", {"batches": batches})
    return Issuing(told["key"], ISSUER, tuple(told["tokens"]), told["signature"])


def agreed(parties, issuer, **terms):
    given = {"question": "Which?", "population": "people", "opens": START, "window": WINDOW, "admission": "invited"}
    keys = {"shuffler": parties.shuffler.signer.public, "analyser": parties.analyser.signer.public}
    return Collection(plan(), **given | keys | terms, issuer=issuer)


@ON_SQLITE
def test_the_keys_of_an_issuer_are_bound_to_the_collection(parties):
    first, second = announced(parties, 2), announced(parties, 2)
    assert len({*first.tokens, *second.tokens}) == 4
    mine = agreed(parties, first, batches=2)
    assert Collection.from_json(mine.to_json()).issuer == first
    other = agreed(parties, second, batches=2, nonce=mine.nonce)
    assert other.hash != mine.hash
    with pytest.raises(BadArgument, match="signature"):
        Issuing(first.key, ISSUER, second.tokens, first.signature)
    with pytest.raises(BadArgument, match="one key for each batch"):
        agreed(parties, first, batches=3)
    with pytest.raises(BadArgument, match="is the shuffler"):
        agreed(parties, first, batches=2, shuffler=first.key)
    with pytest.raises(BadArgument, match="anybody may report"):
        agreed(parties, first, batches=2, admission="anyone")


@ON_SQLITE
@pytest.mark.parametrize("wrong", ["00" * SIZE, "ff" * (SIZE - 1), "FF" * SIZE, "fe" * SIZE, "zz", 5])
def test_a_key_that_is_none_is_refused(parties, wrong):
    told = parties.issuer.signer.signed("announcement", {"role": "issuer", "tokens": [wrong]})
    with pytest.raises((BadArgument, TypeError)):
        Issuing(parties.issuer.signer.public, ISSUER, (wrong,), told["signature"])


@ON_SQLITE
def test_keys_and_who_asked_are_gone_when_the_collection_is_over(rig):
    with rig.opened() as parties:
        parties.endowed()
        gone, over = (parties.agreed(plan(), admission="invited") for _ in range(2))
        for collection in (gone, over):
            parties.tokens_of(collection, 2)
        announced(parties)  # which nobody uses
        parties.told("analyser", "DELETE", f"{ISSUING}/{gone.id}")
        parties.told("analyser", "DELETE", f"{ISSUING}/{gone.id}")
        assert not parties.issuer.keys.has(key_name(gone.issuer.tokens[0]))
        [code] = parties.invitations(over, 1)
        parties.clock.now = over.over + 1
        body, path = asking(parties, over, code)
        assert parties.ask("analyser", "POST", path, body).status == 409
        assert parties.issuer.advance() == []  # as while it serves
        assert not parties.issuer.keys.has(key_name(over.issuer.tokens[0]))
        parties.issuer.tidy()
        assert [name for name in parties.issuer.keys.names() if name.startswith("token-")] == []
        assert parties.ask("analyser", "POST", path, body).status == 404
        with parties.analyser.database.reading() as connection:
            assert many(connection, "SELECT * FROM issued") == []


# Collections of version 0.2, whose shuffler invited people.


@ON_SQLITE
def test_no_collection_begins_whose_shuffler_invites(parties):
    parties.endowed()
    with pytest.raises(BadArgument, match="issuer is missing"):
        agreed(parties, None)
    collection = agreed(parties, None, version=1)
    keys = parties.told("analyser", "POST", "/v1/collections", {"collection": collection.to_json()})["keys"]
    given = {"collection": collection.to_json(), "keys": keys}
    answer = parties.ask("shuffler", "POST", "/v1/collections", given, "operator")
    assert (answer.status, "issuer is missing" in answer.json["error"]) == (400, True)


@ON_SQLITE
def test_an_invitation_of_version_0_2_stays_valid(parties, tmp_path, monkeypatch):
    """The shuffler signed it with a secret that was derived by a bare hash."""
    parties.endowed()
    collection = agreed(parties, None, nonce="00" * 16, version=1)
    with monkeypatch.context() as earlier:
        earlier.setattr(type(parties.shuffler), "_require_earlier", lambda *_: None)
        keys = parties.told("analyser", "POST", "/v1/collections", {"collection": collection.to_json()})["keys"]
        parties.shuffler.register(collection.to_json(), keys)
    parties.shuffler.register(collection.to_json(), keys)  # again, as whoever creates it may ask after a crash
    code = invitation(parties.shuffler.signer.secret_before("invitations"), collection.id, bytes(16))
    body, stranger = (
        made(collection, parties.offer(collection), 1, credential=credential).body
        for credential in (code, invitation(parties.shuffler.signer.secret("invitations"), collection.id, bytes(16)))
    )
    assert parties.report(collection, 1, body).status == 200
    assert parties.report(collection, 1, stranger).status == 400
    device, offer = Client(tmp_path, ANYTHING, parties.clock), parties.offer(collection)
    device.obtain(offer, collection.id, invitation=code.hex())
    again = device.upload(device.prepare(offer, collection.id, 1, invitation=code.hex()))
    assert parties.report(collection, 1, again).status == 200


def test_secrets_are_derived_for_one_purpose_each(tmp_path):
    """By HKDF (RFC 5869), recomputed here from its two steps; that of version 0.2 by SHA-256, as it was."""
    import hmac
    from hashlib import sha256

    signer = Keys(tmp_path / "keys").signer()
    raw = signer._key.private_bytes_raw()
    extracted = hmac.digest(bytes(32), raw, "sha256")
    for purpose in ("invitations", "issued"):
        expanded = hmac.digest(extracted, f"headcount/1 secret {purpose}".encode() + b"\x01", "sha256")
        assert signer.secret(purpose) == expanded
    assert signer.secret_before("invitations") == sha256(b"headcount invitations" + raw).digest()
    assert len({signer.secret("invitations"), signer.secret("issued"), signer.secret_before("invitations")}) == 3


def test_a_token_is_known_by_its_prefix_alone():
    """Two signatures of one prefix, by one who got two tokens for it, count once."""
    redeeming = Redeeming(MODULUS, MESSAGE)
    first = Blinding.draw(MODULUS)
    second = replace(Blinding.draw(MODULUS), prefix=first.prefix)
    dedup, known = Deduplication("ab" * 16, bytes(32), redeeming), set()
    for blinding in (first, second):
        signature = blinding.finished(MODULUS, MESSAGE, signed(KEY, blinding.blinded(MODULUS, MESSAGE)))
        known.add(dedup.identify(Report(b"0" * 16, blinding.prefix + signature, b"")))
    assert len(known) == 1
    assert None not in known


def test_the_encoding_fills_one_bit_less_than_the_modulus():
    for bits in range(2_041, 2_050):
        encoded = encode(b"message", bits, bytes(48))
        assert len(encoded) == (bits - 1 + 7) // 8
        assert int.from_bytes(encoded).bit_length() <= bits - 1
