"""Adds the decisions of players to the journal: moves, payments before the end, sealed entropy, and kept seats.

A dealt round has a draw without an outcome; its ending has the outcome. Rounds that are older, and rounds without
decisions, keep their outcome in the draw. The checks of `0001` are replaced by ones that know moves.
"""

from alembic import context, op

revision = "0003"
down_revision = "0002"

_TABLES = """
-- absent if decisions follow: then the ending has it
ALTER TABLE draws ALTER COLUMN outcome DROP NOT NULL;
-- the key that the entropy is sealed with; empty if it is plain
ALTER TABLE draws ADD COLUMN entropy_key text NOT NULL DEFAULT '';
-- how many stakes the draw came with; absent in older rounds, all of whose stakes are the draw's
ALTER TABLE draws ADD COLUMN stake_count integer;
-- of a round in which players decided
ALTER TABLE endings ADD COLUMN outcome bytea CHECK (outcome IS NULL OR ending = 2);

CREATE TABLE moves (
    round_no       bigint NOT NULL,
    -- counts the decisions of the round from 1
    position       integer NOT NULL CHECK (position > 0),
    -- the owner that wrote it
    epoch          bigint NOT NULL,
    seat           integer NOT NULL,
    -- a serialized message of the game's
    move           bytea NOT NULL,
    -- ActedBy: 1 player, 2 clock, 3 away, 4 instruction, 5 platform
    acted_by       smallint NOT NULL CHECK (acted_by BETWEEN 1 AND 5),
    -- of the player's command; empty if there was none
    request_id     text NOT NULL,
    command_digest bytea NOT NULL,
    -- empty if it cost nothing
    stake_id       text NOT NULL,
    moved_at       timestamptz NOT NULL,
    PRIMARY KEY (round_no, position)
);
-- Stakes that were paid before the end of their round.
CREATE TABLE paid (
    round_no     bigint NOT NULL,
    stake_id     text NOT NULL,
    payout_cents bigint NOT NULL CHECK (payout_cents >= 0),
    -- how many decisions had been made
    position     integer NOT NULL CHECK (position >= 0),
    paid_at      timestamptz NOT NULL,
    PRIMARY KEY (round_no, stake_id)
);
-- A player keeps a seat over changes of the owner.
CREATE TABLE seats (
    seat_no      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    placement_id text NOT NULL,
    table_id     text NOT NULL,
    seat         integer NOT NULL CHECK (seat > 0),
    player_id    text NOT NULL,
    account_id   text NOT NULL,
    session_id   text NOT NULL,
    -- the owner that gave it
    epoch        bigint NOT NULL,
    taken_at     timestamptz NOT NULL,
    -- absent while the player sits there
    left_at      timestamptz
);
CREATE UNIQUE INDEX seats_one_player ON seats (table_id, seat) WHERE left_at IS NULL;
CREATE UNIQUE INDEX seats_one_each ON seats (table_id, player_id) WHERE left_at IS NULL;
"""

_SEATS = """
CREATE OR REPLACE FUNCTION refuse_seat_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.left_at IS NULL AND NEW.left_at IS NOT NULL THEN
        OLD.left_at := NEW.left_at;
        IF NEW = OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'seats is append-only: a seat is left once, and nothing else of it changes'
        USING ERRCODE = 'integrity_constraint_violation';
END $$
"""

