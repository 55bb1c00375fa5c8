"""Adds an index by which the newest round of a table is found, however many the ledger has.

A game whose journal was restored from a backup learns from it which ids of rounds are used.
"""

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.execute("CREATE INDEX rounds_of_table ON rounds (table_no, round_no)")
