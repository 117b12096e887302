"""Spark's bare aggregates over a file, in one process on both cores: no privacy, a limit."""

import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import avg, col

PACKAGES = ("pyspark",)

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


def frame(job):
    session = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "4g")
        .config("spark.driver.host", "localhost").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    )  # fmt: skip
    return session.read.parquet(job["data"])


def count(job):
    people = frame(job)
    return lambda: people.where(col("clicked") == 1).count()


def histogram(job):
    people = frame(job)
    return lambda: people.groupBy("key").count().collect()


def mean(job):
    people = frame(job)
    return lambda: people.select(avg("value")).collect()
