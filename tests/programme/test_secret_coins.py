"""Nobody shares a coin: not forked children, not threads; and nobody can be handed a seed by mistake."""

import inspect
import os
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import headcount as hc
from headcount.programme.coins import SeededCoins
from stress import lengths

pytestmark = pytest.mark.usefixtures("system_entropy")

ROWS = hc.protocol("basic-rappor", hc.Histogram(256), n=50, keep=0.75, flip=0.25)
HELD = [7] * 50
SEEDS = {"seed", "rng", "random_state", "generator"}


def rows(coins=None):
    """What fifty devices send: 256 bits each, which never occur twice by chance."""
    return ROWS.randomise(HELD, coins).messages.tobytes()


def different(parts):
    every = np.frombuffer(b"".join(parts), dtype=np.uint8).reshape(-1, 32)
    return len(np.unique(every, axis=0)) == len(every) == 50 * len(parts)


def in_children(work, children):
    """What each of many forked processes makes of it."""
    heard = []
    for _ in range(children):
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            os.write(writing, work())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            heard.append(pipe.read())
        assert os.waitpid(child, 0)[1] == 0
    return heard


@lengths("children", 16, 64)
def test_forked_children_send_different_reports(children):
    assert different([rows(), *in_children(rows, children), rows()])


def test_the_test_catches_coins_that_are_inherited():
    coins = SeededCoins(1)
    assert not different(in_children(lambda: rows(coins), 2))


def test_32_threads_send_different_reports():
    with ThreadPoolExecutor(32) as threads:
        assert different(list(threads.map(lambda _: rows(), range(128))))


def reachable():
    """Every function of the public names, with its name and parameters."""
    for name in hc.__all__:
        thing = getattr(hc, name)
        if inspect.isfunction(thing):
            yield name, inspect.signature(thing).parameters
        elif inspect.isclass(thing):
            for own, member in inspect.getmembers(thing, callable):
                called = inspect.isfunction(inspect.unwrap(member)) or inspect.ismethod(member)
                if called and own != "__class_getitem__":
                    yield f"{name}.{own}", inspect.signature(member).parameters


def test_no_seed_can_be_passed_but_to_what_says_that_it_is_not_private():
    seeded = {name for name, parameters in reachable() if SEEDS & parameters.keys()}
    assert seeded == {"Protocol.simulate", "SeededCoins.__init__"}
    assert not SeededCoins(1).secret
    simulated = hc.protocol("zsum", n=10, gamma=0.2).simulate([1] * 10, runs=3, seed=4)
    assert "not private" in repr(simulated)
