"""Looks up recorded rounds: those of a table, those of a player, and everything about one.

Any replica answers. A stake is in the journal from the moment its round is drawn; until then it is only at the table
and in the ledger, so a round that still takes bets shows none here (`open_rounds.py` does).
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.batching import BatchLimits, first_batch
from services.kit.paging import Page, PageRequest
from services.kit.table.journal.decisions import read_moves, read_paid
from services.kit.table.journal.entries import (
    CancelledStake,
    Drawn,
    DrawTrigger,
    Ended,
    Ending,
    JournalStake,
    Moved,
    Opened,
    Paid,
    PlayerResult,
)
from services.kit.table.journal.rows import cancelled_stakes
from services.kit.table.journal.rows.entry_rows import read_drawn, read_opened
from services.kit.table.journal.rows.statements import JOIN_SHOE, OPENED_AND_DRAWN_COLUMNS, SELECT_OPENED_AND_DRAWN
from services.kit.table.journal.sealing import EntropyKeys

_SELECT_ROUND = """
SELECT rounds.round_no, rounds.round_id, rounds.table_id, rounds.placement_id, rounds.number,
       rounds.configuration_version, rounds.opened_at, rounds.closes_at, COALESCE(draws.closed_at, endings.closed_at),
       draws.drawn_at, COALESCE(endings.outcome, draws.outcome),
       draws.draw_trigger, endings.ending, endings.ended_at, endings.void_reason"""
_FROM_ROUNDS = """
FROM rounds
LEFT JOIN draws ON draws.round_no = rounds.round_no
LEFT JOIN endings ON endings.round_no = rounds.round_no
"""
_OF_TABLE = text(
    _SELECT_ROUND
    + _FROM_ROUNDS
    + "WHERE rounds.table_id = :table_id AND rounds.number < :before ORDER BY rounds.number DESC LIMIT :rows"
)
_OF_PLAYER = text("""
SELECT DISTINCT round_no FROM stakes
WHERE player_id = :player_id AND round_no < :before ORDER BY round_no DESC LIMIT :rows
""")
# By the results, which name the table, and the few rounds that have no results yet.
_OF_PLAYER_AT_TABLE = text("""
(
    SELECT round_no FROM player_results
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
_ROUNDS = text(_SELECT_ROUND + _FROM_ROUNDS + "WHERE rounds.round_no = ANY(:round_nos) ORDER BY rounds.round_no DESC")
_UNDRAWN = text(
    "SELECT rounds.round_no"
    + _FROM_ROUNDS
    + "WHERE rounds.round_id = ANY(:round_ids) AND draws.round_no IS NULL AND endings.round_no IS NULL"
)
_STAKES = text("""
SELECT stakes.round_no, COALESCE(payouts.payout_cents, paid.payout_cents), stakes.stake_id, stakes.request_id,
       stakes.player_id, stakes.account_id, stakes.session_id, stakes.seat, stakes.amount_cents, stakes.bets,
       stakes.placed_at
FROM stakes
LEFT JOIN payouts ON payouts.round_no = stakes.round_no AND payouts.stake_id = stakes.stake_id
LEFT JOIN paid ON paid.round_no = stakes.round_no AND paid.stake_id = stakes.stake_id
WHERE stakes.round_no = ANY(:round_nos) AND (CAST(:player_id AS text) IS NULL OR stakes.player_id = :player_id)
ORDER BY stakes.round_no, stakes.position
""")
_PLAYER_RESULTS = text("""
SELECT round_no, player_id, session_id, staked_cents, payout_cents, balance_before_cents, balance_after_cents
FROM player_results
WHERE round_no = ANY(:round_nos) AND (CAST(:player_id AS text) IS NULL OR player_id = :player_id)
ORDER BY round_no, session_id
""")
_SELECT_REPLAY = (
    SELECT_OPENED_AND_DRAWN
    + """,
       endings.ending, endings.ended_at, endings.void_reason, endings.cancelled_stakes, endings.closed_at,
       endings.outcome"""
    + _FROM_ROUNDS
    + JOIN_SHOE
)
_REPLAY = text(_SELECT_REPLAY + "WHERE rounds.round_id = :round_id")
_REPLAY_BEFORE = text(
    _SELECT_REPLAY
    + "WHERE rounds.table_id = :table_id AND rounds.number < :number AND draws.round_no IS NOT NULL"
    + " ORDER BY rounds.number DESC LIMIT 1"
)
_OTHER_SHOE_SINCE = text("""
SELECT EXISTS (
    SELECT FROM rounds JOIN draws ON draws.round_no = rounds.round_no
    WHERE rounds.table_id = :table_id AND rounds.number > :number AND draws.shoe_round_id <> :shoe_round_id
)
""")
_CANCELLED_STAKES = text("""
SELECT round_no, cancelled_stakes FROM draws WHERE round_no = ANY(:round_nos) AND cancelled_stakes <> ''
UNION ALL
SELECT round_no, cancelled_stakes FROM endings WHERE round_no = ANY(:round_nos) AND cancelled_stakes <> ''
""")
# Their length, which the database knows without reading them.
_CANCELLED_STAKES_BYTES = text("""
SELECT round_no, octet_length(cancelled_stakes) FROM draws WHERE round_no = ANY(:round_nos) AND cancelled_stakes <> ''
UNION ALL
SELECT round_no, octet_length(cancelled_stakes) FROM endings WHERE round_no = ANY(:round_nos) AND cancelled_stakes <> ''
""")
_PAYOUTS = text("SELECT stake_id, payout_cents FROM payouts WHERE round_no = :round_no ORDER BY stake_id")

# The cancelled stakes of all players that one page may read, and the size of its answer. A page ends before either
# limit, but never without a round (G11); every round alone is below both.
READ_BYTES_LIMIT = 16 * 1024 * 1024
ANSWER_BYTES_LIMIT = 2 * 1024 * 1024
# About the size of a round and of a stake in an answer, without bets, and how many times their own size bets take: they
# come once more with their results. A decision is counted without its message.
_ROUND_BYTES, _STAKE_BYTES, _BETS_FACTOR, _MOVE_BYTES = 512, 256, 4, 256


@dataclass(frozen=True, slots=True)
class RecordedRound:
    """A round without its players; without an ending it is in progress."""

    round_id: str
    table_id: str
    placement_id: str
    """The configured table whose specific rules it was played by."""
    number: int
    configuration_version: int
    opened_at: datetime
    closes_at: datetime | None
    closed_at: datetime | None
    """None while it takes bets, and if its owner ended before the draw."""
    drawn_at: datetime | None
    outcome: bytes | None
    draw_trigger: DrawTrigger
    ending: Ending | None
    ended_at: datetime | None
    void_reason: str


@dataclass(frozen=True, slots=True)
class RecordedStake:
    """A stake and the cents that came back, which are None until it is paid: mostly, when the round has ended."""

    stake: JournalStake
    payout_cents: int | None


@dataclass(frozen=True, slots=True)
class PlayerRound:
    """A round with the stakes and the result of one player (`804/2015:24`)."""

    round: RecordedRound
    stakes: list[RecordedStake]
    """The player's, in the order of placing."""
    result: PlayerResult | None
    """None until the round has ended."""
    cancelled_stakes: list[CancelledStake]
    """The player's, in the same order; recorded when the round is drawn or void."""
    moves: Sequence[Moved] = ()
    """The decisions of all players, which everybody at the table has seen."""

    @property
    def answer_bytes(self) -> int:
        """Its size in an answer, estimated and never too low."""
        stakes = [*(recorded.stake for recorded in self.stakes), *(each.stake for each in self.cancelled_stakes)]
        moves = sum(_MOVE_BYTES + len(move.move) for move in self.moves)
        return _ROUND_BYTES + moves + sum(_STAKE_BYTES + _BETS_FACTOR * len(stake.bets) for stake in stakes)


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """Everything that the journal holds of a round (G10)."""

    opened: Opened
    drawn: Drawn | None
    ended: Ended | None
    moves: Sequence[Moved] = ()
    paid: Sequence[Paid] = ()
    before: RoundRecord | None = None
    """The round that was dealt before at its table, where this one goes on with a shoe."""
    shoe_goes_on: bool = False
    """Whether cards of its shoe may still come: the table has not been dealt from another one since."""

    @property
    def stakes(self) -> Sequence[JournalStake]:
        """The stakes that the outcome decided, those of decisions last; of a void round all that were returned."""
        dealt = () if self.drawn is None else self.drawn.stakes
        decided = [move.stake for move in self.moves if move.stake is not None]
        returned = () if self.ended is None else self.ended.returned_stakes
        return [*dealt, *decided, *returned] if decided or returned else dealt

    @property
    def hides_cards(self) -> bool:
        """Whether the entropy decides cards that nobody may see yet (G7)."""
        drawn = self.drawn
        return self.ended is None and drawn is not None and (drawn.hides_cards or drawn.outcome is None)

    @property
    def seals_entropy(self) -> bool:
        """Whether nobody may see the entropy yet: it decides cards of this round, or of later ones of its shoe (G7)."""
        return self.hides_cards or self.shoe_goes_on

    @property
    def payouts(self) -> dict[str, int]:
        """The cents that came back, by stake id: before the end, those that were paid early."""
        early = {stake_id: cents for paid in self.paid for stake_id, cents in paid.payouts}
        return early | ({} if self.ended is None else dict(self.ended.payouts))

    def unsealed(self, keys: EntropyKeys) -> RoundRecord:
        """Returns the record with entropy that can be read, once the round has ended; raises `CannotUnseal`."""
        if self.drawn is None or self.ended is None:
            return self
        return replace(self, drawn=keys.unseal(self.drawn))

    @property
    def outcome(self) -> bytes | None:
        """The outcome: with the ending, of a round in which players decided."""
        if self.ended is not None and self.ended.outcome is not None:
            return self.ended.outcome
        return None if self.drawn is None else self.drawn.outcome

    @property
    def cancelled_stakes(self) -> Sequence[CancelledStake]:
        """The stakes that were cancelled before bets closed."""
        entry = self.drawn or self.ended
        return () if entry is None else entry.cancelled_stakes

    @property
    def summary(self) -> RecordedRound:
        """The same round without its players."""
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
            self.outcome,
            DrawTrigger.UNKNOWN if drawn is None else drawn.draw_trigger,
            None if ended is None else ended.ending,
            None if ended is None else ended.ended_at,
            "" if ended is None else ended.void_reason,
        )


