"""Encodes the cancelled stakes of a round for the column of the journal that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from feltro.table.v1 import journal_pb2
from services.kit.table.journal.entries import CancelledStake, JournalStake
from services.kit.wire_format import timestamp


def encode(cancelled_stakes: Sequence[CancelledStake]) -> bytes:
    """Returns the column's value, which is empty if no stake was cancelled."""
    column = journal_pb2.CancelledStakesInJournal()
    for stake, cancelled_at in cancelled_stakes:
        column.stakes.add(
            stake_id=stake.stake_id,
            request_id=stake.request_id,
            player_id=stake.player_id,
            account_id=stake.account_id,
            session_id=stake.session_id,
            seat=stake.seat,
            amount_cents=stake.amount_cents,
            bets=stake.bets,
            placed_at=timestamp(stake.placed_at),
            cancelled_at=timestamp(cancelled_at),
        )
    return column.SerializeToString()


def decode(column: bytes) -> tuple[CancelledStake, ...]:
    return tuple(
        CancelledStake(
            JournalStake(
                each.stake_id,
                each.request_id,
                each.player_id,
                each.account_id,
                each.session_id,
                each.seat,
                each.amount_cents,
                each.bets,
                each.placed_at.ToDatetime(UTC),
            ),
            each.cancelled_at.ToDatetime(UTC),
        )
        for each in journal_pb2.CancelledStakesInJournal.FromString(column).stakes
    )
