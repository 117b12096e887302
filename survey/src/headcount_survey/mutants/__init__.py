"""Mutants: sound protocols with one thing broken, and which conformance check notices.

`catalogue` lists the mutations, which apply to any protocol; `mutation` has what they are made
with, `programme_changes` changes report programmes, `broken_parts` has wrong noise, coins and
claims, and `detection` runs the checks on each mutant.
"""
