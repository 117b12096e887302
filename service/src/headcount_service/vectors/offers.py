"""The test vectors without draws: encoded answers, collections, device limits, receipts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256, shake_256
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from headcount.common.canonical import canonical
from headcount.errors import Refused
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.field import number
from headcount.protocols import named
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import HYBRID, P256, X25519, Wire
from headcount.questions.count import Count
from headcount.questions.distribution import Distribution
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.reading import column
from headcount.questions.sum_and_mean import Mean, Sum
from headcount.questions.table import Table
from headcount_service.client.limits import Limits
from headcount_service.client.receipt import Receipt
from headcount_service.wire.admission import ROLE as ISSUER
from headcount_service.wire.admission import Issuing
from headcount_service.wire.blind import BITS, SIZE
from headcount_service.wire.collection import Admission, Collection, Shortfall
from headcount_service.wire.keys import Announced, Signer
from headcount_service.wire.suites import HybridPrivateKey, PrivateKey, public_bytes

OPENS, BATCH, NUMBER = 1_000_000_000, 2, 7
SAID: tuple[Any, ...] = (
    0, 1, True, False, 1.0, 0.5, -1, 2, None, "", " \t", "1", " 1\n", "01", "+1", "1.", "1.0", "1e0", ".5", "5e-1",
    "1_0", "1,0", "0x1", "inf", "nan", "true", "TRUE", " False ", "yes", "\u00a01", "\u0661", "1\x00", "\x00", -0.0,
    "-0", 1e22, 1e23, "1e23", 2.0**53, "9007199254740993", 0.1, "0.1", "0.1000000000000000055511151231257827", 1e-7,
    "0.0000001", -1.5e-7, 5e-324, "4.9e-324", "1e400", "Yes", "é", "e\u0301", "🙂",
)  # fmt: skip
NAMED = (
    "1", "0", "true", "1.0", "0.1", "0.5", "0.0000001", "-0.00000015", "10000000000000000000000",
    "99999999999999991611392", "9007199254740992", "9007199254740993", "é", "🙂", "1\x00", "-1", "inf",
)  # fmt: skip
TASKS: tuple[tuple[Question, tuple[Any, ...]], ...] = (
    (Count(), SAID),
    (Sum((0, 120), steps=120), (0, 1, 119.0, 120, 60.0000001, 60.5, 121, -1, True, "7", " 7.0 ", None)),
    (Sum((-1.5, 2.25)), (-1.5, 2.25, 0, 0.1, 1 / 3, 2.2499999999, 2.3, -1.6)),
    (Sum((0, 1 << 41)), (1, 3, 5, 7, 2.5)),  # halves of a step, which go to the even one
    (Sum((0, 1), clip=True), SAID),
    (Mean((0, 10), steps=4, clip=True), (-5, 0, 2.5, 5, 7.5, 99, 1e300, 3)),
    (
        Distribution((0, 1), 10),
        (0, 0.1, 0.2, 0.3, 0.30000000000000004, 0.7, 0.7000000000000001, 1, 1.5, -1, "0.5", True),
    ),
    (Distribution((-3, 11), 7, clip=True), SAID),
    (Distribution((18, 90), whole=True), (18, 90, 18.0, "20", 20.5, 20.0000001, 17, 91, True, None)),
    (Distribution((-3, 11), whole=True, clip=True), SAID),
    (Histogram(5), (0, 4, 4.0, 5, -1, 2.5, True, "2", None)),
    (Histogram(5, other=True), (0, 4, 5, -1, 2.5, 1e300, "4", "four", None)),
    (Histogram(("yes", "no", "wer weiß 🙂")), ("yes", "no", "wer weiß 🙂", " yes ", "Yes", "maybe", "", 1, True, None)),
    (Histogram(("b", "a"), other=True), ("a", "b", "c", "ab")),
    (Histogram(NAMED, other=True), SAID),
    (Histogram((10, 2, 30)), (2, 10, 30, 2.0, 2.5, "2", 3)),
    (Histogram((0.5, 1.25, -3.0), other=True), (0.5, 1.25, -3, 4, True)),
    (Histogram((1, 0, 0.1, 0.5, -1.5e-7), other=True), SAID),
    (Histogram(edges=(0, 18, 65.5, 120)), (0, 17.999, 18, 65.5, 120, 120.1, -0.1, "18", True)),
    (Histogram(edges=(-1, 0, 1), other=True), (-1, -0.0, 1, 1.5, -2, 1e300, "0.5", "half", None)),
    (Distribution((0, 120), 7), (0, 17.142857142857142, 17.14285714285714, 119.9, 120, 120.1, -0.1, "18", "x", None)),
    (
        Table({"sex": ["f", "m"], "age": {"bounds": [0, 120], "bins": 12}, "plan": {"bins": [0, 1, 5], "other": True}}),
        (
            {"sex": "f", "age": 33, "plan": 1},
            {"plan": 7, "age": "120", "sex": " m "},
            {"sex": "x", "age": 33, "plan": 1},
            {"sex": "f", "age": 33},
            {"sex": "f", "age": 33, "plan": 1, "more": 0},
            "f",
            None,
        ),
    ),
    (
        Distribution(("2026-01-01", "2026-12-31")),
        (
            "2026-01-01",
            "2026-12-31 23:59:59",
            "2027-01-01",
            "2027-01-02",
            "2025-12-31",
            "2026-02-30",
            20_454,
            " ",
            None,
        ),
    ),
    (
        Distribution(("2026-01-01T06:00", "2026-01-02T07:00:00.5"), 7, clip=True),
        ("2026-01-01 12:00", "2026-01-01T09:34:17.214285", "2026-01-01T13:08:34.5+02:00", "2030-01-01", "9:34", "x"),
    ),
    (
        Distribution(("-0:30", "2:00:00"), "minute"),
        ("0:00", "-0:30", "1:59:59.999999", "2:00:00", "2:00:01", "1 day 0:00", "0 days", "+1:00", "90", 5, True, None),
    ),
    (Table({"hired": {"bounds": ["2026-01-01", "2026-12-31"], "bins": 5}}), ({"hired": "2026-07-01"}, {"hired": 1})),
    (
        Table({"left": {"categories": ["no", "yes"], "spelled": True, "missing": "no"}}),
        ({"left": "Yes"}, {"left": " "}, {"left": "OFF"}, {"left": True}, {"left": "perhaps"}, {"left": 2}),
    ),
    (Distribution((-0.1, 0.2), 1_000, clip=True), (-0.1, 0, 0.0001, 0.19999, 0.2, 5, -5, "0.05", True)),
)
UNSPENT = (0.0, 0.0)
WISHES: tuple[tuple[dict[str, Any], tuple[float, float]], ...] = (
    ({}, UNSPENT),
    ({"epsilon": 0.5}, UNSPENT),
    ({"delta": 1e-9}, UNSPENT),
    ({"colluding": 0.25}, UNSPENT),
    ({"colluding": 1.5}, UNSPENT),
    ({"least": 20_000}, UNSPENT),
    ({"least": 9_000}, UNSPENT),
    ({"top_up": True}, UNSPENT),
    ({"invited": True}, UNSPENT),
    ({"fixed": True}, UNSPENT),
    ({"padded": True}, UNSPENT),
    ({"padded": True, "epsilon": 1.5}, UNSPENT),
    ({"top_up": True}, (9.1, 0.0)),
    ({"top_up": True}, (9.0, 0.0)),
    ({"top_up": True}, (1.0, 0.0009995)),
    ({"lifetime_epsilon": 1.1, "top_up": True}, (0.1, 0.0)),
    ({"epsilon": 0, "delta": 0}, UNSPENT),
)
LIMITS = (({}, UNSPENT), *(({"colluding": math.inf, **limits}, spent) for limits, spent in WISHES))


def answers() -> Iterator[dict[str, Any]]:
    """Answers and the values that they are encoded as; none where they are refused."""
    for task, given in TASKS:
        yield {"task": task.to_json(), "cases": [_encoded(task, answer) for answer in given]}


def _encoded(task: Question, answer: Any) -> dict[str, Any]:
    try:
        return {"answer": answer, "value": number(int(task.domain.codes(column([answer]))[0]))}
    except Refused:
        return {"answer": answer, "value": None}


def collections() -> Iterator[dict[str, Any]]:
    """Offers as text, the collections' hashes, and the verdicts of devices with various limits."""
    for collection in agreed():
        cases = [_required(collection, limits, spent) for limits, spent in LIMITS]
        yield {"offer": canonical(offer(collection)), "hash": collection.hash, "cases": cases}


