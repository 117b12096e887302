"""Colours that mean the same in every figure and that the colour-blind can tell apart."""

from __future__ import annotations

from dataclasses import dataclass

from headcount.errors import BadArgument
from headcount.privacy.model import Model

FAMILIES: dict[str, tuple[str, ...]] = {
    "central noise": ("geometric", "laplace", "stability-histogram"),
    "local": (
        "randomised-response",
        "generalised-response",
        "basic-rappor",
        "optimised-unary",
        "local-hashing",
        "hadamard-response",
        "subset-selection",
        "succinct-histogram",
        "duchi",
        "piecewise",
        "hybrid",
    ),
    "dummies": (
        "zsum",
        "poisson-count",
        "negative-binomial-count",
        "poisson-histogram",
        "balcer-cheu-histogram",
        "fake-users",
    ),
    "cancelling": ("correlated-count", "correlated-histogram", "almost-central-sum"),
    "sampling": ("sample-threshold",),
    "padding": ("padded-count", "padded-histogram", "sampled-padded-histogram"),
    "flipped bits": ("cheu-count", "cheu-sum", "blanket-sum", "blanket-histogram"),
    "shares": ("split-and-mix", "recursive-sum"),
    "hashing": ("hadamard-shuffle", "count-min-shuffle", "almost-one-message-histogram"),
}
OF_A_MODEL = {  # the family of a protocol that none of these has a place for
    Model.CENTRAL: "central noise",
    Model.LOCAL: "local",
    Model.SHUFFLE: "dummies",
    Model.THRESHOLD: "sampling",
    Model.DUMMIES: "padding",
}
SHUFFLED = "shuffled-"  # a local protocol behind a shuffler
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (7, 2, 1.5, 2), (3, 1), (9, 3))
PALER = 0.42  # the palest member of a family is this far on the way to the paper


@dataclass(frozen=True)
class Theme:
    """Paper, ink and the colours on it. A model has a fill colour and a stronger text colour."""

    name: str
    paper: str
    ink: str
    soft: str  # for what is read second
    faint: str  # for rules that should hardly be seen
    models: dict[Model, str]
    words: dict[Model, str]
    families: dict[str, str]

    def of(self, protocol: str) -> str:
        """The colour of a protocol: its family's, paler for every member before it."""
        family, place = place_of(protocol)
        last = max(1, len(FAMILIES[family]) - 1)
        return blend(self.families[family], self.paper, PALER * min(place, last) / max(3, last))


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    ink="#1c1e21",
    soft="#5f6670",
    faint="#e3e6ea",
    models=dict(zip(Model, ("#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7"), strict=True)),
    words=dict(zip(Model, ("#005f95", "#8f6100", "#a04400", "#00734f", "#9c4475"), strict=True)),
    families=dict(
        zip(
            FAMILIES,
            ("#0072b2", "#cc79a7", "#009e73", "#56b4e9", "#e69f00", "#b3a600", "#d55e00", "#4d5157", "#8c8b1f"),
            strict=True,
        )
    ),
)
DARK = Theme(
    name="dark",
    paper="#16181c",
    ink="#eef0f3",
    soft="#a3abb6",
    faint="#31353c",
    models=dict(zip(Model, ("#2f8fd6", "#f0b02a", "#d9622b", "#1fb58a", "#e59ac4"), strict=True)),
    words=dict(zip(Model, ("#6fbaf0", "#f2bc4b", "#f08a55", "#46d3a9", "#eba6cb"), strict=True)),
    families=dict(
        zip(
            FAMILIES,
            ("#2f8fd6", "#e59ac4", "#1fb58a", "#5aaee6", "#e9a820", "#d8cc3a", "#ee7b30", "#cfd3d9", "#b9b845"),
            strict=True,
        )
    ),
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def theme_called(name: str) -> Theme:
    if name not in THEMES:
        raise BadArgument("theme", f"is {name!r}", f"use {' or '.join(map(repr, THEMES))}")
    return THEMES[name]


def enrol(protocol: str, model: Model) -> None:
    """Give a protocol the last place in a family of its model, unless it has one."""
    if not family_of(protocol):
        FAMILIES[OF_A_MODEL[model]] += (protocol,)


def place_of(protocol: str) -> tuple[str, int]:
    """A protocol's family and its place there; deterministic for one that was never enrolled."""
    if protocol.startswith(SHUFFLED):
        known = FAMILIES["local"]
        local = protocol.removeprefix(SHUFFLED)
        return "flipped bits", 1 + known.index(local) if local in known else 0
    for family, members in FAMILIES.items():
        if protocol in members:
            return family, members.index(protocol)
    return tuple(FAMILIES)[sum(protocol.encode()) % len(FAMILIES)], 0


def family_of(hue: str) -> str:
    """The family of an enrolled protocol; nothing otherwise."""
    known = any(hue.removeprefix(SHUFFLED) in members for members in FAMILIES.values())
    return place_of(hue)[0] if known else ""


def dashes_of(protocol: str) -> tuple[float, ...]:
    """Members of a family differ by their dashes as well."""
    return DASHES[place_of(protocol)[1] % len(DASHES)]


def blend(colour: str, other: str, share: float) -> str:
    """The colour this part of the way from the first to the second."""
    ends = ([int(text[i : i + 2], 16) for i in (1, 3, 5)] for text in (colour, other))
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(*ends, strict=True))
