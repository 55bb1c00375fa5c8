"""Creates relevant events: large prizes, deposits and withdrawals."""

from alembic import op

revision = "0003"
down_revision = "0002"

_TABLES = """
-- Large movements of real money (903-B/2015:6.3.6.6), written by the transaction that moves it.
CREATE TABLE relevant_events (
    event_no     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    at           timestamptz NOT NULL,
    -- 1 prize, 2 deposit, 3 withdrawal
    kind         smallint NOT NULL CHECK (kind BETWEEN 1 AND 3),
    transfer_no  bigint NOT NULL,
    -- the player's own account, also for a prize won with a cave
    account_no   bigint NOT NULL,
    -- of a prize only
    session_no   bigint CHECK ((session_no IS NULL) = (kind <> 1)),
    amount_cents bigint NOT NULL,
    -- the player's stakes in the round, of a prize only
    staked_cents bigint NOT NULL CHECK (staked_cents >= 0 AND (kind = 1 OR staked_cents = 0)),
    -- the limit in force when it was recorded
    limit_cents  bigint NOT NULL CHECK (limit_cents > 0),
    CONSTRAINT relevant_events_reach_their_limit CHECK (amount_cents >= limit_cents),
    CONSTRAINT relevant_events_noted_once UNIQUE (transfer_no, account_no)
);
CREATE INDEX relevant_events_of_kind ON relevant_events (kind, event_no);
CREATE INDEX relevant_events_at ON relevant_events (at);

CREATE INDEX policy_changes_of_table ON policy_changes (table_id, change_no)
"""


def upgrade() -> None:
    for statement in _TABLES.split(";\n"):
        op.execute(statement)
    op.execute(
        "CREATE TRIGGER relevant_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON relevant_events"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    op.execute("GRANT SELECT, INSERT ON relevant_events TO feltro_wallet")
