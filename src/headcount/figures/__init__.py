"""Figures and tables of text: one look for all of them."""
