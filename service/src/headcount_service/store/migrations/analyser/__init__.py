"""Migrations of the analyser's database."""
