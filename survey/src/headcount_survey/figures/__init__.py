"""Figures that only the survey and the site draw; those of the library are in `headcount.figures`."""
