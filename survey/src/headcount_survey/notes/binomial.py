"""The binomial law is smooth: lemma 3, its proof, and the constant five."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from headcount_survey.notes import SEPARATING
from headcount_survey.notes.laws import binomial, mass_ratio, ratios, smoothness, tail
from headcount_survey.statement import Rows, Seen, Severity, corrected, holds, proved
from headcount_survey.study import Verdict

row = Rows(SEPARATING)

GRID = [(n, g, a) for n in (20, 60, 200, 1000) for g in (0.05, 0.2, 0.5) for a in (0.1, 0.3, 0.5, 0.7, 0.9)]


def tails(mean: float, alpha: float) -> float:
    """The lemma's delta."""
    return math.exp(-(alpha**2) * mean / 8.0) + math.exp(-(alpha**2) * mean / (8.0 + 2.0 * alpha))


def interval(n: int, gamma: float, alpha: float, k: int) -> tuple[float, float]:
    """The proof's good interval G."""
    return (1.0 - alpha) * n * gamma + k, (1.0 + alpha) * n * gamma - k


def worst_ratio(n: int, gamma: float, alpha: float, shift: int) -> float:
    """The largest ratio of masses on G, for k as large as this shift."""
    low, high = interval(n, gamma, alpha, abs(shift))
    y = np.arange(n + 1)
    inside = (y >= low - 1e-9) & (y <= high + 1e-9)
    return float(ratios(binomial(n, gamma), shift)[inside].max(initial=0.0))


def printed(alpha: float, _gamma: float) -> float:
    """The bound on a factor as it is printed, for shifts upwards."""
    return 1.0 + alpha


def mended(alpha: float, gamma: float) -> float:
    """The bound that each factor does obey."""
    return (1.0 + alpha) / (1.0 - alpha * gamma / (1.0 - gamma))


@row(
    "S1.1",
    "Lemma 3: the binomial law is smooth",
    "lemma 3, both versions",
    r"For $\gamma \le 1/2$, $\alpha \le 1$ and $k \le \alpha\gamma/2$, $\mathrm{Bin}(n, \gamma)$ is $(\epsilon, "
    r"\delta, k)$-smooth with $\epsilon = \ln\frac{1+\alpha}{1-\alpha}$ and $\delta = e^{-\alpha^2\gamma n/8} + "
    r"e^{-\alpha^2\gamma n/(8+2\alpha)}$.",
    Verdict.CORRECTED,
    r"$k \le \alpha\gamma n/2$. Without $n$ the condition admits no whole $k \ge 1$, since $\alpha\gamma/2 \le "
    r"1/4$. (The proof in the second version has $n$.)",
    "smooth-binomial",
    basis=proved("Q6 bounds the ratio on $G$, and S1.16 the chance of leaving $G$"),
    severity=Severity.WORDING,
)
def lemma() -> Seen:
    cases = [(n, g, a, int(a * g * n / 2.0)) for n, g, a in GRID if a * g * n >= 2.0]
    worst = max(
        smoothness(binomial(n, g), math.log((1 + a) / (1 - a)), min(k, 12)) / tails(n * g, a) for n, g, a, k in cases
    )
    return corrected(
        max(a * g / 2.0 for _, g, a in GRID) >= 1.0,
        worst <= 1.0,
        f"alpha gamma / 2 is at most 1/4; with n, {len(cases)} laws are all smooth, the tightest at {worst:.2f} of "
        f"the lemma's delta",
    )


