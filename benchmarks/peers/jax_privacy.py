"""jax-privacy's matrix mechanisms: Gaussian noise that is correlated over time, so that sums so far err little."""

import dp_accounting
import jax
import numpy as np
from dp_accounting.pld import PLDAccountant
from jax_privacy.matrix_factorization import dense, toeplitz

PACKAGES = ("jax-privacy", "jax", "dp-accounting", "numpy")


def sums(job):
    """How many people have come by each day."""
    arrived = np.bincount(np.load(job["data"]), minlength=job["rounds"])
    rng = np.random.default_rng()  # noqa: TID251

    def planned():
        scale = dp_accounting.calibrate_dp_mechanism(
            PLDAccountant, dp_accounting.GaussianDpEvent, job["epsilon"], job["delta"]
        )
        if job["matrix"] == "Toeplitz":
            strategy = toeplitz.materialize_lower_triangular(toeplitz.optimal_max_error_strategy_coefs(job["rounds"]))
        else:
            strategy = dense.optimize(job["rounds"])
        strategy = np.asarray(jax.device_get(strategy), dtype=np.float64)
        return strategy, scale * np.sqrt((strategy**2).sum(axis=0).max())

    if job["planning"]:
        return planned
    strategy, scale = planned()
    return lambda: np.cumsum(arrived + np.linalg.solve(strategy, rng.normal(0.0, scale, job["rounds"])))
