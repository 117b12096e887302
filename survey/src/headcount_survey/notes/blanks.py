"""Answers for the places that the notes left blank."""

from __future__ import annotations

import math
from fractions import Fraction

from headcount.planner.planning import protocol
from headcount.privacy.laws import binomial_above
from headcount.protocols import named
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum
from headcount_survey.notes import BINARY, SEPARATING, SHUFFLING, SURVEY
from headcount_survey.notes.five import noise
from headcount_survey.notes.gaps import BUDGET
from headcount_survey.notes.histograms import report
from headcount_survey.notes.laws import pure_epsilon
from headcount_survey.notes.pure import worst
from headcount_survey.notes.sampling import largest_rate
from headcount_survey.notes.several import BOTH
from headcount_survey.notes.survey import fewest_extra, response, rmse
from headcount_survey.statement import Questions, Reply
from headcount_survey.studies.data_sets import DATA_SETS, tuned
from headcount_survey.studies.lower_bounds import least_local

asked = Questions()


@asked(
    "Q15",
    "The empty row of the table",
    f"{SURVEY}, table of bounds, the row called almost central",
    "Upper bound and number of messages are left empty.",
    "survey-table",
)
def empty_row() -> Reply:
    found, (fewest, shape) = protocol("correlated-count", n=10_000, overhead=0.1, **BUDGET), fewest_extra(0.1)
    extra = 10_000 * (found.messages_per_person - 1)
    reals = protocol("almost-central-sum", Sum((0, 1)), n=10_000, **BUDGET)
    central = [rmse(name, 10_000, 0.0) for name in ("geometric", "laplace")]
    return Reply(
        "Error: that of the central model at $(1-\\gamma)\\epsilon$, for any $\\gamma$ you like, "
        "so $O(1/\\epsilon)$ with the constant of the best; messages: "
        "$1 + \\tilde O(\\ln(1/\\delta)/\\sqrt n)$ of about $\\frac12\\log_2n$ bits for reals, "
        "$1 + O(\\ln(1/\\delta)/(\\gamma\\epsilon n))$ of one bit for bits. For 10,000 people at "
        f"(1, 10⁻⁶), bits, an error a tenth above the central one granted: {found.rmse():.2f} with "
        f"{found.messages_per_person:.3f} messages, central {central[0]:.2f}. Reals: "
        f"{reals.rmse():.2f} with {reals.messages_per_person:.0f} messages, central "
        f"{central[1]:.2f}: 'almost a single message' is a statement about crowds much larger than "
        "this one. All of these are achieved and accounted for exactly, not minimal: the "
        f"{extra:.0f} extra messages of the bits, in all, are {fewest:.0f} with a flood of shape "
        f"{shape} instead of {found.parameters['shape']:.0f}, and no lower bound is known that "
        "comes near.",
        f"10,000 people, (1, 1e-6): bits {found.rmse():.2f} with {found.messages_per_person:.3f} messages; reals "
        f"{reals.rmse():.2f} with {reals.messages_per_person:.0f}",
        found.rmse() < 1.15 * central[0]
        and found.messages_per_person < 1.2
        and reals.rmse() < 1.3 * central[1]
        and fewest < extra,
    )


@asked(
    "Q16",
    "The sentence that breaks off",
    f"{SURVEY}, central privacy, for real numbers",
    "A sentence on real numbers stops after its fourth word, which is 'probability'. What was it going to say?",
)
def breaks_off() -> Reply:
    within = {chance: math.log(1 / chance) for chance in (0.05, 1e-6)}
    exact = protocol("laplace", Sum((0, 1)), n=1000, epsilon=1.0).error().half_width(0.95)
    return Reply(
        f"It may go on: of $e^{{-\\epsilon t}}$ that Laplace noise of scale $1/\\epsilon$ exceeds $t$. So a sum of "
        f"numbers in $[0, 1]$ is within $\\frac1\\epsilon\\ln\\frac1\\beta$ except with probability $\\beta$: at "
        f"$\\epsilon = 1$ within {within[0.05]:.2f} in 95 of 100 cases and within {within[1e-6]:.1f} but for one in "
        f"a million, however many people there are.",
        f"95% within {within[0.05]:.2f} by the formula, {exact:.2f} as drawn on a grid",
        abs(exact - within[0.05]) < 0.05,
    )


