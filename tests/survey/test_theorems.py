"""Theorems: what ought to hold does, and the same checks refute what should not."""

import json
from fractions import Fraction

import pytest
from flint import arb, ctx

from headcount.privacy.crowd import Crowd
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.zsum import Zsum
from headcount_survey.catalogue import STUDIES
from headcount_survey.theorems import binary_theorem as bt
from headcount_survey.theorems import few_people as fp
from headcount_survey.theorems import flipping_or_sampling as fs
from headcount_survey.theorems import histogram_theorem as ht
from headcount_survey.theorems import more_people as mp
from headcount_survey.theorems import multi_message as mm
from headcount_survey.theorems import sampled_counts as sc
from headcount_survey.theorems import sampling_theorem as st
from headcount_survey.theorems import single_message as sm
from headcount_survey.theorems import smooth_binomial as sb
from headcount_survey.theorems import smooth_noise as sn
from headcount_survey.theorems import warner as wr
from headcount_survey.theorems.claim import Case, Checked, Claim, Form, standing
from headcount_survey.theorems.tails import above, mass, shifted, upto
from headcount_survey.theorems.views import Randomiser

THEOREMS = [kind for kind in STUDIES if issubclass(kind, Checked)]
HALF = Fraction(1, 2)


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(256):
        yield


@pytest.mark.parametrize("kind", THEOREMS, ids=lambda kind: kind.name)
def test_what_ought_to_hold_does_and_what_is_false_is_refuted(kind):
    claims = kind().claims(True, iter)
    for check, claim in claims.items():
        assert claim.holds is claim.form.should_hold, f"{check}: {claim.text}, {claim.worst}"
        json.dumps(claim.row(check), allow_nan=False)
    assert any(claim.form is not Form.TRUE for claim in claims.values())
    assert "Not as expected" not in standing(claims.values())


def test_a_claim_that_goes_the_wrong_way_is_said_first():
    wrong = Claim.over("two is at most one", [Case("here", 2, 1)])
    assert standing([wrong]) == "Not as expected: two is at most one."
    assert wrong.fails == 1
    assert standing([Claim.over("one is at most two", [Case("here", 1, 2)], Form.NOTES)]).startswith("Not as")


def test_what_cannot_be_decided_is_not():
    wide = arb(1, 0.5)
    with pytest.raises(ArithmeticError, match="precision"):
        _ = Case("here", wide, 1).holds
    assert not Case("here", wide, Fraction(1, 4)).holds


def test_tails_are_those_of_the_sums_written_out():
    chance = Fraction(2, 7)
    for k in range(-1, 14):
        exact = sum((sb.Binomial(12, chance, HALF).at(y) for y in range(max(k, 0), 13)), 0)
        tail = above(12, arb(2) / 7, k)
        assert tail.overlaps(arb(exact) / arb(7) ** 12)
        assert (1 - upto(12, arb(2) / 7, k - 1)).overlaps(tail)
        assert float(tail.rad()) < 1e-60
    assert mass(12, arb(2) / 7, 13) == 0
    at = [sb.Binomial(12, chance, HALF).at(y) for y in range(-1, 14)]
    moved = [
        sum(max(a - 2 * b, 0) for a, b in zip(p, q, strict=True)) for p, q in ((at[1:], at[:-1]), (at[:-1], at[1:]))
    ]
    assert shifted(12, arb(2) / 7, arb(2)).overlaps(arb(max(moved)) / arb(7) ** 12)


def test_the_printed_inequality_is_refuted_where_the_corrected_one_holds():
    known = [sb.Binomial(200, HALF, HALF)]
    assert Claim.over("", sb.ratios(known, sb.corrected)).fails == 0
    assert known[0].ratio(1, 1) == Fraction(150, 51)
    assert not next(iter(sb.ratios(known, sb.as_printed))).holds
    assert sb.smallest_counterexample().n == 5
    law = sb.Binomial(200, HALF, Fraction(9, 10))
    narrower = sb.Binomial(200, HALF, Fraction(1, 10))
    assert not Case("", narrower.unlikely(1), law.chernoff()).holds  # the bound of one alpha at the epsilon of another


def test_smooth_noise_needs_its_delta_times_the_change():
    even = sn.Change(sn.Law.uniform(10), Fraction(3, 2), (1, 1))
    assert even.exact == 1 - Fraction(9, 10) ** 2  # one of the two draws is at its end
    assert sn.lemma(even).holds
    assert not sn.without_the_size(even).holds
    steep = sn.Change(sn.Law.peaked(6), Fraction(21, 10), (1, -1))
    assert sn.lemma(steep).holds
    assert not sn.without_more_epsilon(steep).holds
    assert not sn.one_draw(steep).holds
    assert not sn.lemma(sn.Change(sn.Law.peaked(6), Fraction(21, 10), (2,))).holds


def test_one_message_each_is_as_private_shuffled_as_alone():
    response = Randomiser.single([[3, 1], [1, 3]])
    for people in range(1, 7):
        tried = sm.Tried("response", response, people)
        assert response.factor(people) == 3
        assert sm.witnessed(tried).holds
    assert not sm.local_below_shuffled(sm.Tried("R-gap", mm.GAP, 3)).holds
    assert not sm.approximate(sm.Tried("response", response, 4), Fraction(2), times=1).holds
    assert sm.approximate(sm.Tried("response", response, 4), Fraction(2), times=4).holds
    with pytest.raises(ValueError, match="as private"):
        sm.violating_crowds(response, Fraction(3))


