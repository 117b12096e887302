"""The histogram: its theorem, and what separates the models."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from headcount_survey.notes import SEPARATING
from headcount_survey.notes.counts import accuracy, errors
from headcount_survey.notes.five import noise
from headcount_survey.notes.laws import Word, binomial, shifted, shuffled, two_cells
from headcount_survey.statement import Rows, Seen, Severity, corrected, holds, proved
from headcount_survey.studies.lower_bounds import least_local_histogram
from headcount_survey.study import Verdict

row = Rows(SEPARATING)
BINS = (10, 1000, 100_000, 10_000_000)


def report(x: int, bins: int, p: Fraction) -> dict[Word, Fraction]:
    """One person's messages: their bin, and every bin once more with chance p."""
    law: dict[Word, Fraction] = {}
    for extra in product((0, 1), repeat=bins):
        messages = tuple(sorted([x, *(j for j in range(bins) if extra[j])]))
        law[messages] = law.get(messages, Fraction(0)) + p ** sum(extra) * (1 - p) ** (bins - sum(extra))
    return law


def quantile(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], masses: object, bins: int, chance: float = 0.95
) -> float:
    """The smallest bound on the largest of several independent errors, with this confidence."""
    order = np.argsort(values)
    reached = np.cumsum(np.asarray(masses)[order])
    at = int(np.searchsorted(np.log(np.maximum(reached, 1e-300)) * bins, math.log(chance)))
    return float(values[order[min(at, order.size - 1)]])


@row(
    "S2.13",
    "The histogram's randomiser",
    "the histogram's algorithm, both versions",
    r"For every bin $j$ run the binary randomiser on $\mathbb{1}[x = j]$ and send what it sends, marked $j$; so the "
    r"bins' counts carry independent noise.",
    basis=proved("people draw independently of each other, and each of them for each bin"),
)
def independent() -> Seen:
    p, people = Fraction(3, 5), (0, 0, 2)
    view = shuffled([report(x, 3, p) for x in people])
    counts = {tuple(messages.count(j) for j in range(3)): mass for messages, mass in view.items()}
    bit = [math.comb(3, z) * p**z * (1 - p) ** (3 - z) for z in range(4)]
    law = {(2 + a, b, 1 + c): bit[a] * bit[b] * bit[c] for a, b, c in product(range(4), repeat=3)}
    return holds(
        counts == law,
        f"3 people, 3 bins: all {len(law)} outcomes have the chance of three independent sums plus Bin(3, 3/5), "
        f"exactly",
    )


@row(
    "S2.15",
    "Two bins, twice the price",
    "proof of part (i) for histograms, both versions",
    r"Bins whose count does not change look the same; the two that do are each $(\epsilon, \delta)$-close by the "
    r"binary theorem, so by composition the histogram is $(2\epsilon, 2\delta)$-private.",
    more="histogram-theorem",
    basis=proved("basic composition of two independent views"),
)
def composition() -> Seen:
    laws = [(binomial(n, g), e) for n, g in ((40, 0.5), (100, 0.3), (200, 0.1)) for e in (0.2, 0.5, 1.0)]
    share = max(two_cells(law, 2 * e) / (2 * shifted(law, e)) for law, e in laws)
    return holds(
        share <= 1.0,
        f"{len(laws)} laws: the exact delta of two bins at 2 epsilon is at most {share:.3f} of twice that of one at "
        f"epsilon",
    )


