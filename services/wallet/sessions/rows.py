"""The rows of sessions: read in bulk under the lock that the caller holds on their tables, and saved in bulk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.wallet.model import ids, refusals
from services.wallet.model.state import Device, EndCause, InactivityPolicy, Mode, Play, Session, SessionState, Table
from services.wallet.sessions.policies import POLICY_COLUMNS, policy_from_row

_COLUMNS = """
    s.session_no, s.session_id::text AS session_id, s.player_id, s.account_no, a.account_id::text AS account_id,
    s.table_no, t.table_id, t.game, t.regulation, t.mode, t.play, s.state,
    s.device_kind, s.device_agent, s.device_address, s.device_fingerprint,
    s.started_at, s.started_version, s.ended_at, s.ended_version, s.end_cause, s.last_activity_at, s.idle_since,
    s.missed_rounds, s.warned_at, s.warned_round_id, s.cave_short_since, s.next_step_at
FROM sessions s JOIN accounts a USING (account_no) JOIN tables t ON t.table_no = s.table_no
"""
_LOAD = text(f"SELECT {_COLUMNS} WHERE s.session_no = ANY(CAST(:session_nos AS bigint[])) ORDER BY s.session_no")
_PAGE = text(
    f"""
    SELECT {_COLUMNS}
    WHERE s.player_id = :player_id AND (s.state < 5 OR NOT :running_only)
      AND s.session_no < COALESCE(CAST(:before_no AS bigint), 9223372036854775807)
    ORDER BY s.session_no DESC LIMIT :size
    """
)
# The sessions that have not ended are found first, by their own index: asked for the first rows in the order of their
# numbers, the planner may prefer to walk through all sessions that ever ended.
_PAGE_AT_TABLE = text(
    f"""
    WITH running AS MATERIALIZED (
        SELECT session_no FROM sessions
        WHERE table_no = :table_no AND state < 5 AND session_no > COALESCE(CAST(:after_no AS bigint), 0)
    ),
    wanted AS (SELECT session_no FROM running ORDER BY session_no LIMIT :size)
    SELECT {_COLUMNS} JOIN wanted USING (session_no) ORDER BY s.session_no
    """
)
_PAGE_AT_TABLES = text(
    f"""
    WITH running AS MATERIALIZED (
        SELECT sessions.session_no FROM sessions JOIN tables USING (table_no)
        WHERE (tables.table_id = :table_id OR starts_with(tables.table_id, :table_id || '-'))
          AND sessions.state < 5 AND sessions.session_no > COALESCE(CAST(:after_no AS bigint), 0)
    ),
    wanted AS (SELECT session_no FROM running ORDER BY session_no LIMIT :size)
    SELECT {_COLUMNS} JOIN wanted USING (session_no) ORDER BY s.session_no
    """
)
_CAVES_AT_TABLE = text(
    """
    WITH running AS MATERIALIZED (
        SELECT session_no, session_id, account_no, table_no FROM sessions
        WHERE table_no = :table_no AND state < 5 AND session_no > COALESCE(CAST(:after_no AS bigint), 0)
    )
    SELECT running.session_no, running.session_id::text, player.account_id::text, cave.free_cents
    FROM running
    JOIN accounts cave ON cave.kind = 4 AND cave.owner_no = running.account_no AND cave.table_no = running.table_no
    JOIN accounts player ON player.account_no = running.account_no
    WHERE cave.free_cents > 0 ORDER BY running.session_no LIMIT :size
    """
)
# An ended session never changes. Activity may have been recorded since the session was read: the later time stays.
_SAVE = text(
    """
    UPDATE sessions s
    SET state = n.state, ended_at = n.ended_at, ended_version = n.ended_version, end_cause = n.end_cause,
        last_activity_at = GREATEST(s.last_activity_at, n.last_activity_at), idle_since = n.idle_since,
        missed_rounds = n.missed_rounds, warned_at = n.warned_at, warned_round_id = n.warned_round_id,
        cave_short_since = n.cave_short_since, next_step_at = n.next_step_at
    FROM unnest(
        CAST(:session_no AS bigint[]), CAST(:state AS smallint[]), CAST(:ended_at AS timestamptz[]),
        CAST(:ended_version AS bigint[]), CAST(:end_cause AS smallint[]), CAST(:last_activity_at AS timestamptz[]),
        CAST(:idle_since AS timestamptz[]), CAST(:missed_rounds AS integer[]), CAST(:warned_at AS timestamptz[]),
        CAST(:warned_round_id AS text[]), CAST(:cave_short_since AS timestamptz[]),
        CAST(:next_step_at AS timestamptz[])
    ) AS n(session_no, state, ended_at, ended_version, end_cause, last_activity_at, idle_since, missed_rounds,
           warned_at, warned_round_id, cave_short_since, next_step_at)
    WHERE s.session_no = n.session_no AND s.state < 5
    """
)
_FIND = text(
    """
    SELECT s.session_no, s.player_id, t.table_id, t.game
    FROM sessions s JOIN tables t USING (table_no) WHERE s.session_id = CAST(:session_id AS uuid)
    """
)
_SAVED = (
    "ended_at",
    "ended_version",
    "last_activity_at",
    "idle_since",
    "missed_rounds",
    "warned_at",
    "warned_round_id",
    "cave_short_since",
    "next_step_at",
)
_INSERT = text(
    """
    INSERT INTO sessions (
        player_id, account_no, table_no, state, device_kind, device_agent, device_address, device_fingerprint,
        started_at, started_version, started_cave_version, last_activity_at, idle_since)
    SELECT a.player_id, a.account_no, CAST(:table_no AS bigint), 1, :kind, :agent, :address, :fingerprint,
           :now, a.version,
           COALESCE((SELECT cave.version FROM accounts cave
                     WHERE cave.kind = 4 AND cave.owner_no = a.account_no AND cave.table_no = :table_no), 0),
           :now, :now
    FROM accounts a WHERE a.account_no = :account_no
    RETURNING session_no
    """
)
# A session never changes its table, so it may be read before the table is locked.
_LOCK_TABLES_OF = text(
    f"""
    SELECT table_no, {POLICY_COLUMNS} FROM tables
    WHERE table_no IN (SELECT s.table_no FROM sessions s WHERE s.session_no = ANY(CAST(:session_nos AS bigint[])))
    ORDER BY table_no FOR NO KEY UPDATE
    """
)
_LOCK_TABLE = text(
    f"""
    SELECT table_no, table_id, game, regulation, mode, play, epoch, bank_no, rules_version,
           {POLICY_COLUMNS}
    FROM tables WHERE table_id = :table_id FOR NO KEY UPDATE
    """
)
_TABLE_NO = text("SELECT table_no FROM tables WHERE table_id = :table_id")
_RUNNING_AT_TABLE = text(
    "SELECT session_id::text FROM sessions WHERE player_id = :player_id AND table_no = :table_no AND state < 5"
)
_LATEST = text(
    "SELECT started_at, ended_at FROM sessions WHERE player_id = :player_id ORDER BY session_no DESC LIMIT 1"
)
_RECORD_ACTIVITY = text(
    """
    UPDATE sessions SET last_activity_at = GREATEST(last_activity_at, :now)
    WHERE session_no = :session_no AND state < 5 RETURNING 1
    """
)
_LAST_BETS = text(
    """
    SELECT s.session_no, bet.placed_at
    FROM sessions s
    CROSS JOIN LATERAL (
        SELECT max(k.placed_at) AS placed_at
        FROM rounds r
        JOIN stakes k ON k.round_no = r.round_no AND k.account_no = s.account_no AND k.session_no = s.session_no
        WHERE r.table_no = s.table_no AND r.state = 1
    ) AS bet
    WHERE s.session_no = ANY(CAST(:session_nos AS bigint[])) AND s.state < 5 AND bet.placed_at IS NOT NULL
    """
)
_RUNNING_OF_PLAYER = text(
    "SELECT session_no FROM sessions WHERE player_id = :player_id AND state < 5 ORDER BY session_no"
)
_AT_TABLE = text(
    """
    SELECT session_no FROM sessions
    WHERE table_no = :table_no AND state < 5 AND state = ANY(CAST(:states AS smallint[])) ORDER BY session_no
    """
)
_AT_TABLES_OF = text(
    """
    SELECT s.session_no FROM sessions s JOIN tables t ON t.table_no = s.table_no
    WHERE (t.table_no = :table_no OR t.configured_table_id = :table_id)
      AND s.state < 5 AND s.state = ANY(CAST(:states AS smallint[])) ORDER BY s.session_no
    """
)
_RUNNING_OF_ACCOUNTS = text(
    """
    SELECT s.session_no, s.account_no, s.table_no
    FROM unnest(CAST(:account_nos AS bigint[]), CAST(:table_nos AS bigint[])) AS wanted(account_no, table_no)
    JOIN sessions s ON s.table_no = wanted.table_no AND s.account_no = wanted.account_no AND s.state < 5
    """
)
_IN_PLAY = text(
    """
    SELECT s.session_no, a.version,
           -- without locked money a large round need not be read
           a.locked_cents > 0 AND EXISTS (
               SELECT 1 FROM rounds r JOIN stakes k USING (round_no)
               WHERE r.table_no = s.table_no AND r.state = 1 AND k.account_no = s.account_no AND k.state = 1
           ) AS has_stake,
           EXISTS (
               SELECT 1 FROM accounts cave
               WHERE cave.kind = 4 AND cave.owner_no = s.account_no AND cave.table_no = s.table_no
                 AND cave.free_cents + cave.locked_cents > 0
           ) AS has_cave
    FROM sessions s JOIN accounts a USING (account_no)
    WHERE s.session_no = ANY(CAST(:session_nos AS bigint[]))
    """
)


@dataclass(frozen=True, slots=True)
class InPlay:
    """The money that a session has at its table, and its account's version."""

    version: int
    has_stake: bool
    """An open stake in an open round."""
    has_cave: bool
    """A cave that is not empty."""

    @property
    def anything(self) -> bool:
        return self.has_stake or self.has_cave


