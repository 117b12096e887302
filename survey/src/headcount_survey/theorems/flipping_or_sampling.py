"""Shuffled randomised response and sample-and-threshold are not one mechanism in two words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import ClassVar

from headcount.figures.axis import Axis
from headcount.figures.lines import Line, Panel, lines
from headcount.planner.selection import Progress
from headcount_survey.study import Verdict
from headcount_survey.theorems.claim import Case, Checked, Claim, Claims, Form, shown
from headcount_survey.theorems.few_people import HALF, Flipping, Masses, Sampling, binomial, distance, padded
from headcount_survey.theorems.views import Randomiser

TENTHS = tuple(Fraction(i, 10) for i in range(1, 10))


def closest(flipping: Flipping) -> Case:
    """The rate and threshold of the nearest laws, for the worst number of ones; equal is 0."""
    n = flipping.people
    laws = [flipping.law(k) for k in range(n + 1)]
    far = {
        s: max(distance(law, s.law(k)) for k, law in enumerate(laws))
        for s in (Sampling(rate, threshold) for rate in (*TENTHS, Fraction(1)) for threshold in range(1, n + 1))
    }
    best = min(far, key=lambda s: far[s])
    return Case(f"{flipping}; {best}", far[best], 0)


def ruled_out(sampling: Sampling, people: int) -> Case:
    """The outcomes that one more one makes possible; an epsilon-private view gives none."""
    pairs = pairwise([sampling.law(k) for k in range(people + 1)])
    fresh = sum(1 for a, b in pairs for x, y in zip(padded(a, len(b)), b, strict=True) if y and not x)
    return Case(f"{sampling}, {people} people", fresh, 0)


def told_apart(flipping: Flipping, sampling: Sampling) -> Iterator[Case]:
    """How far flipping tells k ones from k + 1, against sampling. Post-processing tells no more."""
    for k in range(flipping.people):
        left, right = (distance(one.law(k), one.law(k + 1)) for one in (flipping, sampling))
        yield Case(f"{flipping}; {sampling}, {k} or {k + 1} ones", left, right)


def bits(most: int) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
    """All answers and all coins of crowds of up to this size."""
    for n in range(1, most + 1):
        for x, z in product(product((0, 1), repeat=n), repeat=2):
            yield f"x = {x}, z = {z}", x, z


def complement(x: Sequence[int], z: Sequence[int], *, both: bool) -> int:
    """How far sum(1 - z x) is from 2n - sum(x) - sum(z), with neither counted once."""
    product_ = sum(1 - a * b for a, b in zip(x, z, strict=True))
    neither = sum((1 - a) * (1 - b) for a, b in zip(x, z, strict=True))
    return abs(product_ - (2 * len(x) - sum(x) - sum(z)) + (neither if both else 0))


def rewritten(most: int, share: Fraction) -> Iterator[Case]:
    """Wherever sum(z) <= share k + n - k: the sampled ones against share k, as in the event."""
    for at, x, z in bits(most):
        k = sum(x)
        if sum(z) <= share * k + len(x) - k:
            yield Case(at, sum(a * b for a, b in zip(x, z, strict=True)), share * k)


class FlippingOrSampling(Checked):
    name: ClassVar[str] = "flipping-or-sampling"
    question: ClassVar[str] = "Is shuffled randomised response the same thing as sample-and-threshold?"
    source: ClassVar[str] = "the notes: both algorithms are equivalent, and the event E2 looks like a one-sided E1"
    statement: ClassVar[str] = (
        "At no fixed threshold are they equivalent, and neither can be made from what the other "
        "shows; only as the threshold and the crowd grow do both tend to a count with Poisson "
        "noise, above the threshold (`sampling-as-noise`). Without delta, flipping has a finite "
        "epsilon and sampling has none; below its threshold sampling shows nothing, and flipping "
        "does. For bits x and z, sum(1 - z x) = 2n - sum(x) - sum(z) - sum((1 - x)(1 - z)). In "
        "common they have that flipping shows a sample of the truth too, hidden among coins, and "
        "that both likelihood ratios grow with the count that is seen."
    )
    verdict: ClassVar[Verdict] = Verdict.FALSE
    draws: ClassVar[bool] = True

    def claims(self, quick: bool, watch: Progress) -> Claims:
        most = 4 if quick else 6
        chances = (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5))
        flips = [Flipping(n, flip) for n in range(2, most + 1) for flip in chances]
        samples = [Sampling(rate, t) for rate in (Fraction(1, 10), HALF, Fraction(9, 10)) for t in range(1, 4)]
        nobody = [(f, f.law(0)) for f in flips]
        each = [(f, k) for f in flips for k in range(f.people + 1)]
        people = 4 if quick else 5
        apart = [case for f in flips for s in samples for case in told_apart(f, s)]
        return {
            "common": Claim.over(
                "what flipping shows is a sample of the truth, at the rate 1 - 2 flip, and coins of the others",
                (Case(f"{f}, {k} ones", distance(f.law(k), f.by_sampling(k)), 0) for f, k in each),
            ),
            "growing": Claim.over("either likelihood ratio grows with the count", _ratios(flips, samples, most)),
            "finite": Claim.over(
                "flipping: the largest ratio is (1 - flip) / flip",
                (Case(str(f), abs(Fraction(_sent(f).factor(f.people)) - (1 - f.flip) / f.flip), 0) for f in flips),
            ),
            "steady": Claim.over(
                "flipping: the error does not depend on the data",
                (Case(f"{f}, {k} ones", abs(f.variance(k) - f.variance(0)), 0) for f, k in each),
            ),
            "growing-error": Claim.over(
                "sampling: the variance is k (1 - rate) / rate",
                (Case(f"{s}, {k} ones", abs(s.variance(k) - k / s.rate + k), 0) for s in samples for k in range(9)),
            ),
            "nothing": Claim.over(
                "sampling: nobody's ones are reported as 0", (Case(str(s), 1 - s.law(0)[0], 0) for s in samples)
            ),
            "algebra": Claim.over(
                "sum(1 - z x) = 2n - sum(x) - sum(z) - sum((1 - x)(1 - z))",
                (Case(at, complement(x, z, both=True), 0) for at, x, z in bits(people)),
            ),
            "same-law": Claim.over(
                "some rate and threshold show what flipping shows", map(closest, watch(flips)), Form.NOTES
            ),
            "made-from-flipping": Claim.over(
                "sampling makes nothing possible that was not", (ruled_out(s, 6) for s in samples), Form.NOTES
            ),
            "made-from-sampling": Claim.over(
                "sampling tells neighbours apart at least as well as flipping", apart, Form.NOTES
            ),
            "nobody": Claim.over(
                "flipping: nobody's ones are seen as 0", (Case(str(f), 1 - law[0], 0) for f, law in nobody), Form.NOTES
            ),
            "algebra-written": Claim.over(
                "sum(1 - z x) = 2n - sum(x) - sum(z)",
                (Case(at, complement(x, z, both=False), 0) for at, x, z in bits(people)),
                Form.NOTES,
            ),
            "event-written": Claim.over(
                "sum(z) <= tau k p + n - k means that at most tau k p ones are sampled, tau p = 1/2",
                rewritten(people, HALF),
                Form.NOTES,
            ),
        }

    def answer(self, claims: Claims) -> str:
        near, nobody = claims["same-law"], claims["nobody"].worst
        three = [complement(x, z, both=False) for _, x, z in bits(3) if len(x) == 3]
        blind = claims["made-from-sampling"]
        return (
            "If nobody holds a one, sampling reports 0 for certain and flipping something else "
            f"with a chance of up to {shown(nobody.left)} ({nobody.at}). In {near.fails} of "
            f"{near.cases} crowds no rate and threshold show what flipping shows; the nearest are "
            f"up to {shown(near.worst.left)} apart in total variation. No processing helps: "
            "sampling makes outcomes possible that flipping's finite epsilon forbids, and shows "
            f"less than flipping in {blind.fails} of {blind.cases} pairs of crowds. The algebra "
            "that was to connect the two events counts twice whoever neither holds a one nor is "
            f"sampled, and fails for {sum(map(bool, three))} of the {len(three)} answers and coins "
            "of three people. What they share is a sample of the truth: flipping hides it among "
            "coins, sampling behind a threshold."
        )

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        n, flipping, sampling = 20, Flipping(20, Fraction(1, 4)), Sampling(HALF, 4)
        panels = []
        for ones in (0, 10):
            curves = []
            for label, law in (("flipping", flipping.law(ones)), ("sampling", sampling.law(ones))):
                curves.append(Line(label, [(v, float(m)) for v, m in enumerate(padded(law, n + 1))], dots=True))
            holders = "nobody holds a one" if not ones else f"{ones} of {n} hold a one"
            panels.append(Panel(curves, Axis("ones that are seen"), Axis("chance"), holders))
        title = "If nobody holds a one, sampling shows nothing and flipping shows noise"
        text = "Bits flipped with chance 1/4; ones sampled with chance 1/2 and shown from 4 on"
        return lines(panels, path, title=title, subtitle=text, theme=theme)


def _sent(flipping: Flipping) -> Randomiser:
    p, q = flipping.flip.numerator, flipping.flip.denominator
    return Randomiser.single([[q - p, p], [p, q - p]])


def _ratios(flips: list[Flipping], samples: list[Sampling], most: int) -> Iterator[Case]:
    """The likelihood ratios of one more one: at each count against the next."""
    for f in flips:
        for k in range(f.people):
            yield from _growing(f"{f}, {k} ones", f.law(k), f.law(k + 1))
    for s in samples:
        for k in range(most):
            fewer, more = (padded(binomial(ones, s.rate), k + 2) for ones in (k, k + 1))
            yield from _growing(f"{s}, {k} ones", fewer[: k + 1], more[: k + 1])


def _growing(at: str, fewer: Masses, more: Masses) -> Iterator[Case]:
    for a, b in pairwise([y / x for x, y in zip(fewer, more, strict=True)]):
        yield Case(at, a, b)
