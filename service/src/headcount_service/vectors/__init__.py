"""Test vectors for other languages' clients, written by `python -m headcount_service.vectors`."""
