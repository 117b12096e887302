"""Conformance checks, attacks and mutants: what every protocol is put through.

Begin with `checks`; `attack` bounds epsilon from below by experiment.
"""
