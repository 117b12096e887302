"""Migrations of the parties' databases, version by version."""
