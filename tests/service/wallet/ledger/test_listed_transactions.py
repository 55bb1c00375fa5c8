"""Lists of transactions and of open rounds: filters combine, and no page loses what another account's rows push out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from feltro.wallet.v1 import types_pb2, wallet_pb2
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.wire_format import timestamp
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    T0,
    InProcessWallet,
    Seat,
    open_wallet,
    player,
)

STAKE, SETTLED, DEPOSIT = (
    types_pb2.TRANSFER_KIND_STAKE,
    types_pb2.TRANSFER_KIND_ROUND_SETTLED,
    types_pb2.TRANSFER_KIND_DEPOSIT,
)


@pytest.fixture
async def wallet(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as opened:
        yield opened
        assert await opened.violations() == []


@pytest.fixture
async def ana(wallet: InProcessWallet) -> Seat:
    """A player with two sessions: two rounds in the first, the second of them a minute later, and one in the second."""
    for table_id in ("first", "second"):
        await wallet.open_table(table_id, MULTI_PLAYER)
    ana, rui = await wallet.sit_down("ana", "first"), await wallet.sit_down("rui", "first")
    for round_id in ("r1", "r2"):
        stakes = [await wallet.place(seat, round_id, 100) for seat in (ana, rui)]
        await wallet.settle("first", round_id, dict.fromkeys(stakes, 200))
        wallet.clock.advance(60)
    started = await wallet.start_session(ana.account_id, "second")
    elsewhere = Seat("ana", ana.account_id, "second", started.session.session_id)
    await wallet.place(elsewhere, "r3", 300)
    return ana


async def listed(
    wallet: InProcessWallet,
    caller: Caller = OPERATOR,
    /,
    **filters: Any,  # noqa: ANN401 - the fields of the request
) -> list[tuple[str, int]]:
    """Returns round and kind of all transactions of players, page after page."""
    found: list[tuple[str, int]] = []
    token = ""
    while True:
        request = wallet_pb2.ListTransactionsRequest(page_token=token, **filters)
        page = await wallet.wallet_service.list_transactions(request, caller)
        found += [(line.round_id, line.kind) for line in page.transactions if line.account_id]
        token = page.next_page_token
        if not token:
            return found


@pytest.mark.parametrize("page_size", [0, 1, 2])
async def test_filters_combine(wallet: InProcessWallet, ana: Seat, page_size: int) -> None:
    account, session = ana.account_id, ana.session_id
    in_session = [("r2", SETTLED), ("r2", STAKE), ("r1", SETTLED), ("r1", STAKE)]
    assert await listed(wallet, account_id=account, page_size=page_size) == [("r3", STAKE), *in_session, ("", DEPOSIT)]
    assert await listed(wallet, session_id=session, page_size=page_size) == in_session
    assert await listed(wallet, account_id=account, session_id=session, page_size=page_size) == in_session
    assert await listed(wallet, account_id=account, round_id="r1", page_size=page_size) == in_session[2:]
    assert await listed(wallet, session_id=session, round_id="r1", kind=STAKE, page_size=page_size) == in_session[3:]
    assert await listed(wallet, account_id=account, kind=STAKE, page_size=page_size) == [
        ("r3", STAKE),
        ("r2", STAKE),
        ("r1", STAKE),
    ]
    assert len(await listed(wallet, round_id="r1", kind=STAKE, page_size=page_size)) == 2
    everything: dict[str, Any] = {"account_id": account, "session_id": session, "round_id": "r2", "kind": SETTLED}
    assert await listed(wallet, page_size=page_size, **everything) == [("r2", SETTLED)]
    assert await listed(wallet, session_id=session, round_id="r3", page_size=page_size) == []


@pytest.mark.parametrize("page_size", [0, 1])
async def test_since_is_included_and_until_is_not(wallet: InProcessWallet, ana: Seat, page_size: int) -> None:
    second, third = (timestamp(T0 + timedelta(minutes=number)) for number in (1, 2))
    for filters in ({"account_id": ana.account_id}, {"session_id": ana.session_id}):
        for more, round_id in (
            ({"since": second, "until": third}, "r2"),
            ({"until": second}, "r1"),
        ):
            found = await listed(wallet, kind=STAKE, page_size=page_size, **filters, **more)
            assert found == [(round_id, STAKE)]
    since = await listed(wallet, account_id=ana.account_id, since=third, page_size=page_size)
    assert since == [("r3", STAKE)]
    assert await listed(wallet, round_id="r1", since=second, page_size=page_size) == []


async def test_a_cave_belongs_to_its_account_and_session(wallet: InProcessWallet) -> None:
    await wallet.open_table("poker", POKER, "806/2015")
    ana = await wallet.sit_down("ana", "poker")
    await wallet.buy_in(ana, 1_000)
    buy_in = types_pb2.TRANSFER_KIND_BUY_IN
    for filters in ({"account_id": ana.account_id}, {"session_id": ana.session_id}):
        assert await listed(wallet, kind=buy_in, **filters) == [("", buy_in)] * 2


async def test_other_players_stakes_push_nothing_off_a_players_page(wallet: InProcessWallet) -> None:
    """A page holds as many of the player's own transactions as it may, however many others follow them."""
    await wallet.open_table("first", MULTI_PLAYER)
    ana, rui = await wallet.sit_down("ana", "first"), await wallet.sit_down("rui", "first")
    await wallet.place(ana, "r1", 100)
    for _ in range(5):
        await wallet.place(rui, "r1", 100)
    assert await listed(wallet, player("ana"), round_id="r1", page_size=2) == [("r1", STAKE)]
    assert await listed(wallet, session_id=ana.session_id, round_id="r1", page_size=2) == [("r1", STAKE)]


async def test_a_player_sees_their_own_whatever_they_name(wallet: InProcessWallet, ana: Seat) -> None:
    assert await listed(wallet, player("ana"), round_id="r1") == [("r1", SETTLED), ("r1", STAKE)]
    assert await listed(wallet, player("ana"), account_id=ana.account_id, round_id="r1", kind=STAKE) == [("r1", STAKE)]
    for filters, unknown in (
        ({"account_id": ana.account_id}, "ACCOUNT_UNKNOWN"),
        ({"session_id": ana.session_id}, "SESSION_UNKNOWN"),
    ):
        with pytest.raises(Refused) as refused:
            await listed(wallet, player("rui"), round_id="r1", **filters)
        assert refused.value.reason == unknown


async def test_what_the_transactions_are_of_has_to_be_named(wallet: InProcessWallet) -> None:
    for filters, field in (
        ({}, "account_id"),
        ({"kind": STAKE}, "account_id"),
        ({"round_id": "r", "kind": 99}, "kind"),
    ):
        with pytest.raises(Refused) as refused:
            await listed(wallet, **filters)
        assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": field})


async def test_open_rounds_of_an_account_at_a_table(wallet: InProcessWallet, ana: Seat) -> None:
    await wallet.place(ana, "r4", 100)

    async def open_rounds(account_id: str = "", table_id: str = "") -> list[str]:
        request = wallet_pb2.ListOpenRoundsRequest(account_id=account_id, table_id=table_id)
        return [each.round_id for each in (await wallet.wallet_service.list_open_rounds(request, OPERATOR)).rounds]

    assert await open_rounds(account_id=ana.account_id) == ["r3", "r4"]
    assert await open_rounds(table_id="second") == ["r3"]
    assert await open_rounds(account_id=ana.account_id, table_id="first") == ["r4"]
    assert await open_rounds(account_id=ana.account_id, table_id="third") == []
