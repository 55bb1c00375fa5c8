"""Adds tickets: entries to tournaments that were won, the account of their values, and the record of their changes.

A ticket's row keeps its state, which never changes again once the ticket has ended; its changes are append-only like
the entries that moved its value. The database itself refuses to convert a ticket from a freeroll (`810/2015:30`), an
open ticket to a closed tournament, the end of a tournament with open tickets, and a refund of a pay-in by ticket that
does not say what became of the ticket, which the last release would pay in cash (`810/2015:28`). Else the last release
reads and writes without all this.
"""

from alembic import op

revision = "0017"
down_revision = "0016"

# Every row passes the wider limits: not checking them keeps the migration short.
_WIDER = """
ALTER TABLE accounts DROP CONSTRAINT accounts_kind_check,
    -- 6: the open tickets to a tournament
    ADD CONSTRAINT accounts_kind_check CHECK (kind BETWEEN 1 AND 6) NOT VALID,
    DROP CONSTRAINT accounts_whose,
    ADD CONSTRAINT accounts_whose CHECK (
        (kind = 1 AND player_id IS NOT NULL AND owner_no IS NULL AND table_no IS NULL)
        OR (kind = 2 AND player_id IS NULL AND owner_no IS NOT NULL AND table_no IS NULL)
        OR (kind IN (3, 5, 6) AND player_id IS NULL AND owner_no IS NULL AND table_no IS NOT NULL)
        OR (kind = 4 AND player_id IS NULL AND owner_no IS NOT NULL AND table_no IS NOT NULL)) NOT VALID;
CREATE UNIQUE INDEX accounts_tickets ON accounts (table_no) WHERE kind = 6;

ALTER TABLE tables ADD COLUMN tickets_no bigint;
INSERT INTO accounts (kind, mode, table_no, opened_at) SELECT 6, mode, table_no, opened_at FROM tables WHERE play = 4;
UPDATE tables SET tickets_no = accounts.account_no
FROM accounts WHERE accounts.table_no = tables.table_no AND accounts.kind = 6;
ALTER TABLE tables
    ADD CONSTRAINT tables_with_tickets CHECK ((play = 4) = (tickets_no IS NOT NULL)) NOT VALID;

ALTER TABLE transfers DROP CONSTRAINT transfers_kind_check,
    -- 13: paid into a tournament with a ticket, 14: open tickets settled; their reference is the tournament's id
    ADD CONSTRAINT transfers_kind_check CHECK (kind BETWEEN 1 AND 14) NOT VALID;

ALTER TABLE tournament_pay_ins ADD COLUMN ticket_no bigint,
    -- an entry or a re-entry
    ADD CONSTRAINT tournament_pay_ins_by_ticket CHECK (ticket_no IS NULL OR kind IN (1, 2)) NOT VALID;
ALTER TABLE tournament_awards
    -- the ticket that the award issued, or that it gave back
    ADD COLUMN ticket_no bigint,
    -- what the ticket became by the award, as in `tickets`
    ADD COLUMN ticket_state smallint,
    ADD CONSTRAINT tournament_awards_with_ticket CHECK (
        ticket_no IS NULL AND ticket_state IS NULL OR ticket_no IS NOT NULL AND ticket_state IS NOT NULL
        AND (reason = 1 AND ticket_state IN (1, 4, 5, 7) OR reason = 3 AND ticket_state IN (1, 3, 5, 7))) NOT VALID
"""
_TABLES = """
CREATE TABLE tickets (
    ticket_no     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    ticket_id     uuid NOT NULL UNIQUE,
    -- the only player who can use it, and the tournament that it is for
    account_no    bigint NOT NULL,
    table_no      bigint NOT NULL,
    awarded_by_no bigint NOT NULL,
    -- the ticket in whose place it was issued
    replaced_no   bigint CONSTRAINT tickets_replaced_once UNIQUE,
    value_cents   bigint NOT NULL CHECK (value_cents > 0),
    from_freeroll boolean NOT NULL,
    won           boolean NOT NULL,
    -- 1 issued, 2 used, 3 returned, 4 converted, 5 reimbursed, 6 replaced, 7 expired
    state         smallint NOT NULL CHECK (state BETWEEN 1 AND 7),
    -- how many changes are on record
    changes       integer NOT NULL CHECK (changes > 0),
    issued_at     timestamptz NOT NULL,
    changed_at    timestamptz NOT NULL,
    CONSTRAINT tickets_of_freerolls_are_no_money CHECK (NOT (from_freeroll AND state = 4)),
    CONSTRAINT tickets_for_another_tournament CHECK (table_no <> awarded_by_no)
);
CREATE INDEX tickets_of_table ON tickets (table_no, ticket_no);
CREATE INDEX tickets_open ON tickets (table_no, ticket_no) WHERE state IN (1, 3);
CREATE INDEX tickets_of_account ON tickets (account_no, table_no, ticket_no);

CREATE TABLE ticket_changes (
    ticket_no   bigint NOT NULL,
    -- from 1
    number      integer NOT NULL CHECK (number > 0),
    state       smallint NOT NULL CHECK (state BETWEEN 1 AND 7),
    transfer_no bigint NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (ticket_no, number),
    CHECK ((number = 1) = (state = 1))
);
CREATE INDEX ticket_changes_of_transfer ON ticket_changes (transfer_no)
"""
# Both releases open tournaments while one replaces the other, so the database gives each its account.
_ADD_ACCOUNT = """
CREATE FUNCTION add_tickets_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts (kind, mode, table_no, opened_at) VALUES (6, NEW.mode, NEW.table_no, NEW.opened_at)
    RETURNING account_no INTO NEW.tickets_no;
    RETURN NEW;
END $$
"""
_VERIFY_CHANGE = """
CREATE FUNCTION verify_ticket_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- converted (4), reimbursed (5), replaced (6) and expired (7) tickets have ended; converted ones at once
    IF OLD.state >= 4 OR NEW.state IN (1, 4) OR NEW.changes <= OLD.changes THEN
        RAISE EXCEPTION 'Ticket % cannot go from state % to %', OLD.ticket_no, OLD.state, NEW.state
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$
"""
_REFUSE_OPEN = """
CREATE FUNCTION refuse_open_ticket_after_close() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM tables WHERE table_no = NEW.table_no AND closed_at IS NOT NULL) THEN
        RAISE EXCEPTION 'Tournament % is closed: no ticket to it can be open', NEW.table_no
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$
"""
_VERIFY_REFUND = """
CREATE FUNCTION verify_ticket_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.ticket_no IS NOT NULL) <> EXISTS (
        SELECT FROM tournament_pay_ins WHERE transfer_no = NEW.refunded_no AND ticket_no IS NOT NULL) THEN
        RAISE EXCEPTION 'A refund of pay-in % says nothing of its ticket, or of one that it has not', NEW.refunded_no
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$
"""
_VERIFY_CLOSE = """
CREATE OR REPLACE FUNCTION verify_close() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'Tournament % is closed for good', OLD.table_no
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM accounts WHERE account_no = NEW.pool_no AND free_cents <> 0) THEN
        RAISE EXCEPTION 'The pool of tournament % is not empty', OLD.table_no
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM tickets WHERE table_no = OLD.table_no AND state IN (1, 3)) THEN
        RAISE EXCEPTION 'Tickets to tournament % are open', OLD.table_no
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$
"""
_TRIGGERS = """
CREATE TRIGGER tables_with_tickets BEFORE INSERT ON tables FOR EACH ROW
    WHEN (NEW.play = 4 AND NEW.tickets_no IS NULL) EXECUTE FUNCTION add_tickets_account();
CREATE TRIGGER tickets_end_once BEFORE UPDATE ON tickets FOR EACH ROW EXECUTE FUNCTION verify_ticket_change();
CREATE TRIGGER tickets_open_before_close BEFORE INSERT OR UPDATE ON tickets FOR EACH ROW
    WHEN (NEW.state IN (1, 3)) EXECUTE FUNCTION refuse_open_ticket_after_close();
CREATE TRIGGER tickets_stay BEFORE DELETE OR TRUNCATE ON tickets FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ticket_changes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ticket_changes
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER tournament_awards_of_tickets BEFORE INSERT ON tournament_awards FOR EACH ROW
    WHEN (NEW.refunded_no IS NOT NULL) EXECUTE FUNCTION verify_ticket_refund()
"""
_GRANTS = """
GRANT SELECT, INSERT ON tickets, ticket_changes TO feltro_wallet;
-- Of whom, for what and how much a ticket is never changes.
GRANT UPDATE (state, changes, changed_at) ON tickets TO feltro_wallet;
GRANT USAGE ON SEQUENCE tickets_ticket_no_seq TO feltro_wallet
"""


def upgrade() -> None:
    _run(_WIDER)
    _run(_TABLES)
    for function in (_ADD_ACCOUNT, _VERIFY_CHANGE, _REFUSE_OPEN, _VERIFY_REFUND, _VERIFY_CLOSE):
        op.execute(function)
    _run(_TRIGGERS)
    _run(_GRANTS)


def _run(statements: str) -> None:
    for statement in statements.split(";\n"):
        op.execute(statement)
