"""diffprivlib. Its noise passes through floating point; answers are cut off at the bounds they could have."""

import numpy as np
import pyarrow.parquet as parquet
from diffprivlib import tools
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.mechanisms import Geometric

PACKAGES = ("diffprivlib", "numpy", "scikit-learn", "pyarrow")


def column(job, name):
    def read():
        return parquet.read_table(job["data"], columns=[name])[name].to_numpy()

    if job["via"] == "file":
        return read
    values = read()
    return lambda: values


def fresh():
    return BudgetAccountant()


def count(job):
    values = column(job, "clicked")
    return lambda: tools.count_nonzero(values(), epsilon=job["epsilon"], accountant=fresh())


def histogram(job):
    values, keys = column(job, "key"), job["keys"]
    return lambda: tools.histogram(values(), epsilon=job["epsilon"], bins=keys, range=(0, keys), accountant=fresh())[0]


def mean(job):
    values, bounds = column(job, "value"), tuple(map(float, job["bounds"]))
    return lambda: tools.mean(values(), epsilon=job["epsilon"], bounds=bounds, accountant=fresh())


def ranges(job):
    """The people in each of equal bins, of a histogram; it has no tree."""
    values, bounds = column(job, "value"), tuple(job["bounds"])
    asked = {"epsilon": job["epsilon"], "bins": job["bins"], "range": bounds}
    return lambda: tools.histogram(values(), **asked, accountant=fresh())[0]


def quantiles(job):
    """By the exponential mechanism over the intervals between people, with an equal part of epsilon for each."""
    values, bounds = column(job, "value"), tuple(job["bounds"])
    asked = {"epsilon": job["epsilon"], "bounds": bounds}
    return lambda: tools.quantile(values(), job["parts"], **asked, accountant=fresh())


def laplace(job):
    """Discrete Laplace noise, one by one."""
    mechanism = Geometric(epsilon=1.0 / job["scale"], sensitivity=1)
    return lambda: np.array([mechanism.randomise(0) for _ in range(job["size"])])


def composed(job):
    """The epsilon that its accountant composes from this many (epsilon, delta), all it knows of."""
    epsilon, delta = job["each"]

    def work():
        accountant = BudgetAccountant(slack=job["delta"] - job["times"] * delta)
        for _ in range(job["times"]):
            accountant.spend(epsilon, delta)
        return accountant.total()[0]

    return work
