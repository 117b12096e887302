"""The reader of programmes against the code that writes and draws them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from forged import VALUE, chance, copies, each, emit, let, maybe, named, table

from headcount.programme import brick as core
from headcount.programme.brick import Brick
from headcount.programme.table import Table as Drawn
from headcount.proof.effort import TooLarge, limited
from headcount.proof.enumeration import law
from headcount.proof.expression import Unreadable
from headcount.proof.programme import All, Copies, Each, Step, Table, read
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol

TINIES = [tiny for protocol in CATALOGUE for tiny in protocol.tinies()]
ROWS = ("row", "subset")


def _packed(message: tuple[int, ...], *, row: bool) -> tuple[int, ...]:
    """A row of bits is one integer in the laws of the bricks."""
    return (sum(bit << j for j, bit in enumerate(message)),) if row else message


def _pieces(brick: Brick, step: Step, names: dict[str, int]) -> Iterator[tuple[Brick, Step, dict[str, int]]]:
    """What runs independently of the rest, as the law of everything together may be long."""
    match brick, step:
        case core.All(parts=bricks), All(steps):
            for one, other in zip(bricks, steps, strict=True):
                yield from _pieces(one, other, names)
        case core.Each(name=name, times=times, brick=inner), Each(own, own_times, own_inner):
            assert (name, times) == (own, own_times)
            yield from _pieces(inner, own_inner, {**names, name: times - 1})
        case core.Copies(amount=Drawn() as amount, brick=inner), Copies(Table() as table, own_inner):
            share = [Fraction(mass, amount.total) for mass in amount.masses]
            assert share == [Fraction(mass, table.total) for mass in table.masses]
            yield from _pieces(inner, own_inner, names)
        case _:
            yield brick, step, names


@pytest.mark.parametrize("tiny", TINIES, ids=lambda tiny: f"{tiny.name}-{tiny.task.name}-{tiny.neighbours}")
def test_a_report_has_the_law_of_its_bricks(tiny: Protocol) -> None:
    encoded = tiny.programme.encode()
    row = any(f'"{word}":' in json.dumps(encoded) for word in ROWS)
    unlikely = Fraction(1, 1 << 60)  # what the bricks may leave out
    for value in {0, tiny.task.values - 1}:
        for brick, step, names in _pieces(tiny.programme, read(encoded), {"value": value}):
            theirs, mine = brick.law(names), law(step, names)
            found = {tuple((_packed(m, row=row), n) for m, n in sent): mass for sent, mass in mine.items()}
            assert sum(found.values()) == 1
            for sent, mass in theirs.masses.items():
                assert abs(found.get(sent, Fraction(0)) - Fraction(mass, theirs.total)) < unlikely
            assert sum((mass for sent, mass in found.items() if sent not in theirs.masses), Fraction(0)) < unlikely


HALF = Fraction(1, 2)
NOT_PROGRAMMES: list[Any] = [
    emit(),
    emit(named("x")),
    emit(1.5),
    emit(True),
    emit(["**", 2, 2]),
    emit("9" * 5_000),
    let("value", {"below": 2}, emit(VALUE)),
    let("x", {"below": 2}, let("x", {"below": 2}, emit(named("x")))),
    let("the residue", {"below": 2}, emit(0)),
    let("x", {"below": 0}, emit(0)),
    each("value", 2, emit(0)),
    copies(table(HALF, HALF, start=-1), emit(0)),
    copies(table(Fraction(0)), emit(0)),
    copies({"start": 0, "coarse": [], "fine": []}, emit(0)),
    maybe(Fraction(2), emit(0), emit(1)),
    {"subset": 2, "size": 2, "here": VALUE, "with": chance(HALF)},
    {"row": 1 << 40, "here": VALUE, "off": "0", "on": "0"},
    {"shout": 1},
]


@pytest.mark.parametrize("encoded", NOT_PROGRAMMES, ids=lambda encoded: str(encoded)[:40])
def test_what_is_no_programme_is_refused(encoded: Any) -> None:
    with pytest.raises(Unreadable):
        read(encoded)


ROW = {"row": 2, "off": "0", "on": chance(HALF)}


@pytest.mark.parametrize("encoded", [
    copies(["-", VALUE, 1], emit(0)),
    {**ROW, "here": ["-", VALUE, 1]},
    {**ROW, "here": ["+", VALUE, 2]},
    {"subset": 3, "size": 1, "here": 3, "with": chance(HALF)},
])  # fmt: skip
def test_what_no_brick_could_do_is_refused(encoded: Any) -> None:
    with pytest.raises(Unreadable):
        law(read(encoded), {"value": 0})


@pytest.mark.parametrize("encoded", [
    copies(10**9, emit(0)),
    each("j", 10**12, emit(named("j"))),
    let("x", {"below": 10**12}, emit(named("x"))),
    copies(3_000, maybe(Fraction(1, 3), emit(0), emit(1))),
    {"shares": VALUE, "modulus": 10**9, "count": 10**9},
    {"shares": VALUE, "modulus": 1, "count": 10**9},
    {"subset": 1_000, "size": 500, "here": VALUE, "with": chance(HALF)},
    {"row": 1_000, "here": VALUE, "off": "0", "on": "0"},
    emit(["%", 1, VALUE]),
    let("x", {"round": str(1 << 300), "from": 1, "to": str(1 << 300)}, emit(0)),
])  # fmt: skip
def test_what_takes_too_long_is_given_up(encoded: Any) -> None:
    with limited(100_000), pytest.raises(ArithmeticError) as refused:
        law(read(encoded), {"value": 0})
    assert isinstance(refused.value, TooLarge | ZeroDivisionError)
