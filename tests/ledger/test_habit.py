"""Questions about the same people without a ledger: that answers add up is said, and not all the time."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headcount as hc
from cli.shell import headcount
from headcount.ledger.habit import _asked, habit

BITS = np.arange(1_000) % 4 == 0
SAID = "had no ledger"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "customers.csv"
    pd.DataFrame({"left": BITS.astype(int)}).to_csv(path, index=False)
    return path


def test_a_frame_that_is_asked_again_says_so_the_second_time_and_the_fourth() -> None:
    frame = pd.DataFrame({"left": BITS})
    answers = [hc.count(frame, column="left", epsilon=1, model="central") for _ in range(5)]
    assert [SAID in str(answer) for answer in answers] == [False, True, False, True, False]
    assert "2 questions" in answers[1].habit
    assert "(ε=2, δ=0)" in answers[1].habit
    assert "Ledger.open" in str(answers[1])
    assert SAID in answers[1]._repr_html_()


def test_nothing_is_said_of_other_data_of_lists_or_with_a_ledger() -> None:
    frame, ledger = pd.DataFrame({"left": BITS}), hc.Ledger(epsilon=10)
    for _ in range(2):
        assert SAID not in str(hc.count(frame, column="left", epsilon=1, model="central", ledger=ledger))
        assert SAID not in str(hc.count(BITS.tolist(), epsilon=1, model="central"))
        assert SAID not in str(hc.count(pd.DataFrame({"left": BITS}), column="left", epsilon=1, model="central"))


def test_what_is_gone_is_forgotten() -> None:
    budget, data = hc.Budget(1), BITS.copy()
    habit(data, budget)
    key = id(data)
    assert key in _asked
    del data
    gc.collect()
    assert key not in _asked


def test_what_has_no_one_adjacency_has_no_sum() -> None:
    data = BITS.copy()
    habit(data, hc.Budget(1))
    assert "cost" not in habit(data, hc.Budget(1, neighbours=hc.Neighbours.ADD_REMOVE))


ASKED = ("count", "customers.csv", "--column", "left", "--epsilon", 1, "--model", "central")


def test_the_command_line_remembers_files_between_its_runs(file: Path) -> None:
    told = [headcount(*ASKED, where=file.parent) for _ in range(4)]
    assert [SAID in done.stderr for done in told] == [False, True, False, True]
    assert "headcount ledger create" in told[1].stderr
    assert SAID not in told[1].stdout
    (kept,) = (file.parent / "state").rglob("asked")
    assert "customers" not in kept.read_text()


def test_where_nothing_can_be_kept_answers_come_all_the_same(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(file))  # which is no folder
    assert [headcount(*ASKED, where=file.parent).returncode for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("line", ["5", "[]", '{"file": 1}', "[" * 100_000, '{"file"', "\x00\ufffd"])
def test_what_was_kept_may_be_nonsense(line: str, file: Path) -> None:
    kept = file.parent / "state" / "headcount" / "asked"
    kept.parent.mkdir(parents=True)
    kept.write_text(f"{line}\n" * 3)
    told = [headcount(*ASKED, where=file.parent) for _ in range(2)]
    assert [done.returncode for done in told] == [0, 0]
    assert [SAID in done.stderr for done in told] == [False, True]


def test_what_was_asked_is_for_its_owner_alone(file: Path) -> None:
    kept = file.parent / "state" / "headcount" / "asked"
    kept.parent.mkdir(parents=True)
    kept.touch(mode=0o644)  # as others could read it
    headcount(*ASKED, where=file.parent)
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_ledger_that_cannot_be_reached_is_not_taken_for_none(file: Path) -> None:
    (file.parent / "headcount.ledger").symlink_to(file.parent / "disk" / "that is not there")
    done = headcount(*ASKED, where=file.parent)
    assert done.returncode == 2
    assert "headcount.ledger does not exist" in done.stderr
    assert done.stdout == ""


def test_a_ledger_in_the_folder_is_charged_and_named(file: Path) -> None:
    where = file.parent
    assert "headcount.ledger" in headcount("ledger", "create", "--epsilon", 2.5, where=where).stderr
    done = headcount(*ASKED, where=where)
    assert "charged to headcount.ledger" in done.stderr
    assert headcount(*ASKED, "--ledger", "none", where=where).returncode == 0
    shown = headcount("ledger", "show", where=where).stdout
    assert "1 question" in shown
    assert "another 7 counts at epsilon 0.2" in shown
    assert headcount(*ASKED, where=where).returncode == 0
    over = headcount(*ASKED, where=where)
    assert over.returncode == 2
    assert "Ask with --epsilon" in over.stderr
    assert headcount("ledger", "show", "--plot", "spent.svg", where=where).returncode == 0
    assert "Still possible" in (where / "spent.svg").read_text()


def test_what_is_left_is_told_in_questions() -> None:
    ledger = hc.Ledger(epsilon=1)
    assert ledger.outlook() == (
        "Still possible: another count at epsilon 1, or another 4 counts at epsilon 0.2, or another 19 counts at "
        "epsilon 0.05"
    )  # the doubles 0.2 and 0.05 are a little larger than a fifth and a twentieth
    other = hc.Ledger(epsilon=1)
    for _ in range(4):
        hc.count([1, 0] * 50, epsilon=0.2, model="central", ledger=other)
    with pytest.raises(hc.errors.OverBudget):
        hc.count([1, 0] * 50, epsilon=0.2, model="central", ledger=other)
    hc.count([1, 0] * 50, epsilon=1, model="central", ledger=ledger)
    assert ledger.outlook() == "Nothing more can be asked"
