"""Collections from Python: a device that reports to one, and a desk from which an operator runs them.

A device is a `Client` with its `Limits`; each of its reports has a `Receipt`. `Remote` is a party by its address. A
`Operator` holds an operator's credentials for both parties. The command line does the same by `headcount collection`.
"""

from __future__ import annotations

from headcount.service.client.device import Client
from headcount.service.client.limits import Limits
from headcount.service.client.receipt import Receipt
from headcount.service.operator.operator import Operator
from headcount.service.wire.http_client import Remote

__all__ = ["Client", "Limits", "Operator", "Receipt", "Remote"]
