"""The statements of the notes, a file or two for each, with the check of each below it."""

SHUFFLING = "Distributed differential privacy via shuffling"
SEPARATING = "Separating local and shuffle privacy"
SURVEY = "Private mean estimation, a survey"
BINARY = "Algorithms for binary sums while ensuring differential privacy"
TITLES = (SEPARATING, SURVEY, SHUFFLING, BINARY)
