"""Google's dp-accounting, by privacy loss distributions; `finer` is the step of its grid."""

from dp_accounting.pld import privacy_loss_distribution as pld

PACKAGES = ("dp-accounting", "numpy")


def composed(job):
    epsilon, delta = job["each"]
    step = {"value_discretization_interval": job.get("step", 1e-4)}

    def alone():
        if job["noise"] == "discrete Laplace":
            return pld.from_discrete_laplace_mechanism(job["rate"], **step)
        if job["noise"] == "Laplace":
            return pld.from_laplace_mechanism(job["scale"], **step)
        if job["noise"] == "Gaussian":
            return pld.from_gaussian_mechanism(job["scale"], **step)
        return pld.from_privacy_parameters(pld.common.DifferentialPrivacyParameters(epsilon, delta), **step)

    return lambda: alone().self_compose(job["times"]).get_epsilon_for_delta(job["delta"])