@row(
    "S1.5",
    "Which interval contains which",
    "proof of lemma 3, second version",
    r"If $k \le \alpha\mu/2$, then $G = [(1-\alpha)\mu + k, (1+\alpha)\mu - k]$ lies inside $[(1-\alpha/2)\mu, "
    r"(1+\alpha/2)\mu]$; they 'doubled the range of $G$'.",
    Verdict.CORRECTED,
    r"$G$ *contains* that interval, which is half as wide as $[(1-\alpha)\mu, (1+\alpha)\mu]$: only so does $Y "
    r"\notin G$ imply that $Y$ lies in the Chernoff tails. (The note on binary sums has it right.)",
    basis=proved(r"$(1-\alpha)\mu + k \le (1-\alpha/2)\mu$ says $k \le \alpha\mu/2$, and so does the other end"),
    severity=Severity.PROOF,
)
def containment() -> Seen:
    cases = [(n, g, a, k) for n, g, a in GRID for k in range(1, int(a * g * n / 2.0) + 1)]
    inner = [((1 - a / 2) * n * g, (1 + a / 2) * n * g) for n, g, a, _ in cases]
    good = [interval(n, g, a, k) for n, g, a, k in cases]
    within = sum(i[0] <= o[0] and o[1] <= i[1] for i, o in zip(inner, good, strict=True))
    around = sum(o[0] <= i[0] + 1e-9 and i[1] <= o[1] + 1e-9 for i, o in zip(inner, good, strict=True))
    return corrected(
        within == len(cases),
        around == len(cases),
        f"{len(cases)} cases: G contains the interval in {around}, lies inside it in {within}",
    )


@row(
    "S1.16",
    "The two tails",
    "proof of lemma 3, second version; both versions in the theorem's proof; note on binary sums",
    r"With $\mu = n\gamma$: $P[Y \ge (1+\alpha/2)\mu] \le e^{-\alpha^2\mu/(8+2\alpha)}$ and $P[Y \le "
    r"(1-\alpha/2)\mu] \le e^{-\alpha^2\mu/8}$.",
    more="smooth-binomial",
    basis=proved(r"Chernoff's bounds $e^{-a^2\mu/(2+a)}$ and $e^{-a^2\mu/2}$ at $a = \alpha/2$"),
)
def chernoff() -> Seen:
    upper = [tail(n, g, (1 + a / 2) * n * g) / math.exp(-a * a * n * g / (8 + 2 * a)) for n, g, a in GRID]
    lower = [tail(n, 1 - g, n - (1 - a / 2) * n * g) / math.exp(-a * a * n * g / 8) for n, g, a in GRID]
    return holds(
        max(upper + lower) <= 1.0,
        f"{2 * len(GRID)} tails: at most {max(upper):.2f} of the bound above and {max(lower):.2f} below",
    )


@row(
    "S1.17",
    "Splitting by the good event",
    "proof of lemma 3, second version",
    r"The chance that the ratio is large is at most that given $Y \in G$, plus that of $Y \notin G$; so it remains "
    r"to make the first of them 0.",
    basis=proved(r"split by whether $Y \in G$; a conditional chance is no smaller than the joint one"),
)
def split() -> Seen:
    shares = []
    for n, g, a in GRID:
        law, (low, high) = binomial(n, g), interval(n, g, a, 1)
        large, y = ratios(law, 1) >= (1 + a) / (1 - a), np.arange(n + 1)
        good = (y >= low) & (y <= high)
        given = float(law[large & good].sum() / law[good].sum()) if good.any() else 1.0
        shares.append(float(law[large].sum()) / (given + float(law[~good].sum())))
    return holds(max(shares) <= 1.0, f"{len(shares)} laws: the left side is at most {max(shares):.3f} of the right")


