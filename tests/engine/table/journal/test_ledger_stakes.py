"""The cancelled stakes that the next owner of a table finds in the ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.table.journal.ledger_stakes import cancelled_in_ledger, stakes_in_ledger
from services.kit.wire_format import timestamp

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def cancellation(transfer_id: int, cents: int, detail: bytes) -> types_pb2.Cancellation:
    at = timestamp(AT + timedelta(seconds=transfer_id))
    return types_pb2.Cancellation(transfer_id=transfer_id, cancelled_at=at, amount_cents=cents, detail=detail)


@pytest.mark.guarantee("G10")
def test_g10_each_part_that_was_taken_back_is_recorded_with_its_own_bets_and_time() -> None:
    placed_at = timestamp(AT)
    round_ = wallet_pb2.Round(
        stakes=[
            types_pb2.Stake(
                stake_id="reduced",
                session_id="s",
                placed_cents=300,
                cancelled_cents=150,
                state=types_pb2.STAKE_STATE_RETURNED,
                detail=b"150 left",
                placed_at=placed_at,
                cancellations=[cancellation(3, 100, b"100"), cancellation(5, 50, b"50")],
            ),
            types_pb2.Stake(
                stake_id="cancelled",
                session_id="s",
                placed_cents=200,
                cancelled_cents=200,
                state=types_pb2.STAKE_STATE_CANCELLED,
                detail=b"200",
                placed_at=placed_at,
                cancellations=[cancellation(4, 200, b"200")],
            ),
        ]
    )
    recorded = cancelled_in_ledger(round_, {"s": "ana"})
    assert [(each.stake.stake_id, each.stake.amount_cents, each.stake.bets) for each in recorded] == [
        ("reduced", 100, b"100"),
        ("cancelled", 200, b"200"),
        ("reduced", 50, b"50"),
    ]
    assert [each.cancelled_at for each in recorded] == [AT + timedelta(seconds=n) for n in (3, 4, 5)]
    assert {each.stake.player_id for each in recorded} == {"ana"}
    (counted,) = stakes_in_ledger(round_, {"s": "ana"})
    assert (counted.stake_id, counted.amount_cents, counted.bets) == ("reduced", 150, b"150 left")
