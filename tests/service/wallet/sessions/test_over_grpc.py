"""Sessions from outside: over gRPC with tokens, on the bus, and after the wallet is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import grpc
import nats
import pytest
from nats.aio.msg import Msg

from feltro.wallet.v1 import events_pb2, session_pb2, types_pb2, wallet_pb2
from tests.processes.wallet import Seat, WalletClient, WalletProcess, refusal_facts, refusal_reason

INDIVIDUAL = types_pb2.PLAY_INDIVIDUAL


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        # The wallet's watch sweeps every second and has no event to wait for.
        while not await condition():
            await asyncio.sleep(0.02)


async def get_session(wallet_client: WalletClient, seat: Seat) -> session_pb2.Session:
    request = session_pb2.GetSessionRequest(session_id=seat.session_id)
    return (await wallet_client.sessions.GetSession(request, metadata=wallet_client.operator)).session


async def advance(wallet_client: WalletClient, seconds: int) -> None:
    request = session_pb2.AdvanceSessionClockRequest(by_ms=1000 * seconds)
    await wallet_client.sessions.AdvanceSessionClock(request, metadata=wallet_client.operator)


async def advance_until(
    wallet_client: WalletClient, seat: Seat, seconds: int, state: session_pb2.SessionState.ValueType
) -> None:
    await advance(wallet_client, seconds)

    async def is_reached() -> bool:
        return (await get_session(wallet_client, seat)).state == state

    await until(is_reached)


async def test_refusals_carry_reason_and_facts(wallet_client: WalletClient) -> None:
    await wallet_client.open_table("wheel", play=INDIVIDUAL)
    seat = await wallet_client.sit_down("ana", "wheel")
    policy = session_pb2.InactivityPolicy(invite=True, idle_seconds=100)

    with pytest.raises(grpc.aio.AioRpcError) as earlier:
        await wallet_client.sessions.SetInactivityPolicy(
            session_pb2.SetInactivityPolicyRequest(table_id="wheel", policy=policy), metadata=wallet_client.operator
        )
    with pytest.raises(grpc.aio.AioRpcError) as foreign:
        await wallet_client.sessions.GetSession(
            session_pb2.GetSessionRequest(session_id=seat.session_id), metadata=wallet_client.bearer("player", "rui")
        )
    with pytest.raises(grpc.aio.AioRpcError) as moved:
        await wallet_client.sessions.AdvanceSessionClock(
            session_pb2.AdvanceSessionClockRequest(by_ms=1000),
            metadata=wallet_client.bearer("player", "ana"),
        )

    assert earlier.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert refusal_facts(earlier.value) == (
        "RULE_VIOLATED",
        {"field": "policy.idle_seconds", "bound": "180", "rule": "804/2015:28.a"},
    )
    assert (foreign.value.code(), refusal_reason(foreign.value)) == (grpc.StatusCode.NOT_FOUND, "SESSION_UNKNOWN")
    assert refusal_reason(moved.value) == "SCOPE_MISSING"


@pytest.mark.rule("804/2015:29")
async def test_invitation_warning_and_end_reach_the_player_on_the_bus(
    wallet_client: WalletClient, nats_url: str
) -> None:
    bus = await nats.connect(nats_url)
    received: asyncio.Queue[events_pb2.PlayerFact] = asyncio.Queue()

    async def receive(message: Msg) -> None:
        await received.put(events_pb2.PlayerFact.FromString(message.data))

    await bus.subscribe("feltro.player.ana.wallet", cb=receive)
    await bus.flush()
    await wallet_client.open_table("wheel", play=INDIVIDUAL)
    seat = await wallet_client.sit_down("ana", "wheel")
    for seconds, state in (
        (181, session_pb2.SESSION_STATE_INVITED),
        (21, session_pb2.SESSION_STATE_WARNED),
        (61, session_pb2.SESSION_STATE_ENDED),
    ):
        await advance_until(wallet_client, seat, seconds, state)
    async with asyncio.timeout(60):
        player_facts = [await received.get() for _ in range(4)]
    await bus.close()

    assert [fact.WhichOneof("fact") for fact in player_facts] == [
        "session_started",
        "session_notice",
        "session_notice",
        "session_ended",
    ]
    assert player_facts[3].session_ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY


@pytest.mark.guarantee("G5")
async def test_g5_a_killed_wallet_resumes_where_it_was(wallet_process: WalletProcess) -> None:
    """Kills the process once; `test_g5_a_restart_in_every_state_forgets_nothing` restarts in every state."""
    wallet_process.start()
    await wallet_process.ready()
    async with wallet_process.client() as wallet_client:
        await wallet_client.open_table("wheel", play=INDIVIDUAL)
        seat = await wallet_client.sit_down("ana", "wheel")
        await advance_until(wallet_client, seat, 181, session_pb2.SESSION_STATE_INVITED)
        await advance_until(wallet_client, seat, 21, session_pb2.SESSION_STATE_WARNED)
    wallet_process.kill()
    wallet_process.start()
    await wallet_process.ready()
    async with wallet_process.client() as wallet_client:
        assert (await get_session(wallet_client, seat)).state == session_pb2.SESSION_STATE_WARNED

        async def is_ended() -> bool:
            # Advanced again and again: a slow restart is an outage, after which the warning starts anew (G9).
            await advance(wallet_client, 61)
            return (await get_session(wallet_client, seat)).state == session_pb2.SESSION_STATE_ENDED

        await until(is_ended)


async def test_an_ended_session_takes_no_stake(wallet_client: WalletClient) -> None:
    table = await wallet_client.open_table("wheel", play=INDIVIDUAL)
    seat = await wallet_client.sit_down("ana", "wheel", 1000)
    ended = await wallet_client.sessions.EndSession(
        session_pb2.EndSessionRequest(session_id=seat.session_id), metadata=wallet_client.bearer("player", "ana")
    )
    order = wallet_pb2.StakeOrder(
        request_id="late", account_id=seat.account_id, session_id=seat.session_id, amount_cents=1
    )

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.wallet.PlaceStake(
            wallet_pb2.PlaceStakeRequest(round=types_pb2.RoundRef(round_id="r", table=table), order=order),
            metadata=wallet_client.game,
        )

    assert ended.session.state == session_pb2.SESSION_STATE_ENDED
    assert refusal_facts(refused.value) == (
        "SESSION_ENDED",
        {"session_id": seat.session_id, "state": "SESSION_STATE_ENDED"},
    )
