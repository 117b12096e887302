"""Conformance checks: privacy loss, error, intervals and samplers, as stated and as computed.

Exact checks enumerate every view of every small crowd from the report programme. Statistical ones
have fixed seeds and raise a false alarm with a probability of at most 1e-6 each. Begin with
`headcount.testing`, which lists all checks.
"""
