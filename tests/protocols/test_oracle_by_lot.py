"""A family by lot in the local model: figures, coverage, and what cells without a hash function have in common."""

import numpy as np
import pytest

import headcount as hc
from headcount.programme.coins import SeededCoins
from headcount.protocols.local.oracle_by_lot import OracleByLot


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
