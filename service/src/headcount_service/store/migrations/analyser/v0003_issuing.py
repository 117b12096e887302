"""An analyser may issue tokens, where nobody else does."""

from headcount_service.store.migrations import issuing

revision = "analyser_3"
down_revision = "analyser_2"
branch_labels = None
depends_on = None


def upgrade() -> None:
    issuing.create()


def downgrade() -> None:
    issuing.drop()
