"""The stakes of a round of which the journal has no draw, as it records them from the ledger."""

from __future__ import annotations

from datetime import UTC

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.table.journal.entries import CancelledStake, JournalStake


def stakes_in_ledger(round_: wallet_pb2.Round, player_ids: dict[str, str]) -> list[JournalStake]:
    """Returns the stakes that counted; `player_ids` are by session."""
    return [
        _journal_stake(stake, player_ids, stake.placed_cents - stake.cancelled_cents)
        for stake in round_.stakes
        if stake.state != types_pb2.STAKE_STATE_CANCELLED
    ]


def cancelled_in_ledger(round_: wallet_pb2.Round, player_ids: dict[str, str]) -> list[CancelledStake]:
    """Returns the cancelled stakes and parts of stakes in the order of cancelling."""
    cancelled = [
        (cancellation.transfer_id, stake, cancellation)
        for stake in round_.stakes
        for cancellation in stake.cancellations
    ]
    return [
        CancelledStake(
            _journal_stake(stake, player_ids, cancellation.amount_cents)._replace(bets=cancellation.detail),
            cancellation.cancelled_at.ToDatetime(UTC),
        )
        for _, stake, cancellation in sorted(cancelled, key=lambda each: each[0])
    ]


def _journal_stake(stake: types_pb2.Stake, player_ids: dict[str, str], amount_cents: int) -> JournalStake:
    return JournalStake(
        stake.stake_id,
        "",
        player_ids.get(stake.session_id, ""),
        stake.account_id,
        stake.session_id,
        0,
        amount_cents,
        stake.detail,
        stake.placed_at.ToDatetime(UTC),
    )
