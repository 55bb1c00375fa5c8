"""Tokens that were taken back open nothing at any gateway, and what is not known of them shuts the door."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from gateway.access import revocations
from gateway.access.revocations import BUCKET, STALE_VIEW_LIMIT_S, Revocations
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import Caller
from tests.gateway.bus import WITHIN_S, FakeClock, bus_client, running_tasks, wait_until
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.guarantee("G12")


@asynccontextmanager
async def gateway(url: str, clock: FakeClock | None = None) -> AsyncIterator[Revocations]:
    """What one gateway knows, once it sees the bucket."""
    async with bus_client(url) as bus:
        made = Revocations(bus) if clock is None else Revocations(bus, clock=clock)
        async with running_tasks(made.run()):
            await wait_until(lambda: reason(made, caller("anybody")) == "")
            yield made


def caller(subject: str, of: str = "t", issued_s_ago: float = 60, holds_s: float = 3600) -> Caller:
    now = time.time()
    return Caller(subject, frozenset({"player"}), now + holds_s, now - issued_s_ago, of)


def guest(number: int, at: float | None = None) -> Caller:
    """One who came to try."""
    now = time.time() if at is None else at
    return Caller(f"demo-{number:08}", frozenset({"demo"}), now + 3600, now - 60, f"guest {number}")


def reason(known: Revocations, who: Caller) -> str:
    try:
        known.verify(who)
    except GatewayRefused as refused:
        return refused.reason
    return ""


async def done(revoke: Callable[[], Awaitable[object]]) -> None:
    """What the bus is too slow for is asked for again."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            with suppress(GatewayRefused):
                await revoke()
                return


async def test_a_token_that_is_taken_back_is_refused_by_every_gateway(nats: StoppableNats) -> None:
    ana, elsewhere = caller("ana", "one"), caller("ana", "two")
    async with gateway(nats.url) as here, gateway(nats.url) as there:
        await done(lambda: here.revoke_token(ana, "logout"))
        assert reason(here, ana) == "TOKEN_REVOKED"
        await wait_until(lambda: reason(there, ana) == "TOKEN_REVOKED")
        assert reason(there, elsewhere) == ""
    async with gateway(nats.url) as later:
        assert reason(later, ana) == "TOKEN_REVOKED"


async def test_all_that_was_issued_to_somebody_is_taken_back_and_nothing_later(nats: StoppableNats) -> None:
    async with gateway(nats.url) as here, gateway(nats.url) as there:
        await done(lambda: here.revoke_subject("ana", "back-office", "stolen phone"))
        old, unsaid = caller("ana", "one"), Caller("ana", frozenset({"player"}), time.time() + 60, token_id="two")  # noqa: S106
        for known in (here, there):
            await wait_until(lambda: reason(known, old) == "TOKEN_REVOKED")  # noqa: B023 - waited for right here
            assert reason(known, unsaid) == "TOKEN_REVOKED"
            assert reason(known, caller("ana", "three", issued_s_ago=-1)) == ""
            assert reason(known, caller("rui", "one")) == ""


async def test_whoever_waits_is_told_at_once(nats: StoppableNats) -> None:
    ana = caller("ana", "one")
    async with gateway(nats.url) as here, gateway(nats.url) as there:
        with there.watch(ana) as one, there.watch(caller("ana", "two")) as two, there.watch(caller("rui")) as rui:
            await done(lambda: here.revoke_token(ana, "logout"))
            assert (await asyncio.wait_for(one, WITHIN_S)).reason == "TOKEN_REVOKED"
            assert not two.done()
            await done(lambda: here.revoke_subject("ana", "back-office", "stolen phone"))
            assert (await asyncio.wait_for(two, WITHIN_S)).reason == "TOKEN_REVOKED"
            assert not rui.done()
        with there.watch(ana) as again:
            assert again.done()
        assert not there._waiting