class Period(NamedTuple):
    """When a session started and ended; None for what has not happened."""

    started_at: datetime | None
    ended_at: datetime | None


class SessionOwner(NamedTuple):
    """What a session belongs to, which never changes."""

    no: int
    player_id: str
    table_id: str
    game: str


async def find(connection: AsyncConnection, session_id: str) -> SessionOwner:
    """Returns a session's number, player, table and game; refuses an id that no session has."""
    if ids.is_wallet_id(session_id):
        row = (await connection.execute(_FIND, {"session_id": session_id})).one_or_none()
        if row is not None:
            return SessionOwner(*row)
    raise refusals.session_unknown(session_id)


async def running_nos_of_player(connection: AsyncConnection, player_id: str) -> list[int]:
    """Returns the numbers of a player's sessions that have not ended."""
    return list((await connection.execute(_RUNNING_OF_PLAYER, {"player_id": player_id})).scalars())


async def running_nos_of_accounts(
    connection: AsyncConnection, seats: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], int]:
    """Returns the running session of each account at each table, at most one, by account and table."""
    account_nos, table_nos = zip(*seats, strict=True)
    rows = await connection.execute(
        _RUNNING_OF_ACCOUNTS, {"account_nos": list(account_nos), "table_nos": list(table_nos)}
    )
    return {(row.account_no, row.table_no): row.session_no for row in rows}


