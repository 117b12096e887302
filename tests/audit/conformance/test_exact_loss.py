"""The exact audit: its intervals hold the truth, and it sees what is off by less than doubles would notice."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.audit.conformance.exact_loss import EPSILONS, Interval, divergences, exact_delta, exp_parts, judge_claim
from headcount.audit.enumeration import PLACE, Enumerated, crowds, neighbouring_crowds, packed, unpacked
from headcount.errors import BadArgument
from headcount.privacy.budget import Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import ClaimedDelta, TotalVariationSlack
from headcount.privacy.two_sided_noise import discrete_laplace
from headcount.programme.chance import WORD
from headcount.programme.report_law import WHOLE
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shared.shuffled_local import shuffled
from headcount.protocols.shuffle.balcer_cheu_histogram import BalcerCheuHistogram
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.zsum import Zsum
from headcount_survey.pages.claims import judged, row
from stress import ONE_EACH, tinies


@cache
def true_exp(epsilon):
    with mpmath.workprec(2000):
        _, mantissa, exponent, _ = mpmath.exp(mpmath.mpf(epsilon))._mpf_
    return Fraction(int(mantissa)) * Fraction(2) ** exponent


@pytest.mark.parametrize("epsilon", [*EPSILONS, 1e-3, 20.0, 700.0])
def test_the_factor_is_a_lower_bound_good_to_three_parts(epsilon):
    assert 0 <= true_exp(epsilon) * WHOLE - exp_parts(epsilon) <= 3 + Fraction(1, 10**9)


masses = st.lists(st.integers(0, WHOLE // 16), min_size=1, max_size=12)


@settings(derandomize=True, deadline=None)
@given(masses, masses, st.data())
def test_the_interval_holds_the_divergence_of_whatever_was_left_out(first, second, data):
    """Laws of which some outcomes are hidden: the truth about the whole laws lies within the interval."""
    laws = [dict(enumerate([*side, 0])) for side in (first, second)]
    for law in laws:
        law[max(law)] += WHOLE - sum(law.values())
    hidden = data.draw(st.sets(st.integers(0, 12)))
    p, q = ({k: mass for k, mass in law.items() if k not in hidden} for law in laws)
    for epsilon, found in zip(EPSILONS, divergences(p, q, EPSILONS), strict=True):
        every = laws[0].keys() | laws[1].keys()
        parts = (laws[0].get(k, 0) - true_exp(epsilon) * laws[1].get(k, 0) for k in every)
        assert found.low <= sum(max(part, 0) for part in parts) / WHOLE <= found.high


def test_equal_ratios_are_decided_by_the_integers():
    """Ratios that are the same double as e, just above and just below it."""
    e = exp_parts(1.0)
    ten = WHOLE // 1000
    for more, sign in ((10, 1), (-10, 0)):
        p = {0: e * ten // WHOLE + more * sign, 1: 0}
        found = divergences(p, {0: ten, 1: 0}, [1.0])[0]
        assert (found.high * WHOLE - (WHOLE - sum(p.values())) > 0) == bool(sign)


@pytest.mark.parametrize("protocol", [Zsum.tiny(), BalcerCheuHistogram.tiny(), CorrelatedCount.tiny()])
def test_a_crowd_sends_what_its_people_send(protocol):
    """Against the product of exact laws, term by term; nothing exceeds it and nearly nothing is missing."""
    enumerated = Enumerated(protocol)
    for held in crowds(protocol.task.values, 2):
        first, second = (value for value, people in enumerate(held) for _ in range(people))
        law = protocol.programme.law({"value": first}) * protocol.programme.law({"value": second})
        places = {message: 1 << PLACE * i for i, message in enumerate(enumerated.alphabet)}
        truth = {sum(places[m] * k for m, k in sent): Fraction(mass, law.total) for sent, mass in law.masses.items()}
        found = enumerated.messages.law(held)
        assert all(part <= WHOLE * truth.get(sent, 0) + (WHOLE >> 60) for sent, part in found.items())  # it drops, too
        assert 0 <= WHOLE - sum(found.values()) < WHOLE >> 60


def test_randomised_response_by_hand():
    protocol = RandomisedResponse.tiny()
    keep = Fraction(protocol.flip.threshold, WORD)
    keep = max(keep, 1 - keep)
    for epsilon, found in zip(EPSILONS, exact_delta(protocol, 5, EPSILONS), strict=True):
        truth = max(Fraction(0), keep - true_exp(epsilon) * (1 - keep))
        assert found.low <= truth <= found.high
        assert found.width < 1e-30


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(-(2**30), 2**30), max_size=6))
def test_rows_are_packed_into_integers_and_back(row):
    assert unpacked(packed(row), len(row)) == row


def test_two_sided_noise_in_integers_is_what_is_drawn():
    noise = discrete_laplace(Fraction(1, 3))
    parts, law = noise.parts, noise.law
    assert parts[0] / WHOLE == pytest.approx(law.masses[-law.start], rel=1e-14)
    for k in range(law.start, law.start + law.masses.size):
        assert parts[k] / WHOLE == pytest.approx(law.masses[k - law.start], rel=1e-12, abs=1e-36)
    assert 0 <= WHOLE - sum(parts.values()) < WHOLE >> 90


SLOW = {
    "poisson-histogram",
    "correlated-histogram",
    "almost-central-sum",
    "almost-one-message-histogram",
    "geometric",
    "hadamard-shuffle",
    "split-and-mix",
    "count-min-shuffle",
    "laplace",
    "stability-histogram",
}


@tinies(lambda tiny: id(tiny) in ONE_EACH and tiny.name not in SLOW)
def test_claims_about_up_to_five_people_hold(tiny):
    """All that turn up of all that are planned, and corrupt ones."""
    every = list(judged(tiny, 5))
    assert [str(one) for one in every if not one.holds] == []
    assert max(one.exact.width for one in every) < 1e-15


def test_an_instance_that_needs_more_people_is_refused():
    with pytest.raises(BadArgument, match="people is 2, which is too few for cheu-count"):
        row(CheuCount.tiny(), 2)
    assert row(CheuCount.tiny(), 4).people == 4


def test_corrupt_people_help_a_count_over_its_threshold_and_no_more():
    protocol = SampleThreshold.tiny()
    lowered = exact_delta(replace(protocol, threshold=protocol.threshold - 2), 4, EPSILONS)
    helped = exact_delta(protocol, 4, EPSILONS, corrupt=2)
    alone = exact_delta(protocol, 4, EPSILONS)
    assert [h.high for h in helped] == [max(a.high, m.high) for a, m in zip(lowered, helped, strict=True)]
    assert all(h.low >= low.low for h, low in zip(helped, lowered, strict=True))
    assert any(h.low > a.high for h, a in zip(helped, alone, strict=True))


@pytest.mark.parametrize("cls", [Zsum, shuffled(RandomisedResponse)])
def test_known_messages_among_seen_ones_change_nothing(cls):
    """Every choice of two corrupt people, message by message: the analyser takes them away again."""
    enumerated = Enumerated(cls.tiny())
    letters = [1 << PLACE * i for i in range(len(enumerated.alphabet))]
    sent = [sum(some) for k in range(3) for some in combinations_with_replacement(letters, k)]
    for first, second in neighbouring_crowds(enumerated.protocol, 3):
        views = [enumerated.view(held) for held in (first, second)]
        alone = divergences(*views, EPSILONS)
        for more in sent:
            assert (
                divergences(*({seen + more: part for seen, part in view.items()} for view in views), EPSILONS) == alone
            )
    assert enumerated.helps(3, 2) == [0]


def test_noise_hides_a_known_number_as_it_hides_none():
    assert Enumerated(Geometric.tiny()).helps(3, 2) == [0]


def test_people_who_come_or_go_are_compared_with_nobody():
    pairs = set(
        neighbouring_crowds(SampleThreshold(crowd=Crowd(2), rate=0.4, threshold=2, neighbours=Neighbours.ADD_REMOVE), 1)
    )
    assert pairs == {((0, 0), (1, 0)), ((1, 0), (0, 0)), ((0, 0), (0, 1)), ((0, 1), (0, 0))}


class ALittleLess(Zsum):
    """Claims less than the truth, by far less than a double's sum would notice."""

    def view(self, honest):
        return _Times(super().view(honest), 0.0, "exact")


