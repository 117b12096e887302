"""Of the issuer."""
