"""How the tables of either role came to be as they are."""
