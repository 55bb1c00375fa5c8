"""Finds decisions by the commands that made them: a request id makes one, whatever the table or the round (G3).

From now on `moves.request_id` is the id under which the wallet would carry the command out, of which it is a hash with
the player's account. Older decisions have what the player sent, which says nothing without the player.
"""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.execute("CREATE INDEX moves_commands ON moves (request_id) WHERE request_id <> ''")
