"""What THREATMODEL.md promises, one test for each. Others go deeper; these say what is meant."""

import json
import math
import os
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from rig import START, WINDOW, Rig, counted, made, plan

import headcount as hc
from headcount.errors import (
    AnswerExposed,
    BadArgument,
    Damaged,
    OverBudget,
    RemoteRefusal,
    Unavailable,
    Unsupported,
    WireError,
)
from headcount.ledger.ledger import Ledger
from headcount.privacy.budget import Budget
from headcount.programme.coins import SeededCoins
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import Wire
from headcount_service.analyser.releases import Releases
from headcount_service.client.device import Client, Limits
from headcount_service.client.receipt import Receipt
from headcount_service.runtime import logs
from headcount_service.shuffler import external_shuffle as scatter
from headcount_service.store.database import do, many, one
from headcount_service.vectors.offers import agreed
from headcount_service.vectors.offers import offer as offered
from headcount_service.wire.keys import Announced
from headcount_service.wire.report import DUMMY, INNER, REAL, Report, Upload
from headcount_service.wire.suites import new_key, seal


class Line:
    """The way from a device to the shuffler, with a copy of what went through."""

    def __init__(self, parties):
        self.parties, self.bodies, self.broken = parties, [], False

    def ask(self, method, path, content=None):
        self.bodies.append(content)
        if self.broken:
            raise RemoteRefusal("cannot be reached")
        answer = self.parties.ask("shuffler", method, path, content)
        if answer.status >= 400:
            raise RemoteRefusal(answer.body.decode(), answer.status)
        return answer.json


@pytest.fixture
def collection(parties):
    parties.endowed()
    return parties.agreed(plan())


@pytest.fixture
def alone(folder):
    """Both parties on SQLite, whose files can be looked into."""
    rig = Rig.made(folder)
    with rig.opened() as parties:
        parties.endowed()
        yield rig, parties


def device(folder, **limits):
    return Client(folder / "device", Limits(**{"least": 1, "colluding": math.inf, **limits}), clock=lambda: START)


def closed(parties):
    """The window ends; what failed of what was due then."""
    parties.clock.now += WINDOW
    return parties.batches.advance()


