"""The long tables in docs, each written by `python -m headcount_survey.pages.NAME --out FILE`."""
