"""Every check on every protocol of the catalogue, with no exception by name."""

import pytest

from headcount.protocols import CATALOGUE
from headcount.testing import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("cls", CATALOGUE, ids=lambda cls: cls.name)
def test_conformance(cls, check):
    check(cls.tiny())
