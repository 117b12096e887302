"""The shuffler's gauges. They name no collection: the worst of each is shown."""

from __future__ import annotations

from headcount.service.runtime.gauges import Gauges
from headcount.service.runtime.metrics import REPORTS
from headcount.service.shuffler.shuffler import Shuffler

LATE = 0.1  # of a window: from then on a batch with too few reports is late


def of_shuffler(shuffler: Shuffler) -> Gauges:
    """How many open batches have enough reports, the smallest share of `least` that has come, and the next expiry."""
    batches, shares = dict.fromkeys(REPORTS, 0), []
    for name in shuffler.names():
        told, window = shuffler.state(name), shuffler.collection(name).window
        for batch in told["batches"]:
            if batch["state"] == "open":
                share = batch["reports"] / told["least"]
                closing = batch["closes"] - shuffler.clock() < LATE * window
                batches["enough" if share >= 1 else "late" if closing else "short"] += 1
                shares.append(share)
    keys = [row["expires"] for row in shuffler.outer.table() if row["state"] == "active"]
    return {"batches": batches, "share": min(shares, default=None), "expires": min(keys, default=None)}
