"""Which number stands for which id. Nothing in here ever changes, so it is remembered without a lock.

A group of commands takes what it needs into a mapping of its own and is decided by that alone. What this process
forgets to make room is therefore missing to nobody, whoever forgets it and whenever; and an id is without a number only
if the database has said so since the command came in, for a refusal because of it is kept for ever (G3, G12).
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar
from uuid import UUID

from services.kit.database.postgresql import DirectConnection
from services.wallet.ledger.book import SessionKey
from services.wallet.ledger.commands import (
    UNKNOWN,
    BuyIn,
    CashCommand,
    CashOut,
    Command,
    PlaceStake,
    SettleRound,
    TableCommand,
    TransferHand,
)
from services.wallet.model import refusals
from services.wallet.model.state import Play

# Ids of one kind beyond this are forgotten all at once and looked up again (G11).
CACHED_IDS_LIMIT = 200_000

_TABLES = "SELECT table_id, table_no, bank_no, play FROM tables WHERE table_id = ANY($1::text[])"
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

# A cave by its owner's number and its table's.
CaveKey = tuple[int, int]

IdT = TypeVar("IdT")
NumberT = TypeVar("NumberT")


class TableKey(NamedTuple):
    """What never changes about a table."""

    no: int
    bank_no: int
    play: Play


class AccountKey(NamedTuple):
    """What never changes about a player's account."""

    no: int
    operator_account_no: int


@dataclass(slots=True)
class ResolvedIds:
    """What ids stand for."""

    tables: dict[str, TableKey] = field(default_factory=dict)
    accounts: dict[str, AccountKey] = field(default_factory=dict)
    sessions: dict[str, SessionKey] = field(default_factory=dict)
    caves: dict[CaveKey, int] = field(default_factory=dict)

    def caves_of(self, command: Command) -> list[CaveKey]:
        """The caves a command may touch or has to look at."""
        if isinstance(command, BuyIn | CashOut):
            return [(command.account_no, command.table_no)] if command.account_no and command.table_no else []
        if isinstance(command, SettleRound | TransferHand):
            table = self.tables.get(command.table_id)
            if table is not None and table.play is Play.POKER:
                keys = (self.sessions.get(session_id) for session_id in _session_ids(command))
                return [(key.account_no, table.no) for key in keys if key is not None]
        return []


class StaleIds(RuntimeError):
    """There is nothing in the database under a number that was learnt: nothing is decided by it (G12)."""


class IdCache:
    """What this process has learnt, of what was committed."""

    def __init__(self) -> None:
        self._remembered = ResolvedIds()

    def resolve_cached_stakes(
        self, commands: Sequence[Command]
    ) -> tuple[Sequence[PlaceStake], dict[str, SessionKey]] | None:
        """Numbers a group of nothing but stakes, if everything that they name is remembered; also their sessions."""
        remembered = self._remembered
        tables, accounts, sessions = remembered.tables, remembered.accounts, remembered.sessions
        stakes: list[PlaceStake] = []
        named: dict[str, SessionKey] = {}
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
            named[command.session_id] = session
        return stakes, named

    async def resolve(self, connection: DirectConnection, commands: Sequence[Command]) -> ResolvedIds:
        """All that the commands name, with the numbers written into them and a cave for everybody who fills one.

        To be called outside a transaction: each statement is one of its own. What it has read or made is committed
        before anything is remembered of it, so a commit that is lost leaves nothing behind here.
        """
        own, remembered = ResolvedIds(), self._remembered
        table_ids = {c.table_id for c in commands if isinstance(c, TableCommand)}
        own.tables = await _learn(remembered.tables, table_ids, lambda ids: _read_tables(connection, ids))
        account_ids = {i for c in commands for i in _account_ids(c)}
        own.accounts = await _learn(remembered.accounts, account_ids, lambda ids: _read_accounts(connection, ids))
        session_ids = {i for c in commands for i in _session_ids(c)}
        own.sessions = await _learn(remembered.sessions, session_ids, lambda ids: _read_sessions(connection, ids))
        for command in commands:
            _number(command, own)
        to_fill = {pair for c in commands if isinstance(c, BuyIn) for pair in own.caves_of(c)}
        own.caves = await _learn(remembered.caves, to_fill, lambda pairs: _make_caves(connection, pairs))
        return own

    async def resolve_caves(
        self, connection: DirectConnection, resolved: ResolvedIds, commands: Iterable[Command]
    ) -> None:
        """The caves that nobody need have made, into what the group knows; its tables are locked by now.

        Nobody fills a cave there meanwhile, so one that is not found holds nothing.
        """
        wanted = {pair for c in commands for pair in resolved.caves_of(c)} - resolved.caves.keys()
        resolved.caves |= _recall(self._remembered.caves, wanted)
        unknown = wanted - resolved.caves.keys()
        if unknown:
            resolved.caves |= await _read_caves(connection, unknown)

    def remember_caves(self, resolved: ResolvedIds) -> None:
        """Remembers the caves of a group that was committed."""
        remembered = self._remembered.caves
        _keep(remembered, {pair: no for pair, no in resolved.caves.items() if pair not in remembered})


