"""Tumult Analytics on Spark in one process, both cores. One of its queries takes seconds however small the data, so
that many runs are many copies of the crowd in one query, each a group of its own with noise of its own."""

import os
import sys

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

from pyspark.sql import SparkSession
from pyspark.sql.functions import col
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

PACKAGES = ("tmlt.analytics", "tmlt.core", "pyspark")


def spark():
    return (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "4g")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.driver.host", "localhost").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    )  # fmt: skip


def evaluated(job, frame, query):
    budget = PureDPBudget(job["epsilon"])
    session = Session.from_dataframe(
        privacy_budget=budget, source_id="people", dataframe=frame, protected_change=AddOneRow()
    )
    return session.evaluate(query, budget).toPandas()


def read(job, name):
    """The crowd, or this many copies of it."""
    frame = spark().read.parquet(job["data"]).select(name)
    copies = job.get("copies", 0)
    return frame.crossJoin(spark().range(copies).withColumnRenamed("id", "copy")).cache() if copies else frame


def query(job):
    people = QueryBuilder("people")
    return people.groupby(KeySet.from_dict({"copy": list(range(job["copies"]))})) if job.get("copies") else people


def count(job):
    frame = read(job, "clicked").where(col("clicked") == 1)
    return lambda: evaluated(job, frame, query(job).count())["count"].tolist()


def histogram(job):
    frame, keys = read({**job, "copies": 0}, "key"), KeySet.from_dict({"key": list(range(job["keys"]))})
    asked = QueryBuilder("people").groupby(keys).count()
    return lambda: evaluated(job, frame, asked).sort_values("key")["count"].tolist()


def mean(job):
    frame, (low, high) = read(job, "value"), job["bounds"]
    return lambda: evaluated(job, frame, query(job).average("value", low, high, name="mean"))["mean"].tolist()