async def find_running(connection: AsyncConnection, player_id: str, table_no: int) -> str | None:
    """Returns the id of the player's session at a table that has not ended."""
    wanted = {"player_id": player_id, "table_no": table_no}
    session_id: str | None = (await connection.execute(_RUNNING_AT_TABLE, wanted)).scalar_one_or_none()
    return session_id


async def latest_period(connection: AsyncConnection, player_id: str) -> Period:
    """Returns when the player's latest session started and ended."""
    row = (await connection.execute(_LATEST, {"player_id": player_id})).one_or_none()
    return Period(None, None) if row is None else Period(row.started_at, row.ended_at)


async def record_activity(connection: AsyncConnection, session_no: int, now: datetime) -> bool:
    """Records the player's activity; returns False if the session has ended.

    Needs no lock on the table: this time decides nothing.
    """
    recorded = await connection.execute(_RECORD_ACTIVITY, {"session_no": session_no, "now": now})
    return recorded.one_or_none() is not None


async def count_open_bets(connection: AsyncConnection, sessions: Sequence[Session], ahead: timedelta) -> None:
    """Counts bets in open rounds as activity, in sessions that are read to be shown.

    A stake changes no session, so that stakes of many players are written together; the end of its round does. `ahead`
    is how far the session clock is ahead of the ledger's.
    """
    running = {session.no: session for session in sessions if session.state is not SessionState.ENDED}
    if not running:
        return
    for row in await connection.execute(_LAST_BETS, {"session_nos": list(running)}):
        session = running[row.session_no]
        session.last_activity_at = max(session.last_activity_at, row.placed_at + ahead)


