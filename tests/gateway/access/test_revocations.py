"""Revoked tokens are refused at every gateway; a gateway that does not know the revocations refuses all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from gateway.access import revocations
from gateway.access.revocations import STALE_VIEW_LIMIT_S, Revocations
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import Caller
from services.kit.bus.buckets import Bucket
from services.kit.bus.subjects import REVOCATIONS_BUCKET, bucket_stream
from tests.gateway.bus import WITHIN_S, FakeClock, bus_client, running_tasks, wait_until
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.guarantee("G12")


@asynccontextmanager
async def running_revocations(url: str, clock: FakeClock | None = None) -> AsyncIterator[Revocations]:
    """Runs the revocations of one gateway, and yields them once they are current."""
    async with bus_client(url) as bus:
        revocations = Revocations(bus) if clock is None else Revocations(bus, clock=clock)
        async with running_tasks(revocations.run()):
            await wait_until(lambda: reason(revocations, caller("anyone")) == "")
            yield revocations


def caller(subject: str, token_id: str = "t", issued_s_ago: float = 60, lifetime_s: float = 3600) -> Caller:  # noqa: S107 - an id
    now = time.time()
    return Caller(subject, frozenset({"player"}), now + lifetime_s, now - issued_s_ago, token_id)


def guest(number: int, at: float | None = None) -> Caller:
    """A guest of a demonstration."""
    now = time.time() if at is None else at
    return Caller(f"demo-{number:08}", frozenset({"demo"}), now + 3600, now - 60, f"guest {number}")


def reason(revocations: Revocations, caller: Caller) -> str:
    try:
        revocations.verify(caller)
    except GatewayRefused as refused:
        return refused.reason
    return ""


async def retry(revoke: Callable[[], Awaitable[object]]) -> None:
    """Revokes, again while the bus is too slow."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            with suppress(GatewayRefused):
                await revoke()
                return


async def test_a_revoked_token_is_refused_by_every_gateway(nats: StoppableNats) -> None:
    ana, elsewhere = caller("ana", "one"), caller("ana", "two")
    async with running_revocations(nats.url) as first, running_revocations(nats.url) as second:
        await retry(lambda: first.revoke_token(ana, "logout"))
        assert reason(first, ana) == "TOKEN_REVOKED"
        await wait_until(lambda: reason(second, ana) == "TOKEN_REVOKED")
        assert reason(second, elsewhere) == ""
    async with running_revocations(nats.url) as later:
        assert reason(later, ana) == "TOKEN_REVOKED"


async def test_a_revoked_subject_loses_all_earlier_tokens_and_no_later_one(nats: StoppableNats) -> None:
    async with running_revocations(nats.url) as first, running_revocations(nats.url) as second:
        await retry(lambda: first.revoke_subject("ana", "back-office", "stolen phone"))
        old, without_time = caller("ana", "one"), Caller("ana", frozenset({"player"}), time.time() + 60, token_id="two")  # noqa: S106
        for revocations in (first, second):
            await wait_until(lambda: reason(revocations, old) == "TOKEN_REVOKED")  # noqa: B023 - waited for right here
            assert reason(revocations, without_time) == "TOKEN_REVOKED"
            assert reason(revocations, caller("ana", "three", issued_s_ago=-1)) == ""
            assert reason(revocations, caller("rui", "one")) == ""


async def test_a_watched_token_is_notified_of_its_revocation(nats: StoppableNats) -> None:
    ana = caller("ana", "one")
    async with running_revocations(nats.url) as first, running_revocations(nats.url) as second:
        with second.watch(ana) as one, second.watch(caller("ana", "two")) as two, second.watch(caller("rui")) as rui:
            await retry(lambda: first.revoke_token(ana, "logout"))
            assert (await asyncio.wait_for(one, WITHIN_S)).reason == "TOKEN_REVOKED"
            assert not two.done()
            await retry(lambda: first.revoke_subject("ana", "back-office", "stolen phone"))
            assert (await asyncio.wait_for(two, WITHIN_S)).reason == "TOKEN_REVOKED"
            assert not rui.done()
        with second.watch(ana) as again:
            assert again.done()
        assert not second._waiting


@pytest.mark.guarantee("G11")
async def test_g11_a_revocation_is_kept_until_its_token_expires(
    nats: StoppableNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocations, "CLOCK_SKEW_S", 0)
    monkeypatch.setattr(revocations, "CLEANUP_EVERY_S", 0.1)
    # It stands still until both are recorded: none expires before.
    wall = FakeClock(time.time())
    async with bus_client(nats.url) as bus:
        first = Revocations(bus, wall)
        async with running_tasks(first.run()):
            await wait_until(lambda: first._last_current_at is not None)
            await retry(lambda: first.revoke_token(caller("ana", "one", lifetime_s=1), "logout"))
            await retry(lambda: first.revoke_token(caller("ana", "two"), "logout"))
            stream = bucket_stream(REVOCATIONS_BUCKET)
            jetstream = bus.jetstream(timeout=WITHIN_S)
            # Both were written, whatever has been cleaned up since.
            assert (await jetstream.stream_info(stream)).state.last_seq >= 2
            async with asyncio.timeout(WITHIN_S):
                while (await jetstream.stream_info(stream)).state.messages != 1:
                    await asyncio.sleep(0.1)
            assert len(first._notes) == 2
            wall.seconds = time.time() + 1
            await wait_until(lambda: len(first._notes) == 1)


