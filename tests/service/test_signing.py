"""What a signature is for: one purpose, written in one way; what version 0.2 signed is still read."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from headcount.common.canonical import canonical, read_json
from headcount.errors import BadArgument, Forged
from headcount_service.wire.keys import Signer, verified
from headcount_service.wire.signed_release import Released

PURPOSES = ("announcement", "manifest", "receipt", "notice", "release", "webhook")
BEFORE = Path(__file__).parent / "data" / "release-1.json"  # written by version 0.2


@pytest.fixture
def key():
    return Ed25519PrivateKey.generate()


def test_a_signature_is_for_one_purpose(key):
    signer = Signer(key)
    for purpose in PURPOSES:
        signed = signer.signed(purpose, {"received": "ab"})
        for other in PURPOSES:
            relabelled = {**signed, "format": f"headcount {other} 2"}
            if other == purpose:
                assert verified(relabelled, signer.public, other) == {"received": "ab"}
                continue
            bare = {name: part for name, part in signed.items() if name != "format"}
            for wrong in (signed, relabelled, bare):
                with pytest.raises(BadArgument):
                    verified(wrong, signer.public, other)


def test_what_was_signed_before_is_read_and_cannot_pass_for_what_is_signed_now(key):
    content = {"received": "ab"}
    bare = {**content, "signature": key.sign(canonical(content).encode()).hex()}
    public = key.public_key().public_bytes_raw().hex()
    assert verified(bare, public, "receipt") == content
    with pytest.raises(BadArgument):
        verified({**bare, "format": "headcount receipt 2"}, public, "receipt")


def test_a_signature_is_written_in_one_way(key):
    signer = Signer(key)
    signed = signer.signed("receipt", {"received": "ab"})
    for wrong in (signed["signature"].upper(), signed["signature"] + " ", "", None, 1):
        with pytest.raises(BadArgument):
            verified({**signed, "signature": wrong}, signer.public, "receipt")
    with pytest.raises(BadArgument):
        verified(signed, signer.public.upper(), "receipt")


def test_a_release_of_version_0_2_is_still_verified_and_proved(tmp_path):
    told = Released.read(BEFORE)
    assert told.content["format"] == "headcount release 1"
    assert told.verify().answer == "proved"
    with pytest.raises(Forged):
        Released({**told.content, "format": "headcount release 2"})
    with pytest.raises(Forged):
        Released({**told.content, "people": 4})


@pytest.mark.parametrize("change", ["twice", "capitals", "not a number", "deep"])
def test_a_release_is_read_in_one_way_only(tmp_path, change):
    text = BEFORE.read_text(encoding="utf-8")
    signature = json.loads(text)["signature"]
    changed = {
        "twice": text.replace("{", '{"people":1000000,', 1),
        "capitals": text.replace(signature, signature.upper()),
        "not a number": text.replace('"added":0', '"added":NaN'),
        "deep": "[" * 100_000,
    }[change]
    assert changed != text
    (tmp_path / "release.json").write_text(changed)
    with pytest.raises(BadArgument):
        Released.read(tmp_path / "release.json")


def test_the_usual_reader_would_not_notice():
    """The twin takes the last of two."""
    text = BEFORE.read_text(encoding="utf-8").replace("{", '{"people":1000000,', 1)
    assert Released(json.loads(text))
    with pytest.raises(ValueError, match="twice"):
        read_json(text)
