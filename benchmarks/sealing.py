"""Reports sealed beforehand, by as many processes as there are cores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from headcount.programme.coins import SecretCoins
from headcount.protocols.base.report_size import IDENTITY
from headcount_service.wire.collection import Collection
from headcount_service.wire.keys import Announced
from headcount_service.wire.random_order import random_order
from headcount_service.wire.report import NO_CREDENTIAL, Report

PIECE = 2_000  # reports sealed at a time


def messages(offer: Any, number: int) -> Iterator[bytes]:
    """As many messages, sealed to the analyser, of people who all say yes."""
    return chain.from_iterable(_pieces(_messages, offer, number))


def write_uploads(path: Path, offer: Any, number: int) -> None:
    """As many uploads of one message each, one behind the other: they are all as long."""
    with path.open("wb") as file:
        for piece in _pieces(_uploads, offer, number):
            file.writelines(piece)


def _pieces(seal: Any, offer: Any, number: int) -> Iterator[list[bytes]]:
    sizes = [min(PIECE, number - at) for at in range(0, number, PIECE)]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        yield from pool.map(partial(seal, offer), sizes)


def _messages(offer: Any, number: int) -> list[bytes]:
    collection = Collection.from_json(offer["collection"])
    report_format = collection.report_format(offer["batch"])
    key = Announced.from_json(offer["analyser"], collection.analyser, "analyser").public
    sent = collection.plan.protocol.reports(np.ones(number, dtype=np.int64), SecretCoins()).messages
    sent = sent[random_order(number, SecretCoins())]  # they come by what they say, and a part may be refused
    return [report_format.seal_messages(sent[at : at + 1], key)[0] for at in range(number)]


def _uploads(offer: Any, number: int) -> list[bytes]:
    collection = Collection.from_json(offer["collection"])
    report_format = collection.report_format(offer["batch"])
    shuffler = Announced.from_json(offer["shuffler"], collection.shuffler, "shuffler")
    key = shuffler.public
    return [
        report_format.seal_report(Report(os.urandom(IDENTITY), NO_CREDENTIAL, message), key, shuffler.number)
        for message in _messages(offer, number)
    ]