@pytest.mark.guarantee("G11")
async def test_g11_logouts_of_guests_leave_room_for_the_operators_revocations(
    nats: StoppableNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocations, "DEMO_REVOCATIONS_LIMIT", 3)
    monkeypatch.setattr(revocations, "CLEANUP_EVERY_S", 0.05)
    wall = FakeClock(time.time())
    async with bus_client(nats.url) as bus:
        first = Revocations(bus, wall)
        async with running_tasks(first.run()):
            await wait_until(lambda: first._last_current_at is not None)
            for number in range(3):
                await retry(lambda: first.revoke_token(guest(number), "logout"))  # noqa: B023 - waited for right here
            with pytest.raises(GatewayRefused) as refused:
                await first.revoke_token(guest(3), "logout")
            assert (refused.value.reason, refused.value.facts) == ("OVERLOADED", {"limit": "3"})
            assert [reason(first, guest(number)) for number in range(4)] == [*["TOKEN_REVOKED"] * 3, ""]
            await retry(lambda: first.revoke_token(caller("ana", "one"), "logout"))
            await retry(lambda: first.revoke_subject("demo-00000003", "back-office", "noise"))
            assert reason(first, guest(3)) == "TOKEN_REVOKED"
            wall.seconds += 4000
            await wait_until(lambda: first._demo_notes == 0)
            await retry(lambda: first.revoke_token(guest(4, wall.seconds), "logout"))


async def test_during_a_bus_outage_the_view_counts_until_it_is_stale(nats: StoppableNats) -> None:
    clock = FakeClock()
    ana, rui = caller("ana"), caller("rui", "r")
    async with running_revocations(nats.url, clock) as first:
        await retry(lambda: first.revoke_token(ana, "logout"))
        nats.stop()
        with pytest.raises(GatewayRefused) as refused:
            await first.revoke_token(rui, "logout")
        assert refused.value.reason == "UNAVAILABLE"
        assert (reason(first, ana), reason(first, rui)) == ("TOKEN_REVOKED", "")
        clock.seconds += STALE_VIEW_LIMIT_S + 1
        assert (reason(first, ana), reason(first, rui)) == ("TOKEN_REVOKED", "UNAVAILABLE")
        nats.start()
        await wait_until(lambda: reason(first, rui) == "")
        assert reason(first, ana) == "TOKEN_REVOKED"


async def test_a_gateway_without_a_first_view_refuses_all_tokens(nats: StoppableNats) -> None:
    async with bus_client(nats.url) as bus:
        assert reason(Revocations(bus), caller("ana")) == "UNAVAILABLE"


async def test_revocations_that_the_bus_lost_are_written_again(nats: StoppableNats) -> None:
    ana = caller("ana")
    async with running_revocations(nats.url) as first:
        await retry(lambda: first.revoke_token(ana, "logout"))
        nats.stop(forget=True)
        nats.start()
        async with running_revocations(nats.url) as later:
            await wait_until(lambda: reason(later, ana) == "TOKEN_REVOKED")


@pytest.mark.parametrize("value", [b"\xff\xfe not a message", b"\x00", b"{}", b"\x0a\x0b\x08" + b"\xff" * 9 + b"\x01"])
async def test_what_is_no_revocation_stops_no_gateway(nats: StoppableNats, value: bytes) -> None:
    ana, rui = caller("ana"), caller("rui", "r")
    async with running_revocations(nats.url) as first, bus_client(nats.url) as bus:
        bucket = Bucket(bus, REVOCATIONS_BUCKET, lambda: None)
        for key in ("strange", "a.b.c", *revocations._keys(ana)):
            await bucket.put(key, value)
        await retry(lambda: first.revoke_token(rui, "logout"))
        await wait_until(lambda: first._bucket.entries["strange"].value == value)
        assert (reason(first, ana), reason(first, rui)) == ("", "TOKEN_REVOKED")
        async with running_revocations(nats.url) as later:
            assert (reason(later, ana), reason(later, rui)) == ("", "TOKEN_REVOKED")
            await retry(lambda: later.revoke_token(ana, "logout"))
            await wait_until(lambda: reason(first, ana) == "TOKEN_REVOKED")
