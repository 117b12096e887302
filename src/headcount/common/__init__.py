"""Helpers that know nothing of privacy: canonical JSON, whole files, root finding, numbers, words."""