@pytest.mark.guarantee("G11")
async def test_g11_a_note_is_kept_as_long_as_its_token_would_hold(
    nats: StoppableNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocations, "CLOCK_SKEW_S", 0)
    monkeypatch.setattr(revocations, "CLEANUP_EVERY_S", 0.1)
    # It stands still until both are noted: none expires before.
    wall = FakeClock(time.time())
    async with bus_client(nats.url) as bus:
        here = Revocations(bus, wall)
        async with running_tasks(here.run()):
            await wait_until(lambda: here._last_current_at is not None)
            await done(lambda: here.revoke_token(caller("ana", "one", holds_s=1), "logout"))
            await done(lambda: here.revoke_token(caller("ana", "two"), "logout"))
            stream = f"KV_{BUCKET}"
            jetstream = bus.jetstream(timeout=WITHIN_S)
            # Both were noted, whatever is still there.
            assert (await jetstream.stream_info(stream)).state.last_seq >= 2
            async with asyncio.timeout(WITHIN_S):
                while (await jetstream.stream_info(stream)).state.messages != 1:
                    await asyncio.sleep(0.1)
            assert len(here._notes) == 2
            wall.seconds = time.time() + 1
            await wait_until(lambda: len(here._notes) == 1)


@pytest.mark.guarantee("G11")
async def test_g11_those_who_came_to_try_leave_room_for_the_operators_notes(
    nats: StoppableNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocations, "DEMO_REVOCATIONS_LIMIT", 3)
    monkeypatch.setattr(revocations, "CLEANUP_EVERY_S", 0.05)
    wall = FakeClock(time.time())
    async with bus_client(nats.url) as bus:
        here = Revocations(bus, wall)
        async with running_tasks(here.run()):
            await wait_until(lambda: here._last_current_at is not None)
            for number in range(3):
                await done(lambda: here.revoke_token(guest(number), "logout"))  # noqa: B023 - waited for right here
            with pytest.raises(GatewayRefused) as refused:
                await here.revoke_token(guest(3), "logout")
            assert (refused.value.reason, refused.value.facts) == ("OVERLOADED", {"limit": "3"})
            assert [reason(here, guest(number)) for number in range(4)] == [*["TOKEN_REVOKED"] * 3, ""]
            await done(lambda: here.revoke_token(caller("ana", "one"), "logout"))
            await done(lambda: here.revoke_subject("demo-00000003", "back-office", "noise"))
            assert reason(here, guest(3)) == "TOKEN_REVOKED"
            wall.seconds += 4000
            await wait_until(lambda: here._demo_notes == 0)
            await done(lambda: here.revoke_token(guest(4, wall.seconds), "logout"))


async def test_while_the_bus_is_away_what_is_known_holds_and_then_nobody_is_let_in(nats: StoppableNats) -> None:
    clock = FakeClock()
    ana, rui = caller("ana"), caller("rui", "r")
    async with gateway(nats.url, clock) as here:
        await done(lambda: here.revoke_token(ana, "logout"))
        nats.stop()
        with pytest.raises(GatewayRefused) as refused:
            await here.revoke_token(rui, "logout")
        assert refused.value.reason == "UNAVAILABLE"
        assert (reason(here, ana), reason(here, rui)) == ("TOKEN_REVOKED", "")
        clock.seconds += STALE_VIEW_LIMIT_S + 1
        assert (reason(here, ana), reason(here, rui)) == ("TOKEN_REVOKED", "UNAVAILABLE")
        nats.start()
        await wait_until(lambda: reason(here, rui) == "")
        assert reason(here, ana) == "TOKEN_REVOKED"


async def test_a_gateway_that_has_seen_nothing_yet_lets_nobody_in(nats: StoppableNats) -> None:
    async with bus_client(nats.url) as bus:
        assert reason(Revocations(bus), caller("ana")) == "UNAVAILABLE"


async def test_what_the_bus_has_lost_is_told_it_again(nats: StoppableNats) -> None:
    ana = caller("ana")
    async with gateway(nats.url) as here:
        await done(lambda: here.revoke_token(ana, "logout"))
        nats.stop(forget=True)
        nats.start()
        async with gateway(nats.url) as new:
            await wait_until(lambda: reason(new, ana) == "TOKEN_REVOKED")
