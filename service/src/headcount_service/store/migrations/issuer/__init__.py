"""Migrations of the issuer's database."""
