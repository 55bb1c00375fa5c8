"""Keeps the lineup of tables with caves: who sits out, time banks, rests, who waits, and what players left with.

It is what a next owner goes on with and no record of what happened, so a table has one row, which is replaced.
"""

from alembic import context, op

revision = "0006"
down_revision = "0005"

_TABLE = """
CREATE TABLE kept_lineups (
    table_id     text PRIMARY KEY,
    placement_id text NOT NULL,
    -- the owner that wrote it
    epoch        bigint NOT NULL,
    -- feltro.table.v1.KeptLineup
    state        bytea NOT NULL,
    kept_at      timestamptz NOT NULL
)
"""


def upgrade() -> None:
    op.execute(_TABLE)
    op.execute(f"GRANT SELECT, INSERT, UPDATE ON kept_lineups TO {context.config.attributes['role']}")
