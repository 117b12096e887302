"""An answer with its interval: estimates, differences of two, and intervals from the exact law of the error."""
