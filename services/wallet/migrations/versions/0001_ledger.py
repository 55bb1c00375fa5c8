"""Creates the ledger, the sessions and the complaints.

The database enforces the guarantees that it can: G1 (entries of a transfer sum to zero), G2 (no player account below
zero), G3 (one answer for each request id), G4 (a round ends once), and that rows of the ledger never change.
The hot tables have no foreign keys: each costs a lookup for every row, and `feltro audit` checks the same.
There is no downgrade: a ledger is corrected by new entries and a schema by a new migration.
"""

from alembic import op

revision = "0001"
down_revision = None

_TABLES = """
-- One sequence numbers transfers and rounds. Numbers are drawn while the accounts are locked, so that for any one
-- account a higher number is a later transfer.
CREATE SEQUENCE ledger_no AS bigint CACHE 1;

CREATE TABLE accounts (
    account_no   bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    account_id   uuid NOT NULL UNIQUE DEFAULT uuidv7(),
    -- 1 player, 2 the operator's account for one player, 3 a table's bank, 4 a cave
    kind         smallint NOT NULL CHECK (kind BETWEEN 1 AND 4),
    mode         smallint NOT NULL CHECK (mode IN (1, 2)),
    player_id    text,
    -- of operator accounts and caves: the player's account
    owner_no     bigint,
    -- of banks and caves: the table
    table_no     bigint,
    free_cents   bigint NOT NULL DEFAULT 0,
    locked_cents bigint NOT NULL DEFAULT 0,
    version      bigint NOT NULL DEFAULT 0,
    blocked      boolean NOT NULL DEFAULT false,
    opened_at    timestamptz NOT NULL,
    CONSTRAINT accounts_never_below_zero CHECK (kind IN (2, 3) OR (free_cents >= 0 AND locked_cents >= 0)),
    CONSTRAINT accounts_whose CHECK (
        (kind = 1 AND player_id IS NOT NULL AND owner_no IS NULL AND table_no IS NULL)
        OR (kind = 2 AND player_id IS NULL AND owner_no IS NOT NULL AND table_no IS NULL)
        OR (kind = 3 AND player_id IS NULL AND owner_no IS NULL AND table_no IS NOT NULL)
        OR (kind = 4 AND player_id IS NULL AND owner_no IS NOT NULL AND table_no IS NOT NULL))
) WITH (fillfactor = 60);
CREATE UNIQUE INDEX accounts_of_player ON accounts (player_id, mode) WHERE kind = 1;
CREATE UNIQUE INDEX accounts_books ON accounts (owner_no) WHERE kind = 2;
CREATE UNIQUE INDEX accounts_bank ON accounts (table_no) WHERE kind = 3;
CREATE UNIQUE INDEX accounts_cave ON accounts (owner_no, table_no) WHERE kind = 4;

CREATE TABLE tables (
    table_no   bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    table_id   text NOT NULL UNIQUE,
    game       text NOT NULL,
    regulation text NOT NULL,
    mode       smallint NOT NULL CHECK (mode IN (1, 2)),
    play       smallint NOT NULL CHECK (play BETWEEN 1 AND 3),
    -- the highest lease epoch seen (G8)
    epoch      bigint NOT NULL,
    bank_no    bigint NOT NULL,
    opened_at  timestamptz NOT NULL,
    invite              boolean NOT NULL DEFAULT true,
    idle_seconds        integer NOT NULL DEFAULT 180,
    missed_rounds       integer NOT NULL DEFAULT 5,
    warn_after_seconds  integer NOT NULL DEFAULT 20,
    end_after_seconds   integer NOT NULL DEFAULT 60,
    rebuy_grace_seconds integer NOT NULL DEFAULT 60,
    CONSTRAINT tables_never_earlier_than_the_law CHECK (
        idle_seconds >= 180 AND end_after_seconds >= 60 AND missed_rounds >= CASE play WHEN 3 THEN 1 ELSE 5 END)
) WITH (fillfactor = 70);

CREATE TABLE rounds (
    -- the number of the command that opened it
    round_no        bigint PRIMARY KEY,
    round_id        text NOT NULL UNIQUE,
    table_no        bigint NOT NULL,
    -- 1 open, 2 settled, 3 void
    state           smallint NOT NULL CHECK (state BETWEEN 1 AND 3),
    opened_at       timestamptz NOT NULL,
    ended_at        timestamptz,
    end_transfer_no bigint,
    void_reason     text,
    outcome         bytea,
    CHECK ((state = 1) = (ended_at IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX rounds_open ON rounds (table_no) WHERE state = 1;

CREATE TABLE stakes (
    -- the number of the transfer that placed it
    stake_no        bigint PRIMARY KEY,
    stake_id        text NOT NULL,
    round_no        bigint NOT NULL,
    account_no      bigint NOT NULL,
    session_no      bigint NOT NULL,
    placed_cents    bigint NOT NULL CHECK (placed_cents > 0),
    cancelled_cents bigint NOT NULL DEFAULT 0 CHECK (cancelled_cents BETWEEN 0 AND placed_cents),
    payout_cents    bigint NOT NULL DEFAULT 0 CHECK (payout_cents >= 0),
    -- 1 open, 2 cancelled, 3 settled, 4 returned
    state           smallint NOT NULL DEFAULT 1 CHECK (state BETWEEN 1 AND 4),
    placed_at       timestamptz NOT NULL,
    detail          bytea NOT NULL,
    CHECK ((state = 2) = (cancelled_cents = placed_cents))
) WITH (fillfactor = 80);
CREATE INDEX stakes_of_round ON stakes (round_no);

CREATE TABLE transfers (
    transfer_no bigint PRIMARY KEY,
    kind        smallint NOT NULL CHECK (kind BETWEEN 1 AND 9),
    mode        smallint NOT NULL CHECK (mode IN (1, 2)),
    at          timestamptz NOT NULL,
    request_id  text NOT NULL,
    round_no    bigint,
    reference   text
);
CREATE INDEX transfers_of_round ON transfers (round_no) WHERE round_no IS NOT NULL;

CREATE TABLE entries (
    transfer_no  bigint NOT NULL,
    account_no   bigint NOT NULL,
    -- the account's version after the transfer: numbers its transfers without a gap
    version      bigint NOT NULL,
    -- numbers the entries of one account in one transfer
    leg          smallint NOT NULL,
    -- 1 free, 2 locked
    pocket       smallint NOT NULL CHECK (pocket IN (1, 2)),
    session_no   bigint,
    before_cents bigint NOT NULL,
    amount_cents bigint NOT NULL CHECK (amount_cents <> 0),
    after_cents  bigint NOT NULL,
    PRIMARY KEY (account_no, version, leg),
    CONSTRAINT entries_add_up CHECK (after_cents = before_cents + amount_cents)
);
CREATE INDEX entries_of_transfer ON entries (transfer_no);

CREATE TABLE requests (
    request_id  text PRIMARY KEY,
    digest      bytea NOT NULL,
    refused     boolean NOT NULL,
    -- the response message, or the google.rpc.Status of the refusal, as it went out (G3)
    answer      bytea NOT NULL,
    transfer_no bigint,
    caller      text NOT NULL,
    at          timestamptz NOT NULL
);

CREATE TABLE sessions (
    session_no       bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    session_id       uuid NOT NULL UNIQUE DEFAULT uuidv7(),
    player_id        text NOT NULL,
    account_no       bigint NOT NULL,
    table_no         bigint NOT NULL,
    -- 1 active, 2 invited, 3 warned, 4 ending, 5 ended
    state            smallint NOT NULL CHECK (state BETWEEN 1 AND 5),
    device_kind        text NOT NULL,
    device_agent       text NOT NULL,
    device_address     text NOT NULL,
    device_fingerprint text NOT NULL,
    started_at       timestamptz NOT NULL,
    -- the account's version when the session started and ended: its entries lie between
    started_version  bigint NOT NULL,
    -- the cave's version when the session started, 0 where there was none
    started_cave_version bigint NOT NULL DEFAULT 0,
    ended_at         timestamptz,
    ended_version    bigint,
    -- 1 player, 2 inactivity, 3 operator, 4 logout
    end_cause        smallint CHECK (end_cause BETWEEN 1 AND 4),
    last_activity_at timestamptz NOT NULL,
    -- the beginning of the time without a bet: the start, or the end of the last round with a stake
    idle_since       timestamptz NOT NULL,
    missed_rounds    integer NOT NULL DEFAULT 0,
    warned_at        timestamptz,
    -- the first round announced after the warning: the one in which the player has to bet
    warned_round_id  text,
    -- set while the player is invited because the cave is below the minimum (806/2015:70.a)
    cave_short_since timestamptz,
    next_step_at     timestamptz,
    CHECK ((state = 5) = (ended_at IS NOT NULL)),
    CHECK ((state >= 4) = (end_cause IS NOT NULL))
) WITH (fillfactor = 60);
CREATE UNIQUE INDEX sessions_running ON sessions (player_id, table_no) WHERE state < 5;
CREATE INDEX sessions_of_player ON sessions (player_id, session_no);
CREATE INDEX sessions_at_table ON sessions (table_no) WHERE state < 5;
CREATE INDEX sessions_due ON sessions (next_step_at) WHERE next_step_at IS NOT NULL;

CREATE TABLE outbox (
    outbox_no bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    at        timestamptz NOT NULL,
    facts     bytea NOT NULL
);
ALTER TABLE outbox ALTER facts SET STORAGE EXTERNAL;
-- The ledger's id in the stream, and the last message of the stream whose row is removed from the outbox.
-- Both are unknown until the first publisher has read the stream.
CREATE TABLE outbox_cursor (one boolean PRIMARY KEY DEFAULT true CHECK (one), ledger_id uuid, stream_seq bigint);
INSERT INTO outbox_cursor DEFAULT VALUES;

CREATE TABLE session_clock (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    -- how far the session clock is ahead of the machine's; advanced in development only
    ahead_us   bigint NOT NULL,
    -- the last sweep for inactivity, by this database's own clock
    watched_at timestamptz NOT NULL DEFAULT now(),
    -- the first sweep after an outage of ours, by the session clock
    resumed_at timestamptz
);
INSERT INTO session_clock (ahead_us) VALUES (0);

CREATE TABLE complaints (
    complaint_no bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    reference    text NOT NULL UNIQUE,
    player_id    text NOT NULL,
    account_no   bigint NOT NULL,
    round_no     bigint,
    session_no   bigint,
    -- 1 filed, 2 in review, 3 answered, 4 closed
    state        smallint NOT NULL CHECK (state BETWEEN 1 AND 4),
    filed_at     timestamptz NOT NULL,
    CHECK ((round_no IS NULL) <> (session_no IS NULL))
);
CREATE INDEX complaints_of_account ON complaints (account_no, complaint_no);
CREATE INDEX complaints_in_state ON complaints (state, complaint_no);
CREATE TABLE complaint_steps (
    complaint_no bigint NOT NULL REFERENCES complaints,
    number       integer NOT NULL,
    actor        text NOT NULL,
    by_operator  boolean NOT NULL,
    state        smallint NOT NULL CHECK (state BETWEEN 1 AND 4),
    text         text NOT NULL,
    at           timestamptz NOT NULL,
    PRIMARY KEY (complaint_no, number)
);

-- Operators' actions that moved no money (903-B/2015:6.3.6.7); those that moved money are in `requests`.
CREATE TABLE operator_actions (
    action_no bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    at        timestamptz NOT NULL,
    actor     text NOT NULL,
    action    text NOT NULL,
    subject   text NOT NULL,
    detail    text NOT NULL
);
"""

