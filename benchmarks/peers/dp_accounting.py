"""Google's dp-accounting, by privacy loss distributions on a grid of so small a `step`."""

from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld

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
