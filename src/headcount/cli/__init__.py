"""The command line."""

from __future__ import annotations

import gc

gc.set_threshold(50_000, 20, 100)  # importing makes some hundred thousand objects, none of which is garbage
