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
