"""An answer that is a curve, or a table of several columns, as the page shows it."""

from __future__ import annotations

from typing import Any

from headcount.answers.distribution import DistributionEstimate
from headcount.answers.estimate import Estimate
from headcount.figures.text_table import TextTable
from headcount.figures.ticks import OF, spread_out

STOPS = 240  # of the slider


def curve_of(estimate: Estimate) -> dict[str, Any] | None:
    """How many people lie below some values, with interval and band; None for other answers."""
    if not isinstance(estimate, DistributionEstimate) or estimate.n is None:
        return None
    axis, places, band = estimate.axis, estimate.places, estimate.band()
    kept = spread_out(places, STOPS)
    step = places[kept[1]] - places[kept[0]]
    texts = [axis.marked(places[at], step if axis.numeric else axis.unit([places[0], step])) for at in kept]
    sums = [estimate.within_bins(0, at) for at in kept]
    low, high = places[0], places[-1]
    return {
        "people": estimate.n,
        "stops": [
            {
                "text": text,
                "at": (places[at] - low) / (high - low),
                "below": part.value,
                "low": part.interval()[0],
                "high": part.interval()[1],
                "band": [float(band[at, 2]), float(band[at, 3])],
            }
            for at, text, part in zip(kept, texts, sums, strict=True)
        ],
        "ticks": [{"at": (place - low) / (high - low), "text": text} for place, text in OF[axis.called](low, high)],
    }


def sheet_of(sheet: TextTable) -> dict[str, Any]:
    """A table of text, with the places of the columns that are figures."""
    return {
        "title": sheet.title,
        "headings": list(sheet.headings),
        "rows": [list(row) for row in sheet.rows],
        "figures": sorted(sheet.figures),
    }
