"""polars' own aggregates over a file: no privacy, a limit."""

import polars as pl

PACKAGES = ("polars",)


def count(job):
    return lambda: pl.scan_parquet(job["data"]).filter(pl.col.clicked == 1).select(pl.len()).collect()


def histogram(job):
    return lambda: pl.scan_parquet(job["data"]).group_by("key").len().collect()


def mean(job):
    return lambda: pl.scan_parquet(job["data"]).select(pl.col.value.mean()).collect()
