"""The ledger: exact sums, charges before draws, refusals that nobody can slip past."""

import copy
import os
import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import reduce
from operator import add

import pytest

import headcount as hc
from headcount.errors import OverBudget, Unsupported
from headcount.ledger.allowance import Allowance, down, up
from headcount.ledger.book import MemoryBook
from headcount.ledger.prices import Asked, renyi_price
from headcount.ledger.spending import Spending
from headcount.privacy.approximate_dp import ApproximateDP
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.pair import Pair
from headcount.privacy.renyi import response_divergence

QUESTION = hc.protocol("randomised-response", n=10, keep=0.51)
COST = Fraction(QUESTION.loss.epsilon(0.0))


class Costs(Pair):
    """A loss of which only the pure epsilon matters here."""

    def __init__(self, epsilon):
        object.__setattr__(self, "pure", epsilon)

    def epsilon(self, delta):
        return self.pure

    def delta(self, epsilon):
        return float(epsilon < self.pure)


PURE = Spending(Allowance.of(1, 0, "replace"))

# Exact rationals.


def test_a_budget_for_three_thirds_holds_three_and_no_more():
    ledger = hc.Ledger(epsilon=3 * COST)
    for _ in range(3):
        ledger.charge(QUESTION)
    assert ledger.spent_exactly == 1
    assert ledger.remaining == 0
    with pytest.raises(OverBudget):
        ledger.charge(QUESTION)


def test_floats_would_have_lost_the_smallest_of_charges():
    smallest = 5e-324
    spending = PURE.and_also(Asked(Costs(1.0))).and_also(Asked(Costs(smallest)))
    assert spending.plain.divergence == spending.share == 1 + Fraction(smallest) > 1
    assert 1.0 + smallest == 1.0  # the twin: it would go on for free


def test_a_spent_budget_refuses_even_that(monkeypatch):
    ledger = hc.Ledger(epsilon=1)
    monkeypatch.setattr(ledger._book, "loss", lambda _, __: Costs(1.0))
    ledger.charge(QUESTION)
    monkeypatch.setattr(ledger._book, "loss", lambda _, __: Costs(5e-324))
    with pytest.raises(OverBudget):
        ledger.charge(QUESTION)
    assert ledger.questions == 1


def test_ten_tenths_are_more_than_one_because_the_float_is():
    spending = PURE
    for _ in range(10):
        spending = spending.and_also(Asked(Costs(0.1)))
    assert spending.share == 10 * Fraction(0.1) > 1
    assert reduce(add, [0.1] * 10) < 1  # the twin: by floats there would be something left


def test_a_plan_costs_no_more_than_was_asked_for():
    """The epsilon searched for lies a few units of the last place above; four times 0.4 fit into 1.6 all the same."""
    plan = hc.advise(hc.Count(), n=100, epsilon=0.4, models="central").best
    assert plan.protocol.loss.epsilon(0.0) > 0.4
    ledger = hc.Ledger(epsilon=1.6)
    for _ in range(4):
        ledger.charge(plan)
    assert ledger.spent == 1
    assert PURE.and_also(Asked(Costs(0.5), hc.Budget(0.3))).share == 0.5  # not if that is too little


def test_a_budget_missed_by_a_hair_is_told_to_the_last_digit():
    plan, ledger = hc.advise(hc.Count(), n=100, epsilon=0.1, models="central").best, hc.Ledger(epsilon=0.3)
    for _ in range(2):
        ledger.charge(plan)
    with pytest.raises(OverBudget, match=r"epsilon 0\.30000000000000004 of 0\.29999999999999999\."):
        ledger.charge(plan)


def test_fractions_are_rounded_away_from_the_budget():
    third = Fraction(1, 3)
    assert Fraction(down(third)) < third < Fraction(up(third))
    assert up(down(third)) == down(third)
    assert hc.Ledger(epsilon=third).allowance.epsilon == third
    ledger = hc.Ledger(epsilon=3 * COST)
    ledger.charge(QUESTION)
    assert (ledger.spent, ledger.remaining) == (up(third), down(2 * third))


def test_a_question_that_gives_everything_away_is_refused():
    ledger = hc.Ledger(epsilon=50, delta=0.1)
    with pytest.raises(OverBudget, match="more than any epsilon"):
        ledger.charge(hc.protocol("zsum", n=1, gamma=0.01))
    assert ledger.spent == 0


def test_any_mechanism_costs_at_most_what_it_says():
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    assert ledger.would_cost(epsilon=0.25) <= 0.25
    worst = Asked(ApproximateDP(hc.Budget(0.25, 1e-9)), hc.Budget(0.25, 1e-9))
    price = renyi_price(worst, ledger.allowance, Fraction(20))
    assert 1e-9 <= price.delta <= 1.01e-8
    assert price.divergence <= response_divergence(20.0, 0.25) * (1 + 1e-8)
    with pytest.raises(hc.Refused, match="question is missing"):
        ledger.would_cost()


