"""Which algorithm to use: on which data, and of which algorithms."""

from __future__ import annotations

import math

from headcount.planner.planning import protocol
from headcount.planner.smallest_crowd import smallest_crowd
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols import named
from headcount.questions.count import Count
from headcount_survey.notes import BINARY
from headcount_survey.notes.sampling import PLACE
from headcount_survey.statement import INSTANCE, Rows, Seen, Severity, corrected, refuted
from headcount_survey.studies.sampling_rate import best_for
from headcount_survey.study import Verdict

row = Rows(BINARY)


@row(
    "S6.17",
    "Dense data of few people",
    PLACE + "; experiments, data sets I to III",
    "Sample-and-threshold shines on data that are not sparse, among not many users; additive noise on sparse data "
    "of many; a third data set lies between.",
    Verdict.CORRECTED,
    "By the papers' constants, because the theorem on additive noise does not apply to few users. "
    "Calibrated exactly it does, and is then the better one on dense data too, even where sampling "
    "has the threshold that suits the count; to sampling only a few small sizes are left at which "
    "additive noise cannot meet the budget, and there it is off by a quarter of the count itself.",
    "data-sets",
    basis=INSTANCE,
    severity=Severity.ACCURACY,
)
def dense() -> Seen:
    budget, ones = Budget(0.5, 1e-3), {200: 100, 500: 250, 2000: 1000}
    fewest = [smallest_crowd(named(name), Count(), Crowd(1), budget) or 0 for name in ("zsum", "sample-threshold")]
    sampled = [best_for(k, n, budget).rmse(k) for n, k in ones.items()]
    added = [protocol("zsum", n=n, epsilon=0.5, delta=1e-3).rmse() for n in ones]
    alone = best_for(54, 60, budget).rmse(54)
    rule = math.ceil(400 * math.log(2000))
    return corrected(
        all(s < a for s, a in zip(sampled, added, strict=True)),
        all(s > a for s, a in zip(sampled, added, strict=True)) and fewest[1] < fewest[0] and 0.2 < alone / 54 < 0.3,
        f"(0.5, 1e-3), half hold a one: among 200, 500, 2,000 people sampling, with the best threshold for that count, "
        f"errs by {', '.join(f'{v:.2f}' for v in sampled)}, additive noise by {', '.join(f'{v:.2f}' for v in added)}, "
        f"though its theorem asks for {rule:,}; exactly it starts at {fewest[0]} people, sampling at {fewest[1]}, "
        f"and 54 ones among 60 are off by {alone:.0f}",
    )


@row(
    "S6.18",
    "Two algorithms are enough",
    "the two regimes",
    "To understand when to use which algorithm, it is enough to analyse these two.",
    Verdict.FALSE,
    "Neither is the best choice at the usual budgets. Noise whose bulk cancels comes close to the central model "
    "whatever the number of ones, under a shuffler that is trusted with less.",
    "survey-table",
    basis=INSTANCE,
    severity=Severity.ACCURACY,
)
def two() -> Seen:
    n, ones = 10_000, (10, 200, 5000)
    third = protocol("correlated-count", n=n, epsilon=1.0, delta=1e-6).rmse()
    added = protocol("zsum", n=n, epsilon=1.0, delta=1e-6).rmse()
    sampled = [best_for(k, n, Budget(1.0, 1e-6)).rmse(k) for k in ones]
    return refuted(
        min(added, *sampled) <= third,
        third < 0.5 * min(added, *sampled),
        "10,000 people, (1, 1e-6), 10, 200, 5,000 ones: sampling "
        f"{', '.join(f'{v:.1f}' for v in sampled)}, each with the best threshold for that count, "
        f"additive {added:.1f}, correlated {third:.2f}",
    )
