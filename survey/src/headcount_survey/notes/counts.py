"""The binary histogram: the zsum protocol and its theorem."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

from headcount_survey.notes import SEPARATING
from headcount_survey.notes.five import noise
from headcount_survey.notes.laws import Word, binomial, shifted, shuffled
from headcount_survey.statement import INSTANCE, Rows, Seen, Severity, corrected, holds, proved
from headcount_survey.study import Verdict

row = Rows(SEPARATING)
BUDGETS = [(e, d) for e in (0.3, 0.6, 1.0) for d in (0.5, 0.05, 1e-3, 1e-6)]


def report(x: int, p: Fraction) -> dict[Word, Fraction]:
    """One person's messages: x ones, and one more with chance p."""
    return {("1",) * x: 1 - p, ("1",) * (x + 1): p}


def errors(n: int, missing: float, k: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The analyser's error in people per number of missing dummies; it prints 0 unless c* > 1."""
    gone = np.arange(n + 1.0)
    return np.where(k > gone, missing - gone, -float(k))


def accuracy(epsilon: float, delta: float, beta: float) -> float:
    """The error in people that is exceeded with a chance of at most beta."""
    log = math.log(2.0 / delta)
    return 50.0 * log / epsilon**2 + math.sqrt(200.0 * log * math.log(2.0 / beta)) / epsilon


@row(
    "S2.9",
    "The randomiser",
    "an algorithm for binary sums, both versions",
    r"With $1 - p = \frac{50}{\epsilon^2 n}\ln\frac2\delta$ and $z \sim \mathrm{Bernoulli}(p)$, send $x + z$ copies "
    r"of a one: at most two bits.",
    basis=proved(r"$x + z \le 2$; and $1-p \le 1/2$ if $n$ is as large as the theorem asks"),
)
def randomiser() -> Seen:
    most = [max(len(messages) for messages in report(x, Fraction(9, 10))) for x in (0, 1)]
    chances = [1.0 - noise(e, d) / math.ceil(2 * noise(e, d)) for e, d in BUDGETS]
    return holds(
        most == [1, 2] and min(chances) >= 0.5,
        f"a zero sends up to {most[0]}, a one up to {most[1]}; at the smallest n allowed p is {min(chances):.4f}, "
        f"never below 1/2",
    )


@row(
    "S2.11",
    "The number of messages is all there is",
    "proof of the theorem on binary sums, both versions",
    r"All messages are alike, so their number tells everything; it is $\sum x_i + \mathrm{Bin}(n, 1-\gamma) = n - "
    r"(\mathrm{Bin}(n, \gamma) - \sum x_i)$, a 1-sensitive sum plus binomial noise, and what follows from it is "
    r"private by post-processing.",
    basis=proved(
        r"equal messages are told by their number; $n$ less $\mathrm{Bin}(n, 1-\gamma)$ is $\mathrm{Bin}(n, "
        r"\gamma)$"
    ),
)
def only_a_number() -> Seen:
    p, same = Fraction(7, 10), 0
    crowds = [x for n in (1, 2, 3, 4) for x in product((0, 1), repeat=n)]
    for x in crowds:
        n, view = len(x), shuffled([report(bit, p) for bit in x])
        numbers = {len(messages): mass for messages, mass in view.items()}
        law = {sum(x) + z: math.comb(n, z) * p**z * (1 - p) ** (n - z) for z in range(n + 1)}
        same += len(numbers) == len(view) and numbers == law
    return holds(
        same == len(crowds),
        f"{same} of {len(crowds)} crowds of up to 4 people: the views are the sum plus Bin(n, 7/10), in exact "
        f"fractions",
    )


@row(
    "S2.10",
    "The theorem, part (i): privacy",
    "theorem on binary sums, both versions",
    r"For $n \ge \frac{100}{\epsilon^2}\ln\frac2\delta$ the protocol is $(\epsilon, \delta)$-private in the shuffle "
    r"model. (Neighbours replace a value; $\epsilon$ and $\delta$ are positive.)",
    more="binary-theorem",
    basis=proved("S1.23, S2.11 and S1.12"),
)
def private() -> Seen:
    crowds = [(e, d, more * math.ceil(2 * noise(e, d))) for e, d in BUDGETS for more in (1, 4)]
    exact = [(shifted(binomial(n, noise(e, d) / n), e), d) for e, d, n in crowds]
    share = max(found / asked for found, asked in exact)
    return holds(share <= 1.0, f"{len(crowds)} crowds: the exact delta is at most {share:.0e} of what is claimed")


@row(
    "S2.1",
    "The theorem, part (ii): accuracy",
    "theorem on binary sums, both versions; the derivation is left open",
    r"For $\beta > \delta^{25}$ the error of the fraction is at most $\alpha$ with probability $1-\beta$. No "
    r"$\alpha$ is given.",
    Verdict.CORRECTED,
    r"$\alpha = \frac{50}{\epsilon^2 n}\ln\frac2\delta + \frac{1}{\epsilon "
    r"n}\sqrt{200\ln\frac2\delta\ln\frac2\beta}$ for $\beta \ge \delta^{25}$, which is at most "
    r"$120.72\,\ln(2/\delta)/(\epsilon^2 n)$. Bernstein's inequality bounds $\lvert\sum z_i - np\rvert$ by the "
    r"second term; the first is what the threshold may swallow.",
    "binary-theorem",
    basis=proved("Q5"),
    severity=Severity.ACCURACY,
)
def accurate() -> Seen:
    shares, simple = [], []
    for (e, d), more in product(BUDGETS, (1, 4)):
        n, missing = more * math.ceil(2 * noise(e, d)), noise(e, d)
        law = binomial(n, missing / n)
        for beta in (0.5, 0.05, max(1e-12, d**25)):
            bound = accuracy(e, d, max(beta, d**25))
            beyond = max(
                float(law[np.abs(errors(n, missing, k)) > bound].sum()) for k in np.linspace(0, n, 60).astype(int)
            )
            shares.append(beyond / max(beta, d**25))
        simple.append(accuracy(e, d, d**25) * e**2 / math.log(2 / d))
    untold = False  # there is no alpha to try
    return corrected(
        untold,
        max(shares) <= 1.0 and max(simple) <= 120.72,
        f"{len(shares)} cases, 60 counts each: the error exceeds alpha with at most {max(shares):.2g} of beta; n "
        f"alpha is at most {max(simple):.1f} ln(2/delta)/epsilon^2",
    )


@row(
    "S2.12",
    "The theorem, part (iii): nobody, no error",
    "theorem on binary sums and its proof, both versions",
    r"If everybody holds 0, the number of messages is $\mathrm{Bin}(n, p)$, so $c^* \le 1$ with probability 1 and "
    r"the output is 0.",
    more="binary-theorem",
    basis=proved("Q14"),
)
def nobody() -> Seen:
    found = [float(np.abs(errors(n, 0.3 * n, 0)).max()) for n in (1, 10, 1000)]
    others = float(binomial(1000, 0.3)[np.abs(errors(1000, 300.0, 1)) > 0].sum())
    return holds(
        max(found) == 0.0 and others == 1.0,
        "n = 1, 10, 1,000: the error is 0 whatever is drawn; with a single one among 1,000 it never is",
    )


@row(
    "S2.4",
    "Thresholding twice",
    "the histogram's analyser, both versions",
    r"The histogram's analyser runs the binary one on each bin and then, as its own third step, returns $c^* - p$ "
    r"if $c^* > 1$ and 0 otherwise; $\epsilon$ and $\delta$ lie in $[0, 1]$.",
    Verdict.CORRECTED,
    r"The third step belongs to the binary analyser and is done there already. Taken literally it would test the "
    r"*estimated* fraction against 1 and print 0 nearly always. And $\epsilon, \delta \in (0, 1]$: at 0 no $p$ is "
    r"defined.",
    basis=INSTANCE,
    severity=Severity.ACCURACY,
)
def twice() -> Seen:
    n, k = 2000, 1500
    law, once = binomial(n, 0.2), errors(n, 400.0, k) + k
    again = np.where(once / n > 1.0, once - 0.8 * n, 0.0)
    means = [float((law * estimate).sum()) for estimate in (once, again)]
    return corrected(
        abs(means[1] - k) < 1.0,
        abs(means[0] - k) < 1.0,
        f"1,500 of 2,000 people in a bin, p = 0.8: thresholded once the estimate is {means[0]:,.1f} on average, "
        f"twice {means[1]:.1f}",
    )
