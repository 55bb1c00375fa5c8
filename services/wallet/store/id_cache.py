"""Caches the row numbers of ids. They never change, so that no lock is needed.

A group of commands copies the numbers it needs into a mapping of its own and is decided by that alone, so that clearing
the cache takes nothing from a group under way. An id counts as unknown only if the database has said so since the
command arrived, because a refusal for that reason is stored for ever (G3, G12).
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from services.kit.database.postgresql import DirectConnection
from services.wallet.ledger.commands import (
    UNKNOWN,
    BuyIn,
    CashCommand,
    CashOut,
    Command,
    PayIn,
    PayOut,
    PlaceStake,
    SettleRound,
    SettleTickets,
    TableCommand,
    TransferHand,
)
from services.wallet.model import ids
from services.wallet.model.state import AccountKey, CaveKey, Play, SessionKey, TableKey

# Beyond this many ids of one kind all of them are dropped and read again (G11).
CACHED_IDS_LIMIT = 200_000

_TABLES = """
SELECT table_id, table_no, bank_no, play, game, pool_no, tickets_no FROM tables WHERE table_id = ANY($1::text[])
"""
_ACCOUNTS = """
SELECT player.account_id::text, player.account_no, books.account_no
FROM accounts player JOIN accounts books ON books.owner_no = player.account_no AND books.kind = 2
WHERE player.account_id = ANY($1::uuid[]) AND player.kind = 1
"""
_SESSIONS = "SELECT session_id::text, session_no, account_no, table_no FROM sessions WHERE session_id = ANY($1::uuid[])"
_NEW_CAVES = """
INSERT INTO accounts (kind, mode, owner_no, table_no, opened_at)
SELECT 4, owner.mode, wanted.owner_no, wanted.table_no, now()
FROM (SELECT DISTINCT * FROM unnest($1::bigint[], $2::bigint[])) AS wanted(owner_no, table_no)
JOIN accounts owner ON owner.account_no = wanted.owner_no
-- Elsewhere the command will be refused, and what is refused leaves nothing behind (G12).
JOIN tables ON tables.table_no = wanted.table_no AND tables.mode = owner.mode AND tables.play = 3
ON CONFLICT (owner_no, table_no) WHERE kind = 4 DO NOTHING
"""
_CAVES = """
SELECT cave.owner_no, cave.table_no, cave.account_no
FROM unnest($1::bigint[], $2::bigint[]) AS wanted(owner_no, table_no)
JOIN accounts cave ON cave.owner_no = wanted.owner_no AND cave.table_no = wanted.table_no AND cave.kind = 4
"""

IdT = TypeVar("IdT")
NumberT = TypeVar("NumberT")


@dataclass(slots=True)
class ResolvedIds:
    """The numbers of the ids that a group names."""

    tables: dict[str, TableKey] = field(default_factory=dict)
    accounts: dict[str, AccountKey] = field(default_factory=dict)
    sessions: dict[str, SessionKey] = field(default_factory=dict)
    caves: dict[CaveKey, int] = field(default_factory=dict)

    def caves_of(self, command: Command) -> list[CaveKey]:
        """Returns the caves that a command may change or has to read."""
        if isinstance(command, BuyIn | CashOut):
            return [(command.account_no, command.table_no)] if command.account_no and command.table_no else []
        if isinstance(command, SettleRound | TransferHand):
            table = self.tables.get(command.table_id)
            if table is not None and table.play is Play.POKER:
                keys = (self.sessions.get(session_id) for session_id in _session_ids(command))
                return [(key.account_no, table.no) for key in keys if key is not None]
        return []


class StaleIds(RuntimeError):
    """The database has no row under a cached number: nothing is decided by it (G12)."""


class IdCache:
    """The numbers of committed rows that this process has read."""

    def __init__(self) -> None:
        self._cached = ResolvedIds()

    def resolve_cached_stakes(
        self, commands: Sequence[Command]
    ) -> tuple[Sequence[PlaceStake], dict[str, SessionKey]] | None:
        """Writes the numbers into a group of nothing but stakes, if all are cached; returns them and their sessions."""
        tables, accounts, sessions = self._cached.tables, self._cached.accounts, self._cached.sessions
        stakes: list[PlaceStake] = []
        session_keys: dict[str, SessionKey] = {}
        for command in commands:
            if not isinstance(command, PlaceStake):
                return None
            table = tables.get(command.table_id)
            account = accounts.get(command.account_id)
            session = sessions.get(command.session_id)
            if table is None or account is None or session is None:
                return None
            command.table_no, command.account_no, command.session_no = table.no, account.no, session.no
            stakes.append(command)
            session_keys[command.session_id] = session
        return stakes, session_keys

    async def resolve(self, connection: DirectConnection, commands: Sequence[Command]) -> ResolvedIds:
        """Resolves the ids that the commands name, writes the numbers into them, and makes the caves that they fill.

        Call it outside a transaction, so that each statement commits by itself: rows are cached only after they are
        committed, and a lost commit leaves nothing in the cache.
        """
        resolved, cached = ResolvedIds(), self._cached
        table_ids = {i for c in commands for i in _table_ids(c)}
        resolved.tables = await _resolve(cached.tables, table_ids, lambda texts: _read_tables(connection, texts))
        account_ids = {i for c in commands for i in _account_ids(c)}
        resolved.accounts = await _resolve(
            cached.accounts, account_ids, lambda texts: _read_accounts(connection, texts)
        )
        session_ids = {i for c in commands for i in _session_ids(c)}
        resolved.sessions = await _resolve(
            cached.sessions, session_ids, lambda texts: _read_sessions(connection, texts)
        )
        for command in commands:
            _write_numbers(command, resolved)
        to_fill = {pair for c in commands if isinstance(c, BuyIn) for pair in _caves_to_fill(c, resolved)}
        resolved.caves = await _resolve(cached.caves, to_fill, lambda pairs: _make_caves(connection, pairs))
        return resolved

    async def resolve_caves(
        self, connection: DirectConnection, resolved: ResolvedIds, commands: Iterable[Command]
    ) -> None:
        """Adds the caves that may exist at the commands' tables, which are locked by now.

        Nobody can fill a cave there meanwhile, so that one that is not found holds nothing.
        """
        wanted = {pair for c in commands for pair in resolved.caves_of(c)} - resolved.caves.keys()
        resolved.caves |= _find_cached(self._cached.caves, wanted)
        unknown = wanted - resolved.caves.keys()
        if unknown:
            resolved.caves |= await _read_caves(connection, unknown)

    def remember_caves(self, resolved: ResolvedIds) -> None:
        """Caches the caves of a group that is committed."""
        cached = self._cached.caves
        _add(cached, {pair: no for pair, no in resolved.caves.items() if pair not in cached})


async def _resolve(
    cached: dict[IdT, NumberT],
    wanted: Collection[IdT],
    read: Callable[[Collection[IdT]], Awaitable[dict[IdT, NumberT]]],
) -> dict[IdT, NumberT]:
    """Returns the cached numbers, and reads the others from the database now."""
    resolved = _find_cached(cached, wanted)
    if len(resolved) < len(wanted):
        found = await read([key for key in wanted if key not in resolved])
        _add(cached, found)
        resolved |= found
    return resolved


def _find_cached(cached: dict[IdT, NumberT], wanted: Iterable[IdT]) -> dict[IdT, NumberT]:
    return {key: number for key in wanted if (number := cached.get(key)) is not None}


def _add(cached: dict[IdT, NumberT], found: dict[IdT, NumberT]) -> None:
    if len(cached) + len(found) > CACHED_IDS_LIMIT:
        cached.clear()
    cached.update(found)


async def _read_tables(connection: DirectConnection, texts: Collection[str]) -> dict[str, TableKey]:
    rows = await connection.fetch(_TABLES, list(texts))
    return {
        table_id: TableKey(no, bank_no, Play(play), game, pool_no, tickets_no)
        for table_id, no, bank_no, play, game, pool_no, tickets_no in rows
    }


async def _read_accounts(connection: DirectConnection, texts: Collection[str]) -> dict[str, AccountKey]:
    uuids = ids.valid_uuids(texts)
    rows = await connection.fetch(_ACCOUNTS, uuids) if uuids else []
    return {account_id: AccountKey(no, operator_account_no) for account_id, no, operator_account_no in rows}


async def _read_sessions(connection: DirectConnection, texts: Collection[str]) -> dict[str, SessionKey]:
    uuids = ids.valid_uuids(texts)
    rows = await connection.fetch(_SESSIONS, uuids) if uuids else []
    return {session_id: SessionKey(no, account_no, table_no) for session_id, no, account_no, table_no in rows}


async def _make_caves(connection: DirectConnection, pairs: Collection[CaveKey]) -> dict[CaveKey, int]:
    await connection.fetch(_NEW_CAVES, *_columns(pairs))
    return await _read_caves(connection, pairs)


async def _read_caves(connection: DirectConnection, pairs: Collection[CaveKey]) -> dict[CaveKey, int]:
    rows = await connection.fetch(_CAVES, *_columns(pairs))
    return {(owner_no, table_no): account_no for owner_no, table_no, account_no in rows}


def _write_numbers(command: Command, resolved: ResolvedIds) -> None:
    """Writes the numbers of the ids that a command names into it."""
    if isinstance(command, TableCommand):
        table = resolved.tables.get(command.table_id)
        command.table_no = UNKNOWN if table is None else table.no
    if isinstance(command, PayOut | SettleTickets):
        command.target_nos = {i: resolved.tables[i].no for i in command.target_ids if i in resolved.tables}
    if isinstance(command, PlaceStake | BuyIn | CashOut):
        account, session = resolved.accounts.get(command.account_id), resolved.sessions.get(command.session_id)
        command.account_no = UNKNOWN if account is None else account.no
        command.session_no = UNKNOWN if session is None else session.no
    elif isinstance(command, PayIn):
        command.account_no = _account_no(command.account_id, resolved)
    elif isinstance(command, PayOut):
        command.account_nos = {i: _account_no(i, resolved) for i in _account_ids(command)}
    elif isinstance(command, CashCommand):
        command.account_no, command.operator_account_no = resolved.accounts.get(command.account_id, (UNKNOWN, UNKNOWN))


def _table_ids(command: Command) -> list[str]:
    targets = command.target_ids if isinstance(command, PayOut | SettleTickets) else ()
    return [command.table_id, *targets] if isinstance(command, TableCommand) else []


def _account_no(account_id: str, resolved: ResolvedIds) -> int:
    account = resolved.accounts.get(account_id)
    return UNKNOWN if account is None else account.no


def _caves_to_fill(command: BuyIn, resolved: ResolvedIds) -> list[CaveKey]:
    """Returns the cave that a buy-in fills; none for another game's token, which is refused (G12)."""
    table = resolved.tables.get(command.table_id)
    return resolved.caves_of(command) if table is not None and table.game == command.game else []


def _account_ids(command: Command) -> list[str]:
    if isinstance(command, CashCommand | PlaceStake | BuyIn | CashOut | PayIn):
        return [command.account_id]
    if isinstance(command, PayOut):
        return [award.account_id for award in command.awards]
    return []


def _session_ids(command: Command) -> list[str]:
    if isinstance(command, PlaceStake | BuyIn | CashOut):
        return [command.session_id]
    if isinstance(command, SettleRound):
        return [line.session_id for line in command.report]
    if isinstance(command, TransferHand):
        return [*(seat.session_id for seat in command.seats), *(line.session_id for line in command.report)]
    return []


def _columns(pairs: Collection[CaveKey]) -> tuple[list[int], list[int]]:
    owners, tables = zip(*pairs, strict=True)
    return list(owners), list(tables)
