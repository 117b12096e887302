"""Collecting for real: clients randomise and seal, a shuffler mixes what it cannot read, an analyser counts.

Internal: docs/api.md lists what is public.
"""
