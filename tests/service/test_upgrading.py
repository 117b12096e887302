"""Parties of earlier versions, started by this one: their tables are brought up to date and nothing is lost."""

import json

import earlier
import pytest
from rig import Collection, counted

from headcount_service.store.database import one
from headcount_service.store.schema import _head, is_current

VERSIONS = sorted(earlier.HERE.glob("*.json"))


@pytest.fixture(params=VERSIONS, ids=lambda path: path.stem)
def left(request, folder):
    content = json.loads(request.param.read_text())
    return content, earlier.restored(content, folder)


def test_there_is_an_earlier_version_to_begin_from():
    assert [path.stem for path in VERSIONS][:1] == ["0.2.0"]


def test_a_party_of_an_earlier_version_is_brought_up_to_date_when_it_starts(left):
    content, rig = left
    with rig.opened() as parties:
        for role, opened in parties.opened.items():
            assert is_current(opened.database, role)
            with opened.database.reading() as connection:
                found = one(connection, "SELECT version_num FROM schema_version")["version_num"]
            assert found == _head(role)
        collection = Collection.from_json(content["offer"]["collection"])
        told = json.loads(content["release"])
        again = parties.told("analyser", "POST", f"/v1/collections/{told['collection'][:32]}/batches/1/release")
        assert again == told, "what was released is the same to the byte, and is not charged again"
        ledger = parties.analyser.ledger("people")
        assert (ledger.questions, ledger.spent) == (1, 0.25)
        parties.reported(collection, 2, 2, 3)
        parties.clock.now += 10**6
        parties.batches.advance()
        released = parties.release(collection)
        assert released.status == 200, released
        assert counted(collection, released.json)[2:4] == [2, 1]
