"""Adds a round's draw trigger and cancelled stakes to its entries, and to a void round when its betting closed.

As columns, so that a round has no more rows than before. Rounds that are older have the defaults.
"""

from alembic import op

revision = "0002"
down_revision = "0001"

_COLUMNS = """
-- DrawTrigger: 0 not on record, 1 player, 2 clock; by the platform: 3 session ended, 4 table handed over
ALTER TABLE draws ADD COLUMN draw_trigger smallint NOT NULL DEFAULT 0 CHECK (draw_trigger BETWEEN 0 AND 4);
-- a serialized feltro.table.v1.CancelledStakesInJournal
ALTER TABLE draws ADD COLUMN cancelled_stakes bytea NOT NULL DEFAULT '';
-- of a round that was never drawn
ALTER TABLE endings ADD COLUMN closed_at timestamptz;
ALTER TABLE endings ADD COLUMN cancelled_stakes bytea NOT NULL DEFAULT ''
"""


def upgrade() -> None:
    for statement in _COLUMNS.split(";\n"):
        op.execute(statement)