@asked(
    "Q18",
    "The three data sets",
    f"{BINARY}, experiments; a heading on the experiments of the paper",
    "Three data sets were to show where each algorithm shines, as those of the paper do not: dense and few, sparse "
    "and many, in between.",
    "data-sets",
)
def data_sets() -> Reply:
    added, sample, third = (
        {data.name.split(":")[0]: tuned(named(name), data).rmse(data.ones) for data in DATA_SETS}
        for name in ("zsum", "sample-threshold", "correlated-count")
    )
    first, rule = DATA_SETS[0], math.ceil(2 * noise(1.0, 1e-6))
    seen = first.ones * -math.expm1(-1.0) / (3.0 + math.log(1e6))
    sizes = "; ".join(f"{data.name.replace(': ', ', ')}, {data.ones:,} ones of {data.people:,}" for data in DATA_SETS)
    return Reply(
        f"Stand-ins for them at (1, 10⁻⁶): {sizes}. By the published constants additive noise asks "
        f"for {rule:,} people and is out on I, where the draft's sampling sees {seen:.0f} ones, "
        "hardly above its threshold of 17. Calibrated exactly, additive noise errs by "
        f"{_listed(added)} and sampling, with a threshold that suits the count, by "
        f"{_listed(sample)}. So sampling comes close on I and III, if its threshold knows the "
        f"count, and never wins; and noise that cancels, with {_listed(third)}, wins on all three. "
        "What sampling is good for is not in these: items that nobody listed beforehand.",
        "additive, sampling, cancelling: "
        + "; ".join(f"{name} {added[name]:.1f}, {sample[name]:.1f}, {third[name]:.1f}" for name in added),
        all(third[name] < added[name] < sample[name] for name in added),
    )


def _listed(errors: dict[str, float]) -> str:
    first, second, last = (f"{error:.1f}" for error in errors.values())
    return f"{first}, {second} and {last}"


@asked(
    "Q19",
    "The missing picture",
    f"{SEPARATING}, the binary histogram: 'put picture'",
    "What does the protocol look like?",
    "binary-theorem",
)
def picture() -> Reply:
    held, dummies = (1, 0, 0, 1, 0, 1), (1, 1, 0, 1, 1, 1)
    others, theirs = (0, 0, 0, 1, 0, 1), (1, 1, 1, 1, 1, 1)  # the first holds none, and the third sends a dummy
    sent = [x + z for x, z in zip(held, dummies, strict=True)]
    estimate = sum(sent) - 5
    return Reply(
        f"Six people hold {', '.join(map(str, held))}. Nearly everybody adds a dummy, here all but the third: they "
        f"send {', '.join(map(str, sent))} ones. The shuffler passes on {sum(sent)} ones and nothing else; who sent "
        f"two is gone. The analyser expects 5 dummies, at $\\gamma = 1/6$, and answers {sum(sent)} − 5 = "
        f"{estimate}. Had the first person held a 0 and the third added a dummy, the shuffler would have passed on "
        f"{sum(others) + sum(theirs)} ones as well: that is where the privacy lies.",
        f"{sum(sent)} ones received, estimate {estimate}",
        estimate == sum(held) and sum(others) + sum(theirs) == sum(sent),
    )


