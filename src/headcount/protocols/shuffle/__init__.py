"""Protocols of the shuffle models: a shuffler mixes messages, and may drop or add some."""
