"""An axis of a figure: label, scale, limits and ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headcount.figures.canvas import decades, log_axis, number

TINY, HUGE = 1e-4, 5e6  # beyond them, ticks are powers of ten
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")  # digits of an exponent
LONG = 1e6  # numbers so long that only a few fit below a panel


@dataclass(frozen=True)
class Axis:
    """A label and a scale: linear unless `log`, in percent if it shows `shares`.

    The data set the limits that are not given; a linear vertical axis begins at zero.
    """

    label: str
    log: bool = False
    shares: bool = False
    low: float | None = None
    high: float | None = None

    def shows(self, value: float) -> bool:
        """Whether the value has a place: it is finite, and positive on a logarithmic axis."""
        return math.isfinite(value) and (value > 0.0 or not self.log)

    def part(self, value: float, ends: tuple[float, float]) -> float:
        """How far the value lies from one end to the other: between 0 and 1 within the limits."""
        low, high = ends
        return math.log(value / low) / math.log(high / low) if self.log else (value - low) / (high - low)

    def divide(self, axis: Any, values: Sequence[float], *, tight: bool) -> None:
        """Set limits and ticks of axes.xaxis or axes.yaxis, with a margin unless `tight`."""
        axis.set_label_text(self.label)
        low, high = min(values), max(values)
        if self.log:
            room = 1.0 if tight and low < high else (high / low) ** 0.04 * 1.1
            low, high = self._told(low / room, high * room)
            log_axis(axis, low, high)
            powers, long = low < TINY or high > HUGE, tight and high >= LONG
            if (powers or long) and len(ticks := decades(low, high, 7 if powers else 4)) > 1:
                name = _power if powers else number
                getattr(axis.axes, f"set_{axis.axis_name}ticks")(ticks, [name(tick) for tick in ticks])
        else:
            if not tight:
                beneath, low = 0.03 if low <= 0.0 else 0.0, min(0.0, low)
                low, high = low - beneath * (high - low), high + 0.06 * (high - low)
            low, high = self._told(low, high if high > low else low + 1.0)
            getattr(axis.axes, f"set_{axis.axis_name}lim")(low, high)
            axis.axes.locator_params(axis=axis.axis_name, nbins=6, integer=tight and all(v % 1 == 0 for v in values))
            axis.set_major_formatter(lambda value, _: number(value))
        if self.shares:
            axis.set_major_formatter(lambda value, _: f"{round(100.0 * value, 8):g}%")

    def _told(self, low: float, high: float) -> tuple[float, float]:
        return low if self.low is None else self.low, high if self.high is None else self.high


def _power(tick: float) -> str:
    exponent = round(math.log10(tick))
    return number(tick) if -4 < exponent < 4 else f"10{str(exponent).translate(RAISED)}"
