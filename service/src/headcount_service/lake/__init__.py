"""Sealed reports that lie in a data lake instead of arriving over a network; Spark opens, mixes and counts them."""
