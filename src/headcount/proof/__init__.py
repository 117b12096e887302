"""Certificates proved again, by code that shares nothing with what made them.

This package imports nothing else of headcount. It reads a certificate: the report programme, what
the trusted side does, who takes part, and the claim. It works out what neighbouring crowds look
like from that alone, in ball arithmetic with every tail bounded, and answers *proved*, *refuted*
with a witness, or *cannot prove* with the reason.

Internal: docs/api.md lists what is public.
"""

from headcount.proof.effort import DEFAULT as DEFAULT_EFFORT
from headcount.proof.verify import Verdict, verify

__all__ = ["DEFAULT_EFFORT", "Verdict", "verify"]
