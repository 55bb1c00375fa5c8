"""After thirty minutes without any activity a new login is needed, whichever gateways a player used."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.access import activity
from gateway.access.activity import IDLE_LIMIT_S, PUBLISH_EVERY_S, Activity
from gateway.access.logins import Login, login_of
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import Caller
from services.kit.bus import buckets
from services.kit.bus.buckets import Bucket
from services.kit.bus.subjects import ACTIVITY_BUCKET, bucket_stream
from tests.gateway.bus import WITHIN_S, FakeClock, bus_client, running_tasks, wait_until
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.rule("GLI-19 2.5.4")

MINUTE = 60


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    monkeypatch.setattr(activity, "PUBLISH_TICK_S", 0.02)
    # The bus answers, however long a busy machine takes.
    monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
    return FakeClock()


@asynccontextmanager
async def running_activity(url: str, clock: FakeClock) -> AsyncIterator[Activity]:
    async with bus_client(url) as bus:
        activity = Activity(bus, clock)
        async with running_tasks(activity.run()):
            await wait_until(lambda: activity.bus_reachable)
            yield activity


def login(clock: FakeClock, token_id: str = "one", scope: str = "player") -> Login | None:  # noqa: S107 - an id
    return login_of("", Caller("ana", frozenset({scope}), clock() + 12 * 3600, clock(), token_id))


async def reason(activity: Activity, login: Login | None) -> str:
    try:
        await activity.verify(login)
    except GatewayRefused as refused:
        return refused.reason
    return ""


@pytest.mark.parametrize("scope", ["player", "demo"])
async def test_after_thirty_minutes_without_activity_a_new_login_is_needed(
    nats: StoppableNats, clock: FakeClock, scope: str
) -> None:
    async with running_activity(nats.url, clock) as first:
        ana = login(clock, scope=scope)
        clock.seconds += 29 * MINUTE
        assert await reason(first, ana) == ""
        first.record(ana)
        clock.seconds += IDLE_LIMIT_S - 1
        assert await reason(first, ana) == ""
        clock.seconds += 1
        assert await reason(first, ana) == "LOGIN_NEEDED"
        # A refused call is no activity; a new login is.
        clock.seconds += 1
        assert await reason(first, ana) == "LOGIN_NEEDED"
        assert await reason(first, login(clock, "two", scope)) == ""


async def test_activity_at_one_gateway_counts_at_all(nats: StoppableNats, clock: FakeClock) -> None:
    async with running_activity(nats.url, clock) as first, running_activity(nats.url, clock) as second:
        ana = login(clock)
        for _ in range(5):
            clock.seconds += 20 * MINUTE
            assert await reason(first, ana) == ""
            first.record(ana)
            await wait_until(lambda: not first._unpublished)
        assert await reason(second, ana) == ""
        clock.seconds += IDLE_LIMIT_S
        assert {await reason(activity, ana) for activity in (first, second)} == {"LOGIN_NEEDED"}


async def test_activity_is_published_at_most_once_per_interval(nats: StoppableNats, clock: FakeClock) -> None:
    async with running_activity(nats.url, clock) as first, bus_client(nats.url) as bus:
        ana = login(clock)
        started = clock()
        for _ in range(PUBLISH_EVERY_S):
            first.record(ana)
            await wait_until(lambda: clock() - started > 0 or not first._unpublished)
            clock.seconds += 1
        await wait_until(lambda: not first._unpublished)
        assert (await bus.jetstream(timeout=WITHIN_S).stream_info(bucket_stream(ACTIVITY_BUCKET))).state.last_seq == 2


async def test_during_a_bus_outage_only_own_activity_is_known(
    nats: StoppableNats, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", 0.6)
    async with running_activity(nats.url, clock) as first:
        seen, unseen = login(clock, "seen"), login(clock, "unseen")
        clock.seconds += 25 * MINUTE
        first.record(seen)
        nats.stop()
        clock.seconds += 10 * MINUTE
        assert (await reason(first, seen), await reason(first, unseen)) == ("", "UNAVAILABLE")
        first.record(seen)
        nats.start()
        monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
        async with running_activity(nats.url, clock) as second:
            await wait_until(lambda: not first._unpublished)
            assert await reason(second, seen) == ""
            assert await reason(second, unseen) == "LOGIN_NEEDED"


async def test_operators_need_no_new_login(nats: StoppableNats, clock: FakeClock) -> None:
    async with running_activity(nats.url, clock) as first:
        operator = login(clock, scope="operator")
        clock.seconds += 11 * 3600
        assert await reason(first, operator) == ""


@pytest.mark.guarantee("G11")
async def test_g11_logins_are_remembered_up_to_a_limit(
    nats: StoppableNats, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "REMEMBERED_LOGINS_LIMIT", 3)
    async with bus_client(nats.url) as bus:
        remembered = Activity(bus, clock)
        for number in range(10):
            remembered.record(login(clock, str(number)))
        assert list(remembered._last_used) == list(remembered._unpublished) == ["7", "8", "9"]


@pytest.mark.parametrize(
    "value", [b"", b"soon", struct.pack("!d", float("nan")), struct.pack("!d", float("inf")), struct.pack("!d", 1e18)]
)
async def test_what_is_no_time_keeps_no_login_active(nats: StoppableNats, clock: FakeClock, value: bytes) -> None:
    async with running_activity(nats.url, clock) as first, bus_client(nats.url) as bus:
        idle = login(clock)
        assert idle is not None
        await Bucket(bus, ACTIVITY_BUCKET, lambda: None).put(activity._bucket_key(idle.key), value)
        clock.seconds += IDLE_LIMIT_S
        assert await reason(first, idle) == "LOGIN_NEEDED"
