"""What the journal has recorded, looked up: rounds of a table, rounds of a player, and one round with everything.

Any replica answers. A stake is in the journal from the moment its round is drawn; until then it is only at the table
and in the ledger, so a round that still takes bets shows none here (`open_rounds` does).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.paging import Page, PageRequest
from services.kit.table.journal.cancelled_stakes import decode as read_taken_back
from services.kit.table.journal.entries import (
    CancelledStake,
    Drawn,
    DrawTrigger,
    Ended,
    Ending,
    JournalStake,
    Opened,
    PlayerResult,
)

_OF_TABLE = text("""
SELECT rounds.number, rounds.round_id, rounds.table_id, rounds.placement_id, rounds.number,
       rounds.configuration_version, rounds.opened_at, rounds.closes_at, COALESCE(draws.closed_at, endings.closed_at),
       draws.drawn_at, draws.outcome,
       draws.launch, endings.ending, endings.ended_at, endings.void_reason
FROM rounds
LEFT JOIN draws ON draws.round_no = rounds.round_no
LEFT JOIN endings ON endings.round_no = rounds.round_no
WHERE rounds.table_id = :table_id AND rounds.number < :before ORDER BY rounds.number DESC LIMIT :rows
""")
_OF_PLAYER = text("""
SELECT DISTINCT round_no FROM stakes
WHERE player_id = :player_id AND round_no < :before ORDER BY round_no DESC LIMIT :rows
""")
# By the shares, which know the table; and the few rounds that have no shares yet.
_OF_PLAYER_AT_TABLE = text("""
(
    SELECT round_no FROM shares
    WHERE player_id = :player_id AND table_id = :table_id AND round_no < :before ORDER BY round_no DESC LIMIT :rows
) UNION (
    SELECT open_rounds.round_no FROM open_rounds JOIN rounds ON rounds.round_no = open_rounds.round_no
    WHERE rounds.table_id = :table_id AND open_rounds.round_no < :before AND EXISTS (
        SELECT FROM stakes WHERE stakes.player_id = :player_id AND stakes.round_no = open_rounds.round_no)
) ORDER BY round_no DESC LIMIT :rows
""")
_INCOMPLETE = text("""
SELECT open_rounds.round_no FROM open_rounds JOIN rounds ON rounds.round_no = open_rounds.round_no
WHERE open_rounds.round_no < :before AND (CAST(:table_id AS text) IS NULL OR rounds.table_id = :table_id) AND EXISTS (
    SELECT FROM stakes WHERE stakes.player_id = :player_id AND stakes.round_no = open_rounds.round_no)
ORDER BY open_rounds.round_no DESC LIMIT :rows
""")
_ROUNDS = text("""
SELECT rounds.round_no, rounds.round_id, rounds.table_id, rounds.placement_id, rounds.number,
       rounds.configuration_version, rounds.opened_at, rounds.closes_at, COALESCE(draws.closed_at, endings.closed_at),
       draws.drawn_at, draws.outcome,
       draws.launch, endings.ending, endings.ended_at, endings.void_reason
FROM rounds
LEFT JOIN draws ON draws.round_no = rounds.round_no
LEFT JOIN endings ON endings.round_no = rounds.round_no
WHERE rounds.round_no = ANY(:round_nos) ORDER BY rounds.round_no DESC
""")
_UNDRAWN = text("""
SELECT rounds.round_no
FROM rounds
LEFT JOIN draws ON draws.round_no = rounds.round_no
LEFT JOIN endings ON endings.round_no = rounds.round_no
WHERE rounds.round_id = ANY(:round_ids) AND draws.round_no IS NULL AND endings.round_no IS NULL
""")
_STAKES = text("""
SELECT stakes.round_no, payouts.payout_cents, stakes.stake_id, stakes.request_id, stakes.player_id, stakes.account_id,
       stakes.session_id, stakes.seat, stakes.amount_cents, stakes.bets, stakes.placed_at
FROM stakes
LEFT JOIN payouts ON payouts.round_no = stakes.round_no AND payouts.stake_id = stakes.stake_id
WHERE stakes.round_no = ANY(:round_nos) AND (CAST(:player_id AS text) IS NULL OR stakes.player_id = :player_id)
ORDER BY stakes.round_no, stakes.position
""")
_SHARES = text("""
SELECT round_no, player_id, session_id, staked_cents, payout_cents, balance_before_cents, balance_after_cents
FROM shares
WHERE round_no = ANY(:round_nos) AND (CAST(:player_id AS text) IS NULL OR player_id = :player_id)
ORDER BY round_no, session_id
""")
_REPLAY = text("""
SELECT rounds.round_no, rounds.round_id, rounds.table_id, rounds.placement_id, rounds.number,
       rounds.configuration_version, rounds.opened_at, rounds.closes_at, draws.closed_at, draws.drawn_at,
       draws.entropy, draws.outcome,
       draws.session_ids, draws.launch, draws.taken_back,
       endings.ending, endings.ended_at, endings.void_reason, endings.taken_back, endings.closed_at
