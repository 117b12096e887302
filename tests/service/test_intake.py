"""More reports than the disk can take: who comes too much is sent away, and nobody is lost."""

import asyncio
import threading

import pytest
from rig import WINDOW, asked, counted, made, plan

from headcount.errors import Unavailable
from headcount_service.shuffler import intake


@pytest.fixture
def crowd(parties):
    """Twelve people with a report each, who can all come at once."""
    parties.endowed()
    collection = parties.agreed(plan())
    offer = parties.offer(collection)
    reports = [made(collection, offer, bucket) for bucket in range(12)]
    path = f"/v1/collections/{collection.id}/batches/1/reports"

    def come(people=range(12), meanwhile=lambda: None):
        async def together():
            asking = [asked(parties.apps["shuffler"], "POST", path, reports[person].body) for person in people]
            answers = asyncio.gather(*asking)
            for _ in range(100):
                await asyncio.sleep(0)  # until all are there
            meanwhile()
            return await answers

        return parties.loop.run_until_complete(together())

    def result():
        parties.clock.now += WINDOW
        parties.batches.advance()
        return counted(collection, parties.release(collection).json)

    return come, result


def test_whoever_comes_when_it_is_full_is_told_when_to_come_again(crowd, parties, monkeypatch):
    come, result = crowd
    monkeypatch.setattr(intake, "WAITING", 5)
    disk, keep = threading.Event(), parties.apps["shuffler"].intake._accept

    def slow(offered):
        disk.wait()
        return keep(offered)

    monkeypatch.setattr(parties.apps["shuffler"].intake, "_accept", slow)
    answers = come(meanwhile=disk.set)
    sent_away = [person for person, answer in enumerate(answers) if answer.status == 503]
    assert 6 <= len(sent_away) <= 7  # one may be on its way to the disk, and five wait
    assert all(answers[person].headers["retry-after"] == "2" for person in sent_away)
    assert {answer.status for person, answer in enumerate(answers) if person not in sent_away} == {200}
    assert [answer.status for answer in come(sent_away[:5])] == [200] * 5
    assert [answer.status for answer in come(sent_away[5:])] == [200] * len(sent_away[5:])
    assert result() == [1] * 12


@pytest.mark.parametrize(("problem", "status"), [(Unavailable("the disk is full"), 503), (RuntimeError("odd"), 500)])
def test_whoever_was_not_kept_is_told_so_and_the_next_are_taken(crowd, parties, monkeypatch, problem, status):
    come, result = crowd
    with monkeypatch.context() as once:

        def fails(offered):
            raise problem

        once.setattr(parties.apps["shuffler"].intake, "_accept", fails)
        answers = come()
        assert {answer.status for answer in answers} == {status}
        assert all(str(problem) in str(answer.json) for answer in answers) == (status == 503)
    assert {answer.status for answer in come(range(0, 12, 2))} == {200}
    assert result() == [1, 0] * 6