@asked(
    "Q20",
    "The section on roadblocks",
    f"{SEPARATING}, single-message simulation: 'as to why see roadblocks section'",
    "A local analyser can shuffle single messages by itself, and the reason why it cannot shuffle several is said to "
    "stand in a section that does not exist. What would it say?",
    "multi-message",
)
def roadblocks() -> Reply:
    pair, mixed = pure_epsilon(*BOTH), worst(BOTH, 3)
    return Reply(
        "That the simulation itself works for any number of messages, and proves nothing: an "
        "analyser may shuffle whatever it gets and answer as before. What fails is the step that "
        "the *report* is private. In the local model a person's messages arrive together, so the "
        "whole report must be private by itself; the lemma that gives this (S3.6) compares the "
        "crowds $(x, \\dots, x)$ and $(x', x, \\dots, x)$ on the event that *every message* lies "
        "in $Y$, and with several messages a report is not an element of $Y$ but a tuple of them, "
        "which the shuffler takes apart. So $(x, 1-x)$ has $\\epsilon = 0$ behind a shuffler and "
        "an infinite one in the hands of a local analyser, who sees which message came first. It "
        "has nothing to do with bits: single messages of any length can be simulated (S3.3).",
        f"the pair (x, 1-x): epsilon is infinite as a report, and {mixed:g} shuffled among three people",
        math.isinf(pair) and mixed == 0.0,
    )


@asked(
    "Q21",
    "What there is on local privacy",
    f"{SEPARATING}, introduction: 'there has been a lot of work on local privacy, see here TODO'; "
    f"{SHUFFLING}: a survey of randomised response that is not there; pure shuffle privacy, second "
    "version: 'TODO: edit this'",
    "Where can one read about local privacy?",
    "local-oracles",
)
def local_privacy() -> Reply:
    n = 10_000
    bit, lower = response(n, 1.0), least_local(500, 1.0) / response(500, 1.0)
    items = [
        protocol(name, Histogram(100), n=n, epsilon=1.0).rmse()
        for name in ("generalised-response", "optimised-unary", "local-hashing", "hadamard-response")
    ]
    return Reply(
        "Warner 1965 for one bit; Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith "
        "(arXiv:0803.0924) for the model and for what can be learned in it at all, which is what "
        "statistical queries can; Beimel, Nissim and Omri (arXiv:1103.2626) for the lower bound on "
        "counts, and Kairouz, Oh and Viswanath (arXiv:1407.1338) for why the flipped bit is the "
        "best randomiser; Bassily and Smith (arXiv:1504.04686) for histograms with many bins, "
        "Wang, Blocki, Li and Jha (arXiv:1705.04421) for the protocols in use, and Cormode, "
        "Maddock and Maple (arXiv:2103.16640), probably the survey that the note means, for how "
        "they compare. In figures, at $\\epsilon = 1$ among 10,000 people: a count errs by "
        f"{bit:.0f}, of which {lower:.0%} is proved to be necessary (for 500 people); an item of "
        f"100 by {items[0]:.0f} with generalised response and by {items[1]:.0f}, {items[2]:.0f} "
        f"and {items[3]:.0f} with unary codes, hashing and Hadamard response. The second TODO asks "
        "for the section on pure privacy to be edited: S3.1 to S3.12 do that.",
        f"count {bit:.1f}; an item of 100: {', '.join(f'{item:.0f}' for item in items)}",
        min(items) == min(items[1:]) and 0.9 < lower <= 1.0,
    )


@asked(
    "Q22",
    "The later post",
    f"{SHUFFLING}, introduction: 'in a later post I show the connection with Grahams paper'",
    "There is no later post. What would it have shown?",
    "sampling-as-noise",
)
def later_post() -> Reply:
    lie = protocol("cheu-count", n=10**6, **BUDGET).parameters["lam"] / 2
    rate = largest_rate(4_920)
    missing = 4_920 * (1 - rate) / rate
    return Reply(
        "What is in Q7: that the two protocols are not equivalent, and that they meet in the "
        "limit. As the crowd grows, shuffled response adds Poisson noise to a sparse count; as its "
        "threshold grows, sampling takes Poisson noise away from a count just above it. At (1, "
        f"10⁻⁶) the means are {lie:.1f} among a million people and {missing:.1f} at a threshold of "
        "4,920.",
        f"means {lie:.2f} and {missing:.2f}",
        abs(lie - missing) < 0.1,
    )


