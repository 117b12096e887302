"""Simulated devices, each with a temporary folder of its own, to try a collection out."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory
from typing import Any

from headcount.planner.selection import Progress
from headcount_service.client.device import Client
from headcount_service.client.limits import Limits
from headcount_service.client.receipt import Receipt
from headcount_service.wire.collection import Collection

AT_ONCE = 16
MEMORY = "/dev/shm"  # noqa: S108  # what is thrown away need not wait for a disk
ANYTHING = Limits(
    epsilon=50.0,
    delta=1.0,
    colluding=math.inf,
    lifetime_epsilon=50.0,
    lifetime_delta=1.0,
    least=1,
    top_up=True,
    padded=True,
)


def prepare_uploads(offer: Any, answers: Sequence[Any], watch: Progress = iter) -> list[bytes]:
    """The uploads of simulated devices, one for each answer; they are not sent."""
    name = Collection.from_json(offer["collection"]).id
    with TemporaryDirectory(prefix="headcount-", dir=_quick()) as folder:

        def upload(person: int) -> bytes:
            device = Client(f"{folder}/{person}", ANYTHING)
            return device.upload(device.prepare(offer, name, answers[person]))

        return [upload(person) for person in watch(list(range(len(answers))))]


def report_all(
    address: str,
    name: str,
    answers: Sequence[Any],
    *,
    hash: str | None = None,
    invitations: Sequence[str] = (),
    watch: Progress = iter,
) -> list[Receipt]:
    """Report each answer by a simulated device; returns the receipts."""
    shown = [*invitations, *[""] * (len(answers) - len(invitations))]

    def report(person: int) -> Receipt:
        with TemporaryDirectory(prefix="headcount-", dir=_quick()) as folder:
            device = Client(folder, ANYTHING)
            return device.report(address, name, answers[person], hash=hash, invitation=shown[person])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        under_way = [pool.submit(report, person) for person in range(len(answers))]
        try:
            return [device.result() for device in watch(under_way)]
        finally:
            pool.shutdown(cancel_futures=True)  # where one is refused, the others need not try


def _quick() -> str | None:
    return MEMORY if os.access(MEMORY, os.W_OK) else None
