"""Stakes that were taken back, as a column of the journal holds them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from feltro.table.v1 import journal_pb2
from services.kit.table.appearance import stamp
from services.kit.table.journal import JournalStake, StakeTakenBack


def written(taken_back: Sequence[StakeTakenBack]) -> bytes:
    """Empty where nothing was taken back."""
    column = journal_pb2.TakenBackInJournal()
    for stake, at in taken_back:
        column.stakes.add(
            stake_id=stake.stake_id,
            request_id=stake.request_id,
            player_id=stake.player_id,
            account_id=stake.account_id,
            session_id=stake.session_id,
            seat=stake.seat,
            amount_cents=stake.amount_cents,
            bets=stake.bets,
            placed_at=stamp(stake.placed_at),
            taken_back_at=stamp(at),
        )
    return column.SerializeToString()


def read(column: bytes) -> tuple[StakeTakenBack, ...]:
    return tuple(
        StakeTakenBack(
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
            one.taken_back_at.ToDatetime(UTC),
        )
        for one in journal_pb2.TakenBackInJournal.FromString(column).stakes
    )
