"""One ledger's file, many processes: none spends what another has spent, and none that dies takes a charge along."""

import multiprocessing
import os
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction

import pytest

import headcount as hc
from headcount.errors import OverBudget
from headcount.ledger import files

QUESTION = hc.protocol("randomised-response", n=10, keep=0.51)
COST = Fraction(QUESTION.loss.epsilon(0.0))


def budget_for(questions, path):
    return hc.Ledger.create(path, epsilon=questions * COST)


@contextmanager
def forked(work):
    """A child that does this, with a pipe for what it says; and its end."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        os.close(reading)
        try:
            work(lambda: os.write(writing, b"."))
        finally:
            os._exit(0)
    os.close(writing)
    try:
        yield child, reading
    finally:
        os.close(reading)
        os.waitpid(child, 0)


def heard(reading):
    """How many times the child has said that a charge is made, when it has nothing more to say."""
    total = 0
    while more := os.read(reading, 4096):
        total += len(more)
    return total


def ask(ledger, times, acknowledge, question=QUESTION):
    for _ in range(times):
        try:
            ledger.charge(question)
        except OverBudget:
            continue
        acknowledge()


@pytest.mark.parametrize("opened", ["before the fork", "after it"])
def test_forked_processes_spend_exactly_the_budget(tmp_path, opened):
    ledger = budget_for(51, tmp_path / "crowd")

    def work(acknowledge):
        ask(ledger if opened == "before the fork" else hc.Ledger.open(tmp_path / "crowd"), 25, acknowledge)

    with forked(work) as (_, one), forked(work) as (_, two), forked(work) as (_, three):
        assert heard(one) + heard(two) + heard(three) == 51
    assert ledger.questions == 51
    assert ledger.spent_exactly == 1


SPAWNED = """
import sys
import headcount as hc
ledger = hc.Ledger.open(sys.argv[1])
done = 0
for _ in range(40):
    try:
        ledger.charge(hc.protocol("randomised-response", n=10, keep=0.51))
        done += 1
    except hc.Refused:
        pass
print(done)
"""


def test_threads_with_one_file_spend_exactly_the_budget(tmp_path):
    ledger, done = budget_for(41, tmp_path / "crowd"), []
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(ledger, 10, lambda: done.append(1)), range(8)))
    assert len(done) == 41 == ledger.questions


def test_spawned_processes_spend_exactly_the_budget(tmp_path):
    ledger = budget_for(61, tmp_path / "crowd")
    command = [sys.executable, "-W", "error", "-c", SPAWNED, str(tmp_path / "crowd")]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    counts = [int(child.communicate()[0]) for child in children]
    assert sum(counts) == 61 == ledger.questions


def test_without_the_lock_two_processes_overspend(tmp_path, monkeypatch):
    """The twin: both have looked before either writes."""
    budget_for(1, tmp_path / "crowd")
    together, append = multiprocessing.get_context("fork").Barrier(2), files.append

    def work(acknowledge):
        import fcntl

        monkeypatch.setattr(fcntl, "flock", lambda *_: None)
        monkeypatch.setattr(files, "append", lambda *given: (together.wait(60), append(*given)))
        ask(hc.Ledger.open(tmp_path / "crowd"), 1, acknowledge)

    with forked(work) as (_, one), forked(work) as (_, two):
        assert heard(one) + heard(two) == 2  # of one


def test_a_child_forked_in_the_middle_of_a_charge_does_not_keep_the_lock(tmp_path, monkeypatch):
    """It has the parent's open file, and so the lock, until the parent gives that back."""
    ledger, append, children = budget_for(5, tmp_path / "crowd"), files.append, []
    reading, writing = os.pipe()

    def forks(*given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            os.read(reading, 1)  # lives on until it is told
            os._exit(0)
        children.append(child)
        append(*given)

    with monkeypatch.context() as once:
        once.setattr(files, "append", forks)
        ledger.charge(QUESTION)
    ledger.charge(QUESTION)
    os.write(writing, b".")
    os.waitpid(children[0], 0)
    os.close(reading)
    os.close(writing)
    assert ledger.questions == 2


def test_kills_lose_no_acknowledged_charge(tmp_path):
    """Thirty processes charge in a loop and are killed there, at whatever they are doing."""
    ledger, acknowledged = hc.Ledger.create(tmp_path / "crowd", epsilon=50), 0
    small = hc.protocol("randomised-response", n=10, keep=0.50001)

    def work(acknowledge):
        ask(hc.Ledger.open(tmp_path / "crowd"), 30_000, acknowledge, small)

    for kill in range(30):
        with forked(work) as (child, pipe):
            for _ in range(kill % 7):
                acknowledged += len(os.read(pipe, 1))
            os.kill(child, signal.SIGKILL)
            acknowledged += heard(pipe)
        kept = hc.Ledger.verify(tmp_path / "crowd").questions
        assert acknowledged <= kept <= acknowledged + kill + 1
    ledger.charge(small)
    assert ledger.questions == hc.Ledger.verify(tmp_path / "crowd").questions == kept + 1


CALLS = ("flock", "ftruncate", "write", "fsync", "close")


def dying(monkeypatch, at):
    """From now on, the process dies at its system call of this number; a write gets half of its bytes done."""
    import fcntl

    left = [at]

    def deadly(call, name):
        def instead(*given):
            left[0] -= 1
            if left[0] < 0:
                if name == "write":
                    call(given[0], bytes(given[1])[: len(given[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given)

        return instead

    for name in CALLS:
        home = fcntl if name == "flock" else os
        monkeypatch.setattr(home, name, deadly(getattr(home, name), name))


def charge_and_die(path, monkeypatch, at, charge):
    """How many charges a child acknowledged that died at this system call, and how many are kept."""
    before = hc.Ledger.verify(path).questions
    say = os.write

    def work(acknowledge):
        ledger = hc.Ledger.open(path, witness=path.with_name("witness"))
        dying(monkeypatch, at)
        charge(ledger, lambda: say(writing, b"."))

    reading, writing = os.pipe()
    with forked(work):
        pass
    os.close(writing)
    acknowledged = heard(reading)
    os.close(reading)
    return acknowledged, hc.Ledger.verify(path, witness=path.with_name("witness")).questions - before


def properly(ledger, say):
    ledger.charge(QUESTION)
    say()


def too_early(ledger, say):
    say()
    ledger.charge(QUESTION)


def test_dying_at_any_system_call_loses_no_acknowledged_charge(tmp_path, monkeypatch):
    path = tmp_path / "crowd"
    budget_for(1_000, path)
    outcomes = [charge_and_die(path, monkeypatch, at, properly) for at in range(16)]
    assert all(acknowledged <= kept <= 1 for acknowledged, kept in outcomes)
    assert {(0, 0), (0, 1), (1, 1)} == {*outcomes}  # before it is kept, between, and after
    hc.Ledger.open(path, witness=tmp_path / "witness").charge(QUESTION)


def test_an_acknowledgement_before_the_charge_is_found_out(tmp_path, monkeypatch):
    budget_for(1_000, tmp_path / "crowd")
    assert (1, 0) in [charge_and_die(tmp_path / "crowd", monkeypatch, at, too_early) for at in range(4)]
