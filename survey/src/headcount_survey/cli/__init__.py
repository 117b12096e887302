"""`headcount study`: the studies and statements on the command line."""
