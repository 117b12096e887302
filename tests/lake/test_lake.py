"""What lies in a lake is counted as what arrives over the network is: each person once, and nothing else at all."""

import json

import pytest
from lakes import BUCKETS, Lake
from pyarrow import parquet
from rig import Rig, counted, made, plan

import headcount_service.lake.counting as counting
from headcount.common.canonical import canonical
from headcount.errors import BadArgument, Conflict, TooFewReports, Unsupported
from headcount.protocols.base.protocol import Protocol
from headcount_service.lake.messages import Mixed
from headcount_service.lake.shuffling import Came
from headcount_service.store.database import one
from headcount_service.wire.signed_release import Released


@pytest.fixture
def lake(parties, spark, folder):
    return Lake.of(parties, spark, folder)


def charges(lake):
    return len(lake.parties.analyser.account("people").page().charges)


def mixed_online(parties, collection, bodies):
    """What a shuffler that is served makes of these uploads."""
    for body in bodies:
        assert parties.report(collection, 1, body).status == 200
    parties.clock.now += 10 * collection.window
    parties.batches.mix()
    with parties.shuffler.database.reading() as connection:
        part = parties.shuffler.tables.part(connection, one(connection, "SELECT * FROM batches"), 0)
    return [*collection.report_format(1).split(part)]


def test_a_lake_is_mixed_as_a_batch_from_the_network_is(lake, folder, spark):
    reports = lake.reports(*range(10))
    bodies = [each.body for each in reports]
    lake.put(*bodies[:6])
    lake.put(*bodies[6:], bodies[0])
    tokens = lake.parties.tokens
    with Rig(folder, None, tokens).copied(folder / "twin").opened() as twin:
        again = Lake(twin, spark, folder, lake.collection)
        assert again.shuffle("again", uploads=again.uploads().repartition(4)) == Came(10, 1)
    with Rig(folder, None, tokens).copied(folder / "online").opened() as online:
        expected = sorted(mixed_online(online, lake.collection, [*bodies, bodies[0]]))
    assert lake.shuffle() == Came(taken=10, repeated=1)
    assert sorted(lake.rows()) == expected
    assert lake.rows() == lake.rows("again"), "the secret of the batch and its messages decide everything"
    assert lake.manifest()[1] == lake.manifest("again")[1]


def test_a_lake_is_counted_as_a_batch_from_the_network_is(lake, folder, monkeypatch):
    lake.put(*(each.body for each in lake.reports(*range(10))))
    lake.shuffle()
    compacted = parquet.read_table(folder / "mixed" / "messages").slice(3)
    rest = parquet.read_table(folder / "mixed" / "messages").slice(0, 3)
    (folder / "elsewhere" / "messages").mkdir(parents=True)
    parquet.write_table(compacted, folder / "elsewhere" / "messages" / "a.parquet")
    parquet.write_table(rest, folder / "elsewhere" / "messages" / "b.parquet")
    (folder / "mixed" / "manifest").rename(folder / "elsewhere" / "manifest")

    assert lake.shuffle("elsewhere") is None, "it was mixed before"
    monkeypatch.setattr(counting, "count", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lake.analyse("elsewhere")
    assert charges(lake) == 1
    monkeypatch.undo()
    drawn, release = [], Protocol.release
    monkeypatch.setattr(Protocol, "release", lambda *given, **how: drawn.append(1) or release(*given, **how))
    told = lake.analyse("elsewhere")
    assert counted(lake.collection, json.loads(told)) == [1] * 10 + [0] * (BUCKETS - 10)
    assert Released(json.loads(told)).verify()
    assert lake.analyse("elsewhere") == told
    assert (charges(lake), drawn) == (1, [1])
    assert not [name for name in lake.parties.analyser.keys.names() if name.startswith("inner")]


def test_each_person_is_counted_once_and_junk_is_told_apart(lake, parties, spark, folder):
    offer = lake.offer
    honest = lake.reports(0, 1, 2, 6, 7)
    resealed = made(lake.collection, offer, 0, identity=honest[0].identity, messages=honest[0].messages)
    rival = made(lake.collection, offer, 9, identity=honest[1].identity)
    replayed = made(lake.collection, offer, 3, messages=(honest[2].messages[0],) * 2)
    other = parties.agreed(plan(BUCKETS), population="people", question="Another?")
    late = made(lake.collection, {**offer, "batch": 2}, 4)
    flipped = bytearray(honest[0].body)
    flipped[50] ^= 1
    junk = [
        bytes(flipped), honest[0].body[:-1], honest[0].body + b"\0", b"", b"\1", None, bytes(len(late.body)),
        honest[0].body[:1] + b"\x7f" + honest[0].body[2:], late.body, made(other, parties.offer(other), 5).body,
    ]  # fmt: skip
    lake.put(*(each.body for each in honest), honest[2].body, resealed.body)
    lake.put(rival.body, replayed.body, *junk)
    assert lake.shuffle() == Came(taken=6, repeated=3, unreadable=len(junk))
    kept = min(honest[1], rival, key=lambda each: b"".join(each.messages))
    expected = [message for each in (honest[0], kept, *honest[2:], replayed) for message in each.messages]
    assert sorted(lake.rows()) == sorted(expected)
    release = json.loads(lake.analyse())
    assert (release["people"], counted(lake.collection, release)[:4]) == (6, [1, kept.bucket == 1, 1, 0])
    assert (release["unreadable"], release["plausible"]) == (2, 4)  # the replayed ones


def test_an_invitation_counts_once(parties, spark, folder):
    lake = Lake.of(parties, spark, folder, admission="invited")
    tickets = parties.tokens_of(lake.collection, 4)
    people = [made(lake.collection, lake.offer, n, credential=ticket) for n, ticket in enumerate(tickets)]
    twice = made(lake.collection, lake.offer, 8, credential=tickets[0])
    same = made(lake.collection, lake.offer, 9, credential=tickets[1], identity=people[2].identity)
    lake.put(*(each.body for each in [*people, twice, same]), made(lake.collection, lake.offer, 7).body)
    came = lake.shuffle()
    assert (came.unreadable, came.taken + came.repeated) == (1, 6)
    assert came.taken in (3, 4), "with one number under two invitations, one of them may go"
    assert len(lake.rows()) == 2 * came.taken


def test_too_few_are_refused_and_nothing_is_written(lake, folder):
    few = lake.reports(0, 1)
    lake.put(*(each.body for each in few), few[0].body)
    with pytest.raises(TooFewReports, match="2 people reported and the guarantee needs 3"):
        lake.shuffle()
    assert not (folder / "mixed").exists()
    assert lake.parties.states(lake.collection) == {1: "open"}


def test_torn_files_are_refused_in_words(parties, spark, folder):
    lake = Lake.of(parties, spark, folder)
    lake.put(*(each.body for each in lake.reports(0, 1, 2)))
    file = next((folder / "uploads").rglob("*.parquet"))
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + b"\xff" * 20 + whole[24:])  # where a page begins
    with pytest.raises(BadArgument, match="uploads cannot be read"):
        lake.shuffle()
    file.write_bytes(whole)
    lake.shuffle()
    mixed = next((folder / "mixed").rglob("*.parquet"))
    whole = mixed.read_bytes()
    mixed.write_bytes(whole[:4] + b"\xff" * 20 + whole[24:])  # where a page begins
    with pytest.raises(BadArgument, match="mixed has"):
        lake.analyse()
    assert parties.states(lake.collection) == {1: "purged"}