FROM rounds
LEFT JOIN draws ON draws.round_no = rounds.round_no
LEFT JOIN endings ON endings.round_no = rounds.round_no
WHERE rounds.round_id = :round_id
""")
_TAKEN_BACK = text("""
SELECT round_no, taken_back FROM draws WHERE round_no = ANY(:round_nos) AND taken_back <> ''
UNION ALL
SELECT round_no, taken_back FROM endings WHERE round_no = ANY(:round_nos) AND taken_back <> ''
""")
# How long they are is known without reading them.
_TAKEN_BACK_BYTES = text("""
SELECT round_no, octet_length(taken_back) FROM draws WHERE round_no = ANY(:round_nos) AND taken_back <> ''
UNION ALL
SELECT round_no, octet_length(taken_back) FROM endings WHERE round_no = ANY(:round_nos) AND taken_back <> ''
""")
_PAYOUTS = text("SELECT stake_id, payout_cents FROM payouts WHERE round_no = :round_no ORDER BY stake_id")


# What a page may read of all that was taken back in its rounds, by whomever, and what it may come to when it is told.
# It ends before, but never without a round (G11); one alone is below both.
READ_BYTES_LIMIT = 16 * 1024 * 1024
ANSWER_BYTES_LIMIT = 2 * 1024 * 1024
# About what a round and a stake come to beside their bets, and how often bets are told: once more with their results.
_ROUND_BYTES, _STAKE_BYTES, _BETS_TOLD = 512, 256, 4


@dataclass(frozen=True, slots=True)
class RecordedRound:
    """A round without its players. Without an ending it is in progress."""

    round_id: str
    table_id: str
    placement_id: str
    """Whose specific rules it was played by."""
    number: int
    configuration_version: int
    opened_at: datetime
    closes_at: datetime | None
    closed_at: datetime | None
    """None while it takes bets, and where its owner ended before the draw."""
    drawn_at: datetime | None
    outcome: bytes | None
    draw_trigger: DrawTrigger
    ending: Ending | None
    ended_at: datetime | None
    void_reason: str


@dataclass(frozen=True, slots=True)
class RecordedStake:
    """A stake and what came back; nothing is known of that until the round has ended."""

    stake: JournalStake
    payout_cents: int | None


@dataclass(frozen=True, slots=True)
class PlayerRound:
    """A round as one player lived it (`804/2015:24`)."""

    round: RecordedRound
    stakes: list[RecordedStake]
    """His, in the order of placing."""
    result: PlayerResult | None
    """What it meant to him, once it has ended."""
    cancelled_stakes: list[CancelledStake]
    """His, in that order; they are in the journal from the moment the round is drawn or void."""

    @property
    def answer_bytes(self) -> int:
        """About what it comes to in an answer, and no less."""
        stakes = [*(recorded.stake for recorded in self.stakes), *(taken.stake for taken in self.cancelled_stakes)]
        return _ROUND_BYTES + sum(_STAKE_BYTES + _BETS_TOLD * len(stake.bets) for stake in stakes)


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """All that the journal holds of a round (G10)."""

    opened: Opened
    drawn: Drawn | None
    ended: Ended | None

    @property
    def stakes(self) -> Sequence[JournalStake]:
        """Those that were drawn for, or those that went back without an outcome."""
        if self.drawn is not None:
            return self.drawn.stakes
        return () if self.ended is None else self.ended.returned_stakes

    @property
    def cancelled_stakes(self) -> Sequence[CancelledStake]:
        """Those that counted no more when bets were closed."""
        entry = self.drawn or self.ended
        return () if entry is None else entry.cancelled_stakes

    @property
    def summary(self) -> RecordedRound:
        """The same without its players."""
        opened, drawn, ended = self.opened, self.drawn, self.ended
        entry = drawn or ended
        return RecordedRound(
            opened.round_id,
            opened.table_id,
            opened.placement_id,
            opened.number,
            opened.configuration_version,
            opened.opened_at,
            opened.closes_at,
            None if entry is None else entry.closed_at,
            None if drawn is None else drawn.drawn_at,
            None if drawn is None else drawn.outcome,
            DrawTrigger.UNKNOWN if drawn is None else drawn.draw_trigger,
            None if ended is None else ended.ending,
            None if ended is None else ended.ended_at,
            "" if ended is None else ended.void_reason,
        )


class RoundHistory:
    """Reads of the journal."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list_table_rounds(self, table_id: str, page: PageRequest) -> Page[RecordedRound]:
        """Newest first."""
        values = {"table_id": table_id, "before": page.before, "rows": page.row_limit}
        async with self._engine.connect() as connection:
            rows = await connection.execute(_OF_TABLE, values)
            return page.page([(row[0], _round(row)) for row in rows])

    async def list_player_rounds(
        self, player_id: str, page: PageRequest, *, table_id: str | None = None, in_progress_only: bool = False
    ) -> Page[PlayerRound]:
        """Newest first. Incomplete are those without an end in which a stake of his is known."""
        values = {"player_id": player_id, "table_id": table_id, "before": page.before, "rows": page.row_limit}
        if in_progress_only:
            statement = _INCOMPLETE
        elif table_id is not None:
            statement = _OF_PLAYER_AT_TABLE
        else:
            statement = _OF_PLAYER
            del values["table_id"]
        async with self._snapshot() as connection:
            round_nos = [row[0] for row in await connection.execute(statement, values)]
            read = await _readable(connection, round_nos)
            lived = await _lived(connection, read, player_id)
        told = _first_of([lived_round.answer_bytes for _, lived_round in lived], ANSWER_BYTES_LIMIT)
        return page.page(lived[:told], more=told < len(round_nos))

    async def list_undrawn_rounds(self, round_ids: list[str]) -> list[RecordedRound]:
        """Those of these rounds that are opened, of which nothing is drawn and that have not ended; newest first."""
        async with self._snapshot() as connection:
            round_nos = [row[0] for row in await connection.execute(_UNDRAWN, {"round_ids": round_ids})]
            return [_round(row) for row in await connection.execute(_ROUNDS, {"round_nos": round_nos})]

    async def round_for_replay(self, round_id: str) -> RoundRecord | None:
        """Everything, None if there is no such round."""
        async with self._snapshot() as connection:
            row = (await connection.execute(_REPLAY, {"round_id": round_id})).one_or_none()
            if row is None:
                return None
            whole = {"round_nos": [row[0]], "player_id": None}
            stakes = [JournalStake(*stake[2:]) for stake in await connection.execute(_STAKES, whole)]
            shares = [PlayerResult(*share[1:]) for share in await connection.execute(_SHARES, whole)]
            paid = {paid[0]: paid[1] for paid in await connection.execute(_PAYOUTS, {"round_no": row[0]})}
        return _record(row, stakes, shares, paid)

    @asynccontextmanager
    async def _snapshot(self) -> AsyncIterator[AsyncConnection]:
        """Several statements see the same moment: a round and its stakes are never from before and after its end."""
        async with self._engine.connect() as connection:
            yield await connection.execution_options(isolation_level="REPEATABLE READ")


