"""Nothing in what the shuffler writes tells where a message came from, and nothing of anybody is left lying around.

Under any arrangement of the uploads the order is that of a keyed hash with a key of this very run, so that every order
is as likely as any other. Two figures with exact laws are looked at; each is a false alarm with a chance below 1e-6.
"""

import json
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import comb, factorial

import pytest
from lakes import ByChance, ByReport, Lake
from test_canary import Search

from headcount_service.analyser.analyser import inner_key
from headcount_service.lake.messages import Mixed
from headcount_service.lake.shuffling import LakeShuffler
from headcount_service.lake.work import SPLIT, OpenUploads, SplitReports
from headcount_service.store.database import one
from headcount_service.wire.suites import private_bytes

PEOPLE = 40
FALSE_ALARM = Fraction(1, 10**6)


def inversions(places):
    """How many pairs come the other way round than they lay."""
    return sum(first > second for first, second in combinations(places, 2))


def inversions_alike(size):
    """How many orders have so many inversions."""
    ways = [1]
    for longer in range(2, size + 1):
        ways = [sum(ways[max(0, at - longer + 1) : at + 1]) for at in range(len(ways) + longer - 1)]
    return ways


def tail(ways, seen):
    """The chance of anything as far from the middle as that."""
    far = abs(2 * seen - len(ways) + 1)
    return Fraction(sum(way for at, way in enumerate(ways) if abs(2 * at - len(ways) + 1) >= far), sum(ways))


def side_by_side(owners):
    return sum(first == second for first, second in pairwise(owners))


def side_by_side_tail(people, seen):
    """The chance that so many people's two messages, or more, stand side by side."""
    total = 2 * people
    chosen = [Fraction(comb(people, j) * 2**j * factorial(total - j), factorial(total)) for j in range(people + 1)]
    return sum(
        (-1) ** (j - k) * comb(j, k) * chosen[j] for k in range(seen, people + 1) for j in range(k, people + 1)
    )  # fmt: skip


def alarms(order):
    """What tells something about where messages came from: `order` has the place from which each came."""
    owners = [place // 2 for place in order]
    found = {
        "order": tail(inversions_alike(len(order)), inversions(order)),
        "groups": side_by_side_tail(PEOPLE, side_by_side(owners)),
    }
    return {name for name, chance in found.items() if chance < FALSE_ALARM}


def test_the_laws_are_those_of_all_orders():
    orders = list(permutations(range(6)))
    ways = inversions_alike(6)
    assert [sum(inversions(order) == k for order in orders) for k in range(len(ways))] == ways
    for k in range(4):
        many = sum(side_by_side([place // 2 for place in order]) >= k for order in orders)
        assert side_by_side_tail(3, k) == Fraction(many, len(orders))


@pytest.fixture
def lake(parties, spark, folder, aside):
    lake = Lake.of(parties, spark, folder)
    lake.people = lake.reports(*(n % 12 for n in range(PEOPLE)))
    lake.put(*(each.body for each in lake.people))
    lake.aside = aside
    return lake


def test_what_is_written_is_in_no_order_and_twins_are_caught(lake, folder, spark, capfd):
    parties, name = lake.parties, lake.collection.id
    with parties.shuffler.database.reading() as connection:
        batch = one(connection, "SELECT * FROM batches")
    salt, key = (
        parties.shuffler.tables.cipher(batch).salt,
        parties.analyser.keys.private(inner_key(name, 1)).private_bytes_raw(),
    )
    outer = parties.shuffler.outer.private(1, lake.collection.wire.suite).private_bytes_raw()
    report_format, known = lake.collection.report_format(1), parties.shuffler.deduplication(name, batch)
    lay = lake.uploads().toArrow().column(0).to_pylist()
    bodies = {each.body: each.messages for each in lake.people}
    places = {message: at for at, message in enumerate(message for body in lay for message in bodies[body])}

    lake.shuffle()
    assert alarms([places[message] for message in lake.rows()]) == set()

    reports = spark.createDataFrame([(b"".join(bodies[body]),) for body in lay], "messages binary").coalesce(1)
    orders = {}
    for kind, out in [*product((SplitReports, ByChance), ("first", "second")), (ByReport, "first")]:
        where = f"{kind.__name__}-{out}"
        Mixed(spark, str(folder / where)).write(reports.mapInArrow(kind(report_format, known).work, SPLIT), len(places))
        orders[where] = [places[message] for message in lake.rows(where)]
    assert orders["SplitReports-first"] == orders["SplitReports-second"], "done again, it is the same"
    assert orders["ByChance-first"] != orders["ByChance-second"]
    assert alarms(orders["ByReport-first"]) == {"groups"}
    assert alarms(sorted(places.values())) == {"order", "groups"}

    told = json.loads(lake.analyse())
    assert told["people"] == PEOPLE
    printed = capfd.readouterr()
    (folder / "printed").write_text(printed.out + printed.err)
    message = lake.people[0].messages[0]
    kept = {part: Search(folder / part) for part in ("mixed", "shuffler", "analyser", "printed")}
    secrets = [salt, key, outer, *(each.identity for each in lake.people), *(body[:64] for body in bodies)]
    for search in (*kept.values(), Search(lake.aside)):
        assert {hit for hit in search.hits(*secrets) if not hit[0].startswith("outer-")} == set()
    assert kept["mixed"].hits(message[:48]), "the search finds what is there"
    assert not Search(lake.aside).hits(message[:48]), "what Spark puts aside is encrypted"


def test_work_shows_no_key(lake):
    parties = lake.parties
    key = parties.shuffler.outer.private(1, lake.collection.wire.suite)
    keys = LakeShuffler(parties.shuffler)._keys(lake.collection)
    assert keys == {1: private_bytes(key)}
    with parties.shuffler.database.reading() as connection:
        known = parties.shuffler.deduplication(lake.collection.id, one(connection, "SELECT * FROM batches"))
    shown = repr(OpenUploads(lake.collection.report_format(1), known, keys))
    assert "keys" not in shown
    assert "salt" not in shown
