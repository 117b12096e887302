"""Answers: estimates, differences of two, and confidence intervals from the error's exact law.

Internal: docs/api.md lists what is public.
"""
