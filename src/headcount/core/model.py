"""Models of trust."""

from __future__ import annotations

from enum import StrEnum

from headcount.core.errors import BadArgument


class Model(StrEnum):
    """Whom people must trust, from everybody to nobody."""

    CENTRAL = "central"  # the analyser, who sees every value
    THRESHOLD = "shuffle-threshold"  # a shuffler who also drops small counts
    SHUFFLE = "shuffle"  # a shuffler who mixes the messages
    LOCAL = "local"  # nobody

    @property
    def trusted(self) -> str:
        """Whom, in words."""
        return {
            "central": "the analyser, with everyone's answer",
            "shuffle-threshold": "a shuffler that drops small counts",
            "shuffle": "a shuffler that mixes the messages",
            "local": "nobody",
        }[self]


def parsed_model(model: str) -> Model:
    try:
        return Model(model)
    except ValueError:
        raise BadArgument("model", f"is {model!r}", f"use one of {', '.join(Model)}") from None
