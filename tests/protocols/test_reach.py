"""How far liars reach: published figures, attacks on tally and point, and what is refused of their messages."""

import math

import numpy as np
import pytest

import headcount as hc
from headcount.audit.conformance.reach_checks import nobody_reaches_further_than_is_stated
from headcount.planner.option import best_option
from headcount.programme.tally import Batch, Tally
from headcount.protocols.base.report_size import wire_messages
from headcount.protocols.shared.bit_rows import heaviest_row
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.hadamard_shuffle import HadamardShuffle
from headcount.testing import Nonconforming

N, BUDGET = 10_000, hc.Budget(1, 1e-6)
MANY = hc.Histogram(100)
GIVEN = {"n": N, "epsilon": 1, "delta": 1e-6}
TASKS = {"count": None, "histogram": MANY, "sum": hc.Sum((0, 10), steps=10)}

# Messages in a collection, how far one liar reaches up and down, in how many cells: n = 10,000, 100 categories.
KNOWN = {
    ("padded-count", "count"): (1, 1.0, 0.0, 1),
    ("cheu-count", "count"): (1, 1.003, -0.003, 1),
    ("zsum", "count"): (2, 1.003, -0.997, 1),
    ("poisson-count", "count"): (5, 5.0, 0.0, 1),
    ("negative-binomial-count", "count"): (22, 22.0, 0.0, 1),
    ("correlated-count", "count"): (115, 115.0, -115.0, 1),
    ("padded-histogram", "histogram"): (1, 1.0, 0.0, 1),
    ("correlated-histogram", "histogram"): (103, 103.0, -103.0, 1),
    ("poisson-histogram", "histogram"): (12, 12.0, 0.0, 1),
    ("balcer-cheu-histogram", "histogram"): (101, 100.0, -1.0, 1),
    ("blanket-histogram", "histogram"): (1, 1.30, 0.0, 1),
    ("fake-users", "histogram"): (2, 2.0, 0.0, 12),
    ("almost-one-message-histogram", "histogram"): (2, 2.0, 0.0, 2),
    ("hadamard-shuffle", "histogram"): (71, 71.0, 0.0, 7),
    ("count-min-shuffle", "histogram"): (40, 3.5, -0.1, 11),
    ("blanket-sum", "sum"): (1, 1.02, 0.0, 1),
    ("recursive-sum", "sum"): (3, 1.52, 0.0, 1),
}
LOCAL = {
    "generalised-response": (58.6, -0.6, 1),
    "basic-rappor": (2.54, -1.5, 74),
    "optimised-unary": (3.16, -1.2, 62),
    "local-hashing": (3.3, -1.1, 26),
    "subset-selection": (3.1, -1.1, 27),
    "hadamard-response": (2.21, -2.1, 63),
    "succinct-histogram": (2.19, -2.1, 64),
}


def collected(name, task):
    wish = {"collected": True, "max_messages": 128, "protocols": name}
    return hc.advise(TASKS[task] or "count", **GIVEN, **wish).feasible[0]


@pytest.mark.parametrize(("name", "task"), KNOWN, ids=lambda each: each)
def test_one_liar_reaches_as_far_as_was_worked_out(name, task):
    option = collected(name, task)
    messages, *expected = KNOWN[name, task]
    assert wire_messages(option.protocol, BUDGET) == messages
    reach = option.reach
    assert (reach.up, reach.down) == pytest.approx(expected[:2], rel=0.01, abs=0.06)
    assert reach.cells == expected[2]
    assert attacked(option.protocol, messages) == pytest.approx((reach.up, reach.down))


@pytest.mark.parametrize("name", LOCAL)
def test_one_liar_in_a_local_protocol(name):
    protocol = hc.protocol(name, MANY, n=N, epsilon=1)
    reach = protocol.reach()
    assert (reach.up, reach.down) == pytest.approx(LOCAL[name][:2], rel=0.01, abs=0.06)
    assert reach.cells == LOCAL[name][2]
    assert attacked(protocol, 1) == pytest.approx((reach.up, reach.down))


def attacked(protocol, messages):
    """How far crafted reports move what is estimated of a crowd, in any cell."""
    honest = protocol.randomise(np.arange(300) % protocol.task.values, hc.SeededCoins(2))
    before = protocol.point(protocol.tally(honest))
    moved = [protocol.point(protocol.tally(Batch(301, honest.messages))) - before]
    for told in protocol.telling():
        lies = np.array([told] * messages, dtype=protocol.message)
        assert protocol.genuine(lies).all()
        both = Batch(301, np.concatenate([honest.messages, lies]))
        moved.append(protocol.point(protocol.tally(both)) - before)
    return float(np.max(moved)), float(np.min(moved))


