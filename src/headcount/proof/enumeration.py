"""The exact law of one person's report, by enumeration: for few outcomes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any, TypeAlias

from headcount.proof.effort import TooLarge, spend
from headcount.proof.expression import Expression, Names, Unreadable, bounded
from headcount.proof.programme import (
    All,
    Below,
    Copies,
    Draw,
    Each,
    Emit,
    Let,
    Maybe,
    Rounded,
    Row,
    Shares,
    Step,
    Subset,
    Table,
    times,
)

Message: TypeAlias = tuple[int, ...]
Sent: TypeAlias = tuple[tuple[Message, int], ...]  # messages and how often each is sent, sorted
EnumeratedLaw: TypeAlias = dict[Sent, Fraction]

MOST_OUTCOMES = 1 << 18
OUTCOME, UNION = 2, 4  # units: an outcome and its chance, and two outcomes put together


def outcomes(draw: Draw, names: Names) -> Iterator[tuple[int, Fraction]]:
    match draw:
        case Below(bound):
            _limit(bound)
            yield from ((k, Fraction(1, bound)) for k in range(bound))
        case Table(start, masses):
            _limit(len(masses))
            yield from ((start + k, Fraction(mass, draw.total)) for k, mass in enumerate(masses) if mass)
        case Rounded(of, steps, levels):
            down, rest = divmod(bounded(of.at(names) * levels), steps)
            yield down, 1 - Fraction(rest, steps)
            if rest:
                yield down + 1, Fraction(rest, steps)


def law(step: Step, names: Names) -> EnumeratedLaw:
    """Everything that may be sent, with its chance, exactly: for steps with few outcomes."""
    spend(8)
    match step:
        case Emit(fields):
            return {((tuple(field.at(names) for field in fields), 1),): Fraction(1)}
        case All(parts):
            return _together(law(part, names) for part in parts)
        case Maybe(likely, then, otherwise):
            return _mixed([(likely, law(then, names)), (1 - likely, law(otherwise, names))])
        case Copies(Expression() as amount, inner):
            return _together([law(inner, names)] * times(amount, names))
        case Copies(Table() as table, inner):
            once = law(inner, names)
            return _mixed((weight, _together([once] * often)) for often, weight in outcomes(table, names))
        case Let(name, Below(bound), Emit(fields)):  # the same in fewer operations
            _limit(bound)
            sent = Counter(tuple(field.at({**names, name: i}) for field in fields) for i in range(bound))
            masses = {often: Fraction(often, bound) for often in set(sent.values())}
            return {((message, 1),): masses[often] for message, often in sent.items()}
        case Let(name, draw, inner):
            return _mixed((weight, law(inner, {**names, name: drawn})) for drawn, weight in outcomes(draw, names))
        case Each(name, rounds, inner):
            return _together(law(inner, {**names, name: i}) for i in range(rounds))
        case Row(width, here, off, on):
            _limit(width << width if width < 60 else 1 << 60)
            chances = [off] * width
            if here:
                chances[_place(here, width, names)] = on
            return _alone({bits: _all_of(bits, chances) for bits in product((0, 1), repeat=width)})
        case Subset(width, size, here, likely):
            return _alone(_subsets(width, size, _place(here, width, names), likely))
        case Shares(of, modulus, count):
            _limit(count)
            _limit(count * modulus ** (count - 1) if modulus.bit_length() * count < 1 << 10 else 1 << 60)
            shares = product(range(modulus), repeat=count - 1)
            last = of.at(names)
            every = (tuple((s,) for s in (*drawn, (last - sum(drawn)) % modulus)) for drawn in shares)
            return _mixed((Fraction(1, modulus ** (count - 1)), {_sent(messages): Fraction(1)}) for messages in every)
    raise Unreadable("no such step")


def _place(here: Expression, width: int, names: Names) -> int:
    place = here.at(names)
    if not 0 <= place < width:
        raise Unreadable("a place outside of its row")
    return place


def _sent(messages: tuple[Message, ...]) -> Sent:
    return tuple(sorted(Counter(messages).items()))


def _all_of(bits: tuple[int, ...], chances: list[Fraction]) -> Fraction:
    mass = Fraction(1)
    for bit, likely in zip(bits, chances, strict=True):
        mass *= likely if bit else 1 - likely
    return mass


def _subsets(width: int, size: int, here: int, likely: Fraction) -> dict[tuple[int, ...], Fraction]:
    others = [j for j in range(width) if j != here]
    _limit(width * comb(width, size) if width < 60 else 1 << 60)
    found = {}
    for inside, weight in ((1, likely), (0, 1 - likely)):
        chosen = list(combinations(others, size - inside))
        for places in chosen:
            on = {*places, here} if inside else {*places}
            found[tuple(int(j in on) for j in range(width))] = weight / len(chosen)
    return found


def _alone(rows: dict[tuple[int, ...], Fraction]) -> EnumeratedLaw:
    return {((row, 1),): mass for row, mass in rows.items() if mass}


def _mixed(parts: Any) -> EnumeratedLaw:
    """Masses that are one object are multiplied once."""
    mixture: EnumeratedLaw = {}
    for weight, part in parts:
        spend(2 * len(part) * _words(part))
        known: dict[int, Fraction] = {}
        for sent, mass in part.items():
            if (more := known.get(id(mass))) is None:
                more = known[id(mass)] = weight * mass
            mixture[sent] = mixture[sent] + more if sent in mixture else more
        if len(mixture) > MOST_OUTCOMES:
            raise TooLarge("there are too many outcomes to go through one by one")
    return {sent: mass for sent, mass in mixture.items() if mass}


def _together(parts: Any) -> EnumeratedLaw:
    whole: EnumeratedLaw = {(): Fraction(1)}
    for part in parts:
        joined: defaultdict[Sent, Fraction] = defaultdict(Fraction)
        _limit(len(whole) * len(part))
        spend(len(whole) * len(part) * UNION * _length(whole))
        for one, mass in whole.items():
            for other, weight in part.items():
                joined[_union(one, other)] += mass * weight
        whole = dict(joined)
    return whole


def _length(whole: EnumeratedLaw) -> int:
    """The size in words, about, of a union with its longest outcome."""
    return max(map(len, whole)) + _words(whole)


def _words(whole: EnumeratedLaw) -> int:
    """The words of the longest denominator."""
    return 1 + max((mass.denominator.bit_length() for mass in whole.values()), default=0) // 64


def _union(one: Sent, other: Sent) -> Sent:
    return tuple(sorted((Counter(dict(one)) + Counter(dict(other))).items())) if one and other else one or other


def _limit(outcomes: int) -> None:
    if outcomes > MOST_OUTCOMES:
        raise TooLarge("there are too many outcomes to go through one by one")
    spend(OUTCOME * outcomes)
