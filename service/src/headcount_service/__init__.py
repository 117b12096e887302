"""Real collection: clients randomise and seal, a shuffler mixes ciphertexts, an analyser counts.

Public are devices, which report, and operators, who run collections. A device is a `Client` with
its `Limits`; each of its reports has a `Receipt`. An `Operator` holds credentials for both parties.
`Remote` is a party by its address. `Released` is a signed release: its proof, and its answer, which
can be asked further. The command line does the same by `headcount collection`.

All modules are internal: they may change in any version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headcount_service.client.device import Client
    from headcount_service.client.limits import Limits
    from headcount_service.client.receipt import Receipt
    from headcount_service.operator.operator import Operator
    from headcount_service.wire.http_client import Remote
    from headcount_service.wire.signed_release import Released
else:
    _PLACES = {
        "Client": "client.device",
        "Limits": "client.limits",
        "Operator": "operator.operator",
        "Receipt": "client.receipt",
        "Released": "wire.signed_release",
        "Remote": "wire.http_client",
    }

    def __getattr__(name: str) -> object:
        """A public name, on first use: the command line loads no more than the room it needs."""
        from importlib import import_module

        if name not in _PLACES:
            raise AttributeError(f"module 'headcount_service' has no attribute {name!r}")
        return getattr(import_module(f"headcount_service.{_PLACES[name]}"), name)


__all__ = ["Client", "Limits", "Operator", "Receipt", "Released", "Remote"]
