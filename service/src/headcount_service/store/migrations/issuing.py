"""The tables for issuing tokens, of an issuer or of an analyser."""

import sqlalchemy as sa
from alembic import op


def create() -> None:
    op.create_table(
        "issuing",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "issued",
        sa.Column("collection", sa.Text, sa.ForeignKey("issuing.id"), primary_key=True),
        sa.Column("batch", sa.Integer, primary_key=True),
        sa.Column("who", sa.LargeBinary, primary_key=True),
        sa.Column("blinded", sa.LargeBinary, nullable=False),
    )


def drop() -> None:
    for table in ("issued", "issuing"):
        op.drop_table(table)
