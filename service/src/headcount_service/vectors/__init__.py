"""Test vectors for clients in other languages, which `python -m headcount_service.vectors` writes."""
