"""Numbers that are counted in groups of what is near each other have the codes that Python gives them one by one."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.engines.engine import Engine, Rows
from headcount.engines.file_codes import FileCodes
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine
from headcount.programme.coins import SeededCoins

EDGES = np.linspace(0.1, 0.7, 101)  # none but the ends is a double
COINS = SeededCoins(3).uniform(5_000)
NUMBERS = {
    "edges and their neighbours": (np.r_[EDGES, np.nextafter(EDGES[:-1], 1.0), np.nextafter(EDGES[1:], 0.0)], EDGES),
    "hundredths": (np.round(200_000 * COINS**3, 2), np.linspace(0, 200_000, 1_025)),
    "whole numbers": (np.floor(121 * COINS), np.linspace(0, 120, 1_001)),
    "large whole numbers": ((2**62 * COINS).astype(np.int64), np.linspace(0, 2.0**62, 1_001)),
    "small ones": (np.floor(256 * COINS).astype(np.uint8), np.linspace(-10, 265, 1_001)),
    "single precision": ((100.0 * COINS).astype(np.float32), np.linspace(0, 100, 777)),
}


def counted(engine: Engine, data: object, question: hc.Distribution) -> list[int]:
    answers = engine.answers(question, Rows.of(question, data, column="held", where=None, unit=None, most=None))
    codes, people = answers.held() if isinstance(answers, FileCodes) else (answers, None)
    return np.bincount(codes, people, question.bins).astype(int).tolist()


@pytest.mark.parametrize("name", NUMBERS)
def test_groups_of_near_numbers_are_counted_as_single_ones_are(name, tmp_path):
    numbers, edges = NUMBERS[name]
    table = pa.table({"held": numbers})
    pq.write_table(table, tmp_path / "held.parquet")
    question = hc.Distribution((float(edges[0]), float(edges[-1])), edges.size - 1)
    from_file = counted(FileEngine(), str(tmp_path / "held.parquet"), question)
    assert from_file == counted(MemoryEngine(), table, question)
    assert sum(from_file) == numbers.size


@pytest.mark.parametrize(("strange", "clip"), [(np.nan, True), (np.inf, False), (-np.inf, False), (101.0, False)])
@pytest.mark.parametrize("others", [100.0 * COINS, np.full(5_000, 7.0)], ids=["others differ", "others are equal"])
def test_what_is_no_number_within_the_bounds_is_refused_in_the_same_words(strange, clip, others, tmp_path):
    table = pa.table({"held": np.append(others, strange)})
    pq.write_table(table, tmp_path / "held.parquet")
    question, said = hc.Distribution((0, 100), 64, clip=clip), []
    for engine, data in ((FileEngine(), str(tmp_path / "held.parquet")), (MemoryEngine(), table)):
        with pytest.raises(hc.Refused) as refused:
            counted(engine, data, question)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_far_ones_are_brought_to_the_bounds(tmp_path):
    table = pa.table({"held": np.r_[100.0 * COINS, np.inf, -np.inf, 1e300]})
    pq.write_table(table, tmp_path / "held.parquet")
    question = hc.Distribution((0, 100), 64, clip=True)
    assert counted(FileEngine(), str(tmp_path / "held.parquet"), question) == counted(MemoryEngine(), table, question)
