"""Simulated errors under their prediction, and the models of trust."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from headcount.figures.colours import THEMES
from headcount.privacy import laws
from headcount.privacy.model import Model
from headcount.programme.law import Noise
from headcount_survey.figures.simulated import BINS, Runs, Size, edges, simulated
from headcount_survey.figures.trust import PLACES, WAYS, models_of_trust


def noise(people: int, chance: float, scale: float = 1.0) -> Noise:
    return Noise.of(laws.binomial(people, chance), centre=people * chance, scale=scale)


@pytest.mark.parametrize("law", [noise(40, 0.3), noise(100_000, 0.2), noise(5_000, 0.5, 2.16), noise(1, 0.5)])
@pytest.mark.parametrize("runs", [60, 10_000])
def test_every_bin_holds_as_many_values_as_any_other(law, runs):
    cuts = edges(law, runs)
    held = np.histogram(law.values, cuts)[0]
    inside = held[(cuts[:-1] > law.values.min()) & (cuts[1:] < law.values.max())]
    assert inside.size == 0 or inside.min() == inside.max()
    assert len(cuts) - 1 <= min(BINS, 2.0 * runs**0.5) + 4
    reached = np.histogram(law.values, cuts, weights=law.masses)[0].sum()
    assert reached > 0.998


def test_a_twin_that_cuts_at_round_numbers_would_comb_the_figure():
    law = noise(5_000, 0.5, 2.16)
    held = np.histogram(law.values, np.arange(-150.0, 150.0, 5.0))[0]
    assert held.min() < held.max()


def test_a_suppressed_answer_far_away_does_not_widen_the_bins():
    near = noise(1_000, 0.1)
    law = Noise(np.append(near.values, -4_000.0), np.append(0.999 * near.masses, 0.001))
    assert np.diff(edges(law, 10_000)).max() < 200.0


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ending", [".svg", ".png"])
def test_both_figures_are_drawn_and_are_the_same_each_time(tmp_path, theme, ending):
    law = noise(1_000, 0.1)
    rng = np.arange(1_000) % law.values.size
    sizes = [Size(people, 9.5, 9.4, 0.2) for people in (500, 1_000, 2_000)]
    first, second = (
        simulated(
            Runs(law.values[rng], law),
            sizes,
            tmp_path / f"{i}{ending}",
            model=Model.SHUFFLE,
            title="As predicted",
            theme=theme,
        ).read_bytes()
        for i in range(2)
    )
    assert first == second
    trust = models_of_trust(tmp_path / f"trust{ending}", theme=theme)
    assert trust.read_bytes() == models_of_trust(tmp_path / f"again{ending}", theme=theme).read_bytes()


def test_trust_ends_earlier_from_model_to_model_and_never_before_there_is_noise():
    assert tuple(WAYS) == tuple(Model)
    ends = [way.last for way in WAYS.values()]
    assert all(one >= other for one, other in pairwise(ends))
    for way in WAYS.values():
        assert len(way.steps) == len(PLACES)
        before = " ".join(way.steps[: way.last + 1])
        assert any(word in before for word in ("noise", "drop", "dummies"))
        assert way.steps[way.last] or way.last == PLACES.index("randomiser")