def files(folder):
    """Everything that is on the disk there."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


# What a device promises its owner.


def test_uploads_are_as_long_whatever_is_answered(parties, collection):
    offer, report_format = parties.offer(collection), collection.report_format(1)
    lengths = {len(made(collection, offer, bucket).body) for bucket in range(12)}
    assert lengths == {report_format.upload_bytes}


def test_a_device_randomises_once_and_sends_the_same_bytes_again(parties, collection, folder):
    line, phone = Line(parties), device(folder)
    offer = parties.offer(collection)
    path = phone.prepare(offer, collection.id, 3)
    line.broken = True
    with pytest.raises(RemoteRefusal):
        phone.send(path, line)
    line.broken = False
    assert phone.send(phone.prepare(offer, collection.id, 5), line).state == "taken"  # too late for another answer
    assert len(line.bodies) == 2
    assert line.bodies[0] == line.bodies[1]


def test_a_device_keeps_no_answer(parties, collection, folder):
    """Its file is the same for any answer, but for what is sealed."""
    offer, kept = parties.offer(collection), []
    for answer in (0, 11):
        phone = device(folder / str(answer))
        told = json.loads(phone.prepare(offer, collection.id, answer).read_text())
        sealed = {name: len(str(told[name])) for name in ("messages", "body", "identity")}
        kept.append({**told, **sealed})
    assert kept[0] == kept[1]


def test_a_device_keeps_nothing_of_a_report_that_was_taken(parties, folder):
    """Whoever seizes it later, and works together with the parties, finds neither messages nor a token there."""
    parties.endowed()
    collection = parties.agreed(plan(), admission="invited")
    [code] = parties.invitations(collection, 1)
    phone, offer, shuffler = device(folder), parties.offer(collection), parties.calling("shuffler")
    phone.obtain(offer, collection.id, invitation=code, remote=parties.calling("analyser"))
    path = phone.prepare(offer, collection.id, 3, invitation=code)
    made, [token] = json.loads(path.read_text()), map(json.loads, map(Path.read_text, phone.folder.glob("*.token")))
    receipt = phone.send(path, shuffler)
    [sent] = [content for _, content in shuffler.asked]
    report = parties.shuffler.open(Upload(collection.id, 1, sent))
    secrets = [sent, report.identity, report.credential, *collection.report_format(1).split(report.messages)]
    secrets += [bytes.fromhex(token[name]) for name in ("prefix", "signature")] + [bytes.fromhex(code)]
    assert {each.hex() for each in secrets} >= {*made["messages"], made["body"], made["identity"], code}
    left = files(phone.folder).decode()
    assert [each for each in secrets if each.hex() in left] == []
    assert phone.receipts() == [receipt]
    assert (receipt.state, receipt.messages, receipt.bytes) == ("taken", collection.wire.messages, len(sent))
    with pytest.raises(Unsupported, match="was taken"):
        phone.upload(path)
    phone.obtain(offer, collection.id, invitation=code, remote=None)  # which asks nobody
    assert phone.send(phone.prepare(offer, collection.id, 5, invitation=code), shuffler) == receipt
    assert len(shuffler.asked) == 1
    path.unlink()
    with pytest.raises(Unsupported, match="has spent its token"):
        phone.prepare(offer, collection.id, 5, invitation=code)


@pytest.mark.parametrize(
    ("limits", "error"),
    [
        ({"epsilon": 0.5}, Unsupported),
        ({"least": 4}, Unsupported),
        ({"colluding": 0.5}, Unsupported),
        ({"lifetime_epsilon": 0.5}, OverBudget),
    ],
)
def test_a_device_refuses_what_goes_beyond_its_limits(parties, collection, folder, limits, error):
    phone = device(folder, **limits)
    with pytest.raises(error):
        phone.prepare(parties.offer(collection), collection.id, 0)
    assert phone.receipts() == []


def test_a_device_says_before_it_answers_if_the_parties_together_would_learn_the_answer(folder):
    """Unless its owner agrees; where an epsilon is left, the device has a limit of its own."""
    collection = next(agreed())
    offer = offered(collection)
    assert collection.plan.colluding is None
    for limit in (Limits.colluding, 1e300):
        phone = device(folder, colluding=limit)
        with pytest.raises(AnswerExposed, match="work together, they learn the answer, to which this device does not"):
            phone.prepare(offer, collection.id, 0)
        assert phone.receipts() == []
    assert device(folder, colluding=math.inf).prepare(offer, collection.id, 0).exists()
    assert Limits.colluding < math.inf


def test_a_device_refuses_another_collection_and_keys_that_its_parties_did_not_sign(parties, collection, folder):
    offer, phone = parties.offer(collection), device(folder)
    with pytest.raises(BadArgument, match="another hash"):
        phone.prepare(offer, collection.id, 0, hash="0" * 64)
    with pytest.raises(BadArgument, match="another one"):
        phone.prepare(offer, "0" * 32, 0)
    for role in ("analyser", "shuffler"):
        forged = {**offer[role], "key": offer["shuffler" if role == "analyser" else "analyser"]["key"]}
        with pytest.raises(BadArgument, match="is not an announced key"):
            phone.prepare({**offer, role: forged}, collection.id, 0)
    assert phone.receipts() == []


def test_a_receipt_says_what_is_left_if_the_parties_collude():
    told = Receipt("Q?", "c", 1, "taken", 2, 230, 1.0, 1e-6, 150, None, 1.0, 1e-6)
    assert "work together, they learn the answer" in str(told)
    assert "20.1 times as likely" in str(replace(told, colluding=3.0))


# What the shuffler cannot do, and what it does.


def test_the_shuffler_cannot_open_messages(alone):
    _, parties = alone
    collection = parties.agreed(plan())
    [report] = parties.reported(collection, 3)
    report_format, keys = collection.report_format(1), parties.shuffler.outer.keys
    assert [name for name in keys.names() if name.startswith("inner")] == []
    own = [keys.private(name) for name in keys.names() if name.startswith("outer")]
    for key in [*own, new_key(collection.wire.suite)]:
        for message in report.messages:
            with pytest.raises(WireError):
                report_format.open_message(message, key)


def test_reports_are_stored_under_keyed_hashes(alone):
    """A thief of the database does not find what a device drew, or was given, nor what it sent."""
    rig, parties = alone
    collection = parties.agreed(plan(), admission="invited")
    [credential] = parties.tokens_of(collection, 1)
    report = made(collection, parties.offer(collection), 1, credential=credential)
    assert parties.report(collection, 1, report.body).status == 200
    found = files(rig.folder / "shuffler")
    with parties.shuffler.database.reading() as connection:
        batch = one(connection, "SELECT * FROM batches")
        identity, _ = parties.shuffler.deduplication(collection.id, batch).identify(
            Report(report.identity, credential, b"".join(report.messages))
        )
    assert identity in found
    assert report.messages[0] not in found
    assert report.identity not in found
    assert credential[:32] not in found
    assert credential[32:] not in found


def test_nothing_groups_messages_once_they_are_mixed(alone):
    """The secret that the reports were stored under is destroyed, and when they are delivered, the other one too."""
    rig, parties = alone
    collection = parties.agreed(plan(messages=3))
    reports = parties.reported(collection, *range(12))
    keys = rig.folder / "shuffler" / "keys"
    [path] = keys.glob("reports-*")
    secret = path.read_bytes()
    parties.receiver.losing = {0: "request"}
    parties.clock.now += WINDOW
    assert [type(problem) for problem in parties.batches.advance()] == [RemoteRefusal]
    assert parties.states(collection) == {1: "shuffled"}
    assert [*keys.glob("reports-*")] == []
    [path] = keys.glob("mixed-*")
    with parties.shuffler.database.reading() as connection:
        batch = one(connection, "SELECT * FROM batches")
        mixed = collection.report_format(1).split(parties.shuffler.tables.part(connection, batch, 0))
    assert {*mixed} == {message for report in reports for message in report.messages}
    parties.batches.advance()
    assert [*keys.glob("mixed-*")] == []
    found = files(rig.folder / "shuffler")
    assert not any(each in found for each in [secret, *mixed])


def test_the_answer_to_a_report_does_not_tell_what_is_in_it(parties, collection):
    """Twice the same, and messages that nobody can open, are answered alike."""
    offer = parties.offer(collection)
    report = made(collection, offer, 0)
    bad = made(
        collection, offer, 0, messages=tuple(os.urandom(collection.report_format(1).message_bytes) for _ in range(2))
    )
    answers = [parties.report(collection, 1, body) for body in (report.body, report.body, bad.body)]
    assert len({(answer.status, answer.body) for answer in answers}) == 1


def test_a_batch_closes_at_the_end_of_its_window_and_not_when_enough_have_come(parties, collection):
    parties.reported(collection, *range(12))
    late = made(collection, parties.offer(collection), 0)
    parties.batches.advance()
    assert parties.states(collection) == {1: "open"}
    closed(parties)
    assert parties.states(collection) == {1: "purged"}
    assert parties.report(collection, 1, late.body).status == 409


def test_an_invitation_counts_once(parties):
    parties.endowed()
    collection = parties.agreed(plan(), admission="invited")
    [credential] = parties.tokens_of(collection, 1)
    offer = parties.offer(collection)
    for bucket in (0, 1):
        parties.report(collection, 1, made(collection, offer, bucket, credential=credential).body)
    stranger = made(collection, offer, 2, credential=os.urandom(288))
    assert parties.report(collection, 1, stranger.body).status == 400
    assert parties.told("shuffler", "GET", f"/v1/collections/{collection.id}/state")["batches"][0]["reports"] == 1


def test_a_report_that_was_acknowledged_is_on_the_disk(rig):
    """As whoever starts after a crash finds it, who knows nothing but the disk."""
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan())
        parties.reported(collection, 0, 1)
        with rig.opened() as restarted:
            told = restarted.told("shuffler", "GET", f"/v1/collections/{collection.id}/state")
    assert told["batches"][0]["reports"] == 2


# What the analyser promises.


@pytest.mark.parametrize(("shortfall", "states"), [("purge", ["purged"]), ("hold", ["open", "purged"])])
def test_with_too_few_reports_nothing_is_delivered(parties, shortfall, states):
    """Held for one window more, where that was agreed, and then destroyed."""
    parties.endowed()
    collection = parties.agreed(plan(least=5), shortfall=shortfall, holds=1)
    parties.reported(collection, 0, 1, 2, 3)
    for state in states:
        closed(parties)
        assert parties.states(collection) == {1: state}
    assert parties.states(collection, "analyser") == {1: "purged"}
    assert parties.release(collection).status == 409


def test_the_analyser_refuses_a_batch_that_is_too_small_or_not_signed(parties):
    parties.endowed()
    collection = parties.agreed(plan(least=5))
    content = {
        "collection": collection.hash,
        "batch": 1,
        "reports": 4,
        "added": 0,
        "early": False,
        "messages": 8,
        "parts": [],
    }
    small = parties.shuffler.signer.signed("manifest", content)
    enough = {**small, "reports": 5, "messages": 10}
    untold = {name: part for name, part in content.items() if name != "early"} | {"reports": 5, "messages": 10}
    silent = parties.shuffler.signer.signed("manifest", untold)
    for manifest, status in ((small, 409), (enough, 400), (silent, 400)):
        assert parties.ask("analyser", "POST", "/v1/batches", manifest, "shuffler").status == status


def test_the_number_of_a_batch_is_used_once(parties, collection):
    parties.reported(collection, 0, 1, 2)
    closed(parties)
    other = {
        "collection": collection.hash,
        "batch": 1,
        "reports": 3,
        "added": 0,
        "early": False,
        "messages": 6,
        "parts": [],
    }
    signed = parties.shuffler.signer.signed("manifest", other)
    answer = parties.ask("analyser", "POST", "/v1/batches", signed, "shuffler")
    assert answer.status == 409


def test_messages_count_once_and_bad_ones_are_left_out_one_by_one(parties, collection):
    """A shuffler that copies, or a client that lies, spoils nobody else's."""
    offer, report_format = parties.offer(collection), collection.report_format(1)
    key = Announced.from_json(offer["analyser"], collection.analyser, "analyser").public
    first = made(collection, offer, 4)
    size, bound = collection.plan.protocol.message.itemsize, report_format.info(INNER)
    odd = [
        seal(report_format.suite, os.urandom(16) + content, key, bound)
        for content in (REAL + b"\xff" * size, DUMMY + b"\x01" * size, b"\x07" + bytes(size))
    ]
    unreadable = os.urandom(report_format.message_bytes)
    for messages in (first.messages, first.messages, (odd[0], odd[1]), (odd[2], unreadable)):
        body = made(collection, offer, 4, messages=messages).body
        assert parties.report(collection, 1, body).status == 200
    parties.reported(collection, *range(7))  # beside six bad messages
    closed(parties)
    release = parties.release(collection).json
    assert counted(collection, release) == [1, 1, 1, 1, 2, 1, 1, 0, 0, 0, 0, 0]
    assert (release["people"], release["unreadable"], release["plausible"]) == (11, 6, 5)


