"""Models of trust."""

from __future__ import annotations

from enum import StrEnum

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

    Examples
    --------
    >>> hc.Model("shuffle").trusted
    'a shuffler that mixes the messages'
    """

    CENTRAL = "central"
    THRESHOLD = "shuffle-threshold"
    DUMMIES = "shuffle-dummies"
    SHUFFLE = "shuffle"
    LOCAL = "local"

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    @property
    def releases(self) -> bool:
        """Whether somebody trusted changes the tally before the analyser or anybody else sees it."""
        return self in (Model.CENTRAL, Model.THRESHOLD, Model.DUMMIES)

    @property
    def from_devices(self) -> bool:
        """Whether people's own devices can report: nobody is trusted beyond a shuffler that mixes and adds."""
        return self in (Model.DUMMIES, Model.SHUFFLE, Model.LOCAL)

    @property
    def trusted(self) -> str:
        """Who is trusted, in words."""
        return {
            "central": "the analyser, with everyone's answer",
            "shuffle-threshold": "a shuffler that drops small counts",
            "shuffle-dummies": "a shuffler that mixes the messages and adds some of its own",
            "shuffle": "a shuffler that mixes the messages",
            "local": "nobody",
        }[self]


class Party(StrEnum):
    """Who sees something of a collection, and the answer besides."""

    ANALYSER = "analyser"
    PUBLIC = "public"
    SHUFFLER = "shuffler"


def parsed_model(model: str) -> Model:
    try:
        return Model(model)
    except ValueError:
        raise BadArgument("model", f"is {model!r}", f"use one of {', '.join(Model)}") from None
