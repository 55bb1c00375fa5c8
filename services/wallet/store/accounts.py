"""Opens, finds and blocks accounts, and registers tables."""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from services.wallet.model import ids, refusals
from services.wallet.model.state import EPOCH_JUMP_LIMIT, Mode, Play
from services.wallet.sessions.policies import POLICY_FIELDS

_OPEN_ACCOUNT = text("""
WITH opened AS (
    INSERT INTO accounts (kind, mode, player_id, opened_at) VALUES (1, :mode, :player_id, :at)
    ON CONFLICT (player_id, mode) WHERE kind = 1 DO NOTHING RETURNING account_no
)
INSERT INTO accounts (kind, mode, owner_no, opened_at) SELECT 2, :mode, account_no, :at FROM opened
""")
_ACCOUNT = """
SELECT account_no, account_id::text, player_id, mode, free_cents, locked_cents, version, blocked
FROM accounts WHERE kind = 1 AND
"""
_BY_ID = text(_ACCOUNT + "account_id = CAST(:account_id AS uuid)")
_BY_PLAYER = text(_ACCOUNT + "player_id = :player_id AND mode = :mode")
_CAVES = text("""
SELECT tables.table_id, cave.free_cents FROM accounts cave JOIN tables ON tables.table_no = cave.table_no
WHERE cave.kind = 4 AND cave.owner_no = :owner_no AND cave.free_cents > 0 ORDER BY cave.account_no
""")
_BLOCK = text("UPDATE accounts SET blocked = :blocked WHERE account_no = :account_no")
_NEW_TABLE = text("""
WITH numbered AS (SELECT nextval(pg_get_serial_sequence('tables', 'table_no')) AS table_no),
bank AS (
    INSERT INTO accounts (kind, mode, table_no, opened_at)
    SELECT 3, :mode, table_no, :at FROM numbered RETURNING account_no, table_no
),
-- A tournament (4) has a pool besides.
pool AS (
    INSERT INTO accounts (kind, mode, table_no, opened_at)
    SELECT 5, :mode, table_no, :at FROM numbered WHERE CAST(:play AS smallint) = 4 RETURNING account_no
)
INSERT INTO tables (table_no, table_id, game, regulation, mode, play, epoch, bank_no, pool_no, opened_at)
OVERRIDING SYSTEM VALUE
SELECT table_no, :table_id, :game, :regulation, :mode, CAST(:play AS smallint), :epoch, account_no,
       (SELECT account_no FROM pool), :at
FROM bank
""")
_LOCK_TABLE = text("""
SELECT table_no, game, regulation, mode, play, epoch FROM tables WHERE table_id = :table_id FOR NO KEY UPDATE
""")
# A change of the policy waits for this lock, and then finds the new table: no table keeps an earlier policy.
_SHARE_TABLE = text("SELECT game FROM tables WHERE table_id = :table_id FOR SHARE")
_IS_OF_CONFIGURED = text(
    "SELECT 1 FROM tables WHERE table_id = :table_id AND configured_table_id = :configured_table_id"
)
_TAKE_POLICY = ", ".join(f"{name} = configured.{name}" for name in POLICY_FIELDS)
_SET_CONFIGURED = text(f"""
UPDATE tables SET configured_table_id = configured.table_id, {_TAKE_POLICY}
FROM tables AS configured WHERE tables.table_id = :table_id AND configured.table_id = :configured_table_id
""")
_GAME = text("SELECT game FROM tables WHERE table_id = :table_id")
_HIGHEST_EPOCH = text("SELECT max(epoch) FROM tables WHERE game = :game")
_RAISE_EPOCH = text("UPDATE tables SET epoch = :epoch WHERE table_no = :table_no")
_OPEN_ROUNDS = text("SELECT round_id FROM rounds WHERE table_no = :table_no AND state = 1 ORDER BY round_no")
_LAST_ROUND = text("SELECT round_id FROM rounds WHERE table_no = :table_no ORDER BY round_no DESC LIMIT 1")


@dataclass(frozen=True, slots=True)
class PlayerAccount:
    """A player's account as it is read for a query."""

    no: int
    account_id: str
    player_id: str
    mode: Mode
    free_cents: int
    locked_cents: int
    version: int
    blocked: bool


@dataclass(frozen=True, slots=True)
class TableRegistration:
    """A game service's description of a table that it registers or opens."""

    table_id: str
    # 0 before anybody has opened it.
    epoch: int
    game: str
    regulation: str
    mode: Mode
    play: Play
    configured_table_id: str
    """The configured table of a player's own table; empty for a configured table itself."""


@dataclass(frozen=True, slots=True)
class TableRounds:
    """The rounds of a table that its new owner has to know."""

    open_ids: list[str]
    last_id: str
    """The newest, ended or not; empty before the first."""


async def open_account(connection: AsyncConnection, player_id: str, mode: Mode, at: datetime) -> PlayerAccount:
    """Returns the player's account in this mode, after making it and its operator account if there is none."""
    await connection.execute(_OPEN_ACCOUNT, {"player_id": player_id, "mode": mode, "at": at})
    return await find_by_player(connection, player_id, mode)


async def find_by_player(connection: AsyncConnection, player_id: str, mode: Mode) -> PlayerAccount:
    """Returns the player's account in this mode; refuses if there is none."""
    row = (await connection.execute(_BY_PLAYER, {"player_id": player_id, "mode": mode})).one_or_none()
    if row is None:
        raise refusals.player_without_account(player_id, mode)
    return PlayerAccount(row[0], row[1], row[2], Mode(row[3]), *row[4:])