def test_a_report_has_exactly_as_many_messages_as_was_agreed(parties, collection):
    offer = parties.offer(collection)
    one, two = made(collection, offer, 0), made(collection, offer, 0)
    for messages in (one.messages[:1], one.messages + two.messages[:1]):
        assert parties.report(collection, 1, made(collection, offer, 0, messages=messages).body).status == 400


def test_a_release_is_charged_once_and_always_the_same(parties):
    parties.endowed(epsilon=1.5)
    collection = parties.agreed(plan())
    parties.reported(collection, 0, 1, 2)
    closed(parties)
    first = parties.release(collection)
    assert first.status == 200
    assert parties.release(collection).body == first.body
    [spent] = parties.told("analyser", "GET", "/v1/populations")["populations"]
    assert 0 < spent["spent"] <= 1


def test_a_release_that_was_interrupted_is_charged_once(parties, collection, monkeypatch):
    parties.reported(collection, 0, 1, 2)
    closed(parties)
    with monkeypatch.context() as broken:
        broken.setattr(Releases, "_commit", _lost)
        with pytest.raises(Unavailable):
            parties.apps["analyser"].releases.release(collection.id, 1)
    assert parties.states(collection, "analyser") == {1: "claimed"}
    assert parties.release(collection).status == 200
    assert parties.analyser.ledger("people").questions == 1
    assert parties.analyser.ledger("people").reserved == ()


