"""pure-ldp: a client and a server for each oracle, one person at a time as its interface has it."""

import numpy as np
from pure_ldp import frequency_oracles as oracles

PACKAGES = ("pure-ldp", "numpy")

PAIRS = {
    "generalised-response": (oracles.DEClient, oracles.DEServer, {}),
    "basic-rappor": (oracles.UEClient, oracles.UEServer, {"use_oue": False}),
    "optimised-unary": (oracles.UEClient, oracles.UEServer, {"use_oue": True}),
    "local-hashing": (oracles.LHClient, oracles.LHServer, {"use_olh": True}),
}


def pair(name, epsilon, d):
    if name == "hadamard-response":
        server = oracles.HadamardResponseServer(epsilon, d)
        return oracles.HadamardResponseClient(epsilon, d, server.get_hash_funcs()), server
    if name not in PAIRS:
        raise NotImplementedError(f"it has no {name}")
    make_client, make_server, options = PAIRS[name]
    return make_client(epsilon, d, **options), make_server(epsilon, d, **options)


def oracle(job):
    """Everybody's report and all estimates."""
    d = job["keys"]
    client, server = pair(job["oracle"], job["epsilon"], d)
    values = np.load(job["data"])[: job.get("people")].tolist()

    def work():
        server.reset()
        for value in values:
            server.aggregate(client.privatise(value + 1))
        return np.asarray(server.estimate_all(range(1, d + 1), suppress_warnings=True), dtype=float)

    return work
