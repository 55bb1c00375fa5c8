"""Keeps tournaments: their facts, from which their whole course follows, what players asked, and how each stands.

Facts are numbered from 1 without a gap, written by one owner after the other, and never changed (G8, G10). What a
player asks is on record before money is asked for it, so that a next owner knows what a payment was for (G3). How a
tournament stands follows from its facts and is kept for lists alone: it is replaced.
"""

from alembic import context, op

revision = "0008"
down_revision = "0007"

_TABLES = """
CREATE TABLE tournament_facts (
    tournament_id text NOT NULL,
    number        integer NOT NULL CHECK (number > 0),
    -- the owner that wrote it
    epoch         bigint NOT NULL,
    -- milliseconds since 1970
    at_ms         bigint NOT NULL,
    -- a serialized message of the game's
    fact          bytea NOT NULL,
    -- of the draws that follow from it
    entropy       bytea NOT NULL,
    -- whom it concerns; empty if nobody alone
    player_id     text NOT NULL,
    -- of the player's command; empty if there was none
    request_id    text NOT NULL,
    -- what the player was answered
    answer        bytea NOT NULL,
    PRIMARY KEY (tournament_id, number)
);
CREATE UNIQUE INDEX tournament_facts_once ON tournament_facts (tournament_id, player_id, request_id)
    WHERE request_id <> '';
CREATE INDEX tournament_facts_of_player ON tournament_facts (player_id, tournament_id) WHERE player_id <> '';
CREATE TABLE tournament_requests (
    tournament_id  text NOT NULL,
    player_id      text NOT NULL,
    request_id     text NOT NULL,
    epoch          bigint NOT NULL,
    command_digest bytea NOT NULL,
    account_id     text NOT NULL,
    -- the request by which the wallet is asked for the money; empty if it costs nothing
    pay_in_id      text NOT NULL,
    -- the fact that it is to become, a serialized message of the game's
    fact           bytea NOT NULL,
    asked_at       timestamptz NOT NULL,
    PRIMARY KEY (tournament_id, player_id, request_id)
);
CREATE UNIQUE INDEX tournament_requests_paid ON tournament_requests (pay_in_id) WHERE pay_in_id <> '';
CREATE TABLE tournament_summaries (
    -- in the order in which tournaments were created
    tournament_no bigint GENERATED ALWAYS AS IDENTITY,
    tournament_id text PRIMARY KEY,
    epoch         bigint NOT NULL,
    mode          smallint NOT NULL,
    phase         smallint NOT NULL,
    -- whether it is over and everybody is paid: nobody runs it any more
    closed        boolean NOT NULL,
    -- a serialized message of the game's
    summary       bytea NOT NULL,
    kept_at       timestamptz NOT NULL
);
CREATE UNIQUE INDEX tournament_summaries_order ON tournament_summaries (tournament_no);
"""

# As in 0001: it runs after its statement, with the privileges of the schema's owner.
_CHECK = """
CREATE FUNCTION check_tournament_facts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE wrong text;
BEGIN
    SELECT written.tournament_id INTO wrong FROM written
        WHERE number > 1 AND NOT EXISTS (
            SELECT FROM tournament_facts AS earlier
            WHERE earlier.tournament_id = written.tournament_id AND earlier.number = written.number - 1
              AND earlier.epoch <= written.epoch AND earlier.at_ms <= written.at_ms) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G10: a fact of tournament % lacks the one before it, or comes before it', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    SELECT written.tournament_id INTO wrong FROM written LEFT JOIN placements
        ON placements.placement_id = written.tournament_id
        WHERE placements.epoch IS DISTINCT FROM written.epoch LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'G8: a fact of tournament % is written by no owner', wrong
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$
"""

_GRANTS = """
GRANT SELECT, INSERT ON tournament_facts, tournament_requests TO {role};
GRANT SELECT, INSERT, UPDATE ON tournament_summaries TO {role}
"""


def _run(statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            op.execute(statement)


def upgrade() -> None:
    _run(_TABLES)
    op.execute(
        "CREATE TRIGGER tournament_summaries_stay BEFORE DELETE OR TRUNCATE ON tournament_summaries"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    for table in ("tournament_facts", "tournament_requests"):
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
    op.execute(_CHECK)
    op.execute(
        "CREATE TRIGGER tournament_facts_checked AFTER INSERT ON tournament_facts REFERENCING NEW TABLE AS written"
        " FOR EACH STATEMENT EXECUTE FUNCTION check_tournament_facts()"
    )
    _run(_GRANTS.format(role=context.config.attributes["role"]))