def _lost(*_):
    raise Unavailable("the disk has gone away")


def test_nothing_is_told_that_the_budget_does_not_pay_for(parties):
    """What could not be paid for is not agreed on; and if the budget is gone when a batch comes, not taken."""
    parties.endowed(epsilon=1.5)
    collection = parties.agreed(plan())
    with pytest.raises(AssertionError, match="of the budget and 33% is left"):
        parties.agreed(plan(), question="Another?")
    parties.reported(collection, 0, 1, 2)
    account = parties.analyser.account("people")
    account.turn(Ledger.of(account).charged(plan()))
    [problem] = closed(parties)
    assert "of the budget and 33% is left" in str(problem)
    assert parties.release(collection).status == 409
    assert parties.states(collection) == {1: "shuffled"}
    assert parties.states(collection, "analyser") == {}


def test_the_key_and_the_messages_of_a_batch_go_with_its_release(alone):
    rig, parties = alone
    collection = parties.agreed(plan())
    reports = parties.reported(collection, 0, 1, 2)
    kept = [path.read_bytes() for path in (rig.folder / "analyser" / "keys").glob("inner-*")]
    closed(parties)
    assert parties.release(collection).status == 200
    found = files(rig.folder / "analyser")
    assert len(kept) == 1
    assert kept[0] not in found
    assert not any(message in found for report in reports for message in report.messages)