async def _readable(connection: AsyncConnection, round_nos: list[int]) -> list[int]:
    """The first of them, as many as may be read together."""
    taken_back = {row[0]: row[1] for row in await connection.execute(_TAKEN_BACK_BYTES, {"round_nos": round_nos})}
    return round_nos[: _first_of([taken_back.get(round_no, 0) for round_no in round_nos], READ_BYTES_LIMIT)]


def _first_of(sizes: list[int], limit: int) -> int:
    """How many of the first fit into a limit; one at least, if there is one."""
    total = 0
    for place, size in enumerate(sizes):
        total += size
        if place and total > limit:
            return place
    return len(sizes)


async def _lived(connection: AsyncConnection, round_nos: list[int], player_id: str) -> list[tuple[int, PlayerRound]]:
    his = {"round_nos": round_nos, "player_id": player_id}
    stakes: dict[int, list[RecordedStake]] = {round_no: [] for round_no in round_nos}
    for row in await connection.execute(_STAKES, his):
        stakes[row[0]].append(RecordedStake(JournalStake(*row[2:]), row[1]))
    shares = {row[0]: PlayerResult(*row[1:]) for row in await connection.execute(_SHARES, his)}
    taken_back: dict[int, list[CancelledStake]] = {}
    for row in await connection.execute(_TAKEN_BACK, {"round_nos": round_nos}):
        taken_back[row[0]] = [one for one in read_taken_back(row[1]) if one.stake.player_id == player_id]
    return [
        (row[0], PlayerRound(_round(row), stakes[row[0]], shares.get(row[0]), taken_back.get(row[0], [])))
        for row in await connection.execute(_ROUNDS, {"round_nos": round_nos})
    ]


def _round(row: Sequence[Any]) -> RecordedRound:
    launch, ending, ended_at, void_reason = row[11:]
    fields = (
        *row[1:11],
        DrawTrigger(launch or 0),
        None if ending is None else Ending(ending),
        ended_at,
        void_reason or "",
    )
    return RecordedRound(*fields)


def _record(
    row: Sequence[Any], stakes: list[JournalStake], shares: list[PlayerResult], paid: dict[str, int]
) -> RoundRecord:
    closed_at, drawn_at, entropy, outcome, session_ids, launch, taken_back = row[8:15]
    ending, ended_at, void_reason, taken_back_of_void, void_closed_at = row[15:]
    drawn = ended = None
    if closed_at is not None:
        drawn = Drawn(
            row[1],
            closed_at,
            drawn_at,
            entropy,
            outcome,
            stakes,
            session_ids,
            DrawTrigger(launch),
            read_taken_back(taken_back),
        )
    if ending is not None:
        # In the order of placing; whatever was paid for a stake that is not there comes last.
        known = [stake.stake_id for stake in stakes if stake.stake_id in paid]
        payouts = [(stake_id, paid[stake_id]) for stake_id in dict.fromkeys([*known, *paid])]
        returned = stakes if drawn is None else ()
        ended = Ended(
            row[1],
            Ending(ending),
            ended_at,
            void_reason,
            payouts,
            shares,
            returned,
            read_taken_back(taken_back_of_void),
            void_closed_at,
        )
    return RoundRecord(Opened(*row[1:8]), drawn, ended)