class RoundHistory:
    """Reads the journal of one game."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list_table_rounds(self, table_id: str, page: PageRequest) -> Page[RecordedRound]:
        """Returns a table's rounds, newest first."""
        values = {"table_id": table_id, "before": page.before, "rows": page.row_limit}
        async with self._engine.connect() as connection:
            rows = await connection.execute(_OF_TABLE, values)
            return page.page([(row.number, _read_round(row)) for row in rows])

    async def list_player_rounds(
        self, player_id: str, page: PageRequest, *, table_id: str | None = None, open_only: bool = False
    ) -> Page[PlayerRound]:
        """Returns the rounds in which a player took part, newest first.

        `open_only` selects those without an end for which the journal has a stake of the player.
        """
        values = {"player_id": player_id, "table_id": table_id, "before": page.before, "rows": page.row_limit}
        if open_only:
            statement = _INCOMPLETE
        elif table_id is not None:
            statement = _OF_PLAYER_AT_TABLE
        else:
            statement = _OF_PLAYER
            del values["table_id"]
        async with self._snapshot() as connection:
            round_nos = [row[0] for row in await connection.execute(statement, values)]
            readable = await _first_readable(connection, round_nos)
            rounds = await _read_player_rounds(connection, readable, player_id)
        count = first_batch(rounds, lambda each: each[1].answer_bytes, _bytes_limit(ANSWER_BYTES_LIMIT))
        return page.page(rounds[:count], more=count < len(round_nos))

    async def list_undrawn_rounds(self, round_ids: list[str]) -> list[RecordedRound]:
        """Returns those of these rounds that were opened and neither drawn nor ended, newest first."""
        async with self._snapshot() as connection:
            round_nos = [row[0] for row in await connection.execute(_UNDRAWN, {"round_ids": round_ids})]
            return [_read_round(row) for row in await connection.execute(_ROUNDS, {"round_nos": round_nos})]

    async def round_for_replay(self, round_id: str) -> RoundRecord | None:
        """Returns everything about a round; None if there is no such round."""
        async with self._snapshot() as connection:
            row = (await connection.execute(_REPLAY, {"round_id": round_id})).one_or_none()
            if row is None:
                return None
            record = await _read_record(connection, row)
            opened, shoe = record.opened, None if record.drawn is None else record.drawn.shoe
            if shoe is None:
                return record
            since = {"table_id": opened.table_id, "number": opened.number, "shoe_round_id": shoe.round_id}
            record = replace(record, shoe_goes_on=not (await connection.execute(_OTHER_SHOE_SINCE, since)).scalar_one())
            if shoe.round_id == round_id:
                return record
            row = (
                await connection.execute(_REPLAY_BEFORE, {"table_id": opened.table_id, "number": opened.number})
            ).one()
            return replace(record, before=await _read_record(connection, row))

    @asynccontextmanager
    async def _snapshot(self) -> AsyncIterator[AsyncConnection]:
        """Lets several statements see the same moment: no round is read before its end and its stakes after it."""
        async with self._engine.connect() as connection:
            yield await connection.execution_options(isolation_level="REPEATABLE READ")