def test_the_two_counterexamples_are_private_only_together():
    assert [mm.GAP.factor(n) for n in range(2, 6)] == [
        Fraction(5, 2),
        Fraction(125, 64),
        Fraction(8, 5),
        Fraction(8, 5),
    ]
    assert mm.BOTH.factor(3) == 1
    assert not mm.telling(mm.GAP, 1).holds
    assert not mm.unreached(1).holds
    assert mm.unreached(2).holds
    closed = mm.gap((1, 4, 6, 4, 1), (1, 0, 0, 0, 1))  # with more missing, two people no longer reach every total
    assert not mm.telling(closed, 2).holds


def test_the_binary_theorem_needs_its_conditions_and_its_constant():
    setting = bt.Setting.of(Fraction(1), Fraction(1, 10**6), 1000)
    assert setting.people == 725_433  # 1000 K, K = 50 ln(2e6)
    assert bt.privacy(setting).holds
    assert not bt.privacy(bt.Setting.of(Fraction(1), Fraction(1, 10**6), Fraction(1001, 1000))).holds
    assert bt.accuracy(setting, arb("0.05")).holds
    assert not bt.accuracy(setting, arb("0.05"), bias=False).holds
    assert bt.beyond(setting, Fraction(9, 4)).holds
    assert not bt.beyond(setting, Fraction(9, 2)).holds
    assert bt.nonzero_answers(9, thresholded=True).holds
    assert not bt.nonzero_answers(9, thresholded=False).holds
    small = bt.Setting(Fraction(1), Fraction(1), 70)
    assert bt.by_definition(small, arb(45)).overlaps(small.off_by_more(arb(45)))
    assert bt.by_definition(small, arb(30)) > small.off_by_more(arb(45))


def test_all_bins_at_once_need_n_in_the_logarithm():
    setting, beta = bt.Setting.of(Fraction(1), Fraction(1, 2), 1000), arb("0.5")
    assert ht.simultaneous(setting, beta, ht.every_person).holds
    assert ht.simultaneous(setting, beta, ht.every_large_bin).holds
    assert not ht.simultaneous(setting, beta, ht.one_bin).holds
    assert ht.one_constant(12).holds
    assert not ht.one_constant(20).holds
    assert ht.composed(34, 1.0, times=2).holds
    assert not ht.composed(34, 1.0, times=1).holds


def test_flipping_and_sampling_are_told_apart_and_a_twin_is_not():
    flipping, sampling = fp.Flipping(4, Fraction(1, 4)), fp.Sampling(HALF, 2)
    assert fs.closest(flipping).left >= 1 - Fraction(3, 4) ** 4  # nobody's ones alone make them differ by that much
    assert not fs.ruled_out(sampling, 5).holds
    assert not all(case.holds for case in fs.told_apart(flipping, sampling))
    assert all(case.holds for case in fs.told_apart(flipping, fp.Sampling(Fraction(1), 1)))  # which shows everything
    assert fs.closest(fp.Flipping(4, Fraction(0))).left == 0  # without flips, sampling everybody is the same
    assert fp.distance(flipping.law(2), flipping.by_sampling(2)) == 0
    assert fp.distance(flipping.law(2), fp.Flipping(4, Fraction(1, 5)).by_sampling(2)) > 0
    three = [fs.complement(x, z, both=False) for _, x, z in fs.bits(3) if len(x) == 3]
    assert (sum(map(bool, three)), len(three)) == (37, 64)  # all but (3/4)**3 of them


def test_warners_tail_and_the_bound_as_written():
    tenth = Fraction(1, 10)
    assert 0.207 < float(wr.tail(1_000, tenth, Fraction(100))) < 0.209
    assert Case("", wr.tail(1_000, tenth, Fraction(100)), wr.hoeffding(1_000, tenth, Fraction(100))).holds
    assert not Case(
        "", wr.tail(1_000, tenth, Fraction(100)), wr.as_written_for_means(1_000, tenth, Fraction(100))
    ).holds
    assert wr.expectation(7, 3, tenth, sign=1) == 3
    assert wr.expectation(7, 3, tenth, sign=-1) == 3 - 7
    assert wr.ratio(tenth) == Fraction(3, 2)
    law = fp.Flipping(9, Fraction(2, 5)).law(0)
    for error in (Fraction(0), Fraction(3), Fraction(15, 2), Fraction(9)):
        exact = sum((m for v, m in enumerate(law) if abs(v - Fraction(18, 5)) >= error / 5), Fraction(0))
        assert wr.tail(9, tenth, error).overlaps(arb(exact.numerator) / exact.denominator)


def test_samplings_constants_and_what_is_left_out_of_them():
    half, two = Fraction(1, 2), Fraction(2)
    assert st.constant(half, 10, two, rule=st.clean).holds
    assert st.constant(half, 10, two, rule=st.final).holds
    assert not st.constant(half, 80, two, rule=st.simplest).holds
    by_hand = max(
        sc.excess(sc.shown_counts(k + 1, Fraction(1, 4), 3), sc.shown_counts(k, Fraction(1, 4), 3), two)
        for k in range(30)
    )
    assert sc.one_more(Fraction(1, 4), 3, two).overlaps(arb(by_hand.numerator) / by_hand.denominator)
    assert all(case.holds for case in st.lemma_one(at_least_one=True))
    once = [case for case in st.lemma_one(at_least_one=False) if case.at == "k = 1, rate = 0.01, delta = 1e-06"]
    assert [case.holds for case in once] == [False]
    assert [st.least_threshold(alpha) for alpha in (0.1, 0.2, 0.3, 0.5)] == [6, 9, 11, 18]


def test_more_people_hurt_only_behind_a_threshold_or_with_less_noise_each():
    assert all(case.holds for case in mp.one_more([Zsum(crowd=Crowd(5), gamma=0.3)]))
    assert not all(case.holds for case in mp.one_more([SampleThreshold(crowd=Crowd(4), rate=0.5, threshold=3)]))
    assert not all(case.holds for case in mp.shared_again(6))
