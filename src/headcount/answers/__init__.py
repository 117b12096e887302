"""Answers: estimates, differences of two, and confidence intervals from the error's exact law."""
