"""multi-freq-ldpy: a client function and an aggregator for each oracle, one person at a time. Its aggregators cut
negative estimates off and make the rest add up."""

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

PACKAGES = ("multi-freq-ldpy", "numpy")


def pairs(epsilon, d):
    return {
        "generalised-response": (
            lambda value: GRR.GRR_Client(value, d, epsilon),
            lambda reports: GRR.GRR_Aggregator_MI(reports, d, epsilon),
        ),
        "basic-rappor": (
            lambda value: UE.UE_Client(value, d, epsilon, False),
            lambda reports: UE.UE_Aggregator_MI(reports, epsilon, False),
        ),
        "optimised-unary": (
            lambda value: UE.UE_Client(value, d, epsilon, True),
            lambda reports: UE.UE_Aggregator_MI(reports, epsilon, True),
        ),
        "local-hashing": (
            lambda value: LH.LH_Client(value, d, epsilon, True),
            lambda reports: LH.LH_Aggregator_MI(reports, d, epsilon, True),
        ),
        "subset-selection": (
            lambda value: SS.SS_Client(value, d, epsilon),
            lambda reports: SS.SS_Aggregator_MI(reports, d, epsilon),
        ),
    }


def oracle(job):
    """Everybody's report and all estimates."""
    found = pairs(job["epsilon"], job["keys"])
    if job["oracle"] not in found:
        raise NotImplementedError(f"it has no {job['oracle']}")
    client, server = found[job["oracle"]]
    values = np.load(job["data"])[: job.get("people")].tolist()
    return lambda: len(values) * np.asarray(server([client(value) for value in values]))
