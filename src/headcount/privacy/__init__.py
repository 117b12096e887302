"""Exact accounting: privacy losses, integer laws, composition and budgets.

Begin with `loss`. A module here prices one kind of view; protocols choose among them.
"""
