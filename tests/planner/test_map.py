"""The map: winners against the advisor, crossings against the errors on either side of them."""

from __future__ import annotations

import csv
import io
import json
import math
from xml.etree import ElementTree

import numpy as np
import pytest

import headcount as hc
from headcount.errors import BadArgument, Infeasible
from headcount.figures.regions import Mark
from headcount.figures.text_table import comma_separated
from headcount.planner.contenders import Contender, bisected, contenders, winners
from headcount.planner.map import SITUATIONS, USELESS
from headcount.privacy.crowd import Crowd
from headcount.protocols import named

BUDGET = hc.Budget(1.0, 1e-6)
MODELS = ["shuffle", "shuffle-threshold"]


@pytest.fixture(scope="module")
def everybody():
    return hc.map(epsilon=1, delta=1e-6, n=(60, 60_000), ones=(1, 5_000), points=5)


@pytest.fixture(scope="module")
def pair():
    return hc.map(epsilon=1, delta=1e-6, n=(40, 40_000), ones=(1, 10_000), points=12, protocols="zsum,sample-threshold")


def test_winners_are_those_of_the_advisor(everybody):
    panel = everybody.panels[-1]
    assert len(panel.protocols) == 7
    for column, n in enumerate(everybody.n[:4]):
        for row, ones in enumerate(everybody.ones[:4]):
            if ones > n:
                assert panel.winners[row, column] == ""
                assert math.isnan(panel.rmse[row, column])
                continue
            advice = hc.advise("count", n=n, epsilon=1, delta=1e-6, ones=ones, models=MODELS)
            best = min(advice.feasible, key=lambda option: option.noise.rmse)
            assert panel.winners[row, column] == best.name
            assert panel.rmse[row, column] == pytest.approx(best.noise.rmse, rel=1e-9)


def test_every_threshold_is_tried_at_every_point(pair):
    """The best threshold follows the number of ones; a map with one threshold would be another."""
    panel = pair.panels[1]
    n = pair.n[-1]
    choices = contenders(named("sample-threshold"), Crowd(n), BUDGET, "exact")
    assert len(choices) > 5
    zsum = hc.protocol("zsum", n=n, epsilon=1, delta=1e-6).rmse()
    best = [min(zsum, *(choice.error(ones) for choice in choices)) for ones in pair.ones]
    assert panel.rmse[:, -1] == pytest.approx(best, rel=1e-12)
    sampled = [min(range(len(choices)), key=lambda i: choices[i].error(ones)) for ones in (300, 9_000)]
    assert sampled[0] != sampled[1]


def side(protocols: list[Contender], ones: int) -> float:
    return min(entry.error(ones) for entry in protocols)


def crosses(n: int, ones: float, constants: str) -> bool:
    """Whether the better of the two changes between the whole numbers around this one."""
    zsum, sampled = (contenders(named(name), Crowd(n), BUDGET, constants) for name in ("zsum", "sample-threshold"))
    below, above = math.floor(ones), math.floor(ones) + 1
    return (side(zsum, below) < side(sampled, below)) != (side(zsum, above) < side(sampled, above))


def test_errors_really_cross_at_the_crossing(pair):
    for panel in pair.panels:
        assert panel.crossings
        for crossing in panel.crossings[::4]:
            assert crosses(crossing.n, crossing.ones, panel.constants)
            assert not crosses(crossing.n, crossing.ones + 2.0, panel.constants)
            assert not crosses(crossing.n, crossing.ones - 2.0, panel.constants)
            assert crossing.above == "zsum"


def test_the_crossing_lies_where_sampling_hides_everything(pair):
    """With few ones the threshold answers nothing, so that its error is their number: the curves meet at zsum's own."""
    last = pair.panels[1].crossings[-1]
    assert last.ones == pytest.approx(hc.protocol("zsum", n=last.n, epsilon=1, delta=1e-6).rmse(), rel=1e-3)
    papers = pair.panels[0].crossings[-1]
    assert papers.ones == pytest.approx(math.sqrt(50 * math.log(2e6) * (1 - 50 * math.log(2e6) / papers.n)), rel=1e-3)


def test_a_theorem_begins_where_its_paper_says(pair):
    needed = math.ceil(100 * math.log(2e6))
    assert pair.panels[0].begins == needed == 1_451
    alone = hc.map(epsilon=1, delta=1e-6, n=(500, 5_000), ones=(1, 100), points=4, protocols="zsum").panels[0]
    assert alone.begins == needed
    assert alone.winners[:, 0].tolist() == [""] * 4  # nobody's theorem applies
    assert np.isinf(alone.rmse[:, 0]).all()
    assert alone.winners[:, -1].tolist() == ["zsum"] * 4
    assert alone.crossings == ()


