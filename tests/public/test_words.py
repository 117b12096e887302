"""The glossary: every word that headcount prints or takes is explained, however it is spelt."""

import json
import re
from pathlib import Path

import pytest
import rich.table
import typer
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.planner import glossary
from headcount.planner.glossary import entries, entry
from headcount.planner.glossary_basics import ALSO, TOPICS
from headcount.planner.objective import Objective
from headcount.questions import QUESTIONS

DOCS = Path(__file__).parents[2] / "docs" / "json.md"
BUDGET = ["--epsilon", "1", "--delta", "1e-2"]
PRINTING = [
    ["advise", "count", "--n", "60", *BUDGET],
    [
        "advise",
        "histogram",
        "--n",
        "60",
        "--categories",
        "3",
        "--epsilon",
        "1",
        "--objective",
        "worst-bin",
        "--model",
        "local",
    ],
    ["advise", "count", "--n", "60", "--epsilon", "1", "--objective", "detectable", "--model", "local"],
    ["advise", "count", "--n", "60", "--epsilon", "1", "--objective", "relative", "--ones", "9", "--model", "local"],
    ["advise", "count", "--n", "60", "--within", "30", "--model", "central", "--collected", "--model", "local"],
    ["advise", "mean", "--epsilon", "1", "--bounds", "0", "9", "--within", "1", "--model", "central"],
    ["count", "people.csv", "--column", "clicked", *BUDGET],
    ["histogram", "people.csv", "--column", "clicked", "--categories", "2", "--epsilon", "1", "--model", "local"],
    ["mean", "people.csv", "--column", "clicked", "--bounds", "0", "1", *BUDGET],
    ["compare", "people.csv", "--column", "clicked", *BUDGET],
    ["compare", "people.csv", "--column", "clicked", "--categories", "2", "--epsilon", "1"],
    ["price", "zsum", "--n", "60", *BUDGET],
    ["ledger", "create", "crowd.ledger", *BUDGET],
    ["certify", "zsum", "--n", "60", *BUDGET, "--out", "certificate.json"],
    ["verify", "certificate.json"],
    ["audit", "zsum", "--samples", "1e3"],
    ["frontier", "count", "--n", "60", "--epsilon", "1", "--model", "local"],
    ["study", "list"],
    ["protocols"],
]


def unexplained(words):
    missing = []
    for word in sorted(words):
        try:
            entry(word)
        except hc.Refused:
            missing.append(word)
    return missing


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Headings, labels and names in JSON of everything that the commands print."""
    folder, words = tmp_path_factory.mktemp("printed"), set()
    (folder / "people.csv").write_text("clicked\n" + "1\n0\n0\n" * 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        column, row = rich.table.Table.add_column, rich.table.Table.add_row

        def add_column(table, header="", *rest, **more):
            words.add(str(header))
            return column(table, header, *rest, **more)

        def add_row(table, *cells, **more):
            if not any(str(part.header) for part in table.columns):  # a table of labels, and what they stand for
                words.add(str(cells[0]))
            return row(table, *cells, **more)

        patch.setattr(rich.table.Table, "add_column", add_column)
        patch.setattr(rich.table.Table, "add_row", add_row)
        for command in PRINTING:
            done = CliRunner().invoke(app, command)
            assert done.exit_code == 0, (command, done.output, done.exception)
            if command[0] not in {"certify", "ledger"}:
                words |= set(names(json.loads(CliRunner().invoke(app, [*command, "--format", "json"]).stdout)))
        words |= set(
            names(json.loads(CliRunner().invoke(app, ["ledger", "show", "crowd.ledger", "--format", "json"]).stdout))
        )
    return words - {""}


def names(value):
    """Names in JSON, but for those of a protocol's own parameters, and of what only hc.load_answer reads."""
    if isinstance(value, list):
        return [name for part in value for name in names(part)]
    if not isinstance(value, dict):
        return []
    below = [name for key, part in value.items() if key not in ("parameters", "released") for name in names(part)]
    return [*value, *below]


def documented(text):
    """Names in braces and in the first column of tables, and all names of the advice's options."""
    names = set(re.findall(r'"([a-z][\w ]*)"', " ".join(re.findall(r"`[{\[][^`]*`", text))))
    for line in text.splitlines():
        if line.startswith("| `"):
            names |= set(re.findall(r"`([^`]+)`", line.split(" | ")[0]))
    advice = text.split("## `headcount advise")[1].split("\n## ")[0]
    return names | {name for name in re.findall(r"`([a-z]\w*)`", advice) if name != "null"}


def options(command):
    found = {name for part in command.params if not getattr(part, "hidden", False) for name in part.opts}
    return found | {name for below in getattr(command, "commands", {}).values() for name in options(below)}


def test_whatever_is_printed_is_explained(printed):
    categories = {"0", "1", "2"}
    assert {"rmse", "wire_bytes", "95% interval", "worst bin", "price of trust", "guarantee", "stands"} <= printed
    assert unexplained(printed - categories) == []