def test_a_batch_is_mixed_once_and_in_one_way(parties, spark, folder):
    lake = Lake.of(parties, spark, folder, batches=2)
    lake.put(*(each.body for each in lake.reports(0, 1, 2)))
    lake.shuffle()
    assert parties.states(lake.collection) == {1: "purged", 2: "open"}
    lake.put(lake.reports(3)[0].body)
    with pytest.raises(Conflict, match="mixed before"):
        lake.shuffle("again")
    parties.reported(lake.collection, 4)
    with pytest.raises(Conflict, match="over the network"):
        lake.shuffle("second", batch=2)
    with pytest.raises(BadArgument, match="has not been opened"):
        lake.shuffle("third", batch=3)
    fixed = Lake(parties, spark, folder, parties.agreed(plan(BUCKETS), fixed=True))
    with pytest.raises(Unsupported, match="end of its window"):
        fixed.shuffle("fixed")
    with pytest.raises(BadArgument, match="another collection"):
        fixed.analyse("mixed")


def test_messages_that_were_not_signed_for_are_refused_and_nothing_but_the_delivery_is_charged(lake, folder, spark):
    *reports, stranger = lake.reports(0, 1, 2, 5)
    lake.put(*(each.body for each in reports))
    lake.shuffle()
    path, manifest = lake.manifest()
    (file,) = (folder / "mixed" / "messages").glob("*.parquet")
    messages = parquet.read_table(file)
    for out, changed in (
        ("fewer", messages.slice(1)),
        ("doubled", messages.take([0, 0, *range(2, 6)])),
        ("other", [*messages.slice(1).to_pylist(), {"message": stranger.messages[0]}]),
    ):
        (folder / out / "messages").mkdir(parents=True)
        table = type(messages).from_pylist(changed, messages.schema) if isinstance(changed, list) else changed
        parquet.write_table(table, folder / out / "messages" / "a.parquet")
        Mixed(spark, str(folder / out)).sign(manifest)
        with pytest.raises(BadArgument, match="other messages than were signed for"):
            lake.analyse(out)
    (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
    path.write_text(canonical(manifest | {"reports": 4, "messages": 8}))
    with pytest.raises(BadArgument, match="signature"):
        lake.analyse()
    assert charges(lake) == 1  # reserved once, when the first manifest was signed for
