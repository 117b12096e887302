"""Numbers as people pass them: Python's or numpy's, never truth values, text or NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headcount.core.errors import BadArgument


def quantity(argument: str, value: Any, works: str) -> float:
    """The value as a float; whole numbers stay exact as long as a float can hold them."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise BadArgument(argument, f"is {value!r}", works)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise BadArgument(argument, f"is {value!r}", works)
    return number
