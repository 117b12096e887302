"""OpenDP, by its Context over polars, as its guide has it. A query is planned anew for every answer, which takes most
of its time; `planned` asks the same plan again and again, for many answers of one law."""

import numpy as np
import opendp.prelude as dp
import polars as pl

PACKAGES = ("opendp", "polars", "numpy")

dp.enable_features("contrib")


def answering(job, query, taken):
    """`query` says what to ask of the people, `taken` what to take from the answer's frame."""
    if not job.get("planned"):
        return lambda: taken(query(people(job)).release().collect())
    plan = query(people(job)).resolve()
    return lambda: taken(plan(pl.scan_parquet(job["data"])).collect())


def people(job):
    """One person more or less, or one person's row changed; the number of people is then public."""
    replace, data = job["neighbours"] == "replace", pl.scan_parquet(job["data"])
    size = data.select(pl.len()).collect().item()
    return dp.Context.compositor(
        data=data,
        privacy_unit=dp.unit_of(changes=1) if replace else dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=job["epsilon"]),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=[], max_length=size, invariant="lengths" if replace else None)],
    ).query()


def count(job):
    if job["neighbours"] == "replace":
        return answering(job, lambda those: those.select(pl.col.clicked.dp.sum((0, 1))), pl.DataFrame.item)
    clicked = pl.col.clicked == 1
    return answering(job, lambda those: those.filter(clicked).select(dp.len(signed=True)), pl.DataFrame.item)


def histogram(job):
    keys = pl.LazyFrame({"key": np.arange(job["keys"])}, schema={"key": pl.Int64})
    return answering(
        job,
        lambda those: those.group_by("key").agg(dp.len(signed=True)).with_keys(keys),
        lambda frame: frame.sort("key")["len"].to_numpy(),
    )


def mean(job):
    """Where people may come and go: a sum from the middle of the bounds, and a count, half of epsilon each."""
    low, high = job["bounds"]
    middle, half, value = (low + high) / 2, (high - low) / 2, pl.col.value.fill_nan(0.0)
    if job["neighbours"] == "replace":
        return answering(job, lambda those: those.select(value.dp.mean((low, high))), pl.DataFrame.item)
    return answering(
        job,
        lambda those: those.select((value - middle).dp.sum((-half, half)).alias("sum"), dp.len(signed=True)),
        lambda frame: middle + frame["sum"].item() / frame["len"].item(),
    )


def laplace(job):
    """Exact discrete Laplace noise on a vector of zeros."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement, zeros = dp.m.make_laplace(*space, scale=float(job["scale"])), np.zeros(job["size"], dtype=np.int64)
    return lambda: measurement(zeros)


def ranges(job):
    """The people in each of equal bins, from a tree of counts that are made to agree."""
    counted, agreeing = tree(job), dp.t.make_consistent_b_ary_tree(job["branching"], TIA="i32", TOA="f64")
    values = column(job)
    return lambda: agreeing(counted(values))


def quantiles(job):
    """From the same tree, or else by the exponential mechanism over the bins' edges, with an equal part of epsilon for
    each."""
    places, values = edges(job), column(job)
    if "branching" in job:
        counts = ranges(job)
        located = dp.t.make_quantiles_from_counts(places, job["parts"], TA="f64")
        return lambda: located(counts())
    chosen = [calibrated(job, quantile(job, places, part), len(job["parts"])) for part in job["parts"]]
    return lambda: [choose(values) for choose in chosen]


def column(job):
    return pl.read_parquet(job["data"], columns=["value"])["value"].to_numpy()


def edges(job):
    return np.linspace(*job["bounds"], job["bins"] + 1).tolist()


def space(job):
    """Lists of numbers, of a public length where a person's row may be changed but not taken away."""
    size = len(column(job)) if job["neighbours"] == "replace" else None
    return dp.vector_domain(dp.atom_domain(T=float, nan=False), size=size), dp.symmetric_distance()


def calibrated(job, scaled, questions=1):
    """With the least noise for a part of epsilon; a change of a row takes one away and adds another."""
    return dp.binary_search_chain(scaled, 2 if job["neighbours"] == "replace" else 1, job["epsilon"] / questions)


def tree(job):
    counts = (
        space(job)
        >> dp.t.then_find_bin(edges(job)[1:-1])
        >> dp.t.then_count_by_categories(
            list(range(job["bins"])), null_category=False, MO=dp.L1Distance["i32"], TOA="i32"
        )
        >> dp.t.then_b_ary_tree(job["bins"], job["branching"])
    )
    return calibrated(job, lambda scale: counts >> dp.m.then_laplace(scale))


def quantile(job, places, part):
    return lambda scale: dp.m.make_private_quantile(*space(job), dp.max_divergence(), places, part, scale)


def rounds(job):
    """The same count in each round, with Gaussian noise, composed by concentrated privacy."""
    held = np.load(job["data"]).tolist()
    people = dp.vector_domain(dp.atom_domain(bounds=(0, 1)), size=len(held)), dp.symmetric_distance()
    each = people >> dp.t.then_sum()

    def noisy(scale):
        return dp.c.make_composition([each >> dp.m.then_gaussian(scale)] * job["rounds"])

    return answers(job, held, lambda: concentrated(job, noisy))


def sums(job):
    """How many people have come by each day, from a tree over the days that is made to agree at the year's end."""
    held, gaussian = np.load(job["data"]).tolist(), job["noise"] == "Gaussian"
    size = len(held) if job["neighbours"] == "replace" else None
    days, branching = list(range(job["rounds"])), job["branching"]
    distance = dp.L2Distance["i32"] if gaussian else dp.L1Distance["i32"]
    counts = (
        (dp.vector_domain(dp.atom_domain(T="i32"), size=size), dp.symmetric_distance())
        >> dp.t.then_count_by_categories(days, null_category=False, MO=distance, TOA="i32")
        >> dp.t.then_b_ary_tree(len(days), branching)
    )
    agreeing = dp.t.make_consistent_b_ary_tree(branching, TIA="i32", TOA="f64")

    def planned():
        if gaussian:
            return concentrated(job, lambda scale: counts >> dp.m.then_gaussian(scale))
        return calibrated(job, lambda scale: counts >> dp.m.then_laplace(scale))

    return answers(job, held, planned, lambda counted: np.cumsum(agreeing(counted)[: len(days)]))


def concentrated(job, noisy):
    """Calibrated at the delta of the job."""

    def promised(scale):
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noisy(scale)), job["delta"])

    apart = 2 if job["neighbours"] == "replace" else 1
    return promised(dp.binary_search_param(promised, apart, (job["epsilon"], job["delta"]), bounds=(1.0, 1e3)))


def answers(job, held, planned, finished=list):
    """The planning, or the answers of a plan that is ready."""
    if job["planning"]:
        return planned
    plan = planned()
    return lambda: finished(plan(held))
