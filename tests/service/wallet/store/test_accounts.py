"""Tables as the wallet opens them: what never changes about a table, whose it is, and which owner came last."""

from __future__ import annotations

import asyncio

import pytest

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.refusal import Refused
from services.wallet.model.state import Mode, Play
from services.wallet.store import accounts
from services.wallet.store.accounts import TableRegistration
from tests.service.wallet.in_process_wallet import (
    DEMO,
    INDIVIDUAL,
    MULTI_PLAYER,
    REAL,
    T0,
    InProcessWallet,
    caller,
)

CHANGES: dict[str, tuple[str, types_pb2.Mode.ValueType, types_pb2.Play.ValueType]] = {
    "regulation": ("807/2015", REAL, MULTI_PLAYER),
    "mode": ("804/2015", DEMO, MULTI_PLAYER),
    "play": ("804/2015", REAL, INDIVIDUAL),
}


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("field", CHANGES)
async def test_g12_a_table_is_not_opened_again_as_another_kind_of_table(wallet: InProcessWallet, field: str) -> None:
    await wallet.open_table("t1", MULTI_PLAYER)
    regulation, mode, play = CHANGES[field]
    with pytest.raises(Refused) as refused:
        await wallet.open_table("t1", play, regulation, mode, epoch=2)
    assert (refused.value.reason, refused.value.facts) == ("TABLE_MISMATCH", {"table_id": "t1", "field": field})
    # Nor does the attempt shut out the table's owner.
    assert await wallet.count("SELECT epoch FROM tables") == 1


@pytest.mark.guarantee("G8")
async def test_g8_a_former_owner_does_not_open_the_table_again(wallet: InProcessWallet) -> None:
    await wallet.open_table("t1", MULTI_PLAYER, epoch=3)
    with pytest.raises(Refused) as refused:
        await wallet.open_table("t1", MULTI_PLAYER, epoch=2)
    assert refused.value.reason == "STALE_EPOCH"
    assert refused.value.facts == {"table_id": "t1", "epoch": "2", "current_epoch": "3"}
    assert await wallet.count("SELECT epoch FROM tables") == 3


@pytest.mark.guarantee("G12")
async def test_g12_a_players_own_table_joins_no_configured_table_of_another_game(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", INDIVIDUAL)
    request = wallet_pb2.OpenTableRequest(
        table=types_pb2.TableRef(table_id="own", epoch=1),
        game="other",
        regulation="804/2015",
        mode=REAL,
        play=INDIVIDUAL,
        configured_table_id="wheel",
    )
    with pytest.raises(Refused) as refused:
        await wallet.wallet_service.open_table(request, caller("game", "games", "other"))
    assert refused.value.reason == "WRONG_GAME"
    assert await wallet.count("SELECT count(*) FROM tables WHERE table_id = 'own'") == 0


async def test_two_players_whose_tables_are_the_first_of_a_configured_table_open_both(wallet: InProcessWallet) -> None:
    configured = TableRegistration("wheel", 0, "game", "804/2015", Mode.REAL, Play.INDIVIDUAL, "")
    async with wallet.engine.begin() as connection:
        # Another player's table has just registered it, and is not committed yet.
        await accounts.register_table(connection, configured, T0)
        opening = asyncio.create_task(wallet.open_table("own", INDIVIDUAL, configured_table_id="wheel"))
        await wallet.wait_for_blocked()
    await opening
    joined = "SELECT count(*) FROM tables WHERE table_id = 'own' AND configured_table_id = 'wheel'"
    assert await wallet.count(joined) == 1
    assert await wallet.count("SELECT count(*) FROM tables") == 2
