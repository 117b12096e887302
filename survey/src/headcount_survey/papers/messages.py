"""Slips in the paper on multiple anonymous messages."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from headcount.privacy import laws as big
from headcount.privacy.pair import Pair
from headcount.privacy.product import two_cells
from headcount_survey.notes import binomial as lemma
from headcount_survey.notes.laws import binomial, mass_ratio, ratios, smoothness
from headcount_survey.statement import Rows, Seen, Severity, certified, corrected, proved
from headcount_survey.study import Verdict

MESSAGES = "Ghazi, Golowich, Kumar, Pagh and Velingker, On the power of multiple anonymous messages (1908.11358)"
FIX = Verdict.CORRECTED

row = Rows(MESSAGES)


@row(
    "P1.1",
    "The ratio upwards",
    "appendix, equation (99)",
    r"On the good interval the ratio of masses is at most $(1+\alpha)^{k'}$ for $k' > 0$.",
    FIX,
    r"$\left(\frac{1+\alpha}{1-\alpha\gamma/(1-\gamma)}\right)^{k'}$, which is all that the lemma needs (S1.7).",
    "smooth-binomial",
    basis=proved("Q6"),
    severity=Severity.PROOF,
)
def upwards() -> Seen:
    cases = [(n, g, a) for n, g, a in lemma.GRID if a * g * n >= 2.0]
    found = [(lemma.worst_ratio(n, g, a, 1), a, g) for n, g, a in cases]
    broken = sum(r > lemma.printed(a, g) for r, a, g in found)
    return corrected(
        broken == 0,
        all(r <= lemma.mended(a, g) * (1 + 1e-12) for r, a, g in found),
        f"{broken} of {len(cases)} laws exceed it, none the corrected bound",
    )


@row(
    "P1.2",
    "One factor too many",
    "appendix, equation (100)",
    r"For $k' < 0$ the product in the denominator runs from $y$ down to $y - \lvert k'\rvert$.",
    FIX,
    r"Down to $y - \lvert k'\rvert + 1$: $\lvert k'\rvert$ factors (S1.6).",
    basis=proved("S1.6"),
    severity=Severity.WORDING,
)
def factors() -> Seen:
    n, g, y, k = 30, Fraction(1, 3), 12, 3
    exact = mass_ratio(n, g, y, -k)
    top = math.prod(n - y + i for i in range(1, k + 1)) * (g / (1 - g)) ** k
    printed, ought = (top / math.prod(y - i for i in range(last)) for last in (k + 1, k))
    return corrected(
        exact == printed,
        exact == ought,
        f"n = 30, gamma = 1/3, y = 12, k' = -3: the ratio is {float(exact):.3f}, as printed {float(printed):.3f}",
    )


@row(
    "P1.3",
    "Shifts by nothing",
    "definition 4.2",
    r"Smoothness is asked for every $k'$ from $-k$ to $k$.",
    FIX,
    r"For $0 < \lvert k'\rvert \le k$: at $k' = 0$ no law qualifies (S1.2).",
    basis=proved("S1.2"),
    severity=Severity.WORDING,
)
def by_nothing() -> Seen:
    law = binomial(200, 0.5)
    zero = float(law[ratios(law, 0) >= 1.0].sum())
    return corrected(
        zero <= 0.5,
        smoothness(law, 1.0, 1) < 1e-6,
        f"at k' = 0 delta would be {zero:.0f}; otherwise it is {smoothness(law, 1.0, 1):.0e}",
    )


@row(
    "P1.4",
    "The good interval for shifts downwards",
    "proof of lemma 4.12",
    r"The good interval is $[(1-\alpha)\gamma n + k', (1+\alpha)\gamma n - k']$, with the signed $k'$.",
    FIX,
    r"With $\lvert k'\rvert$ or $k$: for $k' < 0$ the interval as written is too wide, and the ratio exceeds the "
    r"bound in it.",
    basis=proved("Q6 with $k$; with the signed shift by the case below"),
    severity=Severity.PROOF,
)
def signed() -> Seen:
    n, g, a, k = 200, 0.5, 0.5, -20
    y, found = np.arange(n + 1), ratios(binomial(n, g), k)
    bound = ((1 + a) / (1 - a)) ** abs(k)
    printed, ought = (float(found[(y >= (1 - a) * n * g + s) & (y <= (1 + a) * n * g - s)].max()) for s in (k, -k))
    return corrected(
        printed <= bound,
        ought <= bound,
        f"n = 200, gamma = alpha = 1/2, k' = -20: the ratio reaches {printed / bound:.1e} times the bound; with k = "
        f"20 {ought / bound:.1e}",
    )


@row(
    "P2.1",
    "How many blankets the Hadamard oracle needs",
    "lemma 4.4",
    r"$\rho = 36\ln(1/\delta)/\epsilon^2$ random tuples from each user suffice, by a Chernoff bound with deviation "
    r"$\eta = \epsilon/6$.",
    FIX,
    r"That step gives $e^{-\eta^2\rho/3} = \delta^{1/3}$. As proved, $\rho \ge 108\ln(2/\delta)/\epsilon^2$; "
    r"computed, the stated $\rho$ is ample.",
    basis=certified("one item each among very many people, at $(1, 10^{-6})$"),
    severity=Severity.PROOF,
)
def blankets() -> Seen:
    delta, rho = 1e-6, 36 * math.log(1e6)
    step, ought = math.exp(-rho / 36 / 3), 2 * math.exp(-(108 * math.log(2e6)) / 36 / 3)
    exact = two_cells(Pair.shifted(big.poisson(rho))).delta(1.0)  # k = 1, many people: two Poisson cells
    return corrected(
        step <= delta * 1.001,
        ought <= delta * 1.001 and exact <= delta,
        f"(1, 1e-6): the step proves {step:.2f}; the exact delta at the stated rho = {rho:.0f} is below "
        f"{max(exact, 1e-30):.0e}",
    )


@row(
    "P2.2",
    "Sensitivity of the count-min sketch",
    "lemma 4.10",
    r"One user with $k$ items changes the sketch by $k\tau$ in all.",
    FIX,
    r"Replacing the items changes it by up to $2k\tau$: $\tau$ cells lose and $\tau$ gain for each. The proof then "
    r"needs $360k^2\tau^2\ln(4\tau k/\delta)/\epsilon^2$; the stated 90 is numerically ample.",
    basis=proved(r"for each of $k$ items $\tau$ cells lose one and $\tau$ others gain one"),
    severity=Severity.PROOF,
)
def sketch() -> Seen:
    tau, size = 3, 101
    cells = [[(t, ((5 * t + 3) * item + t) % size) for t in range(tau)] for item in range(40)]
    moved = max(len(set(a) ^ set(b)) for a, b in itertools.combinations(cells, 2))
    exact = two_cells(Pair.shifted(big.poisson(90 * math.log(2e6)))).delta(1.0)  # one row, many people
    return corrected(
        moved <= tau,
        moved == 2 * tau and exact <= 1e-6,
        f"3 rows, one item each, 40 items: a replaced one changes up to {moved} cells; the stated noise has delta "
        f"below {max(exact, 1e-30):.0e} for 1e-6 in one row",
    )


@row(
    "P2.3",
    "Count-min never underestimates",
    "lemma 4.8",
    r"The estimate is at least the true count.",
    FIX,
    r"Not after $\gamma n$ has been subtracted, as the analyser does: it underestimates whenever the noise is below "
    r"its mean in some row.",
    basis=proved("the noise of some row may lie below its mean"),
    severity=Severity.ACCURACY,
)
def underestimates() -> Seen:
    law, mean = binomial(1000, 0.05), 50.0
    at_least = float(law[50:].sum()) ** 3  # in all three rows
    return corrected(
        at_least >= 1.0,
        0.5 < 1 - at_least < 1 and mean == 50.0,
        f"1,000 people, gamma = 0.05, three rows: too low with chance {1 - at_least:.2f}",
    )


@row(
    "P2.4",
    "Messages of the count-min sketch",
    "lemma 4.9",
    r"A user with items $S$ sends $\lvert S\rvert + O(\gamma s\tau)$ messages.",
    FIX,
    r"$\tau\lvert S\rvert + \gamma s\tau$ on average: every item is sent once for each of $\tau$ rows.",
    basis=proved("linearity: every item is sent once for each row"),
    severity=Severity.ACCURACY,
)
def rows_sent() -> Seen:
    tau, size, gamma, items = 8, 64, 1e-6, 1
    sent = sum(1 for _ in itertools.product(range(items), range(tau))) + gamma * size * tau
    return corrected(
        sent <= items + 2 * gamma * size * tau,
        abs(sent - tau * items - gamma * size * tau) < 1e-12,
        f"8 rows, hardly any noise: {sent:.3f} messages for one item",
    )
