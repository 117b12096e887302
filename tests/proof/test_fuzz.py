"""Programmes at random against brute force, and certificates at random against the promise to answer at all."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import count
from typing import Any

import brute
import pytest
from forged import NOTHING, VALUE, certificate, chance, copies, each, emit, every, let, maybe, named, of, signed, table

from headcount.programme.coins import SeededCoins
from headcount.proof import verify
from headcount.protocols import CATALOGUE

EPSILONS = [Fraction(0), Fraction(3, 10), Fraction(1), Fraction(21, 10)]


class Picks:
    """Choices that are the same every time."""

    def __init__(self, seed: int) -> None:
        self._coins = SeededCoins(seed)

    def within(self, low: int, high: int) -> int:
        """At least the one and below the other."""
        return low + int(self._coins.below(high - low, 1)[0])

    def choice(self, things: list[Any]) -> Any:
        return things[self.within(0, len(things))]

    def often(self, share: float) -> bool:
        return self.within(0, 100) < 100 * share


class Programmes:
    """Random reports of a few small shapes."""

    def __init__(self, seed: int) -> None:
        self.random = Picks(seed)
        self._names = (f"x{i}" for i in count())

    def chance(self) -> Fraction:
        return Fraction(self.random.within(0, 17), 16)

    def field(self, names: list[str], depth: int = 2) -> Any:
        pick = self.random
        if not depth or pick.often(0.4):
            return named(pick.choice(names)) if pick.often(0.8) else pick.within(0, 3)
        operation = pick.choice(["+", "-", "*", "^", "&", "%", "//", "parity"])
        if operation == "parity":
            return ["parity", self.field(names, depth - 1)]
        return [operation, self.field(names, depth - 1), pick.within(1, 4)]

    def step(self, names: list[str], depth: int, *, alone: bool) -> Any:
        """Any step; if `alone`, one that sends one message."""
        pick, smaller = self.random, depth - 1
        shapes = ["emit", "maybe", "let", "row", "subset"] + ([] if alone else ["all", "copies", "each", "perhaps"])
        match pick.choice(shapes) if depth else "emit":
            case "maybe":
                then, otherwise = (self.step(names, smaller, alone=alone) for _ in range(2))
                return maybe(self.chance(), then, otherwise)
            case "perhaps":
                return maybe(self.chance(), self.step(names, smaller, alone=False), NOTHING)
            case "let":
                name = next(self._names)
                draws = [
                    {"below": pick.within(1, 5)},
                    {"table": table(Fraction(1, 8), Fraction(pick.within(0, 4), 8), start=pick.within(-1, 2))},
                    {"round": pick.choice([VALUE, self.field(names)]), "from": pick.within(1, 4), "to": 2},
                ]
                return let(name, pick.choice(draws), self.step([*names, name], smaller, alone=alone))
            case "row":
                width = pick.within(1, 4)
                here = pick.choice([None, ["%", VALUE, width], VALUE])
                return {"row": width, "here": here, "off": chance(self.chance()), "on": chance(self.chance())}
            case "subset":
                width = pick.within(2, 5)
                return {"subset": width, "size": pick.within(1, width), "here": VALUE, "with": chance(self.chance())}
            case "all":
                return every(*(self.step(names, smaller, alone=False) for _ in range(pick.within(0, 3))))
            case "copies":
                amount = pick.choice([VALUE, 2, table(Fraction(1, 2), Fraction(1, 4))])
                return copies(amount, self.step(names, smaller, alone=False))
            case "each":
                name = next(self._names)
                return each(name, 2, self.step([*names, name], smaller, alone=False))
        return emit(*(self.field(names) for _ in range(pick.choice([1, 1, 2]))))

    def hashed(self) -> Any:
        u, v, r, prime = *(next(self._names) for _ in range(3)), self.random.choice([2, 3, 5])
        told = (["+", named(u), 1], named(v))
        residue = ["%", ["+", ["*", told[0], VALUE], told[1]], prime]
        rest = let(r, {"below": 3}, emit(*told, named(r)))
        return let(u, {"below": prime - 1}, let(v, {"below": prime}, maybe(self.chance(), emit(*told, residue), rest)))

    def bits(self, values: int) -> Any:
        flip, each_bit, levels = Fraction(self.random.within(1, 16), 32), self.random.within(1, 3), values - 1
        amount: Any = VALUE
        if rounded := self.random.often(0.5):
            amount, levels = named("level"), self.random.within(1, 3)
        ones = ["*", each_bit, amount]
        one, zero = maybe(flip, emit(0), emit(1)), maybe(flip, emit(1), emit(0))
        row = every(copies(ones, one), copies(["-", each_bit * levels, ones], zero))
        return let("level", {"round": VALUE, "from": values - 1, "to": levels}, row) if rounded else row

    def hidden(self) -> Any:
        """A message that the value decides, among others that it does not."""
        pick = self.random
        own = pick.choice([emit(VALUE), copies(VALUE, emit(0)), emit(self.field(["value"]))])
        noise = []
        for _ in range(pick.within(0, 4)):
            sent = pick.choice([emit(pick.within(0, 3)), every(emit(0), emit(1)), copies(2, emit(1))])
            noise.append(pick.choice([sent, maybe(self.chance(), sent, NOTHING), maybe(self.chance(), NOTHING, sent)]))
        return every(own, *noise, each("j", 3, maybe(self.chance(), emit(named("j")), NOTHING)))


def _instance(seed: int) -> tuple[dict[str, Any], int, int, int | None]:
    """A report and the model it is in, for so many values and people, and what is dropped."""
    programmes = Programmes(seed)
    pick = programmes.random
    values, people, threshold = pick.within(2, 4), pick.within(1, 4), None
    model = "shuffle"
    match seed % 6:
        case 0:
            model, people, report = "local", 1, programmes.step(["value"], 3, alone=pick.often(0.5))
        case 1:
            model, people, report = "local", 1, programmes.hashed()
        case 2:
            report = programmes.step(["value"], 2, alone=True)
        case 3:
            report = programmes.bits(values)
        case 4:
            report = programmes.hidden()
        case _:
            model, threshold = "shuffle-threshold", pick.within(1, 4)
            report = maybe(programmes.chance(), pick.choice([emit(VALUE), copies(VALUE, emit(0))]), NOTHING)
    return {"report": report, "model": model}, values, people, threshold


@pytest.mark.parametrize("start", range(0, 600, 60))
def test_random_programmes_against_brute_force(start: int) -> None:
    """Never proved below the truth, never refuted above it, and the bounds hold it between them."""
    answered = 0
    for seed in range(start, start + 60):
        what, values, people, threshold = _instance(seed)
        release = {} if threshold is None else {"threshold": threshold}
        try:
            found = brute.truth(what["report"], values, people, EPSILONS, threshold)
        except ZeroDivisionError:
            continue
        for share, wrong in ((0.999, "proved"), (1.001, "refuted")):
            claimed = [Fraction(delta * share + (share - 1) * 1e-6) for delta in found]
            points = [(e, min(Fraction(1), delta)) for e, delta in zip(EPSILONS, claimed, strict=True) if delta > 0]
            if points:
                verdict = verify(certificate(points=points, people=people, values=values, release=release, **what))
                assert verdict.answer != wrong, (seed, what)
                answered += verdict.answer != "cannot prove"
        for point, delta in zip(verdict.points, found, strict=False):
            assert float(point.truth.low) <= delta + 1e-9, (seed, what)
            assert float(point.truth.high) >= delta - 1e-9, (seed, what)
    assert answered > 40


ODD: list[Any] = [
    None, True, -1, 0, 1, 2, 10**12, 10**18, 1 << 300, "9" * 5000, 1.5, "", "x", "1e9", "-1", "1/0", [], {}, [[]],
    {"name": "x"}, {"name": "value"}, {"emit": [0]}, {"all": []}, ["%", 1, 0], ["*", 10**9, {"name": "value"}],
    {"below": 10**12}, {"start": 0, "coarse": [], "fine": []}, {"start": 0, "coarse": ["0"], "fine": []},
]  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    return [path, *(place for key, part in items for place in _places(part, (*path, key)))]


@pytest.fixture(scope="module")
def honest() -> list[dict[str, Any]]:
    points = [(Fraction(1), Fraction(1, 100)), (Fraction(1, 2), Fraction(1, 2))]
    return [of(tiny, points) for protocol in CATALOGUE for tiny in protocol.tinies()]


@pytest.mark.parametrize("seed", range(4))
def test_a_spoilt_certificate_is_answered(honest: list[dict[str, Any]], seed: int) -> None:
    """Whatever a certificate says, there is an answer, and what it says is never believed for being strange."""
    pick = Picks(seed)
    for _ in range(100):
        spoilt = json.loads(json.dumps(pick.choice(honest)))
        *way, last = pick.choice([place for place in _places(spoilt) if place and place[0] != "hash"])
        inner = spoilt
        for key in way:
            inner = inner[key]
        inner[last] = pick.choice(ODD)
        verdict = verify(json.dumps(signed(spoilt)), effort=100_000)
        assert verdict.answer in ("proved", "refuted", "cannot prove")
        json.dumps(verdict.to_json())


NO_JSON = ["", "{", "null", "[" * 100_000, '{"a":' * 5_000, '{"x": NaN}', '{"x": ' + "9" * 5_000 + "}"]


@pytest.mark.parametrize("text", NO_JSON)
def test_what_is_no_certificate_proves_nothing(text: str) -> None:
    assert verify(text).answer == "cannot prove"
    assert verify('{"format": "headcount certificate 2", "claim": ' + text + "}").answer == "cannot prove"
