"""Adds tournaments: tables with a pool, and the record of what was paid into it and out of it.

The rows are append-only like the entries that moved the money. The database itself refuses a pool below zero (G2), a
second refund of one pay-in, the end of a tournament whose pool holds money, and any payment after its end.
The last release reads and writes without all this.
"""

from alembic import op

revision = "0016"
down_revision = "0015"

# Every row passes the wider limits: not checking them keeps the migration short.
_WIDER = """
ALTER TABLE accounts DROP CONSTRAINT accounts_kind_check,
    -- 5: the pool of a tournament
    ADD CONSTRAINT accounts_kind_check CHECK (kind BETWEEN 1 AND 5) NOT VALID,
    DROP CONSTRAINT accounts_whose,
    ADD CONSTRAINT accounts_whose CHECK (
        (kind = 1 AND player_id IS NOT NULL AND owner_no IS NULL AND table_no IS NULL)
        OR (kind = 2 AND player_id IS NULL AND owner_no IS NOT NULL AND table_no IS NULL)
        OR (kind IN (3, 5) AND player_id IS NULL AND owner_no IS NULL AND table_no IS NOT NULL)
        OR (kind = 4 AND player_id IS NULL AND owner_no IS NOT NULL AND table_no IS NOT NULL)) NOT VALID;
CREATE UNIQUE INDEX accounts_pool ON accounts (table_no) WHERE kind = 5;

ALTER TABLE tables ADD COLUMN pool_no bigint, ADD COLUMN closed_at timestamptz,
    DROP CONSTRAINT tables_play_check,
    -- 4: a tournament
    ADD CONSTRAINT tables_play_check CHECK (play BETWEEN 1 AND 4) NOT VALID,
    ADD CONSTRAINT tables_with_a_pool CHECK (
        (play = 4) = (pool_no IS NOT NULL) AND (play = 4 OR closed_at IS NULL)) NOT VALID;

ALTER TABLE transfers DROP CONSTRAINT transfers_kind_check,
    -- 11: paid into a tournament, 12: paid out of one; their reference is the tournament's id
    ADD CONSTRAINT transfers_kind_check CHECK (kind BETWEEN 1 AND 12) NOT VALID;

-- A prize of a tournament belongs to no session.
ALTER TABLE relevant_events DROP CONSTRAINT relevant_events_check,
    ADD CONSTRAINT relevant_events_check CHECK (session_no IS NULL OR kind = 1) NOT VALID
"""
_TABLES = """
CREATE TABLE tournament_pay_ins (
    transfer_no  bigint PRIMARY KEY,
    table_no     bigint NOT NULL,
    account_no   bigint NOT NULL,
    -- 1 entry, 2 re-entry, 3 rebuy, 4 add-on
    kind         smallint NOT NULL CHECK (kind BETWEEN 1 AND 4),
    prize_cents  bigint NOT NULL CHECK (prize_cents >= 0),
    fee_cents    bigint NOT NULL CHECK (fee_cents >= 0),
    bounty_cents bigint NOT NULL CHECK (bounty_cents >= 0),
    at           timestamptz NOT NULL,
    CHECK (prize_cents + bounty_cents > 0)
);
CREATE INDEX tournament_pay_ins_of_table ON tournament_pay_ins (table_no, transfer_no);
CREATE INDEX tournament_pay_ins_of_account ON tournament_pay_ins (account_no, table_no);

CREATE TABLE tournament_awards (
    award_no     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    transfer_no  bigint NOT NULL,
    table_no     bigint NOT NULL,
    account_no   bigint NOT NULL,
    -- 1 prize, 2 bounty, 3 refund, 4 share of a cancelled tournament
    reason       smallint NOT NULL CHECK (reason BETWEEN 1 AND 4),
    amount_cents bigint NOT NULL CHECK (amount_cents > 0),
    -- of a refund: the pay-in that is given back
    refunded_no  bigint CONSTRAINT tournament_pay_ins_refunded_once UNIQUE,
    at           timestamptz NOT NULL,
    CHECK ((reason = 3) = (refunded_no IS NOT NULL))
);
CREATE INDEX tournament_awards_of_table ON tournament_awards (table_no, award_no);
CREATE INDEX tournament_awards_of_account ON tournament_awards (account_no, table_no);
CREATE INDEX tournament_awards_of_transfer ON tournament_awards (transfer_no);

-- What the operator adds to a payment; the fees of refunds are those of the pay-ins.
CREATE TABLE tournament_bank_payments (
    transfer_no     bigint PRIMARY KEY,
    table_no        bigint NOT NULL,
    -- to a guaranteed prize
    overlay_cents   bigint NOT NULL CHECK (overlay_cents >= 0),
    -- to a cancellation
    shortfall_cents bigint NOT NULL CHECK (shortfall_cents >= 0),
    CHECK (overlay_cents + shortfall_cents > 0)
);
CREATE INDEX tournament_bank_payments_of_table ON tournament_bank_payments (table_no)
"""
_REFUSE_PAYMENT = """
CREATE FUNCTION refuse_payment_after_close() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tables WHERE table_no = NEW.table_no AND closed_at IS NOT NULL) THEN
        RAISE EXCEPTION 'Tournament % is closed: nothing is paid in or out', NEW.table_no
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$
"""
_REFUSE_CLOSE = """
CREATE FUNCTION verify_close() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'Tournament % is closed for good', OLD.table_no
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM accounts WHERE account_no = NEW.pool_no AND free_cents <> 0) THEN
        RAISE EXCEPTION 'The pool of tournament % is not empty', OLD.table_no
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$
"""
_PAYMENTS = ("tournament_pay_ins", "tournament_awards", "tournament_bank_payments")


def upgrade() -> None:
    for statement in (*_WIDER.split(";\n"), *_TABLES.split(";\n")):
        op.execute(statement)
    op.execute(_REFUSE_PAYMENT)
    op.execute(_REFUSE_CLOSE)
    for table in _PAYMENTS:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
        op.execute(
            f"CREATE TRIGGER {table}_before_close BEFORE INSERT ON {table}"
            " FOR EACH ROW EXECUTE FUNCTION refuse_payment_after_close()"
        )
        op.execute(f"GRANT SELECT, INSERT ON {table} TO feltro_wallet")
    op.execute(
        "CREATE TRIGGER tables_close_once BEFORE UPDATE OF closed_at ON tables FOR EACH ROW"
        " WHEN (NEW.closed_at IS DISTINCT FROM OLD.closed_at) EXECUTE FUNCTION verify_close()"
    )
