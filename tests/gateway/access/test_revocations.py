"""Revoked tokens are refused at every gateway; a gateway that does not know the revocations refuses all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.access import revocations
from gateway.access.principals import Principal
from gateway.access.revocations import STALE_VIEW_LIMIT_S, Revocations
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.identity import Caller
from tests.gateway.bus import WITHIN_S, FakeClock, running_tasks, wait_until
from tests.gateway.revocation_store import InMemoryRevocations

pytestmark = pytest.mark.guarantee("G12")

OPERATOR = Principal("token", Caller("back-office", frozenset({"operator"}), time.time() + 3600, time.time()))


@pytest.fixture(autouse=True)
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocations, "POLL_EVERY_S", 0.01)


@asynccontextmanager
async def gateway(
    store: InMemoryRevocations, wall: FakeClock | None = None, clock: FakeClock | None = None
) -> AsyncIterator[Revocations]:
    """Runs the revocations of one gateway, and yields them once they are known."""
    made = Revocations(store, wall or time.time, clock or time.monotonic)
    async with running_tasks(made.run()):
        await wait_until(lambda: made.is_known)
        yield made


def caller(subject: str, token_id: str = "t", issued_s_ago: float = 60, lifetime_s: float = 3600) -> Caller:  # noqa: S107 - an id
    now = time.time()
    return Caller(subject, frozenset({"player"}), now + lifetime_s, now - issued_s_ago, token_id)


def guest(number: int, at: float | None = None) -> Caller:
    """A guest of a demonstration."""
    now = time.time() if at is None else at
    return Caller(f"demo-{number:08}", frozenset({"demo"}), now + 3600, now - 60, f"guest {number}")


async def log_out(revocations: Revocations, caller: Caller) -> None:
    await revocations.revoke_token(Principal("token", caller), "logout")


def reason(revocations: Revocations, caller: Caller) -> str:
    try:
        revocations.verify(caller)
    except GatewayRefused as refused:
        return refused.reason
    return ""


async def test_a_revoked_token_is_refused_by_every_gateway() -> None:
    ana, elsewhere, store = caller("ana", "one"), caller("ana", "two"), InMemoryRevocations()
    async with gateway(store) as first, gateway(store) as second:
        await log_out(first, ana)
        assert reason(first, ana) == "TOKEN_REVOKED"
        await wait_until(lambda: reason(second, ana) == "TOKEN_REVOKED")
        assert reason(second, elsewhere) == ""
    async with gateway(store) as later:
        assert reason(later, ana) == "TOKEN_REVOKED"


async def test_a_revoked_subject_loses_all_earlier_tokens_and_no_later_one() -> None:
    store = InMemoryRevocations()
    async with gateway(store) as first, gateway(store) as second:
        await first.revoke_subject(OPERATOR, "ana", "stolen phone")
        old, without_time = caller("ana", "one"), Caller("ana", frozenset({"player"}), time.time() + 60, token_id="two")  # noqa: S106
        for known in (first, second):
            await wait_until(lambda: reason(known, old) == "TOKEN_REVOKED")  # noqa: B023 - waited for right here
            assert reason(known, without_time) == "TOKEN_REVOKED"
            assert reason(known, caller("ana", "three", issued_s_ago=-1)) == ""
            assert reason(known, caller("rui", "one")) == ""


async def test_a_watched_token_is_notified_of_its_revocation() -> None:
    ana, store = caller("ana", "one"), InMemoryRevocations()
    async with gateway(store) as first, gateway(store) as second:
        with second.watch(ana) as one, second.watch(caller("ana", "two")) as two, second.watch(caller("rui")) as rui:
            await log_out(first, ana)
            assert (await asyncio.wait_for(one, WITHIN_S)).reason == "TOKEN_REVOKED"
            assert not two.done()
            await first.revoke_subject(OPERATOR, "ana", "stolen phone")
            assert (await asyncio.wait_for(two, WITHIN_S)).reason == "TOKEN_REVOKED"
            assert not rui.done()
        with second.watch(ana) as again:
            assert again.done()
        assert not second._waiting


@pytest.mark.guarantee("G11")
async def test_g11_a_revocation_is_known_until_its_token_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocations, "CLEANUP_EVERY_S", 0.01)
    wall = FakeClock(time.time())
    store = InMemoryRevocations(wall)
    async with gateway(store, wall) as first:
        await log_out(first, caller("ana", "one", lifetime_s=1))
        await log_out(first, caller("ana", "two"))
        assert len(first._notes) == 2
        wall.seconds += 60
        await wait_until(lambda: len(first._notes) == 1)
        # It is read again, as after an outage, and not taken over again.
        first._read_up_to = 0
        await first.refresh()
        assert len(first._notes) == 1


@pytest.mark.guarantee("G11")
async def test_g11_logouts_of_guests_leave_room_for_the_operators_revocations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocations, "DEMO_REVOCATIONS_LIMIT", 3)
    monkeypatch.setattr(revocations, "CLEANUP_EVERY_S", 0.01)
    wall = FakeClock(time.time())
    async with gateway(InMemoryRevocations(wall), wall) as first:
        for number in range(3):
            await log_out(first, guest(number))
        with pytest.raises(GatewayRefused) as refused:
            first.verify_capacity(guest(3))
        assert (refused.value.reason, refused.value.facts) == ("OVERLOADED", {"limit": "3"})
        assert [reason(first, guest(number)) for number in range(4)] == [*["TOKEN_REVOKED"] * 3, ""]
        first.verify_capacity(caller("ana", "one"))
        await first.revoke_subject(OPERATOR, "demo-00000003", "noise")
        assert reason(first, guest(3)) == "TOKEN_REVOKED"
        wall.seconds += 4000
        await wait_until(lambda: first._demo_notes == 0)
        first.verify_capacity(guest(4, wall.seconds))


async def test_while_the_wallet_is_silent_the_view_counts_until_it_is_stale() -> None:
    clock, store = FakeClock(), InMemoryRevocations()
    ana, rui = caller("ana"), caller("rui", "r")
    async with gateway(store, clock=clock) as first:
        await log_out(first, ana)
        store.is_up = False
        with pytest.raises(GatewayRefused) as refused:
            await log_out(first, rui)
        assert refused.value.reason == "UNAVAILABLE"
        await first.refresh()
        assert (reason(first, ana), reason(first, rui)) == ("TOKEN_REVOKED", "")
        clock.seconds += STALE_VIEW_LIMIT_S + 1
        assert (reason(first, ana), reason(first, rui)) == ("TOKEN_REVOKED", "UNAVAILABLE")
        store.is_up = True
        await wait_until(lambda: reason(first, rui) == "")
        assert reason(first, ana) == "TOKEN_REVOKED"


async def test_a_gateway_that_has_not_read_them_refuses_all_tokens() -> None:
    ana, store = caller("ana"), InMemoryRevocations()
    store.is_up = False
    starting = Revocations(store)
    for _ in range(2):
        assert reason(starting, ana) == "UNAVAILABLE"
        await starting.refresh()
    store.is_up = True
    await starting.refresh()
    assert reason(starting, ana) == ""


@pytest.mark.guarantee("G5")
async def test_g5_what_is_recorded_counts_although_nobody_was_told() -> None:
    """The wallet dies between the write and its answer."""
    ana, store = caller("ana"), InMemoryRevocations()
    async with gateway(store) as first, gateway(store) as second:
        store.dies_after_recording = True
        with pytest.raises(GatewayRefused):
            await log_out(first, ana)
        assert (reason(first, ana), reason(second, ana)) == ("", "")
        store.dies_after_recording, store.is_up = False, True
        for known in (first, second):
            await wait_until(lambda: reason(known, ana) == "TOKEN_REVOKED")  # noqa: B023 - waited for right here


async def test_many_revocations_come_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocations, "PAGE_SIZE", 3)
    store = InMemoryRevocations()
    async with gateway(store) as first:
        for number in range(6):
            await log_out(first, caller("ana", str(number)))
    async with gateway(store) as later:
        assert [reason(later, caller("ana", str(number))) for number in range(7)] == [*["TOKEN_REVOKED"] * 6, ""]


async def test_a_wallet_that_was_restored_to_an_earlier_state_is_read_from_the_beginning() -> None:
    store = InMemoryRevocations()
    async with gateway(store) as first:
        for number in range(5):
            await log_out(first, caller("ana", str(number)))
        await wait_until(lambda: first._read_up_to == 5)
        del store.recorded[2:]
        await store.revoke_token(Principal("token", caller("rui")), "logout")
        await wait_until(lambda: reason(first, caller("rui")) == "TOKEN_REVOKED")
        # What the wallet has forgotten this gateway has not.
        assert reason(first, caller("ana", "4")) == "TOKEN_REVOKED"
