"""A report programme in words: what one person sends, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headcount.programme.brick import Brick

WORD = 1 << 64
STEP = "    "
SYMBOLS = {"%": "mod", "//": "div", "^": "xor", "&": "and"}
CLOSE = frozenset({"+", "-", "*"})


def readable(programme: Brick, most: int = 40) -> str:
    """Its lines; of a long one the first, and how many there are more."""
    lines = list(_lines(programme.encode(), ""))
    if len(lines) > most:
        lines = [*lines[: most - 1], f"… and {len(lines) - most + 1:,} more lines like these"]
    return "\n".join(lines)


def _lines(code: dict[str, Any], indent: str) -> Iterator[str]:
    inner = indent + STEP
    match code:
        case {"emit": fields}:
            yield f"{indent}send {_message(fields)}"
        case {"all": []}:
            yield f"{indent}send nothing"
        case {"all": parts}:
            for part in parts:
                yield from _lines(part, indent)
        case {"maybe": chance, "then": then, "else": otherwise}:
            yield f"{indent}with chance {_chance(chance)}:"
            yield from _lines(then, inner)
            if otherwise != {"all": []}:
                yield f"{indent}otherwise:"
                yield from _lines(otherwise, inner)
        case {"copies": amount, "brick": brick}:
            many = f"{_drawn(amount)} times" if isinstance(amount, dict) and "coarse" in amount else _times(amount)
            yield f"{indent}{many}:"
            yield from _lines(brick, inner)
        case {"let": name, "be": source, "in": brick}:
            yield f"{indent}{name} = {_source(source)}"
            yield from _lines(brick, indent)
        case {"each": name, "below": times, "do": brick}:
            yield f"{indent}for {name} from 0 to {int(times) - 1:,}:"
            yield from _lines(brick, inner)
        case {"row": width, "here": here, "off": off, "on": on}:
            yield f"{indent}send a row of {int(width):,} bits, each of them 1 with chance {_chance(off)}"
            if here is not None:
                yield f"{inner}but the one at {_expression(here)} with chance {_chance(on)}"
        case {"subset": width, "size": size, "here": here, "with": chance}:
            yield f"{indent}send a set of {int(size):,} of {int(width):,} categories, any"
            yield f"{inner}but with {_expression(here)} in it with chance {_chance(chance)}"
        case {"shares": total, "modulus": modulus, "count": count}:
            yield f"{indent}send {int(count):,} numbers below {int(modulus):,}, any"
            yield f"{inner}but that they add up to {_expression(total)}, modulo {int(modulus):,}"
        case _:
            raise ValueError(f"there are no words for {sorted(code)}")


def _message(fields: list[Any]) -> str:
    words = [_expression(field) for field in fields]
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def _chance(threshold: str) -> str:
    return f"{int(threshold) / WORD:.6g}"


def _times(amount: Any) -> str:
    return "once" if amount == 1 else f"{_expression(amount)} times"


def _source(source: dict[str, Any]) -> str:
    match source:
        case {"below": bound}:
            return f"any number from 0 to {int(bound) - 1:,}"
        case {"table": table}:
            return _drawn(table)
        case {"round": field, "from": steps, "to": levels}:
            return f"{_expression(field)} · {levels:,} / {int(steps):,}, rounded up or down so that its mean is exact"
    raise ValueError(f"there are no words for {sorted(source)}")


def _drawn(table: dict[str, Any]) -> str:
    """What is drawn from a table, by its mean and by how often it is what it is most often."""
    start, masses = int(table["start"]), [int(mass) / WORD for mass in table["coarse"]]
    mean = sum((start + place) * mass for place, mass in enumerate(masses)) / sum(masses)
    likeliest = max(range(len(masses)), key=masses.__getitem__)
    often = masses[likeliest]
    return f"a number drawn from a table (mean {mean:.4g}; {start + likeliest} with chance {often:.4g})"


def _expression(field: Any, around: str = "") -> str:
    if isinstance(field, dict):
        return str(field["name"])
    if not isinstance(field, list):
        return f"{int(field):,}"
    operation, *parts = field
    if operation == "parity":
        return f"parity({_expression(parts[0])})"
    left, right = parts
    words = f"{_expression(left, operation)} {SYMBOLS.get(operation, operation)} {_expression(right, operation + 'r')}"
    return words if not around or (around == operation and operation in CLOSE) else f"({words})"
