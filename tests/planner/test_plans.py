"""Plans in files: read back exactly or refused, and run on files as they are."""

import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.protocols.base import saved
from headcount.protocols.base.plan import FORMAT

N = 600
TASKS = [
    hc.Count(),
    hc.Fraction(),
    hc.Sum.whole((0, 120)),
    hc.Mean((0, 120)),
    hc.Histogram(["chrome", "lynx", "\ud800"]),
]


def planned(task, **given):
    return hc.advise(task, **{"n": N, "epsilon": 1, "delta": 1e-6, "models": ["central"], **given}).best


PLAN = planned(hc.Count())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame(
        {
            "person": np.arange(N) // 2,
            "clicked": np.arange(N) % 5 == 0,
            "browser": ["chrome", "lynx", "lynx"] * (N // 3),
            "age": np.arange(N) // 2 % 100,
            "size": [1, 2, 3] * (N // 3),
        }
    )
    pq.write_table(pa.Table.from_pandas(people), "people.parquet")
    people.to_csv("people.csv", index=False)
    return tmp_path


def headcount(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, hc.Refused):
        return str(done.exception)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_plans_come_back_from_files(task, tmp_path):
    plan = planned(task)
    path = plan.save(tmp_path / "plan.json")
    again = hc.load_plan(path, hash=plan.hash)
    assert (again, again.hash) == (plan, plan.hash)
    kept = json.loads(path.read_text())
    assert list(kept) == ["format", "headcount", "hash", "plan"]
    assert (kept["format"], kept["headcount"], kept["hash"]) == (FORMAT, hc.__version__, plan.hash)
    assert list(tmp_path.iterdir()) == [path]  # nothing is left beside it


def test_a_plan_replaces_a_plan_and_nothing_else(tmp_path):
    path = PLAN.save(tmp_path / "plan.json")
    other = planned(hc.Count(), epsilon=2)
    assert hc.load_plan(other.save(path)) == other
    for content in ("clicked\n1\n", "{}", '{"format": "headcount certificate 1"}', "[1]", "\xff" * 3, "[" * 10_000):
        path.write_text(content, encoding="latin-1")
        with pytest.raises(hc.Refused, match="exists and is not a plan"):
            PLAN.save(path)
        assert path.read_text(encoding="latin-1") == content
    with pytest.raises(hc.Refused, match="exists and is not a plan"):
        PLAN.save(tmp_path)
    with pytest.raises(hc.Refused, match="cannot be written"):
        PLAN.save(tmp_path / "nowhere" / "plan.json")


def test_a_plan_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = PLAN.save(tmp_path / "plan.json")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(hc.Refused, match="No space left"):
        planned(hc.Count(), epsilon=2).save(path)
    assert hc.load_plan(path) == PLAN
    assert list(tmp_path.iterdir()) == [path]


def changed(kept, how):
    if how == "budget":
        kept["plan"]["budget"]["epsilon"] = 2.0
    if how == "noise":
        kept["plan"]["parameters"]["scale"] /= 2
    if how == "hash":
        kept["hash"] = "0" * 64
    if how == "more":
        kept["note"] = "hello"
    if how == "less":
        del kept["headcount"]
    if how == "infinite":
        kept["plan"]["parameters"]["scale"] = float("inf")
    return kept


@pytest.mark.parametrize("how", ["budget", "noise", "hash", "more", "less"])
def test_what_was_edited_is_refused(how, tmp_path):
    path = PLAN.save(tmp_path / "plan.json")
    path.write_text(json.dumps(changed(json.loads(path.read_text()), how)))
    with pytest.raises(hc.Refused, match=r"was changed since it was saved: .* or make the plan anew"):
        hc.load_plan(path)


def test_an_infinite_parameter_is_not_json(tmp_path):
    path = PLAN.save(tmp_path / "plan.json")
    path.write_text(json.dumps(changed(json.loads(path.read_text()), "infinite")))
    with pytest.raises(hc.Refused, match="is not JSON"):
        hc.load_plan(path)


def test_what_was_edited_and_hashed_anew_must_still_be_a_plan(tmp_path):
    """The budget is checked again: less noise under the same promise does not pass."""
    path = PLAN.save(tmp_path / "plan.json")
    kept = changed(json.loads(path.read_text()), "noise")
    path.write_text(json.dumps({**kept, "hash": saved.fingerprint(kept["plan"])}))
    with pytest.raises(hc.Refused, match=r"programme|over the budget"):
        hc.load_plan(path)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "is not JSON"),
        ("clicked\n1\n", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"a": 1, "a": 2}', "is not JSON"),
        ("[1, 2]", "is not a saved plan"),
        ("{}", "is not a saved plan"),
        (json.dumps(PLAN.to_json()), "is not a saved plan"),
        (json.dumps(hc.certify(PLAN).to_json()), "is a certificate"),
        ('{"format": "headcount plan 2", "headcount": "9.9"}', "a form that this version does not know"),
    ],
    ids=lambda said: str(said)[:40],
)
def test_what_is_no_plan_is_refused(content, match, tmp_path):
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(hc.Refused, match=match):
        hc.load_plan(tmp_path / "plan.json")


