"""The switch of all games: every switch is logged, the last one holds, and a repeated command sets it once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import uuid4

import grpc
import pytest

from feltro.wallet.v1 import platform_pb2 as pb
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.table.configuration.platform_switch import STATE_UNKNOWN, PlatformSwitch
from tests.processes.wallet import WalletClient, WalletProcess, refusal_facts, refusal_reason


async def switch(
    wallet_client: WalletClient, *, enabled: bool, reason: str = "the regulator asks for it", request_id: str = ""
) -> pb.PlatformSwitch:
    request = pb.SetPlatformSwitchRequest(request_id=request_id or str(uuid4()), enabled=enabled, reason=reason)
    return (await wallet_client.platform.SetPlatformSwitch(request, metadata=wallet_client.operator)).switch


async def listed(wallet_client: WalletClient, **asked: object) -> pb.ListPlatformSwitchesResponse:
    request = pb.ListPlatformSwitchesRequest(**asked)  # type: ignore[arg-type]
    return await wallet_client.platform.ListPlatformSwitches(request, metadata=wallet_client.game)


@pytest.mark.rule("903-B/2015:6.3.1", "903-B/2015:6.3.6.6")
@pytest.mark.guarantee("G3")
async def test_g3_every_switch_is_logged_once_with_its_author_and_reason(wallet_client: WalletClient) -> None:
    assert not (await listed(wallet_client)).switches
    request_id = str(uuid4())
    off = [await switch(wallet_client, enabled=False, request_id=request_id) for _ in range(2)]
    on = await switch(wallet_client, enabled=True, reason="the regulator is content")
    first = await listed(wallet_client, page_size=1)
    second = await listed(wallet_client, page_size=1, page_token=first.next_page_token)

    assert off[0] == off[1]
    assert (off[0].enabled, off[0].reason, off[0].set_by) == (False, "the regulator asks for it", "back-office")
    assert [*first.switches, *second.switches] == [on, off[0]]
    assert second.next_page_token == ""


async def test_of_concurrent_switches_the_last_one_holds(wallet_client: WalletClient) -> None:
    switches = await asyncio.gather(*(switch(wallet_client, enabled=bool(number % 2)) for number in range(12)))
    latest = max(switches, key=lambda each: each.switch_no)
    assert (await listed(wallet_client, page_size=1)).switches == [latest]
    assert len({each.switch_no for each in switches}) == 12


async def test_a_switch_needs_a_reason_and_an_operator(wallet_client: WalletClient) -> None:
    for reason in ("", "  ", "x" * 501, "a\0b"):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await switch(wallet_client, enabled=False, reason=reason)
        assert refusal_facts(refused.value) == ("INVALID", {"field": "reason"})
    # A switch that does not say on or off switches nothing off.
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.platform.SetPlatformSwitch(
            pb.SetPlatformSwitchRequest(request_id="one", reason="no"), metadata=wallet_client.operator
        )
    assert refusal_facts(refused.value) == ("INVALID", {"field": "enabled"})
    request = pb.SetPlatformSwitchRequest(request_id="one", enabled=False, reason="no")
    for metadata in (wallet_client.game, wallet_client.bearer("player", "ana")):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await wallet_client.platform.SetPlatformSwitch(request, metadata=metadata)
        assert refusal_reason(refused.value) == "SCOPE_MISSING"
    assert not (await listed(wallet_client)).switches


@pytest.mark.rule("903-B/2015:6.3.1")
@pytest.mark.guarantee("G12")
async def test_g12_a_game_opens_nothing_before_its_first_answer_and_then_keeps_the_last_one(
    wallet_process: WalletProcess,
) -> None:
    off_reasons: list[str | None] = []
    channel = RelayChannel(wallet_process.address)
    async with wallet_process.client() as wallet_client:
        platform_switch = PlatformSwitch(channel, lambda: wallet_client.game)
        platform_switch.on_change = lambda: off_reasons.append(platform_switch.off_reason())
        await platform_switch.refresh()
        assert platform_switch.off_reason() == STATE_UNKNOWN
        wallet_process.start()
        await wallet_process.ready()
        polling = asyncio.create_task(platform_switch.run())
        await _until(lambda: platform_switch.off_reason() is None)
        await switch(wallet_client, enabled=False)
        await _until(lambda: platform_switch.off_reason() == "the regulator asks for it")
        wallet_process.kill()
        polling.cancel()
        await asyncio.wait([polling])
        await platform_switch.refresh()
        assert platform_switch.off_reason() == "the regulator asks for it"
    await channel.close()
    assert off_reasons == [None, "the regulator asks for it"]


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)
