"""OpenDP. From a file by its Context over polars, as its guide has it; many releases by the measurements beneath, which
draw the same noise without planning every query again."""

import numpy as np
import opendp.prelude as dp
import polars as pl

PACKAGES = ("opendp", "polars", "numpy")

dp.enable_features("contrib")


def asked(job):
    """One person more or less, or one person's row changed; the number of people is then public."""
    replace = job["neighbours"] == "replace"
    size = pl.scan_parquet(job["data"]).select(pl.len()).collect().item()
    margin = dp.polars.Margin(by=[], max_length=size, invariant="lengths" if replace else None)
    unit = dp.unit_of(changes=1) if replace else dp.unit_of(contributions=1)
    return dp.Context.compositor(
        data=pl.scan_parquet(job["data"]), privacy_unit=unit, privacy_loss=dp.loss_of(epsilon=job["epsilon"]),
        split_evenly_over=1, margins=[margin],
    ).query()  # fmt: skip


def scale_for(make, distance, epsilon):
    return make(dp.binary_search(lambda scale: make(scale).map(distance) <= epsilon, bounds=(1e-6, 1e9)))


def read(job, name):
    return pl.read_parquet(job["data"], columns=[name])[name].to_numpy()


def added(job, values, low, high, epsilon):
    """The noisy total of bounded numbers."""
    kind = "i64" if values.dtype.kind == "i" else "f64"
    bounds = (int(low), int(high)) if kind == "i64" else (float(low), float(high))
    size = values.size if job["neighbours"] == "replace" else None
    nan = {} if kind == "i64" else {"nan": False}
    domain = dp.vector_domain(dp.atom_domain(bounds=bounds, T=kind, **nan), size=size)
    total = (domain, dp.symmetric_distance()) >> dp.t.then_sum()
    measure = scale_for(lambda scale: total >> dp.m.then_laplace(scale), 1 if size is None else 2, epsilon)
    return lambda: measure(values)


def count(job):
    if job["via"] == "array":
        return added(job, read(job, "clicked"), 0, 1, job["epsilon"])
    if job["neighbours"] == "replace":
        return lambda: asked(job).select(pl.col.clicked.dp.sum((0, 1))).release().collect().item()
    return lambda: asked(job).filter(pl.col.clicked == 1).select(dp.len(signed=True)).release().collect().item()


def histogram(job):
    keys = np.arange(job["keys"])
    if job["via"] == "array":
        values = read(job, "key")
        counts = (dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()) >> (
            dp.t.then_count_by_categories(keys.tolist(), null_category=False)
        )
        distance = 2 if job["neighbours"] == "replace" else 1
        measure = scale_for(lambda scale: counts >> dp.m.then_laplace(scale), distance, job["epsilon"])
        return lambda: measure(values)
    frame = pl.LazyFrame({"key": keys}, schema={"key": pl.Int64})

    def work():
        query = asked(job).group_by("key").agg(dp.len(signed=True)).with_keys(frame)
        return query.release().collect().sort("key")["len"].to_numpy()

    return work


def mean(job):
    """Where people may come and go: a sum from the middle of the bounds, and a count."""
    (low, high), replace = job["bounds"], job["neighbours"] == "replace"
    middle, half = (low + high) / 2, (high - low) / 2
    if job["via"] == "array":
        values = read(job, "value") - middle
        share = job["epsilon"] if replace else job["epsilon"] / 2
        total = added(job, values, -half, half, share)
        people = added(job, np.ones(values.size, dtype=np.int64), 0, 1, share)
        return (lambda: middle + total() / values.size) if replace else (lambda: middle + total() / people())

    def work():
        if replace:
            return asked(job).select(pl.col.value.fill_nan(0.0).dp.mean((low, high))).release().collect().item()
        centred = (pl.col.value.fill_nan(0.0) - middle).dp.sum((-half, half))
        total, people = asked(job).select(centred, dp.len()).release().collect().row(0)
        return middle + total / people

    return work


def laplace(job):
    """Exact discrete Laplace noise on a vector of zeros."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement, zeros = dp.m.make_laplace(*space, scale=float(job["scale"])), np.zeros(job["size"], dtype=np.int64)
    return lambda: measurement(zeros)
