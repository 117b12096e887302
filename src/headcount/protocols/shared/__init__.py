"""Bases that several protocols share; a leaf derives from these, never from another leaf."""
