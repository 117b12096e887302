"""Protocols of the local model: each report is private by itself."""
