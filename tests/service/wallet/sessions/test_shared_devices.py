"""Two accounts on one device or address at a poker table are noticed, and refused where its rules say so."""

from __future__ import annotations

from uuid import uuid4

import pytest

from feltro.wallet.v1 import relevant_events_pb2 as pb
from feltro.wallet.v1 import session_pb2, types_pb2
from services.kit.refusal import Refused
from tests.service.wallet.in_process_wallet import (
    DEMO,
    ENDED,
    GAME,
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    REAL,
    T0,
    InProcessWallet,
)

pytestmark = pytest.mark.rule("903-B/2015:6.6.1")

SHARED = pb.RELEVANT_EVENT_KIND_SHARED_DEVICE


def device(address: str = "", fingerprint: str = "") -> session_pb2.Device:
    return session_pb2.Device(kind="browser", agent="test/1", address=address, fingerprint=fingerprint)


async def sit(
    wallet: InProcessWallet,
    account_id: str,
    on: session_pb2.Device,
    table_id: str = "poker",
    request_id: str = "",
    *,
    refuses: bool = False,
) -> session_pb2.Session:
    request = session_pb2.StartSessionRequest(
        request_id=request_id or str(uuid4()),
        account_id=account_id,
        table_id=table_id,
        device=on,
        refuses_shared_devices=refuses,
    )
    answer = await wallet.session_service.start_session(request, GAME)
    return session_pb2.StartSessionResponse.FromString(answer).session


async def events(wallet: InProcessWallet, **wanted: int) -> list[pb.RelevantEvent]:
    request = pb.ListRelevantEventsRequest(**wanted)  # type: ignore[arg-type]
    return list((await wallet.relevant_event_service.list_relevant_events(request, OPERATOR)).events)


@pytest.fixture
async def accounts(wallet: InProcessWallet) -> tuple[str, str]:
    await wallet.open_table("poker", POKER, "806/2015")
    return await wallet.open_account("ana"), await wallet.open_account("rui")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (device("192.0.2.1", "one"), device("192.0.2.1", "two")),
        (device("192.0.2.1", "one"), device("192.0.2.9", "one")),
        (device("192.0.2.1"), device("192.0.2.1")),
    ],
)
async def test_a_second_account_on_the_device_or_address_is_an_event_for_the_operator(
    wallet: InProcessWallet, accounts: tuple[str, str], first: session_pb2.Device, second: session_pb2.Device
) -> None:
    ana, rui = accounts
    there = await sit(wallet, ana, first)

    came = await sit(wallet, rui, second)

    (event,) = await events(wallet)
    assert (event.kind, event.player_id, event.account_id, event.session_id) == (SHARED, "rui", rui, came.session_id)
    assert (event.other_player_id, event.other_session_id) == ("ana", there.session_id)
    assert (event.device, event.refused, event.table_id, event.game) == (second, False, "poker", "game")
    assert (event.amount_cents, event.limit_cents, event.transfer_id, event.round_id) == (0, 0, 0, "")
    assert event.at.ToDatetime(T0.tzinfo) == T0
    assert event.request_id
    assert event.ordered_by


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G7")
async def test_the_table_refuses_it_where_its_rules_say_so_and_tells_nothing_of_the_other(
    wallet: InProcessWallet, accounts: tuple[str, str]
) -> None:
    ana, rui = accounts
    there = await sit(wallet, ana, device("192.0.2.1", "one"), refuses=True)

    for _ in range(2):
        with pytest.raises(Refused) as refused:
            await sit(wallet, rui, device("192.0.2.1", "two"), request_id="enter-rui", refuses=True)
        assert (refused.value.reason, refused.value.facts) == ("SHARED_DEVICE", {"table_id": "poker"})

    (event,) = await events(wallet, kind=SHARED)
    assert (event.player_id, event.session_id, event.refused) == ("rui", "", True)
    assert (event.other_player_id, event.other_session_id) == ("ana", there.session_id)
    running = session_pb2.ListSessionsRequest(player_id="rui", running_only=True)
    assert not (await wallet.session_service.list_sessions(running, OPERATOR)).sessions


async def test_each_of_the_others_is_an_event(wallet: InProcessWallet, accounts: tuple[str, str]) -> None:
    ana, rui = accounts
    eva = await wallet.open_account("eva")
    await sit(wallet, ana, device("192.0.2.1", "one"))
    await sit(wallet, rui, device("192.0.2.2", "two"))

    await sit(wallet, eva, device("192.0.2.1", "two"))

    assert {event.other_player_id for event in await events(wallet)} == {"ana", "rui"}


async def test_a_player_who_has_left_and_devices_that_are_not_known_are_no_event(
    wallet: InProcessWallet, accounts: tuple[str, str]
) -> None:
    ana, rui = accounts
    left = await sit(wallet, ana, device("192.0.2.1", "one"))
    leave = session_pb2.EndSessionRequest(session_id=left.session_id, cause=session_pb2.END_CAUSE_PLAYER)
    await wallet.session_service.end_session(leave, OPERATOR)
    assert (await sit(wallet, rui, device("192.0.2.1", "one"), refuses=True)).state != ENDED
    eva, max_ = await wallet.open_account("eva"), await wallet.open_account("max")

    await sit(wallet, eva, device(), refuses=True)
    await sit(wallet, max_, device(), refuses=True)

    assert await events(wallet) == []


@pytest.mark.parametrize(("play", "mode", "regulation"), [(MULTI_PLAYER, REAL, "804/2015"), (POKER, DEMO, "806/2015")])
async def test_where_no_money_is_played_for_against_each_other_nothing_is_noted(
    wallet: InProcessWallet,
    play: types_pb2.Play.ValueType,
    mode: types_pb2.Mode.ValueType,
    regulation: str,
) -> None:
    await wallet.open_table("other", play, regulation, mode)
    ana, rui = await wallet.open_account("ana", mode=mode), await wallet.open_account("rui", mode=mode)

    await sit(wallet, ana, device("192.0.2.1", "one"), "other", refuses=True)
    await sit(wallet, rui, device("192.0.2.1", "one"), "other", refuses=True)

    assert await events(wallet) == []


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_large_amounts_and_shared_devices_are_listed_in_one_order(
    wallet: InProcessWallet, accounts: tuple[str, str]
) -> None:
    ana, rui = accounts
    await wallet.deposit(ana, 200_000)
    await sit(wallet, ana, device("192.0.2.1"))
    await sit(wallet, rui, device("192.0.2.1"))
    await wallet.deposit(rui, 200_000)

    large = pb.RELEVANT_EVENT_KIND_LARGE_DEPOSIT
    found = await events(wallet)

    assert [(event.kind, event.player_id) for event in found] == [(large, "rui"), (SHARED, "rui"), (large, "ana")]
    assert [event.kind for event in await events(wallet, kind=large)] == [large, large]
    assert [event.event_no for event in await events(wallet, page_size=2)] == [each.event_no for each in found[:2]]
