"""Arrivals: figures of the notes, proofs and broken twins, transcripts with streams that react, answers."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest

import headcount as hc
from headcount.common.canonical import fingerprint
from headcount.privacy.crowd import Crowd
from headcount.privacy.gaussian_shift import shifted
from headcount.programme.coins import SeededCoins
from headcount.protocols.central.discrete_gaussian import distance, gaussian
from headcount.questions.arrivals import FINE, Arrivals
from headcount.questions.strategies.blocks_of_periods import BlocksOfPeriods, widths_over
from headcount.questions.strategies.square_root import SquareRoot

N = 10_000
ADD_REMOVE, REPLACE = "add-remove", "replace"


def option(periods, neighbours, name, **given):
    question = Arrivals(periods, **given)
    wished = {"neighbours": neighbours, "models": "central", "protocols": name}
    return hc.advise(question, n=N, epsilon=1, delta=1e-6, **wished).feasible[0]


@pytest.mark.parametrize(
    ("periods", "neighbours", "name", "worst", "average"),
    [
        (52, ADD_REMOVE, "geometric", 9.79, 6.99),
        (365, ADD_REMOVE, "geometric", 16.8, 11.9),
        (52, REPLACE, "geometric", 19.5, 14.2),
        (365, REPLACE, "geometric", 33.9, 24.0),
        (52, ADD_REMOVE, "discrete-gaussian", 9.81, 9.14),
        (365, ADD_REMOVE, "discrete-gaussian", 12.4, 11.8),
        (52, REPLACE, "discrete-gaussian", 12.1, 11.3),
        (365, REPLACE, "discrete-gaussian", 15.8, 15.0),
    ],
)
def test_sums_err_as_in_the_notes(periods, neighbours, name, worst, average):
    found = option(periods, neighbours, name)
    assert found.rmse == pytest.approx(worst, rel=0.01)
    assert found.rmse_average == pytest.approx(average, rel=0.01)


def test_rounds_alone_are_worse_over_a_year_of_days():
    assert option(365, ADD_REMOVE, "geometric", widths=(1,)).rmse == pytest.approx(25.9, rel=0.01)


def test_people_who_count_in_one_round_are_this_question():
    advice = hc.advise("count", n=N, epsilon=1, delta=1e-6, rounds=52, contributes=1, models="central")
    assert advice.best.protocol.task == Arrivals(52, fine=FINE)
    assert advice.best.rounds == 1
    with pytest.raises(hc.Refused, match="contributes"):
        hc.advise(hc.Sum((0, 1)), n=N, epsilon=1, rounds=52, contributes=1)


def test_people_who_count_in_several_rounds_are_paid_for_as_in_a_series():
    asked = {"epsilon": 1, "delta": 1e-6, "rounds": 52}
    private = {**asked, "n": N, "neighbours": ADD_REMOVE, "models": "central"}
    one, three = (hc.advise("count", **private, contributes=most).best for most in (1, 3))
    rows = {"day": ["2026-01-05"], "who": [1]}
    series = hc.series(rows, time="day", unit="who", first="2026-01-05", **asked, contributes=3, cumulative=True)
    assert series.plan.protocol.parameters == three.protocol.parameters
    assert series.plan.protocol.task == three.protocol.task
    assert three.protocol.loss.delta(1) <= 1e-6
    in_three = replace(one.protocol, crowd=Crowd(N, each=3))  # what nobody paid for
    assert in_three.loss.delta(1) > 1e-3


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"contributes": 2}, "in how many rounds a person is.*neighbours='add-remove'"),
        ({"contributes": 0}, "contributes is 0"),
        ({"contributes": 53}, "of 52 rounds"),
        ({"contributes": 1.5}, "contributes is 1.5"),
        ({"contributes": 2, "max_contributions": 2, "neighbours": ADD_REMOVE}, "together with contributes"),
    ],
)
def test_rounds_that_nobody_could_count_in_are_refused(given, problem):
    with pytest.raises(hc.errors.BadArgument, match=problem):
        hc.advise("count", n=N, epsilon=1, delta=1e-6, rounds=52, **given)


def changed(content, **parts):
    content = {**content, **parts}
    hashed = {key: value for key, value in content.items() if key not in ("hash", "versions")}
    return {**content, "hash": fingerprint(hashed)}


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_claims_are_proved_from_the_file_alone_and_less_is_refuted(neighbours):
    content = hc.certify(option(12, neighbours, "discrete-gaussian", fine=FINE).plan).content
    assert hc.verify(content).answer == "proved"
    less = str(Fraction(content["claim"]["delta"]) * 98 / 100)
    assert hc.verify(changed(content, claim={**content["claim"], "delta": less})).answer == "refuted"
    assert hc.verify(changed(content, values=content["values"] + 1)).answer != "refuted"


def test_somebody_who_may_move_is_not_proved_by_noise_for_one_who_may_not():
    content = hc.certify(option(12, ADD_REMOVE, "discrete-gaussian", fine=FINE).plan).content
    assert hc.verify(changed(content, neighbours=REPLACE)).answer == "refuted"


SCALE, WEIGHTS = Fraction(3), (2, 1, 1)


def transcripts(gamma: np.ndarray, *, moves: bool) -> np.ndarray:
    """The largest divergence of what is seen of three periods, cell by cell, where an event comes in either world, or
    in the first alone, whenever somebody who has seen all cells so far decides."""
    law = gaussian(SCALE).centre.coarse
    masses = np.array(law, dtype=np.float64) / sum(law)

    @cache
    def pair(shift: int) -> tuple[np.ndarray, np.ndarray]:
        p, q = np.pad(masses, 8), np.pad(masses, 8)
        p = np.roll(p, shift)
        return p[p > 0], q[p > 0]

    def told(ratio: np.ndarray, at: int, came: tuple[int | None, int | None]) -> np.ndarray:
        if at == len(WEIGHTS):
            return np.maximum(1.0 - ratio, 0.0)
        worst = np.zeros(ratio.shape)
        for now in ((False, False), (True, False), (False, True), (True, True)):
            twice = any(event and before is not None for event, before in zip(now, came, strict=True))
            if twice or (now[1] and not moves):
                continue
            after = tuple(at if event else before for event, before in zip(now, came, strict=True))
            one, other = (0 if each is None else WEIGHTS[at - each] for each in after)
            p, q = pair(one - other)
            asked = np.multiply.outer(ratio, q / p)
            worst = np.maximum(worst, told(asked, at + 1, after) @ p)
        return worst

    return told(gamma, 0, (None, None))


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("epsilon", [0.25, 1.0])
def test_streams_that_react_to_what_was_told_learn_no_more_than_is_claimed(moves, epsilon):
    found = float(transcripts(np.array([math.exp(epsilon)]), moves=moves)[0])
    strategy = SquareRoot(4, 2)
    assert tuple(strategy.weights) == WEIGHTS
    claimed = {each: shifted(SCALE, strategy.square(1, replaced=each), 3, distance(SCALE)) for each in (False, True)}
    assert 0.3 * claimed[moves].delta(epsilon) < found <= claimed[moves].delta(epsilon)
    alone = shifted(SCALE, max(WEIGHTS) ** 2, 3, distance(SCALE))  # the twin: an account of one cell
    assert found > alone.delta(epsilon)


@pytest.mark.parametrize(
    "strategy",
    [BlocksOfPeriods(13, (1,)), BlocksOfPeriods(14, (1, 4)), BlocksOfPeriods(27, (1, 3, 9)), SquareRoot(13, 16)],
)
def test_sums_are_made_of_cells_before_their_end(strategy):
    held = np.arange(1, strategy.codes + 1)
    cells = strategy.counts(held).astype(np.float64)
    periods = strategy.periods
    assert strategy.rebuilt(cells, 0) == pytest.approx(np.cumsum(held[:periods]))
    many = np.stack([cells, 2.0 * cells])
    assert strategy.rebuilt(many, 0)[1] == pytest.approx(strategy.rebuilt(many[1], 0))
    for first in (1, 2, 5):
        for last in range(first, periods + 1):
            weights = np.zeros(periods)
            weights[first - 1 : last] = 1.0
            found = strategy.of_periods(weights)
            assert found @ cells == pytest.approx(held[first - 1 : last].sum())
            later = np.zeros(strategy.codes, dtype=np.int64)
            later[last:] = 1
            assert not (strategy.counts(later) * found).any()
            if first == 1:
                assert (found**2).sum() == pytest.approx(strategy.prefix_variances[last - 1])


@pytest.mark.parametrize("question", [Arrivals(7, (1, 3)), Arrivals(7, fine=4)])
def test_people_send_what_cells_count(question):
    name = "geometric" if question.fine is None else "discrete-gaussian"
    protocol = hc.protocol(name, question, n=30, scale=5.0)
    codes = np.arange(30) % question.values
    held = np.bincount(codes, minlength=question.values)
    assert protocol.counted(np.arange(question.values), held).totals.tolist() == question.truth(codes).tolist()


def test_events_change_the_most_in_the_first_period():
    strategy = SquareRoot(9, 8)
    vectors = [strategy.counts(np.eye(9, dtype=np.int64)[code]) for code in range(9)]
    moved = max(int(((a - b) ** 2).sum()) for a in vectors for b in vectors)
    assert strategy.square(1, replaced=True) == moved
    assert strategy.square(2, replaced=False) == max(int(((a + b) ** 2).sum()) for a in vectors for b in vectors)


def test_intervals_hold():
    came = np.repeat(np.arange(1, 11), 30)
    for fine, name in ((None, "geometric"), (16, "discrete-gaussian")):
        question = Arrivals(10, fine=fine) if fine else Arrivals(10, (1, 3))
        plan = hc.advise(question, n=300, epsilon=1, delta=1e-6, protocols=name).best
        held = 0
        for seed in range(100):
            answer = hc.run(plan, came.tolist(), coins=SeededCoins(seed))
            low, high = answer.between(2, 8).interval(0.9)
            held += low <= 210 <= high
            assert answer.until(10).value == pytest.approx(answer.people[9])
        assert 75 <= held <= 100


def test_all_at_once_is_wider_than_each():
    came = np.repeat(np.arange(1, 11), 30).tolist()
    answer = hc.ask(came, Arrivals(10, (1, 3)), epsilon=1, model="central")
    each, together = answer.intervals(), answer.intervals(simultaneous=True)
    assert (np.ptp(together, axis=1) > np.ptp(each, axis=1)).all()
    assert answer.simultaneous95 >= np.ptp(together, axis=1).max() / 2.0
    assert answer.clamped().intervals().max() <= 300


def test_blocks_are_those_with_the_smallest_sums_of_digits():
    assert [*widths_over(365)][1] == (1, 19)
    assert [*widths_over(1)] == [(1,)]


@pytest.mark.parametrize(
    ("given", "problem"),
    [({"periods": 0}, "periods"), ({"widths": (1, 3, 7)}, "widths"), ({"widths": (1,), "fine": 3}, "fine")],
)
def test_refusals(given, problem):
    with pytest.raises(hc.Refused, match=problem):
        Arrivals(**{"periods": 9, **given})


@pytest.mark.parametrize("kept", [list, np.array, pd.Series])
def test_days_that_nobody_numbered_are_no_people_who_have_not_come(kept, tmp_path):
    for days in (["2026-01-05"] * 300, pd.to_datetime(["2026-01-05"] * 300)):
        with pytest.raises(hc.Refused, match="number the periods"):
            hc.ask(kept(days), Arrivals(3), epsilon=1)
        for write in (pd.DataFrame.to_csv, pd.DataFrame.to_parquet):
            write(pd.DataFrame({"day": days}), tmp_path / f"rows.{write.__name__[3:]}")
            with pytest.raises(hc.Refused, match="number the periods"):
                hc.ask(tmp_path / f"rows.{write.__name__[3:]}", Arrivals(3), column="day", epsilon=1)
    assert hc.ask(kept([1] * 300 + [7] * 100), Arrivals(3), epsilon=1).until(3).value < 350
