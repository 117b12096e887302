"""What lies in a lake is counted as what arrives over the network is: each person once, and nothing else at all."""

import json

import pytest
from lakes import BUCKETS, Lake
from rig import counted, made

from headcount.core.errors import BadArgument, TooFewReports
from headcount.lake.shuffling import Came
from headcount.service.batches import Batches
from headcount.service.deliveries import Conflict
from headcount.service.released import Released


@pytest.fixture
def lake(parties, spark, folder):
    return Lake.of(parties, spark, folder)


def test_the_whole_way(lake):
    reports = lake.reports(*range(10))
    lake.put(*(each.body for each in reports[:6]))
    lake.put(*(each.body for each in reports[6:]))
    assert lake.shuffle() == Came(taken=10)
    assert sorted(lake.rows()) == sorted(message for each in reports for message in each.upload.messages)
    told = lake.analyse()
    release = json.loads(told)
    assert counted(lake.collection, release) == [1] * 10 + [0] * (BUCKETS - 10)
    assert Released(release).verify()
    assert lake.analyse() == told
    assert len(lake.parties.analyser.account("people").page().charges) == 1
