"""`headcount study` and `headcount audit`: studies, statements and attacks on the command line."""
