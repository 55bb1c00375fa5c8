"""What a round's record did not say: on whose word it was launched, what was taken back, when a void round was closed.

Columns of the entries that are written anyway, so a round has as many rows as before. Of older rounds they say nothing.
"""

from alembic import op

revision = "0002"
down_revision = "0001"

_COLUMNS = """
-- 0 not on record, 1 the player, 2 the clock, the platform: 3 his session ended, 4 the table was handed over
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
