"""Collections that tokens are issued for, who has asked, and the tokens of operators."""

import sqlalchemy as sa
from alembic import op

from headcount_service.store.migrations import issuing

revision = "issuer_1"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    issuing.create()
    op.create_table(
        "tokens",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False, unique=True),
    )


def downgrade() -> None:
    op.drop_table("tokens")
    issuing.drop()
