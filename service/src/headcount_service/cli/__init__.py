"""Commands of the service, which `headcount` finds by their entry points: collections, parties, lakes, the page."""
