"""What first charges come to, against an accountant of its own and against Google's, and the prices of later ones."""

import math
from contextlib import nullcontext
from fractions import Fraction
from functools import reduce
from itertools import product

import accountant
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as google
from hypothesis import given, settings
from hypothesis import strategies as st

import headcount as hc
from headcount.ledger.spending import Spending
from headcount.privacy import compose as module
from headcount.privacy import loss_distribution
from headcount.privacy.pair import Pair
from stress import lengths

KEEPS = (0.51, 0.6, 0.75)
SCALES = (1.0, 2.5)
ZSUMS = ((8, 0.4), (10, 0.5))

MENU = [
    *((hc.protocol("randomised-response", n=4, keep=keep), accountant.randomised_response(keep)) for keep in KEEPS),
    *((hc.protocol("geometric", n=4, scale=scale), accountant.geometric(scale)) for scale in SCALES),
    *((hc.protocol("zsum", n=n, gamma=gamma), accountant.zsum(n, gamma)) for n, gamma in ZSUMS),
]
ASYMMETRIC = range(len(KEEPS) + len(SCALES), len(MENU))
SEQUENCES = st.lists(st.sampled_from(range(len(MENU))), min_size=1, max_size=5)
DELTAS = st.sampled_from([1e-9, 1e-4, 0.02, 0.2])
ZSUM = len(MENU) - 2
ROUND = 1 - 1e-9  # of a composition; a pure sum is exact
ABOVE = 4e-2  # a composition is of symmetric pairs, worse than either direction: by 3.4% for two zsums of eight
NEAR_NOTHING = 0.05  # an epsilon: below, a composition is as fine as its grid, and no longer relative to it


def together(protocols, delta):
    """The epsilon of questions that are all declared before the first answer; infinite if none is enough."""
    return module.compose([protocol.loss for protocol in protocols]).epsilon(delta)


def questions(numbers):
    return [MENU[number][0] for number in numbers]


def truths(numbers):
    """All questions together, for every direction in which a person's answers may change, up to mirror images."""
    ways = [((pair := MENU[n][1]), pair.mirrored()) if n in ASYMMETRIC else (MENU[n][1],) for n in numbers]
    return [reduce(accountant.Pair.then, pairs) for pairs in product(*ways)]


def excess(numbers, delta):
    """How far it is above the true epsilon, after a check that it is not below."""
    claimed, exact = together(questions(numbers), delta), truths(numbers)
    if math.isinf(claimed):
        assert max(truth.delta(40.0) for truth in exact) >= delta * (1 - 1e-3), "refused without need"
        return 0.0
    assert max(truth.delta(claimed) for truth in exact) <= delta, "less than the truth"
    return (claimed - max(truth.epsilon(delta) for truth in exact)) / max(claimed, NEAR_NOTHING)


def tried(examples, check, *given_to_it):
    """The check, on so many examples."""
    settings(max_examples=examples, deadline=None, derandomize=True)(given(*given_to_it)(check))()


@lengths("examples", 6, 40)
def test_a_composition_is_never_below_the_truth_and_hardly_above(examples):
    def check(numbers, delta):
        assert excess(numbers, delta) < ABOVE

    tried(examples, check, SEQUENCES, DELTAS)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(range(len(KEEPS) + len(SCALES))), max_size=8))
def test_a_pure_ledger_is_the_exact_sum(numbers):
    """Of epsilons that are enough each, and hardly more than that."""
    ledger = hc.Ledger(epsilon=50)
    for number in numbers:
        ledger.charge(MENU[number][0])
    exact = sum((Fraction(MENU[n][0].loss.epsilon(0.0)) for n in numbers), Fraction(0))
    assert 50 * ledger.spent_exactly == exact
    assert exact <= sum(math.log(max(p / q for p, q in MENU[n][1].chances)) for n in numbers) + 1e-13
    for number in numbers:
        assert MENU[number][1].delta(MENU[number][0].loss.epsilon(0.0)) < 1e-50  # sixty digits' worth of nothing


@pytest.mark.parametrize("side", [0, 1])
def test_composing_one_direction_only_is_found_out(monkeypatch, side):
    """Of zsum one direction is the worse; whoever composes only the other is caught, and the mechanism mirrored too."""
    zsum = MENU[ZSUM][0]
    both = zsum.loss.orders(np.array([1.0]))
    orders = type(zsum.loss).orders
    monkeypatch.setattr(type(zsum.loss), "orders", lambda *given: (orders(*given)[side],) * 2)
    worse = both[side] == np.max(both)
    with nullcontext() if worse else pytest.raises(AssertionError, match="less than the truth"):
        excess([ZSUM] * 2, 0.1)


def rare(mass, epsilon):
    """Two rare outcomes that tell the neighbours apart, and a common one that does not."""
    low, high = Fraction(mass), Fraction(mass) * Fraction(math.exp(epsilon))
    return (high, low), (low, high), (1 - low - high, 1 - low - high)


RARE = [rare(1e-9, 0.9), rare(3e-8, 0.31), rare(2e-6, 0.07), rare(7e-5, 0.53)]


