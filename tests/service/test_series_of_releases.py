"""The released answers of a collection in rounds as a series: sums, changes, a chart, files."""

from pathlib import Path

import pandas as pd
import pytest
from rig import WINDOW, plan
from test_desk import Within
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.errors import BadArgument, UnknownCollection, Unsupported
from headcount.protocols.base.report_size import X25519, Wire
from headcount_service.analyser.duties import Duties
from headcount_service.operator.operator import Operator
from headcount_service.runtime.http import Request
from headcount_service.web.series import CollectedSeries
from headcount_service.wire.signed_release import Released

WEEKS = 3


@pytest.fixture
def weekly(parties, monkeypatch):
    """A histogram of three buckets in three rounds, of which the second has too few people."""
    desk = Operator(Within(parties, "shuffler"), Within(parties, "analyser"))
    monkeypatch.setattr("headcount_service.cli.collection._operator", lambda _: desk)
    parties.endowed(epsilon=2)
    protocol = hc.protocol("generalised-response", hc.Histogram(3), n=20, least=3, epsilon=0.3)
    planned = hc.Plan(protocol, hc.Budget(1, rounds=WEEKS), Wire(2, X25519))
    collection = parties.agreed(
        planned, batches=WEEKS, automatic=True, fixed=True, shortfall="purge", question="Weekly?"
    )
    for buckets in ([0, 1, 2, 2], [0], [0, 0, 0, 1, 1]):
        parties.reported(collection, *buckets)
        parties.clock.now += WINDOW
        parties.batches.advance()
        Duties(parties.analyser, parties.apps["analyser"].releases).advance()
    return desk, collection


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_a_collected_series_has_sums_changes_and_files(weekly, tmp_path):
    desk, collection = weekly
    series = desk.series(collection.id)
    told = {number: Released(desk.release(collection.id, number)).answer for number in (1, 3)}
    assert list(series.answers) == [1, 3]
    assert [answer.values.tolist() for answer in series.answers.values()] == [
        each.values.tolist() for each in told.values()
    ]
    label = told[1].categories[2]
    assert series.cumulative(cell=label).value == pytest.approx(told[1].values[2] + told[3].values[2])
    assert series.difference(3, 1, cell=label).value == pytest.approx(told[3].values[2] - told[1].values[2])
    files = [str(tmp_path / name) for name in ("weeks.parquet", "weeks.svg", "weeks.csv")]
    command = ["collection", "series", "--data", "x", "--cell", str(label), "--save", files[0], "--plot", files[1]]
    shown = CliRunner().invoke(app, command, catch_exceptions=False).stdout
    assert "skipped" in shown
    assert "Weekly?" in Path(files[1]).read_text()
    CliRunner().invoke(app, [*command[:4], "--format", "json", "--save", files[2]], catch_exceptions=False)
    parquet, csv = pd.read_parquet(files[0]), pd.read_csv(files[2])
    assert parquet["answer"].tolist() == pytest.approx(csv["answer"].tolist(), nan_ok=True)
    assert parquet["answer"].dropna().tolist() == pytest.approx([*told[1].values, *told[3].values])
    assert desk.series(collection.id).records() == series.records()


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_a_series_is_refused_of_a_plan_for_one_round_and_shown_by_category(parties, weekly, tmp_path):
    desk, _ = weekly
    with pytest.raises(BadArgument, match="--cell"):
        CliRunner().invoke(app, ["collection", "series", "--data", "x"], catch_exceptions=False)
    single = parties.agreed(plan(epsilon=0.5))
    with pytest.raises(BadArgument, match="one round"):
        desk.series(single.id)
    path = tmp_path / "plan.json"
    hc.Plan(plan().protocol, hc.Budget(1), Wire(2, X25519)).save(path)
    command = ["collection", "create", str(path), "--data", "x", "--question", "Yes?", "--every", "week"]
    before = desk.names()
    with pytest.raises(BadArgument, match=r"--every asks round after round.* for one round"):
        CliRunner().invoke(app, [*command, "--rounds", "52"], catch_exceptions=False)
    with pytest.raises(BadArgument, match="for one round"):
        CliRunner().invoke(app, command, catch_exceptions=False)
    assert desk.names() == before


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_the_page_shows_nothing_that_was_not_released(parties):
    parties.endowed(epsilon=2)
    protocol = hc.protocol("generalised-response", hc.Histogram(3), n=20, least=3, epsilon=0.3)
    collection = parties.agreed(hc.Plan(protocol, hc.Budget(1, rounds=WEEKS), Wire(2, X25519)), batches=WEEKS)
    for _ in range(2):
        parties.reported(collection, 0, 1, 2)
        parties.clock.now += WINDOW
        parties.batches.advance()
    page = CollectedSeries(parties.analyser)
    asked = Request({"collection": collection.id, "cell": "2"}, b"")

    def rows():
        return [row[1] for row in page.rounds(asked)["sheet"]["rows"]]

    def states():
        return [each["state"] for each in parties.analyser.state(collection.id)["batches"]]

    for part in (page.rounds, page.csv, page.parquet):
        with pytest.raises(Unsupported, match="no round has an answer yet"):
            part(asked)
    assert states() == ["delivered", "delivered"]
    parties.release(collection, 2)
    assert (rows()[0], len(rows()), states()) == ("skipped", 2, ["delivered", "released"])
    parties.release(collection, 1)  # the twin
    assert "skipped" not in rows()
    for place in ("3", "999"):
        with pytest.raises(BadArgument, match="cell is not there"):
            page.rounds(Request({**asked.path, "cell": place}, b""))
    parties.analyser.destroy(collection.id)
    with pytest.raises(UnknownCollection):
        page.csv(asked)
    assert page._kept == {}