async def find(connection: AsyncConnection, account_id: str, *, lock: bool = False) -> PlayerAccount:
    """Returns a player's account; refuses if there is none."""
    if not ids.is_wallet_id(account_id):
        raise refusals.account_unknown(account_id)
    statement = text(f"{_BY_ID.text} FOR NO KEY UPDATE") if lock else _BY_ID
    row = (await connection.execute(statement, {"account_id": account_id})).one_or_none()
    if row is None:
        raise refusals.account_unknown(account_id)
    return PlayerAccount(row[0], row[1], row[2], Mode(row[3]), *row[4:])


async def caves_of(connection: AsyncConnection, account_no: int) -> list[tuple[str, int]]:
    rows = await connection.execute(_CAVES, {"owner_no": account_no})
    return [(table_id, cents) for table_id, cents in rows]


async def set_blocked(connection: AsyncConnection, account_no: int, *, blocked: bool) -> None:
    await connection.execute(_BLOCK, {"account_no": account_no, "blocked": blocked})


async def find_table_game(connection: AsyncConnection, table_id: str) -> str | None:
    """Returns the game of a table; None if there is no such table."""
    game: str | None = (await connection.execute(_GAME, {"table_id": table_id})).scalar_one_or_none()
    return game


async def register_table(connection: AsyncConnection, table: TableRegistration, at: datetime) -> None:
    """Adds a table, if there is none of its id; refuses one of another game."""
    await _find_or_add(connection, table, at)


async def open_table(connection: AsyncConnection, table: TableRegistration, at: datetime) -> TableRounds:
    """Adds a table or raises its epoch (G8); returns what its previous owners played."""
    both = {"table_id": table.table_id, "configured_table_id": table.configured_table_id}
    joins = bool(table.configured_table_id) and not (await connection.execute(_IS_OF_CONFIGURED, both)).one_or_none()
    if joins:
        # Before the table itself, in the order in which a change of the policy locks both.
        await _lock_configured_table(connection, table, at)
    rounds = await _add_or_raise(connection, table, at)
    if joins:
        await connection.execute(_SET_CONFIGURED, both)
    return rounds


async def _lock_configured_table(connection: AsyncConnection, table: TableRegistration, at: datetime) -> None:
    """Keeps the policy of the configured table until the transaction ends; registers the table if it is new."""
    wanted = {"table_id": table.configured_table_id}
    game = (await connection.execute(_SHARE_TABLE, wanted)).scalar_one_or_none()
    if game is not None:
        if game != table.game:
            raise refusals.wrong_game(table.game, (table.configured_table_id, game))
        return
    configured = replace(table, table_id=table.configured_table_id, configured_table_id="")
    try:
        async with connection.begin_nested():
            await register_table(connection, configured, at)
    except IntegrityError:
        # Another player's table has just registered it.
        await connection.execute(_SHARE_TABLE, wanted)


async def _add_or_raise(connection: AsyncConnection, table: TableRegistration, at: datetime) -> TableRounds:
    found = await _find_or_add(connection, table, at)
    if found is None:
        return TableRounds([], "")
    table_no, epoch = found
    if table.epoch < epoch:
        raise refusals.stale_epoch(table.table_id, table.epoch, epoch)
    await _verify_epoch(connection, table, epoch)
    await raise_epoch(connection, table_no, table.epoch)
    of_table = {"table_no": table_no}
    open_ids = [round_id for (round_id,) in await connection.execute(_OPEN_ROUNDS, of_table)]
    return TableRounds(open_ids, (await connection.execute(_LAST_ROUND, of_table)).scalar_one_or_none() or "")


async def _find_or_add(connection: AsyncConnection, table: TableRegistration, at: datetime) -> tuple[int, int] | None:
    """Locks a table and returns its number and epoch; None if it was added."""
    row = (await connection.execute(_LOCK_TABLE, {"table_id": table.table_id})).one_or_none()
    if row is None:
        await _verify_epoch(connection, table, 0)
        values: dict[str, object] = {"table_id": table.table_id, "game": table.game, "regulation": table.regulation}
        values |= {"mode": table.mode, "play": table.play, "epoch": table.epoch, "at": at}
        await connection.execute(_NEW_TABLE, values)
        return None
    table_no, game, regulation, mode, play, epoch = row
    if game != table.game:
        raise refusals.wrong_game(table.game, (table.table_id, game))
    for field, was, now in (
        ("regulation", regulation, table.regulation),
        ("mode", mode, table.mode),
        ("play", play, table.play),
    ):
        if was != now:
            raise refusals.table_differs(table.table_id, field)
    return table_no, epoch


async def _verify_epoch(connection: AsyncConnection, table: TableRegistration, current_epoch: int) -> None:
    """Refuses an epoch that no sequence of takeovers leads to.

    A player's own table may have been closed for years while its configured table changed hands, so the game's other
    tables are looked at, too.
    """
    if table.epoch - current_epoch <= EPOCH_JUMP_LIMIT:
        return
    highest = (await connection.execute(_HIGHEST_EPOCH, {"game": table.game})).scalar_one() or 0
    if table.epoch - highest > EPOCH_JUMP_LIMIT:
        raise refusals.epoch_too_high(table.table_id, table.epoch, max(current_epoch, highest))


async def raise_epoch(connection: AsyncConnection, table_no: int, epoch: int) -> None:
    """Stores a table's epoch: lower ones are shut out from now on (G8)."""
    await connection.execute(_RAISE_EPOCH, {"epoch": epoch, "table_no": table_no})
