"""The operator's hand: every command that he gives at the edge, and the switch of all games.

What the wallet noted of operators until now is carried over: changes of inactivity policies have a table of their own,
for games make them too, and the rest was commands.
"""

from alembic import op

revision = "0002"
down_revision = "0001"

_FORMER = """
CREATE TEMPORARY TABLE former_actions ON COMMIT DROP AS SELECT * FROM operator_actions;
DROP TABLE operator_actions
"""

_TABLES = """
-- What operators commanded (903-B/2015:6.3.6.7), written before it was passed on.
CREATE TABLE operator_actions (
    action_no  bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    action_id  uuid NOT NULL UNIQUE,
    at         timestamptz NOT NULL,
    actor      text NOT NULL,
    address    text NOT NULL,
    method     text NOT NULL,
    -- the whole request as JSON
    request    text NOT NULL,
    -- what names the request has in it: accounts, tables, players
    objects    text[] NOT NULL,
    request_id text NOT NULL,
    trace_id   text NOT NULL
);
CREATE INDEX operator_actions_of_actor ON operator_actions (actor, action_no);
CREATE INDEX operator_actions_of_method ON operator_actions (method, action_no);
CREATE INDEX operator_actions_at ON operator_actions (at);
CREATE INDEX operator_actions_about ON operator_actions USING gin (objects);

-- How they ended. Of one that is not here it is not known whether anything was done.
CREATE TABLE operator_action_ends (
    action_id uuid PRIMARY KEY,
    at        timestamptz NOT NULL,
    status    text NOT NULL,
    reason    text NOT NULL
);

-- What a table's inactivity policy was and became, whoever changed it (903-B/2015:6.3.6.6).
CREATE TABLE policy_changes (
    change_no bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    at        timestamptz NOT NULL,
    actor     text NOT NULL,
    table_id  text NOT NULL,
    change    text NOT NULL
);

-- The switch of all games (903-B/2015:6.3.1). The last one holds.
CREATE TABLE platform_switches (
    switch_no bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    enabled   boolean NOT NULL,
    reason    text NOT NULL,
    set_by    text NOT NULL,
    set_at    timestamptz NOT NULL
)
"""

_CARRY_OVER = """
INSERT INTO policy_changes (at, actor, table_id, change)
SELECT at, actor, subject, detail FROM former_actions WHERE action = 'set inactivity policy' ORDER BY action_no;

INSERT INTO operator_actions (action_id, at, actor, address, method, request, objects, request_id, trace_id)
SELECT uuidv7(), at, actor, '', action, jsonb_build_object('subject', subject, 'detail', detail)::text,
    ARRAY[subject], '', ''
FROM former_actions WHERE action <> 'set inactivity policy' ORDER BY action_no;

-- They were written down in the transaction that carried them out.
INSERT INTO operator_action_ends (action_id, at, status, reason) SELECT action_id, at, 'OK', '' FROM operator_actions
"""

_APPEND_ONLY_TABLES = ("operator_actions", "operator_action_ends", "policy_changes", "platform_switches")


def _run(statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            op.execute(statement)


def upgrade() -> None:
    _run(_FORMER)
    _run(_TABLES)
    _run(_CARRY_OVER)
    for table in _APPEND_ONLY_TABLES:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
        op.execute(f"GRANT SELECT, INSERT ON {table} TO feltro_wallet")
