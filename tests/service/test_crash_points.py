"""A process that dies at any of the named points: whoever goes on finds everything in order."""

import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from processes import Child
from rig import START, WINDOW, Parties, counted, made, plan
from serving import as_it_is

from headcount_service.analyser.duties import Duties
from headcount_service.runtime import crash_points as crash
from headcount_service.runtime.crash_points import POINTS
from headcount_service.shuffler import batches
from headcount_service.shuffler.shuffler import Answer, Shuffler
from headcount_service.store.database import many
from headcount_service.wire.collection import Collection
from stress import some

SERVICE = Path(crash.__file__).parents[1]
SOURCES = [path for path in SERVICE.rglob("*.py") if "lake" not in path.parts]  # a lake has points of its own
DIED = 137
PLAN = plan()


def test_the_list_of_points_is_that_of_the_source():
    found = re.findall(r'\bpoint\("([^"]+)"\)', "".join(path.read_text() for path in SOURCES))
    assert sorted(found) == sorted(POINTS)


def test_a_process_is_told_where_to_die_by_its_environment():
    words = "from headcount_service.runtime.crash_points import point; point('before sealing'); print('alive')"
    for place, code in (("before sealing", DIED), ("after sealing", 0)):
        told = {**os.environ, "HEADCOUNT_CRASH_AT": place}
        assert subprocess.run([sys.executable, "-c", words], env=told, capture_output=True).returncode == code


class Story:
    """A collection whose reports are made. Whoever lives it does what is left to do, and says what is done."""

    def __init__(self, rig, plan=PLAN):
        self.rig, self.acknowledged = rig, set()
        with rig.opened() as parties:
            parties.endowed(delta=10 * plan.budget.delta)
            self.collection = parties.agreed(plan)
            keys = {"shuffler": self.collection.shuffler, "analyser": self.collection.analyser}
            terms = {"shortfall": "purge", "admission": "anyone"}
            self.unread = Collection(plan, "Nobody?", "people", START, WINDOW, **keys, **terms)
            offer = parties.offer(self.collection)
            self.reports = [made(self.collection, offer, bucket) for bucket in range(12)]

    @property
    def left(self):
        """The reports that nobody has acknowledged."""
        return {number: self.reports[number].body for number in {*range(12)} - self.acknowledged}

    def lived(self, die_at=None, prepare=as_it_is):
        """By another process, which may be told to die. Returns its code and the answer that it was given."""
        agreed = [collection.to_json() for collection in (self.collection, self.unread)]
        child = Child(life, self.rig, agreed, self.left, die_at, prepare)
        said = child.said()
        self.acknowledged |= {int(words) for words in said if not words.startswith(b"{")}
        return child.code, [words for words in said if words.startswith(b"{")]


def life(say, rig, agreed, left, die_at, prepare):
    prepare()
    crash.TOLD, batches.PART = die_at, 500
    collection = Collection.from_json(agreed[0])
    with closing(Parties(rig)) as parties:
        parties.shuffler.register(agreed[1], parties.analyser.create(agreed[1]))  # to which nobody reports
        for number, body in left.items():
            if parties.report(collection, 1, body).status == 200:
                say(b"%d" % number)
        parties.shuffler.outer.rotate(collection.wire.suite)
        parties.shuffler.outer.retire(1)
        rig.clock.now = START + WINDOW
        parties.batches.advance()
        parties.analyser.webhook = "http://127.0.0.1:1"
        answer = parties.release(collection).body
        duties = Duties(parties.analyser, parties.apps["analyser"].releases)
        duties.webhook = Taking()
        duties.advance()
        say(answer)


class Taking:
    """An address that takes whatever it is told."""

    def post(self, content):
        assert content["state"] == "released"


QUICK = POINTS[1::3]  # on either database in turn


@pytest.mark.parametrize("point", some(POINTS, lambda point: point in QUICK))
def test_nothing_is_lost_or_counted_twice(point, rig):
    story = Story(rig)
    assert story.lived(die_at=point) == (DIED, [])
    before = len(story.acknowledged)
    code, answers = story.lived()
    assert code == 0
    assert before in (0, 12)
    with rig.opened() as parties:
        again = parties.release(story.collection)
        assert answers == [again.body]
        assert counted(story.collection, again.json) == [1] * 12
        assert parties.analyser.ledger("people").questions == 1
        nothing_is_left(parties, story.collection)


def nothing_is_left(parties, collection):
    """Of reports, of messages, or of keys that could open them."""
    assert parties.states(collection) == {1: "purged"}
    keys = {role: opened.keys.names() for role, opened in parties.opened.items()}
    assert keys["analyser"] == ["identity"]
    assert "outer-1" not in keys["shuffler"]
    assert not [name for name in keys["shuffler"] if name.startswith(("reports-", "mixed-"))]
    for opened in parties.opened.values():
        with opened.database.reading() as connection:
            catalogue = "sqlite_master" if opened.database.embedded else "pg_class"
            column = "name" if opened.database.embedded else "relname"
            tables = {row[column] for row in many(connection, f"SELECT {column} FROM {catalogue}")}
            assert not [table for table in tables if table.startswith(("reports_", "mixed_"))]
    with parties.opened["analyser"].database.reading() as connection:
        assert many(connection, "SELECT * FROM parts") == []


def keeps_with_the_next():
    """The twin has acknowledged what it keeps only together with the next ones."""
    waiting, accept = [], Shuffler.accept

    def later(self, uploads):
        ready = waiting[:]
        waiting[:] = uploads
        accept(self, ready)
        return [Answer.TAKEN] * len(uploads)

    Shuffler.accept = later


def test_an_acknowledgement_before_the_commit_is_found_out(rig):
    story = Story(rig)
    assert story.lived("before sealing", keeps_with_the_next) == (DIED, [])
    assert len(story.acknowledged) == 12
    story.lived()
    with rig.opened() as parties:
        assert counted(story.collection, parties.release(story.collection).json).count(1) == 11
