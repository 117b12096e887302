"""What fills the places that the notes left blank."""

from __future__ import annotations

import math

from headcount.ask import protocol
from headcount.core.task import Sum
from headcount.studies.notes import BINARY, SEPARATING, SURVEY
from headcount.studies.notes.five import noise
from headcount.studies.notes.gaps import BUDGET, sampled
from headcount.studies.notes.survey import rmse
from headcount.studies.statement import Questions, Reply

asked = Questions()


@asked(
    "Q15", "The empty row of the table", f"{SURVEY}, table of bounds, the row called almost central",
    "Upper bound and number of messages are left empty.", "survey-table",
)  # fmt: skip
def empty_row() -> Reply:
    found = protocol("correlated-count", n=10_000, overhead=0.1, **BUDGET)
    reals = protocol("almost-central-sum", Sum((0, 1)), n=10_000, **BUDGET)
    central = [rmse(name, 10_000, 0.0) for name in ("geometric", "laplace")]
    return Reply(
        f"Error: that of the central model at $(1-\\gamma)\\epsilon$, for any $\\gamma$ you like, so "
        f"$O(1/\\epsilon)$ with the constant of the best; messages: $1 + \\tilde O(\\ln(1/\\delta)/\\sqrt n)$ of "
        f"about $\\frac12\\log_2n$ bits for reals, $1 + O(\\ln(1/\\delta)/(\\gamma\\epsilon n))$ of one bit for "
        f"bits. For 10,000 people at (1, 10⁻⁶), bits: error {found.rmse():.2f} with {found.messages_per_person:.3f} "
        f"messages, central {central[0]:.2f}. Reals: {reals.rmse():.2f} with {reals.messages_per_person:.0f} "
        f"messages, central {central[1]:.2f}: 'almost a single message' is a statement about crowds much larger "
        f"than this one.",
        f"bits {found.rmse():.2f} with {found.messages_per_person:.3f} messages; reals {reals.rmse():.2f} with "
        f"{reals.messages_per_person:.0f}",
        found.rmse() < 1.15 * central[0] and found.messages_per_person < 1.2 and reals.rmse() < 1.3 * central[1],
    )


@asked(
    "Q16", "The sentence that breaks off",
    f"{SURVEY}, central privacy, for real numbers",
    "A sentence on real numbers stops after its fourth word, which is 'probability'. What was it going to say?",
)  # fmt: skip
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
    "Q18", "The three data sets", f"{BINARY}, experiments; a heading on the experiments of the paper",
    "Three data sets were to show where each algorithm shines, as those of the paper do not: dense and few, sparse "
    "and many, in between.",
    "data-sets",
)  # fmt: skip
def data_sets() -> Reply:
    sets = {"I": (500, 250), "II": (1_000_000, 1_000), "III": (20_000, 2_000)}
    added = {name: rmse("zsum", n) for name, (n, _) in sets.items()}
    sample = {name: sampled(n, ones) for name, (n, ones) in sets.items()}
    third = {name: rmse("correlated-count", n) for name, (n, _) in sets.items()}
    rule = math.ceil(2 * noise(1.0, 1e-6))
    return Reply(
        f"Stand-ins for them at (1, 10⁻⁶): I, 250 ones among 500; II, 1,000 among a million; III, 2,000 among "
        f"20,000. By the published constants nobody serves I: additive noise asks for {rule:,} people, and of 250 "
        f"ones the draft's sampling sees 9, below its threshold of 17. Calibrated exactly, additive noise errs by "
        f"{added['I']:.1f}, {added['II']:.1f}, {added['III']:.1f} and sampling by {sample['I']:.1f}, "
        f"{sample['II']:.1f}, {sample['III']:.1f}. So sampling comes close on I and never wins; and noise that "
        f"cancels, with {third['I']:.1f}, {third['II']:.1f} and {third['III']:.1f}, wins on all three. What "
        f"sampling is good for is not in these: items that nobody listed beforehand.",
        "additive, sampling, cancelling: "
        + "; ".join(f"{name} {added[name]:.1f}, {sample[name]:.1f}, {third[name]:.1f}" for name in sets),
        all(third[name] < added[name] < sample[name] for name in sets),
    )


@asked(
    "Q19",
    "The missing picture",
    f"{SEPARATING}, the binary histogram: 'put picture'",
    "What does the protocol look like?",
    "binary-theorem",
)  # fmt: skip
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
