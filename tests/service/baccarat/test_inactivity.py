"""Inactivity: invited, warned and ended by the numbers of 812/2015, at tables for one and for many."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta

import pytest

from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from tests.service.baccarat.platform import ALONE, TIMEOUT_S, BaccaratDriver
from tests.service.roulette.platform import SeatedPlayer

Facts = asyncio.Queue[wallet_events.PlayerFact]
INVITATION = wallet_events.SESSION_NOTICE_KIND_INVITATION
WARNING = wallet_events.SESSION_NOTICE_KIND_WARNING


async def advance(driver: BaccaratDriver, seconds: int) -> None:
    """Moves the clock of sessions forward."""
    request = session_pb2.AdvanceSessionClockRequest(by_ms=1000 * seconds)
    await driver.wallet.sessions.AdvanceSessionClock(request, metadata=driver.wallet.operator)


async def next_notice(facts: Facts) -> wallet_events.PlayerFact:
    """The next fact about the player's session."""
    async with asyncio.timeout(TIMEOUT_S):
        while (fact := await facts.get()).WhichOneof("fact") not in {"session_notice", "session_ended"}:
            pass
    return fact


async def state(driver: BaccaratDriver, player: SeatedPlayer) -> session_pb2.SessionState.ValueType:
    return (await driver.session(player)).session.state


@pytest.mark.rule("812/2015:33", "812/2015:35", "812/2015:35.a", "812/2015:36")
async def test_a_player_alone_is_invited_after_more_than_three_minutes(driver: BaccaratDriver) -> None:
    ana = await driver.seat_new_player(ALONE)
    facts = await driver.private_facts(ana)
    dealt = await driver.play(ana, {"ponto": 100})
    last_bet = (await driver.session(ana)).session.last_activity_at.ToDatetime(UTC)

    await advance(driver, 181)
    invitation = await next_notice(facts)
    await advance(driver, 21)
    warning = await next_notice(facts)
    await advance(driver, 60)
    ended = (await next_notice(facts)).session_ended

    assert (invitation.session_notice.kind, invitation.session_notice.rule) == (INVITATION, "812/2015:35.a")
    assert invitation.at.ToDatetime(UTC) - last_bet > timedelta(seconds=180)
    assert (warning.session_notice.kind, warning.session_notice.rule) == (WARNING, "812/2015:36")
    ends_at = warning.session_notice.ends_at.ToDatetime(UTC)
    assert ends_at - warning.at.ToDatetime(UTC) >= timedelta(seconds=60)
    assert ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY
    assert (ended.summary.staked_cents, ended.summary.payout_cents) == (100, dealt.payout_cents)


@pytest.mark.rule("812/2015:34", "812/2015:35.b", "812/2015:36")
async def test_who_misses_more_than_five_rounds_is_invited_warned_and_ended(driver: BaccaratDriver) -> None:
    table_id = await driver.new_table()
    ana, idle = await driver.seat_new_players(table_id, 2)
    facts = await driver.private_facts(idle)
    watcher = await driver.watch(table_id)

    async def play_without_idle() -> None:
        round_id = await driver.wait_for_open_round(ana)
        await driver.bet(ana, round_id, {"ponto": 100})
        await driver.end_betting()
        await watcher.wait_for("round_settled", round_id)

    for _ in range(5):
        await play_without_idle()
        assert await state(driver, idle) == session_pb2.SESSION_STATE_ACTIVE
    await play_without_idle()
    invitation = await next_notice(facts)
    assert (invitation.session_notice.kind, invitation.session_notice.rule) == (INVITATION, "812/2015:35.b")
    await play_without_idle()
    warning = await next_notice(facts)
    assert (warning.session_notice.kind, warning.session_notice.rule) == (WARNING, "812/2015:36")
    await play_without_idle()
    assert (await next_notice(facts)).session_ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY
    assert await state(driver, ana) == session_pb2.SESSION_STATE_ACTIVE
