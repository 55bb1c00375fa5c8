"""Creates the revocations of tokens, which gateways read."""

from alembic import op

revision = "0008"
down_revision = "0007"

_TABLES = """
CREATE TABLE revocations (
    -- rises in the order of commits: a writer holds a lock until it has committed
    revocation_no bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    -- what is revoked, as a digest: a token or all tokens of a subject
    key           text NOT NULL,
    demo          boolean NOT NULL,
    revoked_at    timestamptz NOT NULL,
    -- when the last token that it revokes has expired: the row may go then
    expires_at    timestamptz NOT NULL,
    revoked_by    text NOT NULL,
    reason        text NOT NULL
);
CREATE INDEX revocations_of ON revocations (key);
CREATE INDEX revocations_expire ON revocations (expires_at);
CREATE INDEX revocations_of_guests ON revocations (expires_at) WHERE demo;

GRANT SELECT, INSERT, DELETE ON revocations TO feltro_wallet;
GRANT SELECT ON SEQUENCE revocations_revocation_no_seq TO feltro_wallet
"""


def upgrade() -> None:
    for statement in _TABLES.split(";\n"):
        op.execute(statement)
