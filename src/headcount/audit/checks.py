"""What every protocol must pass; `headcount.testing` is its face.

Exact checks enumerate every view of every small crowd from the report programme; statistical ones have fixed seeds and
raise a false alarm with a chance of at most 1e-6 each.
"""

from __future__ import annotations

import math
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache, reduce
from typing import Any

import numpy as np

from headcount.audit.enumerate import PLACE, Enumerated, Held, crowds, local_epsilon, one_report
from headcount.audit.exact import EPSILONS, Interval, Judged, exact_delta, judge, worst_delta
from headcount.audit.exhaust import as_integers, coarsened, exhausted, fitting_base
from headcount.core.budget import Budget
from headcount.core.coins import SeededCoins
from headcount.core.crowd import Crowd
from headcount.core.errors import Refused, TooFewReports
from headcount.core.exact import WHOLE
from headcount.core.histogram import Histogram
from headcount.core.law import Floats
from headcount.core.model import Model
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.core.tally import Tally
from headcount.core.task import Sum
from headcount.privacy.calibrate import calibrate
from headcount.privacy.certificate import certify
from headcount.proof import verify

Check = Callable[[Protocol], None]

FALSE_ALARM = 1e-6
RUNS = 4_000
PAIRS = 1_000
PILES = 31
CONFIDENCE = 0.95


class Nonconforming(AssertionError):
    """A protocol does not keep its word."""


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise Nonconforming(problem)


def the_claimed_loss_covers_every_view(protocol: Protocol) -> None:
    """Every pair of neighbouring crowds, enumerated: never above the claim, and equal to it where it says exact."""
    people = protocol.crowd.honest
    _hold(judge(protocol, people, protocol.loss, exact_delta(protocol, people, EPSILONS)))


def the_loss_follows_dropouts(protocol: Protocol) -> None:
    """The same when fewer honest people turn up than planned, down to one.

    Where people do not bring the noise themselves, the claim is that for any number of them.
    """
    enumerated, tight = Enumerated(protocol), protocol.model is not Model.CENTRAL
    for people in range(1, protocol.crowd.honest):
        _hold(judge(protocol, people, protocol.loss_if(people), worst_delta(enumerated, people), tight=tight))


def noise_is_shared_among_the_honest(protocol: Protocol) -> None:
    """With dropouts and liars planned for, the claim holds however many of the honest turn up."""
    planned = protocol.among(Crowd(protocol.crowd.size + 2, max(3, protocol.crowd.size), 2))
    enumerated = Enumerated(planned)
    crowds = range(planned.crowd.honest, planned.crowd.size - planned.crowd.corrupt + 1)
    every = [worst_delta(enumerated, people, corrupt=planned.crowd.corrupt) for people in crowds]
    worst = [reduce(Interval.__or__, truths) for truths in zip(*every, strict=True)]
    _hold(judge(planned, planned.crowd.honest, planned.loss, worst, planned.crowd.corrupt))


def _hold(judgements: list[Judged]) -> None:
    for judged in judgements:
        _require(judged.holds, str(judged))


def the_error_is_as_stated(protocol: Protocol) -> None:
    """Bias and variance from the enumerated law of the estimate, for every crowd.

    A count of holders has one variance; a sum has that of the crowd that is hardest to estimate, and no crowd has more.
    """
    people, task = protocol.crowd.size, protocol.task
    enumerated = Enumerated(protocol)
    largest: dict[int, float] = {}
    for held in crowds(task.values, people):
        estimates, masses = enumerated.estimates(held)
        for cell, truth in enumerate(_truth(protocol, held)):
            holders = people if isinstance(task, Sum) else round(truth)
            stated = protocol.noise(holders, people)
            mean = float(estimates[:, cell] @ masses) / float(masses.sum())
            variance = float((estimates[:, cell] - mean) ** 2 @ masses) / float(masses.sum())
            _require(
                math.isclose(mean - truth, stated.bias, abs_tol=1e-7),
                f"{protocol.name}: {held} has a bias of {mean - truth:.6g}, and {stated.bias:.6g} is stated",
            )
            largest[holders] = max(largest.get(holders, 0.0), variance)
    for holders, variance in largest.items():
        stated, size = protocol.noise(holders, people), protocol.size_of_error(holders, people)
        _require(
            math.isclose(size, stated.rmse, rel_tol=1e-9, abs_tol=1e-9),
            f"{protocol.name}: with {holders} holders the error has two sizes, {size:.9g} and {stated.rmse:.9g}",
        )
        _require(
            math.isclose(variance, stated.variance, rel_tol=1e-6, abs_tol=1e-9),
            f"{protocol.name}: with {holders} holders the variance is {variance:.6g}; {stated.variance:.6g} is stated",
        )


