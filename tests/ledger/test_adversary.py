"""A ledger against somebody who chooses questions because of answers; and five rules that lose to them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from adversary import Exchanging, Kept, Natural, Question, Refunding, menu_value, three_steps, tuned_pair

import headcount as hc
from headcount.ledger import prices
from headcount.ledger.allowance import Allowance
from headcount.ledger.prices import plain_limit, renyi_limit
from headcount.privacy.renyi import renyi_budget, response_divergence

EXACTLY = 1 + 1e-9  # what sums of doubles may be off


def poisson(mean):
    return Question("poisson", math.log(mean / 3000) / math.log(0.5 / 3000))


def geometric(epsilon):
    return Question("geometric", math.log(epsilon / 1e-3) / math.log(4 / 1e-3))


# Two questions, the second tuned to what is left.

PAIRS = [
    (1, 1e-2, poisson(16)),
    (1, 1e-2, poisson(36)),
    (1, 1e-2, geometric(0.3)),
    (1, 1e-2, geometric(0.9)),
    (2, 1e-3, poisson(36)),
    (2, 1e-3, geometric(1.2)),
    (2, 1e-6, poisson(60)),
    (2, 1e-6, geometric(0.1)),
]


@pytest.mark.parametrize(("epsilon", "delta", "first"), PAIRS, ids=str)
def test_no_second_question_gets_more_than_the_budget(epsilon, delta, first):
    value = tuned_pair(Kept(epsilon, delta), first)
    assert 0 < value <= delta * EXACTLY


@pytest.mark.parametrize(("epsilon", "delta", "times"), [(1, 1e-2, 1.5), (2, 1e-3, 2.0), (2, 1e-6, 2.0)])
def test_composing_what_was_asked_forgets_that_it_was_chosen(epsilon, delta, times):
    """The twin: a second charge, or a second batch, taken for a first one."""
    assert tuned_pair(Natural(epsilon, delta), poisson(36)) >= times * delta


def test_a_slot_that_is_exchanged_for_another_plan_is_a_choice():
    assert tuned_pair(Exchanging(1, 1e-2), poisson(36)) >= 1.5e-2


def test_whoever_is_refunded_what_was_delivered_asks_twice():
    assert tuned_pair(Refunding(1, 1e-2), geometric(0.9)) >= 10e-2


# Three questions.

MENU = (poisson(25), geometric(0.2), Question("negative-binomial", poisson(80).size))


@pytest.mark.parametrize("first", [poisson(36), geometric(0.3)], ids=str)
def test_no_third_question_gets_more_than_the_budget(first):
    value = three_steps(Kept(1, 1e-2), first, MENU)
    assert 0 < value <= 1e-2 * EXACTLY


# Any number of questions from a menu of two, by backward induction.


def accepted(ledger, first, small, big):
    """After so many big questions, how many small ones the ledger accepts, if it began with `first`."""
    most, page = [], ledger.charged(first)(ledger._book.page())
    begun = [first is small, first is big]
    while True:
        more = int(page.spending.affords(ledger._asked(small)))
        if more:
            ledger.charged(*[small] * more)(page)
        with pytest.raises(hc.Refused):
            ledger.charged(*[small] * (more + 1))(page)
        most.append(begun[0] + more)
        try:
            page = ledger.charged(big)(page)
        except hc.Refused:
            return [most[0]] * begun[1] + most


def best_against(ledger, sizes, unit, lost=0.0):
    epsilon = ledger.budget.epsilon
    big, small = (hc.protocol("geometric", n=100, scale=1 / (unit * size)) for size in sizes)
    return max(menu_value(sizes, unit, accepted(ledger, first, small, big), epsilon, lost) for first in (small, big))


MENUS = [(1, 1e-6, (10, 1), 0.01), (2, 1e-6, (10, 1), 0.02), (5, 1e-6, (20, 1), 0.05), (1, 1e-2, (10, 1), 0.05)]


@pytest.mark.parametrize(("epsilon", "delta", "sizes", "unit"), MENUS, ids=str)
def test_no_order_of_questions_from_a_menu_gets_more_than_the_budget(epsilon, delta, sizes, unit):
    ledger = hc.Ledger(epsilon=epsilon, delta=delta)
    lost = float(plain_limit(ledger.allowance).delta)
    assert lost < best_against(ledger, sizes, unit, lost) <= delta * EXACTLY


def composed(sizes, unit, first, second, epsilon):
    """The exact delta of so many of either size, declared beforehand."""
    law = np.ones(1)
    for size, times in zip(sizes, (first, second), strict=True):
        p = 1 / (1 + math.exp(-unit * size))
        ways = [math.lgamma(times + 1) - math.lgamma(k + 1) - math.lgamma(times - k + 1) for k in range(times + 1)]
        masses = [math.exp(w + k * math.log(p) + (times - k) * math.log1p(-p)) for k, w in enumerate(ways)]
        spread = np.zeros(2 * times * size + 1)
        spread[:: 2 * size] = masses
        law = np.convolve(law, spread)
    losses = unit * (np.arange(law.size) - law.size // 2)
    return float(law @ np.maximum(-np.expm1(epsilon - losses), 0.0))


def largest(fits):
    """The last number from 0 on that fits, or -1."""
    low, high = -1, 1
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def frontier(fits):
    """After so many of the first size, how many of the second."""
    most = []
    while (more := largest(lambda second: fits(len(most), second))) >= 0 or fits(len(most), 0):
        most.append(max(more, 0))
    return most


def test_a_menu_of_two_sizes_gets_four_times_what_the_natural_rule_allows():
    sizes, unit = (10, 1), 0.01
    natural = frontier(
        lambda first, second: (
            composed(sizes, unit, first, second, 1.0) <= 1e-6
            or unit * (first * sizes[0] + second * sizes[1]) <= 1 + 1e-12
        )
    )
    assert natural[0] == 562
    assert menu_value(sizes, unit, natural, 1.0) >= 3e-6


def test_the_best_order_afterwards_is_a_choice():
    """The twin has all of delta and takes, after each answer, the order by which most is left."""
    sizes, unit, orders = (10, 1), 0.01, 1 + 2.0 ** (np.arange(-64, 160) / 16)
    most = renyi_budget(orders, 1.0, 1e-6)
    big, small = (np.array([response_divergence(order, unit * size) for order in orders.tolist()]) for size in sizes)
    region = frontier(
        lambda first, second: (
            bool((first * big + second * small <= most).any())
            or unit * (first * sizes[0] + second * sizes[1]) <= 1 + 1e-12
        )
    )
    assert menu_value(sizes, unit, region, 1.0) >= 1.1e-6


@pytest.fixture
def forgetful():
    """Prices are kept; whoever changes the rules must have them forgotten, before and after."""
    kept = (prices.renyi_limit, prices.plain_price, prices.renyi_price, prices._orders, prices._at_all_orders)
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


def test_delta_cannot_be_used_by_both_rules(monkeypatch, forgetful):
    for name in ("PLAIN", "RENYI", "LOST"):
        monkeypatch.setattr(prices, name, 2 * getattr(prices, name))
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    lost = float(plain_limit(ledger.allowance).delta)
    assert best_against(ledger, (10, 1), 0.01, lost) >= 1.05e-6


def test_the_parts_of_delta_add_up_to_it():
    """Why it is a theorem: what each rule can reach from the start, by its supersolution."""
    allowance = Allowance.of(1, 1e-6, "replace")
    for order in (Fraction(16), Fraction(24), Fraction(200)):
        alpha, limit = float(order), renyi_limit(allowance, order)
        constant = (1 / alpha) * (1 - 1 / alpha) ** (alpha - 1)
        reached = constant * math.exp((alpha - 1) * (float(limit.divergence) - 1))
        whole = Fraction(reached) + limit.delta + plain_limit(allowance).delta
        assert whole <= allowance.delta
        assert whole >= allowance.delta * Fraction(99, 100)  # and nothing is wasted


def cut(p, q, lost):
    """The part of P that is at most so many times Q, so that this much of it is lost."""
    low, high = 0.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if np.maximum(p - math.exp(middle) * q, 0).sum() <= lost else (middle, high)
    return np.minimum(p, math.exp(high) * q)


@pytest.mark.parametrize("delta", [1e-2, 1e-6])
@pytest.mark.parametrize("question", [poisson(36), geometric(0.3), *MENU], ids=str)
def test_a_price_is_the_divergence_of_what_is_not_lost(question, delta):
    ledger, order = hc.Ledger(epsilon=1, delta=delta), Fraction(12)
    price = prices.renyi_price(ledger._asked(question.protocol), ledger.allowance, order)
    exact = []
    for p, q in question.ways:
        kept, power = cut(p, q, float(price.delta)), float(order) - 1
        there = kept > 0
        exact.append(math.log((kept[there] * (kept[there] / q[there]) ** power).sum()) / power)
    assert max(exact) <= price.divergence <= 1.01 * max(exact)


# What the rule leaves, of small questions and of schedules.


@pytest.mark.parametrize(
    ("epsilon", "size", "least"), [(1, 0.01, 450), (1, 0.1, 10), (2, 0.02, 410), (5, 0.05, 350), (5, 0.25, 20)]
)
def test_many_small_questions_keep_most_of_what_composition_would_give(epsilon, size, least):
    question = hc.advise(hc.Count(), n=1_000, epsilon=size, models="central").best
    ledger = hc.Ledger(epsilon=epsilon * EXACTLY, delta=1e-6)
    promised = ledger.affords(question)
    ledger.charge(question)
    assert 1 + ledger.affords(question) == promised >= least
    ledger.charge(*[question] * (int(promised) - 1))
    assert ledger.affords(question) == 0
    with pytest.raises(hc.Refused, match="of the budget and"):
        ledger.charge(question)


def test_a_schedule_that_is_declared_beforehand_is_composed_exactly():
    plan = hc.advise(hc.Count(), n=10_000, epsilon=0.0337, models="central").best
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    ledger.charge(*[plan] * 52)  # 52 rounds of geometric noise at 0.0337 are the whole of (1, 1e-6)
    assert (ledger.questions, ledger.spent, ledger.affords(plan)) == (52, 1.0, 0)
    later = hc.Ledger(epsilon=1, delta=1e-6)
    later.charge(plan)
    with pytest.raises(hc.Refused):
        later.charge(*[plan] * 51)  # the same, after an answer


def test_the_first_charge_fixes_the_order_with_a_view_to_what_is_left():
    """After one large question the order of small ones would leave hardly anything."""
    large, small = (hc.advise(hc.Count(), n=1_000, epsilon=e, models="central").best for e in (0.5, 0.01))
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    ledger.charge(large)
    fixed = ledger.order
    assert ledger.affords(small) >= 125
    ledger.charge(small)
    assert ledger.order == fixed


# Relations.


def test_an_add_remove_question_costs_two_steps_in_a_replace_ledger():
    plan = hc.advise(hc.Count(), n=1_000, epsilon=0.25, neighbours="add-remove", models="central").best
    ledger = hc.Ledger(epsilon=1)
    ledger.charge(plan)
    assert ledger.spent == pytest.approx(0.5, rel=1e-12)
    other = hc.advise(hc.Count(), n=1_000, epsilon=0.25, models="central").best
    with pytest.raises(hc.Refused, match=r"ask with neighbours=.add-remove., as the ledger has it"):
        hc.Ledger(epsilon=1, neighbours="add-remove").charge(other)