def _required(collection: Collection, limits: dict[str, Any], spent: tuple[float, float]) -> dict[str, Any]:
    case = {"limits": limits, "spent": list(spent)}
    try:
        Limits(**limits).require(collection, (Fraction(spent[0]), Fraction(spent[1])))
    except Refused as refusal:
        return {**case, "refused": str(refusal)}
    return {**case, "refused": None}


def agreed() -> Iterator[Collection]:
    """Collections of each task, of every suite, and of all terms."""
    common: dict[str, Any] = {
        "population": "people",
        "opens": OPENS,
        "window": 86_400,
        "batches": 3,
        "nonce": "00" * 16,
        "admission": Admission.ANYONE,
        "fixed": False,
    }
    common |= {role: _signer(role).public for role in ("shuffler", "analyser")}
    local, pure = Budget(1.0), Crowd(10_000, 9_500, 500)
    histogram = Histogram(("yes", "no", "wer weiß"), other=True)
    counted = _plan("zsum", Count(), Crowd(10_000), Budget(1.0, 1e-6), X25519)
    yield Collection(counted, question="Hast du heute schlecht geschlafen? 😴", **common)
    invited = {**common, "admission": Admission.INVITED, "fixed": True, "issuer": _issuer(common["batches"])}
    yield Collection(counted, question="The same?", shortfall=Shortfall.TOP_UP, automatic=True, **invited)
    yield Collection(
        _plan("generalised-response", histogram, pure, local, P256), question="Which? “…” \\ / é", **common
    )
    yield Collection(_plan("duchi", Mean((0, 120), clip=True), pure, local, HYBRID), question="How old?", **common)
    yield Collection(counted, question="As before?", version=1, **common)
    earlier = {**common, "admission": Admission.INVITED}
    yield Collection(counted, question="As before, invited?", version=1, **earlier)
    padded = Crowd(1_000, 200, 10), Budget(1.0, 1e-6), X25519
    yield Collection(_plan("padded-count", Count(), *padded), question="As it is?", **common)
    yield Collection(_plan("padded-count", Count(), *padded, analyser=False), question="Without noise?", **common)
    series = Budget(1.0, rounds=3)
    yield Collection(_plan("randomised-response", Count(), pure, series, X25519), question="Every day?", **common)