def shortfall(slack):
    """How far composed deltas fall below the truth, at the worst of many epsilons, if this is added for rounding."""
    composed = module.compose(Pair(*np.array(outcomes, dtype=np.float64).T) for outcomes in RARE)
    truth = reduce(accountant.Pair.then, (accountant.Pair.of(outcomes) for outcomes in RARE))
    epsilons = np.arange(180) / 100
    raw = np.array([composed.distribution.delta(float(e)) for e in epsilons]) * module.ROUND_UP + slack
    return max(
        float(truth.delta(e) - Fraction(delta)) for e, delta in zip(epsilons.tolist(), raw.tolist(), strict=True)
    )


LOST = 2.0**-50  # of a mass of 1, by each transform: what some processors lose, and others do not


def losing(transform):
    """A processor that loses mass where it matters most: at the largest loss."""

    def rounded(*given):
        masses = transform(*given)
        masses[-1] -= LOST
        return masses

    return rounded


def test_composition_pays_for_its_own_rounding(monkeypatch):
    """Without, what transforms of doubles lose makes delta fall below zero, and delta=1e-18 would believe it."""
    paid = len(RARE) * module.ROUNDING
    assert shortfall(slack=paid) <= 0
    monkeypatch.setattr(loss_distribution.np.fft, "irfft", losing(np.fft.irfft))
    monkeypatch.setattr(loss_distribution, "FEW", 0)
    assert shortfall(slack=paid) <= 0
    assert shortfall(slack=0.0) > LOST / 10


@lengths("examples", 5, 30)
def test_more_questions_never_cost_less_and_their_order_does_not_matter(examples):
    def check(numbers, more, delta, shuffler):
        after = together(questions([*numbers, more]), delta)
        assert after >= together(questions(numbers), delta) * ROUND
        mixed = questions([*numbers, more])
        shuffler.shuffle(mixed)
        assert together(mixed, delta) == after

    tried(examples, check, SEQUENCES, st.sampled_from(range(len(MENU))), DELTAS, st.randoms(use_true_random=False))


@lengths("examples", 5, 30)
def test_a_less_noisy_question_never_costs_less(examples):
    def check(numbers, one, other, delta):
        less, more = (
            together([*questions(numbers), hc.protocol("randomised-response", n=4, keep=keep)], delta)
            for keep in sorted((one, other))
        )
        assert more >= less * ROUND

    tried(examples, check, SEQUENCES, st.floats(0.505, 0.95), st.floats(0.505, 0.95), DELTAS)


@pytest.mark.parametrize("name", ["poisson-count", "correlated-count"])
def test_the_bound_of_the_others_does_not_fall_when_a_finer_question_is_asked(name):
    three = [hc.protocol(name, n=1_000, epsilon=1, delta=1e-6).loss] * 3
    finer = hc.protocol("randomised-response", n=4, keep=0.50001).loss
    before = module.compose(three).epsilon(1e-6)
    assert module.compose([*three, finer]).epsilon(1e-6) >= before
    twin = module.compose([*three, finer], points=2_000)  # follows all curves as finely as the newest asks for
    assert twin.epsilon(1e-6) < before * ROUND


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("geometric", google.from_discrete_laplace_mechanism), ("laplace", google.from_laplace_mechanism)],
)
@pytest.mark.parametrize("times", [2, 10, 40])
def test_a_first_charge_agrees_with_googles_own_accounting(name, theirs, times):
    """Of the same noise by the closed form: within 0.1%, theirs being rounded up as well."""
    scale = 8.0
    given = 1 / scale if name == "geometric" else scale
    kind = {"sensitivity": 1} if name == "geometric" else {}
    whole = theirs(given, value_discretization_interval=1e-4, **kind).self_compose(times).get_epsilon_for_delta(1e-6)
    asked = [hc.protocol(name, n=100, scale=scale)] * times
    hc.Ledger(epsilon=1.001 * whole, delta=1e-6).charge(*asked)
    with pytest.raises(hc.Refused, match="would come to epsilon="):
        hc.Ledger(epsilon=0.999 * whole, delta=1e-6).charge(*asked)


# What later charges are priced.


def test_prices_add_up_whatever_the_order_of_charging():
    one, other = hc.Ledger(epsilon=50, delta=0.3), hc.Ledger(epsilon=50, delta=0.3)
    one.charge(MENU[0][0])
    other.charge(MENU[0][0])
    for number in range(1, len(MENU)):
        one.charge(MENU[number][0])
        other.charge(MENU[len(MENU) - number][0])
    assert one.spent_exactly == other.spent_exactly == one.charges[-1].spent
    assert [charge.spent for charge in one.charges] == sorted(charge.spent for charge in one.charges)


def renyi(pair, order):
    """Of an accountant's pair, by the definition, in the worse order."""
    return max(
        math.log(sum(float(p) ** order * float(q) ** (1 - order) for p, q in way.chances)) / (order - 1)
        for way in (pair, pair.mirrored())
    )


@pytest.mark.parametrize("number", range(len(KEEPS) + len(SCALES)))
def test_a_price_is_never_below_the_divergence_and_hardly_above(number):
    """Of pure questions nothing needs to be cut."""
    protocol, pair = MENU[number]
    ledger = hc.Ledger(epsilon=2, delta=1e-6)
    spending: Spending = ledger._book.page().spending.at(Fraction(13)).and_also(ledger._asked(protocol))
    cut = float(spending.renyi.delta)
    assert cut <= 1e-8
    exact = renyi(pair, 13.0)
    assert exact - 2 * cut * math.exp(13) <= spending.renyi.divergence <= exact * 1.001
