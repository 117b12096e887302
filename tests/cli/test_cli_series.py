"""A series on the command line: shown, saved, drawn, charged once, and refused before it is charged."""

import json

import pandas as pd
import pytest
from shell import headcount

import headcount as hc

ASKED = (
    "--time",
    "day",
    "--unit",
    "who",
    "--first",
    "2026-01-05",
    "--rounds",
    "3",
    "--epsilon",
    "1",
    "--delta",
    "1e-6",
)


@pytest.fixture
def folder(tmp_path):
    day = ["2026-01-05", "2026-01-13", "2026-01-13", "2026-01-20"] * 50
    frame = pd.DataFrame({"day": day, "who": range(200), "plan": ["a", "b"] * 100})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    hc.Ledger.create(tmp_path / "crowd.ledger", epsilon=2, delta=1e-5, neighbours="add-remove")
    return tmp_path


def test_all_rounds_are_shown_saved_drawn_and_charged_once(folder):
    asked = ("series", "rows.csv", *ASKED, "--ledger", "crowd.ledger")
    done = headcount(*asked, "--save", "weeks.parquet", "--plot", "weeks.png", "--format", "json", where=folder)
    assert done.returncode == 0, done.stderr
    records = json.loads(done.stdout)
    assert [each["begins"] for each in records] == ["2026-01-05", "2026-01-12", "2026-01-19"]
    assert [round(each["answer"], -1) for each in records] == pytest.approx([50, 100, 50], abs=20)
    assert pd.read_parquet(folder / "weeks.parquet")["cumulative"].tolist() == [each["cumulative"] for each in records]
    assert (folder / "weeks.png").stat().st_size > 10_000
    assert hc.Ledger.open(folder / "crowd.ledger").questions == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--save", "weeks.xlsx"), "--save"),
        (("--save", "rows.csv"), "--save"),
        (("--every", "fortnight"), "--every"),
        (("--categories", "a,b", "--column", "plan"), "--cell"),
        (("--column", "plan"), "--where"),
    ],
)
def test_refusals_name_the_option_and_charge_nothing(folder, more, said):
    done = headcount("series", "rows.csv", *ASKED, "--ledger", "crowd.ledger", *more, where=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert not hc.Ledger.open(folder / "crowd.ledger").charges
    assert len(pd.read_csv(folder / "rows.csv")) == 200


def test_one_category_is_shown(folder):
    asked = ("--categories", "a,b", "--column", "plan", "--cell", "b")
    done = headcount("series", "rows.csv", *ASKED, *asked, "--ledger", "none", where=folder)
    assert "2026-01-12" in done.stdout, done.stderr
