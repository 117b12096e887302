"""What a device's owner is told of the terms."""

import json
from dataclasses import replace

import pytest
from rig import plan

from headcount.errors import RemoteRefusal
from headcount_service import Client, Limits
from headcount_service.client.receipt import Receipt

PLAIN = Receipt("Q?", "c", 1, "taken", 2, 230, 1.0, 1e-6, 150, None, 1.0, 1e-6, corrupt=15, anyone=False, fixed=True)


def test_a_receipt_says_what_was_chosen_that_weakens_the_guarantee():
    sentences = {
        "corrupt": "only if all of them are honest",
        "anyone": "Anybody may report",
        "fixed": "end it at any moment",
    }
    weak = {"corrupt": 0, "anyone": True, "fixed": False}
    for name, words in sentences.items():
        assert words not in str(PLAIN)
        assert words not in str(replace(PLAIN, **{name: None}))
        assert words in str(replace(PLAIN, **{name: weak[name]}))


def test_who_relies_on_nobody_needs_nobody_to_be_honest():
    assert "honest" not in str(replace(PLAIN, corrupt=0, colluding=1.0))
    assert "honest" in str(replace(PLAIN, corrupt=0, colluding=1.1))


class TwoAtOnce:
    """A shuffler that takes a report, and tells another process of the device so before it answers this one."""

    def __init__(self, parties, late):
        self.shuffler, self.late, self.other = parties.calling("shuffler"), late, None

    def ask(self, method, path, content=None):
        answer = self.shuffler.ask(method, path, content)
        if self.other is not None:
            other, self.other = self.other, None
            other()
        if self.late:
            raise RemoteRefusal("the batch is closed", 409)
        return answer


@pytest.mark.parametrize("late", [False, True], ids=["taken", "closed"])
def test_what_was_taken_stays_so_whatever_another_process_heard(tmp_path, parties, late):
    parties.endowed()
    collection = parties.agreed(plan())
    device, offer = Client(tmp_path, Limits(least=1), parties.clock), parties.offer(collection)
    path = device.prepare(offer, collection.id, 1)
    shuffler = TwoAtOnce(parties, late)
    shuffler.other = lambda: device.send(path, parties.calling("shuffler"))
    assert device.send(path, shuffler).state == "taken"
    assert "messages" not in json.loads(path.read_text()), "what was sent is not kept"
