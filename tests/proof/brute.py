"""The divergence of a handful of people's messages, by going through everything that may happen, in fractions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__, "-": int.__sub__, "*": int.__mul__, "^": int.__xor__, "&": int.__and__,
    "//": int.__floordiv__, "%": int.__mod__,
}  # fmt: skip
Law = dict[tuple[Any, ...], Fraction]  # sorted messages


def number(field: Any, names: dict[str, int]) -> int:
    match field:
        case int() | str():
            return int(field)
        case {"name": name}:
            return names[name]
        case ["parity", part]:
            return bin(number(part, names)).count("1") % 2
    return OPERATIONS[field[0]](number(field[1], names), number(field[2], names))


def mixed(parts: list[tuple[Fraction, Law]]) -> Law:
    whole: Law = defaultdict(Fraction)
    for weight, law in parts:
        for sent, mass in law.items():
            if weight * mass:
                whole[sent] += weight * mass
    return whole


def both(one: Law, other: Law) -> Law:
    return mixed([(mass, {tuple(sorted(sent + more)): m for more, m in other.items()}) for sent, mass in one.items()])


def power(law: Law, times: int) -> Law:
    whole: Law = {(): Fraction(1)}
    for _ in range(times):
        whole = both(whole, law)
    return whole


def drawn(draw: dict[str, Any], names: dict[str, int]) -> list[tuple[int, Fraction]]:
    if "below" in draw:
        return [(i, Fraction(1, draw["below"])) for i in range(draw["below"])]
    if "table" in draw:
        masses = [*map(int, draw["table"]["coarse"])]
        return [(draw["table"]["start"] + i, Fraction(mass, sum(masses))) for i, mass in enumerate(masses)]
    exact = Fraction(number(draw["round"], names) * draw["to"], draw["from"])
    down = math.floor(exact)
    return [(down, 1 - (exact - down)), (down + 1, exact - down)]


def law(step: Any, names: dict[str, int]) -> Law:
    match step:
        case {"emit": fields}:
            return {(tuple(number(field, names) for field in fields),): Fraction(1)}
        case {"all": parts}:
            whole: Law = {(): Fraction(1)}
            for part in parts:
                whole = both(whole, law(part, names))
            return whole
        case {"maybe": likely, "then": then, "else": otherwise}:
            p = Fraction(int(likely), 1 << 64)
            return mixed([(p, law(then, names)), (1 - p, law(otherwise, names))])
        case {"copies": {"coarse": _} as table, "brick": brick}:
            once = law(brick, names)
            return mixed([(p, power(once, times)) for times, p in drawn({"table": table}, names)])
        case {"copies": amount, "brick": brick}:
            return power(law(brick, names), number(amount, names))
        case {"let": name, "be": draw, "in": brick}:
            return mixed([(p, law(brick, {**names, name: i})) for i, p in drawn(draw, names) if p])
        case {"each": name, "below": times, "do": brick}:
            whole = {(): Fraction(1)}
            for i in range(times):
                whole = both(whole, law(brick, {**names, name: i}))
            return whole
        case {"row": width, "here": here, "off": off, "on": on}:
            place = None if here is None else number(here, names)
            chances = [Fraction(int(on if j == place else off), 1 << 64) for j in range(width)]
            return {
                (bits,): math.prod((c if bit else 1 - c) for c, bit in zip(chances, bits, strict=True))
                for bits in product((0, 1), repeat=width)
            }
        case {"subset": width, "size": size, "here": here, "with": likely}:
            place, p = number(here, names), Fraction(int(likely), 1 << 64)
            return {
                (tuple(int(j in chosen) for j in range(width)),):
                    p / math.comb(width - 1, size - 1) if place in chosen else (1 - p) / math.comb(width - 1, size)
                for chosen in combinations(range(width), size)
            }  # fmt: skip
    raise ValueError(step)


def truth(report: Any, values: int, people: int, epsilons: list[Fraction], threshold: int | None = None) -> list[float]:
    """At each epsilon, what the worst two crowds that differ in one person give away, small counts dropped if told."""
    each = [law(report, {"value": value}) for value in range(values)]

    @cache
    def view(crowd: tuple[int, ...]) -> Law:
        whole: Law = {(): Fraction(1)}
        for value in crowd:
            whole = both(whole, each[value])
        return mixed([(mass, {_shown(sent, threshold): Fraction(1)}) for sent, mass in whole.items()])

    worst = [0.0] * len(epsilons)
    for others in combinations_with_replacement(range(values), people - 1):
        for one, other in permutations(range(values), 2):
            p, q = (view(tuple(sorted((*others, value)))) for value in (one, other))
            masses = [(float(mass), float(q.get(sent, 0))) for sent, mass in p.items()]
            for i, epsilon in enumerate(epsilons):
                growth = math.exp(epsilon)
                worst[i] = max(worst[i], math.fsum(max(0.0, a - growth * b) for a, b in masses))
    return worst


def _shown(sent: tuple[Any, ...], threshold: int | None) -> tuple[Any, ...]:
    return tuple(message for message in sent if threshold is None or sent.count(message) >= threshold)
