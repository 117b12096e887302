"""Every brick is run on all words there are, and must do exactly what its law says.

All chances are multiples of 1/16, so that the four leading bits of a word decide and 16 words stand for all.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tapes import FALSE_ALARM, Tape, TapeRanOut

from headcount.audit.enumeration import as_integers
from headcount.programme.brick import NOTHING, All, Brick, Copies, Each, Emit, Let, Maybe, Outbox
from headcount.programme.chance import Chance
from headcount.programme.coins import SeededCoins
from headcount.programme.draw import Below, From, Rounded
from headcount.programme.field import VALUE, Field, People
from headcount.programme.report_law import Multiset, ReportLaw
from headcount.programme.rows import Row, Shares, Subset
from headcount.programme.table import Table

SIXTEENTH = 1 << 60
ONE_FIELD = np.dtype([("kind", np.int64)])
TWO_FIELDS = np.dtype([("kind", np.int64), ("key", np.int64)])

ROW = np.dtype([("row", np.uint8, (1,))])
ANY = Field.named("any")

FEW = Table(0, (6 * SIXTEENTH, 5 * SIXTEENTH, 3 * SIXTEENTH), (8 * SIXTEENTH, 0, 8 * SIXTEENTH))
UPTO_TWO = Table(0, (9 * SIXTEENTH, 4 * SIXTEENTH, 3 * SIXTEENTH))
OFTEN, RARELY, EVENLY = Chance(13 / 16), Chance(1 / 16), Chance(0.5)

PROGRAMMES: dict[str, Brick] = {
    "emit a constant": Emit(7),
    "emit the value": Emit(VALUE),
    "emit the opposite": Emit(1 - VALUE),
    "emit two fields": Emit(VALUE, VALUE * -3 + 5),
    "nothing": NOTHING,
    "all": All(Emit(1), Emit(VALUE), Emit(1)),
    "all of nothing and something": All(NOTHING, Emit(0), NOTHING),
    "maybe": Maybe(OFTEN, Emit(1)),
    "maybe never": Maybe(Chance(0.0), Emit(1), Emit(VALUE)),
    "maybe always": Maybe(Chance(1.0), Emit(VALUE), Emit(2)),
    "either": Maybe(RARELY, Emit(1 - VALUE), Emit(VALUE)),
    "maybe in maybe": Maybe(OFTEN, Maybe(EVENLY, Emit(VALUE), Emit(2)), All(Emit(3), Maybe(RARELY, Emit(VALUE)))),
    "copies by value": Copies(VALUE, Emit(0)),
    "copies by a field of the value": Copies(VALUE * 2 + 1, Emit(VALUE)),
    "copies by a table": Copies(UPTO_TWO, Emit(VALUE)),
    "copies by a table with fine masses": Copies(FEW, Emit(VALUE)),
    "copies of a chance": Copies(VALUE + 1, Maybe(OFTEN, Emit(VALUE), Emit(2))),
    "a table's copies of a chance": Copies(UPTO_TWO, Maybe(OFTEN, Emit(VALUE))),
    "copies in a chance": Maybe(EVENLY, Copies(UPTO_TWO, Emit(1)), Copies(VALUE, Emit(0))),
    "zsum": All(Copies(VALUE, Emit(0)), Maybe(RARELY, NOTHING, Emit(0))),
    "any of four": Let("any", Below(4), Emit(ANY)),
    "one draw in two messages": Let("any", Below(4), All(Emit(ANY), Emit(3 - ANY))),
    "an even draw moved by the value": Let("any", Below(2), Emit((VALUE + 1 + ANY) % 3)),
    "a draw from a table, so many times": Let("any", From(UPTO_TWO), Copies(ANY, Emit(VALUE))),
    "a drawn name hides an outer one": Let("any", Below(2), Let("any", Below(4), Emit(ANY))),
    "rounded": Let("any", Rounded(VALUE + 1, 8, 3), Copies(ANY, Emit(1))),
    "rounded without rest": Let("any", Rounded(VALUE * 4, 8, 2), Emit(ANY)),
    "for each": Each("any", 3, Maybe(OFTEN, Emit(ANY))),
    "for each, as often": Each("any", 3, Copies(ANY, Emit(ANY + VALUE))),
    "a row of bits": Row(2, RARELY, VALUE, OFTEN),
    "a row of nobody's": Row(3, OFTEN),
    "one of three": Subset(3, 1, VALUE, OFTEN),
    "one of five": Subset(5, 1, VALUE, RARELY),
    "shares": Shares(VALUE, 4, 3),
    "shares of a draw": Let("any", Below(2), Shares(VALUE - ANY, 4, 2)),
    "parity": Let("any", Below(4), Emit((ANY & (VALUE + 1)).parity, ANY ^ 1)),
    "correlated": All(Copies(VALUE, Emit(1)), Copies(UPTO_TWO, Emit(1)), Copies(UPTO_TWO, All(Emit(0), Emit(1)))),
}
named = pytest.mark.parametrize("programme", PROGRAMMES.values(), ids=PROGRAMMES)
values = pytest.mark.parametrize("value", [0, 1])


class SwapsItsArms(Maybe):
    def draw(self, people: Any, coins: Any, outbox: Any) -> None:
        Maybe(self.chance, self.otherwise, self.then).draw(people, coins, outbox)


class CopiesOnceTooOften(Copies):
    def draw(self, people: Any, coins: Any, outbox: Any) -> None:
        super().draw(people, coins, outbox)
        self.brick.draw(people, coins, outbox)


class ForgetsTheLastShare(Shares):
    """The last share is drawn like the others."""

    def draw(self, people: Any, coins: Any, outbox: Any) -> None:
        for _ in range(self.shares):
            outbox.send([coins.below(self.modulus, people.size)], people)


class RoundsToTheNearest(Rounded):
    def draw(self, people: Any, coins: Any) -> Any:
        coins.below(self.steps, people.size)
        return np.rint(self.field.at(people.held) * self.levels / self.steps).astype(np.int64)


class KeepsTheBit(Row):
    """The bit at `here` is drawn like the others."""

    def draw(self, people: Any, coins: Any, outbox: Any) -> None:
        Row(self.width, self.off).draw(people, coins, outbox)
        coins.bernoulli(self.on, people.size)


def multiset(messages: np.ndarray) -> Multiset:
    return tuple(sorted(Counter(as_integers(message) for message in messages.tolist()).items()))


def drawn(programme, values, coins, message):
    outbox = Outbox(message)
    programme.draw(People(values.size, {"value": values}), coins, outbox)
    return outbox.messages()


def width(programme: Brick) -> np.dtype[Any]:
    if isinstance(programme, Row | Subset):
        return ROW
    inner = programme.brick if isinstance(programme, Let) else programme
    return TWO_FIELDS if isinstance(inner, Emit) and len(inner.fields) == 2 else ONE_FIELD


def run_on_all_words(programme: Brick, value: int) -> dict[Multiset, Fraction]:
    """The law of one person's messages, by giving the programme every sequence of words it asks for."""
    law: Counter[Multiset] = Counter()
    tapes: list[tuple[int, ...]] = [()]
    while tapes:
        words = tapes.pop()
        try:
            messages = drawn(programme, np.array([value], dtype=np.uint8), Tape(words), width(programme))
        except TapeRanOut:
            tapes += [(*words, leading * SIXTEENTH) for leading in range(16)]
        else:
            law[multiset(messages)] += Fraction(1, 16 ** len(words))
    return dict(law)


