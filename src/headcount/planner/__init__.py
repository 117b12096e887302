"""Which protocol, calibrated how, and how wrong it will be.

Begin with `advise` for recommendations and `calibrate` for the search of parameters.

Internal: docs/api.md lists what is public.
"""
