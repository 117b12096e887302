"""Everything that parties agree on and exchange: collections, sealed reports, keys, signatures."""
