"""What arrives from strangers: only what somebody who keeps to the protocol might have sent is counted."""

import numpy as np
import pytest

from headcount.programme.coins import SeededCoins
from headcount.programme.tally import Batch
from headcount.protocols import CATALOGUE
from headcount.questions.domains.domain import Shape

TINIES = [
    tiny for cls in CATALOGUE if cls.collectable() for tiny in cls.tinies()
    if tiny.task.shape is not Shape.KEY
]  # fmt: skip


def messages(protocol, people=2_000):
    values = np.arange(people) % protocol.task.values
    return protocol.reports(values, SeededCoins(1)).messages


def noise(protocol, size=5_000):
    """Bytes that nobody meant."""
    raw = SeededCoins(2).stream(size * protocol.message.itemsize)
    return raw.view(protocol.message)


@pytest.mark.parametrize("protocol", TINIES, ids=lambda protocol: protocol.name)
def test_what_people_send_is_genuine(protocol):
    sent = messages(protocol)
    assert sent.size
    assert protocol.genuine(sent).all()


@pytest.mark.parametrize("protocol", TINIES, ids=lambda protocol: protocol.name)
def test_whatever_is_genuine_can_be_counted(protocol):
    strange = noise(protocol)
    kept = strange[protocol.genuine(strange)]
    tally = protocol.tally(Batch(len(strange), kept))
    assert tally.totals.shape == protocol.nobody().totals.shape
    assert np.isfinite(protocol.point(tally)).all()


@pytest.mark.parametrize("protocol", TINIES, ids=lambda protocol: protocol.name)
def test_ranges_are_as_narrow_as_what_is_sent(protocol):
    """Were a range too wide, something in it would never be sent."""
    sent = messages(protocol, 40_000)
    assert set(protocol.ranges) == set(sent.dtype.names)
    for name, (low, high) in protocol.ranges.items():
        column = sent[name]
        seen = np.bitwise_or.reduce(column, axis=0) if column.ndim > 1 else column.max()
        assert np.array_equal(seen, high), name
        assert column.ndim > 1 or column.min() == low, name


def test_a_row_of_the_wrong_weight_is_not_genuine():
    protocol = next(tiny for tiny in TINIES if tiny.name == "subset-selection")
    rows = np.zeros(3, dtype=protocol.message)
    rows["row"][:, 0] = [0b0011, 0b0111, 0b10001]
    assert protocol.genuine(rows).tolist() == [True, False, False]


def test_a_kind_that_does_not_exist_would_make_a_tally_of_another_shape():
    """Why it is looked at: counted as it is, it would add a cell."""
    protocol = next(tiny for tiny in TINIES if tiny.name == "blanket-histogram")
    strange = np.array([(protocol.kinds,)], dtype=protocol.message)
    assert not protocol.genuine(strange).any()
    assert protocol.tally(Batch(1, strange)).totals.size > protocol.nobody().totals.size