class ALittleMore(PoissonCount):
    """Claims to be exact, and is not by a hundred billionth."""

    def view(self, honest):
        return _Times(super().view(honest), 1e-11, "exact")


class _Times(TotalVariationSlack):
    def claim(self, epsilon):
        exact, slack = self.ideal.claim(epsilon)
        return ClaimedDelta(exact * (1.0 - 1e-9) if not self.distance else exact + self.distance, slack)


@pytest.mark.parametrize("twin", [ALittleLess, ALittleMore])
def test_the_audit_sees_what_is_off_by_hardly_anything(twin):
    tiny = twin.tiny()
    exact = exact_delta(tiny, tiny.crowd.honest, EPSILONS)
    assert any(not one.holds for one in judge_claim(tiny, tiny.crowd.honest, tiny.loss, exact))


def test_the_larger_of_two_intervals():
    one, other = Interval(Fraction(1, 4), Fraction(1, 2)), Interval(Fraction(1, 3), Fraction(2, 5))
    assert one | other == Interval(Fraction(1, 3), Fraction(1, 2))
    assert math.isclose((one | other).width, 1 / 6)


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        (lambda truth: truth * 0.9, "is claimed to be exact: too small by 0.0"),
        (lambda truth: truth * (1 - 1e-9), "is claimed to be exact: too small by "),
        (lambda truth: truth * (1 + 1e-8), "is claimed to be exact: too large by "),
    ],
)
def test_a_message_says_in_which_direction_a_claim_is_wrong(claimed, said):
    zsum = Zsum.tiny()
    sound = judge_claim(zsum, 6, zsum.loss, exact_delta(zsum, 6, EPSILONS))[0]
    wrong = replace(sound, claimed=claimed(float(sound.exact.high)))
    assert sound.holds
    assert not wrong.holds
    assert said in str(wrong)
    assert "too" not in str(sound)


def test_a_truth_that_is_not_known_is_no_truth():
    zsum = Zsum.tiny()
    sound = judge_claim(zsum, 6, zsum.loss, exact_delta(zsum, 6, EPSILONS))[0]
    vague = replace(sound, exact=Interval(Fraction(0), sound.exact.high))
    assert not vague.holds
    assert "is only known to lie between 0 and " in str(vague)
