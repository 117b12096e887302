"""Service commands that `headcount` finds by entry point: collections, parties, lakes, the page."""
