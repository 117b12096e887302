"""What is left to stress because it takes long."""

from types import SimpleNamespace

from measured import LIMIT, group, long
from stress import in_turn

LONGER = 2 * LIMIT


def test_of_each_test_the_long_instances_are_listed_and_the_quickest_is_not():
    taken = {
        "tests/common/test_a.py::test_some": {"some[1]": LONGER, "some[2]": LIMIT / 2, "some[3]": 3 * LIMIT},
        "tests/common/test_a.py::test_all": {"all[1]": 2 * LONGER, "all[2]": LONGER},
        "tests/common/test_a.py::test_single": {"single": LONGER},
    }
    assert sorted(long(taken)) == ["all[1]", "some[1]", "some[3]"]


def test_engines_and_twins_always_run():
    instances = {"of[1]": LONGER, "of[2]": LONGER}
    for test in ("tests/service/test_a.py::test_b", "tests/common/test_a.py::test_the_suite_catches"):
        assert not [*long({test: instances})]


def test_instances_of_one_check_and_of_several_that_share_a_name_are_one_group():
    first, second, other = (
        group(f"tests/a.py::test_conformance[zsum-count-replace-{name}]") for name in ("it_holds0", "it_holds1", "more")
    )
    assert first == second != other
    assert group("tests/a.py::test_b[2]") == group("tests/a.py::test_b[1]") != group("tests/a.py::test_c[1]")


class Instance:
    """Of a test, on a database."""

    def __init__(self, test, **params):
        self.nodeid, self.callspec, self.marks = f"{test}[{params}]", SimpleNamespace(params=params), []

    def get_closest_marker(self, _):
        return next(iter(self.marks), None)

    def add_marker(self, mark):
        self.marks.append(mark)


def test_many_instances_run_on_either_database_in_turn_and_few_on_both():
    few, many = (
        [Instance(test, databases=on, number=number) for number in range(amount) for on in ("sqlite", "postgresql")]
        for test, amount in (("few", 3), ("many", 5))
    )
    in_turn([*few, *many])
    assert [item for item in few if item.marks] == []
    left = [(item.callspec.params["number"], item.callspec.params["databases"]) for item in many if not item.marks]
    assert left == [(0, "sqlite"), (1, "postgresql"), (2, "sqlite"), (3, "postgresql"), (4, "sqlite")]
