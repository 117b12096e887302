"""A question without an argument that it needs is refused with what to say."""

import pytest

import headcount as hc
from headcount.protocols.base.saved import task_from_json

LEFT_OUT = {
    hc.count: ({}, "epsilon is missing; say how private the answer is to be, as in epsilon=1"),
    hc.mean: ({"epsilon": 1}, r"bounds is missing; .* as in bounds=\(0, 500\) with clip=True"),
    hc.median: ({"epsilon": 1}, "bounds is missing"),
    hc.table: ({"epsilon": 1}, "columns is missing; say what each column holds, as in columns="),
}


@pytest.mark.parametrize(("asked", "given", "said"), [(asked, *told) for asked, told in LEFT_OUT.items()])
def test_what_is_left_out_is_named(asked, given, said):
    with pytest.raises(hc.errors.BadArgument, match=said):
        asked([1, 0, 1], **given)


def test_a_table_says_how_it_reads_yes_and_no():
    people = {"churned": ["Yes", "", "no", "Y"] * 100, "plan": ["a", "b"] * 200}
    asked = {"columns": {"churned": ["yes", "no"], "plan": ["a", "b"]}, "epsilon": 4}
    with pytest.raises(hc.errors.BadData, match="use spelled=True"):
        hc.table(people, missing={"churned": "no"}, **asked)
    with pytest.raises(hc.errors.BadArgument, match="missing is 'no', which means nothing here; use one of refuse"):
        hc.table(people, missing={"plan": "no"}, **asked)
    with pytest.raises(hc.errors.BadArgument, match=r"columns={'plan': \['yes', 'no'\]}"):
        hc.table(people, columns={"plan": ["a", "b"]}, spelled=True, epsilon=4)
    answer = hc.table(people, missing={"churned": "other"}, synonyms={"yes": ["Yes", "Y"]}, **asked)
    assert 180 < answer["churned"]["yes"].value < 220


SPELLED = {"churned": ["Yes", "", "no", "Y", "FALSE", "t", "0", "on"] * 50, "plan": ["a", "b"] * 200}


@pytest.mark.parametrize("stored", ["memory", "csv", "boolean"])
def test_a_table_and_a_histogram_read_yes_and_no_as_a_count_does(stored, tmp_path):
    people = SPELLED
    if stored == "csv":
        people = tmp_path / "people.csv"
        rows = zip(*SPELLED.values(), strict=True)
        people.write_text("\n".join(["churned,plan", *map(",".join, rows)]), encoding="utf-8")
    if stored == "boolean":
        people = {**SPELLED, "churned": [True, None, False, True, False, True, False, True] * 50}
    said = {"spelled": True, "missing": {"churned": "no"}, "epsilon": 40}
    count = hc.count(people, column="churned", **said)
    table = hc.table(people, columns={"churned": ["no", "yes"], "plan": ["a", "b"]}, **said)
    cells = hc.histogram(people, column="churned", categories=["yes", "no"], **said)
    assert count.value == table["churned"]["yes"].value == cells["yes"].value == 200
    assert table["churned", "plan"]["no", "b"].value == 50
    assert {"yes and no are read in any spelling", "a missing value counts as no"} <= {*cells.rules}
    for answer in (table, cells):
        assert task_from_json(answer.protocol.task.to_json()) == answer.protocol.task


def test_only_yes_and_no_are_spelled():
    people = {"plan": ["a", "b"] * 200}
    with pytest.raises(hc.errors.BadArgument, match="spelled is for yes and no"):
        hc.histogram(people, column="plan", categories=["a", "b"], spelled=True, epsilon=1)
    with pytest.raises(hc.errors.BadArgument, match="spelled is for yes and no"):
        hc.histogram([1, 2], bins=[0, 1, 2], spelled=True, epsilon=1)
    with pytest.raises(hc.errors.BadData, match="neither yes nor no"):
        hc.histogram(["yes", "nein"], categories=["yes", "no"], spelled=True, epsilon=1)
