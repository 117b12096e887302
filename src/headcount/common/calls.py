"""Calls of public functions: an argument that is left out, misspelt or of another kind is refused
with what to say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from os import PathLike
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from headcount.errors import BadArgument, WrongCall
from headcount.phrases import Phrase, setting

P = ParamSpec("P")
R = TypeVar("R")
WITHOUT: dict[str, str] = {  # what to say where one is left out
    "bounds": Phrase(
        "say between which values one person counts, as in {bounds} with {clip}", bounds=(0, 500), clip=True
    ),
    "columns": Phrase("say what each column holds, as in {columns}", columns={"sex": ["f", "m"]}),
    "data": "give people's answers: a list, a frame, or a file by its path",
    "epsilon": Phrase("say how private the answer is to be, as in {epsilon}; smaller is more private", epsilon=1),
    "first": Phrase("say when the first round begins, as in {first}", first="2026-01-05"),
    "n": Phrase("say how many people there are, as in {n}", n=10_000),
    "path": "give the name of a file",
    "question": "say what is asked, as hc.Count()",
    "rounds": Phrase("say how many rounds there are, as in {rounds}", rounds=52),
    "task": "say what is asked, as 'count' or hc.Count()",
    "time": Phrase("name the column that holds the times, as in {time}", time="day"),
    "unit": Phrase("name the column that holds the person ids, as in {unit}", unit="customer"),
    "within": Phrase("say how wrong the answer may be, as in {within}", within=10),
}


class Kind(NamedTuple):
    """What an argument has to be, apart from its range, which its question looks at."""

    fits: Callable[[Any], bool]
    works: str = ""  # an example, unless it is a flag


FLAG = Kind(lambda given: isinstance(given, bool | np.bool_))
FILE = Kind(lambda given: isinstance(given, str | PathLike), "give the name of a file")
PLAN = Kind(
    lambda given: any(hasattr(given, name) for name in ("best", "budget", "loss")), "give a plan, as hc.advise(…).best"
)
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("clamp", "clip", "collected", "consistent", "cumulative", "fractions", "other", "spelled"), FLAG),
    "whole": FLAG,
    "at": Kind(
        lambda given: isinstance(given, int | float | np.number) and not isinstance(given, bool),
        Phrase("say which part of the people, as in {at}", at=0.9),
    ),
    "engine": Kind(lambda given: hasattr(given, "answers"), "leave it out: it is chosen by the data"),
    "ledger": Kind(lambda given: hasattr(given, "require"), "use hc.Ledger.open(path)"),
    "margins": Kind(
        lambda given: isinstance(given, int | np.integer | list | tuple) and not isinstance(given, bool),
        "say how many columns are told together, as 2, or which: [('sex', 'vote')]",
    ),
    "numbers": Kind(
        lambda given: isinstance(given, str), Phrase("say how one is written, as in {numbers}", numbers="1,234.50")
    ),
    "losses": Kind(
        lambda given: isinstance(given, Iterable) and not isinstance(given, str | bytes),
        "give a list of them, as [plan.loss, plan.loss]",
    ),
    "path": FILE,
    "plan": PLAN,
    "what": PLAN,
    "witness": FILE,
}


def left_out(name: str, works: str = "") -> WrongCall:
    """The refusal of a call without this argument."""
    return WrongCall(name, "is missing", WITHOUT.get(name) or works or "say what it is")


def checked(asked: Callable[P, R], onward: Callable[..., Any] | None = None) -> Callable[P, R]:
    """The same function, whose calls are looked at before.

    Its other arguments are those of the function that they are handed `onward` to; without one, it
    looks at them itself.
    """
    each = signature(asked).parameters.values()
    own = [one.name for one in each if one.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)]
    places = [one.name for one in each if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    known = {*own, *([] if onward is None else signature(onward).parameters)}
    needed = [one.name for one in each if one.name in own and one.default is Parameter.empty]
    kept = {one.kind for one in each}
    opened = Parameter.VAR_KEYWORD in kept and onward is None, Parameter.VAR_POSITIONAL in kept
    defaults = {one.name: one.default for one in each}

    @wraps(asked)
    def complete(*given: P.args, **named: P.kwargs) -> R:
        if len(given) > len(places) and not opened[1]:
            raise _nameless(len(places), [name for name in own if name not in (*places, "self", "cls")])
        held: dict[str, Any] = dict(zip(places, given, strict=False))
        for name in named:
            if name in held:
                raise WrongCall(name, "is given twice", "give it once")
            if name not in known and not opened[0]:
                raise _unknown(name, known)
        held |= named
        for name in needed:
            if name not in held:
                raise left_out(name)
        for name, value in held.items():
            kind = KINDS.get(name)
            left = value is None and defaults.get(name) is None
            if kind is not None and not left and not kind.fits(value):
                raise _unfit(name, value, kind)
        return asked(*given, **named)

    return complete


def _unfit(name: str, value: Any, kind: Kind) -> BadArgument:
    shown = repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
    return BadArgument(name, f"is {shown}", kind.works or Phrase("use {}, or leave it out", setting(name, True)))


def _nameless(places: int, others: list[str]) -> WrongCall:
    those = f"only the first {places} of them may be" if places > 1 else "only the first may be"
    example = Phrase(", as in {}", setting(others[0])) if others else ""
    return WrongCall("an argument", "is given without its name", Phrase(f"{those}; name the others{{}}", example))


def _unknown(name: str, known: set[str]) -> WrongCall:
    near = get_close_matches(name, sorted(known - {"self", "cls"}), 1, 0.5)
    works = Phrase("the nearest is {}", near[0]) if near else "leave it out"
    return WrongCall(name, "is no argument of this function", works)


def checked_class(kind: type[R]) -> type[R]:
    """The same class, whose calls are looked at before."""
    setattr(kind, "__init__", checked(kind.__init__))  # noqa: B010 - to mypy an assignment would be another method
    return kind
