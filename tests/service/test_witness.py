"""A witness that is not there vouches for nothing."""

import pytest

from headcount.errors import Damaged
from headcount.ledger.allowance import Allowance
from headcount.ledger.lines import Copied
from headcount_service.store.account import Account


@pytest.fixture
def account(parties, folder):
    database = parties.analyser.database
    Account.create(database, "crowd", Allowance.of(2.0, 1e-5, "replace"))
    return Account(database, "crowd", folder / "crowd.witness", anew=True)


def test_a_ledger_is_not_opened_without_its_witness(account, folder):
    Account(account.database, "crowd", folder / "crowd.witness")
    (folder / "crowd.witness").unlink()
    with pytest.raises(Damaged, match="missing or empty"):
        Account(account.database, "crowd", folder / "crowd.witness")
    Account(account.database, "crowd", folder / "crowd.witness", anew=True)
    Account(account.database, "crowd", folder / "crowd.witness")


@pytest.mark.parametrize("content", [None, ""])
def test_a_copy_is_not_called_complete_by_a_witness_that_saw_nothing(account, folder, content):
    lines = [line.encode() for line in account.lines()]
    Copied(lines, "the copy", folder / "crowd.witness")
    other = folder / "other.witness"
    if content is not None:
        other.write_text(content)
    with pytest.raises(Damaged, match="missing or empty"):
        Copied(lines, "the copy", other)


def test_a_population_has_its_witness_from_the_beginning(parties, folder):
    parties.endowed()
    assert list((folder / "analyser" / "witness").iterdir())
