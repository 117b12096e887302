"""Answers to the notes' questions about the two algorithms, and what fills their gaps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headcount.planner.calibrate import calibrate
from headcount.planner.planning import protocol
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.laws import binomial_above
from headcount.protocols import named
from headcount.questions.count import Count
from headcount_survey.notes import BINARY, SEPARATING, SHUFFLING
from headcount_survey.notes.binomial import interval
from headcount_survey.notes.counts import errors
from headcount_survey.notes.five import noise
from headcount_survey.notes.laws import binomial, shifted
from headcount_survey.notes.pure import worst
from headcount_survey.notes.sampling import cover, exactly, from_noise, largest_rate, left_out
from headcount_survey.notes.several import gap_laws
from headcount_survey.notes.survey import rmse
from headcount_survey.statement import Questions, Reply
from headcount_survey.studies.sampling_rate import best_for

asked = Questions()
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}


def seen_half(tau: int, rate: float) -> int:
    """The smallest count that passes the threshold at least half of the time."""
    return next(k for k in range(tau, 100_000) if float(binomial_above(tau - 1, k, rate)) >= 0.5)


def sampled(n: int, ones: int) -> float:
    """The error of sampling with threshold 17 for a number of ones at (1, 1e-6)."""
    return calibrate(named("sample-threshold"), Count(), Crowd(n), Budget(1.0, 1e-6), threshold=17).rmse(ones)


@asked(
    "Q7",
    "Is shuffled randomised response sample-and-threshold",
    f"{SHUFFLING}, introduction; {BINARY}, dependence on epsilon and delta",
    "Can the two protocols be shown to be equivalent, as the notes expect?",
    "flipping-or-sampling",
)
def equivalent() -> Reply:
    response = rmse("cheu-count", 10_000)
    few, many = sampled(10_000, 200), sampled(10_000, 5_000)
    missing, apart = ([of(tau) for tau in (17, 4_920)] for of in (lambda tau: left_out(tau)[0], from_noise))
    near = best_for(5_000, 10_000, Budget(1.0, 1e-6)).rmse(5_000)
    return Reply(
        "As they stand no; in the limit, above the threshold, yes. *Not equivalent.* Whoever does "
        "not tell the truth sends a fair coin in the one and nothing in the other. So on all zeros "
        f"one answers $\\mathrm{{Bin}}(n, \\lambda/2n)$ and the other 0 for certain; without its "
        "threshold sampling has $\\delta = p$; and at threshold 17, at (1, 10⁻⁶) among 10,000 "
        f"people, it errs by {few:.1f} if 200 hold a one and by {many:.1f} if 5,000 do, where the "
        f"other errs by {response:.1f} whatever they hold. Neither can be made from the other "
        "(`flipping-or-sampling`). *Asymptotically equivalent above the threshold.* Fix "
        "$(\\epsilon, \\delta)$. Let $\\delta(c)$ be what a count less Poisson noise of mean $c$ "
        "loses, $\\mu$ the mean with $\\delta(\\mu) = \\delta$, and $q$ the least share that must "
        "be left out with threshold $\\tau$. Then $\\tau q \\to \\mu$ as $\\tau$ grows, and of $k$ "
        f"holders, $k/\\tau \\to 1$, the number left out tends to $\\mathrm{{Poisson}}(\\mu)$ in "
        f"total variation. *Proof.* Left out are $\\mathrm{{Bin}}(k, q)$, which lies within $q$ of "
        f"$\\mathrm{{Poisson}}(kq)$ in total variation (Barbour and Hall) and within $q$ of "
        f"$\\mathrm{{Bin}}(k+1, q)$. Let $q = c/\\tau$. From above: to drop counts is "
        "post-processing, so that for $k \\ge \\tau - 1$ the loss is at most "
        "$\\delta(kq) + 2(1+e^\\epsilon)q$, and $\\delta(kq) \\le \\delta(c-q)$, since more noise "
        "hides more; for smaller $k$ nothing is shown. From below: at "
        "$k = \\tau + \\lceil\\sqrt\\tau\\rceil$ the count passes but for a vanishing chance, and "
        "$kq \\to c$. So the loss at $c/\\tau$ tends to $\\delta(c)$, which is continuous and "
        "falls strictly, and the least $q$ is where it is $\\delta$. ∎ Shuffled response has the "
        "same limit from the other side: as $n$ grows and $k/n \\to 0$ no holder lies, and "
        f"$\\mathrm{{Poisson}}(\\lambda/2)$ others add a one. In figures, threshold 17 leaves out "
        f"{missing[0]:.1f} people of a crowd that just reaches it, {apart[0]:.2f} from Poisson "
        f"noise in total variation; threshold 4,920 leaves out {missing[1]:.2f}, {apart[1]:.4f} "
        f"from it, where $\\mu = {cover():.2f}$; and the error of 5,000 ones with the threshold "
        f"that suits them is {near:.2f}. What is left of the difference is the threshold: it must "
        "be chosen before the count is known, and all below is lost.",
        f"errors {response:.1f} against {few:.1f} and {many:.1f} at threshold 17; left out {missing[0]:.1f} at 17 and "
        f"{missing[1]:.2f} at 4,920, Poisson noise {cover():.2f}",
        many > 2 * few and response < few and abs(missing[1] - cover()) < 0.02 and apart[1] < 0.01 < apart[0],
    )


@asked(
    "Q8",
    "Can the two events be brought together",
    f"{BINARY}, the events E1 and E2",
    "The events look alike but for constants. Can their variables be related better?",
    "good-events",
)
def events() -> Reply:
    n = math.ceil(2 * noise(1.0, 1e-6))
    gamma = noise(1.0, 1e-6) / n
    low, high = interval(n, gamma, math.tanh(0.5), 1)
    law, y = binomial(n, gamma), np.arange(n + 1)
    out, exact = float(law[(y < low) | (y > high)].sum()), shifted(law, 1.0)
    tau, rate = 17, -math.expm1(-1.0) / 17
    holders = range(1, 3000)
    over = max(float(binomial_above(math.ceil(tau * max(1.0, k * rate)) - 1, k, rate)) for k in holders)
    sample = exactly(rate, tau, 1.0)
    return Reply(
        "Not by algebra: the step that was to turn one into the other is wrong (S6.8). $E_1$ is "
        "about $n$ coins that do not depend on the data, from both sides, with ratio "
        f"$\\frac{{(n-y)\\gamma}}{{(y+1)(1-\\gamma)}}$; $E_2$ is about the $k$ coins of those who "
        f"hold a one, from above only, with ratio $\\frac{{(k+1)(1-p)}}{{k+1-v}}$. What they share "
        "is their use: outside of the event the ratio may be too large. Neither event is needed, "
        "as the excess itself can be summed. At (1, 10⁻⁶), with the papers' parameters: among "
        f"{n:,} people, the fewest that the theorem allows, $\\gamma = {gamma:.3f}$ and "
        f"$\\alpha = \\tanh(1/2)$, $E_1$ fails with chance {out:.0e} where the exact $\\delta$ is "
        f"{exact:.0e}; with threshold {tau} and rate $(1-1/e)/{tau} = {rate:.3f}$, $E_2$, put "
        f"right as in S6.7, fails with at most {over:.0e} for 1 to {holders[-1]:,} holders, where "
        f"the exact $\\delta$ of the worst crowd is {sample:.0e}. Both were allowed 10⁻⁶.",
        f"{n:,} people: E1 fails {out:.0e}, exact delta {exact:.0e}; up to {holders[-1]:,} "
        f"holders: E2 fails {over:.0e}, exact delta {sample:.0e}",
        exact < out < 1e-6 and sample < over < 1e-6,
    )


@asked(
    "Q9",
    "Would a two-sided bound keep the proof",
    f"{BINARY}, the event E2",
    "Does the proof of sample-and-threshold survive if its bound is made two-sided?",
    "good-events",
)
def two_sided() -> Reply:
    p, delta = 0.3, 1e-6
    first = math.ceil(math.log(delta) / math.log1p(-p))  # from here on an empty sample is rare enough to be excluded
    return Reply(
        f"It stays valid where it applies, gains nothing, and does not apply to small counts. The ratio grows with "
        f"the sample, so only large samples hurt; and in the other direction it is at most $\\frac1{{1-p}}$ always. "
        f"A lower tail added to the event adds its chance to $\\delta$ and removes no loss. And for fewer than "
        f"{first} holders ($p = 0.3$, $\\delta = 10^{{-6}}$) there is no lower tail to "
        "exclude: an empty sample alone is likelier than $\\delta$.",
        f"an empty sample has chance above 1e-6 for up to {first - 1} holders",
        (1 - p) ** (first - 1) > delta >= (1 - p) ** first,
    )


@asked(
    "Q10",
    "How sparse is too sparse",
    f"{BINARY}, sample and threshold",
    "How sparse may the ones be before they are lost?",
    "too-sparse",
)
def how_sparse() -> Reply:
    draft = seen_half(17, -math.expm1(-1.0) / 17)
    found = {tau: (seen_half(tau, rate), rate) for tau in range(4, 61) if (rate := largest_rate(tau))}
    tau = min(found, key=lambda t: found[t][0])
    half, rate = found[tau]
    log = math.log(20.0)
    safe = (tau + log + math.sqrt(2 * tau * log + log**2)) / rate
    missed = 1.0 - float(binomial_above(tau - 1, math.ceil(safe), rate))
    floor = protocol("zsum", n=100_000, **BUDGET).rmse()
    return Reply(
        f"A count of $k$ is printed with chance $P[\\mathrm{{Bin}}(k, p) \\ge \\tau]$, an even chance near $k = "
        f"\\tau/p$. At (1, 10⁻⁶) the draft's parameters see {draft} people half of the time. Exactly calibrated the "
        f"best threshold is {tau}, with $p = {rate:.2f}$, and sees {half}; no other up to 60 does better. To miss a "
        f"count with a chance of at most 5%, $kp \\ge \\tau + \\ln20 + \\sqrt{{2\\tau\\ln20 + \\ln^220}}$ is "
        f"enough: {safe:.0f} people, who are missed with {missed:.1%}. Additive noise has a floor too, its standard "
        f"deviation: {math.sqrt(noise(1.0, 1e-6)):.0f} by the paper's constants, {floor:.1f} calibrated; with the "
        f"published threshold it is $K = {noise(1.0, 1e-6):.0f}$.",
        f"even chance at {half} people (threshold {tau}, p = {rate:.3f}), by the draft at {draft}",
        half < 60 < draft and missed <= 0.05,
    )


@asked(
    "Q11",
    "Is the threshold deceiving",
    f"{BINARY}, heading without text",
    "Is it deceiving that counts are dropped below a fraction of 1? (A heading says so, slightly, and stops.)",
    "thresholding",
)
def deceiving() -> Reply:
    n, k = 100_000, noise(1.0, 1e-6)
    law = binomial(n, k / n)
    silent = {ones: float(law[np.arange(n + 1) >= ones].sum()) for ones in (500, 725, 900)}
    # Without the threshold, how many bins it takes before the largest error exceeds what the
    # threshold may swallow.
    swallowed = k + 3 * math.sqrt(k)
    missed = float(law[np.arange(n + 1) >= swallowed].sum())
    tail = float(binomial_above(math.floor(k + swallowed), n, k / n))  # below, the error is K at most
    bins = math.log10(missed / max(tail, 1e-300))
    return Reply(
        "Yes. 'Greater than 1' looks like nothing in units of the fraction, but the number of "
        "messages exceeds $n$ only if $\\sum x_i$ exceeds the number of missing dummies, "
        f"$K \\pm \\sqrt K$. At (1, 10⁻⁶) that is {k:.0f}: among 100,000 people 500 ones are "
        f"printed as 0 with chance {silent[500]:.4f}, 725 with {silent[725]:.2f}, 900 with "
        f"{silent[900]:.1e}. It has nothing to do with privacy, being post-processing. It buys "
        "error 0 on empty bins, so that the union bound is over people instead of bins; it costs a "
        "bias of up to $K$ on the others, which is the leading term of the theorem. And it is a "
        "poor bargain: among these 100,000 people, with that noise, it swallows a count of "
        f"$K + 3\\sqrt K = {swallowed:.0f}$ with chance {missed:.4f}, and without it one bin is "
        f"off by more than that with chance $10^{{{math.log10(tail):.0f}}}$ only; by the union "
        f"bound it takes some $10^{{{bins:.0f}}}$ bins before the largest error of all is so large "
        "as often. For one count, do not threshold.",
        f"100,000 people, (1, 1e-6), K = {k:.0f}; printed as 0: 500 with {silent[500]:.4f}, 725 "
        f"with {silent[725]:.2f}, 900 with {silent[900]:.0e}",
        silent[500] > 0.999 and 0.4 < silent[725] < 0.6 and silent[900] < 1e-6 and bins > 50,
    )


@asked(
    "Q12",
    "Why the gap closes for two",
    f"{SEPARATING}, multi-message shuffle privacy",
    "Why is the gap randomiser private among two people or more, and not alone?",
    "multi-message",
)
def gap() -> Reply:
    sums = [{0, 1, 3, 4}]
    for _ in range(3):
        sums.append({a + b for a in sums[-1] for b in sums[0]})
    full = [found == set(range(4 * n + 1)) for n, found in enumerate(sums, 1)]
    epsilons = [worst(gap_laws(), n) for n in (2, 3, 4)]
    return Reply(
        f"The shuffler's output is decided by how many ones there are, and words of equal weight are equally "
        f"likely. A person with a one sends 0, 1, 3 or 4 ones, never 2. Two such people together send any number "
        f"from 0 to 8, since $\\{{0,1,3,4\\}} + \\{{0,1,3,4\\}} = \\{{0, \\dots, 8\\}}$, and with each further one "
        f"the range stays without gaps. So for $n \\ge 2$ every output has a positive chance whatever the data are; "
        f"finitely many positive chances have a finite largest ratio. With uniform choices its logarithm is "
        f"{epsilons[0]:.3f}, {epsilons[1]:.3f}, {epsilons[2]:.3f} for 2, 3, 4 people. One person alone cannot make "
        f"a 2, and there it is infinite.",
        f"epsilon {epsilons[0]:.3f}, {epsilons[1]:.3f}, {epsilons[2]:.3f} for n = 2, 3, 4",
        full == [False, True, True, True] and all(map(math.isfinite, epsilons)),
    )


@asked(
    "Q13",
    "Which algorithm should company A use",
    f"{BINARY}, the game",
    "A company knows its budget and nothing of statistics, and wants the best count it can have. What should it use?",
    "survey-table",
)
def company() -> Reply:
    names = ("geometric", "correlated-count", "cheu-count", "zsum", "randomised-response")
    deltas = [0.0, 1e-6, 1e-6, 1e-6, 0.0]
    central, best, one, added, alone = (rmse(name, 10_000, delta) for name, delta in zip(names, deltas, strict=True))
    sample, paper = sampled(10_000, 1_000), math.sqrt(noise(1.0, 1e-6) * (1 - noise(1.0, 1e-6) / 10_000))
    tuned, lost = best_for(1_000, 10_000, Budget(1.0, 1e-6)), 900
    large = [protocol(name, n=10_000, epsilon=0.5, delta=0.05).rmse() for name in ("zsum", "correlated-count")]
    return Reply(
        "Ask whom people trust, then how many they are. For 10,000 people at (1, 10⁻⁶), by "
        f"standard error: a trusted analyser {central:.2f}; a trusted shuffler and a random number "
        f"of messages {best:.2f}; a shuffler and one bit each {one:.1f}; zsum {added:.1f}, by its "
        f"paper's constants {paper:.0f}; sampling with a trusted thresholder {sample:.1f} at "
        f"threshold 17 if 1,000 hold a one; nobody trusted {alone:.0f}. (Sampling comes to "
        f"{tuned.rmse(1_000):.1f} with threshold {tuned.threshold}, but that is tuned to a count "
        f"nobody knows beforehand: {lost} ones would be off by {tuned.rmse(lost):.0f} with it.) "
        "The order hardly changes with the budget, except that with a large $\\delta$ additive "
        f"noise is the best under a shuffler: {large[0]:.1f} at (0.5, 0.05), where the correlated "
        f"kind has {large[1]:.1f}. For histograms with few bins the same; for very many, sampling "
        "if items are heavy and the thresholder is trusted. `headcount advise` answers for any "
        "case.",
        f"{central:.2f}, {best:.2f}, {one:.1f}, {added:.1f}, {sample:.1f} (tuned to the count "
        f"{tuned.rmse(1_000):.1f}), {alone:.0f}",
        central < best < one < tuned.rmse(1_000) < sample < alone < tuned.rmse(lost)
        and added < paper
        and large[0] < large[1],
    )


@asked(
    "Q14",
    "Why all zeros are exact",
    f"{SEPARATING}, theorem on binary sums, part (iii), an empty box",
    "Why is there no error if everybody holds 0? (An empty question box.)",
    "binary-theorem",
)
def zeros() -> Reply:
    largest = float(np.abs(errors(2000, 400.0, 0)).max())
    plain = math.sqrt(2000 * 0.2 * 0.8)
    return Reply(
        f"Only dummies are sent, at most one each, so there are at most $n$ messages: $c^* \\le 1$ with certainty, "
        f"and the analyser prints 0. No chance is involved; among 2,000 people the largest possible error is "
        f"{largest:.0f}, where without the threshold it would have standard deviation {plain:.1f}. It says nothing "
        f"about privacy: a crowd with a single one is printed as 0 nearly always too.",
        f"largest possible error {largest:.0f}, without the threshold {plain:.1f}",
        largest == 0.0 < plain,
    )
