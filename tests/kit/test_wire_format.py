"""Embedded messages: put together from bytes, they are what protobuf itself would have written."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from feltro.wallet.v1 import wallet_pb2
from services.kit.wire_format import embedded


@given(text=st.text(max_size=400))
@example(text="")
@example(text="x" * 125)
@example(text="x" * 126)
@example(text="x" * 16_381)
@example(text="x" * 16_382)
@example(text="x" * 3_000_000)
def test_embedded_bytes_are_those_of_protobuf(text: str) -> None:
    placed = wallet_pb2.PlacedStake(stake_id=text)
    whole = wallet_pb2.PlaceStakeResponse(placed=placed)
    assert embedded(1, placed.SerializeToString()) == whole.SerializeToString()


def test_an_answer_has_the_same_bytes_alone_and_among_others() -> None:
    """The wallet embeds the same stored bytes in both; see wallet_service.py."""
    placed = wallet_pb2.PlacedStake(stake_id="s", transfer_id=7)
    alone = wallet_pb2.PlaceStakeResponse(placed=placed).SerializeToString()
    assert alone == wallet_pb2.StakeAnswer(placed=placed).SerializeToString()
    among = wallet_pb2.PlaceStakesResponse(answers=[wallet_pb2.StakeAnswer(placed=placed)] * 2)
    assert embedded(1, alone) * 2 == among.SerializeToString()
