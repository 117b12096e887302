"""Files and frames as they come: what is not understood is refused, nothing is quoted, and nothing is guessed."""

import gzip
import os

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.cli import files
from headcount.engines.file_formats import column_types, scanned
from headcount.engines.spark import SparkEngine
from headcount.errors import BadArgument, BadData, without_cause

EXACTLY = {"epsilon": 50, "model": "central"}  # so little noise that the answer is the truth
SECRET = "Anna-Magdalena"  # noqa: S105


def counted(data, **asked):
    return round(hc.count(data, **{"column": "x", **EXACTLY, **asked}).value)


def written(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def everything_said(refusal):
    """Also what a tool would find that walks along causes and contexts."""
    said, at = "", refusal
    while at is not None:
        said += f"{at!r} {at}"
        at = at.__cause__ or at.__context__
    return said


LATE = "x,y\n1,0\n" + "1,0\n" * 300_000 + f"{SECRET},0\n"
TORN = {
    "more fields": f"x\n1\n{SECRET},b\n",
    "another table below": "x\n1\n1\n1\nx,y\n0,0\n0,0\n",
    "lines that look like remarks": "x,y\n" + "1,0\n#1\n" * 20,
    "text with more fields": f"x\na,b\n{SECRET},bar\n",
    "fewer fields": f"x,y\n1,0\n{SECRET}\n",
}


@pytest.mark.parametrize("model", ["central", "shuffle", "local"])
@pytest.mark.parametrize("name", TORN)
def test_a_csv_that_is_torn_is_refused_and_not_quoted(name, model, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text(TORN[name])
    with pytest.raises(hc.Refused) as refused:
        hc.count(file, column="x", where=1 if "text" not in name else "a", epsilon=1, delta=1e-6, model=model)
    assert SECRET not in everything_said(refused.value)


@pytest.mark.parametrize("read", [
    lambda file: hc.count(file, column="x", **EXACTLY),
    column_types,
    lambda file: without_duckdb(file, ["x"]),
], ids=["counted", "its columns", "without DuckDB"])  # fmt: skip
def test_another_encoding_is_refused_and_nothing_of_the_file_travels_along(read, tmp_path):
    """Python's error holds all bytes that it could not read."""
    (tmp_path / "people.csv").write_bytes(f"x,n\u00e4me\n1,{SECRET}\n".encode("latin-1"))
    with pytest.raises(hc.Refused, match="UTF-8") as refused:
        read(tmp_path / "people.csv")
    assert SECRET not in everything_said(refused.value)


def test_another_encoding_far_down_is_refused_with_the_way_to_read_it(tmp_path):
    (tmp_path / "people.csv").write_bytes(b"x\n" + b"a\n" * 20_000 + "\u00d6\n".encode("latin-1"))
    with pytest.raises(hc.Refused, match="cp1252"):
        hc.histogram(tmp_path / "people.csv", column="x", categories=["a"], other=True, epsilon=1)


def without_duckdb(file, names):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headcount.cli.files.find_spec", lambda _: None)
        return files.table(str(file), names, None)


def test_bins_are_refused_like_the_rest(tmp_path):
    (tmp_path / "people.csv").write_text(LATE)
    with pytest.raises(hc.Refused) as refused:
        hc.histogram(tmp_path / "people.csv", column="x", bins=[0, 1, 2], **EXACTLY)
    assert SECRET not in everything_said(refused.value)


def test_a_file_that_is_written_anew_is_read_anew(tmp_path):
    for ones in range(5):
        assert counted(written(tmp_path / "x.parquet", x=[1] * ones + [0] * 3)) == ones


def test_what_programs_put_aside_is_not_counted(tmp_path):
    for name in ("p", ".ipynb_checkpoints/p", "_temporary/0/p", ".p", "_p"):
        written(tmp_path / "folder" / f"{name}.parquet", x=[1] * 100)
    assert counted(tmp_path / "folder") == 100


def test_a_name_is_no_pattern_where_the_file_is_there(tmp_path):
    written(tmp_path / "a1.parquet", x=[1] * 7)
    for at, name in enumerate(("a[1].parquet", "a*.parquet", "a?.parquet")):
        assert counted(written(tmp_path / name, x=[1] * (at + 20))) == at + 20
    assert counted(str(tmp_path / "a[0-9].parquet")) == 7


def test_files_of_different_types_are_read_each_by_itself(tmp_path):
    """A file of floats beside them does not round the whole numbers, nor does one of text."""
    written(tmp_path / "sums" / "a.parquet", x=[1] * 10)
    written(tmp_path / "sums" / "b.parquet", x=[0.4] * 10)
    assert hc.sum(tmp_path / "sums", column="x", bounds=(0, 1), **EXACTLY).value == pytest.approx(14, abs=0.5)
    with pytest.raises(hc.Refused, match="other than 0 and 1"):
        counted(tmp_path / "sums")
    for others in ([0.5] * 3, ["a"] * 3, [True] * 3):
        written(tmp_path / "large" / "a.parquet", x=[2**53 + 1] * 10)
        written(tmp_path / "large" / "b.parquet", x=others)
        assert counted(tmp_path / "large", where=str(2**53 + 1)) == 10
        assert counted(tmp_path / "large", where=str(2**53 + 1), model="local") == 10
    written(tmp_path / "ids" / "a.parquet", u=[1, 2, 3], x=[1, 1, 1])
    written(tmp_path / "ids" / "b.parquet", u=[1.0, 2.0, 4.0], x=[1, 1, 1])
    written(tmp_path / "ids" / "c.parquet", u=["1", " 2", "5"], x=[1, 1, 1])
    assert counted(tmp_path / "ids", unit="u") == 5
    written(tmp_path / "text" / "a.parquet", x=[1] * 10)
    written(tmp_path / "text" / "b.parquet", x=[SECRET] * 10)
    written(tmp_path / "lacking" / "a.parquet", x=[1] * 10)
    written(tmp_path / "lacking" / "b.parquet", y=[1] * 10)
    for folder in ("text", "lacking"):
        for model in ("central", "local"):
            with pytest.raises(hc.Refused) as refused:
                counted(tmp_path / folder, model=model)
            assert SECRET not in everything_said(refused.value)


def test_wide_numbers_are_not_rounded(tmp_path):
    table = pa.table({"x": pa.array([2**63 + 1] * 5 + [2**63] * 3, pa.uint64())})
    pq.write_table(table, tmp_path / "x.parquet")
    for data in (table, tmp_path / "x.parquet"):
        assert counted(data, where=str(2**63 + 1)) == 5
        told = hc.histogram(data, column="x", categories=[str(2**63), str(2**63 + 1)], **EXACTLY)
        assert np.round(told.values).tolist() == [3, 5]
        with pytest.raises(hc.Refused, match="text, which is exact"):
            counted(data, where=2**63 + 1)
        with pytest.raises(hc.Refused, match="text, which is exact"):
            hc.histogram(data, column="x", categories=[2**63, 2**63 + 1], **EXACTLY)


def test_a_small_float_is_the_double_that_it_equals(tmp_path):
    """Were it the nearest short decimal, a file of doubles beside it would change what it is."""
    single = pa.table({"x": pa.array([0.1] * 5 + [0.25] * 3, pa.float32())})
    pq.write_table(single, tmp_path / "single.parquet")
    for data in (single, tmp_path / "single.parquet"):
        assert counted(data, where=float(np.float32(0.1))) == counted(data, where=np.float32(0.1)) == 5
        assert counted(data, where=0.25) == 3
        assert counted(data, where=0.1) == 0


def test_gaps_in_encoded_columns_are_gaps():
    gaps = pa.array(["a", None, "b"] * 5).dictionary_encode()
    with pytest.raises(hc.Refused, match="missing values"):
        hc.histogram(pa.table({"x": gaps}), column="x", categories=["a", "b"], **EXACTLY)
    with pytest.raises(hc.Refused, match="missing person ids"):
        counted(pa.table({"u": gaps, "x": [1] * 15}), unit="u")


def test_sums_of_a_person_do_not_wrap():
    with pytest.raises(hc.Refused, match="outside the bounds"):
        hc.sum(pd.DataFrame({"p": [1] * 4, "x": [2**62] * 4}), column="x", unit="p", bounds=(0, 10), **EXACTLY)


def test_ids_in_a_csv_have_no_spaces_around_them(tmp_path):
    (tmp_path / "x.csv").write_text("p,x\na,1\n a,1\nb ,1\n")
    assert counted(tmp_path / "x.csv", unit="p") == 2


def test_a_number_that_is_none_is_missing(tmp_path):
    with pytest.raises(hc.Refused, match="missing values"):
        counted(written(tmp_path / "x.parquet", x=[1.0, float("nan")]))


def test_numbers_that_no_step_holds_are_not_quoted_either(tmp_path):
    for name, numbers in (("nan", [1.5, float("nan")]), ("large", [1.5, 7.7e301])):
        file = written(tmp_path / f"{name}.parquet", x=numbers)
        for clip in (False, True):
            if name == "nan" or not clip:
                with pytest.raises(hc.Refused) as refused:
                    hc.sum(file, column="x", bounds=(0, 2), clip=clip, **EXACTLY)
                assert everything_said(refused.value) == f"{refused.value!r} {refused.value}"


def test_nothing_is_left_of_what_led_to_a_refusal():
    """And a refusal that is raised as usual is noticed."""

    def refuse(how):
        try:
            float(SECRET)
        except ValueError:
            how()

    def hidden():
        raise BadData("no") from None

    with pytest.raises(BadData) as told:
        refuse(lambda: without_cause(BadData("no")))
    assert SECRET not in everything_said(told.value)
    with pytest.raises(BadData) as told:
        refuse(hidden)
    assert SECRET in everything_said(told.value)


def test_damaged_pages_are_refused(tmp_path):
    whole = written(tmp_path / "x.parquet", x=list(range(1_000))).read_bytes()
    (tmp_path / "x.parquet").write_bytes(whole[:200] + os.urandom(800) + whole[1_000:])
    for asked in ({"model": "central"}, {"model": "local"}):
        with pytest.raises(hc.Refused):
            hc.histogram(tmp_path / "x.parquet", column="x", categories=1_000, epsilon=1, **asked)


class OnceOnly:
    """A stream that is gone once it was read."""

    def __init__(self):
        batches = [pa.record_batch({"x": [1, 0, 1]})] * 3
        self.reader = pa.RecordBatchReader.from_batches(batches[0].schema, iter(batches))

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__(requested_schema)


def test_whatever_gives_arrow_is_taken(tmp_path):
    file = written(tmp_path / "x.parquet", x=[1] * 12)
    assert counted(OnceOnly()) == 6
    assert counted(duckdb.sql("SELECT 1 AS x FROM range(12)")) == 12
    assert counted(pyarrow.dataset.dataset(file)) == 12
    assert counted(pyarrow.dataset.dataset(file).scanner()) == 12
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"x\n1\n0\n1\n"))
    assert counted(tmp_path / "x.csv.gz") == 2


