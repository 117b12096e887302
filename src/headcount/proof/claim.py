"""Reading a certificate: what is claimed, and of what."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, TypeAlias

from headcount.proof import programme
from headcount.proof.divergence import Bounds
from headcount.proof.expression import WORD, Unreadable, integer, short
from headcount.proof.programme import Step, Table

FORMATS = {"headcount certificate 1": {"hash"}, "headcount certificate 2": {"hash", "versions"}}
OF_ROUNDS = "headcount certificate 3"
FORMATS[OF_ROUNDS] = FORMATS["headcount certificate 2"]  # what is not hashed
MODELS = {"central", "local", "shuffle", "shuffle-dummies", "shuffle-threshold"}
LARGEST_EPSILON = 500
NUMBER = re.compile(r"[0-9]{1,400}([/.][0-9]{1,400})?", re.ASCII)
MOST_POINTS = 100
MOST_MESSAGES = 1_000
MOST_ROUNDS = 10_000
RELATIONS = {"replace", "add-remove"}
READ_WHOLE = {"rounds", "format", "hash", "model", "neighbours", "values", "report", "tally", "release"}
READ_IN_PART = {
    "crowd": {"size", "least", "corrupt"},
    "claim": {"epsilon", "delta", "curve"},
    "budget": {"epsilon", "delta"},
    "wire": {"messages"},
}


@dataclass(frozen=True)
class TableNoise:
    """Two-sided noise: from the centre, and at its ends as far beyond as `beyond` says."""

    centre: Table
    beyond: Table


@dataclass(frozen=True)
class Padding:
    """Messages that the shuffler adds to each total.

    They are as many as a table says, made up to `filled` by messages of the other kind if that is
    given; or, if a chance of keeping a message is given, as many as another chance comes true.
    """

    table: Table | None
    filled: int | None
    keep: Fraction | None = None
    more: Fraction | None = None


@dataclass(frozen=True)
class ReleaseRule:
    """The trusted side's treatment of each total: rounding to levels, noise, a threshold.

    Rounding is random with an exact mean; empty totals get noise only if told.
    """

    noise: TableNoise | None
    threshold: int | None
    touches_empty: bool
    levels_per_step: Fraction = Fraction(1)
    padding: Padding | None = None


@dataclass(frozen=True)
class Claim:
    """The claim for this many honest people: points (epsilon, delta) of a privacy profile."""

    model: str
    neighbours: str
    size: int
    least: int
    corrupt: int
    most_corrupt: int  # of all people, where `corrupt` is of the least
    values: int | None  # how many a person may hold, 0, 1, ...; None if anything
    report: Step
    summed: bool  # the trusted side adds up the messages; otherwise it counts each kind of them
    release: ReleaseRule
    curve: tuple[tuple[Fraction, Fraction], ...]
    rounds: int = 1  # in each of which the same person may be asked
    messages: int | None = None  # that everybody sends, where reports are cut and filled up to one number
    unread: tuple[str, ...] = ()  # other fields of the certificate, which are not proved

    def __str__(self) -> str:
        """The subject of a verdict, in words."""
        people = "1 honest person" if self.honest == 1 else f"{self.honest:,} honest people"
        who = "one report by itself" if self.model == "local" else f"at least {people}"
        corrupt = f" besides {self.corrupt:,} corrupt ones" if self.corrupt else ""
        held = "anything" if self.values is None else f"one of {self.values:,} values"
        several = "" if self.messages == 1 else "s"
        sent = "" if self.messages is None else f" and sends {self.messages:,} message{several}"
        rounds = "" if self.rounds == 1 else f", in {self.rounds:,} rounds"
        return (
            f"{self.model} model, {self.neighbours} one person, {who}{corrupt}, each of whom holds {held}{sent}{rounds}"
        )

    @property
    def honest(self) -> int:
        return self.least - self.corrupt

    @property
    def claimed(self) -> dict[Fraction, Fraction]:
        """The smallest delta that is claimed at each epsilon."""
        return dict(sorted(self.curve, key=lambda point: -point[1]))


@dataclass(frozen=True)
class Proof:
    """Bounds on the divergence of the worst neighbours at any epsilon, and why they hold."""

    bounds: Callable[[Fraction], Bounds]
    because: str


Prover: TypeAlias = Callable[[Claim], Proof | None]


def digest(certificate: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON without the digest and, in format 2, the versions."""
    besides = FORMATS[certificate["format"]]
    signed = {key: value for key, value in certificate.items() if key not in besides}
    text = json.dumps(signed, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return sha256(text.encode()).hexdigest()


def read(certificate: Any) -> Claim:
    if not isinstance(certificate, dict) or certificate.get("format") not in [*FORMATS]:
        raise Unreadable(f"this is not a {' or a '.join(map(repr, FORMATS))}")
    try:
        if certificate.get("hash") != digest(certificate):
            raise Unreadable("the certificate was changed after it was made: its hash does not match")
        return _claim(certificate)
    except Unreadable:
        raise
    except (KeyError, TypeError, AttributeError, RecursionError, ValueError) as problem:
        raise Unreadable(f"a part of the certificate is missing or has the wrong type: {problem}") from None


def _claim(certificate: dict[str, Any]) -> Claim:
    model, neighbours, crowd = certificate["model"], certificate["neighbours"], certificate["crowd"]
    if model not in MODELS or neighbours not in RELATIONS:
        raise Unreadable(f"no such model or relation: {model}, {neighbours}")
    size, least, corrupt = (integer(crowd[key]) for key in ("size", "least", "corrupt"))
    most_corrupt = integer(crowd.get("most_corrupt", corrupt))
    if not (1 <= least <= size and 0 <= corrupt < least and corrupt <= most_corrupt <= size - (least - corrupt)):
        raise Unreadable("the crowd needs at least one honest person, and no more than its size")
    values = None if certificate["values"] is None else integer(certificate["values"])
    if values is not None and values < 1:
        raise Unreadable("there must be something to hold")
    release = _release(certificate["release"])
    if model in ("local", "shuffle") and release != ReleaseRule(None, None, True):
        raise Unreadable(f"nobody in the {model} model adds or drops anything")
    if certificate["tally"] not in ("count", "sum"):
        raise Unreadable(f"no such tally: {certificate['tally']}")
    if (release.padding is not None) != (model == "shuffle-dummies"):
        raise Unreadable("a shuffler adds messages in the shuffle-dummies model, and in no other")
    if release.levels_per_step != 1 and not (model == "central" and certificate["tally"] == "sum"):
        raise Unreadable("only the total of a sum is brought to levels")
    claimed = certificate["claim"]
    if len(claimed["curve"]) > MOST_POINTS:
        raise Unreadable(f"a curve of more than {MOST_POINTS} points")
    points = [(claimed["epsilon"], claimed["delta"]), *((p["epsilon"], p["delta"]) for p in claimed["curve"])]
    report = programme.read(certificate["report"])
    if values == 1 and "value" in programme.reads(report):
        raise Unreadable("the report depends on a value of which there is only one")
    curve = tuple((_rational(epsilon, LARGEST_EPSILON), _rational(delta, 1)) for epsilon, delta in points)
    budget = certificate.get("budget", claimed)
    if _rational(budget["epsilon"], LARGEST_EPSILON) != curve[0][0] or _rational(budget["delta"], 1) < curve[0][1]:
        raise Unreadable("the claim is not within the budget that stands beside it")
    return Claim(
        model=model,
        neighbours=neighbours,
        size=size,
        least=least,
        corrupt=corrupt,
        most_corrupt=most_corrupt,
        values=values,
        report=report,
        summed=certificate["tally"] == "sum",
        release=release,
        curve=curve,
        messages=_messages(certificate.get("wire")),
        rounds=_rounds(certificate),
        unread=_unread(certificate),
    )


def _unread(certificate: dict[str, Any]) -> tuple[str, ...]:
    """The fields that a proof does not read: that a claim is exact, for one, is not proved."""
    names = [name for name in certificate if name not in READ_WHOLE | READ_IN_PART.keys()]
    for part, read in READ_IN_PART.items():
        inner = certificate.get(part)
        names += [f"{part}.{name}" for name in inner if name not in read] if isinstance(inner, dict) else []
    return tuple(map(short, names))


def _rounds(certificate: dict[str, Any]) -> int:
    """How often the same person is asked: said by the third format, and by no other."""
    if ("rounds" in certificate) != (certificate["format"] == OF_ROUNDS):
        raise Unreadable(f"rounds belong into a {OF_ROUNDS!r}")
    if not 1 <= (rounds := integer(certificate.get("rounds", 1))) <= MOST_ROUNDS:
        raise Unreadable(f"there are from 1 to {MOST_ROUNDS:,} rounds")
    return rounds


def _messages(wire: Any) -> int | None:
    if wire is None:
        return None
    if not 1 <= (messages := integer(wire["messages"])) <= MOST_MESSAGES:
        raise Unreadable(f"everybody sends from 1 to {MOST_MESSAGES} messages")
    return messages


def _release(encoded: dict[str, Any]) -> ReleaseRule:
    if encoded.keys() & {"pad", "keep"}:
        return ReleaseRule(None, None, True, padding=_padding(encoded))
    if encoded.keys() - {"add", "threshold", "empty", "steps", "levels"}:
        raise Unreadable(f"no such release: {sorted(encoded)}")
    noise = encoded.get("add")
    if noise is not None:
        noise = TableNoise(Table.read(noise["centre"]), Table.read(noise["beyond"]))
    threshold = encoded.get("threshold")
    empty = encoded.get("empty", "like the others")
    if empty not in ("like the others", "untouched"):
        raise Unreadable(f"no such treatment of empty totals: {empty}")
    levels, steps = (integer(encoded[key]) for key in ("levels", "steps")) if "steps" in encoded else (1, 1)
    if min(levels, steps) < 1 or ("levels" in encoded) != ("steps" in encoded):
        raise Unreadable("steps and levels are positive, and go together")
    limit = None if threshold is None else integer(threshold)
    return ReleaseRule(noise, limit, empty == "like the others", Fraction(levels, steps))


def _padding(encoded: dict[str, Any]) -> Padding:
    match encoded:
        case {"pad": table, "filled": filled} if len(encoded) == 2:
            return Padding(Table.read(table), integer(filled))
        case {"pad": table} if len(encoded) == 1:
            return Padding(Table.read(table), None)
        case {"keep": keep, "more": more} if len(encoded) == 2:
            return Padding(None, None, *(Fraction(integer(chance), WORD) for chance in (keep, more)))
    raise Unreadable(f"no such release: {sorted(encoded)}")


def _rational(text: Any, most: int) -> Fraction:
    if not isinstance(text, str):
        raise Unreadable("an epsilon or delta is a text such as '1/20'")
    if not NUMBER.fullmatch(text):
        raise Unreadable(f"not a number: {text[:40]!r}")
    try:
        number = Fraction(text)
    except ZeroDivisionError:
        raise Unreadable(f"not a number: {text[:40]!r}") from None
    if number > most:
        raise Unreadable(f"an epsilon or delta above {most}: {text[:40]!r}")
    return number