async def _learn(
    remembered: dict[IdT, NumberT],
    ids: Collection[IdT],
    read: Callable[[Collection[IdT]], Awaitable[dict[IdT, NumberT]]],
) -> dict[IdT, NumberT]:
    """What is remembered of these, and the rest as the database has it now."""
    own = _recall(remembered, ids)
    if len(own) < len(ids):
        found = await read([key for key in ids if key not in own])
        _keep(remembered, found)
        own |= found
    return own


def _recall(remembered: dict[IdT, NumberT], ids: Iterable[IdT]) -> dict[IdT, NumberT]:
    return {key: number for key in ids if (number := remembered.get(key)) is not None}


def _keep(remembered: dict[IdT, NumberT], found: dict[IdT, NumberT]) -> None:
    if len(remembered) + len(found) > CACHED_IDS_LIMIT:
        remembered.clear()
    remembered.update(found)


async def _read_tables(connection: DirectConnection, ids: Collection[str]) -> dict[str, TableKey]:
    rows = await connection.fetch(_TABLES, list(ids))
    return {table_id: TableKey(no, bank_no, Play(play)) for table_id, no, bank_no, play in rows}


async def _read_accounts(connection: DirectConnection, ids: Collection[str]) -> dict[str, AccountKey]:
    uuids = _uuids(ids)
    rows = await connection.fetch(_ACCOUNTS, uuids) if uuids else []
    return {account_id: AccountKey(no, books_no) for account_id, no, books_no in rows}


async def _read_sessions(connection: DirectConnection, ids: Collection[str]) -> dict[str, SessionKey]:
    uuids = _uuids(ids)
    rows = await connection.fetch(_SESSIONS, uuids) if uuids else []
    return {session_id: SessionKey(no, account_no, table_no) for session_id, no, account_no, table_no in rows}


async def _make_caves(connection: DirectConnection, pairs: Collection[CaveKey]) -> dict[CaveKey, int]:
    await connection.fetch(_NEW_CAVES, *_columns(pairs))
    return await _read_caves(connection, pairs)


async def _read_caves(connection: DirectConnection, pairs: Collection[CaveKey]) -> dict[CaveKey, int]:
    rows = await connection.fetch(_CAVES, *_columns(pairs))
    return {(owner_no, table_no): account_no for owner_no, table_no, account_no in rows}


def _number(command: Command, known: ResolvedIds) -> None:
    if isinstance(command, TableCommand):
        table = known.tables.get(command.table_id)
        command.table_no = UNKNOWN if table is None else table.no
    if isinstance(command, PlaceStake | BuyIn | CashOut):
        account, session = known.accounts.get(command.account_id), known.sessions.get(command.session_id)
        command.account_no = UNKNOWN if account is None else account.no
        command.session_no = UNKNOWN if session is None else session.no
    elif isinstance(command, CashCommand):
        command.account_no, command.operator_account_no = known.accounts.get(command.account_id, (UNKNOWN, UNKNOWN))


def _account_ids(command: Command) -> list[str]:
    if isinstance(command, CashCommand | PlaceStake | BuyIn | CashOut):
        return [command.account_id]
    return []


def _session_ids(command: Command) -> list[str]:
    if isinstance(command, PlaceStake | BuyIn | CashOut):
        return [command.session_id]
    if isinstance(command, SettleRound):
        return [line.session_id for line in command.report]
    if isinstance(command, TransferHand):
        return [*(seat.session_id for seat in command.seats), *(line.session_id for line in command.report)]
    return []


def _uuids(ids: Iterable[str]) -> list[UUID]:
    """Those that can be ids at all, in the one spelling that the wallet gives out."""
    return [UUID(text) for text in ids if refusals.is_wallet_id(text)]


def _columns(pairs: Collection[CaveKey]) -> tuple[list[int], list[int]]:
    owners, tables = zip(*pairs, strict=True)
    return list(owners), list(tables)