async def at_table(connection: AsyncConnection, table_no: int, states: Iterable[SessionState]) -> list[Session]:
    """Returns the sessions at a table that are in one of these states."""
    wanted = {"table_no": table_no, "states": [state.value for state in states]}
    return await load(connection, list((await connection.execute(_AT_TABLE, wanted)).scalars()))


async def at_tables_of(connection: AsyncConnection, table: Table, states: Iterable[SessionState]) -> list[Session]:
    """Returns the sessions in these states at a table, and at players' own tables that are made from it."""
    wanted = {"table_no": table.no, "table_id": table.table_id, "states": [state.value for state in states]}
    return await load(connection, list((await connection.execute(_AT_TABLES_OF, wanted)).scalars()))


async def lock_table(connection: AsyncConnection, table_id: str) -> Table | None:
    """Locks a table, so that its sessions may be read and changed; returns None if there is no such table."""
    row = (await connection.execute(_LOCK_TABLE, {"table_id": table_id})).one_or_none()
    if row is None:
        return None
    return Table(
        no=row.table_no,
        table_id=row.table_id,
        game=row.game,
        regulation=row.regulation,
        mode=Mode(row.mode),
        play=Play(row.play),
        epoch=row.epoch,
        bank_no=row.bank_no,
        policy=policy_from_row(row),
        rules_version=row.rules_version,
    )


async def lock_tables_of(connection: AsyncConnection, session_nos: Sequence[int]) -> dict[int, InactivityPolicy]:
    """Locks the tables of sessions, so that these may be read and changed; returns their policies by table number."""
    rows = await connection.execute(_LOCK_TABLES_OF, {"session_nos": list(session_nos)})
    return {row.table_no: policy_from_row(row) for row in rows}


async def load(connection: AsyncConnection, session_nos: Sequence[int]) -> list[Session]:
    """Reads sessions by number, in the order of their numbers."""
    if not session_nos:
        return []
    rows = await connection.execute(_LOAD, {"session_nos": list(session_nos)})
    return [_session(row) for row in rows]


async def page(
    connection: AsyncConnection, player_id: str, *, running_only: bool, before_no: int | None, size: int
) -> list[Session]:
    """Lists sessions of a player, newest first."""
    wanted = {"player_id": player_id, "running_only": running_only, "before_no": before_no, "size": size}
    return [_session(row) for row in await connection.execute(_PAGE, wanted)]


async def _table_no(connection: AsyncConnection, table_id: str) -> int:
    table_no: int | None = (await connection.execute(_TABLE_NO, {"table_id": table_id})).scalar_one_or_none()
    if table_no is None:
        raise refusals.table_unknown(table_id)
    return table_no


