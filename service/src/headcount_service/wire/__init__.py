"""Everything the parties agree on and send each other: collections, sealed reports, keys, signatures."""
