"""Writes a group of commands to the ledger in one transaction: lock everything, look, decide, write, commit.

The locks are taken in one order everywhere (tables, then accounts, each by number), so no two groups wait for each
other in a circle. Whoever changes a round, a stake or a session holds its table's row; whoever changes a balance
holds the account's. What is read under those locks is read by statements that begin after the locks are held, for a
statement sees what was committed when it began. What neither lock covers, the same request id arriving twice at once
in different places, ends in a unique violation and the group is tried again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.kit.clock import Clock
from services.kit.database import DirectConnection
from services.wallet import facts, ledger_facts, refusals, session_changes, session_rows
from services.wallet.directory import Directory
from services.wallet.ledger import decide
from services.wallet.ledger.book import Book, SessionKey
from services.wallet.ledger.commands import (
    BuyIn,
    CancelStake,
    CashCommand,
    CashOut,
    Command,
    PlaceStake,
    RoundEnd,
    SettleRound,
    TableCommand,
    TransferHand,
)
from services.wallet.refusals import WalletRefused
from services.wallet.requests import Kept
from services.wallet.session_clock import SessionClock
from services.wallet.state import (
    Account,
    AccountKind,
    InactivityPolicy,
    Mode,
    Play,
    Round,
    RoundState,
    SessionState,
    Stake,
    StakeState,
    Table,
)

# The tables first, then the accounts; the rows of the one are beside the NULLs of the other.
_LOCK = """
WITH locked_tables AS MATERIALIZED (
    SELECT table_no, table_id, game, regulation, mode, play, epoch, bank_no,
           invite, idle_seconds, missed_rounds, warn_after_seconds, end_after_seconds, rebuy_grace_seconds
    FROM tables WHERE table_no = ANY($1::bigint[]) ORDER BY table_no FOR NO KEY UPDATE
), locked_accounts AS MATERIALIZED (
    SELECT account_no, account_id::text, kind, mode, player_id, owner_no, table_no,
           free_cents, locked_cents, version, blocked
    FROM accounts
    WHERE account_no = ANY($2::bigint[]) AND (SELECT count(*) FROM locked_tables) IS NOT NULL
    ORDER BY account_no FOR NO KEY UPDATE
)
SELECT * FROM locked_tables FULL JOIN locked_accounts ON false
"""
_TABLE_COLUMNS = 14
_OPEN_STAKES = """
SELECT stake_no, stake_id, stakes.round_no, account_no, session_no, placed_cents, cancelled_cents
FROM rounds JOIN stakes ON stakes.round_no = rounds.round_no AND stakes.state = 1
WHERE rounds.table_no = ANY($1::bigint[]) AND rounds.state = 1 ORDER BY stake_no
"""
_LOOK_UP = """
SELECT nextval('ledger_no'), requests.digest, requests.refused, requests.answer,
       rounds.round_no, rounds.table_no, rounds.state, sessions.state
FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS asked(request_id, round_id, session_no, place)
LEFT JOIN requests ON requests.request_id = asked.request_id
LEFT JOIN rounds ON rounds.round_id = asked.round_id
LEFT JOIN sessions ON sessions.session_no = asked.session_no
ORDER BY asked.place
"""
_WRITE = """
WITH answered AS MATERIALIZED (
    SELECT * FROM unnest($2::text[], $3::bytea[], $4::boolean[], $5::bytea[], $6::text[], $7::bigint[], $8::smallint[],
                         $9::smallint[], $10::bigint[], $11::text[])
        AS new(request_id, digest, refused, answer, caller, transfer_no, kind, mode, round_no, reference)
), written_requests AS (
    INSERT INTO requests (request_id, digest, refused, answer, transfer_no, caller, at)
    SELECT request_id, digest, refused, answer, transfer_no, caller, $1 FROM answered
), written_transfers AS (
    INSERT INTO transfers (transfer_no, kind, mode, at, request_id, round_no, reference)
    SELECT transfer_no, kind, mode, $1, request_id, round_no, reference FROM answered WHERE transfer_no IS NOT NULL
), written_entries AS (
    INSERT INTO entries
        (transfer_no, account_no, version, leg, pocket, session_no, before_cents, amount_cents, after_cents)
    SELECT transfer_no, account_no, version, first_leg + step, pocket, session_no,
           before_cents, amount_cents, before_cents + amount_cents
    FROM unnest($12::bigint[], $13::bigint[], $14::bigint[], $15::smallint[], $16::bigint[],
                $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[])
        AS posted(transfer_no, account_no, version, first_leg, session_no, free_before, free, locked_before, locked)
    CROSS JOIN LATERAL (VALUES (0, 1, free_before, free), (1, 2, locked_before, locked))
        AS entry(step, pocket, before_cents, amount_cents)
    WHERE amount_cents <> 0
), written_stakes AS (
    INSERT INTO stakes (stake_no, stake_id, round_no, account_no, session_no, placed_cents, detail, placed_at)
    SELECT new.*, $1
    FROM unnest($21::bigint[], $22::text[], $23::bigint[], $24::bigint[], $25::bigint[], $26::bigint[], $27::bytea[])
        AS new
), written_rounds AS (
    INSERT INTO rounds (round_no, round_id, table_no, state, opened_at)
    SELECT no, round_id, table_no, 1, $1
    FROM unnest($28::bigint[], $29::text[], $30::bigint[]) AS new(no, round_id, table_no)
), written_facts AS (
    INSERT INTO outbox (at, facts) SELECT $1, new.facts FROM unnest($31::bytea[]) AS new(facts)
)
UPDATE accounts SET free_cents = new.free_cents, locked_cents = new.locked_cents, version = new.version
FROM unnest($32::bigint[], $33::bigint[], $34::bigint[], $35::bigint[]) AS new(no, free_cents, locked_cents, version)
WHERE accounts.account_no = new.no
"""
_END_ROUNDS = """
UPDATE rounds SET state = new.state, ended_at = $1, end_transfer_no = new.transfer_no, void_reason = new.void_reason,
                  outcome = new.outcome