@row(
    "S2.2",
    "The histogram's theorem, parts (i) and (iii)",
    "theorem on histograms, both versions",
    r"The histogram is '$2(\epsilon, \delta)$'-private; and for $\beta > \delta^{25}$ all bins at once are within "
    r"$\alpha = O(\ln(1/\delta)/(\epsilon^2 n))$ with probability $1-\beta$, for any $n$.",
    Verdict.CORRECTED,
    r"$(2\epsilon, 2\delta)$. For all bins at once each non-empty one is run at $\beta/n$, which the paper's step "
    r"allows for $\beta \ge n\delta^{25}$, with $\ln(2n/\beta)$ for $\ln(2/\beta)$ in $\alpha$. With the variance "
    r"$np(1-p)$ itself instead of its bound $25\ln(2/\delta)$, $\beta \ge \delta^{25}$ is enough for $n \le 2^{48}$ "
    r"and $\delta \ge e^{-160000}$: for any crowd and budget there is, but not for every $n$.",
    "histogram-theorem",
    basis=proved(
        r"write $L = \ln(1/\delta)$, $K_0 = 50(L + \ln2)$. Bernstein asks for "
        r"$K(1-K/n) \ge \ln(2n/\delta^{25})$. As $K \ge K_0$ and $K - K^2/n$ grows up to "
        r"$K = n/2$, it follows from $g(n) = 25L + 49\ln2 - K_0^2/n - \ln n \ge 0$; $g$ rises and "
        "then falls, and at both ends, $2K_0$ and $2^{48}$, it is positive: "
        r"$g(2K_0) = 24\ln2 - \ln(100(L + \ln2))$"
    ),
    severity=Severity.ACCURACY,
)
def simultaneous() -> Seen:
    def room(e: float, d: float, n: float, beta: float) -> float:
        """Bernstein's side condition for n bins: the variance less ln(2n/beta)."""
        return noise(e, d) * (1 - noise(e, d) / n) - math.log(2 * n) + math.log(beta)

    def ends(log: float) -> float:
        """The smaller of the two ends of g."""
        least = 50 * (log + math.log(2))
        return min(25 * log + 49 * math.log(2) - least**2 / n - math.log(n) for n in (2 * least, 2.0**48))

    deltas = (1.0, 0.9, 0.5, 0.05, 1e-3, 1e-6, 1e-12)
    crowds = [(e, d, 2.0**j * 2 * noise(e, d)) for e in (0.1, 0.5, 1.0) for d in deltas for j in range(60)]
    people = [room(e, d, n, d**25) for e, d, n in crowds if n <= 2.0**48]
    first = min(n for e, d, n in crowds if room(e, d, n, d**25) < 0.0)
    paper = [room(e, d, n, n * d**25) for e, d, n in crowds if n * d**25 <= 1]
    return corrected(
        all(room(e, d, n, d**25) >= 0.0 for e, d, n in crowds),
        min(people) >= 0.0 and min(paper) >= 0.0 and min(map(ends, np.geomspace(1e-9, 160_000, 200))) > 0.0,
        f"at beta = delta^25 the side condition holds for all {len(people)} crowds up to 2^48 (epsilon 0.1, 0.5, 1; "
        f"delta 1e-12 to 1) and first fails at n = {first:.1e}; at n delta^25 it always holds",
    )