def test_a_share_can_turn_a_sum_into_any_other():
    protocol = hc.protocol("split-and-mix", TASKS["sum"], **GIVEN)
    middle = Tally(N, np.array([N * protocol.levels // 2]), None, protocol.modulus)
    turned = Tally(N, (middle.totals + protocol.modulus // 2 - 1) % protocol.modulus, None, protocol.modulus)
    moved = abs(float(protocol.point(turned)[0] - protocol.point(middle)[0]))
    assert moved == pytest.approx(protocol.reach(8).up, rel=0.01)
    assert math.isinf(protocol.reach(8).of(1))
    robust = hc.advise(TASKS["sum"], **GIVEN, objective="robust", protocols=["split-and-mix", "blanket-sum"])
    assert [option.name for option in robust.feasible] == ["blanket-sum", "split-and-mix"]
    assert math.isinf(robust["split-and-mix"].objective)


def test_a_liar_lifts_a_count_over_a_threshold():
    for name, given in (("sample-threshold", {}), ("stability-histogram", {})):
        protocol = hc.protocol(name, hc.Histogram(5), **GIVEN, **given)
        reach, released = protocol.reach(), protocol.released()
        passed = released.passed if name == "sample-threshold" else released.threshold.passed
        shown = protocol.point(Tally(N, passed(np.arange(200)), None))
        assert float(np.diff(shown).max()) == pytest.approx(reach.lifted)
        assert reach.of(3) == max(3 * reach.up, reach.lifted)


class StatesTooLittle(CheuCount):
    def reach(self, messages=1):
        one = super().reach(messages)
        return type(one)(0.9 * one.up, one.down, one.cells, one.apart)


class ForgetsTheOtherSign(CorrelatedCount):
    def telling(self):
        return super().telling()[:1]


class ForgetsTuplesOfZeros(HadamardShuffle):
    def telling(self):
        return super().telling()[1:]


@pytest.mark.parametrize("twin", [StatesTooLittle, ForgetsTheOtherSign, ForgetsTuplesOfZeros])
def test_whoever_states_too_little_is_caught(twin):
    with pytest.raises(Nonconforming, match="messages reach"):
        nobody_reaches_further_than_is_stated(twin.tiny())


# What is refused, and what it costs.


@pytest.mark.parametrize(
    ("name", "given", "heaviest"),
    [
        ("optimised-unary", {"epsilon": 1}, (62, 376)),
        ("basic-rappor", {"epsilon": 1}, (74, 492)),
        ("fake-users", {"epsilon": 1, "delta": 1e-6}, (12, 27)),
    ],
)
def test_rows_that_nobody_honest_sends_are_refused(name, given, heaviest):
    for categories, most in zip((100, 1_000), heaviest, strict=True):
        protocol = hc.protocol(name, hc.Histogram(categories), n=N, **given)
        assert abs(protocol.heaviest - most) <= 1
        rows = np.zeros(2, dtype=protocol.message)
        for row, ones in zip(rows, (protocol.heaviest, protocol.heaviest + 1), strict=True):
            row["row"] = np.packbits(np.arange(categories) < ones, bitorder="little")
        assert protocol.genuine(rows).tolist() == [True, False]


def test_honest_rows_are_hardly_ever_refused():
    ones = [math.comb(20, k) * 0.1**k * 0.9 ** (20 - k) for k in range(21)]
    law = np.convolve(ones, [0.2, 0.8])
    weight = heaviest_row(0.8, 0.1, 21, 1_000)
    assert law[weight + 1 :].sum() <= 1e-12 < law[weight:].sum()


def test_tuples_of_low_rank_are_refused():
    """A tuple agrees with 2**(width - rank) - 1 categories."""
    protocol = collected("hadamard-shuffle", "histogram").protocol
    assert (protocol.indices, protocol.least_rank) == (14, 4)
    lies = np.zeros(1, dtype=protocol.message)
    assert protocol.tally(Batch(1, lies)).totals.tolist() == [1] * 100
    assert not protocol.genuine(lies).any()
    honest = protocol.randomise(np.arange(200) % 100, hc.SeededCoins(3)).messages
    assert protocol.genuine(honest).all()
    wide = HadamardShuffle(task=hc.Histogram(7), crowd=hc.Crowd(5), blankets=1, indices=3)
    every = np.arange(512, dtype=wide.message["part0"]).view(wide.message)
    agreeing = np.array([wide.tally(Batch(1, each)).totals.sum() for each in every.reshape(-1, 1)])
    assert (agreeing == 2 ** (3 - wide._ranks(every)) - 1).all()


@pytest.mark.parametrize("name", ["hadamard-response", "succinct-histogram"])
def test_the_index_that_agrees_with_everything_is_not_counted(name):
    """It serves liars only; without it an estimate is no less accurate of what few people hold."""
    protocol = hc.protocol(name, MANY, n=N, epsilon=1)
    idle = np.zeros(1, dtype=protocol.message)
    assert protocol.supporters(protocol.tally(Batch(1, idle))).tolist() == [0] * 100
    keep = protocol.keep
    assert protocol.supports_own - protocol.supports_other == pytest.approx(keep - 0.5)
    before = math.sqrt(N / 4) / (keep - 0.5)
    assert protocol.rmse(0) < before
    assert protocol.reach().cells < 70  # instead of all


def test_a_collection_asks_for_few_messages_unless_told_otherwise():
    usual = hc.advise("count", **GIVEN, collected=True)["correlated-count"]
    assert wire_messages(usual.protocol, BUDGET) == 26
    assert usual.rmse == pytest.approx(1.425, rel=0.01)
    assert usual.reach.up == 26


# Robust answers.


@pytest.mark.parametrize("liars", [1, 10])
@pytest.mark.parametrize(
    "names", [("padded-count", "cheu-count", "correlated-count", "poisson-count", "randomised-response")]
)
def test_the_robust_ranking_is_that_of_attacks(names, liars):
    """Each protocol is run with liars who send the worst that is known, and ranked by what that comes to."""
    n, runs = 2_000, 300
    asked = {"n": n, "epsilon": 1, "delta": 1e-6, "collected": True, "max_messages": 128}
    advice = hc.advise("count", **asked, objective="robust", liars=liars, protocols=list(names))
    found = {}
    for option in advice.feasible:
        protocol, messages = option.protocol, wire_messages(option.protocol, BUDGET)
        held = np.array([n // 2, n - liars - n // 2])
        honest = protocol.sample(held, hc.SeededCoins(liars), runs)
        told = max(protocol.telling(), key=lambda one: push(protocol, one))
        lies = protocol.tally(Batch(0, np.array([told] * (messages * liars), dtype=protocol.message))).totals
        answers = [protocol.point(Tally(n, row + lies))[0] for row in honest]
        found[option.name] = math.sqrt(np.mean(np.square(np.array(answers) - held[1])))
        assert option.objective == pytest.approx(found[option.name], rel=0.2)
    by_attack = sorted(found, key=found.get)
    ranked = sorted(advice.feasible, key=lambda option: option.objective)
    assert [option.name for option in ranked] == by_attack


def push(protocol, message):
    empty = protocol.point(protocol.nobody())
    return float((protocol.point(protocol.tally(Batch(0, np.array([message])))) - empty)[0])


def test_robust_figures_are_those_that_were_worked_out():
    wish = {"collected": True, "max_messages": 128, "objective": "robust"}
    count = {1: {"padded-count": 2.2, "cheu-count": 5.9, "correlated-count": 115}, 10: {"cheu-count": 11.6}}
    for liars, known in count.items():
        advice = hc.advise("count", **GIVEN, **wish, liars=liars, protocols=[*known])
        for name, objective in known.items():
            assert advice[name].objective == pytest.approx(objective, rel=0.02)
    assert best_option(CheuCount, advice.situation).objective == advice["cheu-count"].objective


def test_consistent_answers_are_moved_by_no_more_than_is_bounded():
    protocol = hc.protocol("optimised-unary", hc.Histogram(20), n=2_000, epsilon=1)
    bound, liars = protocol.reach().consistent(20), 60
    assert bound == pytest.approx((1 - 1 / 20) / (protocol.supports_own - protocol.supports_other))
    honest = protocol.randomise(np.arange(1_940) % 20, hc.SeededCoins(4))
    one_hot = np.zeros(liars, dtype=protocol.message)
    one_hot["row"][:, 0] = 1
    all_ones = protocol.telling()[np.zeros(liars, dtype=np.int64)]

    def answer(messages):
        tally = protocol.tally(Batch(2_000, np.concatenate([honest.messages, messages])))
        return np.array([cell.value for cell in protocol.estimate(protocol.release(tally)).consistent().cells])

    nothing = np.zeros(liars, dtype=protocol.message)
    base = answer(nothing)
    assert np.abs(answer(one_hot) - base).max() / liars <= bound
    assert np.abs(answer(all_ones) - base).max() / liars < 0.1


def test_what_is_said_of_liars():
    advice = hc.advise("count", **GIVEN, collected=True, models=["shuffle", "local"])
    assert "can move the count by up to 26 (anybody can move it by 1), and a thousand of them" in advice.why()
    assert "cheu-count would hold each to 1.003 at an error of 5.84" in advice.why()
    assert "ε=1.1 is left if only 90%" in advice.why()
    told = advice.to_json()["options"][0]["liar"]
    assert (told["up"], told["down"], told["cells"], told["consistent"]) == (26, -26, 1, None)
    padded = hc.advise("count", **GIVEN, collected=True)
    assert "by 1, hardly more than anybody" in padded.why()
    assert "however few of the others are honest" in padded.why()
    assert hc.certify(padded.best).to_json()["liar"]["up"] == 1


@pytest.mark.parametrize(
    ("name", "task", "left"),
    [
        ("padded-count", "count", (1, 1)),
        ("cheu-count", "count", (1.09, 2.02)),
        ("negative-binomial-count", "count", (1.11, math.inf)),
        ("blanket-histogram", "histogram", (1.07, 1.54)),
        ("poisson-histogram", "histogram", (1.07, 1.69)),
        ("blanket-sum", "sum", (1.07, 1.68)),
        ("almost-central-sum", "sum", (math.inf, math.inf)),
    ],
)
def test_what_is_left_if_fewer_are_honest(name, task, left):
    option = hc.advise(TASKS[task] or "count", **GIVEN, protocols=name).feasible[0]
    found = option.epsilon_if(0.9), option.epsilon_if(0.5)
    assert found == pytest.approx(left, rel=0.01)
