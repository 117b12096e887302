"""The HTTP frame, tokens, logs, metrics and crash points of every listening party."""
