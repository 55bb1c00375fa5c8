"""After thirty minutes without any activity a new login is asked for, whichever gateways a player used."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.access import activity
from gateway.access.activity import IDLE_LIMIT_S, PUBLISH_EVERY_S, Activity
from gateway.access.logins import Login, login_of
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import Caller
from services.kit.bus import buckets
from tests.gateway.bus import WITHIN_S, FakeClock, bus_client, running_tasks, wait_until
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.rule("GLI-19 2.5.4")

MINUTE = 60


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    monkeypatch.setattr(activity, "PUBLISH_TICK_S", 0.02)
    # The bus is there, however long it takes to answer.
    monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
    return FakeClock()


@asynccontextmanager
async def gateway(url: str, clock: FakeClock) -> AsyncIterator[Activity]:
    async with bus_client(url) as bus:
        made = Activity(bus, clock)
        async with running_tasks(made.run()):
            await wait_until(lambda: made.bus_reachable)
            yield made


def caller(clock: FakeClock, of: str = "one", scope: str = "player") -> Login | None:
    return login_of("", Caller("ana", frozenset({scope}), clock() + 12 * 3600, clock(), of))


async def reason(known: Activity, who: Login | None) -> str:
    try:
        await known.verify(who)
    except GatewayRefused as refused:
        return refused.reason
    return ""


@pytest.mark.parametrize("scope", ["player", "demo"])
async def test_after_thirty_minutes_without_activity_a_new_login_is_needed(
    nats: StoppableNats, clock: FakeClock, scope: str
) -> None:
    async with gateway(nats.url, clock) as here:
        ana = caller(clock, scope=scope)
        clock.seconds += 29 * MINUTE
        assert await reason(here, ana) == ""
        here.record(ana)
        clock.seconds += IDLE_LIMIT_S - 1
        assert await reason(here, ana) == ""
        clock.seconds += 1
        assert await reason(here, ana) == "LOGIN_NEEDED"
        # Trying wakes nobody up; a token that is issued now does.
        clock.seconds += 1
        assert await reason(here, ana) == "LOGIN_NEEDED"
        assert await reason(here, caller(clock, "two", scope)) == ""


async def test_what_he_does_at_one_gateway_counts_at_all(nats: StoppableNats, clock: FakeClock) -> None:
    async with gateway(nats.url, clock) as here, gateway(nats.url, clock) as there:
        ana = caller(clock)
        for _ in range(5):
            clock.seconds += 20 * MINUTE
            assert await reason(here, ana) == ""
            here.record(ana)
            await wait_until(lambda: not here._unpublished)
        assert await reason(there, ana) == ""
        clock.seconds += IDLE_LIMIT_S
        assert {await reason(known, ana) for known in (here, there)} == {"LOGIN_NEEDED"}


async def test_others_are_told_often_enough_and_not_always(nats: StoppableNats, clock: FakeClock) -> None:
    async with gateway(nats.url, clock) as here, bus_client(nats.url) as bus:
        ana = caller(clock)
        started = clock()
        for _ in range(PUBLISH_EVERY_S):
            here.record(ana)
            await wait_until(lambda: clock() - started > 0 or not here._unpublished)
            clock.seconds += 1
        await wait_until(lambda: not here._unpublished)
        assert (await bus.jetstream(timeout=WITHIN_S).stream_info(f"KV_{activity.BUCKET}")).state.last_seq == 2


async def test_while_the_bus_is_away_only_those_who_were_seen_here_are_known(
    nats: StoppableNats, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", 0.6)
    async with gateway(nats.url, clock) as here:
        seen, unseen = caller(clock, "seen"), caller(clock, "unseen")
        clock.seconds += 25 * MINUTE
        here.record(seen)
        nats.stop()
        clock.seconds += 10 * MINUTE
        assert (await reason(here, seen), await reason(here, unseen)) == ("", "UNAVAILABLE")
        here.record(seen)
        nats.start()
        monkeypatch.setattr(buckets, "REQUEST_TIMEOUT_S", WITHIN_S)
        async with gateway(nats.url, clock) as there:
            await wait_until(lambda: not here._unpublished)
            assert await reason(there, seen) == ""
            assert await reason(there, unseen) == "LOGIN_NEEDED"


async def test_the_back_office_does_not_fall_asleep(nats: StoppableNats, clock: FakeClock) -> None:
    async with gateway(nats.url, clock) as here:
        machine = caller(clock, scope="operator")
        clock.seconds += 11 * 3600
        assert await reason(here, machine) == ""


@pytest.mark.guarantee("G11")
async def test_g11_tokens_are_remembered_up_to_a_limit(
    nats: StoppableNats, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "REMEMBERED_LOGINS_LIMIT", 3)
    async with bus_client(nats.url) as bus:
        known = Activity(bus, clock)
        for number in range(10):
            known.record(caller(clock, str(number)))
        assert list(known._last_used) == list(known._unpublished) == ["7", "8", "9"]
