"""Stored batch data is encrypted under secrets outside the database, and counted on arrival.

Batches that are open or under way keep the form in which they were begun (1), and are finished in
it.
"""

import sqlalchemy as sa
from alembic import op

revision = "shuffler_2"
down_revision = "shuffler_1"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("batches", sa.Column("form", sa.Integer, nullable=False, server_default="1"))
    op.add_column("batches", sa.Column("mixed", sa.Text))  # the name of the table of its mixed messages
    op.create_table(
        "counts",
        sa.Column("tag", sa.Text, primary_key=True),
        sa.Column("process", sa.Text, primary_key=True),
        sa.Column("came", sa.BigInteger, nullable=False),
    )
    op.execute("UPDATE batches SET mixed = tag WHERE state IN ('shuffled', 'delivered')")
    connection = op.get_bind()
    for (tag,) in connection.execute(sa.text("SELECT tag FROM batches WHERE state = 'open'")).fetchall():
        op.execute(f"INSERT INTO counts SELECT '{tag}', '', count(*) FROM reports_{tag}")


def downgrade() -> None:
    op.drop_table("counts")
    op.drop_column("batches", "mixed")
    op.drop_column("batches", "form")
