"""A family by lot in the local model: figures, coverage, and what cells without a hash function have in common."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import headcount as hc
from headcount.programme.coins import SeededCoins
from headcount.protocols.local.oracle_by_lot import OracleByLot
from headcount.questions.question import Question
from headcount.questions.strategies.margins import Margins


@pytest.mark.parametrize(
    ("radices", "people", "range_"),
    [((1_024,), 10_000, 2_508), ((1_024,), 1_000_000, 25_082), ((8, 4, 4, 4, 2), 10_000, 788), ((4,) * 5, 10_000, 826)],
)
def test_a_range_errs_as_with_the_best_oracle_or_less(radices: tuple[int, ...], people: int, range_: float) -> None:
    """Than optimised unary encoding of the same tree: few cells are told directly, and hashed ones collide less."""
    protocol = hc.protocol("oracle-by-lot", hc.Distribution((0, 1), 1_024, radices=radices), n=people, epsilon=1)
    assert 0.95 * range_ < protocol.rmse() * protocol.spread < 1.01 * range_
    assert protocol.loss.delta(1.0) == 0.0


def covered(protocol: OracleByLot, codes: np.ndarray, runs: int) -> tuple[float, float]:
    """How often intervals of people below a value cover, and how far off they are, in standard errors."""
    bins = protocol.task.values
    truth, below = np.cumsum(np.bincount(codes, minlength=bins)), (bins // 10, bins // 3, bins // 2)
    inside, squares = 0, 0.0
    for seed in range(100, 100 + runs):
        answer = protocol.estimate(protocol.release(protocol.tally(protocol.reports(codes, SeededCoins(seed)))))
        for place in below:
            found = answer.below(float(answer.edges[place]))
            low, high = found.interval()
            inside += low <= truth[place - 1] <= high
            squares += ((found.value - truth[place - 1]) / found.std_error) ** 2
    return inside / (3 * runs), squares / (3 * runs)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("shape", ["spread", "one"])
def test_intervals_cover_whatever_people_hold(epsilon: float, shape: str) -> None:
    question = hc.Distribution((0, 1), 64, radices=(4, 4, 4))
    protocol = hc.protocol("oracle-by-lot", question, n=2_000, epsilon=epsilon)
    codes = SeededCoins(1).below(64, 2_000) if shape == "spread" else np.full(2_000, 20)
    share, squares = covered(protocol, codes, 100)
    assert share > 0.9
    assert 0.7 < squares < 1.25


def test_cells_told_directly_are_not_uncorrelated() -> None:
    """Of two cells a report supports exactly one: the broken twin, with errors taken as uncorrelated, is too sure."""
    protocol = hc.protocol("oracle-by-lot", hc.Distribution((0, 1), 2, radices=(2,)), n=1_000, epsilon=1)
    codes = np.repeat([0, 1], 500)
    released = (protocol.tally(protocol.reports(codes, SeededCoins(seed))) for seed in range(300))
    errors = [protocol.estimate(protocol.release(tally)).people[0] - 500 for tally in released]
    ours = protocol.estimate(protocol.release(protocol.tally(protocol.reports(codes, SeededCoins(0)))))
    assert np.std(errors) == pytest.approx(ours.linear([1, 0]).std_error, rel=0.15)
    assert np.std(errors) > 1.2 * protocol.rmse(500) / np.sqrt(2)


def test_the_error_among_few_people_is_that_of_somebody() -> None:
    question = hc.Distribution((0, 1), 64, radices=(4, 4, 4))
    for people in (1, 2, 3):
        protocol = hc.protocol("oracle-by-lot", question, n=people, epsilon=1)
        assert [protocol.noise_in(family, 0, people).std_error for family in range(3)] == pytest.approx(
            [protocol.rmse(0, people)] * 3, rel=0.5
        )


def test_median_band_and_table_where_nobody_is_trusted() -> None:
    values = np.linspace(0, 0.9999, 20_000)
    answer = hc.distribution(values, bounds=(0, 1), bins=64, epsilon=4, model="local")
    low, high = answer.median.interval(1 - 1e-9)
    assert low <= 0.5 <= high
    band = answer.band(0.999)
    assert (band[:, 2] - 1e-9 <= np.linspace(0, 1, 65)).all()
    assert (band[:, 3] + 1e-9 >= np.linspace(0, 1, 65)).all()
    frame = {"sex": ["f", "m"] * 5_000, "vote": ["yes"] * 7_000 + ["no"] * 3_000}
    table = hc.table(frame, columns={"sex": ["f", "m"], "vote": ["yes", "no"]}, epsilon=4, model="local")
    assert table["vote"]["yes"].value == pytest.approx(7_000, abs=6 * table["vote"].std_error)
    assert table["sex", "vote"]["f", "yes"].value == pytest.approx(3_500, abs=6 * table["sex", "vote"].std_error)
    assert "only nearly" in str(table)


def test_messages_of_another_form_are_not_counted() -> None:
    protocol = hc.protocol("oracle-by-lot", hc.Distribution((0, 1), 64, radices=(2, 32)), n=10, epsilon=1)
    direct, hashed = protocol.oracles
    assert direct.hashing is None
    assert hashed.hashing is not None
    messages = np.zeros(5, dtype=protocol.message)
    messages["family"], messages["place"] = [0, 0, 0, 1, 1], [1, 2, 1, 3, 3]
    messages["u"], messages["v"] = [0, 0, 1, 5, hashed.hashing.prime - 1], [0, 0, 0, hashed.hashing.prime - 1, 0]
    assert protocol.genuine(messages).tolist() == [True, False, False, True, False]


RUNS, FALSE_ALARM = 300, 4.9  # standard errors, of which a normal law exceeds either side with 1e-6


def squares(protocol: OracleByLot, held: np.ndarray) -> np.ndarray:
    """The mean square of the errors of typical answers, run by run."""
    codes = np.repeat(np.arange(held.size), held)
    tallies = (protocol.tally(protocol.reports(codes, SeededCoins(seed))) for seed in range(RUNS))
    cells = np.array([protocol.point(tally) for tally in tallies]) - protocol.task.truth(codes)
    errors, strategy = protocol.rebuilt(cells, 0), protocol.strategy
    if isinstance(strategy, Margins):
        margins = [errors[:, strategy.starts[each] :][:, : strategy.cells_of(each)] for each in strategy.margins]
        return np.mean([(each**2).mean(axis=1) for each in margins], axis=0)
    ends = np.cumsum(np.pad(errors, ((0, 0), (1, 0))), axis=1)
    places = ends.shape[1]
    return np.asarray((places * (ends**2).sum(axis=1) - ends.sum(axis=1) ** 2) / (places * (places - 1) / 2))


QUESTIONS = (hc.Distribution((0, 1), 16, radices=(4, 4)), hc.Table({"a": 2, "b": 3, "c": 4}, margins=2))


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("question", QUESTIONS, ids=["distribution", "table"])
def test_the_error_of_a_typical_answer_is_that_of_simulation(question: Question, epsilon: float) -> None:
    """With everybody in one place, and the broken twin is caught: the noise of empty cells alone, from epsilon 2 on."""
    if question.name == "table":
        question = replace(question, measured=question.margins)
    protocol = hc.protocol("oracle-by-lot", question, n=500, epsilon=epsilon)
    held = np.zeros(question.values, dtype=np.int64)
    held[hardest(protocol)] = 500
    found = squares(protocol, held)
    error = found.std(ddof=1) / math.sqrt(RUNS)
    assert abs(found.mean() - protocol.error_of_answer() ** 2) < FALSE_ALARM * error
    if epsilon >= 2.0:
        assert found.mean() - (protocol.rmse() * protocol.spread) ** 2 > FALSE_ALARM * error


def added(protocol: OracleByLot, weights: np.ndarray) -> np.ndarray:
    """What a person with each code adds to the variance of this sum, by their cells one by one."""
    strategy = protocol.strategy
    found = strategy.coefficients(weights)
    own = np.repeat([protocol.own_variance(each) for each in range(strategy.families)], strategy.sizes_of_families)
    touched = np.array([strategy.counts(each) for each in np.eye(protocol.task.values, dtype=np.int64)])
    return np.asarray(touched @ (own * found**2) - (touched @ found) ** 2)


def hardest(protocol: OracleByLot) -> int:
    """The code that adds most to a typical range; of a table all add as much."""
    if protocol.task.name == "table":
        return 7
    places = np.arange(protocol.task.values)
    ranges = [(places >= low) & (places < high) for low, high in combinations(range(places.size + 1), 2)]
    return int(np.mean([added(protocol, each.astype(np.float64)) for each in ranges], axis=0).argmax())


@pytest.mark.parametrize("radices", [(24,), (4, 6), (3, 2, 4)])
def test_what_people_add_follows_from_the_coefficients_of_all_answers(radices: tuple[int, ...]) -> None:
    places = np.arange(24)
    answers = {
        "ranges": [(places >= low) & (places < high) for low, high in combinations(range(25), 2)],
        "quantiles": [places < end for end in range(24)],
        "bins": list(np.eye(24)),
    }
    for best_for, weights in answers.items():
        question = hc.Distribution((0, 1), 24, radices=radices, best_for=best_for)
        protocol = hc.protocol("oracle-by-lot", question, n=500, epsilon=3)
        one_by_one = np.mean([added(protocol, np.asarray(each, dtype=np.float64)) for each in weights], axis=0)
        assert protocol.own_part.worst == pytest.approx(one_by_one.max(), rel=1e-9)
        assert protocol.own_part.mean == pytest.approx(one_by_one.mean(), rel=1e-9)


def test_what_cannot_be_reached_is_refused_with_the_nearest_that_can_be() -> None:
    question = hc.Distribution((0, 100), 1_024, radices=(32, 32))
    advice = hc.advise(question, n=10_000, within=20, protocols="oracle-by-lot")
    with pytest.raises(hc.errors.Infeasible, match="comes within 27"):
        _ = advice.best