async def page_at_table(
    connection: AsyncConnection, table_id: str, *, after_no: int | None, size: int
) -> list[Session]:
    """Lists sessions at a table that have not ended, in the order of their numbers.

    A session gets its number under its table's lock, so numbers follow the order of start, and no session appears later
    at a place that a reader has passed.
    """
    table_no = await _table_no(connection, table_id)
    wanted = {"table_no": table_no, "after_no": after_no, "size": size}
    return [_session(row) for row in await connection.execute(_PAGE_AT_TABLE, wanted)]


class CaveAtTable(NamedTuple):
    """What the player of a session has in the cave at its table."""

    session_no: int
    session_id: str
    account_id: str
    cents: int


async def caves_at_table(
    connection: AsyncConnection, table_id: str, *, after_no: int | None, size: int
) -> list[CaveAtTable]:
    """Lists the caves at a table that are not empty, in the order of their sessions, which have not ended."""
    table_no = await _table_no(connection, table_id)
    wanted = {"table_no": table_no, "after_no": after_no, "size": size}
    return [CaveAtTable(*row) for row in await connection.execute(_CAVES_AT_TABLE, wanted)]


async def page_at_tables(
    connection: AsyncConnection, table_id: str, *, after_no: int | None, size: int
) -> list[Session]:
    """Lists the same of a table and of the individual tables made from it.

    A session that starts meanwhile may be missed, for these tables have no lock in common; no other is.
    """
    wanted = {"table_id": table_id, "after_no": after_no, "size": size}
    return [_session(row) for row in await connection.execute(_PAGE_AT_TABLES, wanted)]


async def save(connection: AsyncConnection, sessions: Sequence[Session]) -> None:
    """Saves the columns of sessions that may change."""
    if not sessions:
        return
    columns: dict[str, list[Any]] = {name: [getattr(s, name) for s in sessions] for name in _SAVED}
    columns["session_no"] = [session.no for session in sessions]
    columns["state"] = [session.state.value for session in sessions]
    columns["end_cause"] = [session.end_cause.value if session.end_cause else None for session in sessions]
    await connection.execute(_SAVE, columns)


async def insert(connection: AsyncConnection, account_no: int, table_no: int, device: Device, now: datetime) -> Session:
    """Adds a session. The account's later entries may belong to it."""
    result = await connection.execute(
        _INSERT,
        {
            "account_no": account_no,
            "table_no": table_no,
            "now": now,
            "kind": device.kind,
            "agent": device.agent,
            "address": device.address,
            "fingerprint": device.fingerprint,
        },
    )
    (session,) = await load(connection, [result.scalar_one()])
    return session


async def in_play(connection: AsyncConnection, session_nos: Sequence[int]) -> dict[int, InPlay]:
    """Returns what each session has in play; call it under the table's lock."""
    rows = await connection.execute(_IN_PLAY, {"session_nos": list(session_nos)})
    return {row.session_no: InPlay(row.version, row.has_stake, row.has_cave) for row in rows}


def _session(row: Row[Any]) -> Session:
    return Session(
        no=row.session_no,
        session_id=row.session_id,
        player_id=row.player_id,
        account_no=row.account_no,
        account_id=row.account_id,
        table_no=row.table_no,
        table_id=row.table_id,
        game=row.game,
        regulation=row.regulation,
        mode=Mode(row.mode),
        play=Play(row.play),
        state=SessionState(row.state),
        device=Device(row.device_kind, row.device_agent, row.device_address, row.device_fingerprint),
        started_at=row.started_at,
        started_version=row.started_version,
        ended_at=row.ended_at,
        ended_version=row.ended_version,
        end_cause=EndCause(row.end_cause) if row.end_cause else None,
        last_activity_at=row.last_activity_at,
        idle_since=row.idle_since,
        missed_rounds=row.missed_rounds,
        warned_at=row.warned_at,
        warned_round_id=row.warned_round_id,
        cave_short_since=row.cave_short_since,
        next_step_at=row.next_step_at,
    )
