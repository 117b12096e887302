"""Numbers as people pass them: Python's or numpy's, never truth values, text or NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headcount.core.errors import BadArgument


def quantity(argument: str, value: Any, works: str) -> float:
    """The value as a float; whole numbers stay exact as long as a float can hold them."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or math.isnan(value) or abs(value) > 1e300:
        raise BadArgument(argument, f"is {value!r}", works)
    return float(value)
