"""Figures that only the survey and the site draw; the library's are in `headcount.figures`."""
