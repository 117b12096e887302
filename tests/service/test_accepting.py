"""Uploads that wait together are answered each for itself; too many are sent away; a batch is counted once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

import headcount as hc
from headcount.errors import Busy, WireError
from headcount.programme.coins import SecretCoins
from headcount.protocols.base.report_size import IDENTITY, Wire
from headcount_service import trial
from headcount_service.analyser.deliveries import Deliveries
from headcount_service.analyser.releases import Releases
from headcount_service.party import OpenParty
from headcount_service.shuffler import intake
from headcount_service.shuffler.batches import Batches
from headcount_service.shuffler.intake import Intake
from headcount_service.shuffler.shuffler import Answer, Shuffler
from headcount_service.wire.collection import Collection
from headcount_service.wire.keys import Announced
from headcount_service.wire.report import NO_CREDENTIAL, Report, Upload

LEAST = 20


@pytest.fixture
def parties(tmp_path: Path) -> Iterator[list[OpenParty]]:
    opened = trial.open_parties(tmp_path, (1, 2))
    yield opened
    for each in opened:
        each.close()


def _collection(parties: list[OpenParty]) -> tuple[Any, Shuffler, Collection]:
    analyser, shuffler = parties[0].analyser(), parties[1].shuffler()
    analyser.endow("people", 2, 1e-5)
    protocol, budget = hc.protocol("randomised-response", n=LEAST, epsilon=1), hc.Budget(1, 0)
    plan, now = hc.Plan(protocol, budget, Wire.of(protocol, budget)), int(time.time())
    keys = shuffler.signer.public, analyser.signer.public
    collection = Collection(plan, "Yes?", "people", now, 3_600, *keys, admission="anyone", fixed=False)
    shuffler.register(collection.to_json(), analyser.create(collection.to_json()))
    return analyser, shuffler, collection


def _sent(shuffler: Shuffler, collection: Collection) -> Upload:
    offer, report_format = shuffler.offer(collection.id), collection.report_format(1)
    inner = Announced.from_json(offer["analyser"], collection.analyser, "analyser")
    outer = Announced.from_json(offer["shuffler"], collection.shuffler, "shuffler")
    held = collection.plan.protocol.reports(np.ones(1, dtype=np.int64), SecretCoins()).messages
    messages = report_format.seal_messages(held, inner.public)
    report = Report(os.urandom(IDENTITY), NO_CREDENTIAL, b"".join(messages))
    return Upload(collection.id, 1, report_format.seal_report(report, outer.public, outer.number))


def test_one_bad_upload_is_refused_by_itself(parties: list[OpenParty]) -> None:
    _, shuffler, collection = _collection(parties)
    good, other = _sent(shuffler, collection), _sent(shuffler, collection)
    bad = Upload(good.collection, 1, good.body[:-1] + bytes([good.body[-1] ^ 1]))
    wrong_key = Upload(good.collection, 1, good.body[:1] + b"\xff" + good.body[2:])
    answers = shuffler.accept([good, bad, other, wrong_key, good])
    assert answers == [Answer.TAKEN, Answer.INVALID, Answer.TAKEN, Answer.INVALID, Answer.TAKEN]
    assert shuffler.state(collection.id)["batches"][0]["reports"] == 2


def test_what_does_not_look_like_an_upload_never_waits(parties: list[OpenParty]) -> None:
    _, shuffler, collection = _collection(parties)
    good = _sent(shuffler, collection)
    shuffler.check(good)
    for batch, body in ((0, good.body), (2, good.body), (1, good.body + b"\x00"), (1, b"\x02" + good.body[1:])):
        with pytest.raises(WireError):
            shuffler.check(Upload(collection.id, batch, body))


def test_whoever_is_too_many_is_sent_away_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "WAITING", 3)
    begun, go_on, groups = Event(), Event(), list[int]()

    def slow(sent: Sequence[Upload]) -> list[Answer]:
        groups.append(len(sent))
        begun.set()
        go_on.wait()
        return [Answer.TAKEN] * len(sent)

    async def crowd() -> list[Answer | BaseException]:
        queue, sent = Intake(slow), Upload("c", 1, b"")
        first = asyncio.create_task(queue.put(sent))
        await asyncio.to_thread(begun.wait)
        rest = [asyncio.create_task(queue.put(sent)) for _ in range(5)]
        await asyncio.sleep(0)
        go_on.set()
        answers = await asyncio.gather(first, *rest, return_exceptions=True)
        await asyncio.to_thread(queue.close)
        return answers

    answers = asyncio.run(crowd())
    assert answers[:4] == [Answer.TAKEN] * 4
    assert [type(each) for each in answers[4:]] == [Busy] * 2
    assert groups == [1, 3]


def test_a_batch_is_counted_once_however_many_ask(parties: list[OpenParty], monkeypatch: pytest.MonkeyPatch) -> None:
    analyser, shuffler, collection = _collection(parties)
    shuffler.accept([_sent(shuffler, collection) for _ in range(LEAST)])
    shuffler.close(collection.id)
    Batches(shuffler, Deliveries(analyser)).advance()
    releases, counted, told = Releases(analyser), list[int](), list[str]()
    begun, go_on, told_of = Event(), Event(), Releases._answer

    def slow(self: Releases, of: Collection, number: int, row: Any) -> tuple[str, dict[str, Any]]:
        counted.append(number)
        begun.set()
        go_on.wait()
        return told_of(self, of, number, row)

    monkeypatch.setattr(Releases, "_answer", slow)
    asking = [Thread(target=lambda: told.append(releases.release(collection.id, 1))) for _ in range(3)]
    asking[0].start()
    begun.wait()
    for each in asking[1:]:
        each.start()
    asking[1].join(0.2)  # time enough to count as well, were it let
    go_on.set()
    for each in asking:
        each.join()
    assert counted == [1]
    assert len(told) == 3
    assert len(set(told)) == 1
