"""A table knows the newest specific rules whose treatment of inactivity it was told.

Rules that are said again, by whoever takes the table over, do not undo what an operator has set since.
"""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    # A constant default: no row is written anew, however many there are.
    op.execute("ALTER TABLE tables ADD COLUMN rules_version bigint NOT NULL DEFAULT 0")
