"""What a table that is taken over finds in the ledger of stakes that were taken back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.table.banked.settlement import cancelled_in_ledger

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.guarantee("G4")
def test_a_stake_cancelled_by_another_request_does_not_block_the_end_of_a_round() -> None:
    cancelled, open_ = types_pb2.STAKE_STATE_CANCELLED, types_pb2.STAKE_STATE_OPEN
    round_ = wallet_pb2.Round(
        stakes=[
            types_pb2.Stake(stake_id="taken back", session_id="s", placed_cents=300, state=cancelled),
            types_pb2.Stake(stake_id="by somebody else", session_id="s", placed_cents=200, state=cancelled),
            types_pb2.Stake(stake_id="lies", session_id="s", placed_cents=100, state=open_),
        ]
    )
    (taken,) = cancelled_in_ledger(round_, {"s": "ana"}, {"taken back": AT, "of another kind": AT})
    assert (taken.stake.stake_id, taken.stake.player_id, taken.stake.amount_cents) == ("taken back", "ana", 300)
    assert taken.cancelled_at == AT
