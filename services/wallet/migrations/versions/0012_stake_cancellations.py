"""Records what was taken back of each stake, so that a part of a stake can be cancelled and the rest stays in play.

A stake's `detail` stays as it was placed. What is in play of it is the `remaining_detail` of its last cancellation, or
the detail itself. Cancellations so far took back whole stakes; each is found by its request id.
"""

from alembic import op

revision = "0012"
down_revision = "0011"

_TABLE = """
CREATE TABLE stake_cancellations (
    transfer_no      bigint NOT NULL,
    stake_no         bigint NOT NULL,
    amount_cents     bigint NOT NULL CHECK (amount_cents > 0),
    -- of a part: the bets that were taken back, and those that stay; NULL if nothing of the stake stays
    cancelled_detail bytea,
    remaining_detail bytea,
    at               timestamptz NOT NULL,
    PRIMARY KEY (stake_no, transfer_no),
    CHECK ((cancelled_detail IS NULL) = (remaining_detail IS NULL))
);
CREATE INDEX stake_cancellations_of_transfer ON stake_cancellations (transfer_no);

INSERT INTO stake_cancellations (transfer_no, stake_no, amount_cents, at)
SELECT transfers.transfer_no, stakes.stake_no, stakes.cancelled_cents, transfers.at
FROM transfers
JOIN stakes ON stakes.round_no = transfers.round_no AND stakes.state = 2
           AND transfers.request_id = stakes.stake_id || '\\:back'
WHERE transfers.kind = 4;

-- The stakes of one player in a round.
CREATE INDEX stakes_of_player_in_round ON stakes (round_no, account_no);
DROP INDEX stakes_of_round
"""


def upgrade() -> None:
    for statement in _TABLE.split(";\n"):
        op.execute(statement)
    op.execute(
        "CREATE TRIGGER stake_cancellations_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON stake_cancellations"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    op.execute("GRANT SELECT, INSERT ON stake_cancellations TO feltro_wallet")
