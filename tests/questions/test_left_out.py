"""A question without an argument that it needs is refused with what to say."""

import pytest

import headcount as hc

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
    with pytest.raises(hc.errors.BadArgument, match=r"missing={'churned': 'other'}"):
        hc.table(people, missing={"churned": "no"}, **asked)
    with pytest.raises(hc.errors.BadArgument, match="missing is 'no', which is for counts, and this is a table"):
        hc.table(people, missing="no", **asked)
    with pytest.raises(hc.errors.BadArgument, match=r"synonyms={'yes': \['Yes', 'Y', 'true'\]}"):
        hc.table(people, spelled=True, **asked)
    answer = hc.table(people, missing={"churned": "other"}, synonyms={"yes": ["Yes", "Y"]}, **asked)
    assert 180 < answer["churned"]["yes"].value < 220
