"""Adds the configured table that a player's own table is made from: its inactivity policy holds at all of them."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    # Tables that were opened before say so when they are opened again.
    op.execute("ALTER TABLE tables ADD COLUMN configured_table_id text")
    op.execute(
        "CREATE INDEX tables_of_players ON tables (configured_table_id, table_no) WHERE configured_table_id IS NOT NULL"
    )
