"""Pure privacy: one message is no better than the local model, several may be."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import product

from headcount.ask import protocol
from headcount.core.coins import SeededCoins
from headcount.privacy.clones import Clones
from headcount.studies.notes import SEPARATING
from headcount.studies.notes.laws import Exact, exact_divergence, pure_epsilon, sequences, shuffled
from headcount.studies.statement import Rows, Seen, corrected, holds, refuted
from headcount.studies.study import Verdict

row = Rows(SEPARATING)
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
LEAKY: list[Exact] = [{("a",): Fraction(3, 4), ("b",): Fraction(1, 4)}, {("a",): Fraction(1, 4), ("b",): Fraction(3, 4)}]
BOTH: list[Exact] = [{(0, 1): Fraction(1)}, {(1, 0): Fraction(1)}]  # x and 1 - x, in this order


def random_laws(count: int, letters: int) -> list[list[Exact]]:
    """Randomisers of two inputs, one message each: seeded, exact."""
    draws = SeededCoins(7).below(50, count * 2 * letters).reshape(count, 2, letters).tolist()
    return [[{(m,): Fraction(w + 1, sum(ws) + letters) for m, w in enumerate(ws)} for ws in pair] for pair in draws]


def gap_laws() -> list[Exact]:
    """Four bits: any for a zero; for a one, not exactly two ones."""
    words = list(product((0, 1), repeat=4))
    allowed = [words, [word for word in words if sum(word) != 2]]
    return [{word: Fraction(1, len(some)) for word in some} for some in allowed]


def worst(laws: Sequence[Exact], people: int) -> float:
    """The pure epsilon of the shuffled messages, over all crowds and their neighbours."""
    views = [shuffled([laws[1]] * ones + [laws[0]] * (people - ones)) for ones in range(people + 1)]
    return max(pure_epsilon(a, b) for a, b in zip(views, views[1:], strict=False))


def in_event(law: Exact, letters: str) -> Fraction:
    """The chance that every message is one of these letters."""
    return sum((mass for word, mass in law.items() if all(m in letters for m in word)), Fraction(0))  # type: ignore[attr-defined]


@row(
    "S3.6", "One message and pure privacy: the randomiser is private itself", "pure shuffle privacy, both versions; also main findings, 2",
    r"If a shuffle protocol in which everybody sends one message is $\epsilon$-private with $\delta = 0$, then its randomiser is an $\epsilon$-private algorithm.",
    more="single-message",
)  # fmt: skip
def single() -> Seen:
    found = [(worst(laws, n), pure_epsilon(*laws)) for laws in random_laws(60, 3) for n in (1, 2, 3)]
    gap = min(shuffle - local for shuffle, local in found)
    return holds(gap > -1e-12, f"{len(found)} random randomisers and crowds: the shuffled epsilon is never smaller, and equal within {abs(gap):.0e} at best")


@row(
    "S3.1", "The crowd that shows it", "pure shuffle privacy, first version, equation (9)",
    r"$P[R(x) \in Y]^n > e^\epsilon P[R(x') \in Y]\,P[R(x') \in Y]^{n-1}$, which is $e^\epsilon P[(S\circ R)(X') \in Y^n]$ for $X' = (x', x, \dots, x)$.",
    Verdict.CORRECTED,
    r"The other $n-1$ people of $X'$ hold $x$: $e^\epsilon P[R(x') \in Y]\,P[R(x) \in Y]^{n-1}$.",
)  # fmt: skip
def crowd() -> Seen:
    x, other = LEAKY
    view = in_event(shuffled([other, x, x]), "a")
    noted, ought = in_event(other, "a") ** 3, in_event(other, "a") * in_event(x, "a") ** 2
    return corrected(view == noted, view == ought, f"n = 3, chances 3/4 and 1/4: the event has {view}, not {noted}")


@row(
    "S3.2", "One event for everybody", "pure shuffle privacy, second version, equation (1)",
    r"$P[(S\circ R)(X) \in T^n] = \prod_i P[R(x_i) \in T_i]$, where $T$ is a bounded interval.",
    Verdict.CORRECTED,
    r"$\prod_i P[R(x_i) \in T]$ with one set $T$, the same for all: shuffling keeps the chance of $T^n$ because that event does not depend on the order. $T$ may be any set.",
)  # fmt: skip
def one_event() -> Seen:
    x, other = LEAKY
    mixed = {tuple(w[::-1]): m for w, m in sequences([x, other]).items()}  # type: ignore[index]
    ordered = sequences([x, other])
    view = {w: (ordered.get(w, Fraction(0)) + mixed.get(w, Fraction(0))) / 2 for w in ordered}
    apart = view[(("a",), ("b",))]
    product_of = x[("a",)] * other[("b",)]
    same, ought = view[(("a",), ("a",))], x[("a",)] * other[("a",)]
    return corrected(apart == product_of, same == ought, f"two people: first a, then b has chance {apart} when shuffled, not {product_of}; both a has {same} either way")


@row(
    "S3.11", "Why shuffling keeps the chance", "pure shuffle privacy, first version, note on equation (7)",
    r"$P[(S\circ R)(X) \in Y^n] = P[R(X) \in Y^n]$ because the shuffle is uniform, so that no shuffling is as likely as any other order.",
    Verdict.CORRECTED,
    r"The equation holds because $Y^n$ is the same event in every order; for events that are not, it fails although the shuffle is uniform.",
)  # fmt: skip
def orders() -> Seen:
    x, other = LEAKY
    before = sequences([x, other])
    after = {w: (before[w] + before[tuple(reversed(w))]) / 2 for w in before}  # type: ignore[call-overload]
    kept = [w for w in before if before[w] == after[w]]
    symmetric = all(w == tuple(reversed(w)) for w in kept)  # type: ignore[call-overload]
    return corrected(before == after, symmetric and len(kept) == 2, f"two people: of 4 words shuffling keeps the chance of {len(kept)}, those that read the same in any order")


@row(
    "S3.3", "Central, bits, nearly", "pure shuffle privacy, headings and proof, first version; in part second version",
    "The lemma's heading says that the randomiser is *central* DP; the simulation works because messages are single *bits*; it has *nearly* the same distribution.",
    Verdict.CORRECTED,
    "The randomiser is *locally* private; what matters is a single *message*, of any length; and the two protocols have the *same* distribution.",
)  # fmt: skip
def words() -> Seen:
    laws = random_laws(1, 5)[0]
    people = [laws[0], laws[1], laws[1]]
    view = shuffled(people)
    local: dict[Hashable, Fraction] = {}
    for word, mass in sequences(people).items():
        key = tuple(sorted(m for (m,) in word))  # type: ignore[attr-defined]
        local[key] = local.get(key, Fraction(0)) + mass
    return corrected(
        len(laws[0]) == 2, local == view,
        f"messages of {len(laws[0])} letters, 3 people: an analyser who sorts what it gets sees all {len(view)} views with exactly the shuffler's chances",
    )  # fmt: skip


@row(
    "S3.7", "One message and pure privacy: a local protocol does the same", "pure shuffle privacy, both versions",
    r"Any single-message protocol that is $\epsilon$-private under a shuffler can be simulated by a local one: the analyser shuffles by itself, and the randomiser is private by the lemma.",
    more="single-message",
)  # fmt: skip
def simulated() -> Seen:
    gaps = []
    for laws in random_laws(40, 3):
        shuffler = worst(laws, 2)
        local = max(abs(math.log(laws[0][key] / laws[1][key])) for key in laws[0])
        gaps.append(shuffler - local)
    return holds(min(gaps) > -1e-12, f"40 random randomisers, two people: the local epsilon never exceeds the shuffled one, and equals it in {sum(abs(g) < 1e-12 for g in gaps)}")


@row(
    "S3.12", "What the failure means", "pure shuffle privacy, last sentence of the proof, second version",
    "When the local randomiser is not private, the anonymised version of it fails to be centrally private as well, all the time.",
    Verdict.CORRECTED,
    r"That is so for $\delta = 0$ and one message. With $\delta > 0$ shuffling amplifies: a randomiser that is only $\epsilon_0$-private locally becomes $(\epsilon, \delta)$-private with a much smaller $\epsilon$.",
    "amplification",
)  # fmt: skip
def amplified() -> Seen:
    loss = Clones(2.0, 9_999)
    epsilon = loss.epsilon(1e-6)
    return corrected(epsilon >= 2.0, epsilon < 0.5, f"10,000 people, locally epsilon = 2: shuffled at most {epsilon:.3f} at delta = 1e-6")


@row(
    "S3.8", "Two messages, nothing to see", "multi-message shuffle privacy, both versions",
    r"Send $x$ and $1-x$: the shuffled output is $n$ zeros and $n$ ones whatever the data, private for every $\epsilon \ge 0$, and the randomiser is not private for any.",
    more="multi-message",
)  # fmt: skip
def nothing_to_see() -> Seen:
    shuffled_epsilon = max(worst(BOTH, n) for n in (1, 2, 3, 6))
    return holds(shuffled_epsilon == 0.0 and pure_epsilon(*BOTH) == math.inf, f"up to 6 people: epsilon is {shuffled_epsilon:g} after shuffling, and infinite for the ordered pair")


@row(
    "S3.9", "Randomisers that shuffle first", "multi-message shuffle privacy, both versions",
    r"Nothing is lost if a randomiser shuffles its own messages before it sends them; so shuffled, the one above is 0-private.",
    more="multi-message",
)  # fmt: skip
def pre_shuffled() -> Seen:
    first = [shuffled([law]) for law in BOTH]
    same = all(shuffled([first[x] for x in crowd]) == shuffled([BOTH[x] for x in crowd]) for crowd in product((0, 1), repeat=3))
    return holds(same and pure_epsilon(*first) == 0.0, "8 crowds of 3: the shuffler's view is the same, and the pre-shuffled pair has epsilon 0")


@row(
    "S3.10", "Pre-shuffled and still not private", "multi-message shuffle privacy, both versions",
    r"Some protocol is $\epsilon$-private under the shuffler for a finite $\epsilon$ although its pre-shuffled randomiser is not private for any: $R^{gap}$, whose ones never send exactly two ones out of four.",
    more="multi-message",
)  # fmt: skip
def gap() -> Seen:
    alone = pure_epsilon(*[shuffled([law]) for law in gap_laws()])
    found = {n: worst(gap_laws(), n) for n in (2, 3)}
    return holds(alone == math.inf and all(map(math.isfinite, found.values())), f"alone infinite; two people {found[2]:.3f}, three {found[3]:.3f}")


@row(
    "S3.4", "How private the gap is", "multi-message shuffle privacy, both versions",
    r"If the input is 1 the output cannot have two ones; for $n \ge 2$ the shuffled output can be anything in $\{0,1\}^4n$, which gives perfect privacy for some $\epsilon > 0$.",
    Verdict.CORRECTED,
    r"Not *exactly* two ones; anything in $\{0,1\}^{4n}$; and $\epsilon$-private for some *finite* $\epsilon$. It is not perfect: with uniform choices $\epsilon$ falls to $\ln(16/10) = 0.470$ and stays there.",
    "multi-message",
)  # fmt: skip
def perfect() -> Seen:
    found = {n: worst(gap_laws(), n) for n in (2, 3, 4, 6)}
    return corrected(
        min(found.values()) == 0.0, all(0 < e < 1 for e in found.values()) and abs(found[6] - math.log(1.6)) < 1e-12,
        ", ".join(f"n = {n}: epsilon {e:.3f}" for n, e in found.items()),
    )  # fmt: skip


@row(
    "S3.13", "One word gives it away", "multi-message shuffle privacy, both versions",
    r"Whoever sends $(0,1,1,0)$ holds a 0 for certain, so $R^{gap}$ cannot be private.",
)  # fmt: skip
def gives_away() -> Seen:
    zero, one = gap_laws()
    word = (0, 1, 1, 0)
    return holds(zero[word] > 0 and word not in one, f"it has chance {zero[word]} if the value is 0, and none if it is 1")


@row(
    "S3.5", "Not any more", "introduction, main findings, 2, both versions",
    "A paper of September 2021 has nearly central accuracy with nearly one message, so the equivalence of local and single-message shuffle privacy no longer stands.",
    Verdict.FALSE,
    r"It stands. The equivalence is about $\delta = 0$ and *exactly* one message from everybody; the paper's protocol has $\delta > 0$ and a *random* number of messages, one only on average and nearly. Either is enough to leave the theorem.",
    "single-message",
)  # fmt: skip
def not_any_more() -> Seen:
    found = protocol("correlated-count", n=10_000, epsilon=1.0, delta=1e-6)
    delta, messages = found.loss.delta(3.0), found.messages_per_person
    sends = found.programme.sends({"value": 0}, 3)
    return refuted(
        delta == 0.0 and sends[1] == 1.0, delta > 0.0 and sends[1] < 1.0,
        f"its binary protocol for 10,000 people: delta is {found.loss.delta(1.0):.1e} at epsilon 1 and still {delta:.1e} at 3; a one sends {messages:.2f} messages on average, a zero none with chance {sends[0]:.2f}",
    )  # fmt: skip
