"""Figures and tables of text: one look for all of them.

Internal: docs/api.md lists what is public.
"""