def test_what_is_no_better_than_saying_nobody_is_told_apart(pair):
    panel = pair.panels[1]
    useful = panel.useful(pair.ones)
    ones = np.array(pair.ones)[:, None]
    assert (panel.rmse[useful] < USELESS * np.broadcast_to(ones, useful.shape)[useful]).all()
    assert not useful[0].any()  # a single one drowns
    assert sum(panel.shares(pair.ones).values()) == pytest.approx(1.0)
    assert panel.shares(pair.ones)["zsum"] > 0.9


class Fixed(Contender):
    """An entry with a given error."""

    def errors(self, ones):
        return np.full(len(ones), 5.0)


def test_a_tie_goes_to_fewer_messages():
    zsum, poisson = (hc.protocol(name, n=500, epsilon=1, delta=1e-6) for name in ("zsum", "poisson-count"))
    for field in ([Fixed(zsum, 2.0), Fixed(poisson, 1.0)], [Fixed(poisson, 1.0), Fixed(zsum, 2.0)]):
        best, errors = winners(field, [1, 2])
        assert [entry.name for entry in best] == ["poisson-count"] * 2
        assert errors.tolist() == [5.0, 5.0]
    assert winners([], [1, 2])[0] == [None, None]


@pytest.mark.parametrize("root", [1.5, 2.5, 700.5, 999.5])
def test_closing_in_ends_at_neighbours_on_either_side(root):
    low, high = bisected(lambda k: k - root, (1, 1 - root), (1_000, 1_000 - root))
    assert high[0] - low[0] == 1
    assert low[0] < root < high[0]


def test_it_prints_its_finding_a_table_json_and_csv(everybody, pair):
    assert "correlated-count beats both" in everybody.finding
    assert [panel.title for panel in everybody.panels] == [
        "With the papers' constants",
        "Calibrated exactly",
        "All 7 that need a shuffler, exactly",
    ]
    assert [len(panel.protocols) for panel in everybody.panels] == [2, 2, 7]
    assert len(pair.panels) == 2
    assert "(zsum above)" in str(pair)
    assert "throughout" in str(pair)
    read = json.loads(json.dumps(pair.to_json(), allow_nan=False))
    assert set(read) == {"budget", "n", "ones", "panels"}
    assert len(read["panels"][0]["winners"]) == len(pair.ones)
    assert len(read["panels"][0]["winners"][0]) == len(pair.n)
    rows = list(csv.DictReader(io.StringIO(comma_separated(pair.records()))))
    assert len(rows) == 2 * sum(ones <= n for n in pair.n for ones in pair.ones)


def test_figures_are_drawn_with_marks_and_the_finding(everybody, pair, tmp_path):
    for theme in ("light", "dark"):
        svg = everybody.plot(theme=theme, marks=SITUATIONS).save(tmp_path / f"{theme}.svg")
        assert ElementTree.parse(svg).getroot().tag.endswith("svg")  # noqa: S314
    text = (tmp_path / "light.svg").read_text()
    assert "few people, many ones" in text
    assert "equal errors at" in text
    assert "few people, many ones" not in pair.plot(marks=[Mark("here", 9, 9)]).save(tmp_path / "pair.svg").read_text()
    assert "zsum's theorem" in (tmp_path / "pair.svg").read_text().replace("&#x27;", "'")
    assert pair.plot().save(tmp_path / "pair.png").stat().st_size > 30_000


def test_with_no_delta_nobody_behind_a_shuffler_serves_and_others_do():
    few = {"epsilon": 1, "n": (100, 1_000), "ones": (1, 50), "points": 3}
    with pytest.raises(Infeasible, match="none of these can give delta = 0; use delta=1e-6, or the models central"):
        hc.map(**few)
    with pytest.raises(Infeasible, match="use more people or a larger budget"):
        hc.map(**{**few, "n": (2, 20), "delta": 1e-6, "protocols": "zsum"})
    found = hc.map(**few, models=["central", "local"])
    assert found.finding == "Calibrated exactly, geometric counts best wherever there is anything to see"


def test_the_heading_speaks_of_who_takes_part(pair):
    assert "From how many ones on sample-threshold is beaten" in pair.sheet().title
    found = hc.map(epsilon=1, delta=1e-6, n=(100, 1_000), ones=(1, 50), points=3, protocols="zsum,cheu-count")
    assert "sample-threshold" not in str(found)
    assert found.sheet().title.startswith("Who has the smallest error at")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n": (1_000, 100)}, "the smaller first"),
        ({"ones": (0, 100)}, "from 1 to"),
        ({"n": 1_000}, "use two numbers"),
        ({"points": 0}, "2 to 1,000"),
        ({"protocols": ["zsum", "abacus"]}, "abacus"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_what_makes_no_sense_is_refused(given, words):
    with pytest.raises(BadArgument, match=words):
        hc.map(**{"epsilon": 1, "delta": 1e-6, **given})
