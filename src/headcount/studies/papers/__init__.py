"""Slips in the papers, as far as they matter to whoever builds on them, each with a check."""

from headcount.studies.papers import counting, messages, sampled
from headcount.studies.statement import Statement

ROWS: tuple[Statement, ...] = (*messages.row, *counting.row, *sampled.row)