def test_reports_of_nobody_are_told(parties):
    parties.endowed()
    counting = Plan(hc.protocol("randomised-response", n=20, least=6, epsilon=1), Budget(1), Wire(1))
    collection = parties.agreed(counting, shortfall="top-up")
    offer = parties.offer(collection)
    for answer in (1, 0):
        assert parties.report(collection, 1, made(collection, offer, answer).body).status == 200
    closed(parties)
    told = parties.release(collection).json
    assert (told["people"], told["added"]) == (2, 4)


def test_an_old_copy_of_the_ledger_is_refused(alone):
    rig, parties = alone
    collection = parties.agreed(plan())
    parties.reported(collection, 0, 1, 2)
    closed(parties)
    table = parties.analyser.database
    with table.reading() as connection:
        before = many(connection, "SELECT * FROM populations")
    assert parties.release(collection).status == 200
    with table.writing() as connection:
        do(connection, "DELETE FROM charges WHERE number > 0")
        do(connection, "UPDATE populations SET head = :head", head=before[0]["head"])
    with rig.opened() as restored, pytest.raises(Damaged, match="an old copy was put back"):
        restored.analyser.ledger("people")


# What others see.


def test_every_route_is_for_its_roles_alone(parties, collection):
    """Whoever has no token, or one for something else, is refused before anything is looked at."""
    tried = 0
    for party, app in parties.apps.items():
        for route in app.routes:
            path = route.path.replace("{collection}", "0" * 32).replace("{population}", "nobody")
            path = path.replace("{batch#}", "9").replace("{part#}", "9")
            for role in ("", *parties.tokens[party]):
                status = parties.ask(party, route.method, path, b"{}" if route.body else None, role).status
                allowed = route.roles is None or role in route.roles
                assert (status in (401, 403)) == (not allowed), (party, route.path, role)
                tried += 1
    assert tried > 80


def test_tokens_are_kept_as_hashes(alone):
    rig, _ = alone
    found = files(rig.folder)
    assert not any(token.encode() in found for held in rig.tokens.values() for token in held.values())


def test_logs_have_listed_fields_only():
    canary = "CANARY" * 20
    told = logs.only_listed(None, "", {"event": "failed", "problem": canary, "body": "CANARY", "route": ["CANARY"]})
    assert told == {"event": "failed"}


