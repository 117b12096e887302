"""The command line.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

import gc

gc.set_threshold(50_000, 20, 100)  # importing makes some hundred thousand objects, none of which is garbage
