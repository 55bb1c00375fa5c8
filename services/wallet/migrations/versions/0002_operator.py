"""Creates the operator audit, the log of policy changes, and the switch of all games.

Actions recorded so far are carried over: changes of inactivity policies go to a table of their own, because games make
them, too, and the others were commands.
"""

from alembic import op

revision = "0002"
down_revision = "0001"

_FORMER = """
CREATE TEMPORARY TABLE former_actions ON COMMIT DROP AS SELECT * FROM operator_actions;
DROP TABLE operator_actions
"""

_TABLES = """
-- Operators' commands (903-B/2015:6.3.6.7), written before they are passed on.
CREATE TABLE operator_actions (
    action_no  bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    action_id  uuid NOT NULL UNIQUE,
    at         timestamptz NOT NULL,
    actor      text NOT NULL,
    address    text NOT NULL,
    method     text NOT NULL,
    -- the whole request as JSON
    request    text NOT NULL,
    -- the ids that the request names: accounts, tables, players
    objects    text[] NOT NULL,
    request_id text NOT NULL,
    trace_id   text NOT NULL
);
CREATE INDEX operator_actions_of_actor ON operator_actions (actor, action_no);
CREATE INDEX operator_actions_of_method ON operator_actions (method, action_no);
CREATE INDEX operator_actions_at ON operator_actions (at);
CREATE INDEX operator_actions_about ON operator_actions USING gin (objects);

-- Their outcomes. Of a command without one it is unknown whether it was carried out.
CREATE TABLE operator_action_ends (
    action_id uuid PRIMARY KEY,
    at        timestamptz NOT NULL,
    status    text NOT NULL,
    reason    text NOT NULL
);

-- A table's inactivity policy before and after each change (903-B/2015:6.3.6.6).
CREATE TABLE policy_changes (
    change_no bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    at        timestamptz NOT NULL,
    actor     text NOT NULL,
    table_id  text NOT NULL,
    change    text NOT NULL
);

-- The switch of all games (903-B/2015:6.3.1). The latest row holds.
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

-- They were recorded in the transaction that carried them out.
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