class RoundedUp(ApproximateDP):
    """A twin that rounds the delta up that it was given, which is more than it was given for then."""

    claim = PrivacyLoss.claim


@pytest.mark.parametrize(("delta", "times"), [(0, 3), (1e-6, 3), (2e-6, 2), (5e-6, 1), (1.1e-5, 0)])
def test_of_mechanisms_with_known_epsilon_and_delta_a_ledger_affords_what_plain_sums_allow(delta, times, monkeypatch):
    """Of the ledger's delta half: the rest is for questions whose whole curve is known, which it affords more of."""
    ledger = hc.Ledger(epsilon=3, delta=1e-5)
    assert ledger.affords(epsilon=1, delta=delta) == times
    monkeypatch.setattr("headcount.ledger.ledger.any_mechanism", RoundedUp)
    twin = ledger.affords(epsilon=1, delta=delta)
    assert twin < times if delta in (1e-6, 2e-6) else twin == times


def test_a_known_curve_is_worth_more_than_its_epsilon_and_delta():
    assert hc.Ledger(epsilon=3, delta=1e-5).affords(hc.protocol("poisson-count", n=1_000, epsilon=1, delta=1e-6)) == 11


# Threads, forks and copies.


class CheckThenAppend(MemoryBook):
    """A twin that looks first and writes later; all threads have looked before any writes."""

    def __init__(self, allowance, threads):
        super().__init__(allowance)
        self.together = threading.Barrier(threads)

    def turn(self, turned):
        page = turned(self._page)
        self.together.wait(timeout=60)
        self._page = self._page.and_also(page.charges[-1], self._page.spending.and_also(page.spending.asked[-1]))


def accepted(ledger, threads, charges):
    """How many charges went through, of so many from each of so many threads."""

    def ask(_):
        done = 0
        for _ in range(charges):
            try:
                ledger.charge(QUESTION)
                done += 1
            except OverBudget:
                pass
        return done

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(ask, range(threads)))


def test_threads_spend_exactly_the_budget():
    ledger = hc.Ledger(epsilon=101 * COST)
    assert accepted(ledger, threads=16, charges=20) == 101 == ledger.questions
    assert ledger.spent_exactly == 1


def test_threads_that_ask_the_same_for_the_first_time_find_one_loss():
    """Whoever comes second, while the first is still working the loss out, must not put another in its place."""
    book, twins = hc.Ledger(epsilon=1)._book, [hc.protocol("randomised-response", n=10, keep=0.51) for _ in range(2)]

    class Slow(dict):
        def setdefault(self, question, loss):
            super().setdefault((twins[0], None, 1), twins[0].loss)
            return super().setdefault(question, loss)

    book._losses = Slow()
    assert book.loss(twins[1]) is twins[0].loss is book.loss(twins[0])


def test_whoever_looks_first_and_writes_later_overspends():
    twin = hc.Ledger.of(CheckThenAppend(Allowance.of(COST, 0, "replace"), threads=4))
    assert accepted(twin, threads=4, charges=1) == 4  # of one


def in_a_fork(work):
    """The text that a forked process makes of it."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            os.write(writing, work().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        heard = pipe.read().decode()
    os.waitpid(child, 0)
    return heard


def charged(ledger):
    try:
        ledger.charge(QUESTION)
    except hc.Refused as refusal:
        return str(refusal)
    return "paid"


def test_a_forked_child_does_not_spend_the_same_budget_again():
    ledger = hc.Ledger(epsilon=COST)
    assert "both would spend the same budget; keep it in a file" in in_a_fork(lambda: charged(ledger))
    assert charged(ledger) == "paid"


def test_a_child_forked_while_another_thread_charges_refuses_and_does_not_hang():
    ledger = hc.Ledger(epsilon=COST)
    with ledger._book._lock:
        assert "fork" in in_a_fork(lambda: charged(ledger))


def test_a_child_that_does_not_look_at_its_parents_spends_twice():
    twin = hc.Ledger(epsilon=COST)

    def forgets():
        twin._book._process = os.getpid()
        return charged(twin)

    assert (in_a_fork(forgets), charged(twin)) == ("paid", "paid")


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_copy_would_be_a_second_purse(copied, tmp_path):
    for ledger in (hc.Ledger(epsilon=1), hc.Ledger.open(tmp_path / copied.__name__, epsilon=1)):
        with pytest.raises(Unsupported, match=r"cannot be copied or pickled.*Ledger\.open"):
            copied(ledger)