FROM unnest($2::bigint[], $3::smallint[], $4::bigint[], $5::text[], $6::bytea[])
    AS new(no, state, transfer_no, void_reason, outcome)
WHERE rounds.round_no = new.no
"""
_CHANGE_STAKES = """
UPDATE stakes SET cancelled_cents = new.cancelled_cents, payout_cents = new.payout_cents, state = new.state
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[]) AS new(no, cancelled_cents, payout_cents, state)
WHERE stakes.stake_no = new.no
"""
_RAISE_EPOCHS = """
UPDATE tables SET epoch = new.epoch
FROM unnest($1::bigint[], $2::bigint[]) AS new(no, epoch) WHERE tables.table_no = new.no
"""


# request_id, digest, refused, answer, caller, transfer_no, kind, mode, round_no, reference
_Answered = tuple[str, bytes, bool, bytes, str, int | None, int | None, int | None, int | None, str | None]
_NO_TRANSFER = (None, None, None, None)


@dataclass(slots=True)
class _Looked:
    """What was found for one command."""

    number: int
    kept: tuple[bytes, Kept] | None


@dataclass(slots=True)
class _Group:
    """A group on its way through the transaction."""

    commands: Sequence[Command]
    book: Book
    looked: list[_Looked] = field(default_factory=list)
    # What is kept of each command that was answered for the first time, with its transfer if it moved money.
    answered: list[_Answered] = field(default_factory=list)


class LedgerStore:
    """The only place that writes transfers, entries, rounds and stakes."""

    def __init__(self, clock: Clock, session_clock: SessionClock) -> None:
        self._clock = clock
        self._session_clock = session_clock
        self._directory = Directory()

    async def write(self, connection: DirectConnection, commands: Sequence[Command]) -> list[Kept]:
        """Carries the commands out in their order, durably, and returns the answer of each."""
        if not self._directory.knows(commands):
            async with connection.transaction():
                await self._directory.learn(connection, commands)
        async with connection.transaction():
            group = _Group(commands, Book(self._clock.now(), self._session_clock.now()))
            await self._lock(connection, group)
            await self._look(connection, group)
            answers = _decide(group)
            await self._write(connection, group)
        return answers

    async def _lock(self, connection: DirectConnection, group: _Group) -> None:
        """All locks in one statement, unless what ends has to be read before the accounts are known."""
        table_nos = sorted({c.table_no for c in group.commands if isinstance(c, TableCommand) and c.table_no})
        ending = [c for c in group.commands if isinstance(c, CancelStake | RoundEnd | CashOut)]
        if ending:
            await self._lock_rows(connection, group.book, table_nos, [])
            await self._read_what_ends(connection, group, ending)
            table_nos = []
        await self._lock_rows(connection, group.book, table_nos, self._accounts_of(group))

    async def _lock_rows(
        self, connection: DirectConnection, book: Book, table_nos: list[int], account_nos: list[int]
    ) -> None:
        for row in await connection.fetch(_LOCK, table_nos, account_nos):
            if row[0] is not None:
                book.tables[row[0]] = _table(row[:_TABLE_COLUMNS])
                continue
            account = _account(row[_TABLE_COLUMNS:])
            book.accounts[account.no] = account
            if account.kind is AccountKind.CAVE:
                book.caves[account.owner_no or 0, account.table_no or 0] = account

    async def _read_what_ends(
        self, connection: DirectConnection, group: _Group, ending: Sequence[TableCommand]
    ) -> None:
        """The open stakes of the tables where stakes come back or rounds end, and the sessions that this concerns."""
        book = group.book
        table_nos = sorted({c.table_no for c in ending if c.table_no})
        if not table_nos:
            return
        for row in await connection.fetch(_OPEN_STAKES, table_nos):
            book.stakes[row[1]] = _open_stake(row)
        session_nos = {stake.session_no for stake in book.stakes.values()}
        for command in ending:
            session_nos.update(key.no for key in self._sessions_in(command))
        seats = {(c.account_no, c.table_no) for c in ending if isinstance(c, CashOut)}
        if seats:
            # It may be another one than the command names that waits for the cave.
            book.at_caves = await session_rows.running_of_accounts(connection.sqlalchemy, seats)
            session_nos.update(book.at_caves.values())
        # A stake that is placed and comes back within this group.
        session_nos.update(
            c.session_no for c in group.commands if isinstance(c, PlaceStake) and c.table_no in table_nos
        )
        session_nos.discard(0)
        await self._load_sessions(connection, book, session_nos)

    def _sessions_in(self, command: Command) -> Iterable[SessionKey]:
        ids: list[str] = []
        if isinstance(command, SettleRound | TransferHand):
            ids = [line.session_id for line in command.report]
        if isinstance(command, TransferHand):
            ids += [seat.session_id for seat in command.seats]
        if isinstance(command, CashOut):
            ids = [command.session_id]
        sessions = self._directory.sessions
        return [sessions[session_id] for session_id in ids if session_id in sessions]

    async def _load_sessions(self, connection: DirectConnection, book: Book, session_nos: set[int]) -> None:
        if not session_nos:
            return
        for session in await session_rows.load(connection.sqlalchemy, sorted(session_nos)):
            book.sessions[session.no] = session
            book.session_states[session.no] = session.state
            book.session_keys[session.session_id] = SessionKey(session.no, session.account_no, session.table_no)

    def _accounts_of(self, group: _Group) -> list[int]:
        directory, book = self._directory, group.book
        nos: set[int] = set()
        for command in group.commands:
            if isinstance(command, PlaceStake):
                nos.add(command.account_no)
                continue
            if isinstance(command, CashCommand):
                nos.update((command.account_no, command.books_no))
                continue
            if isinstance(command, BuyIn | CashOut):
                nos.add(command.account_no)
            if isinstance(command, TableCommand):
                table = directory.tables.get(command.table_id)
                nos.add(0 if table is None else table.bank_no)
            for pair in directory.caves_of(command):
                nos.update((pair[0], directory.caves.get(pair, 0)))
        nos.update(stake.account_no for stake in book.stakes.values())
        nos.update(s.account_no for s in book.sessions.values() if s.state is not SessionState.ACTIVE)
        nos.discard(0)
        return sorted(nos)

    async def _look(self, connection: DirectConnection, group: _Group) -> None:
        commands, book = group.commands, group.book
        asked = (
            [c.request_id for c in commands],
            [c.round_id if isinstance(c, PlaceStake | CancelStake | RoundEnd) else None for c in commands],
            [c.session_no if isinstance(c, PlaceStake | BuyIn) else None for c in commands],
        )
        waiting: set[int] = set()
        numbers: list[int] = []
        kept: list[tuple[bytes, Kept] | None] = []
        rows = await connection.fetch(_LOOK_UP, *asked)
        for command, (number, digest, refused, answer, round_no, table_no, round_state, session_state) in zip(
            commands, rows, strict=True
        ):
            numbers.append(number)
            kept.append(None if digest is None else (digest, Kept(refused, answer)))
            if round_no is not None and isinstance(command, PlaceStake | CancelStake | RoundEnd):
                round_id = command.round_id
                if round_id not in book.rounds:
                    book.rounds[round_id] = Round(round_no, round_id, table_no, RoundState(round_state))
            if session_state is not None and isinstance(command, PlaceStake | BuyIn):
                session_no, session_id = command.session_no, command.session_id
                book.session_states[session_no] = SessionState(session_state)
                book.session_keys[session_id] = self._directory.sessions[session_id]
                if session_state != SessionState.ACTIVE and session_no not in book.sessions:
                    waiting.add(session_no)
        # Numbers rise with the order in which commands are carried out.
        numbers.sort()
        group.looked = [_Looked(number, known) for number, known in zip(numbers, kept, strict=True)]
        await self._load_sessions(connection, book, waiting)

    async def _write(self, connection: DirectConnection, group: _Group) -> None:
        book = group.book
        if book.raised_tables:
            raised = book.raised_tables.values()
            await connection.fetch(_RAISE_EPOCHS, [t.no for t in raised], [t.epoch for t in raised])
        if not group.answered:
            return
        accounts = {movement.account.no: movement.account for movement in book.movements}.values()
        fact_rows = [facts.pack(found)] if (found := ledger_facts.of_book(book)) else []
        new_stakes = [
            (s.no, s.stake_id, s.round_no, s.account_no, s.session_no, s.placed_cents, detail)
            for s, detail in book.new_stakes
        ]
        await connection.fetch(
            _WRITE,
            book.now,
            *_columns(group.answered, 10),
            *_columns(book.postings, 9),
            *_columns(new_stakes, 7),
            *_columns([(r.no, r.round_id, r.table_no) for r in book.new_rounds.values()], 3),
            fact_rows,
            *_columns([(a.no, a.free_cents, a.locked_cents, a.version) for a in accounts], 4),
        )
        await self._write_ends(connection, book)

    async def _write_ends(self, connection: DirectConnection, book: Book) -> None:
        """What only some groups do, after the rows it speaks of are there."""
        changed = book.changed_stakes.values()
        if changed:
            columns = _columns([(s.no, s.cancelled_cents, s.payout_cents, s.state) for s in changed], 4)
            await connection.fetch(_CHANGE_STAKES, *columns)
        if book.endings:
            ends = [(e.round.no, e.round.state, e.transfer_no, e.void_reason, e.outcome) for e in book.endings]
            await connection.fetch(_END_ROUNDS, book.now, *_columns(ends, 5))
        if book.changed_sessions:
            sessions = list(book.changed_sessions.values())
            await session_changes.write_down(
                connection.sqlalchemy, sessions, book.notices, {}, now=book.session_now, at=book.now
            )


def _decide(group: _Group) -> list[Kept]:
    """Each command by itself: one that is refused does not touch its neighbours."""
    book = group.book
    known: dict[str, tuple[bytes, Kept]] = {}
    answers: list[Kept] = []
    for command, looked in zip(group.commands, group.looked, strict=True):
        book.see_epoch(command)
        before = looked.kept or known.get(command.request_id)
        if before is not None:
            digest, kept = before
            answers.append(kept if digest == command.digest else _refusal(refusals.request_reused(command.request_id)))
            continue
        try:
            kept = Kept(refused=False, answer=decide(book, command, looked.number).SerializeToString())
        except WalletRefused as refused:
            kept = _refusal(refused)
            if refused.reason in refusals.NOT_KEPT:
                answers.append(kept)
                continue
        known[command.request_id] = command.digest, kept
        transfer = book.transfers.get(looked.number)
        number = looked.number if transfer else None
        group.answered.append(
            (
                command.request_id,
                command.digest,
                kept.refused,
                kept.answer,
                command.caller,
                number,
                *(transfer or _NO_TRANSFER),
            )
        )
        answers.append(kept)
    return answers


def _refusal(refused: WalletRefused) -> Kept:
    return Kept(refused=True, answer=refused.status().SerializeToString(deterministic=True))


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> list[Sequence[object]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


# Looked up for every account of every group: calling the enumeration costs more than the rest of the row.
_KINDS = {kind.value: kind for kind in AccountKind}
_MODES = {mode.value: mode for mode in Mode}


def _table(row: Sequence[Any]) -> Table:
    no, table_id, game, regulation, mode, play, epoch, bank_no, *policy = row
    return Table(no, table_id, game, regulation, Mode(mode), Play(play), epoch, bank_no, InactivityPolicy(*policy))


def _open_stake(row: Sequence[Any]) -> Stake:
    no, stake_id, round_no, account_no, session_no, placed_cents, cancelled_cents = row
    return Stake(no, stake_id, round_no, account_no, session_no, placed_cents, cancelled_cents, 0, StakeState.OPEN)


def _account(row: Sequence[Any]) -> Account:
    no, account_id, kind, mode, *rest = row
    return Account(no, account_id, _KINDS[kind], _MODES[mode], *rest)