@row(
    "S1.6",
    "The ratio of two masses",
    "proof of lemma 3, second version",
    r"$D(y)/D(y+k') = \frac{(1-\gamma)^{k'}}{y^{k'}} \cdot \frac{(y+1)\cdots(y+k')}{(n-y)\cdots(n-y-k'+1)}$ for $k' "
    r"\ge 0$, and for $k' < 0$ the like with $y(y-1)\cdots(y-\lvert k'\rvert)$ below.",
    Verdict.CORRECTED,
    r"The first factor is $(1-\gamma)^{k'}/\gamma^{k'}$, and its inverse for $k' < 0$, where the product below ends "
    r"at $y - \lvert k'\rvert + 1$: $\lvert k'\rvert$ factors, not one more.",
    basis=proved(r"a step from $y$ to $y+1$ multiplies the mass by $\frac{\gamma}{1-\gamma}\cdot\frac{n-y}{y+1}$"),
    severity=Severity.PROOF,
)
def masses() -> Seen:
    n, g, y = 12, Fraction(1, 4), 5
    up, down = mass_ratio(n, g, y, 2), mass_ratio(n, g, y, -2)
    rise, fall = Fraction((y + 1) * (y + 2), (n - y) * (n - y - 1)), Fraction((n - y + 1) * (n - y + 2), y * (y - 1))
    odds = (1 - g) / g
    noted = ((1 - g) / y) ** 2 * rise, (y / (1 - g)) ** 2 * fall / (y - 2)
    return corrected(
        noted == (up, down),
        (odds**2 * rise, odds**-2 * fall) == (up, down),
        f"n = 12, gamma = 1/4, y = 5, shifts by 2 and -2: the ratios are {up} and {down}; as noted {noted[0]} and "
        f"{noted[1]}",
    )


@row(
    "S1.7",
    "The bound on the ratio, upwards",
    "proof of lemma 3, second version, copied from the paper",
    r"For $y \in G$ and $k' \ge 0$ the ratio is at most $(1+\alpha)^{k'}$, hence at most "
    r"$\left(\frac{1+\alpha}{1-\alpha}\right)^{k'}$.",
    Verdict.CORRECTED,
    r"Each factor is at most $\frac{1+\alpha}{1-\alpha\gamma/(1-\gamma)}$, which is at most "
    r"$\frac{1+\alpha}{1-\alpha}$ because $\gamma \le 1/2$. The bound in the middle is false; the one at the end "
    r"stands.",
    "smooth-binomial",
    basis=proved("Q6"),
    severity=Severity.PROOF,
)
def upwards() -> Seen:
    cases = [(n, g, a) for n, g, a in GRID if a * g * n >= 2.0]
    seen = [(worst_ratio(n, g, a, 1), a, g) for n, g, a in cases]
    broken = sum(r > printed(a, g) * (1 + 1e-12) for r, a, g in seen)
    right = all(r <= mended(a, g) * (1 + 1e-12) <= (1 + a) / (1 - a) * (1 + 2e-12) for r, a, g in seen)
    example = mass_ratio(200, Fraction(1, 2), 149, 1)
    return corrected(
        broken == 0,
        right and example > Fraction(3, 2),
        f"n = 200, gamma = alpha = 1/2, y = 149: the ratio is {float(example):.2f} > 1.5; {broken} of {len(cases)} "
        f"cases exceed it, none the corrected bound",
    )


@row(
    "S1.18",
    "The bound on the ratio, downwards, and the good event",
    "proof of lemma 3, second version; note on binary sums, the event E1",
    r"For $y \in G$ and $k' \le 0$ the ratio is at most $\left(\frac{1+\alpha}{1-\alpha}\right)^{\lvert k'\rvert}$; "
    r"so the good event $E_1$ (the sum of coins falls into $G$) makes a larger ratio than $e^{\lvert "
    r"k'\rvert\epsilon}$ impossible.",
    more="smooth-binomial",
    basis=proved("Q6"),
)
def downwards() -> Seen:
    cases = [(n, g, a, s) for n, g, a in GRID for s in (-1, -2, -4, 1, 2, 4) if a * g * n >= 2.0 * abs(s)]
    worst = max(worst_ratio(n, g, a, s) / ((1 + a) / (1 - a)) ** abs(s) for n, g, a, s in cases)
    return holds(
        worst <= 1.0 + 1e-12,
        f"{len(cases)} laws and shifts up and down: on G the ratio is at most {worst:.3f} of the bound",
    )
