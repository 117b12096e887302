"""A signed release: its signature, its consistency with its certificate, and the proof of that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.common.atomic_files import read_text, write_atomically
from headcount.common.canonical import canonical, read_json
from headcount.errors import BadArgument, Forged
from headcount.protocols.base.saved import answer_from_json
from headcount_service.wire.keys import signed_format, verified
from headcount_service.wire.schemas import SCHEMAS
from headcount_service.wire.validation import fits

if TYPE_CHECKING:
    from headcount.answers.estimate import Estimate
    from headcount.proof import Verdict

FORMATS = ("headcount release 1", signed_format("release"))  # 1 is that of version 0.2
PLAIN = re.compile(r"[0-9]{1,400}([/.][0-9]{1,400})?")


@dataclass(frozen=True)
class Released:
    """A release that an analyser has signed.

    Parameters
    ----------
    content : dict
        What was signed.

    Raises
    ------
    errors.Forged
        If it does not bear the signature of the key that it names, or contradicts its certificate.

    Examples
    --------
    >>> release = headcount_service.Released.read("release.json")  # doctest: +SKIP
    >>> release.answer.value  # doctest: +SKIP
    """

    content: dict[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.content, dict) or self.content.get("format") not in FORMATS:
            raise BadArgument("release", "is not one", "give what headcount collection release wrote")
        try:
            verified(self.content, str(self.content.get("analyser", "")), "release")
        except BadArgument:
            raise Forged(
                "release", "does not bear the signature of the key that it names", "do not rely on it"
            ) from None
        try:
            same = fits(self.content, SCHEMAS["Release"]) and self._agrees()
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            same = False
        if not same:
            raise Forged(
                "release", "is not whole, or tells of another guarantee than its certificate", "do not rely on it"
            )

    def _agrees(self) -> bool:
        """Whether answer and certificate are of the same plan and crowd."""
        answer, proof = self.content["estimate"], self.content["certificate"]
        claim, crowd = proof["claim"], proof["crowd"]
        came = self.content["people"] + self.content["added"]
        whole = came if self.content["format"] == FORMATS[0] else self._whole(came, crowd)
        return bool(
            answer["protocol"] == proof["protocol"]
            and answer["model"] == proof["model"]
            and answer["neighbours"] == proof["neighbours"]
            and Fraction(answer["epsilon"]) == _claimed(claim["epsilon"])
            and Fraction(answer["delta"]) == _claimed(claim["delta"])
            and came >= crowd["least"]
            and whole >= crowd["least"] - crowd["corrupt"]
        )

    def _whole(self, came: int, crowd: dict[str, int]) -> int:
        """The release's number of valid reports; -1 if it contradicts itself or the crowd."""
        plausible = max(0, came - self.content["unreadable"])
        same = self.content["plausible"] == plausible and self.content["corrupt"] == crowd["corrupt"]
        return plausible if same and self.content["unreadable"] >= 0 else -1

    @classmethod
    def read(cls, path: str | Path) -> Released:
        """Read what `headcount collection release` wrote.

        Parameters
        ----------
        path : str or Path
            Name of the file.

        Returns
        -------
        Released
        """
        try:
            return cls(read_json(read_text(path, "a release")))
        except BadArgument:
            raise
        except ValueError:
            raise BadArgument(
                "release",
                f"{path} is not JSON that can be read in one way only",
                "give what headcount collection release wrote",
            ) from None

    def save(self, path: str | Path) -> Path:
        """Write it into a file.

        Parameters
        ----------
        path : str or Path
            Name of the file.

        Returns
        -------
        Path
        """
        return write_atomically(path, canonical(self.content) + "\n")

    @property
    def estimate(self) -> dict[str, Any]:
        return dict(self.content["estimate"])

    @property
    def answer(self) -> Estimate:
        """The answer itself, which can be asked further: a distribution for ranges and quantiles, a
        table for its margins. It follows from the totals that were signed.

        Returns
        -------
        Estimate

        Raises
        ------
        errors.BadArgument
            If another version has signed it, which told less or whose protocols are not those of
            this one.
        """
        try:
            return answer_from_json(self.content["estimate"]["released"])
        except BadArgument:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            works = "read what it says under estimate"
            raise BadArgument("release", "is of a version whose answers cannot be asked further", works) from None

    @property
    def analyser(self) -> str:
        """The public key that it was signed with. Compare it with the one that you know."""
        return str(self.content["analyser"])

    def verify(self) -> Verdict:
        """Proves the guarantee again, from the certificate alone."""
        from headcount.proof import verify

        return verify(self.content["certificate"])


def _claimed(text: str) -> Fraction:
    """A number as certificates write it. An exponent would let a few letters make it any length."""
    if not PLAIN.fullmatch(text):
        raise ValueError
    return Fraction(text)
