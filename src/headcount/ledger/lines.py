"""A book of hash-chained lines: first the budget, then a line for each charge and each settlement.

Each line has the hash of all before it. Editing, removing or moving one is detected, unless all of
the rest is rewritten or the end cut off; against that there is the witness.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, Damaged, Refused, Unsupported
from headcount.ledger.allowance import Allowance
from headcount.ledger.book import Book, Page
from headcount.ledger.chain import opened, sealed
from headcount.ledger.charge import Charge, as_text, described
from headcount.ledger.prices import Asked
from headcount.ledger.spending import Spending
from headcount.ledger.witness import Witness
from headcount.privacy.budget import Neighbours
from headcount.protocols.base.protocol import Protocol

FORMAT = "headcount-ledger/2"
SETTLES = "settles"  # on a line of its own: the number of a charge that was reserved, and whose answer was then told
EARLIER = "headcount-ledger/1"  # charged by another rule, which held only if questions were not chosen from answers


def first_line(allowance: Allowance) -> bytes:
    """The line that a ledger with this budget begins with."""
    first = {
        "format": FORMAT,
        "id": secrets.token_hex(16),
        "epsilon": as_text(allowance.epsilon),
        "delta": as_text(allowance.delta),
        "neighbours": str(allowance.neighbours),
    }
    return sealed(first, "")[0]


@dataclass(frozen=True, eq=False)
class ReadSoFar:
    """What has been read and verified so far. It is immutable: threads and forks may share it."""

    page: Page
    hashes: tuple[str, ...]


class Lines(Book):
    """A book that is read from lines, and written by appending some."""

    def __init__(self, first: bytes, place: str, witness: Path | None) -> None:
        line, seal = opened(first, "", f"{place}, line 1,")
        self.place, self.id = place, line.get("id", "")
        super().__init__(_budget(line, place))
        self._witness = Witness(witness) if witness is not None else None
        self._questions: dict[tuple[str, str], Protocol] = {}
        self._earlier = line["format"] == EARLIER
        self._beginning = ReadSoFar(self.blank(), (seal,))

    def _grown(self, read: ReadSoFar, lines: Iterable[bytes]) -> ReadSoFar:
        """The state after these lines."""
        page, hashes = read.page, list(read.hashes)
        for text in lines:
            place = f"{self.place}, line {len(hashes) + 1},"
            line, seal = opened(text, hashes[-1], place)
            hashes.append(seal)
            if SETTLES in line:
                page = _settled(page, line, place)
                continue
            charge = _charge(line, place)
            asked = Asked(self.loss(self._asked(charge, place), charge.wire, charge.budget), charge.budget)
            if charge.number != len(page.charges) + 1:
                raise Damaged(f"{place} has the number {charge.number}", "restore it from a copy")
            after = self._ordered(page, charge, place).and_also(asked)
            page = page.and_also(replace(charge, spent=after.spent), after)
        if self._witness is not None:
            self._witness.check(self.id, tuple(hashes))
        return ReadSoFar(page, tuple(hashes))

    def _ordered(self, page: Page, charge: Charge, place: str) -> Spending:
        """The page at the order that this charge fixes, if it is the first of its rule."""
        fixed = any(earlier.order is not None for earlier in page.charges)
        due = bool(self.allowance.delta) and not fixed and not (self._earlier and charge.order is None)
        if due != (charge.order is not None):
            raise Damaged(
                f"{place} has an order where there is none, or none where it is due", "restore it from a copy"
            )
        return page.spending if charge.order is None else page.spending.at(charge.order)

    def _added(self, read: ReadSoFar, page: Page) -> tuple[list[bytes], ReadSoFar]:
        """The lines that lead to this page, and the state after them."""
        self._readable(page, len(read.page.charges))
        lines, hashes = [], list(read.hashes)
        charged = [charge.to_json() for charge in page.charges[len(read.page.charges) :]]
        for content in (*charged, *({SETTLES: number} for number in page.settled[len(read.page.settled) :])):
            line, seal = sealed(content, hashes[-1])
            lines.append(line)
            hashes.append(seal)
        return lines, ReadSoFar(page, tuple(hashes))

    def _require_witness(self, read: ReadSoFar) -> None:
        """Refuse a witness that lacks this ledger: if it was removed, an old copy could return."""
        if self._witness is not None and self._witness.check(self.id, read.hashes) < 0:
            raise Damaged(
                f"the witness {self._witness.path} of {self.place} is missing or empty",
                "put it back. Only if it is lost for good, and you know that the ledger is the newest, make it anew",
            )

    def _update_witness(self, read: ReadSoFar) -> None:
        """Bring the witness up to date."""
        if self._witness is not None:
            self._witness.note(self.id, read.hashes)

    def _asked(self, charge: Charge, place: str) -> Protocol:
        """The question of a charge, provided that it still has the same meaning."""
        key = (canonical(charge.question), charge.plan)
        if key not in self._questions:
            self._questions[key] = _rebuilt(charge, place)
        return self._questions[key]

    def _readable(self, page: Page, since: int) -> None:
        """Refuse charges that would not be read back as the same questions."""
        for charge, asked in zip(page.charges[since:], page.spending.asked[since:], strict=True):
            try:
                same = self.loss(charge.protocol, charge.wire, charge.budget) is asked.loss
            except Refused:
                same = False
            if not same:
                raise Unsupported(
                    f"{charge.question['protocol']} is not as in the catalogue, so that a ledger cannot keep its "
                    "questions"
                )


class Copied(Lines):
    """Lines received from elsewhere: to read and verify, never to charge."""

    def __init__(self, lines: Sequence[bytes], place: str, witness: Path | None = None) -> None:
        if not lines:
            raise Damaged(f"{place} has no first line, which would say what the budget is")
        super().__init__(lines[0], place, witness)
        self._read = self._grown(self._beginning, lines[1:])
        self._require_witness(self._read)

    def page(self) -> Page:
        return self._read.page

    def turn(self, turned: Callable[[Page], Page]) -> None:
        raise Unsupported("this is a copy of a ledger", "charge it where it is kept")


def _rebuilt(charge: Charge, place: str) -> Protocol:
    try:
        protocol, _, _ = charge.protocol, charge.wire, charge.budget
        same = described(charge.question, protocol) == charge.plan
    except (Refused, TypeError, AttributeError) as problem:
        raise Damaged(f"{place} has a question that cannot be read: {problem}") from None
    if not same:
        raise Damaged(
            f"{place} has a question whose programme this version would not run like that, so its cost is not known",
            "use the version of headcount that wrote it",
        )
    return protocol


def _budget(first: dict[str, Any], place: str) -> Allowance:
    if first.get("format") not in (FORMAT, EARLIER):
        raise BadArgument("ledger", f"{place} is not of the format {FORMAT}", "give the path of a ledger")
    try:
        _ = first["id"]
        return Allowance(Fraction(first["epsilon"]), Fraction(first["delta"]), Neighbours(first["neighbours"]))
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        raise Damaged(f"{place} has no budget in its first line", "restore it from a copy") from None


def _settled(page: Page, line: dict[str, Any], place: str) -> Page:
    if set(line) != {SETTLES} or line[SETTLES] not in page.reserved:
        raise Damaged(f"{place} settles what was not reserved", "restore it from a copy")
    return page.settle(line[SETTLES])


def _charge(line: dict[str, Any], place: str) -> Charge:
    try:
        charge = Charge.from_json(line)
        if charge.order is None or charge.order > 1:
            return charge
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        pass
    raise Damaged(f"{place} is not a charge", "restore it from a copy")
