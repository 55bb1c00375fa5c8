"""Adds the newest version of specific rules whose inactivity policy was applied to a table.

A new owner that applies the same rules again does not undo an operator's change since then.
"""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    # A constant default rewrites no row, however many there are.
    op.execute("ALTER TABLE tables ADD COLUMN rules_version bigint NOT NULL DEFAULT 0")
