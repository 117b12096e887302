"""Protocols that are right among few people, or with little noise, and wrong beyond: the suite sees that."""

from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from asymmetric import FEW, AsymmetricResponse, Worst

from headcount.audit.size_checks import (
    the_certificate_says_what_is_released,
    the_claim_holds_at_size,
    what_is_called_pure_is,
)
from headcount.core.crowd import Crowd
from headcount.core.exact import WHOLE
from headcount.privacy.tables import AddNoise
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.central.laplace import Laplace
from headcount.testing import CHECKS, Nonconforming, conforms
from stress import some


class CrowdsCountTenfold(AsymmetricResponse):
    """Accounted as if there were ten times as many people, from 50 on."""

    def view(self, honest):
        return super().view(honest if honest < FEW else 10 * honest)


class OneDatabaseOnly(AsymmetricResponse):
    """Accounted for others who all hold the first value, from 50 people on."""

    def view(self, honest):
        return super().view(honest) if honest < FEW else Worst((self._pair(0, honest - 1),))


class CalledABound(OneDatabaseOnly):
    """A loss that is called a bound must be one."""

    def view(self, honest):
        return Worst(super().view(honest).pairs, "bound")


class NotProvable(CrowdsCountTenfold):
    """Whoever says that no proof is known must not be refuted all the same."""

    provable = False


class QuieterAboveAScale(Geometric):
    """Noise 5% too small for scales above 0.6."""

    def released(self):
        return AddNoise(self.rate * Fraction(100, 95) if self.scale > 0.6 else self.rate)


class HalfTheNoiseOnManyLevels(Laplace):
    """Noise for twice the epsilon with more than 4 levels."""

    def released(self):
        rounded = super().released()
        return rounded if self.levels <= 4 else replace(rounded, noise=AddNoise(2 * self.rate))

    @classmethod
    def tinies(cls):
        return (cls(crowd=Crowd(6), scale=0.5, levels=4),)


@dataclass(frozen=True)
class Cut(AddNoise):
    """Noise whose law ends where its mass falls below 4e-25."""

    def law(self, total):
        return {out: part for out, part in super().law(total).items() if part > 4e-25 * WHOLE}


class PureButForATail(Geometric):
    """Called pure, and cut."""

    def released(self):
        return Cut(self.rate)


TWINS = [
    CrowdsCountTenfold, OneDatabaseOnly, CalledABound, NotProvable, QuieterAboveAScale, HalfTheNoiseOnManyLevels,
    PureButForATail,
]  # fmt: skip
ONE_OF_EACH = (CrowdsCountTenfold, QuieterAboveAScale, HalfTheNoiseOnManyLevels, PureButForATail)  # kind of protocol
BEYOND = {the_claim_holds_at_size, what_is_called_pure_is, the_certificate_says_what_is_released}  # to the last mass


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_the_suite_catches(twin):
    with pytest.raises(Nonconforming):
        conforms(twin)


@pytest.mark.parametrize("twin", some(TWINS, lambda twin: twin in ONE_OF_EACH), ids=lambda twin: twin.__name__)
def test_and_nothing_is_wrong_with_it_where_it_is_tiny(twin):
    for check in CHECKS:
        if check not in BEYOND and "pickling" not in check.__name__ and "calibration" not in check.__name__:
            check(next(iter(twin.tinies())))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_sound_one_conforms(check):
    check(AsymmetricResponse.tiny())
