"""Creates the list of ended sessions whose players have not been told yet.

A transaction that ends sessions only adds them here: their summaries are computed after it, however long they are.
"""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.execute(
        "CREATE TABLE ended_sessions ("
        " session_no bigint PRIMARY KEY,"
        # The end, by the session clock and by the machine's.
        " ended_at timestamptz NOT NULL,"
        " at timestamptz NOT NULL)"
    )
    # UPDATE is for locking rows: two replicas publish no session twice.
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ended_sessions TO feltro_wallet")
