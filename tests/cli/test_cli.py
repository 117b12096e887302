"""The command line: what it prints, its JSON, its exit codes."""

import csv
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shell import alone, headcount

from headcount.cli.numbers import whole
from headcount.cli.options import categories_of, where_of
from headcount.errors import BadArgument
from headcount.protocols import CATALOGUE
from headcount.questions.domains.domain import Shape
from stress import lengths


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    clicked = (np.arange(2_000) % 5 == 0).astype(int)
    colour = np.where(clicked, "red", "blue")
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["person", "clicked", "colour", "gaps", "truth"])
        writer.writerows(
            [i, c, colour[i], "" if i == 3 else c, "true" if c else "false"] for i, c in enumerate(clicked.tolist())
        )
    table = pa.table(
        {"person": np.arange(2_000) // 2, "clicked": clicked, "colour": colour, "flag": clicked.astype(bool)}
    )
    pq.write_table(table, folder / "people.parquet")
    (folder / "broken.parquet").write_bytes(b"not parquet at all")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("clicked\n")
    (folder / "binary.csv").write_bytes(b"clicked\n\xff\xfe\x00")
    (folder / "twice.csv").write_text("clicked,clicked\n1,0\n")
    (folder / "headless.csv").write_text("Alice Smith,positive\nBob,negative\n")
    (folder / "notes.txt").write_text("clicked\n1\n")
    return folder


BUDGET = ("--epsilon", "1", "--delta", "1e-6")
CLICKED = ("people.csv", "--column", "clicked")
GAMMA = ("--param", "gamma=0.1")


@pytest.mark.parametrize(
    "arguments",
    [("people.csv", "--column", "clicked"), ("people.parquet", "--column", "clicked"),
     ("people.parquet", "--column", "flag"), ("people.csv", "--column", "truth"),
     ("people.csv", "--column", "colour", "--where", "red"), ("people.parquet", "--column", "colour", "--where", "red"),
     ("people.csv", "--column", "clicked", "--where", "1"), ("people.csv", "--column", "clicked", "--unit", "person")],
    ids=" ".join,
)  # fmt: skip
def test_count_answers_from_files(files, arguments):
    done = headcount("count", *arguments, *BUDGET, "--format", "json", where=files)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert abs(answer["value"] - 400) < 40
    assert (answer["model"], answer["simulated"]) == ("central", False)


def test_unit_counts_people_not_rows(files):
    done = headcount(
        "count", "people.parquet", "--column", "clicked", "--unit", "person", *BUDGET, "--format", "json", where=files
    )
    assert json.loads(done.stdout)["n"] == 1_000


def test_fraction_and_other_formats(files):
    done = headcount("fraction", "people.csv", "--column", "clicked", *BUDGET, "--format", "csv", where=files)
    row = next(csv.DictReader(done.stdout.splitlines()))
    assert abs(float(row["value"]) - 0.2) < 0.02
    shown = headcount("count", "people.csv", "--column", "clicked", *BUDGET, where=files).stdout
    assert "95% interval" in shown
    assert "(ε=1, δ=1e-06), replace-one, central, geometric, n=2,000, exact" in shown


def test_devices_that_are_simulated_are_said_to_be(files):
    asked = ("count", "people.csv", "--column", "clicked", *BUDGET, "--model", "shuffle")
    shown = headcount(*asked, where=files).stdout
    assert "shuffle (simulated devices), correlated-count" in shown
    assert "by the data holder, who has every answer" in shown
    assert json.loads(headcount(*asked, "--format", "json", where=files).stdout)["simulated"] is True


REFUSED = {
    "no such file": (("count", "nobody.csv", "--column", "clicked", *BUDGET), "nobody.csv"),
    "wrong column": (("count", "people.csv", "--column", "clicks", *BUDGET), "use clicked"),
    "wrong column of parquet": (("count", "people.parquet", "--column", "clicks", *BUDGET), "person, clicked"),
    "wrong unit": (
        ("count", "people.csv", "--column", "clicked", "--unit", "who", *BUDGET),
        "use one of person, clicked",
    ),
    "missing values": (("count", "people.csv", "--column", "gaps", *BUDGET), "missing"),
    "text column": (("count", "people.csv", "--column", "colour", *BUDGET), "where"),
    "numbers": (("count", "people.csv", "--column", "person", *BUDGET), "where"),
    "not parquet": (("count", "broken.parquet", "--column", "clicked", *BUDGET), "Parquet"),
    "empty file": (("count", "empty.csv", "--column", "clicked", *BUDGET), "empty"),
    "only a header": (("count", "header.csv", "--column", "clicked", *BUDGET), "empty"),
    "binary": (("count", "binary.csv", "--column", "clicked", *BUDGET), "UTF-8"),
    "two of a name": (("count", "twice.csv", "--column", "clicked", *BUDGET), "twice"),
    "two ideas of trust": (("count", *CLICKED, *BUDGET, "--protocol", "zsum", "--model", "local"), "leave one"),
    "nobody honest": (("price", "zsum", "--n", "9", *GAMMA, "--epsilon", "1", "--honest", "0"), "--honest"),
    "tiny epsilon": (("count", *CLICKED, "--epsilon", "1e-9", "--model", "central"), "0.001"),
    "tiny delta": (("count", *CLICKED, "--epsilon", "1", "--delta", "1e-300"), "1e-18"),
    "another kind of file": (("count", "notes.txt", "--column", "clicked", *BUDGET), ".parquet, .csv"),
    "a folder": (("count", ".", "--column", "clicked", *BUDGET), ".parquet, .csv"),
    "epsilon": (("count", "people.csv", "--column", "clicked", "--epsilon", "0"), "epsilon"),
    "delta": (("count", "people.csv", "--column", "clicked", "--epsilon", "1", "--delta", "2"), "delta"),
    "no delta": (
        ("count", "people.csv", "--column", "clicked", "--epsilon", "1", "--model", "shuffle"),
        "--delta 1e-6",
    ),
    "model": (("count", "people.csv", "--column", "clicked", *BUDGET, "--model", "x"), "central"),
    "parameter": (
        ("count", "people.csv", "--column", "clicked", *BUDGET, "--protocol", "zsum", "--param", "x=1"),
        "gamma",
    ),
    "parameter text": (("price", "zsum", "--n", "9", "--param", "gamma", "--epsilon", "1"), "name=number"),
    "a percentage": (
        ("advise", "count", "--n", "9", *BUDGET, "--confidence", "95"),
        "--confidence is 95; write 95% as",
    ),
    "ten or ten thousand": (("advise", "count", "--n", "10.000", *BUDGET), "--n is '10.000'"),
    "one or several": (("advise", "count", "--n", "9999", *BUDGET, "--ones", "1,000"), "one number or several"),
    "bounds": (("advise", "mean", "--n", "9", *BUDGET, "--bounds", "9", "0"), "for example --bounds 0 120"),
    "a range": (
        ("advise", "count", "--n", "9..1", *BUDGET),
        "--n is '9..1'; write a number of people",
    ),
    "nothing serves": (
        ("advise", "count", "--n", "9", "--epsilon", "1", "--model", "shuffle"),
        "no protocol of the shuffle model can serve (cheu-count, one-sided-count, zsum, poisson-count, "
        "negative-binomial-count, correlated-count: cannot give delta = 0; use --delta 1e-6 or another model)",
    ),
    "a figure": (("advise", "count", "--n", "9", *BUDGET, "--plot", "a.gif"), "--plot is 'a.gif'"),
    "no bounds": (
        ("mean", *CLICKED, *BUDGET),
        "--bounds is missing; say between which values one person counts, as in",
    ),
    "no columns": (("table", "people.csv", *BUDGET), "as in --columns sex=f,m"),
    "no epsilon": (("count", *CLICKED), "as in --epsilon 1; smaller is more private"),
    "no time": (("series", "people.csv", *BUDGET), "--time is missing; name the column that holds the times"),
    "clip": (("compare", "people.csv", "--column", "person", "--bounds", "0", "9", *BUDGET), "or use --clip"),
    "nobody": (("advise", "count", "--n", "0", *BUDGET), "from 1 to"),
    "price of nothing": (("price", "zsum", "--n", "100", "--param", "gamma=0.1"), "--epsilon"),
    "price without parameters": (("price", "zsum", "--n", "100", "--epsilon", "1"), "gamma"),
    "unknown protocol": (("price", "zzz", "--n", "100", "--epsilon", "1"), "zsum"),
    "parameter out of range": (("price", "zsum", "--n", "100", "--epsilon", "1", "--param", "gamma=2"), "0.5"),
}


@pytest.mark.parametrize(("arguments", "hint"), REFUSED.values(), ids=REFUSED.keys())
def test_refusals_are_one_helpful_line_and_exit_code_2(files, arguments, hint):
    done = headcount(*arguments, where=files)
    assert done.returncode == 2
    assert hint in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(("written", "hint"), {"0,2": "write 0.2", "little": "write a number, as 0.2"}.items())
def test_an_epsilon_that_is_no_number_is_refused_with_how_to_write_it(files, written, hint):
    done = headcount("count", *CLICKED, "--epsilon", written, where=files)
    assert (done.returncode, hint in done.stderr) == (2, True)


def test_a_usage_error_exits_with_2_too(files):
    assert headcount("count", "people.csv", where=files).returncode == 2


def priced(*arguments):
    return json.loads(headcount("price", *arguments, "--format", "json").stdout)


def test_price_json_is_the_documented_one():
    zsum = priced("zsum", "--n", 10_000, "--param", "gamma=0.0034", "--epsilon", 1)
    assert list(zsum) == [
        "protocol", "parameters", "epsilon", "delta", "delta_slack", "neighbours", "accounting", "epsilon_at_least",
        "std_error", "messages_per_person", "liar",
    ]  # fmt: skip
    assert 0.9e-6 < zsum["delta"] < 1.1e-6
    assert zsum["std_error"] == pytest.approx((34 * (1 - 0.0034)) ** 0.5, rel=1e-5)


def test_a_lower_bound_stands_beside_an_upper_one():
    rappor = priced("shuffled-basic-rappor", "--categories", 100, "--n", 10_000, "--epsilon", 1, "--delta", 1e-6)
    assert rappor["accounting"] == "bound"
    assert 0.95 < rappor["epsilon_at_least"] < 0.96
    zsum = priced("zsum", "--n", 10_000, "--epsilon", 1, "--delta", 1e-6)
    assert 0.9999 < zsum["epsilon_at_least"] < 1
    assert priced("zsum", "--n", 10_000, "--param", "gamma=1e-12", "--delta", 1e-6)["epsilon_at_least"] is None


def test_price_backwards_and_calibrated():
    backwards = headcount(
        "price", "poisson-count", "--n", 100, "--param", "mean=34.07", "--delta", 1e-6, "--format", "json"
    )
    assert json.loads(backwards.stdout)["epsilon"] == pytest.approx(1.0, rel=1e-3)
    calibrated = headcount(
        "price", "sample-threshold", "--n", 10_000, "--param", "threshold=17", *BUDGET, "--format", "json"
    )
    assert json.loads(calibrated.stdout)["parameters"]["rate"] == pytest.approx(0.302, rel=0.01)


def test_price_with_fewer_honest_people():
    def delta(*more):
        arguments = (
            "price",
            "zsum",
            "--n",
            10_000,
            "--param",
            "gamma=0.0034",
            "--epsilon",
            1,
            "--format",
            "json",
            *more,
        )
        return json.loads(headcount(*arguments).stdout)["delta"]

    assert delta("--honest", 7_000) > 10 * delta()


def test_price_of_an_infinite_epsilon_is_null():
    assert priced("zsum", "--n", 5, "--param", "gamma=0.01", "--delta", 1e-6)["epsilon"] is None


def test_protocols_lists_the_catalogue():
    rows = json.loads(headcount("protocols", "--format", "json").stdout)
    assert [row["name"] for row in rows] == [protocol.name for protocol in CATALOGUE]
    assert list(rows[0]) == ["name", "model", "tasks", "parameters", "relations", "collectable", "reference"]
    trusted = {row["name"] for row in rows if row["model"] in ("central", "shuffle-threshold")}
    assert {"laplace", "geometric", "stability-histogram", "sample-threshold"} <= trusted
    assert {row["name"] for row in rows if not row["collectable"]} == trusted


def test_advise_in_every_format():
    table = headcount("advise", "count", "--n", 10_000, *BUDGET, "--ones", 200).stdout
    assert "correlated-count" in table
    assert "You trust" in table
    assert (
        json.loads(headcount("advise", "count", "--n", 1_000, *BUDGET, "--format", "json").stdout)["best"]
        == "geometric"
    )
    rows = list(
        csv.DictReader(headcount("advise", "count", "--n", 1_000, *BUDGET, "--format", "csv").stdout.splitlines())
    )
    assert len(rows) == sum(Shape.BIT in protocol.shapes for protocol in CATALOGUE)


def test_the_demonstration_counts_over_the_network(tmp_path):
    done = alone("demo", "--people", 150, where=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "150 devices have reported" in done.stdout
    assert "Its certificate is proved" in done.stdout


def test_a_file_without_a_header_does_not_betray_anybody(files):
    done = headcount("count", "headless.csv", "--column", "disease", *BUDGET, where=files)
    assert done.returncode == 2
    assert "Alice" not in done.stderr


def test_the_version_is_printed():
    assert headcount("--version").stdout.strip().count(".") == 2


@pytest.fixture
def visitors(tmp_path):
    rows = "\n".join(f"{i},{i % 4 == 0:d},{'abc'[i % 3]},{i % 50}" for i in range(3_000))
    path = tmp_path / "visitors.csv"
    path.write_text(f"id,clicked,browser,age\n{rows}\n")
    return path


def test_a_histogram_in_every_format(visitors):
    asked = ("histogram", visitors, "--column", "browser", "--categories", "a,b", "--other", *BUDGET)
    described = json.loads(headcount(*asked, "--format", "json").stdout)
    assert [cell["category"] for cell in described["cells"]] == ["a", "b"]
    assert abs(described["other"]["value"] - 1_000) < 60
    rows = list(csv.DictReader(headcount(*asked, "--format", "csv").stdout.splitlines()))
    assert [row["category"] for row in rows] == ["a", "b", "(other)"]
    assert "all at once, 95%" in headcount(*asked).stdout


def test_bins_groups_sums_and_means(visitors):
    binned = headcount("histogram", visitors, "--column", "age", "--bins", "0,18,50", *BUDGET, "--format", "json")
    assert [cell["category"] for cell in json.loads(binned.stdout)["cells"]] == ["[0, 18)", "[18, 50]"]
    asked = ("count", visitors, "--column", "clicked", "--by", "browser", "--categories", "a,b,c", *BUDGET)
    grouped = json.loads(headcount(*asked, "--format", "json").stdout)
    assert all(abs(cell["value"] - 250) < 60 for cell in grouped["cells"])
    for verb, truth, within in (("sum", 73_500, 800), ("mean", 24.5, 0.3)):
        asked = (verb, visitors, "--column", "age", "--bounds", 0, 50, "--model", "central", *BUDGET)
        assert abs(json.loads(headcount(*asked, "--format", "json").stdout)["value"] - truth) < within


@lengths("models", ("--model", "central", "--model", "local"), ())
@pytest.mark.parametrize(
    "asked",
    [
        ("histogram", "--categories", 20),
        ("histogram",),
        ("sum", "--bounds", 0, 1),
        ("mean", "--bounds", 0, 120, "--whole"),
        ("fraction",),
    ],
    ids=str,
)
def test_advice_for_every_task(asked, models):
    told = headcount("advise", *asked, "--n", 20_000, *BUDGET, *models, "--format", "json")
    described = json.loads(told.stdout)
    assert described["task"] == asked[0]
    assert described["best"] is not None
    for option in described["options"]:
        assert (option["rmse"] is None) == (not option["feasible"])


def test_prices_of_histograms_and_sums():
    asked = ("price", "poisson-histogram", "--n", 10_000, "--categories", 100, *BUDGET, "--format", "json")
    assert json.loads(headcount(*asked).stdout)["parameters"]["mean"] == pytest.approx(42.65, rel=1e-3)
    asked = ("price", "cheu-sum", "--n", 10_000, "--bounds", 0, 1, "--param", "levels=32", *BUDGET, "--format", "json")
    assert json.loads(headcount(*asked).stdout)["std_error"] == pytest.approx(4.55, rel=0.01)


def test_labels_are_text_whatever_they_look_like(tmp_path):
    """Whether a file of numbers holds one word must not decide what becomes of the question."""
    for last in ("2", "x"):
        path = tmp_path / f"{last}.csv"
        path.write_text("kind\n" + "1\n2\n" * 500 + f"{last}\n")
        asked = ("histogram", path, "--column", "kind", "--categories", "1,2,x", *BUDGET, "--format", "json")
        assert [cell["category"] for cell in json.loads(headcount(*asked).stdout)["cells"]] == ["1", "2", "x"]


def test_numbers_of_a_parquet_file_are_categories_too(tmp_path):
    path = tmp_path / "kinds.parquet"
    pd.DataFrame({"kind": [1, 2] * 500}).to_parquet(path)
    asked = ("histogram", path, "--column", "kind", "--categories", "1,2", *BUDGET, "--format", "json")
    assert [cell["category"] for cell in json.loads(headcount(*asked).stdout)["cells"]] == [1, 2]


def test_refusals_name_options_as_they_are_typed(visitors):
    asked = ("histogram", visitors, "--column", "browser", "--categories", "a,b", *BUDGET)
    assert "--other" in headcount(*asked).stderr
    asked = ("sum", visitors, "--column", "age", "--bounds", 0, 10, *BUDGET)
    assert "--clip" in headcount(*asked).stderr
    unknown = ("histogram", visitors, "--column", "browser", *BUDGET)
    assert "--model central" in headcount(*unknown, "--model", "shuffle").stderr


@pytest.mark.parametrize("text", ["10000", "10,000", "10_000", "1e4", "1.0e4", " 10000 "])
def test_a_number_of_people_may_be_typed_in_many_ways(text):
    assert whole("--n", text) == 10_000


@pytest.mark.parametrize("text", ["10.000", "10k", "1,00", "1e400", "inf", "nan", "", "1.5", "1e-3"])
def test_what_is_not_clear_is_no_number_of_people(text):
    with pytest.raises(BadArgument, match="10000, 10,000 or 1e4"):
        whole("--n", text)


def test_every_command_takes_such_numbers():
    shown = headcount("advise", "count", "--n", "1,000..1e4", *BUDGET, "--model", "central,local").stdout
    assert shown.startswith("1,000 to 10,000 people")
    assert shown.index("geometric") < shown.index("randomised-response") < shown.index("  - ")
    assert priced("zsum", "--n", "10,000", "--param", "gamma=0.0034", "--epsilon", 1)["delta"] < 1e-5
    assert "'10k' is not clear" in headcount("price", "zsum", "--n", "10k", "--epsilon", 1).stderr
    assert categories_of("1,000") == categories_of("1e3") == 1_000
    assert categories_of("1,2,x") == ["1", "2", "x"]


def test_what_is_written_is_said(tmp_path):
    asked = ("advise", "count", "--n", 500, *BUDGET, "--model", "local", "--save", "plan.json", "--plot", "a/b.svg")
    done = headcount(*asked, where=tmp_path)
    assert "written to plan.json\nwritten to a/b.svg, in a new folder\n" in done.stdout
    done = headcount(*asked, "--format", "json", where=tmp_path)
    assert done.stderr == "written to plan.json\nwritten to a/b.svg\n"
    assert json.loads(done.stdout)["best"] == "randomised-response"


def test_nothing_serves_in_json_either():
    asked = ("advise", "count", "--n", 9, "--epsilon", 1, "--model", "shuffle", "--format", "json")
    done = headcount(*asked)
    assert done.returncode == 2
    assert json.loads(done.stdout)["best"] is None
    assert done.stderr.startswith("headcount: no protocol of the shuffle model can serve")


def test_the_advice_is_in_the_words_of_the_command_line():
    done = headcount("advise", "count", "--n", 1_000, *BUDGET, "--model", "shuffle", "--max-messages", 1)
    assert "use --max-messages 1.035" in done.stdout
    assert "max_messages" not in done.stdout


def test_messages_in_passing_are_spelt_as_options_too(files):
    assert "use for example --delta 1e-6" in headcount("compare", *CLICKED, "--epsilon", 1, where=files).stdout
    binned = headcount("histogram", "people.csv", "--column", "person", "--bins", 5, *BUDGET, where=files)
    assert "--bounds is missing" in binned.stderr
    nobody = headcount("demo", "--people", 0)
    assert (nobody.returncode, nobody.stdout) == (2, "")


@pytest.mark.parametrize(
    ("typed", "declared"),
    [
        ("1", 1), ("-2", -2), ("2.5", 2.5), ("true", True), ("False", False), ("007", "007"), ("+1", "+1"),
        ("1e3", "1e3"), ("Yes", "Yes"), (str(2**53), str(2**53)), (str(2**53 - 1), 2**53 - 1),
    ],
)  # fmt: skip
def test_the_spelling_of_a_value_says_what_it_declares(typed, declared):
    (found,) = where_of([typed])
    assert (type(found), found) == (type(declared), declared)


def test_categories_are_numbers_where_each_of_them_is_one():
    assert categories_of("1,-2,0.5") == [1, -2, 0.5]
    assert categories_of("01,2") == ["01", "2"]
    assert categories_of("true,false") == ["true", "false"]


@pytest.mark.parametrize(
    ("held", "others", "typed"), [("1.0", ["0.0", "n/a"], "1"), ("True", ["False", "maybe"], "true")]
)
def test_one_cell_does_not_change_how_the_others_are_read(held, others, typed, tmp_path):
    for other in others:
        (tmp_path / "people.csv").write_text("x\n" + f"{held}\n" * 1000 + f"{other}\n")
        asked = ("count", "people.csv", "--column", "x", "--where", typed, "--epsilon", 50, "--model", "central")
        assert round(json.loads(headcount(*asked, "--format", "json", where=tmp_path).stdout)["value"]) == 1000
