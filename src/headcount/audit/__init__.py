"""Conformance checks and attacks, which every protocol is put through.

`conformance` compares what a protocol states with its exact laws; `attacks` bounds epsilon from
below by experiment. Both build on `enumeration`, the exact law of what a small crowd sends and
releases. The public face is `headcount.testing`. That the checks notice broken protocols is shown
by the mutants of the survey.

Internal: docs/api.md lists what is public.
"""