def test_logs_tell_how_far_a_batch_is_and_nothing_of_its_reports(parties, capsys):
    """The same lines, whoever reported: only that the batch is in another state."""
    parties.endowed()
    told = []
    for buckets in ((0, 1, 2), (5, 5, 5, 5)):
        collection = parties.agreed(plan())
        parties.reported(collection, *buckets)
        parties.clock.now += WINDOW
        parties.batches.advance()
        for _ in range(2):
            parties.release(collection)
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        assert all(line.pop("collection") == collection.id for line in lines)
        told.append(lines)
    assert told[0] == told[1]
    assert all(set(line) == {"event", "level", "party", "batch", "state"} for line in told[0])
    assert [(line["party"], line["state"]) for line in told[0]] == [
        ("shuffler", "open"),
        ("shuffler", "sealed"),
        ("shuffler", "shuffled"),
        ("analyser", "receiving"),
        ("analyser", "delivered"),
        ("shuffler", "delivered"),
        ("shuffler", "purged"),
        ("analyser", "claimed"),
        ("analyser", "released"),
    ]


def test_metrics_do_not_depend_on_answers(parties, collection):
    pages = []
    for buckets in ((0, 0, 0), (1, 5, 9)):
        for bucket in buckets:
            parties.reported(collection, bucket)
        pages.append(parties.ask("shuffler", "GET", "/metrics", role="monitor").body.decode())
    labels = {line.split(" ")[0] for page in pages for line in page.splitlines() if not line.startswith("#")}
    names = {label.split("{")[0] for label in labels}
    assert names <= {
        "headcount_answers_total",
        "headcount_answers_created",
        "headcount_waiting",
        "headcount_steps_total",
        "headcount_steps_created",
        "headcount_open_batches",
        "headcount_least_share",
        "headcount_key_expiry_seconds",
    }
    assert not any(collection.id in label for label in labels)


@pytest.mark.parametrize("memory", [1 << 20, 3, 2])
def test_mixing_gives_every_order_alike(memory, monkeypatch):
    """Over all orders of four messages of a byte, by counting: in memory, and scattered over three piles and again."""
    monkeypatch.setattr(scatter, "MEMORY", memory)
    monkeypatch.setattr(scatter, "PILES", 3)
    coins, found = SeededCoins(1), {}
    times = 24_000 if memory > 4 else 2_400
    for _ in range(times):
        order = b"".join(scatter.mixed_blocks([b"ab", b"cd"], 1, 4, coins, BytesIO))
        found[order] = found.get(order, 0) + 1
    assert len(found) == 24
    squares = sum((count - times / 24) ** 2 / (times / 24) for count in found.values())
    assert squares < 80  # more with a chance of 3e-8


def test_scattering_by_what_a_message_says_is_found_out(monkeypatch):
    """The twin: an order in which the first pile is always the same one's."""
    monkeypatch.setattr(scatter, "MEMORY", 3)
    monkeypatch.setattr(scatter, "PILES", 3)
    monkeypatch.setattr(SeededCoins, "below", lambda _, bound, size: np.arange(size) % bound)
    coins = SeededCoins(1)
    found = {b"".join(scatter.mixed_blocks([b"ab", b"cd"], 1, 4, coins, BytesIO)) for _ in range(500)}
    assert len(found) < 24


def test_a_batch_takes_no_more_reports_than_its_sums_have_room_for(parties):
    """More would wrap around and be read as another sum: they wait for the next batch, before anything is charged."""
    protocol = hc.protocol("split-and-mix", hc.Sum((0, 1), 1), n=4, inner=1, levels=1, modulus=64, shares=20)
    budget = Budget(2.0, max(protocol.loss.delta(2.0), 1e-6))
    parties.endowed(delta=0.5)
    collection = parties.agreed(Plan(protocol, budget, Wire(20)))
    assert protocol.most == 4
    first, *_ = parties.reported(collection, 1, 1, 1, 1)
    late = made(collection, parties.offer(collection), 1)
    assert parties.report(collection, 1, late.body).json == {"report": "full"}
    assert parties.report(collection, 1, first.body).status == 200  # who is in already is told so again
    assert parties.told("shuffler", "GET", f"/v1/collections/{collection.id}/state")["batches"][0]["reports"] == 4
    content = {
        "collection": collection.hash,
        "batch": 1,
        "reports": 5,
        "added": 0,
        "early": False,
        "messages": 100,
        "parts": [],
    }
    signed = parties.shuffler.signer.signed("manifest", content)
    assert parties.ask("analyser", "POST", "/v1/batches", signed, "shuffler").status == 409
