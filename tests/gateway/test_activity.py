"""After thirty minutes without any activity a new login is asked for, whichever gateways a player used."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from gateway import activity
from gateway.activity import IDLE_LIMIT_S, TOLD_EVERY_S, Activity
from gateway.logins import Login, login_of
from gateway.refusals import GatewayRefused
from services.kit.identity import Caller
from services.kit.table import leases
from tests.gateway.bus import WITHIN_S, Clock, connected, running, until
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.rule("GLI-19 2.5.4")

MINUTE = 60


@pytest.fixture
def nats() -> Iterator[StoppableNats]:
    with StoppableNats() as server:
        yield server


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(activity, "TELL_TICK_S", 0.02)
    # The bus is there, however long it takes to answer.
    monkeypatch.setattr(leases, "ANSWERED_WITHIN_S", WITHIN_S)
    return Clock()


@asynccontextmanager
async def gateway(url: str, clock: Clock) -> AsyncIterator[Activity]:
    async with connected(url) as bus:
        made = Activity(bus, clock)
        async with running(made.run()):
            await until(lambda: made.reachable)
            yield made


def caller(clock: Clock, of: str = "one", scope: str = "player") -> Login | None:
    return login_of("", Caller("ana", frozenset({scope}), clock() + 12 * 3600, clock(), of))


async def reason(known: Activity, who: Login | None) -> str:
    try:
        await known.verify(who)
    except GatewayRefused as refused:
        return refused.reason
    return ""


@pytest.mark.parametrize("scope", ["player", "demo"])
async def test_after_thirty_minutes_without_activity_a_new_login_is_needed(
    nats: StoppableNats, clock: Clock, scope: str
) -> None:
    async with gateway(nats.url, clock) as here:
        ana = caller(clock, scope=scope)
        clock.seconds += 29 * MINUTE
        assert await reason(here, ana) == ""
        here.note(ana)
        clock.seconds += IDLE_LIMIT_S - 1
        assert await reason(here, ana) == ""
        clock.seconds += 1
        assert await reason(here, ana) == "LOGIN_NEEDED"
        # Trying wakes nobody up; a token that is issued now does.
        clock.seconds += 1
        assert await reason(here, ana) == "LOGIN_NEEDED"
        assert await reason(here, caller(clock, "two", scope)) == ""


async def test_what_he_does_at_one_gateway_counts_at_all(nats: StoppableNats, clock: Clock) -> None:
    async with gateway(nats.url, clock) as here, gateway(nats.url, clock) as there:
        ana = caller(clock)
        for _ in range(5):
            clock.seconds += 20 * MINUTE
            assert await reason(here, ana) == ""
            here.note(ana)
            await until(lambda: not here._untold)
        assert await reason(there, ana) == ""
        clock.seconds += IDLE_LIMIT_S
        assert {await reason(known, ana) for known in (here, there)} == {"LOGIN_NEEDED"}


async def test_others_are_told_often_enough_and_not_always(nats: StoppableNats, clock: Clock) -> None:
    async with gateway(nats.url, clock) as here, connected(nats.url) as bus:
        ana = caller(clock)
        started = clock()
        for _ in range(TOLD_EVERY_S):
            here.note(ana)
            await until(lambda: clock() - started > 0 or not here._untold)
            clock.seconds += 1
        await until(lambda: not here._untold)
        assert (await bus.jetstream(timeout=WITHIN_S).stream_info(f"KV_{activity.BUCKET}")).state.last_seq == 2


async def test_while_the_bus_is_away_only_those_who_were_seen_here_are_known(
    nats: StoppableNats, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "ANSWERED_WITHIN_S", 0.6)
    async with gateway(nats.url, clock) as here:
        seen, unseen = caller(clock, "seen"), caller(clock, "unseen")
        clock.seconds += 25 * MINUTE
        here.note(seen)
        nats.stop()
        clock.seconds += 10 * MINUTE
        assert (await reason(here, seen), await reason(here, unseen)) == ("", "UNAVAILABLE")
        here.note(seen)
        nats.start()
        monkeypatch.setattr(leases, "ANSWERED_WITHIN_S", WITHIN_S)
        async with gateway(nats.url, clock) as there:
            await until(lambda: not here._untold)
            assert await reason(there, seen) == ""
            assert await reason(there, unseen) == "LOGIN_NEEDED"


async def test_the_back_office_does_not_fall_asleep(nats: StoppableNats, clock: Clock) -> None:
    async with gateway(nats.url, clock) as here:
        machine = caller(clock, scope="operator")
        clock.seconds += 11 * 3600
        assert await reason(here, machine) == ""


@pytest.mark.guarantee("G11")
async def test_g11_tokens_are_remembered_up_to_a_limit(
    nats: StoppableNats, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "KNOWN_LIMIT", 3)
    async with connected(nats.url) as bus:
        known = Activity(bus, clock)
        for number in range(10):
            known.note(caller(clock, str(number)))
        assert list(known._used) == list(known._untold) == ["7", "8", "9"]
