"""What every protocol is put through: conformance checks, attacks and mutants.

`conformance` compares what a protocol states with its exact laws; `attacks` bounds epsilon from
below by experiment; `mutants` breaks sound protocols, to show that the checks notice. All three
build on `enumeration`, the exact law of what a small crowd sends and releases. The public face is
`headcount.testing`.

Internal: docs/api.md lists what is public.
"""
