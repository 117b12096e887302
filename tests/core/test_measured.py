"""What is left to stress because it takes long."""

from measured import LIMIT, long

LONGER = 2 * LIMIT


def test_of_each_test_the_long_instances_are_listed_and_the_quickest_is_not():
    taken = {
        "tests/core/test_a.py::test_some": {"some[1]": LONGER, "some[2]": LIMIT / 2, "some[3]": 3 * LIMIT},
        "tests/core/test_a.py::test_all": {"all[1]": 2 * LONGER, "all[2]": LONGER},
        "tests/core/test_a.py::test_single": {"single": LONGER},
    }
    assert sorted(long(taken)) == ["all[1]", "some[1]", "some[3]"]


def test_engines_and_twins_always_run():
    instances = {"of[1]": LONGER, "of[2]": LONGER}
    for test in ("tests/service/test_a.py::test_b", "tests/core/test_a.py::test_the_suite_catches"):
        assert not [*long({test: instances})]
