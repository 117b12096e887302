"""What fills the places that the notes left blank."""

from __future__ import annotations

import math

from headcount.ask import protocol
from headcount.core.task import Sum
from headcount.protocols import named
from headcount.studies.data_sets import DATA_SETS, tuned
from headcount.studies.notes import BINARY, SEPARATING, SURVEY
from headcount.studies.notes.five import noise
from headcount.studies.notes.gaps import BUDGET
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
    added, sample, third = (
        {data.name.split(":")[0]: tuned(named(name), data).rmse(data.ones) for data in DATA_SETS}
        for name in ("zsum", "sample-threshold", "correlated-count")
    )
    first, rule = DATA_SETS[0], math.ceil(2 * noise(1.0, 1e-6))
    seen = first.ones * -math.expm1(-1.0) / (3.0 + math.log(1e6))
    sizes = "; ".join(f"{data.name.replace(': ', ', ')}, {data.ones:,} ones of {data.people:,}" for data in DATA_SETS)
    return Reply(
        f"Stand-ins for them at (1, 10⁻⁶): {sizes}. By the published constants additive noise asks for {rule:,} "
        f"people and is out on I, where the draft's sampling sees {seen:.0f} ones, hardly above its threshold of 17. "
        f"Calibrated exactly, additive noise errs by {_listed(added)} and sampling, with a threshold that suits the "
        f"count, by {_listed(sample)}. So sampling comes close on I and never wins; and noise that cancels, with "
        f"{_listed(third)}, wins on all three. What sampling is good for is not in these: items that nobody listed "
        f"beforehand.",
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
