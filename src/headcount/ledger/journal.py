"""A ledger in a file: a line for the budget, then one for each charge, each with the hash of all before it.

A charge is checked, appended and flushed to the disk under one lock, across threads and processes, and only then
acknowledged. A process that dies in between leaves at most a line without an end, which is cut off by the next charge:
nothing was drawn for it. A line that has its end but not its hash was changed by somebody, and is refused.

Hashes find whoever edits, removes or moves lines, unless they write all of the rest anew or cut off the end. Against
that there is the witness.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from headcount.core.budget import Budget, Neighbours
from headcount.core.canonical import canonical
from headcount.core.errors import BadArgument, Damaged, Refused, Unsupported
from headcount.core.protocol import Protocol
from headcount.ledger import files
from headcount.ledger.book import Book, Page
from headcount.ledger.chain import complete, opened, sealed
from headcount.ledger.charge import Charge, as_text, described
from headcount.ledger.spending import Allowance
from headcount.ledger.witness import Witness

FORMAT = "headcount-ledger/1"


@dataclass(frozen=True, eq=False)
class Known:
    """What has been read and checked so far. It is replaced, never changed: threads and forks may share it."""

    page: Page
    hashes: tuple[str, ...]
    size: int
    digest: bytes


class Journal(Book):
    """The book in a file."""

    @staticmethod
    def create(path: Path, allowance: Allowance) -> None:
        first = {
            "format": FORMAT,
            "id": secrets.token_hex(16),
            "epsilon": as_text(allowance.epsilon),
            "delta": as_text(allowance.delta),
            "neighbours": str(allowance.neighbours),
        }
        files.create(path, sealed(first, "")[0])

    def __init__(self, path: Path, witness: Path | None = None) -> None:
        self.path, self._witness = path, Witness(witness) if witness is not None else None
        with files.locked(path, alone=False) as file:
            content = files.whole_file(file)
        lines = complete(content)
        if not lines:
            raise Damaged(f"{path} has no first line, which would say what the budget is; begin another ledger")
        first, seal = opened(lines[0], "", f"{path}, line 1,")
        self.id, allowance = _budget(first, path)
        super().__init__(allowance)
        self._questions: dict[tuple[str, str], Protocol] = {}
        size = len(lines[0]) + 1
        self._known = Known(self.blank(), (seal,), size, sha256(content[:size]).digest())
        self.page()

    def page(self) -> Page:
        with files.locked(self.path, alone=False) as file:
            return self._grown(files.whole_file(file)).page

    def turn(self, turned: Callable[[Page], Page]) -> None:
        with files.locked(self.path, alone=True) as file:
            content = files.whole_file(file)
            known = self._grown(content)
            page = turned(known.page)
            self._readable(page, len(known.page.charges))
            if len(content) > known.size:
                os.ftruncate(file, known.size)
            lines, hashes = b"", list(known.hashes)
            for charge in page.charges[len(known.page.charges) :]:
                line, seal = sealed(charge.to_json(), hashes[-1])
                lines += line
                hashes.append(seal)
            files.append(file, lines)
            whole = content[: known.size] + lines
            self._known = Known(page, tuple(hashes), len(whole), sha256(whole).digest())
            self._show()

    def show_witness(self) -> None:
        """Tells the witness, if it is behind, how far the ledger has come."""
        if self._witness is not None:
            with files.locked(self.path, alone=True) as file:
                self._grown(files.whole_file(file))
                self._show()

    def _show(self) -> None:
        if self._witness is not None:
            self._witness.note(self.id, self._known.hashes)

    def _grown(self, content: bytes) -> Known:
        """Reads what has been added since, here or elsewhere. Whatever was read before must still be there."""
        known = self._known
        if sha256(content[: known.size]).digest() != known.digest:
            raise Damaged(f"{self.path} was cut or rewritten while it was open; restore it from a copy")
        page, hashes, size = known.page, list(known.hashes), known.size
        for text in complete(content[known.size :]):
            place = f"{self.path}, line {len(hashes) + 1},"
            line, seal = opened(text, hashes[-1], place)
            charge = _charge(line, place)
            loss = self.loss(self._asked(charge, place), charge.wire)
            page = page.and_also(charge, page.spending.and_also(loss, charge.asked))
            hashes.append(seal)
            size += len(text) + 1
            if charge.number != len(page.charges):
                raise Damaged(f"{place} has the number {charge.number}; restore the file from a copy")
        self._known = known = Known(page, tuple(hashes), size, sha256(content[:size]).digest())
        if self._witness is not None:
            self._witness.check(self.id, known.hashes)
        return known

    def _asked(self, charge: Charge, place: str) -> Protocol:
        """The question of a charge, provided that it still means what it meant."""
        key = (canonical(charge.question), charge.plan)
        if key not in self._questions:
            self._questions[key] = self._rebuilt(charge, place)
        return self._questions[key]

    def _rebuilt(self, charge: Charge, place: str) -> Protocol:
        try:
            protocol = charge.protocol
            same = described(charge.question, protocol) == charge.plan
            _ = charge.wire
            if "budget" in charge.question:
                Budget(**charge.question["budget"])
        except (Refused, TypeError, AttributeError) as problem:
            raise Damaged(f"{place} has a question that cannot be read: {problem}") from None
        if not same:
            raise Damaged(
                f"{place} has a question whose programme this version would not run like that, so its cost is not "
                "known; use the version of headcount that wrote it"
            )
        return protocol

    def _readable(self, page: Page, since: int) -> None:
        """Whoever opens the file next must read the same questions, or they would be lost to them."""
        for charge, loss in zip(page.charges[since:], page.spending.losses[since:], strict=True):
            try:
                same = self.loss(charge.protocol, charge.wire) is loss
            except Refused:
                same = False
            if not same:
                raise Unsupported(
                    f"{charge.question['protocol']} is not as in the catalogue, so that a ledger file cannot keep its "
                    "questions"
                )


def _budget(first: dict[str, Any], path: Path) -> tuple[str, Allowance]:
    if first.get("format") != FORMAT:
        raise BadArgument("ledger", f"{path} is not a file of the format {FORMAT}", "give the path of a ledger")
    try:
        epsilon, delta = Fraction(first["epsilon"]), Fraction(first["delta"])
        return first["id"], Allowance(epsilon, delta, Neighbours.parse(first["neighbours"]))
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        raise Damaged(f"{path} has no budget in its first line; restore it from a copy") from None


def _charge(line: dict[str, Any], place: str) -> Charge:
    try:
        return Charge.from_json(line)
    except (TypeError, KeyError, ValueError, ZeroDivisionError):
        raise Damaged(f"{place} is not a charge; restore the file from a copy") from None
