"""Inactivity at an individual table: invited after more than three minutes, warned, and ended a minute later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, timedelta

import pytest

from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from tests.service.game_driver import TIMEOUT_S, SeatedPlayer
from tests.service.refusals import refusal
from tests.service.roulette.platform import INDIVIDUAL, INDIVIDUAL_TABLES, RouletteDriver

Facts = asyncio.Queue[wallet_events.PlayerFact]
INVITATION = wallet_events.SESSION_NOTICE_KIND_INVITATION
WARNING = wallet_events.SESSION_NOTICE_KIND_WARNING
WITHDRAWN = wallet_events.SESSION_NOTICE_KIND_WITHDRAWN
RULES = {"804": ("804/2015:28.a", "804/2015:29"), "807": ("807/2015:30.a", "807/2015:31")}


async def advance(driver: RouletteDriver, seconds: int) -> None:
    """Moves the clock of sessions forward."""
    request = session_pb2.AdvanceSessionClockRequest(by_ms=1000 * seconds)
    await driver.wallet.sessions.AdvanceSessionClock(request, metadata=driver.wallet.operator)


async def next_notice(facts: Facts) -> wallet_events.PlayerFact:
    """The next fact about the player's session."""
    async with asyncio.timeout(TIMEOUT_S):
        while (fact := await facts.get()).WhichOneof("fact") not in {"session_notice", "session_ended"}:
            pass
    return fact


async def start_witness(driver: RouletteDriver) -> Facts:
    """A player who is invited three minutes from now; their facts.

    The invitation proves that the wallet has checked the sessions since the clock was moved over that moment. Without
    it, a test that nothing happens to other players could look too early.
    """
    return await driver.private_facts(await driver.seat_new_player(INDIVIDUAL_TABLES["807"]))


async def wait_until_checked(witness: Facts) -> None:
    """Returns when the wallet has checked all sessions at a moment after the witness was due."""
    assert (await next_notice(witness)).session_notice.kind == INVITATION


async def states(driver: RouletteDriver, seated: Iterable[SeatedPlayer]) -> set[session_pb2.SessionState.ValueType]:
    return {(await driver.session(seated_player)).session.state for seated_player in seated}


@pytest.fixture
async def players(driver: RouletteDriver) -> dict[str, SeatedPlayer]:
    """A player for each regulation: they share the clock of sessions, so they are tested together."""
    return {regulation: await driver.seat_new_player(table_id) for regulation, table_id in INDIVIDUAL_TABLES.items()}


async def facts_of(driver: RouletteDriver, seated: Iterable[SeatedPlayer]) -> list[Facts]:
    return [await driver.private_facts(seated_player) for seated_player in seated]


@pytest.mark.rule("804/2015:28", "804/2015:28.a", "804/2015:29", "807/2015:30", "807/2015:30.a", "807/2015:31")
@pytest.mark.rule("804/2015:26", "807/2015:28")
async def test_a9_a10_invited_warned_and_ended_with_a_summary(
    driver: RouletteDriver, players: dict[str, SeatedPlayer]
) -> None:
    all_facts = await facts_of(driver, players.values())
    early_witness = await start_witness(driver)
    await advance(driver, 70)
    played = {
        regulation: await driver.play(seated_player, {"red": 100}) for regulation, seated_player in players.items()
    }
    last_bets = [
        (await driver.session(seated_player)).session.last_activity_at.ToDatetime(UTC)
        for seated_player in players.values()
    ]

    await advance(driver, 30)
    late_witness = await start_witness(driver)
    await advance(driver, 90)
    await wait_until_checked(early_witness)
    assert await states(driver, players.values()) == {session_pb2.SESSION_STATE_ACTIVE}
    await advance(driver, 61)
    invitations = [await next_notice(facts) for facts in all_facts]
    await advance(driver, 21)
    warnings = [await next_notice(facts) for facts in all_facts]
    await advance(driver, 10)
    await wait_until_checked(late_witness)
    assert await states(driver, players.values()) == {session_pb2.SESSION_STATE_WARNED}
    await advance(driver, 50)
    ends = [(await next_notice(facts)).session_ended for facts in all_facts]

    for (regulation, seated_player), bet_at, invitation, warning, ended in zip(
        players.items(), last_bets, invitations, warnings, ends, strict=True
    ):
        assert (invitation.session_notice.kind, warning.session_notice.kind) == (INVITATION, WARNING)
        assert (invitation.session_notice.rule, warning.session_notice.rule) == RULES[regulation]
        assert invitation.at.ToDatetime(UTC) - bet_at > timedelta(seconds=180)
        ends_at = warning.session_notice.ends_at.ToDatetime(UTC)
        assert ends_at - warning.at.ToDatetime(UTC) >= timedelta(seconds=60)
        assert ended.session.ended_at.ToDatetime(UTC) >= ends_at
        assert ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY
        won = played[regulation].payout_cents
        assert (ended.summary.staked_cents, ended.summary.payout_cents, ended.summary.net_cents) == (
            100,
            won,
            won - 100,
        )
        left = await (await driver.watch(seated_player.table_id)).wait_for("seat_left")
        assert left.seat_left.seat == seated_player.seat
        refused = await refusal(driver.bet(seated_player, played[regulation].next_round_id, {"red": 100}))
        assert refused.reason in {"NOT_SEATED", "BETTING_CLOSED"}


@pytest.mark.rule("804/2015:27", "804/2015:29", "807/2015:29", "807/2015:31")
async def test_a10_a_bet_before_the_end_withdraws_the_warning(
    driver: RouletteDriver, players: dict[str, SeatedPlayer]
) -> None:
    all_facts = await facts_of(driver, players.values())
    await advance(driver, 60)
    witness = await start_witness(driver)
    for seconds, kind in ((121, INVITATION), (21, WARNING)):
        await advance(driver, seconds)
        assert {(await next_notice(facts)).session_notice.kind for facts in all_facts} == {kind}
        for seated_player in players.values():
            # Looking at the table is no bet, and a warned player is still seated.
            assert (await driver.get_table(seated_player)).own_seat.session_id == seated_player.session_id
    await advance(driver, 10)

    for seated_player in players.values():
        await driver.bet(seated_player, await driver.wait_for_open_round(seated_player), {"red": 100})

    assert {(await next_notice(facts)).session_notice.kind for facts in all_facts} == {WITHDRAWN}
    await advance(driver, 60)
    await wait_until_checked(witness)
    assert await states(driver, players.values()) == {session_pb2.SESSION_STATE_ACTIVE}


@pytest.mark.rule("804/2015:28", "807/2015:30")
async def test_the_operator_may_invite_later_than_the_regulation(driver: RouletteDriver) -> None:
    patient = session_pb2.InactivityPolicy(invite=True, idle_seconds=600)
    table_id = await driver.new_table(play=INDIVIDUAL, inactivity=patient)
    seated_player = await driver.seat_new_player(table_id)
    await driver.wait_for_open_round(seated_player)
    facts = await driver.private_facts(seated_player)
    witness = await start_witness(driver)

    await advance(driver, 500)
    await wait_until_checked(witness)
    assert (await driver.session(seated_player)).session.state == session_pb2.SESSION_STATE_ACTIVE
    await advance(driver, 101)
    assert (await next_notice(facts)).session_notice.kind == INVITATION
