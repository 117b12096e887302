"""Numbers as people pass them: Python's or numpy's, never truth values, text or NaN."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from headcount.errors import BadArgument

DECIMAL = re.compile(r"-?\d+([.,]\d+)?")  # text that would be a number without quotes, or with a point


def require_confidence(confidence: Any) -> None:
    """Refuses a confidence that is none: 95 where 0.95 is meant, or 0.05."""
    works = "use a number from 0.5 to below 1, for example 0.95"
    number = quantity("confidence", confidence, works)
    if 1.0 < number < 100.0:
        works = f"write {number:g}% as {number / 100.0:g}"
    if not 0.5 <= number < 1.0:
        raise BadArgument("confidence", f"is {number:g}", works)


def quantity(argument: str, value: Any, works: str) -> float:
    """The value as a float; whole numbers stay exact as long as a float can hold them."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        if isinstance(value, str) and DECIMAL.fullmatch(value):
            works = f"write {value.replace(',', '.')}, a number"
        raise BadArgument(argument, f"is {value!r}", works)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise BadArgument(argument, f"is {value!r}", works)
    return number
