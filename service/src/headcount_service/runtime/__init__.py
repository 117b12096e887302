"""What every listening party has: the HTTP frame, tokens, logs, metrics, crash points."""