@pytest.mark.parametrize(("data", "engine", "words"), [
    (pl.LazyFrame({"x": [1, 0]}), None, "collect"),
    (pa.Table.from_arrays([pa.array([1]), pa.array([1])], names=["x", "x"]), None, "occurs twice"),
    (pd.DataFrame({"x": [1, 0]}), SparkEngine(), "no frame of Spark"),
])  # fmt: skip
def test_what_cannot_be_taken_says_what_could(data, engine, words):
    with pytest.raises(hc.Refused, match=words):
        counted(data, engine=engine)


@pytest.mark.parametrize("engine", ["duckdb", "command line"])
def test_a_first_line_is_quoted_to_those_who_know_a_name_in_it(engine, tmp_path, monkeypatch):
    """Nothing in a file tells a header from the first person's values."""
    file = tmp_path / "people.csv"
    monkeypatch.setattr(files, "find_spec", lambda _: None)
    file.write_text("Alice,Berlin,yes\nBob,Paris,no\n", encoding="utf-8")

    def refusal(*names):
        with pytest.raises(BadArgument) as refused:
            files.table(str(file), [*names], None) if engine == "command line" else scanned(
                None, file, [*map(column, names)]
            )
        return str(refused.value)

    def column(name):
        return "column", name

    for names in (["churned"], ["name", "unit"], ["Albert", "y"]):
        assert not any(value in refusal(*names) for value in ("Alice", "Berlin", "yes"))
        assert "a name from its first line, which is not quoted here" in refusal(*names)
    assert refusal("berlin").endswith("; use Berlin")
    assert refusal("Berlin", "who").endswith("; use one of Alice, Berlin, yes")
