"""Stakes that were taken back, as a column of the journal holds them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from feltro.table.v1 import journal_pb2
from services.kit.table.encoding import timestamp
from services.kit.table.journal.entries import CancelledStake, JournalStake


def encode(cancelled_stakes: Sequence[CancelledStake]) -> bytes:
    """Empty where nothing was taken back."""
    column = journal_pb2.CancelledStakesInJournal()
    for stake, at in cancelled_stakes:
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
            cancelled_at=timestamp(at),
        )
    return column.SerializeToString()


def decode(column: bytes) -> tuple[CancelledStake, ...]:
    return tuple(
        CancelledStake(
            JournalStake(
                one.stake_id,
                one.request_id,
                one.player_id,
                one.account_id,
                one.session_id,
                one.seat,
                one.amount_cents,
                one.bets,
                one.placed_at.ToDatetime(UTC),
            ),
            one.cancelled_at.ToDatetime(UTC),
        )
        for one in journal_pb2.CancelledStakesInJournal.FromString(column).stakes
    )
