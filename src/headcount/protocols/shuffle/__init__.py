"""Protocols of the shuffle models: messages are mixed, by a shuffler that may drop small counts or add messages."""
