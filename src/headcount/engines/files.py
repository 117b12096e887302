"""The engine for files of any size, and for anything with the Arrow stream interface.

DuckDB reads, merges each person's rows, and for a trusted side adds up, in its own threads: the
group-by happens there. Randomisers run over record batches as they are read. Nothing is held in
memory but a few batches and the groups; with person ids, also an answer for each person, which
DuckDB puts on disk where memory is short.
"""

from __future__ import annotations

from headcount.engines.counts_by_round import Counts, counts_of
from headcount.engines.duckdb_connection import refusing
from headcount.engines.engine import Rows
from headcount.engines.file_codes import FileCodes
from headcount.engines.tallying import tally_parts
from headcount.privacy.model import Model
from headcount.programme.coins import Coins
from headcount.programme.tally import Tally
from headcount.protocols.base.plan import Plan
from headcount.questions.domains.domain import Shape
from headcount.questions.question import Question


class FileEngine:
    """Parquet, CSV and Arrow files, folders, globs, and anything with Arrow's stream interface."""

    def answers(self, task: Question, rows: Rows) -> FileCodes:
        return FileCodes(rows.domain(task), rows)

    def require(self, task: Question, answers: FileCodes) -> None:
        with refusing():
            for batch in answers.batches():
                answers.codes(batch)

    def tally(self, plan: Plan, answers: FileCodes, coins: Coins) -> Tally:
        protocol, domain = plan.protocol, answers.domain
        with refusing():
            if protocol.model is not Model.CENTRAL or not answers.grouped:
                return tally_parts(protocol, answers.batches(), answers.codes, coins)
            if domain.shape is Shape.AMOUNT:
                return protocol.totalled(answers.size, answers.total())
            if domain.shape is Shape.SHARES:
                return protocol.pooled(*answers.pooled())
            return protocol.counted(*(answers.ones() if domain.shape is Shape.BIT else answers.held()))

    def rounds(self, task: Question, rows: Rows) -> list[Counts]:
        answers = self.answers(task, rows)
        with refusing():
            amounts = answers.domain.shape is Shape.SHARES
            return counts_of(answers.domain, *(answers.pooled() if amounts else (*answers.held(), None)))