@row(
    "S2.14",
    "The histogram's theorem, part (ii)",
    "theorem on histograms, both versions",
    r"For $\beta > \delta^{25}$ each bin is within $\alpha = O(\ln(1/\delta)/(\epsilon^2 n))$ with probability "
    r"$1-\beta$; it follows from the binary theorem.",
    Verdict.CORRECTED,
    r"$\alpha \le 120.72\,\ln(2/\delta)/(\epsilon^2 n)$. With $\ln(1/\delta)$ no constant serves all $\delta \le "
    r"1$, as it vanishes at 1; for $\delta \le 1/2$ twice the constant does.",
    "histogram-theorem",
    basis=proved(
        r"S2.1 for each bin; $\ln(2/\delta) \le 2\ln(1/\delta)$ says $\delta \le 1/2$; and as $\delta$ tends to 1 the "
        r"noise does not vanish, $K$ being at least $50\ln2$, while $\ln(1/\delta)$ does"
    ),
    severity=Severity.ACCURACY,
)
def each_bin() -> Seen:
    def needed(d: float) -> float:
        """The error that is exceeded with chance 1/20, in units of ln(1/delta)."""
        n = math.ceil(4 * noise(1.0, d))
        worst = max(
            quantile(np.abs(errors(n, noise(1.0, d), k)), binomial(n, noise(1.0, d) / n), 1)
            for k in range(0, n // 2, max(1, n // 100))
        )
        return worst / math.log(1 / d)

    near, usual = needed(1 - 1e-6), max(needed(d) for d in (0.5, 0.05, 1e-3))
    ought = max(accuracy(1.0, d, max(d**25, 0.05)) / math.log(1 / d) for d in (0.5, 0.05, 1e-3))
    return corrected(
        near <= 241.44,
        usual <= ought <= 241.44,
        f"epsilon = 1, beta = 0.05, n = 4K people, the worst of 50 counts from 0 to n/2: the error in people needs "
        f"{usual:.0f} ln(1/delta) for delta = 0.5, 0.05, 0.001, but {near:.0e} at 1 - 10^-6",
    )


@row(
    "S2.3",
    "The union bound over bins",
    "proof of part (iii) for histograms, both versions",
    r"With $Q$ the non-empty bins: $P[\exists j: \tilde c_j - c_j \le \alpha] \le \sum_{j\in Q} P[\tilde c_j - c_j "
    r"\le \alpha] \le \beta/n = \beta$, since a count whose *estimate* is 0 is reported as nonzero with probability "
    r"0.",
    Verdict.CORRECTED,
    r"The events are $\lvert\tilde c_j - c_j\rvert > \alpha$; for each fixed $j \in Q$ the chance is at most "
    r"$\beta/n$, the sum over at most $n$ of them at most $\beta$; and bins whose *true* count $c_j$ is 0 err with "
    r"probability 0.",
    "histogram-theorem",
    basis=proved("the union bound over the at most $n$ bins that somebody holds; the others err with chance 0 (S2.12)"),
    severity=Severity.PROOF,
)
def union() -> Seen:
    e, d, beta, n = 1.0, 0.5, 0.05, 400
    law, missing = binomial(n, noise(e, d) / n), noise(e, d)
    bound, held = accuracy(e, d, beta / n), (100, 100, 100, 100, 0)
    fine = [float(law[errors(n, missing, k) <= bound].sum()) for k in held]
    wrong = [float(law[np.abs(errors(n, missing, k)) > bound].sum()) for k in held]
    as_noted, ought = 1 - math.prod(1 - c for c in fine), 1 - math.prod(1 - c for c in wrong)
    return corrected(
        as_noted <= beta,
        ought <= sum(wrong[:4]) + 1e-15 <= beta and wrong[4] == 0.0,
        f"400 people in 4 of 5 bins, beta = {beta}: the event as noted has chance {as_noted:.3f}, the one that is "
        f"meant {ought:.1g}",
    )


@row(
    "S2.16",
    "The histogram's theorem, part (iv)",
    "theorem on histograms, both versions",
    r"Nobody sends more than $d + 1$ messages.",
    basis=proved("one draw for each bin, and one's own message"),
)
def most_messages() -> Seen:
    most = {bins: max(len(m) for m in report(0, bins, Fraction(1, 2))) for bins in (1, 2, 3, 6)}
    return holds(
        all(found == bins + 1 for bins, found in most.items()),
        f"for {', '.join(map(str, most))} bins at most {', '.join(map(str, most.values()))}",
    )


@row(
    "S2.5",
    "Messages and bits",
    "proof of part (iv) for histograms, both versions",
    r"So there are at most $d + 1$ 'messages/bits/1's'.",
    Verdict.CORRECTED,
    r"Up to $d+1$ *messages*, each of which names a bin and takes $\lceil\log_2 d\rceil$ bits; and the usual number "
    r"is hardly smaller, $1 + dp \ge 1 + d/2$ on average.",
    basis=proved(r"a message tells $d$ bins apart; the mean is $1 + dp$ by linearity, and $p \ge 1/2$"),
    severity=Severity.ACCURACY,
)
def bits() -> Seen:
    p, bins = Fraction(1, 2), 6
    law = report(0, bins, p)
    mean = sum((len(m) * mass for m, mass in law.items()), Fraction(0))
    width = math.ceil(math.log2(bins))
    return corrected(
        (bins + 1) * width <= bins + 1,
        mean == 1 + bins * p,
        f"6 bins, p = 1/2: {float(mean):g} messages of {width} bits on average, up to {(bins + 1) * width} bits",
    )


@row(
    "S2.6",
    "Error without the number of bins",
    "main takeaways and introduction, both versions",
    "In the shuffle model all bins of a histogram can be estimated with an error that does not depend on how many "
    "there are.",
    more="separation",
    basis=proved("S2.2, whose bound has $n$ in it and not $d$"),
)
def shuffle_error() -> Seen:
    n, missing = 2000, noise(1.0, 1e-3)
    law = binomial(n, missing / n)
    held = np.unique(np.linspace(0, n, 80).astype(int)).tolist()  # whatever a bin may hold; at most n of them hold any
    bounds = {bins: max(quantile(np.abs(errors(n, missing, k)), law, min(bins, n)) for k in held) for bins in BINS}
    plain = [quantile(np.abs(np.arange(n + 1.0) - missing), law, bins) for bins in BINS]
    same = {round(bounds[bins], 6) for bins in BINS[2:]}
    return holds(
        len(same) == 1 and float(np.abs(errors(n, missing, 0)).max()) == 0.0,
        f"2,000 people, any data: 95% of the largest errors within {same.pop():.0f} for 10^5 and 10^7 bins alike, "
        f"and 0 on empty ones; without the threshold {plain[0]:.0f} for 10 bins to {plain[-1]:.0f} for 10^7",
    )


@row(
    "S2.7",
    "Local error grows with the number of bins",
    "main takeaways, both versions",
    r"A local histogram errs by something like $\sqrt{\ln d}$ on some bin, so the gap in the number of people "
    r"needed, between shuffle and local, is as large as you like.",
    more="lower-bounds",
    basis=proved(
        r"by Fano's inequality (`lower-bounds`) the largest error of any $\epsilon$-private local "
        r"histogram is at least of the order of $\sqrt{n\ln d}/\epsilon$ in some crowd, so that "
        r"for a fixed share of the people $n$ must grow like $\ln d$; under a shuffler it need not "
        "(S2.6)"
    ),
)
def local_error() -> Seen:
    n, e = 2000, 1.0
    q = 1 / (math.exp(e) + 1)  # optimised unary encoding: empty bins are independent Bin(n, q)
    law, off = binomial(n, q), np.abs(np.arange(n + 1.0) - n * q) / (0.5 - q)
    found = [quantile(off, law, bins) for bins in BINS]
    least = [least_local_histogram(n, bins, e) for bins in BINS]
    scaled = [
        [value / math.sqrt(n * math.log(bins)) for value, bins in zip(side, BINS, strict=True)]
        for side in (found, least)
    ]
    return holds(
        all(a < b for side in (found, least) for a, b in pairwise(side))
        and all(max(side) < 1.5 * min(side) for side in scaled)
        and all(a > b for a, b in zip(found, least, strict=True)),
        "2,000 people, epsilon = 1, 10, 10^3, 10^5, 10^7 bins, the largest error 95% of the time: "
        f"{', '.join(f'{v:.0f}' for v in found)} with optimised unary encoding, and at least "
        f"{', '.join(f'{v:.0f}' for v in least)} with any local protocol: {min(scaled[0]):.1f} to "
        f"{max(scaled[0]):.1f} and {min(scaled[1]):.2f} to {max(scaled[1]):.2f} times sqrt(n ln d)",
    )


@row(
    "S2.8",
    "Central error does not",
    "main takeaways, both versions",
    r"With a trusted analyser there is an algorithm whose error on every bin does not depend on $d$ (reference to "
    r"Bun, Nissim and Stemmer).",
    more="separation",
    basis=proved(
        "only the at most $n$ bins that somebody holds get noise; one that a single person brings in is shown"
        r" with a chance of at most $\delta$"
    ),
)
def central_error() -> Seen:
    # Noise for the bins somebody holds, and those that come out below the threshold are not
    # reported.
    a, delta = math.exp(-0.5), 1e-6
    threshold = next(t for t in range(1, 100) if a ** (t - 1) / (1 + a) <= delta)
    reach = np.arange(0.0, 400.0)
    law = np.where(reach > 0, 2.0, 1.0) * (1 - a) / (1 + a) * a**reach
    found = {bins: max(quantile(reach, law, 20), threshold) for bins in BINS}
    plain = [quantile(reach, law, bins) for bins in BINS]
    return holds(
        len(set(found.values())) == 1,
        f"20 bins held, epsilon = 1, delta = 1e-6: within {found[10]:.0f} on all bins for any d; noise on every bin "
        f"would give {plain[0]:.0f} to {plain[-1]:.0f}",
    )
