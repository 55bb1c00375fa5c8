"""Creates a game's schema: the journal of rounds, specific rules and switches.

Records are written once and never changed. A round has three entries, each with a row of its own: `rounds` when it
opens, `draws` with its stakes when it is drawn, `endings` with the payouts when it has ended. The database itself makes
sure that a round is drawn once and ends once, in a possible order (G4, G6), and that stakes, payouts and results come
with their entry and never later (G10). Its triggers check whole statements, because an entry has many rows. The lock on
`placements` keeps concurrent transactions apart (G8).
"""

from alembic import context, op

revision = "0001"
down_revision = None

_TABLES = """
-- The configured tables as units of ownership. Writes with a lower epoch than this are refused (G8).
CREATE TABLE placements (
    placement_id text PRIMARY KEY,
    epoch        bigint NOT NULL CHECK (epoch > 0)
) WITH (fillfactor = 50);

CREATE SEQUENCE round_no AS bigint CACHE 1;
CREATE TABLE rounds (
    round_no              bigint PRIMARY KEY,
    round_id              text NOT NULL UNIQUE,
    placement_id          text NOT NULL,
    table_id              text NOT NULL,
    -- counts the rounds of the table
    number                bigint NOT NULL CHECK (number > 0),
    configuration_version integer NOT NULL,
    -- the owner that opened it
    epoch                 bigint NOT NULL,
    opened_at             timestamptz NOT NULL,
    closes_at             timestamptz,
    CONSTRAINT rounds_of_table UNIQUE (table_id, number)
);
CREATE TABLE draws (
    round_no    bigint PRIMARY KEY,
    epoch       bigint NOT NULL,
    closed_at   timestamptz NOT NULL,
    drawn_at    timestamptz NOT NULL,
    entropy     bytea NOT NULL,
    outcome     bytea NOT NULL,
    session_ids text[] NOT NULL
);
CREATE TABLE stakes (
    round_no     bigint NOT NULL,
    -- in the order of placing, from 0
    position     integer NOT NULL,
    stake_id     text NOT NULL,
    request_id   text NOT NULL,
    player_id    text NOT NULL,
    account_id   text NOT NULL,
    session_id   text NOT NULL,
    seat         integer NOT NULL,
    amount_cents bigint NOT NULL CHECK (amount_cents > 0),
    bets         bytea NOT NULL,
    placed_at    timestamptz NOT NULL,
    PRIMARY KEY (round_no, position),
    CONSTRAINT stakes_once UNIQUE (stake_id)
);
CREATE INDEX stakes_of_player ON stakes (player_id, round_no);
CREATE TABLE endings (
    round_no    bigint PRIMARY KEY,
    epoch       bigint NOT NULL,
    -- 2 settled, 3 void
    ending      smallint NOT NULL CHECK (ending IN (2, 3)),
    ended_at    timestamptz NOT NULL,
    void_reason text NOT NULL CHECK (void_reason = '' OR ending = 3)
);
CREATE TABLE payouts (
    round_no     bigint NOT NULL,
    stake_id     text NOT NULL,
    payout_cents bigint NOT NULL CHECK (payout_cents >= 0),
    PRIMARY KEY (round_no, stake_id)
);
CREATE TABLE player_results (
    round_no             bigint NOT NULL,
    -- empty if only the ledger knows the stake
    player_id            text NOT NULL,
    -- the round's, for a player's last bets at a table
    table_id             text NOT NULL,
    session_id           text NOT NULL,
    staked_cents         bigint NOT NULL CHECK (staked_cents >= 0),
    payout_cents         bigint NOT NULL CHECK (payout_cents >= 0),
    balance_before_cents bigint NOT NULL,
    balance_after_cents  bigint NOT NULL,
    PRIMARY KEY (round_no, session_id)
);
CREATE INDEX player_results_at_table ON player_results (player_id, table_id, round_no);
-- The rounds without an end, kept by triggers so that no query has to scan all rounds for them.
CREATE TABLE open_rounds (
    round_no     bigint PRIMARY KEY,
    placement_id text NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX open_rounds_of_placement ON open_rounds (placement_id);

CREATE TABLE configurations (
    table_id           text NOT NULL,
    version            integer NOT NULL CHECK (version > 0),
    -- a serialized feltro.table.v1.TableConfiguration
    configuration      bytea NOT NULL,
    approval_reference text NOT NULL CHECK (approval_reference <> ''),
    effective_at       timestamptz NOT NULL,
    entered_by         text NOT NULL,
    entered_at         timestamptz NOT NULL,
    request_id         text NOT NULL UNIQUE,
    digest             bytea NOT NULL,
    PRIMARY KEY (table_id, version),
    -- Rounds that were played keep the rules they were played by.
    CONSTRAINT configurations_not_in_the_past CHECK (effective_at >= entered_at)
);
CREATE TABLE switches (
    switch_no  bigint PRIMARY KEY,
    -- 1 one table, 2 the game
    scope      smallint NOT NULL CHECK (scope IN (1, 2)),
    table_id   text NOT NULL,
    enabled    boolean NOT NULL,
    reason     text NOT NULL,
    set_by     text NOT NULL,
    set_at     timestamptz NOT NULL,
    request_id text NOT NULL UNIQUE,
    digest     bytea NOT NULL,
    CHECK ((scope = 2) = (table_id = ''))
);
CREATE INDEX switches_latest ON switches (scope, table_id, switch_no DESC);
"""

