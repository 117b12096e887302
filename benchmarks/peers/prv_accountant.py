"""prv-accountant, which gives a lower bound, an estimate and an upper bound; the upper bound is the guarantee."""

from prv_accountant import ApproximateDPMechanism, GaussianMechanism, LaplaceMechanism, PRVAccountant

PACKAGES = ("prv-accountant", "numpy")


def composed(job):
    epsilon, delta = job["each"]
    if job["noise"] == "discrete Laplace":
        raise NotImplementedError("it has no discrete Laplace noise")

    def work():
        if job["noise"] == "Laplace":
            alone = LaplaceMechanism(mu=1.0 / job["scale"])
        elif job["noise"] == "Gaussian":
            alone = GaussianMechanism(noise_multiplier=job["scale"])
        else:
            alone = ApproximateDPMechanism(epsilon, delta)
        accountant = PRVAccountant(
            prvs=alone, max_self_compositions=job["times"], eps_error=job.get("error", 0.01),
            delta_error=job["delta"] / 1000,
        )  # fmt: skip
        return accountant.compute_epsilon(delta=job["delta"], num_self_compositions=[job["times"]])[2]

    return work
