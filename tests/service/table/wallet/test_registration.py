"""What an operator reads when the wallet does not register a table of theirs."""

from __future__ import annotations

from typing import cast

import pytest

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.refusal import Refused
from services.kit.table.refusals import TableRefused
from services.kit.table.wallet.client import Wallet
from services.kit.table.wallet.registration import TableRegistrar
from services.wallet.model import refusals

CONFIGURATION = types_pb2.TableConfiguration(
    game="roulette", regulation="804/2015", mode=wallet_types.MODE_REAL, play=wallet_types.PLAY_MULTI_PLAYER
)


class RefusingWallet:
    """A wallet that knows another table under this id."""

    def __init__(self, refusal: refusals.WalletRefused) -> None:
        self._refusal = refusal

    async def register_table(self, _request: object) -> None:
        raise self._refusal


@pytest.mark.parametrize("field", ["regulation", "mode", "play"])
async def test_another_kind_of_table_is_named_by_its_path_in_the_operators_request(field: str) -> None:
    wallet = RefusingWallet(refusals.table_differs("t1", field))
    with pytest.raises(TableRefused) as refused:
        await TableRegistrar(cast("Wallet", wallet)).register("t1", CONFIGURATION, 0)
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": f"configuration.{field}"})


async def refusal_of(refusal: refusals.WalletRefused) -> Refused:
    wallet = RefusingWallet(refusal)
    with pytest.raises(Refused) as refused:
        await TableRegistrar(cast("Wallet", wallet)).register("t1", CONFIGURATION, 5_000)
    return refused.value


async def test_an_operator_is_told_which_game_has_the_id() -> None:
    refused = await refusal_of(refusals.wrong_game("roulette", ("t1", "poker")))
    assert isinstance(refused, TableRefused)
    assert (refused.reason, refused.facts) == ("TABLE_TAKEN", {"table_id": "t1", "game": "poker"})
    assert "the game poker has this id" in refused.sentence


async def test_whatever_else_the_wallet_refuses_is_told_as_it_is() -> None:
    refusal = refusals.epoch_too_high("t1", 9, 1)
    assert await refusal_of(refusal) is refusal
