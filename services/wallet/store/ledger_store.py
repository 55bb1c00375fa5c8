"""Writes a group of commands to the ledger in one transaction: lock, read, decide, write, commit.

A group of nothing but stakes is decided first if the write cache holds all of their rows. One statement then locks,
verifies the cached state, writes and commits; if the state has changed, the group takes the slow path.

Locks are taken in one order everywhere (tables, then accounts, each by number), so no two groups deadlock. A round,
stake or session is changed under the lock of its table's row, a balance under that of its account's row. Rows are read
under those locks by statements that begin after the locks are held, because a statement sees the commits from before
its beginning. Neither lock covers a request id that arrives twice at once in two places: it ends in a unique violation,
and the group is tried again.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import asyncpg

from services.kit.clock import Clock
from services.kit.database.postgresql import DirectConnection
from services.kit.telemetry import trace
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import (
    BuyIn,
    CancelStakes,
    CashCommand,
    CashOut,
    Command,
    PayIn,
    PayOut,
    PayStakes,
    PlaceStake,
    RoundEndCommand,
    SettleRound,
    SettleTickets,
    TableCommand,
    TournamentCommand,
    TransferHand,
)
from services.wallet.model.state import (
    Account,
    AccountKind,
    InactivityPolicy,
    Mode,
    PayoutLimits,
    Play,
    RelevantEventLimits,
    Round,
    RoundState,
    SessionKey,
    SessionState,
    Stake,
    StakeState,
    Table,
)
from services.wallet.sessions import changes as session_changes
from services.wallet.sessions import rows as session_rows
from services.wallet.sessions.clock import SessionClock
from services.wallet.sessions.policies import POLICY_COLUMNS
from services.wallet.store import ledger_rows, optimistic_stakes, relevant_events, tournaments
from services.wallet.store.answers import StoredAnswer
from services.wallet.store.groups import Group, Lookup, decide_group
from services.wallet.store.id_cache import IdCache, ResolvedIds, StaleIds
from services.wallet.store.ledger_rows import columns
from services.wallet.store.write_cache import WriteCache
from services.wallet.tickets import rows as ticket_rows

# Tables first, then accounts: a row holds either, and NULL for the other.
_LOCK = f"""
WITH locked_tables AS MATERIALIZED (
    SELECT table_no, table_id, game, regulation, mode, play, epoch, bank_no,
           pool_no, tickets_no, closed_at IS NOT NULL AS closed, {POLICY_COLUMNS}
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
_TABLE_COLUMNS = 17
_STAKES = """
SELECT stake_no, stake_id, stakes.round_no, account_no, session_no, placed_cents, cancelled_cents, payout_cents,
       stakes.state, largest_payout_cents, paid_transfer_no
FROM rounds JOIN stakes ON stakes.round_no = rounds.round_no AND stakes.state IN (1, 5)
WHERE rounds.table_no = ANY($1::bigint[]) AND rounds.state = 1 ORDER BY stake_no
"""
_LOOK_UP = """
SELECT nextval('ledger_no'), requests.digest, requests.refused, requests.answer,
       rounds.round_no, rounds.table_no, rounds.state, rounds.stakes_placed, rounds.detail_bytes, sessions.state
FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS asked(request_id, round_id, session_no, place)
LEFT JOIN requests ON requests.request_id = asked.request_id
LEFT JOIN rounds ON rounds.round_id = asked.round_id
LEFT JOIN sessions ON sessions.session_no = asked.session_no
ORDER BY asked.place
"""
_NUMBERS = "SELECT nextval('ledger_no') FROM generate_series(1, $1::integer)"
_END_ROUNDS = """
UPDATE rounds SET state = new.state, ended_at = $1, end_transfer_no = new.transfer_no, void_reason = new.void_reason,
                  outcome = new.outcome
FROM unnest($2::bigint[], $3::smallint[], $4::bigint[], $5::text[], $6::bytea[])
    AS new(no, state, transfer_no, void_reason, outcome)
WHERE rounds.round_no = new.no
"""
_CHANGE_STAKES = """
UPDATE stakes SET cancelled_cents = new.cancelled_cents, payout_cents = new.payout_cents, state = new.state,
                  paid_transfer_no = new.paid_transfer_no
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bigint[])
    AS new(no, cancelled_cents, payout_cents, state, paid_transfer_no)
WHERE stakes.stake_no = new.no
"""
_CANCELLATIONS = """
INSERT INTO stake_cancellations (transfer_no, stake_no, amount_cents, cancelled_detail, remaining_detail, at)
SELECT new.*, $1
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[]) AS new
"""
# The commands that name a round.
RoundCommand = PlaceStake | CancelStakes | PayStakes | RoundEndCommand
_RAISE_EPOCHS = """
UPDATE tables SET epoch = new.epoch
FROM unnest($1::bigint[], $2::bigint[]) AS new(no, epoch) WHERE tables.table_no = new.no
"""


class LedgerStore:
    """Writes transfers, entries, rounds and stakes; nothing else does."""

    def __init__(
        self,
        clock: Clock,
        session_clock: SessionClock,
        limits: RelevantEventLimits,
        payout_limits: PayoutLimits | None = None,
    ) -> None:
        self._clock = clock
        self._session_clock = session_clock
        self._limits = limits
        self._payout_limits = payout_limits or PayoutLimits()
        self._ids = IdCache()
        self._cache = WriteCache()

    async def write(self, connection: DirectConnection, commands: Sequence[Command]) -> list[StoredAnswer]:
        """Carries out the commands in their order, durably, and returns the answer of each."""
        cached_stakes = self._ids.resolve_cached_stakes(commands)
        if cached_stakes is not None:
            answers = await self._write_from_cache(connection, *cached_stakes)
            if answers is not None:
                return answers
        resolved = await self._ids.resolve(connection, commands)
        try:
            return await self._write_under_locks(connection, commands, resolved)
        except StaleIds:
            # The database seems to have been restored to an earlier state: no cached row can be trusted.
            self._ids, self._cache = IdCache(), WriteCache()
            raise

    async def _write_under_locks(
        self, connection: DirectConnection, commands: Sequence[Command], resolved: ResolvedIds
    ) -> list[StoredAnswer]:
        async with connection.transaction():
            group = Group(commands, self._new_book(commands), resolved)
            await self._lock(connection, group)
            await tournaments.read_for_payments(connection, group.book, commands)
            await ticket_rows.read_for_commands(connection, group.book, commands)
            spare_numbers = await self._look_up(connection, group)
            answers = decide_group(group)
            await self._write(connection, group)
        relevant_events.count_metrics(group.book)
        self._ids.remember_caves(resolved)
        self._cache.put(group.book, group.lookups[-1].number, spare_numbers)
        return answers

    def _new_book(self, commands: Sequence[Command]) -> Book:
        book = Book(self._clock.now(), self._session_clock.now(), self._limits, self._payout_limits)
        if trace.is_recording():
            book.traces = {
                command.request_id: command.traceparent for command in commands if trace.is_sampled(command.traceparent)
            }
        return book

    async def _write_from_cache(
        self, connection: DirectConnection, stakes: Sequence[PlaceStake], sessions: dict[str, SessionKey]
    ) -> list[StoredAnswer] | None:
        """Writes the group by one statement; returns None, and writes nothing, if the cache is out of date."""
        book = self._new_book(stakes)
        cached = self._cache.take(stakes, sessions, book)
        if cached is None:
            return None
        numbers = cached.numbers
        if numbers is None:
            # Numbers drawn now are above those of every cached account.
            numbers = sorted(number for (number,) in await connection.fetch(_NUMBERS, len(stakes)))
        group = Group(stakes, book, lookups=[Lookup(number, None) for number in numbers])
        answers = decide_group(group)
        numbers_to_draw = self._cache.numbers_to_draw(len(stakes))
        try:
            new_numbers = await optimistic_stakes.write_if_unchanged(
                connection, book, group.answered, cached.expected, numbers_to_draw
            )
        except asyncpg.UniqueViolationError:
            # Another process opened the round or answered a request while the statement waited for its locks.
            return None
        if not new_numbers:
            return None
        self._cache.put(book, numbers[-1], new_numbers)
        return answers

    async def _lock(self, connection: DirectConnection, group: Group) -> None:
        """Takes all locks by one statement, unless stakes or tickets must be read first to know the accounts."""
        # Tickets are changed under the lock of the tournament that they are for.
        table_nos = sorted({no for c in group.commands for no in _tables_of(c)})
        ending = [c for c in group.commands if isinstance(c, CancelStakes | PayStakes | RoundEndCommand | CashOut)]
        settling = [c for c in group.commands if isinstance(c, SettleTickets)]
        if ending or settling:
            await self._lock_rows(connection, group.book, table_nos, [])
            await self._read_ends(connection, group, ending)
            await self._ids.resolve_caves(connection, group.resolved, ending)
            await ticket_rows.read_open(connection, group.book, settling)
            table_nos = []
        await self._lock_rows(connection, group.book, table_nos, _accounts_of(group))
        if group.resolved.caves.keys() - group.book.caves.keys():
            raise StaleIds("the database has no row of a cached cave")

    async def _lock_rows(
        self, connection: DirectConnection, book: Book, table_nos: list[int], account_nos: list[int]
    ) -> None:
        rows = await connection.fetch(_LOCK, table_nos, account_nos)
        if len(rows) < len(table_nos) + len(account_nos):
            raise StaleIds("the database has no row of a cached table or account")
        for row in rows:
            if row[0] is not None:
                book.tables[row[0]] = _table(row[:_TABLE_COLUMNS])
                continue
            account = _account(row[_TABLE_COLUMNS:])
            book.accounts[account.no] = account
            if account.kind is AccountKind.CAVE:
                book.caves[account.owner_no or 0, account.table_no or 0] = account

    async def _read_ends(self, connection: DirectConnection, group: Group, ending: Sequence[TableCommand]) -> None:
        """Reads the stakes of the open rounds at the tables where stakes or rounds end, and the affected sessions."""
        book = group.book
        table_nos = sorted({c.table_no for c in ending if c.table_no})
        if not table_nos:
            return
        for row in await connection.fetch(_STAKES, table_nos):
            book.stakes[row[1]] = _stake(row)
        session_nos = {stake.session_no for stake in book.stakes.values()}
        for command in ending:
            session_nos.update(key.no for key in _sessions_in(command, group.resolved))
        seats = {(c.account_no, c.table_no) for c in ending if isinstance(c, CashOut)}
        if seats:
            # Another session than the named one may wait for the cave.
            book.running_session_nos = await session_rows.running_nos_of_accounts(connection.sqlalchemy, seats)
            session_nos.update(book.running_session_nos.values())
        # A stake may be placed and cancelled within this group.
        session_nos.update(
            c.session_no for c in group.commands if isinstance(c, PlaceStake) and c.table_no in table_nos
        )
        session_nos.discard(0)
        await self._load_sessions(connection, book, session_nos)

    async def _load_sessions(self, connection: DirectConnection, book: Book, session_nos: set[int]) -> None:
        if not session_nos:
            return
        sessions = await session_rows.load(connection.sqlalchemy, sorted(session_nos))
        if len(sessions) < len(session_nos):
            raise StaleIds("the database has no row of a cached session")
        for session in sessions:
            book.sessions[session.no] = session
            book.session_states[session.no] = session.state
            book.session_keys[session.session_id] = SessionKey(session.no, session.account_no, session.table_no)

    async def _look_up(self, connection: DirectConnection, group: Group) -> list[int]:
        """Reads stored answers, rounds and sessions of the commands; returns spare numbers for later groups."""
        commands, book = group.commands, group.book
        nothing = [None] * self._cache.numbers_to_draw(len(commands))
        asked = (
            [*(c.request_id for c in commands), *nothing],
            [
                *(c.round_id if isinstance(c, RoundCommand) else None for c in commands),
                *nothing,
            ],
            [*(c.session_no if isinstance(c, PlaceStake | BuyIn) else None for c in commands), *nothing],
        )
        inactive_session_nos: set[int] = set()
        numbers: list[int] = []
        stored: list[tuple[bytes, StoredAnswer] | None] = []
        rows = await connection.fetch(_LOOK_UP, *asked)
        for command, row in zip(commands, rows[: len(commands)], strict=True):
            number, digest, refused, answer, round_no, table_no, round_state, *placed, session_state = row
            numbers.append(number)
            stored.append(None if digest is None else (digest, StoredAnswer(refused, answer)))
            if round_no is not None and isinstance(command, RoundCommand):
                round_id = command.round_id
                if round_id not in book.rounds:
                    book.rounds[round_id] = Round(round_no, round_id, table_no, RoundState(round_state), *placed)
            if isinstance(command, PlaceStake | BuyIn) and command.session_no:
                if session_state is None:
                    raise StaleIds("the database has no row of a cached session")
                session_no, session_id = command.session_no, command.session_id
                book.session_states[session_no] = SessionState(session_state)
                book.session_keys[session_id] = group.resolved.sessions[session_id]
                if session_state != SessionState.ACTIVE and session_no not in book.sessions:
                    inactive_session_nos.add(session_no)
        numbers += [row[0] for row in rows[len(commands) :]]
        # Numbers rise in the order in which the commands are carried out.
        numbers.sort()
        group.lookups = [Lookup(number, answer) for number, answer in zip(numbers, stored, strict=False)]
        await self._load_sessions(connection, book, inactive_session_nos)
        return numbers[len(commands) :]

    async def _write(self, connection: DirectConnection, group: Group) -> None:
        book = group.book
        if book.tables_with_raised_epoch:
            raised = book.tables_with_raised_epoch.values()
            await connection.fetch(_RAISE_EPOCHS, [t.no for t in raised], [t.epoch for t in raised])
        if not group.answered:
            return
        await ledger_rows.write(connection, book, group.answered)
        await self._write_changes(connection, book)

    async def _write_changes(self, connection: DirectConnection, book: Book) -> None:
        """Writes the changes that only some groups make, after the rows they refer to."""
        changed = book.changed_stakes.values()
        if changed:
            rows = [(s.no, s.cancelled_cents, s.payout_cents, s.state, s.paid_transfer_no) for s in changed]
            await connection.fetch(_CHANGE_STAKES, *columns(rows, 5))
        if book.cancellations:
            taken_back = [
                (c.transfer_no, c.stake_no, c.amount_cents, c.cancelled_detail, c.remaining_detail)
                for c in book.cancellations
            ]
            await connection.fetch(_CANCELLATIONS, book.now, *columns(taken_back, 5))
        if book.endings:
            ends = [(e.round.no, e.round.state, e.transfer_no, e.void_reason, e.outcome) for e in book.endings]
            await connection.fetch(_END_ROUNDS, book.now, *columns(ends, 5))
        # Before the pay-ins and awards that name new tickets by their numbers.
        await ticket_rows.write(connection, book)
        await tournaments.write(connection, book)
        if book.relevant_events:
            await relevant_events.insert(connection, book)
        if book.changed_sessions:
            sessions = list(book.changed_sessions.values())
            await session_changes.save_changes(
                connection.sqlalchemy, sessions, book.notices, {}, now=book.session_now, at=book.now
            )


def _sessions_in(command: Command, resolved: ResolvedIds) -> Iterable[SessionKey]:
    ids: list[str] = []
    if isinstance(command, SettleRound | TransferHand):
        ids = [line.session_id for line in command.report]
    if isinstance(command, TransferHand):
        ids += [seat.session_id for seat in command.seats]
    if isinstance(command, CashOut):
        ids = [command.session_id]
    return [resolved.sessions[session_id] for session_id in ids if session_id in resolved.sessions]


def _tables_of(command: Command) -> set[int]:
    if not isinstance(command, TableCommand):
        return set()
    targets = command.target_nos.values() if isinstance(command, PayOut | SettleTickets) else ()
    return {command.table_no, *targets} - {0}


def _accounts_of(group: Group) -> list[int]:
    resolved, book = group.resolved, group.book
    nos: set[int] = set()
    for command in group.commands:
        if isinstance(command, PlaceStake):
            nos.add(command.account_no)
            continue
        if isinstance(command, CashCommand):
            nos.update((command.account_no, command.operator_account_no))
            continue
        if isinstance(command, BuyIn | CashOut | PayIn):
            nos.add(command.account_no)
        if isinstance(command, PayOut):
            nos.update(command.account_nos.values())
        nos.update(_accounts_of_tables(command, resolved))
        for pair in resolved.caves_of(command):
            nos.update((pair[0], resolved.caves.get(pair, 0)))
    nos.update(stake.account_no for stake in book.stakes.values())
    nos.update(ticket.account_no for ticket in book.tickets.values())
    nos.update(s.account_no for s in book.sessions.values() if s.state is not SessionState.ACTIVE)
    nos.discard(0)
    return sorted(nos)


def _accounts_of_tables(command: Command, resolved: ResolvedIds) -> Iterator[int]:
    """Yields the accounts of a command's table, and of the tournaments that its new tickets are for."""
    if isinstance(command, TableCommand) and command.table_id in resolved.tables:
        table = resolved.tables[command.table_id]
        yield table.bank_no
        if isinstance(command, TournamentCommand):
            yield from (table.pool_no or 0, table.tickets_no or 0)
    if isinstance(command, PayOut | SettleTickets):
        for target_id in command.target_nos:
            target = resolved.tables[target_id]
            yield from (target.bank_no, target.tickets_no or 0)


# Every account of a group and every stake of a round needs them, and calling the enumeration costs more than the rest
# of the row.
_KINDS = {kind.value: kind for kind in AccountKind}
_STAKE_STATES = {state.value: state for state in StakeState}
_MODES = {mode.value: mode for mode in Mode}


def _table(row: Sequence[Any]) -> Table:
    no, table_id, game, regulation, mode, play, epoch, bank_no, pool_no, tickets_no, closed, *policy_row = row
    policy = InactivityPolicy(*policy_row)
    return Table(
        no,
        table_id,
        game,
        regulation,
        Mode(mode),
        Play(play),
        epoch,
        bank_no,
        policy,
        pool_no=pool_no,
        tickets_no=tickets_no,
        closed=closed,
    )


def _stake(row: Sequence[Any]) -> Stake:
    no, stake_id, round_no, account_no, session_no, placed_cents, cancelled_cents, payout_cents, state, *rest = row
    return Stake(
        no,
        stake_id,
        round_no,
        account_no,
        session_no,
        placed_cents,
        cancelled_cents,
        payout_cents,
        _STAKE_STATES[state],
        *rest,
    )


def _account(row: Sequence[Any]) -> Account:
    no, account_id, kind, mode, *rest = row
    return Account(no, account_id, _KINDS[kind], _MODES[mode], *rest)
