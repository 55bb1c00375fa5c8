"""Adds stakes that are paid before their round ends, each with the transfer that paid it.

When a stake was paid is its transfer's time. Like any stake that has ended, it does not change any more.
"""

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    # Without a default no row is rewritten, however many there are.
    op.execute("ALTER TABLE stakes ADD COLUMN paid_transfer_no bigint")
    # Every row passes the wider limits and names no such transfer. Not checking them keeps the migration short.
    op.execute(
        "ALTER TABLE stakes DROP CONSTRAINT stakes_state_check,"
        # 5: paid before its round ended
        " ADD CONSTRAINT stakes_state_check CHECK (state BETWEEN 1 AND 5) NOT VALID,"
        " ADD CONSTRAINT stakes_paid_by_a_transfer CHECK ((state = 5) = (paid_transfer_no IS NOT NULL)) NOT VALID"
    )
    op.execute(
        "ALTER TABLE transfers DROP CONSTRAINT transfers_kind_check,"
        # 10: stakes paid
        " ADD CONSTRAINT transfers_kind_check CHECK (kind BETWEEN 1 AND 10) NOT VALID"
    )