@asked(
    "Q23",
    "The two empty columns",
    f"{BINARY}, the two regimes: 'Simplified additive noise' beside 'Sample and threshold'",
    "The two algorithms were to be described side by side, as the analyser sees them, and nothing stands below the "
    "headings. How do they go?",
    "error-and-ones",
)
def columns() -> Reply:
    gamma, k, n = 0.2, 700, 2_000
    added = protocol("zsum", n=n, gamma=gamma)
    rate = largest_rate(17)
    sample = protocol("sample-threshold", n=n, rate=rate, threshold=17)
    return Reply(
        r"*Simplified additive noise.* Everybody adds a dummy with chance $1-\gamma$; of $k$ ones "
        r"the analyser receives $Y = k + n - Z$, $Z \sim \mathrm{Bin}(n, \gamma)$, and answers "
        r"$Y - n(1-\gamma)$: unbiased, variance $n\gamma(1-\gamma)$ whatever $k$ is, private by "
        "its noise alone, two messages each at most. *Sample and threshold.* Everybody is asked "
        r"with chance $p$; of $k$ ones $X \sim \mathrm{Bin}(k, p)$ arrive, and the answer is $X/p$ "
        r"if $X \ge \tau$, otherwise 0: variance $k(1-p)/p$ above the threshold, nothing below, "
        "one message each at most, private by the sampling and by a threshold that somebody is "
        rf"trusted to apply. Of {k} ones among {n:,} people, with $\gamma = {gamma}$ the one errs "
        rf"by {added.rmse(k):.1f}; with $p = {rate:.3f}$ and $\tau = 17$ the other by "
        f"{sample.rmse(k):.1f}.",
        f"{k} of {n:,}: {added.rmse(k):.1f} and {sample.rmse(k):.1f}",
        abs(added.rmse(k) - math.sqrt(n * gamma * (1 - gamma))) < 1e-6
        and abs(sample.rmse(k) / math.sqrt(k * (1 - rate) / rate) - 1) < 1e-3,
    )


@asked(
    "Q24",
    "What the experiments of the sampling paper do not show",
    f"{BINARY}, a heading without text: 'The experiments in the AI Stats paper do not shine light on the strengths of "
    "this algorithm'",
    "Which strengths has sample-and-threshold that an experiment on counts does not show?",
    "too-sparse",
)
def strengths() -> Reply:
    n, bins = 100_000, 10**6
    dummies = protocol("poisson-histogram", Histogram(bins), n=n, **BUDGET).messages_per_person
    rate = largest_rate(17)
    most = max(len(messages) for messages in report(0, 3, Fraction(1, 2)))
    seen = next(k for k in range(17, 1000) if float(binomial_above(16, k, rate)) >= 0.95)
    return Reply(
        "The paper's experiments are not to be had here, and the heading is all that the note "
        "says; what can be said is what the algorithm is good for. Not accuracy for a count, where "
        "additive noise is better on all three of the note's own data sets (Q18). But nobody has "
        "to list the items beforehand: whatever is held often is found, an item that nobody holds "
        f"is never reported, and everybody sends one message at most, on average {rate:.2f} at (1, "
        "10⁻⁶) and threshold 17 where people are added or removed, for any number of possible "
        f"items; items of {seen} people or more are then missed in one case of twenty at most. "
        f"With dummies for each of {bins:,} items, {n:,} people would send {dummies:.0f} messages "
        f"each; with the notes' own histogram up to one for every item, and one more ({most} for "
        "three). So the experiment that would shine a light on it has very many items, most of "
        "which nobody holds, and a few that are heavy.",
        f"{rate:.2f} messages each against {dummies:.0f} for a million items; {seen} people are found 95% of the time",
        rate < 1 < dummies and most == 4,
    )
