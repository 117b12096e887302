"""How many messages everybody sends, and what they weigh."""

import math

import numpy as np
import pytest

import headcount as hc
from headcount.errors import BadArgument, OverBudget, Unsupported
from headcount.programme.brick import NOTHING, All, Copies, Each, Emit, Let, Maybe
from headcount.programme.chance import Chance
from headcount.programme.draw import Below
from headcount.programme.field import Field
from headcount.programme.table import Table
from headcount.protocols import CATALOGUE
from headcount.protocols.base.report_size import (
    CUT,
    HYBRID,
    KEYS,
    MOST,
    P256,
    Wire,
    too_many,
    wire_bytes,
    wire_messages,
)

TINIES = [tiny for cls in CATALOGUE for tiny in cls.tinies()]
TABLE = Table.of([5, 2, 1])


def numbers(brick, value, most):
    """How many messages, by enumeration of everything that could be sent."""
    law, chances = brick.law({"value": value}), np.zeros(most + 1)
    for sent, mass in law.masses.items():
        chances[min(most, sum(k for _, k in sent))] += mass / law.total
    return chances


@pytest.mark.parametrize("most", [1, 3, 50])
@pytest.mark.parametrize(
    "brick",
    [
        Emit(0), NOTHING, All(Emit(0), Emit(1)), Maybe(Chance.down(0.3), Emit(0), All(Emit(0), Emit(1))),
        Copies(TABLE, Emit(0)), Copies(TABLE, All(Emit(0), Emit(1))), Copies(TABLE, NOTHING),
        Copies(TABLE, Maybe(Chance.down(0.3), Emit(0))), Each("i", 3, Copies(TABLE, Emit(Field.named("i")))),
        Let("k", Below(4), Copies(Field.named("k"), Emit(0))), Each("i", 3, Copies(Field.named("i"), Emit(0))),
    ],
)  # fmt: skip
def test_the_law_of_the_number_of_messages_is_that_of_what_is_sent(brick, most):
    found = brick.sends({"value": 1}, most)
    expected = numbers(brick, 1, most)
    assert found.size <= most + 1
    np.testing.assert_allclose(np.pad(found, (0, most + 1 - found.size)), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "protocol", [tiny for cls in CATALOGUE for tiny in cls.tinies()], ids=lambda protocol: protocol.name
)
def test_every_protocol_agrees_with_its_mean(protocol):
    for value in list(protocol.costliest)[:3]:
        chances = protocol.programme.sends({"value": value}, 5_000)
        assert chances.sum() == pytest.approx(1.0, abs=1e-12)
        mean = protocol.programme.mean({"value": value})
        assert float(chances @ np.arange(chances.size)) == pytest.approx(mean, rel=1e-9)


def test_a_hundredth_of_delta_pays_for_what_is_cut():
    budget = hc.Budget(1, 1e-6)
    protocol = hc.protocol("poisson-count", n=10_000, epsilon=1, delta=1e-6)
    messages = wire_messages(protocol, budget)
    chances = protocol.programme.sends({"value": 1}, 100)
    charged = [(1 + math.e) * 10_000 * float(chances[m + 1 :].sum()) for m in (messages, messages - 1)]
    assert charged[0] <= CUT * 1e-6 < charged[1]


@pytest.mark.parametrize(("name", "messages"), [("cheu-count", 1), ("zsum", 2), ("randomised-response", 1)])
def test_what_is_bounded_is_never_cut(name, messages):
    protocol = hc.protocol(name, n=10_000, epsilon=1, delta=1e-6 if name != "randomised-response" else 0)
    assert wire_messages(protocol, hc.Budget(1, 0.0)) == messages


def test_heavy_floods_are_not_for_the_wire():
    protocol = hc.protocol("correlated-count", n=10_000, epsilon=1, delta=1e-6)
    assert protocol.programme.sends({"value": 1}, MOST + 1)[-1] > 0
    assert wire_messages(protocol, hc.Budget(1, 1e-6)) is None
    even = hc.protocol("correlated-count", n=10_000, epsilon=1, delta=1e-6, overhead=0.05, even=True)
    assert wire_messages(even, hc.Budget(1, 1e-6)) < 30


def test_bytes_grow_by_the_message():
    protocol = hc.protocol("zsum", n=10_000, epsilon=1, delta=1e-6)
    assert wire_bytes(protocol, 2) - wire_bytes(protocol, 1) == KEYS[HYBRID] + 16 + 16 + 1 + protocol.message.itemsize


def collected(name="poisson-count", messages=None):
    budget = hc.Budget(1, 1e-6)
    protocol = hc.protocol(name, n=10_000, epsilon=1, delta=0.99e-6)
    return hc.Plan(protocol, budget, Wire.of(protocol, budget) if messages is None else Wire(messages))


def test_a_collected_plan_pays_for_what_it_cuts():
    plan = collected()
    paid = plan.loss.delta(1.0) - plan.protocol.loss.delta(1.0)
    cut = too_many(plan.protocol, plan.wire.messages)
    assert paid == pytest.approx((1 + math.e) * 10_000 * cut, rel=1e-6)
    assert 0 < paid <= CUT * 1e-6
    assert plan.loss.kind == "exact"


def test_a_plan_that_cuts_more_than_it_can_pay_for_is_refused():
    fewest = collected().wire.messages
    with pytest.raises(OverBudget):
        collected(messages=fewest - 1)


def test_the_wire_is_part_of_the_plan_and_of_its_hash(tmp_path):
    plan = collected()
    other = hc.Plan(plan.protocol, plan.budget, Wire(plan.wire.messages, P256))
    assert len({plan.hash, other.hash, hc.Plan(plan.protocol, plan.budget).hash}) == 3
    assert hc.load_plan(plan.save(tmp_path / "plan.json")) == plan


def test_a_charge_counts_what_was_cut(tmp_path):
    plan, bare = collected(), hc.Plan(collected().protocol, hc.Budget(1, 1e-6))
    spent = []
    for name, question in (("wire", plan), ("bare", bare)):
        ledger = hc.Ledger.open(tmp_path / name, epsilon=3, delta=1e-6)
        ledger.charge(question)
        spent.append(hc.Ledger.open(tmp_path / name).spent_exactly)
    assert spent[0] > spent[1]


def test_what_needs_a_trusted_step_has_no_wire():
    protocol = hc.protocol("geometric", n=100, epsilon=1)
    with pytest.raises(Unsupported, match="cannot be collected"):
        Wire.of(protocol, hc.Budget(1))


@pytest.mark.parametrize("given", [{"messages": 0}, {"messages": MOST + 1}, {"messages": 1, "suite": "none"}])
def test_nonsense_is_refused(given):
    with pytest.raises(BadArgument):
        Wire(**given)


def test_a_longer_key_makes_every_seal_longer():
    plan = collected()
    here, *others = (Wire(5, suite).upload_bytes(plan.protocol) - 6 * size for suite, size in KEYS.items())
    assert others == [here, here]
