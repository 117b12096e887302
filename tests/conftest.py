"""What all tests share: this folder's modules can be imported, and a run may be given a time by which it ends."""

import time

import pytest

import needs

BEGUN = time.monotonic()


def pytest_addoption(parser):
    parser.addoption("--minutes", type=float, help="Begin no test after so many minutes: the others are skipped.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """All tests that need the same are told of in one line."""
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, needs.Absent):
        report.longrepr = ("tests", 0, f"Skipped: {call.excinfo.value}")
    return report


@pytest.fixture
def under_stress(request):
    """Whether there is time for chances that nobody has tried before."""
    return request.node.get_closest_marker("stress") is not None


def pytest_runtest_setup(item):
    minutes = item.config.getoption("--minutes")
    if minutes is not None and time.monotonic() > BEGUN + 60 * minutes:
        pytest.skip(f"the {minutes:g} minutes of this run are over")
