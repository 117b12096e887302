"""Whatever is read from others, damaged in every way we could think of: it is read, or refused, and nothing else."""

import json
import secrets
from copy import deepcopy

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from rig import START, Truthful, plan

from headcount.common.canonical import canonical
from headcount.errors import Refused, WireError
from headcount.programme.coins import SeededCoins
from headcount.protocols.base.report_size import HYBRID, IDENTITY, P256, X25519
from headcount_service.analyser.deliveries import Deliveries
from headcount_service.wire.collection import Collection
from headcount_service.wire.keys import Announced, Signer, verified
from headcount_service.wire.report import NO_CREDENTIAL, Report, genuine
from headcount_service.wire.signed_release import Released
from headcount_service.wire.suites import new_key, public_bytes
from stress import lengths

ODD = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308, 5e-324, "", " ", "0", "x" * 3_000,
    "\x00", "\ud800", "\u202e", "\U0001f600", "é", "1e9", "NaN", [], [[]], {}, {"": {}}, [None] * 50, "ab" * 32,
]  # fmt: skip


@pytest.fixture
def seed(under_stress):
    return secrets.randbits(32) if under_stress else 7


class Damage:
    """Draws what to damage, and how."""

    def __init__(self, seed):
        self._coins = SeededCoins(seed)
        self._words = iter(())

    def below(self, bound):
        word = next(self._words, None)
        if word is None:
            self._words = iter(self._coins.words(4_096).tolist())
            word = next(self._words)
        return word % bound

    def of_bytes(self, content):
        """Once or a few times."""
        content = bytearray(content)
        for _ in range(1 + self.below(4)):
            at, size = self.below(len(content) + 1), self.below(40)
            how = self.below(7)
            if how == 0 and at < len(content):
                content[at] ^= 1 << self.below(8)
            elif how == 1:
                del content[at : at + size]
            elif how == 2:
                content[at:at] = bytes(self.below(256) for _ in range(size))
            elif how == 3:
                content[at:at] = content[at : at + size]
            elif how == 4:
                content[at : at + size] = bytes(len(content[at : at + size]))
            elif how == 5:
                content[at : at + size] = b"\xff" * len(content[at : at + size])
            else:
                other = self.below(len(content) + 1)
                content[at : at + size], content[other : other + size] = (
                    content[other : other + size],
                    content[at : at + size],
                )
        return bytes(content)

    def of_json(self, content):
        """A copy with something else in one or a few places."""
        copy = json.loads(json.dumps(content))
        for _ in range(1 + self.below(3)):
            copy = self._odd(copy, 1 + self.below(5))
        return copy

    def _odd(self, value, depth):
        if depth and isinstance(value, dict) and value:
            name = sorted(value)[self.below(len(value))]
            how = self.below(12)
            if how == 0:
                value.pop(name)
            elif how == 1:
                value[f"{name}2"] = value[name]
            else:
                value[name] = self._odd(value[name], depth - 1)
            return value
        if depth and isinstance(value, list) and value:
            at, how = self.below(len(value)), self.below(12)
            if how == 0:
                del value[at]
            elif how == 1:
                value.append(value[at])
            else:
                value[at] = self._odd(value[at], depth - 1)
            return value
        if isinstance(value, int) and self.below(2):
            return value + (-1) ** self.below(2) * (1 << self.below(40))
        if isinstance(value, str) and value and self.below(2):
            at = self.below(len(value))
            return value[:at] + chr(self.below(300)) + value[at + 1 :]
        return deepcopy(ODD[self.below(len(ODD))])


