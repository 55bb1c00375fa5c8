"""Adds the totals of placed stakes to rounds, so that none grows too large to be ended and read back (G4, G11).

Rounds that have ended keep 0: no stake is added to them.
"""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    # A constant default rewrites no row, however many there are.
    op.execute(
        "ALTER TABLE rounds ADD COLUMN stakes_placed integer NOT NULL DEFAULT 0,"
        " ADD COLUMN detail_bytes bigint NOT NULL DEFAULT 0"
    )
    op.execute("""
UPDATE rounds SET stakes_placed = placed.stakes, detail_bytes = placed.bytes
FROM (
    SELECT stakes.round_no, count(*) AS stakes, sum(length(stakes.detail)) AS bytes
    FROM rounds JOIN stakes ON stakes.round_no = rounds.round_no WHERE rounds.state = 1 GROUP BY stakes.round_no
) AS placed
WHERE rounds.round_no = placed.round_no
""")
