"""Helpers without privacy: canonical JSON, atomic files, root finding, numbers, words.

Internal: docs/api.md lists what is public.
"""
