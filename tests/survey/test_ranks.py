"""Ranks: the same bytes each time, and in either theme."""

from __future__ import annotations

from headcount.privacy.model import Model
from headcount_survey.figures.ranks import Cell, Rank, ranks

RANKS = [
    Rank("laplace", Model.CENTRAL, [Cell(1.4, 1.5), Cell(1.4)]),
    Rank("zsum", Model.SHUFFLE, [Cell(None, note="needs more"), Cell(5.8, note="about")], dim=True),
]


def test_the_same_ranks_have_the_same_bytes_and_themes_differ(tmp_path):
    def drawn(name: str, theme: str = "light") -> bytes:
        return ranks(RANKS, ["I", "II"], tmp_path / name, title="Title", xlabel="people", theme=theme).read_bytes()

    assert drawn("one.svg") == drawn("two.svg") != drawn("dark.svg", "dark")
    assert len(drawn("ranks.png")) > 10_000
