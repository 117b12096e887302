"""Collections, their batches as delivered, releases, and the ledger that paid for them."""

import sqlalchemy as sa
from alembic import op

revision = "analyser_1"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "populations",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("head", sa.Text, nullable=False),
    )
    op.create_table(
        "charges",
        sa.Column("population", sa.Text, sa.ForeignKey("populations.name"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("line", sa.Text, nullable=False),
    )
    op.create_table(
        "collections",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("keys", sa.Text, nullable=False),
        sa.Column("state", sa.Text, sa.CheckConstraint("state IN ('open', 'destroyed')"), nullable=False),
    )
    op.create_table(
        "batches",
        sa.Column("collection", sa.Text, sa.ForeignKey("collections.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column(
            "state", sa.Text, sa.CheckConstraint("state IN ('receiving', 'delivered', 'claimed', 'released')"),
            nullable=False,
        ),
        sa.Column("manifest", sa.Text, nullable=False),
        sa.Column("result", sa.Text),
        sa.Column("charge", sa.Integer),
    )  # fmt: skip
    op.create_table(
        "parts",
        sa.Column("collection", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["collection", "number"], ["batches.collection", "batches.number"]),
    )
    op.create_table(
        "tokens",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False, unique=True),
    )


def downgrade() -> None:
    for table in ("tokens", "parts", "batches", "collections", "charges", "populations"):
        op.drop_table(table)