def _truth(protocol: Protocol, held: Held) -> list[float]:
    """Each cell's true value, in people, counted from where the protocol counts."""
    truth = protocol.task.truth(np.repeat(np.arange(len(held)), held))
    missing = protocol.task.low - protocol.origin
    return [float(part) + missing * sum(held) / protocol.task.width for part in truth]


def large_counts_are_unbiased(protocol: Protocol) -> None:
    """What protocols call unbiased is; one that suppresses small counts still is not biased for large ones."""
    people = 10_000
    bias = protocol.among(Crowd(people)).noise(people * 9 // 10, people).bias
    _require(abs(bias) <= 1e-6 * people, f"{protocol.name}: a large count is biased by {bias:.6g}")


def intervals_cover(protocol: Protocol) -> None:
    """A 95% interval covers its truth with that probability, exactly, whatever the crowd; so do all of them at once."""
    people = protocol.crowd.size
    enumerated = Enumerated(protocol)

    @cache
    def intervals(*totals: int) -> tuple[Floats, Floats]:
        tally = Tally(people, np.array(totals), None, protocol.nobody().modulus, released=True)
        estimate = protocol.estimate(tally)
        single = protocol.intervals(estimate.tally, CONFIDENCE)
        return single, protocol.intervals(estimate.tally, estimate.each_at(CONFIDENCE))

    for held in crowds(protocol.task.values, people):
        truth = np.array(_truth(protocol, held))
        covered, together = np.zeros(truth.size), 0.0
        for totals, mass in zip(*enumerated.released(held), strict=True):
            if mass > 1e-9:
                single, joint = (_within(truth, ends) for ends in intervals(*totals.tolist()))
                covered += mass * single
                together += mass * bool(joint.all())
        for what, chance in (("a 95% interval", float(covered.min())), ("all intervals together", together)):
            _require(chance >= CONFIDENCE - 1e-5, f"{protocol.name}: with {held}, {what} covers with {chance:.4f}")


def _within(truth: Floats, ends: Floats) -> Any:
    return (ends[:, 0] - 1e-9 <= truth) & (truth <= ends[:, 1] + 1e-9)


def the_sampler_follows_the_programme(protocol: Protocol) -> None:
    """At a few outcomes a draw, over all words: what is sent is exactly the enumerated law."""
    base = fitting_base(protocol.programme)
    programme = coarsened(protocol.programme, base)
    for value in range(protocol.task.values):
        outcomes = exhausted(protocol, programme, value, base)
        law = programme.law({"value": value})
        expected: defaultdict[tuple[tuple[int, ...], ...], float] = defaultdict(float)
        for multiset, mass in law.masses.items():
            expected[tuple(message for message, times in multiset for _ in range(times))] += mass / law.total
        for sent in expected.keys() | outcomes.keys():
            _require(
                math.isclose(outcomes.get(sent, 0.0), expected[sent], abs_tol=1e-12),
                f"{protocol.name}: value {value} is drawn into {sent} with {outcomes.get(sent, 0.0):.9g}",
            )


def what_is_drawn_is_what_is_claimed(protocol: Protocol) -> None:
    """At full width, crowd by crowd: released tallies of the real sampler against the enumerated law."""
    held = _mixed(protocol)
    values = np.repeat(np.arange(len(held)), held).astype(np.min_scalar_type(len(held)))
    coins = SeededCoins(1)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(RUNS):
        released = protocol.release(protocol.tally(protocol.reports(values, coins)), coins)
        _require(released.totals.dtype == np.int64, f"{protocol.name}: a total is not an integer")
        seen[tuple(released.totals.tolist())] += 1
    _goodness_of_fit(protocol, seen, _released(protocol, held), "the sampler")


def the_shortcut_is_the_protocol(protocol: Protocol) -> None:
    """`sample` draws released tallies from the same law as the people themselves."""
    held = _mixed(protocol)
    direct = type(protocol).sample is not Protocol.sample
    totals = protocol.sample(np.array(held), SeededCoins(2), 10 * RUNS if direct else RUNS)
    _goodness_of_fit(protocol, Counter(map(tuple, totals.tolist())), _released(protocol, held), "sample")


def _mixed(protocol: Protocol) -> Held:
    """A crowd with something of everything."""
    values, people = protocol.task.values, protocol.crowd.size
    return tuple(people // values + (value < people % values) for value in range(values))


def _released(protocol: Protocol, held: Held) -> dict[Any, float]:
    outcomes = zip(*Enumerated(protocol).released(held), strict=True)
    return {tuple(total.tolist()): float(mass) for total, mass in outcomes}


def _goodness_of_fit(protocol: Protocol, seen: Counter[Any], law: dict[Any, float], who: str) -> None:
    """Pearson's chi-square with rare outcomes pooled in a few piles; the threshold is Wilson and Hilferty's."""
    runs = sum(seen.values())
    hits: Counter[Any] = Counter()
    pooled: defaultdict[Any, float] = defaultdict(float)
    for outcome in law.keys() | seen.keys():
        pile = outcome if law.get(outcome, 0.0) * runs >= 10 else ("rare", hash(outcome) % PILES)
        hits[pile] += seen[outcome]
        pooled[pile] += law.get(outcome, 0.0) * runs
    likely = {pile: mass for pile, mass in pooled.items() if mass >= 10}
    rest = runs - sum(likely.values())
    observed = [hits[pile] for pile in likely] + [runs - sum(hits[pile] for pile in likely)]
    expected = [*likely.values(), max(rest, 1e-9)]
    if expected[-1] < 1.0:
        _require(observed[-1] <= 12, f"{protocol.name}: {who} draws outcomes that the law all but excludes")
        observed, expected = observed[:-1], expected[:-1]
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    freedom = max(1, len(expected) - 1)
    limit = freedom * (1 - 2 / (9 * freedom) + 4.9 * math.sqrt(2 / (9 * freedom))) ** 3
    _require(
        statistic <= limit,
        f"{protocol.name}: {who} strays from the law (chi-square {statistic:.1f}, limit {limit:.1f})",
    )


def the_order_of_messages_tells_nothing(protocol: Protocol) -> None:
    """What is handed on is in an order of its own, whoever sent what and in whatever order."""
    crowd, task = protocol.among(Crowd(60)), protocol.task
    values = np.arange(60)[::-1] % task.values
    data: Any = np.array(task.categories)[values] if isinstance(task, Histogram) else values
    if isinstance(task, Sum):
        data = task.low + values * (task.width / (task.values - 1))
    batch = crowd.randomise(data, SeededCoins(3))
    same = bool((batch.messages == batch.shuffled().messages).all())
    _require(same, f"{protocol.name}: messages are handed on in the order in which they were sent")


def people_draw_apart(protocol: Protocol) -> None:
    """Two people who hold the same send what the law says of both together: no word decides anything for both."""
    enumerated, coins, seen = Enumerated(protocol), SeededCoins(4), Counter[int]()
    every = range(protocol.task.values)
    most = max(every, key=lambda value: len(one_report(protocol, value).masses))  # where there is most to draw
    held, values = tuple(2 * (value == most) for value in every), np.full(2, most, dtype=np.min_scalar_type(most))
    place = {message: 1 << PLACE * i for i, message in enumerate(enumerated.alphabet)}
    for _ in range(PAIRS):
        sent = map(as_integers, protocol.reports(values, coins).messages.tolist())
        seen[sum(place.get(message, -1) for message in sent)] += 1
    law = {number: part / WHOLE for number, part in enumerated.messages.law(held).items()}
    _goodness_of_fit(protocol, seen, law, "a pair of reports")


def all_randomness_is_an_argument(protocol: Protocol) -> None:
    """The same coins give the same messages and others give others: nothing is seeded or kept inside."""
    crowd = protocol.among(Crowd(400))
    values = (np.arange(400) % protocol.task.values).astype(np.min_scalar_type(protocol.task.values))

    def seen(seed: int) -> list[tuple[bytes, Tally]]:
        coins = SeededCoins(seed)
        batches = [crowd.reports(values, coins) for _ in range(12)]
        return [(batch.shuffled().messages.tobytes(), crowd.release(crowd.tally(batch), coins)) for batch in batches]

    _require(seen(1) == seen(1), f"{protocol.name}: the same coins give different answers")
    _require(seen(1) != seen(2), f"{protocol.name}: the answer does not depend on the coins")
    _require(len(set(seen(1))) > 1, f"{protocol.name}: every run gives the same answer")


def messages_are_counted(protocol: Protocol) -> None:
    """The stated mean number of messages is the programme's, for the value that costs most."""
    mean = max(protocol.programme.mean({"value": value}) for value in range(protocol.task.values))
    _require(
        math.isclose(protocol.messages_per_person, mean, rel_tol=1e-9),
        f"{protocol.name}: {mean:.9g} messages a person, and {protocol.messages_per_person:.9g} are stated",
    )


def collusion_is_stated(protocol: Protocol) -> None:
    """What remains if everyone else colludes, from one report's exact law."""
    truth, stated = local_epsilon(protocol), protocol.local_epsilon
    same = math.isinf(truth) if stated is None else math.isclose(truth, stated, rel_tol=1e-9)
    _require(same, f"{protocol.name}: local epsilon is {truth:.6g}, and {stated} is stated")


def calibration_meets_the_budget_and_no_more(protocol: Protocol) -> None:
    cls = type(protocol)
    for epsilon, delta in ((1.0, 1e-6), (0.4, 1e-9), (3.0, 1e-5)):
        budget = Budget(epsilon, delta, protocol.neighbours)
        try:
            found = calibrate(cls, protocol.task, Crowd(10_000), budget)
        except Refused as refusal:
            raise Nonconforming(f"{cls.name}: 10,000 people are not enough ({refusal})") from refusal
        delta = found.loss.delta(budget.epsilon)
        _require(delta <= budget.delta, f"{cls.name}: delta {delta:.3g} is over the budget {budget.delta:g}")
        _require(
            delta >= 0.99 * budget.delta or _is_a_whole_step_from(found, budget),
            f"{cls.name}: delta {delta:.3g} leaves much of {budget.delta:g} unused",
        )


def the_claim_holds_at_size(protocol: Protocol) -> None:
    """A plan for many people, whose certificate is proved again from the programme alone: it must not be refuted."""
    budget = Budget(2.0, 1e-4, protocol.neighbours)
    try:
        plan = Plan(calibrate(type(protocol), protocol.task, Crowd(1_000), budget), budget)
    except Refused:
        return  # too few for it
    verdict = verify(certify(plan).to_json())
    _require(verdict.answer != "refuted", f"{protocol.name}: with 1,000 people {verdict}")


def _is_a_whole_step_from(found: Protocol, budget: Budget) -> bool:
    """Whether a knob that has whole settings only is at its last one within the budget."""
    setting = getattr(found, found.knob.name)
    if not isinstance(setting, int):
        return False
    less: dict[str, Any] = {found.knob.name: setting - 1}
    return replace(found, **less).loss.delta(budget.epsilon) > budget.delta


def too_few_reports_are_refused(protocol: Protocol) -> None:
    tally = replace(protocol.nobody(), reports=protocol.crowd.least - 1, released=True)
    for step in (protocol.release, protocol.estimate):
        try:
            step(tally)
        except TooFewReports:
            continue
        _require(False, f"{protocol.name}: {step.__name__} accepts fewer reports than the guarantee needs")


def it_survives_pickling_and_json(protocol: Protocol) -> None:
    copy = pickle.loads(pickle.dumps(protocol))  # noqa: S301
    _require(copy == protocol and hash(copy) == hash(protocol), f"{protocol.name}: a pickled copy differs")
    described = protocol.to_json()
    kept: dict[str, Any] = {"task": protocol.task, "neighbours": described["neighbours"]}
    again = type(protocol)(**kept, crowd=Crowd(**described["crowd"]), **described["parameters"])
    _require(again == protocol, f"{protocol.name}: the JSON does not describe it")
    _require(again.programme.encode() == protocol.programme.encode(), f"{protocol.name}: the JSON loses precision")


CHECKS: tuple[Check, ...] = (
    the_claimed_loss_covers_every_view,
    the_loss_follows_dropouts,
    noise_is_shared_among_the_honest,
    the_error_is_as_stated,
    large_counts_are_unbiased,
    intervals_cover,
    the_sampler_follows_the_programme,
    what_is_drawn_is_what_is_claimed,
    the_shortcut_is_the_protocol,
    the_order_of_messages_tells_nothing,
    people_draw_apart,
    all_randomness_is_an_argument,
    messages_are_counted,
    collusion_is_stated,
    calibration_meets_the_budget_and_no_more,
    the_claim_holds_at_size,
    too_few_reports_are_refused,
    it_survives_pickling_and_json,
)
