"""Google's dp-accounting, by privacy loss distributions on a grid of so small a `step`. It draws no noise: numpy does,
with the scale that it says, where answers are wanted."""

import dp_accounting
import numpy as np
from dp_accounting.pld import PLDAccountant, common
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import RdpAccountant

PACKAGES = ("dp-accounting", "numpy")


def composed(job):
    epsilon, delta = job["each"]
    step = {"value_discretization_interval": job["step"]}

    def alone():
        if job["noise"] == "discrete Laplace":
            return pld.from_discrete_laplace_mechanism(job["rate"], **step)
        if job["noise"] == "Laplace":
            return pld.from_laplace_mechanism(job["scale"], **step)
        if job["noise"] == "Gaussian":
            return pld.from_gaussian_mechanism(job["scale"], **step)
        return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, delta), job["step"])

    return lambda: alone().self_compose(job["times"]).get_epsilon_for_delta(job["delta"])


def drawn(job, accountant, event, work):
    """Answers by noise of the scale at which an event fits the budget."""

    def planned():
        return dp_accounting.calibrate_dp_mechanism(accountant, event, job["epsilon"], job["delta"])

    if job["planning"]:
        return planned
    scale, rng = planned(), np.random.default_rng()  # noqa: TID251
    return lambda: work(lambda size: rng.normal(0.0, scale, size))


def rounds(job):
    """The same count in each round, with Gaussian noise of its own."""
    held, times = np.load(job["data"]), job["rounds"]

    def event(scale):
        return dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(scale), times)

    return drawn(job, PLDAccountant, event, lambda noise: [int(held.sum()) + noise(None) for _ in range(times)])


def sums(job):
    """How many people have come by each day, from a binary tree over the days, whose nodes are added up."""
    so_far, days = np.cumsum(np.bincount(np.load(job["data"]), minlength=job["rounds"])), job["rounds"]

    def told(noise):
        """The nodes of the first `day` days are the ones of its binary digits."""
        nodes = [noise((days >> level) + 1) for level in range(days.bit_length())]
        ends = np.arange(1, days + 1)
        return so_far + sum(
            np.where(ends >> level & 1, node[(ends >> level) - 1], 0) for level, node in enumerate(nodes)
        )

    def event(scale):
        return dp_accounting.SingleEpochTreeAggregationDpEvent(scale, days)

    def accountant():
        return RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_SPECIAL)

    return drawn(job, accountant, event, told)
