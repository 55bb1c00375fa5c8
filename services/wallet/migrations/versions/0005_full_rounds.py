"""Rounds count what was placed in them, so that none comes to hold more than can be ended and read back (G4, G11).

Of a round that has ended before there is nothing to count any more: nothing is added to it.
"""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    # A constant default: no row is written anew, however many there are.
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