def _issuer(batches: int) -> Issuing:
    """One whose keys look like moduli, and open nothing."""
    tokens = [_modulus(number).hex() for number in range(batches)]
    signed = _signed(ISSUER, {"role": ISSUER, "tokens": tokens})
    return Issuing(_signer(ISSUER).public, "https://issuer.example", tuple(tokens), signed["signature"])


def _modulus(number: int) -> bytes:
    drawn = int.from_bytes(shake_256(f"headcount vectors token {number}".encode()).digest(SIZE))
    return (drawn | 1 | 1 << BITS - 1).to_bytes(SIZE)


def _plan(name: str, task: Question, crowd: Crowd, budget: Budget, suite: str, **how: Any) -> Plan:
    protocol = calibrate(named(name), task, crowd, replace(budget, delta=0.99 * budget.delta), **how)
    return Plan(protocol, budget, Wire.of(protocol, budget, suite))


def offer(collection: Collection) -> dict[str, Any]:
    """The offer that a shuffler would make."""
    suite = collection.wire.suite
    announced = {
        "analyser": Announced("analyser", collection.purpose(BATCH), BATCH, suite, _public(suite, "inner"), 1 << 40),
        "shuffler": Announced("shuffler", "", NUMBER, suite, _public(suite, "outer"), 1 << 40),
    }
    sign = _signed_before if collection.version == 1 else _signed
    keys = {role: sign(role, key.to_json()) for role, key in announced.items()}
    return {"collection": collection.to_json(), "batch": BATCH, "closes": OPENS + 86_400, **keys}


def private(suite: str, layer: str) -> PrivateKey:
    """A key that everybody knows, to open what a client has sealed in a test."""
    seed = sha256(f"headcount vectors {layer}".encode()).digest()
    if suite == HYBRID:
        return HybridPrivateKey(seed)
    if suite == X25519:
        return x25519.X25519PrivateKey.from_private_bytes(seed)
    return ec.derive_private_key(int.from_bytes(seed), ec.SECP256R1())


def _public(suite: str, layer: str) -> str:
    return public_bytes(private(suite, layer).public_key()).hex()


def _signed(role: str, content: dict[str, Any]) -> dict[str, Any]:
    return _signer(role).signed("announcement", content)


def _signed_before(role: str, content: dict[str, Any]) -> dict[str, Any]:
    """The content signed as in version 0.2: canonical JSON, bound to no purpose."""
    return {**content, "signature": _identity(role).sign(canonical(content).encode()).hex()}


def _signer(role: str) -> Signer:
    return Signer(_identity(role))


def _identity(role: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(sha256(f"headcount vectors {role}".encode()).digest())


def receipts() -> Iterator[dict[str, Any]]:
    """Receipts and their words."""
    plain = Receipt("Did you?", "ab" * 32, 1, "taken", 2, 1_234, 1.0, 1e-6, 10_000, None, 1.0, 1e-6)
    for told in (
        plain,
        replace(plain, state="made", again=True),
        replace(plain, state="closed", top_up=True),
        replace(plain, pinned=True),
        replace(plain, pinned=True, colluding=2.0),
        replace(plain, messages=1, padded=True, corrupt=0),
        replace(plain, epsilon=0.1, delta=0.0, colluding=0.1, least=100, messages=47, bytes=123_456),
        replace(plain, epsilon=13.9, colluding=50.0, lifetime_epsilon=12.34567, lifetime_delta=1.0625e-5),
        replace(plain, epsilon=7.5, colluding=8.0, lifetime_epsilon=1.0625, lifetime_delta=0.0001225, delta=1e-18),
        replace(plain, corrupt=0, anyone=True, fixed=False),
        replace(plain, corrupt=0, epsilon=1.0, colluding=1.0),
        replace(plain, corrupt=500, anyone=False, fixed=True),
        replace(plain, batch=4, rounds=52, number=3),
        replace(plain, batch=1_000, rounds=1_200, number=1_000, colluding=1.0, padded=True, epsilon=0.75, delta=0.0),
        replace(plain, epsilon=0.001, colluding=6.9, lifetime_epsilon=123456.0, lifetime_delta=0.1, least=2),
    ):
        yield {"receipt": told.to_json(), "text": str(told)}
