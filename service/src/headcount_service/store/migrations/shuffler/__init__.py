"""Migrations of the shuffler's database."""
