"""Theorems of the notes and papers, each checked wherever that can be done."""
