"""headcount itself, in an environment and a process of its own like everybody else.

`via` says how the data come in: "file" is read at every run, "array" was read before. `model`, `neighbours` and the
rest are the arguments of the public functions.
"""

import numpy as np
import pyarrow.parquet as parquet

import headcount as hc
from headcount.privacy.compose import compose
from headcount.running import release_answer

PACKAGES = ("headcount", "numpy", "pyarrow")


def table(job, name):
    """The path, or what was read from it before."""
    if job.get("via") == "file":
        return {"data": job["data"], "column": name}
    return {"data": column(job, name)}


def column(job, name):
    return parquet.read_table(job["data"], columns=[name])[name].to_numpy()


def asked(job, half=False):
    epsilon = job["epsilon"] / 2 if half else job["epsilon"]
    return {"epsilon": epsilon, "delta": job["delta"], "model": job["model"], "neighbours": job["neighbours"]}


def count(job):
    held = table(job, "clicked")
    return lambda: hc.count(**held, **asked(job)).value


def histogram(job):
    held, finish = table(job, "key"), job.get("finish", {})
    return lambda: hc.histogram(**held, categories=job["keys"], **asked(job), **finish).values


def mean(job):
    """Where people may come and go there is no mean, only a sum and a count: half of epsilon for each, from the
    middle of the bounds."""
    low, high = job["bounds"]
    if job["neighbours"] == "replace":
        held = table(job, "value")
        return lambda: hc.mean(**held, bounds=(low, high), **asked(job)).value
    middle, half = (low + high) / 2, (high - low) / 2

    def divided():
        held = column(job, "value") - middle
        total = hc.sum(held, bounds=(-half, half), **asked(job, half=True)).value
        people = hc.count(np.ones(held.size, dtype=np.int64), **asked(job, half=True)).value
        return middle + total / people

    return divided


def ranges(job):
    """The people in each of equal bins, from which every range follows."""
    held = {**table(job, "value"), "bounds": tuple(job["bounds"]), "bins": job["bins"]}
    return lambda: hc.distribution(**held, **asked(job)).people


def quantiles(job):
    """All from one release."""
    held = {**table(job, "value"), "bounds": tuple(job["bounds"]), "bins": job["bins"]}

    def work():
        answer = hc.distribution(**held, best_for="quantiles", **asked(job))
        return [each.value for each in answer.quantiles(job["parts"])]

    return work


def question(job):
    epsilon, delta = job["each"]
    return hc.protocol(job["protocol"], n=10_000, epsilon=epsilon, delta=delta)


def composed(job):
    """The epsilon of this many questions of one kind together."""
    asked, times = question(job), job["times"]
    return lambda: compose([asked.loss] * times).epsilon(job["delta"])


def charged(job):
    """The smallest ledger that pays for them one after the other, each chosen because of the answers before."""
    asked, times = question(job), job["times"]

    def work():
        low, high = 1e-3, 50.0
        while high - low > 1e-3 * high:
            middle = (low + high) / 2
            fits = hc.Ledger(epsilon=middle, delta=job["delta"]).affords(asked) >= times
            low, high = (low, middle) if fits else (middle, high)
        return high

    return work


def described(job):
    """What the others must be told of the same question: the scale of its noise."""
    asked = question(job)
    return lambda: [getattr(asked, "scale", 1.0)]


def planned(job, **wished):
    """The best plan for all rounds together."""
    wished = {**wished, "models": job["model"], "neighbours": job["neighbours"], "rounds": job["rounds"]}
    return hc.advise("count", n=job["people"], epsilon=job["epsilon"], delta=job["delta"], **wished).best


def rounds(job):
    """The same count in each round; where there are panels, each is asked in its own."""
    if job["planning"]:
        return lambda: planned(job)
    plan, held = planned(job), np.load(job["data"])

    def work():
        told = hc.Series(plan)
        panels = np.array_split(np.random.default_rng().permutation(held), plan.panels)  # noqa: TID251
        for at in range(job["rounds"]):
            told.run(panels[at % plan.panels])
        return [told.round(1 + at).value for at in range(job["rounds"])]

    return work


def once(job):
    """One round of an answer that never changes: it is asked once, and holds for all of them."""
    alone = {**job, "rounds": 1}
    if job["planning"]:
        return lambda: planned(alone)
    plan, held = planned(alone), np.load(job["data"])
    return lambda: [hc.run(plan, held).value]


def sums(job):
    """How many people have come by each day; a trusted analyser counts them day by day, as `hc.series` does."""
    if job["planning"]:
        return lambda: planned(job, contributes=1)
    plan, days = planned(job, contributes=1), np.load(job["data"])
    if job["model"] != "central":
        return lambda: hc.run(plan, days + 1).people
    held, periods = np.bincount(days, minlength=job["rounds"]), np.arange(job["rounds"])
    return lambda: release_answer(plan, plan.protocol.counted(periods, held), hc.SecretCoins()).people


def ended(job):
    """The same at the end of all days, from their distribution."""
    question = hc.Distribution((0, job["rounds"]), job["rounds"])

    def best():
        wished = {"models": job["model"], "neighbours": job["neighbours"], "protocols": job["protocol"]}
        return hc.advise(question, n=job["people"], epsilon=job["epsilon"], delta=job["delta"], **wished).best

    if job["planning"]:
        return best
    plan, days = best(), np.load(job["data"]) + 0.5
    return lambda: np.cumsum(hc.run(plan, days).people)
