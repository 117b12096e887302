"""Models of trust."""

from __future__ import annotations

from enum import StrEnum
from typing import NoReturn

from headcount.errors import BadArgument


class Model(StrEnum):
    """Models of trust: whom people rely on for their privacy, from most trust to none.

    Attributes
    ----------
    CENTRAL
        The analyser, who sees every value and adds the noise.
    THRESHOLD
        A shuffler that mixes the messages and drops small counts.
    DUMMIES
        A shuffler that mixes the messages and adds some of its own.
    SHUFFLE
        A shuffler that mixes the messages.
    LOCAL
        Nobody: every report is private by itself.
    trusted : str
        Who is trusted, in words.
    releases : bool
        Whether somebody trusted changes the tally before the analyser or anybody else sees it.
    from_devices : bool
        Whether people's own devices can report: nobody is trusted beyond a shuffler that mixes and
        adds.
    pads : bool
        Whether devices send values without noise, which messages that the shuffler adds hide.

    Examples
    --------
    >>> hc.Model("shuffle").trusted
    'a shuffler that mixes the messages'
    """

    CENTRAL = "central", "the analyser, with everyone's answer"
    THRESHOLD = "shuffle-threshold", "a shuffler that drops small counts"
    DUMMIES = "shuffle-dummies", "a shuffler that mixes the messages and adds some of its own"
    SHUFFLE = "shuffle", "a shuffler that mixes the messages"
    LOCAL = "local", "nobody"

    trusted: str
    releases: bool
    from_devices: bool
    pads: bool

    def __new__(cls, value: str, trusted: str = "") -> Model:
        model = str.__new__(cls, value)
        model._value_, model.trusted = value, trusted
        model.releases = value in ("central", "shuffle-threshold", "shuffle-dummies")
        model.from_devices = value in ("shuffle-dummies", "shuffle", "local")
        model.pads = value == "shuffle-dummies"
        return model

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise BadArgument("model", f"is {value!r}", f"use one of {', '.join(cls)}")


class Party(StrEnum):
    """The parties of a collection, each of which also sees the answer."""

    ANALYSER = "analyser"
    PUBLIC = "public"
    SHUFFLER = "shuffler"