def test_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path, match in (("binary", "is not text"), ("nothing", "No such file"), (".", "cannot be read")):
        with pytest.raises(hc.Refused, match=match):
            hc.load_plan(tmp_path / path)


def test_another_version_is_named_where_it_matters(tmp_path, monkeypatch):
    path = PLAN.save(tmp_path / "plan.json")
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "headcount": "0.0.1"}))
    assert hc.load_plan(path) == PLAN  # it still means the same
    kept["plan"]["programme"] = {"nothing": []}
    path.write_text(json.dumps({**kept, "headcount": "0.0.1", "hash": saved.fingerprint(kept["plan"])}))
    with pytest.raises(hc.Refused, match=r"written by headcount 0\.0\.1, and this is"):
        hc.load_plan(path)
    with pytest.raises(hc.Refused, match="is that of another plan"):
        hc.load_plan(PLAN.save(tmp_path / "other.json"), hash="0" * 64)


def test_runs_take_columns_as_the_questions_do(folder):
    frame = pd.read_csv("people.csv")
    assert abs(hc.run(PLAN, frame, column="browser", where="chrome").value - 200) < 40
    assert hc.run(planned(hc.Mean((0, 120)), n=300), frame, column="age", unit="person").n == 300
    with pytest.raises(hc.Refused, match="where is for counts"):
        hc.run(planned(hc.Mean((0, 120))), frame, column="age", where=3)
    with pytest.raises(hc.Refused, match="needs data in one piece"):
        hc.run(PLAN, iter([np.zeros(N)]), column="age")


def test_what_does_not_fit_is_refused_before_it_is_charged():
    ledger = hc.Ledger(epsilon=9, delta=1e-4)
    for data, match in (
        (np.zeros(N - 1), "a plan for 599 people"),
        (np.full(N, 2), "other than 0 and 1"),
        (["x"] * N, "other than 0 and 1"),
    ):
        with pytest.raises(hc.Refused, match=match):
            hc.run(PLAN, data, ledger=ledger)
    sampled = planned(hc.Count(), models=["shuffle-threshold"])
    with pytest.raises(hc.Refused, match="at most 600 people"):
        hc.run(sampled, np.zeros(N + 1), ledger=ledger)
    assert ledger.questions == 0


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
def test_the_command_line_runs_plans(folder, file):
    PLAN.save("count.json")
    answer = json.loads(headcount("run", "count.json", file, "--column", "clicked", "--format", "json"))
    assert (answer["protocol"], answer["parameters"]["scale"]) == ("geometric", PLAN.protocol.parameters["scale"])
    assert abs(answer["value"] - 120) < 40
    planned(hc.Histogram(["chrome", "lynx"])).save("browsers.json")
    assert "chrome" in headcount("run", "browsers.json", file, "--column", "browser")
    planned(hc.Histogram([1, 2, 3])).save("sizes.json")
    assert "all at once" in headcount("run", "sizes.json", file, "--column", "size")
    planned(hc.Mean.whole((0, 120)), n=300).save("ages.json")
    answer = json.loads(
        headcount("run", "ages.json", file, "--column", "age", "--unit", "person", "--clamp", "--format", "json")
    )
    assert (answer["n"], answer["task"]) == (300, "mean")


def test_the_command_line_refuses_what_does_not_fit(folder):
    PLAN.save("count.json")
    planned(hc.Mean((0, 120)), n=N + 1).save("mean.json")
    run = ("run", "count.json", "people.csv", "--column")
    assert "other than 0 and 1" in headcount(*run, "age")
    assert "which the file does not have" in headcount(*run, "nobody")
    assert "use where=" in headcount(*run, "browser")
    assert "a plan for 600 people" in headcount("run", "mean.json", "people.csv", "--column", "age")
    planned(hc.Mean((0, 120)), n=N).save("fitting.json")
    assert "must be numbers" in headcount("run", "fitting.json", "people.csv", "--column", "browser")
    assert "is not JSON" in headcount("run", "people.csv", "people.csv", "--column", "age")


def test_the_command_line_charges_a_ledger(folder):
    PLAN.save("count.json")
    headcount("ledger", "create", "crowd.ledger", "--epsilon", "1.5", "--delta", "1e-5")
    run = ("run", "count.json", "people.csv", "--column", "clicked", "--ledger", "crowd.ledger")
    headcount(*run)
    assert hc.Ledger.open("crowd.ledger").charges[0].plan == PLAN.hash
    assert "would need 67% of the budget and 33% is left" in headcount(*run)


def test_a_mean_is_certified_from_its_plan(folder):
    plan = planned(hc.Mean.whole((0, 120)))
    plan.save("mean.json")
    headcount("certify", "mean.json", "--out", "certificate.json")
    assert json.loads((folder / "certificate.json").read_text())["plan"] == plan.hash
    assert "PROVED" in headcount("verify", "certificate.json")
    assert "says everything else by itself" in headcount(
        "certify", "mean.json", "--n", "9", "--out", "certificate.json"
    )
    assert "--n is missing for zsum" in headcount("certify", "zsum", "--epsilon", "1", "--out", "certificate.json")
    assert "--epsilon is missing for zsum" in headcount("certify", "zsum", "--n", "9", "--out", "certificate.json")