def test_whatever_is_documented_is_explained():
    names = documented(DOCS.read_text(encoding="utf-8"))
    assert {"delta_slack", "smallest_n", "hits", "remaining", "collectable", "price_of_trust"} <= names
    assert unexplained(names) == []


def test_every_option_is_explained():
    found = options(typer.main.get_command(app)) - {"--help"}
    assert {"--epsilon", "--curator-type", "--max-messages", "--collected"} <= found
    assert unexplained(found) == []
    assert unexplained([*Objective, *(objective.words for objective in Objective)]) == []


def test_a_word_that_is_not_explained_is_found():
    """The twin: with one word less in the glossary, or one more in the documents, the checks above fail."""
    assert unexplained({"epsilon", "frobnication"}) == ["frobnication"]
    assert unexplained(documented(DOCS.read_text(encoding="utf-8") + '\n`{"frobnication"}`\n')) == ["frobnication"]
    hidden = glossary._known() | {}
    del hidden["rmse"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glossary, "_known", lambda: hidden)
        assert unexplained({"rmse", "delta"}) == ["rmse"]


@pytest.mark.parametrize("protocol", hc.CATALOGUE, ids=lambda protocol: protocol.name)
def test_every_protocol_is_explained(protocol):
    text = hc.explain(protocol.name)
    assert protocol.reference in text
    assert "Trusted: nobody" in text if protocol.model is hc.Model.LOCAL else "Trusted: nobody" not in text


@pytest.mark.parametrize(
    ("spelt", "word"),
    [("ε", "epsilon"), ("95% interval", "interval95"), ("99.5% interval", "interval95"), ("error (rmse)", "rmse"),
     ("--curator-type", "curator-type"), ("LOCAL_EPSILON", "local_epsilon"), ("local epsilon", "local_epsilon"),
     (" worst-bin ", "worst bin"), ("add_remove", "add-remove"), ("if they collude", "collusion")],
)  # fmt: skip
def test_spelling_does_not_matter(spelt, word):
    assert hc.explain(spelt) == hc.explain(word)
    assert hc.explain(word).startswith(f"{word}: ")


def test_unknown_words_get_their_nearest():
    with pytest.raises(hc.Refused, match="'epsilom' is not explained; the nearest are epsilon"):
        hc.explain("epsilom")
    with pytest.raises(hc.Refused, match=r"the nearest are .*simultaneous95"):
        hc.explain("simul")
    with pytest.raises(hc.Refused, match="all of them are listed"):
        hc.explain("qqqqqqq")
    with pytest.raises(hc.Refused, match="as text"):
        hc.explain(3)


def test_synonyms_stand_for_words_and_words_stand_once():
    words = ["task", *QUESTIONS, *(word for topic in TOPICS.values() for word in topic)]
    keys = [glossary._key(word) for word in [*words, *ALSO, *(protocol.name for protocol in hc.CATALOGUE)]]
    assert len(keys) == len(set(keys))
    assert set(ALSO.values()) <= set(words)
    assert len(entries()) == len(words) + len(hc.CATALOGUE)


def test_meanings_are_sentences():
    for one in entries():
        assert re.match(r"[A-Z`0-9]", one.meaning), one
        assert one.meaning.endswith("."), one
        assert len(one.meaning) < 420, one


def test_the_figures_in_the_meanings_are_true():
    def error(model, n):
        return hc.advise(hc.Count(), n=n, epsilon=1, delta=1e-6, models=[model]).feasible[0].rmse

    assert "off by 1.4 people" in hc.explain("central")
    assert round(error("central", 10), 1) == round(error("central", 10**6), 1) == 1.4
    assert "10,000 people is typically off by 96" in hc.explain("local")
    assert round(error("local", 10_000)) == 96
    assert "10,000 people is typically off by 1.4" in hc.explain("shuffle")
    assert round(error("shuffle", 10_000), 1) == 1.4
    assert round(error("local", 10_000) / error("central", 10_000)) == 71


def test_the_command_line_explains():
    run = CliRunner()
    assert run.invoke(app, ["explain", "95%", "interval"]).output.startswith("interval95: ")
    assert run.invoke(app, ["explain", "--least"]).output.startswith("least: ")
    assert json.loads(run.invoke(app, ["explain", "zsum", "--format", "json"]).output)["topic"] == "protocols"
    everything = run.invoke(app, ["explain"]).output
    assert all(word in everything for word in ("epsilon", "who is trusted", "shuffled-hybrid"))
    assert len(json.loads(run.invoke(app, ["explain", "--format", "json"]).stdout)) == len(entries())
    assert "zsum" in repr(hc.explain())


def test_several_words_are_explained_one_after_the_other():
    run = CliRunner()
    lines = run.invoke(app, ["explain", "epsilon", "95%", "interval", "--least"]).output
    assert [word for word in ("epsilon: ", "interval95: ", "least: ") if word in lines] == re.findall(
        r"^\w+: ", lines, re.M
    )
    both = json.loads(run.invoke(app, ["explain", "delta", "zsum", "--format", "json"]).output)
    assert [one["word"] for one in both] == ["delta", "zsum"]
    assert "'frobnication' is not explained" in str(run.invoke(app, ["explain", "delta", "frobnication"]).exception)
