"""multi-freq-ldpy: a client function and an aggregator for each oracle, one person at a time. Its aggregators cut
negative estimates off and make the rest add up."""

import numpy as np
from multi_freq_ldpy.long_freq_est import L_GRR, L_OSUE, L_SUE, dBitFlipPM
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


def rounds(job):
    """One round's count. By its longitudinal protocols, `epsilon` is what all rounds together tell of an answer that
    never changes, and the first of them tells `first` of that; by its plain ones, each round pays for itself."""
    if job["planning"]:
        return lambda: None
    first, whole = job.get("first", 0.0) * job["epsilon"], job["epsilon"]
    client, server = {
        "GRR": (
            lambda value: GRR.GRR_Client(value, 2, whole / job["rounds"]),
            lambda reports: GRR.GRR_Aggregator_MI(reports, 2, whole / job["rounds"]),
        ),
        "L-GRR": (
            lambda value: L_GRR.L_GRR_Client(value, 2, whole, first),
            lambda reports: L_GRR.L_GRR_Aggregator_MI(reports, 2, whole, first),
        ),
        "L-OSUE": (
            lambda value: L_OSUE.L_OSUE_Client(value, 2, whole, first),
            lambda reports: L_OSUE.L_OSUE_Aggregator_MI(reports, whole, first),
        ),
        "RAPPOR": (
            lambda value: L_SUE.L_SUE_Client(value, 2, whole, first),
            lambda reports: L_SUE.L_SUE_Aggregator_MI(reports, whole, first),
        ),
        "dBitFlipPM": (
            lambda value: dBitFlipPM.dBitFlipPM_Client(value, 2, 2, 2, whole),
            lambda reports: dBitFlipPM.dBitFlipPM_Aggregator_MI(reports, 2, 2, whole),
        ),
    }[job["by"]]
    held = np.load(job["data"]).tolist()
    return lambda: [len(held) * server([client(value) for value in held])[1]]
