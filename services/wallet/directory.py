"""Which number stands for which id. Nothing in here ever changes, so it is remembered without a lock."""

from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from services.kit.database import DirectConnection
from services.wallet import refusals
from services.wallet.ledger.book import SessionKey
from services.wallet.ledger.commands import (
    BuyIn,
    CashCommand,
    CashOut,
    Command,
    PlaceStake,
    SettleRound,
    TableCommand,
    TransferHand,
)
from services.wallet.state import Play

# Ids beyond this are forgotten all at once and looked up again (G11).
REMEMBERED_LIMIT = 200_000

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


class TableKey(NamedTuple):
    """What never changes about a table."""

    no: int
    bank_no: int
    play: Play


class Directory:
    """What this process has learnt."""

    def __init__(self) -> None:
        self.tables: dict[str, TableKey] = {}
        self.accounts: dict[str, tuple[int, int]] = {}
        self.sessions: dict[str, SessionKey] = {}
        self.caves: dict[tuple[int, int], int] = {}

    def known_stakes(self, commands: Sequence[Command]) -> Sequence[PlaceStake] | None:
        """Numbers a group of nothing but stakes, if everything that they name has been learnt."""
        stakes: list[PlaceStake] = []
        for command in commands:
            if not isinstance(command, PlaceStake):
                return None
            table = self.tables.get(command.table_id)
            account = self.accounts.get(command.account_id)
            session = self.sessions.get(command.session_id)
            if table is None or account is None or session is None:
                return None
            command.table_no, command.account_no, command.session_no = table.no, account[0], session.no
            stakes.append(command)
        return stakes

    async def learn(self, connection: DirectConnection, commands: Sequence[Command]) -> None:
        """Learns all ids that the commands name, and writes the numbers into them."""
        await self._learn_tables(
            connection, {c.table_id for c in commands if isinstance(c, TableCommand)} - self.tables.keys()
        )
        await self._learn_accounts(connection, {i for c in commands for i in _account_ids(c)} - self.accounts.keys())
        await self.learn_sessions(connection, {i for c in commands for i in _session_ids(c)})
        for command in commands:
            self._number(command)
        await self._learn_caves(connection, commands)

    async def learn_sessions(self, connection: DirectConnection, session_ids: Iterable[str]) -> None:
        unknown = _uuids(set(session_ids) - self.sessions.keys())
        if unknown:
            _make_room(self.sessions)
            for session_id, no, account_no, table_no in await connection.fetch(_SESSIONS, unknown):
                self.sessions[session_id] = SessionKey(no, account_no, table_no)

    async def _learn_tables(self, connection: DirectConnection, unknown: set[str]) -> None:
        if unknown:
            _make_room(self.tables)
            for table_id, no, bank_no, play in await connection.fetch(_TABLES, list(unknown)):
                self.tables[table_id] = TableKey(no, bank_no, Play(play))

    async def _learn_accounts(self, connection: DirectConnection, unknown: set[str]) -> None:
        uuids = _uuids(unknown)
        if uuids:
            _make_room(self.accounts)
            for account_id, no, books_no in await connection.fetch(_ACCOUNTS, uuids):
                self.accounts[account_id] = (no, books_no)

    def _number(self, command: Command) -> None:
        if isinstance(command, TableCommand):
            table = self.tables.get(command.table_id)
            if table is not None:
                command.table_no = table.no
        if isinstance(command, PlaceStake | BuyIn | CashOut):
            command.account_no = self.accounts.get(command.account_id, (0, 0))[0]
            session = self.sessions.get(command.session_id)
            if session is not None:
                command.session_no = session.no
        elif isinstance(command, CashCommand):
            command.account_no, command.books_no = self.accounts.get(command.account_id, (0, 0))

    async def _learn_caves(self, connection: DirectConnection, commands: Sequence[Command]) -> None:
        to_fill = [(c.account_no, c.table_no) for c in commands if isinstance(c, BuyIn) and c.account_no and c.table_no]
        wanted = {pair for c in commands for pair in self.caves_of(c)} - self.caves.keys()
        if not wanted:
            return
        new = [pair for pair in to_fill if pair in wanted]
        if new:
            await connection.fetch(_NEW_CAVES, *_columns(new))
        _make_room(self.caves)
        for owner_no, table_no, account_no in await connection.fetch(_CAVES, *_columns(wanted)):
            self.caves[owner_no, table_no] = account_no

    def caves_of(self, command: Command) -> list[tuple[int, int]]:
        """The caves a command may touch or has to look at, as owner and table."""
        if isinstance(command, BuyIn | CashOut):
            return [(command.account_no, command.table_no)]
        if isinstance(command, SettleRound | TransferHand):
            table = self.tables.get(command.table_id)
            if table is not None and table.play is Play.POKER:
                keys = (self.sessions.get(session_id) for session_id in _session_ids(command))
                return [(key.account_no, table.no) for key in keys if key is not None]
        return []


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
    return [UUID(text) for text in ids if refusals.could_be_an_id(text)]


def _columns(pairs: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    owners, tables = zip(*pairs, strict=True)
    return list(owners), list(tables)


def _make_room(remembered: MutableMapping[Any, Any]) -> None:
    if len(remembered) > REMEMBERED_LIMIT:
        remembered.clear()
