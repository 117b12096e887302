"""Of the shuffler."""