_G1_CHECK = """
CREATE FUNCTION entries_sum_to_zero() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wrong bigint;
BEGIN
    SELECT transfer_no INTO wrong FROM written GROUP BY transfer_no HAVING sum(amount_cents) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G1: the entries of transfer % do not sum to zero', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$
"""
# One statement writes all entries of a transfer, so that every statement has to balance.
_G1 = """
CREATE TRIGGER entries_sum_to_zero AFTER INSERT ON entries REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION entries_sum_to_zero()
"""

_APPEND_ONLY = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
_APPEND_ONLY_TABLES = ("transfers", "entries", "requests", "complaint_steps", "operator_actions")

_G4_CHECK = """
CREATE FUNCTION refuse_second_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'G4: this row of % has ended and does not change any more', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
_ENDED = {
    "rounds": "OLD.state <> 1",
    "stakes": "OLD.state <> 1",
    "sessions": "OLD.state = 5",
    "complaints": "OLD.state = 4",
}

# The service may add to the ledger and change balances; it may not rewrite the ledger.
_GRANTS = """
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO feltro_wallet;
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO feltro_wallet;
REVOKE INSERT ON alembic_version, outbox_cursor, session_clock FROM feltro_wallet;
GRANT UPDATE ON accounts, tables, rounds, stakes, sessions, outbox_cursor, session_clock TO feltro_wallet;
GRANT UPDATE (state) ON complaints TO feltro_wallet;
GRANT DELETE ON outbox TO feltro_wallet;
"""


def _run(statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            op.execute(statement)


def upgrade() -> None:
    _run(_TABLES)
    op.execute(_G1_CHECK)
    op.execute(_G1)
    op.execute(_APPEND_ONLY)
    for table in _APPEND_ONLY_TABLES:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
    op.execute(_G4_CHECK)
    for table, ended in _ENDED.items():
        op.execute(
            f"CREATE TRIGGER {table}_end_once BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW WHEN ({ended})"
            " EXECUTE FUNCTION refuse_second_end()"
        )
    _run(_GRANTS)