async def _read_record(connection: AsyncConnection, row: Sequence[Any]) -> RoundRecord:
    """Reads everything about the round of a row of `_REPLAY`."""
    whole = {"round_nos": [row[0]], "player_id": None}
    stakes = [JournalStake(*stake[2:]) for stake in await connection.execute(_STAKES, whole)]
    results = [PlayerResult(*result[1:]) for result in await connection.execute(_PLAYER_RESULTS, whole)]
    payouts = {paid[0]: paid[1] for paid in await connection.execute(_PAYOUTS, {"round_no": row[0]})}
    moves = (await read_moves(connection, {row[0]: row[1]}))[row[0]]
    paid = (await read_paid(connection, {row[0]: row[1]}))[row[0]]
    drawn, known = read_drawn(row, stakes), {move.stake for move in moves}
    # In their order, those of the draw first.
    other = stakes if drawn is None else [each for each in stakes[len(drawn.stakes) :] if each not in known]
    return RoundRecord(read_opened(row), drawn, _read_ended(row, stakes, other, results, payouts), moves, paid)


async def _first_readable(connection: AsyncConnection, round_nos: list[int]) -> list[int]:
    """Returns as many of the first rounds as may be read together."""
    sizes = {row[0]: row[1] for row in await connection.execute(_CANCELLED_STAKES_BYTES, {"round_nos": round_nos})}
    return round_nos[: first_batch(round_nos, lambda number: sizes.get(number, 0), _bytes_limit(READ_BYTES_LIMIT))]


