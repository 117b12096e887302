"""What all tests share: this folder's modules can be imported, and a run may be given a time by which it ends.

A run that has a time goes through its tests in an order that is drawn anew, so that every test has its turn.
"""

import gc
import os
import secrets
import shutil
import sys
import tempfile
import time
import warnings
from hashlib import sha256
from pathlib import Path

import pytest

import needs
import sparks
from measured import Measured
from shares import in_shares, server_of
from stress import LONG, STRESS, in_turn

sys.path.insert(0, str(Path(__file__).parent / "service"))

REMEMBERED = tempfile.mkdtemp(prefix="headcount-")  # what the command line remembers of its runs
os.environ["XDG_STATE_HOME"] = REMEMBERED

BEGUN = time.monotonic()
gc.disable()  # while tests are collected, of which nothing goes


def pytest_collection_finish():
    gc.freeze()  # nobody need look through them again
    gc.enable()


def pytest_unconfigure():
    shutil.rmtree(REMEMBERED, ignore_errors=True)
    gc.unfreeze()  # what is frozen is not freed at exit either, and DuckDB would list all of it as leaked


def pytest_xdist_auto_num_workers():
    """Three for two cores: tests of servers, databases and browsers wait a third of their time."""
    return max(1, len(os.sched_getaffinity(0)) * 3 // 2)


def pytest_addoption(parser):
    parser.addoption("--minutes", type=float, help="Begin no test after so many minutes: the others are skipped.")
    parser.addoption("--order", type=int, help="The order in which tests run: with --minutes drawn, unless given.")
    parser.addoption("--measure", action="store_true", help="Write anew which instances of tests take long.")


def pytest_configure(config):
    """What is drawn here the workers are told."""
    config.pluginmanager.import_plugin("entropy")
    config.pluginmanager.register(Order())
    if config.getoption("--measure"):
        config.pluginmanager.register(Measured())
    if config.getoption("--minutes") is not None and config.getoption("--order") is None:
        config.option.order = secrets.randbelow(1 << 32)


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--order") is not None:
        terminalreporter.write_line(f"the same order again: --order {config.getoption('--order')}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items if not config.getoption("--measure") else ():
        if item.nodeid in LONG:
            item.add_marker(STRESS)
    in_turn(items)


class Order:
    """In which tests run, once it is known which do: an order that is drawn, or one that starts few servers."""

    @staticmethod
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(config, items):
        if (order := config.getoption("--order")) is not None:
            items.sort(key=lambda item: sha256(f"{order} {item.nodeid}".encode(errors="surrogatepass")).digest())
        else:
            workers = getattr(config, "workerinput", {}).get("workercount", 1)
            items[:] = in_shares(items, server_of, workers)


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


@pytest.fixture
def spark(request):
    """Spark on this machine, or what the module says. It leaves sockets to the collector of garbage at any time."""
    needs.java()
    warnings.filterwarnings("ignore", "unclosed", ResourceWarning)  # until the test ends
    yield sparks.running(getattr(request.module, "MASTER", sparks.TWICE)).session
    with warnings.catch_warnings(action="ignore"):
        gc.collect()  # the sockets that answers came through
