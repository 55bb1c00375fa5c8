"""Reads the decisions of recorded rounds, and the payments before their end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.table.journal.entries import ActedBy, JournalStake, Moved, Paid

_MOVES = text("""
SELECT moves.round_no, moves.position, moves.seat, moves.move, moves.acted_by, moves.moved_at, moves.request_id,
       moves.command_digest,
       stakes.stake_id, stakes.request_id, stakes.player_id, stakes.account_id, stakes.session_id, stakes.seat,
       stakes.amount_cents, stakes.bets, stakes.placed_at
FROM moves
LEFT JOIN stakes ON stakes.stake_id = moves.stake_id AND moves.stake_id <> ''
WHERE moves.round_no = ANY(:round_nos) ORDER BY moves.round_no, moves.position
""")
_PAID = text("""
SELECT round_no, position, paid_at, stake_id, payout_cents
FROM paid WHERE round_no = ANY(:round_nos) ORDER BY round_no, position, paid_at, stake_id
""")


async def read_moves(connection: AsyncConnection, round_ids: Mapping[int, str]) -> dict[int, list[Moved]]:
    """Returns the decisions of rounds in their order, with their stakes, by the rounds' numbers, as `round_ids` are."""
    moves: dict[int, list[Moved]] = {round_no: [] for round_no in round_ids}
    if round_ids:
        for row in await connection.execute(_MOVES, {"round_nos": list(round_ids)}):
            moves[row[0]].append(_read_moved(round_ids[row[0]], row))
    return moves


def _read_moved(round_id: str, row: Sequence[Any]) -> Moved:
    position, seat, move, acted_by, moved_at, command_id, command_digest, *stake = row[1:]
    made = None if stake[0] is None else JournalStake(*stake)
    return Moved(round_id, position, seat, move, ActedBy(acted_by), moved_at, command_id, command_digest, made)


async def read_paid(connection: AsyncConnection, round_ids: Mapping[int, str]) -> dict[int, list[Paid]]:
    """Returns the payments before the end in their order, by the rounds' numbers."""
    found: dict[int, dict[tuple[int, datetime], list[tuple[str, int]]]] = {round_no: {} for round_no in round_ids}
    if round_ids:
        for round_no, position, paid_at, stake_id, cents in await connection.execute(
            _PAID, {"round_nos": list(round_ids)}
        ):
            found[round_no].setdefault((position, paid_at), []).append((stake_id, cents))
    return {
        round_no: [
            Paid(round_ids[round_no], position, payouts, paid_at) for (position, paid_at), payouts in of_round.items()
        ]
        for round_no, of_round in found.items()
    }
