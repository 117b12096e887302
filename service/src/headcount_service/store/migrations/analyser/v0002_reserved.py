"""Batches that are refused, purged or expired, and whether the webhook was told of an answer.

What was released before is not told of now. What was delivered before was not reserved: that is
done when it is claimed, or when the shuffler announces it again.
"""

import sqlalchemy as sa
from alembic import op

revision = "analyser_2"
down_revision = "analyser_1"
branch_labels = None
depends_on = None

BEFORE = ("receiving", "delivered", "claimed", "released")
SINCE = (*BEFORE, "refused", "purged", "expired")
COLUMNS = "collection, number, state, manifest, result, charge"


def upgrade() -> None:
    _rebuilt(SINCE, [sa.Column("notified", sa.Boolean, nullable=False, server_default=sa.false())])
    op.execute(sa.text("UPDATE batches SET notified = (state = 'released')"))


def downgrade() -> None:
    op.execute(sa.text("DELETE FROM batches WHERE state IN ('refused', 'purged', 'expired')"))
    _rebuilt(BEFORE, [])


def _rebuilt(states: tuple[str, ...], more: list[sa.Column[bool]]) -> None:
    """Both tables anew, since a constraint of SQLite's cannot be changed, with what was in them."""
    named = ", ".join(f"'{state}'" for state in states)
    op.create_table(
        "batches_next",
        sa.Column("collection", sa.Text, sa.ForeignKey("collections.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("state", sa.Text, sa.CheckConstraint(f"state IN ({named})"), nullable=False),
        sa.Column("manifest", sa.Text, nullable=False),
        sa.Column("result", sa.Text),
        sa.Column("charge", sa.Integer),
        *more,
    )
    op.create_table(
        "parts_next",
        sa.Column("collection", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["collection", "number"], ["batches_next.collection", "batches_next.number"]),
    )
    op.execute(sa.text(f"INSERT INTO batches_next ({COLUMNS}) SELECT {COLUMNS} FROM batches"))
    op.execute(sa.text("INSERT INTO parts_next SELECT * FROM parts"))
    for table in ("parts", "batches"):
        op.drop_table(table)
    for table in ("batches", "parts"):
        op.rename_table(f"{table}_next", table)
