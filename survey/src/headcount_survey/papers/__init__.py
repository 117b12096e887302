"""Slips in the papers that matter for work built on them, each with a check."""

from headcount_survey.papers import counting, messages, sampled
from headcount_survey.statement import Statement

ROWS: tuple[Statement, ...] = (*messages.row, *counting.row, *sampled.row)
