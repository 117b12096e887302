"""What all tests share: this folder's modules can be imported, and a run may be given a time by which it ends."""

import time

import pytest

BEGUN = time.monotonic()


def pytest_addoption(parser):
    parser.addoption("--minutes", type=float, help="Begin no test after so many minutes: the others are skipped.")


@pytest.fixture
def under_stress(request):
    """Whether there is time for chances that nobody has tried before."""
    return request.node.get_closest_marker("stress") is not None


def pytest_runtest_setup(item):
    minutes = item.config.getoption("--minutes")
    if minutes is not None and time.monotonic() > BEGUN + 60 * minutes:
        pytest.skip(f"the {minutes:g} minutes of this run are over")