def _bytes_limit(limit: int) -> BatchLimits:
    return BatchLimits(items=sys.maxsize, weight=limit)


async def _read_player_rounds(
    connection: AsyncConnection, round_nos: list[int], player_id: str
) -> list[tuple[int, PlayerRound]]:
    of_player = {"round_nos": round_nos, "player_id": player_id}
    stakes: dict[int, list[RecordedStake]] = {round_no: [] for round_no in round_nos}
    for row in await connection.execute(_STAKES, of_player):
        stakes[row[0]].append(RecordedStake(JournalStake(*row[2:]), row[1]))
    results = {row[0]: PlayerResult(*row[1:]) for row in await connection.execute(_PLAYER_RESULTS, of_player)}
    cancelled: dict[int, list[CancelledStake]] = {}
    for row in await connection.execute(_CANCELLED_STAKES, {"round_nos": round_nos}):
        cancelled[row[0]] = [each for each in cancelled_stakes.decode(row[1]) if each.stake.player_id == player_id]
    rounds = [(row[0], _read_round(row)) for row in await connection.execute(_ROUNDS, {"round_nos": round_nos})]
    moves = await read_moves(connection, {round_no: round_.round_id for round_no, round_ in rounds})
    return [
        (
            round_no,
            PlayerRound(round_, stakes[round_no], results.get(round_no), cancelled.get(round_no, []), moves[round_no]),
        )
        for round_no, round_ in rounds
    ]


def _read_round(row: Sequence[Any]) -> RecordedRound:
    draw_trigger, ending, ended_at, void_reason = row[11:]
    fields = (
        *row[1:11],
        DrawTrigger(draw_trigger or 0),
        None if ending is None else Ending(ending),
        ended_at,
        void_reason or "",
    )
    return RecordedRound(*fields)


def _read_ended(
    row: Sequence[Any],
    stakes: Sequence[JournalStake],
    returned: Sequence[JournalStake],
    results: Sequence[PlayerResult],
    payouts: dict[str, int],
) -> Ended | None:
    """Reads the ending of a row of `_REPLAY`; `returned` are the stakes that no other entry holds."""
    ending, ended_at, void_reason, cancelled_of_void, void_closed_at, outcome = row[OPENED_AND_DRAWN_COLUMNS:]
    if ending is None:
        return None
    # In the order of placing; payouts for stakes that the journal does not have come last.
    known = [stake.stake_id for stake in stakes if stake.stake_id in payouts]
    return Ended(
        row[1],
        Ending(ending),
        ended_at,
        void_reason,
        [(stake_id, payouts[stake_id]) for stake_id in dict.fromkeys([*known, *payouts])],
        results,
        returned or (),
        cancelled_stakes.decode(cancelled_of_void),
        void_closed_at,
        outcome,
    )
