"""What an operator reads when the wallet does not register a table of theirs."""

from __future__ import annotations

from typing import cast

import pytest

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
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
