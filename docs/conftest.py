"""Examples draw the same secret coins in every run, as tests do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def pytest_configure(config):
    config.pluginmanager.import_plugin("entropy")
