"""The mutations: each breaks one thing in any sound protocol, and leaves every claim as it was.

Each makes a mutant, a subclass of the protocol's own class in which what people send, what is
released, the coins, the order or the claim is wrong in one way, or says why there is nothing of the
kind to break. Every protocol, of the catalogue or not, has all of its mutants without a line being
written for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from headcount.audit.conformance.exact_loss import EPSILONS
from headcount.audit.enumeration import Enumerated
from headcount.privacy.loss import PrivacyLoss
from headcount.programme.coins import Coins, SeededCoins
from headcount.programme.field import Values
from headcount.programme.law import Floats, Noise
from headcount.programme.release import Threshold
from headcount.programme.tally import Batch, Tally
from headcount.protocols.base.protocol import Protocol
from headcount_survey.mutants.broken_parts import (
    AveragedNoise,
    ClippedDraws,
    CopiedCoins,
    CutLaw,
    DoubledCoins,
    OneOrderLoss,
    OneSidedNoise,
    ShrunkNoise,
    SometimesNoNoise,
    TruncatedDelta,
)
from headcount_survey.mutants.mutation import (
    NO_THRESHOLD,
    Make,
    Mutation,
    always_down,
    asked_again,
    early,
    first_of,
    floating,
    for_two_cells,
    kind_in_the_open,
    noisy,
    on_levels,
    releasing,
    rewriting,
    sending,
    shared_among_all,
    silenced_for_some,
    twin,
)
from headcount_survey.mutants.programme_changes import (
    misdrawn,
    one_dummy_at_most,
    one_side_only,
    one_value_too_few,
    quieter,
    swapped_arms,
    without_dummies,
)

# Coins, order and number


def _drawing(change: Callable[[Coins], Coins]) -> Make:
    """A mutant with changed coins, of people and of the trusted side."""

    def make(protocol: Protocol) -> Protocol | str:
        cls = type(protocol)

        def reports(self: Protocol, values: Values, coins: Coins) -> Batch:
            return cls.reports(self, values, change(coins))

        def release(self: Protocol, tally: Tally, coins: Coins | None = None) -> Tally:
            return cls.release(self, tally, change(coins or SeededCoins(0)))

        if protocol.nobody().totals.size == 1 and _certain(protocol):
            return "a single draw is made"
        return twin(protocol, reports=reports, release=release)

    return make


def _certain(protocol: Protocol) -> bool:
    """Whether reports are deterministic."""
    return all(len(protocol.programme.law({"value": v}).masses) == 1 for v in range(protocol.task.values))


def _forked(protocol: Protocol) -> Protocol | str:
    """Two workers, each with half of the people, copy the same coins."""
    cls = type(protocol)
    if _certain(protocol):
        return "people draw nothing"

    def reports(self: Protocol, values: Values, coins: Coins) -> Batch:
        copied = CopiedCoins(coins)
        halves = [cls.reports(self, part, copied.forked()).messages for part in np.array_split(values, 2)]
        return Batch(values.size, np.concatenate(halves))

    return twin(protocol, reports=reports)


def _constant(protocol: Protocol) -> Protocol:
    cls = type(protocol)
    return twin(
        protocol,
        reports=lambda self, values, *_: cls.reports(self, values, SeededCoins(7)),
        release=lambda self, tally, *_: cls.release(self, tally, SeededCoins(7)),
    )


ALL_ALIKE = "all messages are alike"


def _alike(protocol: Protocol) -> bool:
    return len(Enumerated(protocol).alphabet) <= 1


def _unshuffled(protocol: Protocol) -> Protocol | str:
    if _alike(protocol):
        return ALL_ALIKE

    def randomise(self: Protocol, data: npt.ArrayLike, coins: Coins | None = None) -> Batch:
        return self.reports(self.task.domain.codes(np.asarray(data)), coins or SeededCoins(0))

    return twin(protocol, randomise=randomise)


def _one_by_one(protocol: Protocol) -> Protocol | str:
    if _alike(protocol):
        return ALL_ALIKE

    def randomise(self: Protocol, data: npt.ArrayLike, coins: Coins | None = None) -> Batch:
        each, coins = np.split(values := self.task.domain.codes(np.asarray(data)), values.size), coins or SeededCoins(0)
        return Batch(values.size, np.concatenate([self.reports(one, coins).shuffled().messages for one in each]))

    return twin(protocol, randomise=randomise)


def _replayed(protocol: Protocol) -> Protocol:
    cls = type(protocol)

    def tally(self: Protocol, batch: Batch) -> Tally:
        again = batch.messages[[0, -1] if batch.reports and batch.messages.size else []]
        return cls.tally(self, Batch(batch.reports, np.concatenate([batch.messages, again])))

    return twin(protocol, tally=tally)


# What is claimed


def claiming(change: Callable[[PrivacyLoss], PrivacyLoss], unless: str) -> Make:
    def make(protocol: Protocol) -> Protocol | str:
        cls = type(protocol)
        sound, broken = protocol.loss, change(protocol.loss)
        if all(sound.delta(epsilon) - broken.delta(epsilon) <= 1e-12 for epsilon in EPSILONS):
            return unless
        return twin(protocol, view=lambda self, honest: change(cls.view(self, honest)))

    return make


def _one_order(which: int) -> Make:
    return claiming(lambda loss: OneOrderLoss(loss, 0.0, loss.kind, which), "both orders lose the same")


def _forgets_dropouts(protocol: Protocol) -> Protocol | str:
    cls = type(protocol)
    if protocol.crowd.honest == 1 or protocol.loss_if(1).delta(1.0) <= protocol.loss.delta(1.0) + 1e-12:
        return "fewer people lose no more"
    return twin(protocol, view=lambda self, _: cls.view(self, self.crowd.honest))


def _overrates_crowds(protocol: Protocol) -> Protocol | str:
    cls = type(protocol)
    if protocol.loss_if(2).delta(1.0) == protocol.loss_if(1).delta(1.0):
        return "people do not hide each other"
    return twin(protocol, view=lambda self, honest: cls.view(self, honest if honest < 50 else 2 * honest))


def _biased(protocol: Protocol) -> Protocol:
    cls = type(protocol)
    return twin(protocol, point=lambda self, tally: cls.point(self, tally) + 0.01)


def _surer(protocol: Protocol) -> Protocol:
    cls = type(protocol)

    def noise(self: Protocol, truth: int, reports: int) -> Noise:
        exact = cls.noise(self, truth, reports)
        return Noise(exact.bias + 0.95 * (exact.values - exact.bias), exact.masses, exact.dropped)

    return twin(protocol, noise=noise)


def _without_width(protocol: Protocol) -> Protocol | str:
    if not protocol.error().half_width(0.96):
        return "the answer is nearly always exact"

    def intervals(self: Protocol, tally: Tally, _: float) -> Floats:
        return np.repeat(self.point(tally)[:, None], 2, axis=1)

    return twin(protocol, intervals=intervals)


def _uncounted(protocol: Protocol) -> Protocol:
    return twin(protocol, messages_per_person=property(lambda self: 0.9 * self.programme.mean({"value": 0})))


def _wishful(protocol: Protocol) -> Protocol:
    return twin(protocol, local_epsilon=property(lambda _: 0.9 * (protocol.local_epsilon or 1.0)))


def _cut(protocol: Protocol) -> Protocol | str:
    return noisy(CutLaw)(protocol) if protocol.pure else "it is not called pure"


def _threshold(more: int) -> Make:
    def moved(step: Threshold) -> Threshold:
        return Threshold(step.threshold + more)

    return releasing(lambda step: isinstance(step, Threshold), moved, NO_THRESHOLD)


NOTHING_RANDOM = "people send nothing random"

MUTATIONS: Sequence[Mutation] = (
    Mutation(
        "noise times 0.9",
        first_of(noisy(lambda noise: ShrunkNoise(noise, Fraction(9, 10))), rewriting(quieter(0.9), NOTHING_RANDOM)),
    ),
    Mutation("one-sided noise", first_of(noisy(OneSidedNoise), rewriting(one_side_only, "noise has one side only"))),
    Mutation(
        "sensitivity 1 instead of 2",
        for_two_cells(
            first_of(noisy(lambda noise: ShrunkNoise(noise, Fraction(1, 2))), rewriting(quieter(0.5), NOTHING_RANDOM))
        ),
    ),
    Mutation("wrong probability of a lie", rewriting(quieter(0.5, flips_only=True), "nobody lies")),
    Mutation("arms swapped", rewriting(swapped_arms, "nobody chooses")),
    Mutation("arms swapped when drawn", rewriting(misdrawn, "nobody chooses"), "the_sampler_follows_the_programme"),
    Mutation("lies over one value too few", rewriting(one_value_too_few, "nothing is drawn evenly")),
    Mutation("dummies missing", rewriting(without_dummies, "nobody sends dummies")),
    Mutation("dummies cut short", rewriting(one_dummy_at_most, "nobody sends a random number of dummies")),
    Mutation(
        "noise dropped for one in a hundred",
        first_of(noisy(SometimesNoNoise), sending(silenced_for_some, NOTHING_RANDOM)),
    ),
    Mutation("fresh noise when asked again", first_of(noisy(AveragedNoise), asked_again)),
    Mutation("tails cut off", _cut, "what_is_called_pure_is"),
    Mutation("tails cut off when drawn", noisy(ClippedDraws), "the_release_draws_its_law"),
    Mutation("noise shared among all, not the honest", shared_among_all, "noise_is_shared_among_the_honest"),
    Mutation("kind outside the seal", kind_in_the_open),
    Mutation("noise from floats", floating, "what_is_drawn_is_what_is_claimed"),
    Mutation("threshold one too low", _threshold(-1)),
    Mutation("threshold one too high", _threshold(1)),
    Mutation("levels finer than the noise is for", on_levels(lambda step: replace(step, levels=2 * step.levels))),
    Mutation("never brought to levels", on_levels(lambda step: step.noise)),
    Mutation("always rounded down", always_down, "the_error_is_as_stated"),
    Mutation("released too early", early, "crowds_not_planned_for_are_refused"),
    Mutation("two draws share a word", _drawing(DoubledCoins), "people_draw_apart"),
    Mutation("coins copied by a fork", _forked, "people_draw_apart"),
    Mutation("constant coins", _constant, "all_randomness_is_an_argument"),
    Mutation("messages not shuffled", _unshuffled, "the_order_of_messages_tells_nothing"),
    Mutation("messages person by person", _one_by_one, "the_order_of_messages_tells_nothing"),
    Mutation("messages counted twice", _replayed, "what_is_drawn_is_what_is_claimed"),
    Mutation("one order only", first_of(_one_order(1), _one_order(0))),
    Mutation("delta truncated", claiming(lambda loss: TruncatedDelta(loss, 0.0, loss.kind), "delta is whole")),
    Mutation("dropouts forgotten", _forgets_dropouts, "the_loss_follows_dropouts"),
    Mutation("large crowds overrated", _overrates_crowds, "the_claim_holds_at_size"),
    Mutation("biased", _biased, "the_error_is_as_stated"),
    Mutation("too small an error", _surer, "the_error_is_as_stated"),
    Mutation("intervals without width", _without_width, "intervals_cover"),
    Mutation("messages not counted", _uncounted, "messages_are_counted"),
    Mutation("collusion forgotten", _wishful, "collusion_is_stated"),
)
