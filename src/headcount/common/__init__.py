"""Helpers without privacy: canonical JSON, atomic files, root finding, numbers, words."""
