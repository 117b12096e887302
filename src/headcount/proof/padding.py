r"""Messages that the shuffler adds: a total is seen as $c + Z$, unaffected by what others sent.

The others' messages are added to both sides alike, which is post-processing: the pair is that of
one person alone, and a crowd in which nobody else holds the values shows it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from flint import arb

from headcount.proof.ball_laws import BallLaw
from headcount.proof.claim import Claim, Padding, Proof
from headcount.proof.divergence import NOTHING, BallPair, Bounds, either_order
from headcount.proof.effort import TooLarge, spend
from headcount.proof.expression import VALUE
from headcount.proof.families import changed, of_families, totals_of
from headcount.proof.programme import Emit, Table

MOST_CELLS = 1 << 20


def prove(claim: Claim) -> Proof | None:
    """Proof for one message from everybody, and the shuffler's own besides."""
    padding = claim.release.padding
    if padding is None or claim.summed or claim.values in (None, 1):
        return None
    replaced = claim.neighbours == "replace"
    if claim.report != Emit((VALUE,)):
        return _several(claim, padding, replaced)
    if padding.filled is not None and not (replaced and claim.values == 2 and _fills(padding)):
        return None
    moved = 2 if replaced and padding.filled is None else 1
    pair = cache(lambda: _pair(padding))
    crowds = f"one person changes {moved} of the totals by one"
    # Where only some messages are kept, and there is no third category, others are in both totals
    # and hide a person.
    hidden = padding.table is None and claim.values == moved

    def bounds(epsilon: Fraction) -> Bounds:
        found = either_order(epsilon, pair(), pair().reversed if moved == 2 else NOTHING).among(crowds)
        return found.only_above if hidden else found

    return Proof(bounds, "the shuffler's messages hide one person's, whatever the others sent")


def _several(claim: Claim, padding: Padding, replaced: bool) -> Proof | None:
    """Several messages from everybody, each about a total of another family."""
    fields = totals_of(claim.report)
    if not fields or padding.filled is not None or padding.table is None or claim.values is None:
        return None
    attained = changed(fields, claim.values) or not replaced
    pairs = cache(lambda: of_families(_pair(padding), len(fields), replaced))

    def bounds(epsilon: Fraction) -> Bounds:
        found = pairs().worst(epsilon).among(f"one person changes {len(fields) * (1 + replaced)} totals by one")
        return found if attained else found.only_above

    return Proof(bounds, "the shuffler's messages hide all of one person's, whatever the others sent")


def _fills(padding: Padding) -> bool:
    """Whether the table never says more than there are messages to fill up with."""
    table = padding.table
    return table is not None and table.start >= 0 and table.start + len(table.masses) - 1 <= (padding.filled or 0)


def _pair(padding: Padding) -> BallPair:
    """One total without and with a person's message."""
    if padding.table is not None:
        return BallPair.shifted(_law(padding.table))
    chances = [chance for chance in (padding.keep, padding.more) if chance is not None and 0 < chance < 1]
    if len(chances) < 2:
        raise TooLarge("messages are always kept, never kept, or added without end")
    keep, more = (arb(chance.numerator) / chance.denominator for chance in chances)
    # One more message multiplies the chance of the smallest total by 1 - keep, of all others alike.
    return BallPair([1 - more, more], [(1 - more) * (1 - keep), more * (1 - keep) + keep])


def _law(table: Table) -> BallLaw:
    if len(table.masses) > MOST_CELLS or min(table.masses) < 0:
        raise TooLarge("there are too many messages to go through")
    spend(2 * len(table.masses))
    return BallLaw(table.start, [arb(mass) / table.total for mass in table.masses], arb(0))
