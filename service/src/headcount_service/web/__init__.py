"""The page: an advisor, a questionnaire to try, and an operator's collections, for a browser."""
