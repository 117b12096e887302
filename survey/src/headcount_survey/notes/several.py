"""Several messages: private together though not alone, and what became of the equivalence."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from headcount.planner.planning import protocol
from headcount_survey.notes import SEPARATING
from headcount_survey.notes.laws import Exact, pure_epsilon, shuffled
from headcount_survey.notes.pure import worst
from headcount_survey.notes.survey import rmse
from headcount_survey.statement import Rows, Seen, Severity, corrected, holds, proved, refuted
from headcount_survey.study import Verdict

row = Rows(SEPARATING)
BOTH: list[Exact] = [{(0, 1): Fraction(1)}, {(1, 0): Fraction(1)}]  # x and 1 - x, in this order


def gap_laws() -> list[Exact]:
    """Four bits: any for a zero; for a one, not exactly two ones."""
    words = list(product((0, 1), repeat=4))
    allowed = [words, [word for word in words if sum(word) != 2]]
    return [{word: Fraction(1, len(some)) for word in some} for some in allowed]


@row(
    "S3.8",
    "Two messages, nothing to see",
    "multi-message shuffle privacy, both versions",
    r"Send $x$ and $1-x$: the shuffled output is $n$ zeros and $n$ ones whatever the data, private for every "
    r"$\epsilon \ge 0$, and the randomiser is not private for any.",
    more="multi-message",
    basis=proved("every person adds one 0 and one 1; the ordered pair is the value itself"),
)
def nothing_to_see() -> Seen:
    shuffled_epsilon = max(worst(BOTH, n) for n in (1, 2, 3, 6))
    return holds(
        shuffled_epsilon == 0.0 and pure_epsilon(*BOTH) == math.inf,
        f"up to 6 people: epsilon is {shuffled_epsilon:g} after shuffling, and infinite for the ordered pair",
    )


@row(
    "S3.9",
    "Randomisers that shuffle first",
    "multi-message shuffle privacy, both versions",
    r"Nothing is lost if a randomiser shuffles its own messages before it sends them; so shuffled, the one above is "
    r"0-private.",
    more="multi-message",
    basis=proved("a shuffle of all messages undoes any order that was before"),
)
def pre_shuffled() -> Seen:
    first = [shuffled([law]) for law in BOTH]
    same = all(
        shuffled([first[x] for x in crowd]) == shuffled([BOTH[x] for x in crowd]) for crowd in product((0, 1), repeat=3)
    )
    return holds(
        same and pure_epsilon(*first) == 0.0,
        "8 crowds of 3: the shuffler's view is the same, and the pre-shuffled pair has epsilon 0",
    )


@row(
    "S3.10",
    "Pre-shuffled and still not private",
    "multi-message shuffle privacy, both versions",
    r"Some protocol is $\epsilon$-private under the shuffler for a finite $\epsilon$ although its pre-shuffled "
    r"randomiser is not private for any: $R^{gap}$, whose ones never send exactly two ones out of four.",
    more="multi-message",
    basis=proved("Q12"),
)
def gap() -> Seen:
    alone = pure_epsilon(*[shuffled([law]) for law in gap_laws()])
    found = {n: worst(gap_laws(), n) for n in (2, 3)}
    return holds(
        alone == math.inf and all(map(math.isfinite, found.values())),
        f"alone infinite; two people {found[2]:.3f}, three {found[3]:.3f}",
    )


@row(
    "S3.4",
    "How private the gap is",
    "multi-message shuffle privacy, both versions",
    r"If the input is 1 the output cannot have two ones; for $n \ge 2$ the shuffled output can be anything in "
    r"$\{0,1\}^4n$, which gives perfect privacy for some $\epsilon > 0$.",
    Verdict.CORRECTED,
    r"Not *exactly* two ones; anything in $\{0,1\}^{4n}$; and $\epsilon$-private for some *finite* $\epsilon$. It "
    r"is not perfect: with uniform choices $\epsilon$ is 0.916 and 0.669 for two and three people, and $\ln(16/10) = "
    r"0.470$ for four or more.",
    "multi-message",
    basis=proved(
        "let $h$ be the law of the others' ones. The chances of $t$ ones, if this person holds 0 "
        r"or 1, have the ratio $\frac{10}{16}(1 + 6r)$ with "
        r"$r = \frac{h(t-2)}{h(t) + 4h(t-1) + 4h(t-3) + h(t-4)}$. It is $\frac{10}{16}$ at "
        r"$t = 0$, and at most $\frac{16}{10}$ if $r \le 0.26$ for all $t$; that is so with three "
        "others, whatever they hold, and being linear in $h$ it stays so when more are added"
    ),
    severity=Severity.PRIVACY,
)
def perfect() -> Seen:
    found = {n: worst(gap_laws(), n) for n in (2, 3, 4, 6)}
    zero, one = gap_laws()
    least = Fraction(1)  # by how much 0.26 times the denominator of r exceeds its numerator, with three others
    for ones in range(4):
        others = shuffled([one] * ones + [zero] * (3 - ones))
        h = [sum((mass for word, mass in others.items() if sum(word) == t), Fraction(0)) for t in range(13)]
        h = [Fraction(0)] * 4 + h + [Fraction(0)] * 4
        least = min(
            least,
            *(Fraction(26, 100) * (h[i + 2] + 4 * h[i + 1] + 4 * h[i - 1] + h[i - 2]) - h[i] for i in range(2, 19)),
        )
    return corrected(
        min(found.values()) == 0.0,
        all(0 < e < 1 for e in found.values()) and abs(found[6] - math.log(1.6)) < 1e-12 and least >= 0,
        ", ".join(f"n = {n}: epsilon {e:.3f}" for n, e in found.items())
        + "; $r \\le 0.26$ with three others in all four cases, in fractions",
    )


@row(
    "S3.13",
    "One word gives it away",
    "multi-message shuffle privacy, both versions",
    r"Whoever sends $(0,1,1,0)$ holds a 0 for certain, so $R^{gap}$ cannot be private.",
    basis=proved("a one never sends exactly two ones"),
)
def gives_away() -> Seen:
    zero, one = gap_laws()
    word = (0, 1, 1, 0)
    return holds(
        zero[word] > 0 and word not in one, f"it has chance {zero[word]} if the value is 0, and none if it is 1"
    )


@row(
    "S3.5",
    "Not any more",
    "introduction, main findings, 2, both versions",
    "A paper of September 2021 has nearly central accuracy with nearly one message, so the equivalence of local and "
    "single-message shuffle privacy no longer stands.",
    Verdict.FALSE,
    r"It stands. The equivalence is about $\delta = 0$ and *exactly* one message from everybody; the paper's "
    r"protocol has $\delta > 0$ and a *random* number of messages, one only on average and nearly. Either is enough "
    r"to leave the theorem.",
    "single-message",
    basis=proved("its assumptions are not met by the protocol of that paper"),
    severity=Severity.PROOF,
)
def not_any_more() -> Seen:
    found = protocol("correlated-count", n=10_000, epsilon=1.0, delta=1e-6)
    delta, messages = found.loss.delta(3.0), found.messages_per_person
    sends = found.programme.sends({"value": 0}, 3)
    return refuted(
        delta == 0.0 and sends[1] == 1.0,
        delta > 0.0 and sends[1] < 1.0,
        "its binary protocol for 10,000 people at (1, 1e-6), with an error "
        f"{found.rmse() / rmse('geometric', 100, 0.0) - 1:.1%} above the central one: delta is "
        f"{found.loss.delta(1.0):.1e} at epsilon 1 and still {delta:.1e} at 3; a one sends "
        f"{messages:.2f} messages on average, a zero none with chance {sends[0]:.2f}",
    )
