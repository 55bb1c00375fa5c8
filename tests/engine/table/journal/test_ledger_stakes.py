"""The cancelled stakes that the next owner of a table finds in the ledger."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.table.journal.ledger_stakes import cancelled_in_ledger

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.guarantee("G4")
def test_a_stake_cancelled_by_another_request_does_not_block_the_end_of_a_round() -> None:
    cancelled, open_ = types_pb2.STAKE_STATE_CANCELLED, types_pb2.STAKE_STATE_OPEN
    round_ = wallet_pb2.Round(
        stakes=[
            types_pb2.Stake(stake_id="cancelled", session_id="s", placed_cents=300, state=cancelled),
            types_pb2.Stake(stake_id="cancelled otherwise", session_id="s", placed_cents=200, state=cancelled),
            types_pb2.Stake(stake_id="open", session_id="s", placed_cents=100, state=open_),
        ]
    )
    (recorded,) = cancelled_in_ledger(round_, {"s": "ana"}, {"cancelled": AT, "of another kind": AT})
    assert (recorded.stake.stake_id, recorded.stake.player_id, recorded.stake.amount_cents) == ("cancelled", "ana", 300)
    assert recorded.cancelled_at == AT
