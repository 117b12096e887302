"""Pure privacy: one message is no better than the local model, several may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.programme.coins import SeededCoins
from headcount_survey.notes import SEPARATING
from headcount_survey.notes.laws import Exact, Word, pure_epsilon, sequences, shuffled
from headcount_survey.statement import INSTANCE, Rows, Seen, Severity, corrected, holds, proved
from headcount_survey.study import Verdict

row = Rows(SEPARATING)
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
LEAKY: list[Exact] = [
    {("a",): Fraction(3, 4), ("b",): Fraction(1, 4)},
    {("a",): Fraction(1, 4), ("b",): Fraction(3, 4)},
]


def random_laws(count: int, letters: int) -> list[list[Exact]]:
    """Randomisers of two inputs, one message each: seeded, exact."""
    draws = SeededCoins(7).below(50, count * 2 * letters).reshape(count, 2, letters).tolist()
    return [[{(m,): Fraction(w + 1, sum(ws) + letters) for m, w in enumerate(ws)} for ws in pair] for pair in draws]


def worst(laws: Sequence[Exact], people: int) -> float:
    """The pure epsilon of the shuffled messages, over all crowds and their neighbours."""
    views = [shuffled([laws[1]] * ones + [laws[0]] * (people - ones)) for ones in range(people + 1)]
    return max(pure_epsilon(a, b) for a, b in pairwise(views))


def in_event(law: Exact, letters: str) -> Fraction:
    """The chance that every message is one of these letters."""
    return sum((mass for word, mass in law.items() if all(m in letters for m in word)), Fraction(0))


@row(
    "S3.6",
    "One message and pure privacy: the randomiser is private itself",
    "pure shuffle privacy, both versions; also main findings, 2",
    r"If a shuffle protocol in which everybody sends one message is $\epsilon$-private with $\delta = 0$, then its "
    r"randomiser is an $\epsilon$-private algorithm.",
    more="single-message",
    basis=proved(
        r"if $P[R(x) \in Y] > e^\epsilon P[R(x') \in Y]$, then $Y^n$ is that much likelier on $(x, \dots, x)$ "
        r"than on $(x', x, \dots, x)$"
    ),
)
def single() -> Seen:
    found = [(worst(laws, n), pure_epsilon(*laws)) for laws in random_laws(60, 3) for n in (1, 2, 3)]
    gap = min(shuffle - local for shuffle, local in found)
    return holds(
        gap > -1e-12,
        f"{len(found)} random randomisers and crowds: the shuffled epsilon is never smaller, and equal within "
        f"{abs(gap):.0e} at best",
    )


@row(
    "S3.1",
    "The crowd that shows it",
    "pure shuffle privacy, first version, equation (9)",
    r"$P[R(x) \in Y]^n > e^\epsilon P[R(x') \in Y]\,P[R(x') \in Y]^{n-1}$, which is $e^\epsilon P[(S\circ R)(X') "
    r"\in Y^n]$ for $X' = (x', x, \dots, x)$.",
    Verdict.CORRECTED,
    r"The other $n-1$ people of $X'$ hold $x$: $e^\epsilon P[R(x') \in Y]\,P[R(x) \in Y]^{n-1}$.",
    basis=proved("independence: $X'$ has one $x'$ and $n-1$ times $x$"),
    severity=Severity.PROOF,
)
def crowd() -> Seen:
    x, other = LEAKY
    view = in_event(shuffled([other, x, x]), "a")
    noted, ought = in_event(other, "a") ** 3, in_event(other, "a") * in_event(x, "a") ** 2
    return corrected(view == noted, view == ought, f"n = 3, chances 3/4 and 1/4: the event has {view}, not {noted}")


@row(
    "S3.2",
    "One event for everybody",
    "pure shuffle privacy, second version, equation (1)",
    r"$P[(S\circ R)(X) \in T^n] = \prod_i P[R(x_i) \in T_i]$, where $T$ is a bounded interval.",
    Verdict.CORRECTED,
    r"$\prod_i P[R(x_i) \in T]$ with one set $T$, the same for all: shuffling keeps the chance of $T^n$ because "
    r"that event does not depend on the order. $T$ may be any set.",
    basis=proved("$T^n$ is the same event in every order; with different sets it is not, as two people show"),
    severity=Severity.PROOF,
)
def one_event() -> Seen:
    x, other = LEAKY
    mixed = {tuple(w[::-1]): m for w, m in sequences([x, other]).items()}
    ordered = sequences([x, other])
    view = {w: (ordered.get(w, Fraction(0)) + mixed.get(w, Fraction(0))) / 2 for w in ordered}
    apart = view[(("a",), ("b",))]
    product_of = x[("a",)] * other[("b",)]
    same, ought = view[(("a",), ("a",))], x[("a",)] * other[("a",)]
    return corrected(
        apart == product_of,
        same == ought,
        f"two people: first a, then b has chance {apart} when shuffled, not {product_of}; both a has {same} either way",
    )


@row(
    "S3.11",
    "Why shuffling keeps the chance",
    "pure shuffle privacy, first version, note on equation (7)",
    r"$P[(S\circ R)(X) \in Y^n] = P[R(X) \in Y^n]$ because the shuffle is uniform, so that no shuffling is as "
    r"likely as any other order.",
    Verdict.CORRECTED,
    r"The equation holds because $Y^n$ is the same event in every order; for events that are not, it fails although "
    r"the shuffle is uniform.",
    basis=proved(
        "a uniform order keeps the chance of events that are the same in every order; the words below show "
        "others that change"
    ),
    severity=Severity.PROOF,
)
def orders() -> Seen:
    x, other = LEAKY
    before = sequences([x, other])
    after = {w: (before[w] + before[tuple(reversed(w))]) / 2 for w in before}
    kept = [w for w in before if before[w] == after[w]]
    symmetric = all(w == tuple(reversed(w)) for w in kept)
    return corrected(
        before == after,
        symmetric and len(kept) == 2,
        f"two people: of 4 words shuffling keeps the chance of {len(kept)}, those that read the same in any order",
    )


@row(
    "S3.3",
    "Central, bits, nearly",
    "pure shuffle privacy, headings and proof, first version; in part second version",
    "The lemma's heading says that the randomiser is *central* DP; the simulation works because messages are single "
    "*bits*; it has *nearly* the same distribution.",
    Verdict.CORRECTED,
    "The randomiser is *locally* private; what matters is a single *message*, of any length; and the two protocols "
    "have the *same* distribution.",
    basis=proved("S3.6 and S3.7, whose proofs do not look into a message"),
    severity=Severity.WORDING,
)
def words() -> Seen:
    laws = random_laws(1, 5)[0]
    people = [laws[0], laws[1], laws[1]]
    view = shuffled(people)
    local: dict[Word, Fraction] = {}
    for word, mass in sequences(people).items():
        key = tuple(sorted(m for (m,) in word))
        local[key] = local.get(key, Fraction(0)) + mass
    return corrected(
        len(laws[0]) == 2,
        local == view,
        f"messages of {len(laws[0])} letters, 3 people: an analyser who sorts what it gets sees all {len(view)} "
        f"views with exactly the shuffler's chances",
    )


@row(
    "S3.7",
    "One message and pure privacy: a local protocol does the same",
    "pure shuffle privacy, both versions",
    r"Any single-message protocol that is $\epsilon$-private under a shuffler can be simulated by a local one: the "
    r"analyser shuffles by itself, and the randomiser is private by the lemma.",
    more="single-message",
    basis=proved("the analyser shuffles by itself, which gives the same law; the randomiser is private by S3.6"),
)
def simulated() -> Seen:
    gaps = []
    for laws in random_laws(40, 3):
        shuffler = worst(laws, 2)
        local = max(abs(math.log(laws[0][key] / laws[1][key])) for key in laws[0])
        gaps.append(shuffler - local)
    return holds(
        min(gaps) > -1e-12,
        f"40 random randomisers, two people: the local epsilon never exceeds the shuffled one, and equals it in "
        f"{sum(abs(g) < 1e-12 for g in gaps)}",
    )


@row(
    "S3.12",
    "What the failure means",
    "pure shuffle privacy, last sentence of the proof, second version",
    "When the local randomiser is not private, the anonymised version of it fails to be centrally private as well, "
    "all the time.",
    Verdict.CORRECTED,
    r"That is so for $\delta = 0$ and one message. With $\delta > 0$ shuffling amplifies: a randomiser that is only "
    r"$\epsilon_0$-private locally becomes $(\epsilon, \delta)$-private with a much smaller $\epsilon$.",
    "amplification",
    basis=INSTANCE,
    severity=Severity.ACCURACY,
)
def amplified() -> Seen:
    loss = Amplified(MessageLaws.clones(2.0), 10_000)
    epsilon = loss.epsilon(1e-6)
    return corrected(
        epsilon >= 2.0,
        epsilon < 0.5,
        f"10,000 people, locally epsilon = 2: shuffled at most {epsilon:.3f} at delta = 1e-6",
    )
