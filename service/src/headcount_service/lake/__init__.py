"""Sealed reports in a data lake instead of over a network; Spark opens, mixes and counts them."""
