"""Collections, batches, keys and tokens. Each batch's report tables are made when it opens."""

import sqlalchemy as sa
from alembic import op

revision = "shuffler_1"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "collections",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("keys", sa.Text, nullable=False),
        sa.Column("state", sa.Text, sa.CheckConstraint("state IN ('open', 'closed', 'destroyed')"), nullable=False),
    )
    op.create_table(
        "batches",
        sa.Column("collection", sa.Text, sa.ForeignKey("collections.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column(
            "state", sa.Text,
            sa.CheckConstraint("state IN ('open', 'sealed', 'shuffled', 'delivered', 'purged')"), nullable=False,
        ),
        sa.Column("closes", sa.BigInteger, nullable=False),
        sa.Column("holds", sa.Integer, nullable=False),
        sa.Column("tag", sa.Text, nullable=False, unique=True),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.Column("reports", sa.Integer),
        sa.Column("added", sa.Integer),
        sa.Column("manifest", sa.Text),
        sa.Column("receipt", sa.Text),
    )  # fmt: skip
    op.create_table(
        "sealing_keys",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("suite", sa.Text, nullable=False),
        sa.Column("state", sa.Text, sa.CheckConstraint("state IN ('active', 'expired', 'deleted')"), nullable=False),
        sa.Column("announcement", sa.Text, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False, unique=True),
    )


def downgrade() -> None:
    for table in ("tokens", "sealing_keys", "batches", "collections"):
        op.drop_table(table)