# Each function runs after its statement and sees the rows that it wrote in every table.
_CHECKS = {
    "draws": """
    SELECT round_no INTO wrong FROM written
        WHERE NOT EXISTS (SELECT FROM rounds WHERE rounds.round_no = written.round_no) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: round % is drawn and was never opened', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT written.round_no INTO wrong FROM written JOIN endings ON endings.round_no = written.round_no
        WHERE (endings.ending = 3 AND written.outcome IS NOT NULL)
           OR endings.xmin <> pg_current_xact_id()::xid LIMIT 1;
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
    SELECT written.round_no INTO wrong FROM written LEFT JOIN draws ON draws.round_no = written.round_no
        WHERE CASE ending WHEN 2 THEN draws.round_no IS NULL OR COALESCE(draws.outcome, written.outcome) IS NULL
                          ELSE draws.outcome IS NOT NULL END
           OR draws.outcome <> written.outcome LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: round % is settled without an outcome or void with one', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    DELETE FROM open_rounds USING written WHERE open_rounds.round_no = written.round_no;
""",
    # The moves are asked for only where neither a draw nor a return is: most rounds have none. The end of a dealt round
    # may bring stakes: a journal that was restored from a backup has lost its decisions, and the ledger has not.
    "stakes": """
    FOR wrong IN SELECT round_no FROM (SELECT DISTINCT round_no FROM written) AS of_round
        WHERE NOT EXISTS (SELECT FROM draws WHERE draws.round_no = of_round.round_no
                                              AND draws.xmin = pg_current_xact_id()::xid)
          AND NOT EXISTS (SELECT FROM endings WHERE endings.round_no = of_round.round_no
                                                AND endings.xmin = pg_current_xact_id()::xid
                                                AND (ending = 3 OR endings.outcome IS NOT NULL))
    LOOP
        IF EXISTS (SELECT FROM written WHERE written.round_no = wrong AND NOT EXISTS (
            SELECT FROM moves WHERE moves.round_no = wrong AND moves.stake_id = written.stake_id
                                AND moves.xmin = pg_current_xact_id()::xid))
        THEN
            RAISE EXCEPTION 'G10: a stake of round % comes without its draw, its move or its return', wrong
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
    END LOOP;
""",
    "moves": """
    SELECT written.round_no INTO wrong FROM written LEFT JOIN draws ON draws.round_no = written.round_no
        WHERE draws.round_no IS NULL OR draws.outcome IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G6: there is nothing to decide in round %', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT written.round_no INTO wrong FROM written JOIN endings ON endings.round_no = written.round_no
        WHERE endings.xmin <> pg_current_xact_id()::xid LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G4: a decision is made in round % after it has ended', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT round_no INTO wrong FROM written
        WHERE position > 1 AND NOT EXISTS (
            SELECT FROM moves WHERE moves.round_no = written.round_no AND moves.position = written.position - 1)
        LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G10: a decision of round % lacks the one before it', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT round_no INTO wrong FROM written
        WHERE stake_id <> '' AND NOT EXISTS (
            SELECT FROM stakes WHERE stakes.stake_id = written.stake_id AND stakes.round_no = written.round_no
                                 AND stakes.xmin = pg_current_xact_id()::xid) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G10: a decision of round % comes without its stake', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
""",
    "paid": """
    SELECT round_no INTO wrong FROM written
        WHERE NOT EXISTS (
            SELECT FROM stakes WHERE stakes.stake_id = written.stake_id AND stakes.round_no = written.round_no)
        LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G10: a stake of round % is paid and was never placed', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT written.round_no INTO wrong FROM written JOIN endings ON endings.round_no = written.round_no
        WHERE endings.xmin <> pg_current_xact_id()::xid LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G4: a stake of round % is paid after it has ended', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT round_no INTO wrong FROM written
        WHERE position > 0 AND NOT EXISTS (
            SELECT FROM moves WHERE moves.round_no = written.round_no AND moves.position = written.position) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G10: a stake of round % is paid after a decision that is not there', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
""",
}
_NEW_TABLES = ("moves", "paid")

# As in 0001: with the privileges of the schema's owner.
_CHECK = """
CREATE OR REPLACE FUNCTION check_{table}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE wrong bigint;
BEGIN
{body}
    RETURN NULL;
END $$
"""

_GRANTS = """
GRANT SELECT, INSERT ON moves, paid, seats TO {role};
GRANT UPDATE (left_at) ON seats TO {role}
"""


def _run(statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            op.execute(statement)


def upgrade() -> None:
    _run(_TABLES)
    for table, body in _CHECKS.items():
        op.execute(_CHECK.format(table=table, body=body))
    for table in _NEW_TABLES:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
        op.execute(
            f"CREATE TRIGGER {table}_checked AFTER INSERT ON {table} REFERENCING NEW TABLE AS written"
            f" FOR EACH STATEMENT EXECUTE FUNCTION check_{table}()"
        )
    op.execute(
        "CREATE TRIGGER seats_stay BEFORE DELETE OR TRUNCATE ON seats"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    op.execute(_SEATS)
    op.execute(
        "CREATE TRIGGER seats_left_once BEFORE UPDATE ON seats FOR EACH ROW EXECUTE FUNCTION refuse_seat_change()"
    )
    _run(_GRANTS.format(role=context.config.attributes["role"]))
