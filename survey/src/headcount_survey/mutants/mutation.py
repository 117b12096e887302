"""How mutants are made: changed reports, releases and methods of a sound protocol."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from headcount.audit.enumeration import Enumerated
from headcount.audit.rewriting import Change, rewritten
from headcount.errors import Refused
from headcount.privacy.budget import Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.privacy.rounded_once import RoundThenNoise
from headcount.programme.brick import Brick, Copies, Maybe
from headcount.programme.coins import Coins, SeededCoins
from headcount.programme.field import Field
from headcount.programme.release import Release
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol
from headcount_survey.mutants.broken_parts import ONE_IN_A_HUNDRED, RETRIES, RoundedDown, SometimesNoNoise
from headcount_survey.mutants.programme_changes import flagged, quieter

Make = Callable[[Protocol], Protocol | str]  # a twin, or why there is none


@dataclass(frozen=True)
class Mutation:
    """One thing to break. `seen` names the check that should notice it first."""

    name: str
    make: Make
    seen: str = "the_claimed_loss_covers_every_view"


def twin(protocol: Protocol, **overrides: Any) -> Protocol:
    """The same instance of a subclass with these attributes overridden."""
    cls = type(protocol)
    broken: type[Protocol] = type(f"Broken{cls.__name__}", (cls,), {})
    for name, change in overrides.items():  # afterwards: a class that is made with a promise of its own is refused
        setattr(broken, name, change)
    return broken(**{entry.name: getattr(protocol, entry.name) for entry in fields(protocol)})


def first_of(*makes: Make) -> Make:
    """The first mutant that applies; if none does, all of the reasons."""

    def make(protocol: Protocol) -> Protocol | str:
        reasons = []
        for attempt in makes:
            found = attempt(protocol)
            if not isinstance(found, str):
                return found
            reasons.append(found)
        return ", and ".join(dict.fromkeys(reasons))

    return make


# What people send


def sending(change: Callable[[Brick], Brick], unless: str) -> Make:
    def make(protocol: Protocol) -> Protocol | str:
        cls = type(protocol)
        if change(protocol.programme).encode() == protocol.programme.encode():
            return unless
        return twin(protocol, report=lambda self, value: change(cls.report(self, value)))

    return make


def rewriting(change: Change, unless: str) -> Make:
    return sending(lambda programme: rewritten(programme, change), unless)


def silenced_for_some(programme: Brick) -> Brick:
    return Maybe(ONE_IN_A_HUNDRED, rewritten(programme, quieter(0.0)), programme)


def for_two_cells(make: Make) -> Make:
    def only(protocol: Protocol) -> Protocol | str:
        two = protocol.task.shape.several and protocol.neighbours is Neighbours.REPLACE
        return make(protocol) if two else "one person moves one total only"

    return only


def asked_again(protocol: Protocol) -> Protocol | str:
    """Everybody reports eight times; in the shuffle model twice in a crowd of one, if possible.

    That is enough to be noticed, and little enough to be enumerated.
    """
    if protocol.model is Model.CENTRAL:
        return "people send their values as they are"
    times = Field.of(RETRIES if protocol.model is Model.LOCAL else 2)
    if protocol.model is Model.SHUFFLE:
        with suppress(Refused):
            protocol = protocol.among(Crowd(1))
    return sending(lambda programme: Copies(times, programme), "")(protocol)


def shared_among_all(protocol: Protocol) -> Protocol | str:
    cls, size = type(protocol), protocol.crowd.size
    planned, alone = protocol.among(Crowd(size + 2, corrupt=2)), protocol.among(Crowd(size + 2))
    if planned.programme.encode() == alone.programme.encode():
        return "what people send does not depend on how many there are"
    return twin(protocol, report=lambda self, value: cls.report(self.among(Crowd(self.crowd.size)), value))


def kind_in_the_open(protocol: Protocol) -> Protocol | str:
    cls: Any = type(protocol)
    if protocol.model.releases:
        return "nobody but the trusted side sees messages"

    def message(self: Protocol) -> np.dtype[Any]:
        inner = cls.message.fget(self)
        return np.dtype([*((name, inner[name]) for name in inner.names), ("dummy", np.uint8)])

    def report(self: Protocol, value: Field) -> Brick:
        whole: Brick = rewritten(cls.report(self, value), flagged)
        return whole

    broken = twin(protocol, report=report, message=property(message))
    flags = {message[-1] for message in Enumerated(broken).alphabet}
    return broken if len(flags) > 1 else "nobody sends dummies"


# What is released


def releasing(fits: Callable[[Release], bool], change: Callable[[Any], Release], unless: str) -> Make:
    """A mutant with every fitting step of the release changed, at any depth."""

    def changed(release: Any) -> Any:
        if fits(release):
            return change(release)
        steps = {f.name: getattr(release, f.name) for f in fields(release)} if is_dataclass(release) else {}
        inner = {name: changed(step) for name, step in steps.items() if isinstance(step, Release)}
        return replace(release, **inner) if inner else release

    def make(protocol: Protocol) -> Protocol | str:
        cls = type(protocol)
        if changed(protocol.released()) == protocol.released():
            return unless
        return twin(protocol, released=lambda self: changed(cls.released(self)))

    return make


NO_NOISE = "nobody trusted adds noise"
NO_THRESHOLD = "no step of the release is a Threshold"
NO_LEVELS = "no step of the release is RoundThenNoise"
TOTALS = (0, 1, 2, 5)


def is_noise(release: Release) -> bool:
    """Whether this step of a release draws noise itself, and not in a step within it."""
    within: list[Any] = [getattr(release, f.name) for f in fields(release)] if is_dataclass(release) else []
    return not any(isinstance(step, Release) for step in within) and any(len(release.law(t)) > 1 for t in TOTALS)


def noisy(change: Callable[[Release], Release]) -> Make:
    return releasing(is_noise, change, NO_NOISE)


def on_levels(change: Callable[[RoundThenNoise], Release]) -> Make:
    return releasing(lambda step: isinstance(step, RoundThenNoise), change, NO_LEVELS)


def always_down(protocol: Protocol) -> Protocol | str:
    levels = on_levels(lambda step: RoundedDown(step.steps, step.levels, step.noise))(protocol)
    if not isinstance(levels, str) and protocol.released().scale.denominator == 1:
        return "totals are whole levels"
    return levels


def floating(protocol: Protocol) -> Protocol | str:
    """Noise from a logarithm of a uniform double, whose last bits reveal the total beneath."""
    cls = type(protocol)
    if isinstance(found := noisy(SometimesNoNoise)(protocol), str):
        return found

    def release(self: Protocol, tally: Tally, coins: Coins | None = None) -> Tally:
        coins = coins or SeededCoins(0)
        released, uniform = cls.release(self, tally, coins), coins.uniform(tally.totals.size) - 0.5
        noise = np.sign(uniform) * np.log1p(-2.0 * np.abs(uniform))
        object.__setattr__(released, "totals", float(self.released().scale) * tally.totals + noise)
        return released

    return twin(protocol, release=release)


def early(protocol: Protocol) -> Protocol | str:
    if protocol.neighbours.hides_size:
        return "any number of reports will do"
    return twin(protocol, release=lambda _, tally, *__: replace(tally, released=True))
