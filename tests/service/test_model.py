"""Whatever happens in whatever order: nobody is counted twice, nobody who was taken is lost, answers never change."""

import os
import shutil

import pytest
from cluster import quick_folder
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from model_machine import Machine
from rig import Rig

from headcount.errors import HeadcountError
from headcount_service.analyser import releases
from headcount_service.shuffler import batches, intake
from headcount_service.shuffler.shuffler import Answer, Shuffler
from headcount_service.wire.deduplication import Deduplication
from stress import lengths


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Reports come one by one, and need not wait for company."""
    monkeypatch.setattr(intake, "GATHER", 0.0)


def run(new, sequences, drawn_from=None, under_stress=False):
    """Looking for a shorter sequence that fails takes minutes, for which there is time under stress only."""
    kind = {} if under_stress else {"phases": [Phase.generate]}
    settled = settings(
        max_examples=sequences,
        stateful_step_count=50,
        deadline=None,
        database=None,
        print_blob=True,
        derandomize=not under_stress and drawn_from is None,
        report_multiple_bugs=False,
        suppress_health_check=[*HealthCheck],
        **kind,
    )

    def machine():
        return Machine(new)

    run_state_machine_as_test(machine if drawn_from is None else seed(drawn_from)(machine), settings=settled)


def copies_of(first):
    def new():
        place = quick_folder("headcount-model-")
        return first.copied(place), lambda: shutil.rmtree(place)

    return new


@lengths("sequences", 6, 100, times=20)
def test_on_sqlite(folder, sequences, under_stress):
    run(copies_of(Rig.made(folder / "first")), sequences, under_stress=under_stress)


@lengths("sequences", 3, 50, times=10)
def test_on_postgresql(folder, postgres, sequences, under_stress):
    likes = {role: postgres.database() for role in ("shuffler", "analyser")}
    first = Rig.made(folder / "first", {role: postgres.address(name) for role, name in likes.items()})

    def new():
        place = quick_folder("headcount-model-")
        names = {role: postgres.database(like) for role, like in likes.items()}

        def gone():
            for name in names.values():
                postgres.drop(name)
            shutil.rmtree(place)

        return first.copied(place, {role: postgres.address(name) for role, name in names.items()}), gone

    run(new, sequences, under_stress=under_stress)


opened, mixed = releases._opened, batches.mixed_blocks
TWINS = {
    "copies of a message are counted": (
        releases,
        "_opened",
        lambda report_format, part, key, _: (
            record
            for at in range(0, len(part), report_format.message_bytes)
            for record in opened(report_format, part[at : at + report_format.message_bytes], key, set())
        ),
    ),
    "a retry is kept again": (Deduplication, "keyed_hash", lambda *_: os.urandom(16)),
    "what was not kept is acknowledged": (Shuffler, "accept", lambda _, uploads: [Answer.TAKEN] * len(uploads)),
    "a window never ends": (Shuffler, "_within", lambda *_: True),
    "a message is lost in the mixing": (
        batches,
        "mixed_blocks",
        lambda blocks, size, *rest: (block[:-size] + bytes(size) for block in mixed(blocks, size, *rest)),
    ),
}


@pytest.mark.parametrize("twin", TWINS)
def test_it_finds(twin, folder, monkeypatch):
    """Services with one thing wrong each."""
    monkeypatch.setattr(*TWINS[twin])
    with pytest.raises((AssertionError, HeadcountError, ExceptionGroup)):
        run(copies_of(Rig.made(folder / "first")), 200, drawn_from=2)
