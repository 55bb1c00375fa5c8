"""Adds the largest payout that a stake can get, and has the database refuse to pay it more (G12).

Stakes placed before say nothing, as those of a game that does not say.
"""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    # Without a default no row is rewritten, however many there are.
    op.execute("ALTER TABLE stakes ADD COLUMN largest_payout_cents bigint")
    # Every row passes: none says anything. Not checking them keeps the migration short.
    op.execute(
        "ALTER TABLE stakes ADD CONSTRAINT stakes_paid_within_their_prize"
        " CHECK (payout_cents <= largest_payout_cents) NOT VALID"
    )
    # A game's highest epoch bounds how far the epoch of one of its tables may jump.
    op.execute("CREATE INDEX tables_of_game ON tables (game, epoch)")
