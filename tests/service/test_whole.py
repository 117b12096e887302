"""A collection from its agreement to its answer."""

from rig import WINDOW, counted, plan


def test_everybody_who_reported_is_counted_once(parties):
    parties.endowed()
    collection = parties.agreed(plan())
    parties.reported(collection, 0, 3, 4, 11)
    parties.clock.now += WINDOW
    parties.batches.advance()
    assert parties.states(collection) == {1: "purged"}
    answer = parties.release(collection)
    assert counted(collection, answer.json) == [1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1]
    assert parties.release(collection).body == answer.body