def stated(law: ReportLaw) -> dict[Multiset, Fraction]:
    return {outcome: Fraction(mass, law.total) for outcome, mass in law.masses.items() if mass}


def check_against_all_words(programme: Brick, value: int) -> None:
    assert run_on_all_words(programme, value) == stated(programme.law({"value": value}))


@named
@values
def test_all_words_together_give_the_stated_law(programme: Brick, value: int) -> None:
    check_against_all_words(programme, value)


@pytest.mark.parametrize(
    "broken",
    [SwapsItsArms(OFTEN, Emit(1), Emit(0)), SwapsItsArms(RARELY, NOTHING, Emit(0)), CopiesOnceTooOften(FEW, Emit(0))],
)
def test_the_check_on_all_words_catches_a_broken_brick(broken: Brick) -> None:
    with pytest.raises(AssertionError):
        check_against_all_words(broken, 1)


@named
@values
def test_the_mean_is_that_of_the_law(programme: Brick, value: int) -> None:
    sizes = {outcome: sum(times for _, times in outcome) for outcome in programme.law({"value": value}).masses}
    mean = sum(sizes[outcome] * mass for outcome, mass in stated(programme.law({"value": value})).items())
    assert programme.mean({"value": value}) == pytest.approx(float(mean), rel=1e-15)


@named
@values
def test_a_law_adds_up_to_one(programme: Brick, value: int) -> None:
    assert sum(stated(programme.law({"value": value})).values()) == 1


@named
@values
def test_a_crowd_sends_as_many_messages_as_the_law_says(programme: Brick, value: int) -> None:
    size = 20_000
    most = max(sum(times for _, times in outcome) for outcome in programme.law({"value": value}).masses)
    count = drawn(programme, np.full(size, value, dtype=np.uint8), SeededCoins(value), width(programme)).size
    hoeffding = most * math.sqrt(size * math.log(2.0 / FALSE_ALARM) / 2.0)
    assert abs(count - size * programme.mean({"value": value})) <= hoeffding


def test_a_crowd_of_both_values_sends_what_its_halves_send() -> None:
    mixed = np.tile(np.array([0, 1], dtype=np.uint8), 50)
    sent = multiset(drawn(All(Copies(VALUE, Emit(5)), Emit(1 - VALUE)), mixed, SeededCoins(1), ONE_FIELD))
    assert sent == (((0,), 50), ((1,), 50), ((5,), 50))