class Everything:
    """One of each kind of thing that a party reads."""

    def __init__(self, suite):
        self.signer = Signer(Ed25519PrivateKey.generate())
        public = self.signer.public
        terms = {"shuffler": public, "analyser": public, "admission": "anyone"}
        self.collection = Collection(plan(suite=suite), "Which?", "people", START, 100, **terms)
        self.format = self.collection.report_format(1)
        self.outer, self.inner = new_key(suite), new_key(suite)
        sent = self.collection.plan.protocol.reports(np.array([3]), Truthful())
        self.messages = self.format.seal_messages(sent.messages, self.inner.public_key())
        report = Report(bytes(IDENTITY), NO_CREDENTIAL, b"".join(self.messages))
        self.body = self.format.seal_report(report, self.outer.public_key(), 1)
        key = public_bytes(self.inner.public_key()).hex()
        self.announced = Announced("analyser", self.collection.purpose(1), 1, suite, key, START).to_json()

    def reread(self, content):
        """What can be read is written as it was."""
        found = Collection.from_json(content)
        assert canonical(found.to_json()) == canonical(content)


PARSERS = {
    "an upload": lambda e, d: e.format.open_report(d.of_bytes(e.body), e.outer),
    "its number": lambda e, d: e.format.key_number(d.of_bytes(e.body)),
    "a message": lambda e, d: e.format.open_message(d.of_bytes(e.messages[0]), e.inner),
    "what was sealed inside": lambda e, d: genuine(
        e.collection.plan.protocol, [d.of_bytes(bytes(64))[: e.collection.plan.protocol.message.itemsize]]
    ),
    "a collection": lambda e, d: e.reread(d.of_json(e.collection.to_json())),
    "a key that is announced": lambda e, d: Announced.from_json(
        d.of_json(e.signer.signed("announcement", e.announced)), e.signer.public, "analyser"
    ),
    "a key that its owner announced like that": lambda e, d: Announced.from_json(
        e.signer.signed("announcement", _object(d.of_json(e.announced))), e.signer.public, "analyser"
    ),
    "something signed": lambda e, d: verified(
        d.of_json(e.signer.signed("receipt", {"a": [1, {"b": None}]})), e.signer.public, "receipt"
    ),
}


def _object(value):
    return value if isinstance(value, dict) else {}


@pytest.mark.parametrize("suite", [HYBRID, X25519, P256])
@pytest.mark.parametrize("parser", PARSERS)
@lengths("cases", 500, 62_500)
def test_it_is_read_or_refused(parser, suite, cases, seed):
    everything, damage, outcomes = Everything(suite), Damage(seed), {"read": 0, "refused": 0}
    for number in range(cases):
        try:
            PARSERS[parser](everything, damage)
            outcomes["read"] += 1
        except (WireError, Refused):
            outcomes["refused"] += 1
        except Exception as problem:
            raise AssertionError(f"case {number} of the seed {seed}: {type(problem).__name__}") from problem
    assert outcomes["refused"] > cases // 10 or parser == "what was sealed inside"


@lengths("cases", 150, 20_000)
def test_a_manifest_of_the_shuffler_is_taken_or_refused(parties, cases, seed):
    """Signed by the shuffler itself, whatever is in it."""
    parties.endowed()
    collection = parties.agreed(plan())
    content = {
        "collection": collection.hash, "batch": 1, "reports": 3, "added": 0, "early": False, "messages": 6,
        "parts": ["ab" * 32],
    }  # fmt: skip
    damage, deliveries, sign = Damage(seed), Deliveries(parties.analyser), parties.shuffler.signer.signed
    for number in range(cases):
        try:
            deliveries.begin(sign("manifest", _object(damage.of_json(content))))
        except (WireError, Refused):
            pass
        except Exception as problem:
            raise AssertionError(f"case {number} of the seed {seed}: {type(problem).__name__}") from problem


@lengths("cases", 250, 20_000)
def test_a_release_is_read_or_refused(parties, cases, seed):
    parties.endowed()
    collection = parties.agreed(plan())
    parties.reported(collection, 0, 1, 2)
    parties.clock.now += collection.window
    parties.batches.advance()
    told, damage = parties.release(collection).json, Damage(seed)
    Released(told)
    for number in range(cases):
        try:
            assert Released(damage.of_json(told)).content == told
        except Refused:
            pass
        except Exception as problem:
            raise AssertionError(f"case {number} of the seed {seed}: {type(problem).__name__}") from problem
