"""Creates the record of devices at which two accounts play at one table (903-B/2015:6.6.1).

A table of its own: such an event moves no money, so that what holds for the other relevant events does not hold for it.
Numbers come from the same sequence, so that all are listed in one order. The last release reads and writes without it.
"""

from alembic import op

revision = "0015"
down_revision = "0014"

_TABLE = """
CREATE TABLE shared_devices (
    event_no           bigint PRIMARY KEY DEFAULT nextval('relevant_events_event_no_seq'),
    at                 timestamptz NOT NULL,
    table_no           bigint NOT NULL,
    -- who came second; without a session if the table has refused them
    account_no         bigint NOT NULL,
    session_no         bigint,
    -- who was there
    other_session_no   bigint NOT NULL,
    request_id         text NOT NULL,
    device_kind        text NOT NULL,
    device_agent       text NOT NULL,
    device_address     text NOT NULL,
    device_fingerprint text NOT NULL,
    CHECK (device_address <> '' OR device_fingerprint <> ''),
    CONSTRAINT shared_devices_noted_once UNIQUE (request_id, other_session_no)
);
CREATE INDEX shared_devices_at ON shared_devices (at)
"""


def upgrade() -> None:
    for statement in _TABLE.split(";\n"):
        op.execute(statement)
    op.execute(
        "CREATE TRIGGER shared_devices_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON shared_devices"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    op.execute("GRANT SELECT, INSERT ON shared_devices TO feltro_wallet")
    op.execute("GRANT USAGE ON SEQUENCE relevant_events_event_no_seq TO feltro_wallet")