def test_words_are_taken_in_the_order_of_the_tree() -> None:
    tape = Tape([15 * SIXTEENTH, 0, 0, 0, 99])
    programme = All(Maybe(OFTEN, Emit(1), Maybe(EVENLY, Emit(2))), Maybe(OFTEN, Emit(3)), Maybe(OFTEN, Emit(4)))
    messages = drawn(programme, np.zeros(1, dtype=np.uint8), tape, ONE_FIELD)
    assert messages["kind"].tolist() == [2, 3, 4]
    assert tape.left == [99]


def test_an_empty_crowd_sends_nothing() -> None:
    messages = drawn(PROGRAMMES["correlated"], np.zeros(0, dtype=np.uint8), Tape([]), ONE_FIELD)
    assert (messages.size, messages.dtype) == (0, ONE_FIELD)


def test_a_programme_that_sends_nothing_has_messages_of_the_right_type() -> None:
    assert drawn(NOTHING, np.ones(3, dtype=np.uint8), Tape([]), TWO_FIELDS).dtype == TWO_FIELDS


def test_a_number_of_copies_that_may_be_negative_is_refused() -> None:
    with pytest.raises(ValueError, match="starts at 0"):
        Copies(Table(-1, UPTO_TWO.coarse), Emit(0))


@named
@values
def test_a_brick_that_does_not_read_the_value_has_one_law(programme: Brick, value: int) -> None:
    if not programme.reads:
        assert stated(programme.law({"value": value})) == stated(programme.law({"value": 0}))


def numbers_in(node: Any) -> list[int]:
    if isinstance(node, dict):
        return [number for part in node.values() for number in numbers_in(part)]
    if isinstance(node, list):
        return [number for part in node for number in numbers_in(part)]
    return [node] if isinstance(node, int) else []


@named
def test_the_encoded_programme_survives_json(programme: Brick) -> None:
    assert json.loads(json.dumps(programme.encode())) == programme.encode()


@named
def test_no_encoded_number_is_too_large_for_javascript(programme: Brick) -> None:
    assert all(abs(number) <= 1 << 53 for number in numbers_in(programme.encode()))


def test_a_chance_is_encoded_as_its_threshold_in_a_string() -> None:
    assert Maybe(OFTEN, Emit(1)).encode()["maybe"] == str(13 * SIXTEENTH)


def test_a_table_is_encoded_as_its_masses_in_strings() -> None:
    table = {"start": 0, "coarse": [str(mass) for mass in FEW.coarse], "fine": [str(mass) for mass in FEW.fine]}
    assert Copies(FEW, Emit(0)).encode()["copies"] == table


def test_different_programmes_are_encoded_differently() -> None:
    assert len({json.dumps(programme.encode()) for programme in PROGRAMMES.values()}) == len(PROGRAMMES)


def test_subtracting_a_field_from_a_number_mirrors_it() -> None:
    assert (1 - VALUE).at({"value": np.array([0, 1], dtype=np.uint8)}).tolist() == [1, 0]


def test_a_field_means_the_same_for_a_crowd_and_for_one() -> None:
    fields = [VALUE * 7 - 3, (VALUE + 5) % 3, VALUE // 2, (VALUE & 5) ^ 2, (VALUE & 6).parity, VALUE & (0 - VALUE)]
    values = np.arange(1, 200, dtype=np.uint8)
    for field in fields:
        assert field.at({"value": values}).tolist() == [field.at({"value": int(value)}) for value in values]


def test_products_of_small_integers_do_not_wrap() -> None:
    assert (VALUE * 200).at({"value": np.array([200], dtype=np.uint8)}).tolist() == [40_000]


@pytest.mark.parametrize(
    "broken",
    [
        ForgetsTheLastShare(VALUE, 4, 2),
        Let("any", RoundsToTheNearest(VALUE + 1, 8, 3), Emit(ANY)),
        KeepsTheBit(2, RARELY, VALUE, OFTEN),
    ],
)
def test_the_check_on_all_words_catches_a_broken_message_of_many_parts(broken: Brick) -> None:
    with pytest.raises(AssertionError):
        check_against_all_words(broken, 1)


def test_subsets_of_any_size_are_equally_likely() -> None:
    law: Counter[Multiset] = Counter()
    brick, tapes = Subset(4, 2, VALUE, EVENLY), [()]
    while tapes:  # six words stand for all: of them, 1/2 and 1/3 are whole numbers
        words = tapes.pop()
        try:
            sent = drawn(brick, np.array([1]), Tape(words), ROW)
        except TapeRanOut:
            tapes += [(*words, (2 * i + 1) * (1 << 64) // 12) for i in range(6)]
        else:
            law[multiset(sent)] += Fraction(1, 6 ** len(words))
    assert dict(law) == stated(brick.law({"value": 1}))
