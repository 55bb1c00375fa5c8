"""Inactivity at an individual wheel: invited after more than three minutes, warned, and ended a minute later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, timedelta

import pytest
from google.protobuf.duration_pb2 import Duration

from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    TIMEOUT_S,
    RouletteDriver,
    SeatedPlayer,
    refusal,
)

Facts = asyncio.Queue[wallet_events.PlayerFact]
INVITATION = wallet_events.SESSION_NOTICE_KIND_INVITATION
WARNING = wallet_events.SESSION_NOTICE_KIND_WARNING
WITHDRAWN = wallet_events.SESSION_NOTICE_KIND_WITHDRAWN
# In which the wallet has looked at its sessions at least once.
LOOKED_S = 1.2
RULES = {"804": ("804/2015:28.a", "804/2015:29"), "807": ("807/2015:30.a", "807/2015:31")}


async def advance(room: RouletteDriver, seconds: int) -> None:
    """The session clock alone moves: nobody waits three minutes for a test."""
    request = session_pb2.AdvanceSessionClockRequest(by=Duration(seconds=seconds))
    await room.wallet.sessions.AdvanceSessionClock(request, metadata=room.wallet.operator)


async def heard(facts: Facts) -> wallet_events.PlayerFact:
    """The next that he is told about his session."""
    async with asyncio.timeout(TIMEOUT_S):
        while (fact := await facts.get()).WhichOneof("fact") not in {"session_notice", "session_ended"}:
            pass
    return fact


async def states(room: RouletteDriver, guests: Iterable[SeatedPlayer]) -> set[session_pb2.SessionState.ValueType]:
    return {(await room.session(guest)).session.state for guest in guests}


@pytest.fixture
async def guests(room: RouletteDriver) -> dict[str, SeatedPlayer]:
    """One for each regulation: they share the clock, so they are tested together."""
    return {regulation: await room.seat_new_player(house) for regulation, house in INDIVIDUAL_TABLES.items()}


async def told(room: RouletteDriver, guests: Iterable[SeatedPlayer]) -> list[Facts]:
    return [await room.private_facts(guest) for guest in guests]


@pytest.mark.rule("804/2015:28", "804/2015:28.a", "804/2015:29", "807/2015:30", "807/2015:30.a", "807/2015:31")
@pytest.mark.rule("804/2015:26", "807/2015:28")
async def test_a9_a10_invited_warned_and_ended_with_a_summary(
    room: RouletteDriver, guests: dict[str, SeatedPlayer]
) -> None:
    all_facts = await told(room, guests.values())
    played = {regulation: await room.play(guest, {"red": 100}) for regulation, guest in guests.items()}
    last_bets = [(await room.session(guest)).session.last_activity_at.ToDatetime(UTC) for guest in guests.values()]

    await advance(room, 120)
    # The wallet looks every second; what it does not say here would be among what it says next.
    await asyncio.sleep(LOOKED_S)
    assert await states(room, guests.values()) == {session_pb2.SESSION_STATE_ACTIVE}
    await advance(room, 61)
    invitations = [await heard(facts) for facts in all_facts]
    await advance(room, 21)
    warnings = [await heard(facts) for facts in all_facts]
    await advance(room, 10)
    await asyncio.sleep(LOOKED_S)
    assert await states(room, guests.values()) == {session_pb2.SESSION_STATE_WARNED}
    await advance(room, 50)
    ends = [(await heard(facts)).session_ended for facts in all_facts]

    for (regulation, guest), bet_at, invitation, warning, ended in zip(
        guests.items(), last_bets, invitations, warnings, ends, strict=True
    ):
        assert (invitation.session_notice.kind, warning.session_notice.kind) == (INVITATION, WARNING)
        assert (invitation.session_notice.rule, warning.session_notice.rule) == RULES[regulation]
        assert invitation.at.ToDatetime(UTC) - bet_at > timedelta(seconds=180)
        ends_at = warning.session_notice.ends_at.ToDatetime(UTC)
        assert ends_at - warning.at.ToDatetime(UTC) >= timedelta(seconds=60)
        assert ended.session.ended_at.ToDatetime(UTC) >= ends_at
        assert ended.session.end_cause == session_pb2.END_CAUSE_INACTIVITY
        won = played[regulation].payout_cents
        assert (ended.summary.staked_cents, ended.summary.won_cents, ended.summary.net_cents) == (100, won, won - 100)
        left = await (await room.watch(guest.table_id)).wait_for("seat_left")
        assert left.seat_left.seat == guest.seat
        refused = await refusal(room.bet(guest, played[regulation].next_round_id, {"red": 100}))
        assert refused.reason in {"NOT_SEATED", "BETTING_CLOSED"}


@pytest.mark.rule("804/2015:27", "804/2015:29", "807/2015:29", "807/2015:31")
async def test_a10_a_bet_before_the_end_withdraws_the_warning(
    room: RouletteDriver, guests: dict[str, SeatedPlayer]
) -> None:
    all_facts = await told(room, guests.values())
    for seconds, kind in ((181, INVITATION), (21, WARNING)):
        await advance(room, seconds)
        assert {(await heard(facts)).session_notice.kind for facts in all_facts} == {kind}
        for guest in guests.values():
            # To look is not to bet, and to be told is not to be sent away.
            assert (await room.get_table(guest)).own_seat.session_id == guest.session_id
    # The clock goes on by itself, too.
    await advance(room, 10)

    for guest in guests.values():
        await room.bet(guest, await room.wait_for_open_round(guest), {"red": 100})

    assert {(await heard(facts)).session_notice.kind for facts in all_facts} == {WITHDRAWN}
    await advance(room, 60)
    await asyncio.sleep(LOOKED_S)
    assert await states(room, guests.values()) == {session_pb2.SESSION_STATE_ACTIVE}


@pytest.mark.rule("804/2015:28", "807/2015:30")
async def test_later_than_the_regulation_is_the_operators_choice(room: RouletteDriver) -> None:
    patient = session_pb2.InactivityPolicy(invite=True, idle_seconds=600)
    table_id = await room.new_table(play=INDIVIDUAL, inactivity=patient)
    guest = await room.seat_new_player(table_id)
    await room.wait_for_open_round(guest)
    facts = await room.private_facts(guest)

    await advance(room, 500)
    await asyncio.sleep(LOOKED_S)
    assert (await room.session(guest)).session.state == session_pb2.SESSION_STATE_ACTIVE
    await advance(room, 101)
    assert (await heard(facts)).session_notice.kind == INVITATION