_APPEND_ONLY = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
_APPEND_ONLY_TABLES = (
    "rounds", "draws", "stakes", "endings", "payouts", "player_results", "configurations", "switches",
)  # fmt: skip

_FENCE = """
CREATE FUNCTION refuse_lower_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'G8: the epoch of a placement only rises' USING ERRCODE = 'integrity_constraint_violation';
END $$
"""

# Each function runs after its statement and sees the rows that it wrote in every table.
_CHECKS = {
    "rounds": """
    INSERT INTO open_rounds (round_no, placement_id) SELECT round_no, placement_id FROM written
        WHERE NOT EXISTS (SELECT FROM endings WHERE endings.round_no = written.round_no);
""",
    "draws": """
    SELECT round_no INTO wrong FROM written
        WHERE NOT EXISTS (SELECT FROM rounds WHERE rounds.round_no = written.round_no) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: round % is drawn and was never opened', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT written.round_no INTO wrong FROM written JOIN endings ON endings.round_no = written.round_no
        WHERE endings.ending = 3 OR endings.xmin <> pg_current_xact_id()::xid LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: round % is drawn after it has ended', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
""",
    "endings": """
    SELECT round_no INTO wrong FROM written
        WHERE NOT EXISTS (SELECT FROM rounds WHERE rounds.round_no = written.round_no) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G4: round % has ended and was never opened', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT round_no INTO wrong FROM written
        WHERE (ending = 2) <> EXISTS (SELECT FROM draws WHERE draws.round_no = written.round_no) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: round % is settled without an outcome or void with one', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    DELETE FROM open_rounds USING written WHERE open_rounds.round_no = written.round_no;
""",
    "stakes": """
    SELECT round_no INTO wrong FROM (SELECT DISTINCT round_no FROM written) AS of_round
        WHERE NOT EXISTS (SELECT FROM draws WHERE draws.round_no = of_round.round_no
                                              AND draws.xmin = pg_current_xact_id()::xid)
          AND NOT EXISTS (SELECT FROM endings WHERE endings.round_no = of_round.round_no AND ending = 3
                                                AND endings.xmin = pg_current_xact_id()::xid) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G10: a stake of round % comes without its draw or its return', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
""",
}
_WITH_THEIR_ENDING = """
    SELECT round_no INTO wrong FROM (SELECT DISTINCT round_no FROM written) AS of_round
        WHERE NOT EXISTS (SELECT FROM endings WHERE endings.round_no = of_round.round_no
                                                AND endings.xmin = pg_current_xact_id()::xid) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G10: a row of % for round % comes without the ending', TG_TABLE_NAME, wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
"""
_CHECKS |= {"payouts": _WITH_THEIR_ENDING, "player_results": _WITH_THEIR_ENDING}

# With the privileges of the schema's owner, because the service has none on `open_rounds`.
_CHECK = """
CREATE FUNCTION check_{table}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE wrong bigint;
BEGIN
{body}
    RETURN NULL;
END $$
"""

# The service may insert records, and neither change nor delete them.
_GRANTS = """
GRANT USAGE ON SEQUENCE round_no TO {role};
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO {role};
REVOKE INSERT ON alembic_version, open_rounds FROM {role};
GRANT UPDATE (epoch) ON placements TO {role};
"""


def _run(statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            op.execute(statement)


def upgrade() -> None:
    _run(_TABLES)
    op.execute(_APPEND_ONLY)
    for table in _APPEND_ONLY_TABLES:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
    op.execute(
        "CREATE TRIGGER placements_stay BEFORE DELETE OR TRUNCATE ON placements"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    op.execute(_FENCE)
    op.execute(
        "CREATE TRIGGER placements_epoch_rises BEFORE UPDATE ON placements FOR EACH ROW"
        " WHEN (NEW.epoch <= OLD.epoch OR NEW.placement_id <> OLD.placement_id) EXECUTE FUNCTION refuse_lower_epoch()"
    )
    for table, body in _CHECKS.items():
        op.execute(_CHECK.format(table=table, body=body))
        op.execute(
            f"CREATE TRIGGER {table}_checked AFTER INSERT ON {table} REFERENCING NEW TABLE AS written"
            f" FOR EACH STATEMENT EXECUTE FUNCTION check_{table}()"
        )
    _run(_GRANTS.format(role=context.config.attributes["role"]))
