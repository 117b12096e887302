"""Devices that are not there: each with a folder of its own, which is thrown away, to try a collection out."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headcount.planner.competitors import Watch
from headcount.service.client import Client
from headcount.service.limits import Limits
from headcount.service.receipt import Receipt

AT_ONCE = 16
ANYTHING = Limits(epsilon=50.0, delta=1.0, lifetime_epsilon=50.0, lifetime_delta=1.0, least=1, top_up=True)


def reported(
    address: str, name: str, answers: Sequence[Any], *, hash: str | None = None, invitations: Sequence[str] = (),
    watch: Watch = iter,
) -> list[Receipt]:  # fmt: skip
    """The receipts of as many devices as there are answers."""
    shown = [*invitations, *[""] * (len(answers) - len(invitations))]
    with TemporaryDirectory(prefix="headcount-") as folder, ThreadPoolExecutor(AT_ONCE) as pool:

        def report(person: int) -> Receipt:
            device = Client(Path(folder) / str(person), ANYTHING)
            return device.report(address, name, answers[person], hash=hash, invitation=shown[person])

        under_way = [pool.submit(report, person) for person in range(len(answers))]
        try:
            return [device.result() for device in watch(under_way)]
        finally:
            pool.shutdown(cancel_futures=True)  # where one is refused, the others need not try
