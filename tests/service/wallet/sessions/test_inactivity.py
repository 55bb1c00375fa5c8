"""Inactivity on a real database: by time and by rounds, restarts in every state, replicas, and outages of ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, timedelta

import asyncpg
import pytest
from sqlalchemy import text

from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2
from services.kit.database import postgresql
from services.kit.refusal import Refused
from services.wallet.sessions.clock import SessionClock
from services.wallet.sessions.inactivity_watch import OUTAGE_THRESHOLD, InactivityWatch
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    ACTIVE,
    ENDED,
    ENDING,
    GAME,
    INDIVIDUAL,
    INVITED,
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    T0,
    WARNED,
    InProcessWallet,
    ManualClock,
    Seat,
    open_wallet,
    player,
)


@pytest.fixture
async def desk(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as opened:
        yield opened


async def at_individual_table(desk: InProcessWallet, player_id: str = "ana", regulation: str = "804/2015") -> Seat:
    await desk.open_table(f"table-of-{player_id}", INDIVIDUAL, regulation)
    return await desk.sit_down(player_id, f"table-of-{player_id}")


# -- by time --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:28.a")
@pytest.mark.rule("804/2015:29")
@pytest.mark.rule("804/2015:26")
async def test_a9_a10_invited_warned_and_ended(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk)

    await desk.advance_clock(180)
    assert await desk.fact_names("ana") == ["started"]
    await desk.advance_clock(0.1)
    assert await desk.session_state(seat) == INVITED
    await desk.advance_clock(20)
    assert await desk.session_state(seat) == WARNED
    await desk.advance_clock(59.9)
    assert await desk.session_state(seat) == WARNED
    await desk.advance_clock(0.1)

    session = (await desk.get_session(seat)).session
    assert (session.state, session.end_cause) == (ENDED, session_pb2.END_CAUSE_INACTIVITY)
    told = await desk.player_facts("ana")
    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "ended"]
    assert [fact.session_notice.rule for fact in told[1:3]] == ["804/2015:28.a", "804/2015:29"]
    assert told[2].session_notice.ends_at == session.ended_at
    assert told[3].session_ended.summary.duration.seconds == 260


@pytest.mark.rule("804/2015:29")
async def test_a10_a_bet_at_the_last_moment_cancels_the_end(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk)
    await desk.advance_clock(180.1)
    await desk.advance_clock(20)
    desk.clock.advance(59)
    await desk.place(seat, "r1", 100)
    await desk.advance_clock(2)

    assert await desk.session_state(seat) == ACTIVE
    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]


@pytest.mark.rule("805/2015:35.a")
async def test_b24_nobody_is_invited_while_his_round_is_open(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk, regulation="805/2015")
    stake = await desk.place(seat, "r1", 100)
    for _ in range(20):
        await desk.advance_clock(60)
    assert await desk.fact_names("ana") == ["started"]

    await desk.settle(seat.table_id, "r1", {stake: 0})
    await desk.advance_clock(180)
    assert await desk.fact_names("ana") == ["started"]
    await desk.advance_clock(0.1)
    assert await desk.fact_names("ana") == ["started", "invitation"]


@pytest.mark.rule("805/2015:35.a")
@pytest.mark.parametrize("how", ["void", "cancel"])
async def test_b24_the_clock_starts_anew_when_the_stake_comes_back(desk: InProcessWallet, how: str) -> None:
    seat = await at_individual_table(desk, regulation="805/2015")
    stake = await desk.place(seat, "r1", 100)
    await desk.advance_clock(500)
    if how == "void":
        await desk.void(seat.table_id, "r1")
    else:
        await desk.cancel(seat, "r1", stake)

    await desk.advance_clock(180)
    assert await desk.fact_names("ana") == ["started"]
    await desk.advance_clock(0.1)
    assert await desk.fact_names("ana") == ["started", "invitation"]


async def test_a_stake_at_another_table_is_no_bet_at_this_one(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk)
    await desk.open_table("other", INDIVIDUAL)
    other = await desk.sit_down("ana", "other")
    await desk.place(other, "r1", 100)

    await desk.advance_clock(180.1)

    assert (await desk.session_state(seat), await desk.session_state(other)) == (INVITED, ACTIVE)


@pytest.mark.rule("804/2015:28")
async def test_the_clock_of_development_drives_it_as_well(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk)
    for seconds in (181, 21, 61):
        await desk.advance_session_clock(seconds)
        await desk.watch.sweep()

    assert await desk.session_state(seat) == ENDED


async def test_many_sessions_are_brought_on_in_one_sweep(desk: InProcessWallet) -> None:
    seats = [await at_individual_table(desk, f"p{number}") for number in range(25)]

    await desk.advance_clock(181)

    assert {await desk.session_state(seat) for seat in seats} == {INVITED}


# -- by rounds ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:28.b")
@pytest.mark.rule("804/2015:29")
async def test_a11_six_rounds_a_warning_and_the_seventh(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", MULTI_PLAYER)
    idle, plays = await desk.sit_down("ana", "wheel"), await desk.sit_down("rui", "wheel")
    for number in range(1, 6):
        await round_of(desk, f"r{number}", idle, plays)
    assert await desk.session_state(idle) == ACTIVE
    sixth = await round_of(desk, "r6", idle, plays)
    assert (list(sixth.invited_session_ids), sixth.announce_next_round) == ([idle.session_id], True)
    assert await desk.announce("wheel", "r7") == [idle.session_id]
    assert await desk.session_state(idle) == WARNED
    seventh = await round_of(desk, "r7", idle, plays)

    assert list(seventh.ended_session_ids) == [idle.session_id]
    assert (await desk.session_state(idle), await desk.session_state(plays)) == (ENDED, ACTIVE)
    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "ended"]
    assert (await desk.player_facts("ana"))[2].session_notice.round_id == "r7"
    assert await desk.fact_names("rui") == ["started"]


async def round_of(desk: InProcessWallet, round_id: str, idle: Seat, plays: Seat) -> wallet_pb2.SessionsAfterRound:
    stake = await desk.place(plays, round_id, 100)
    settled = await desk.settle("wheel", round_id, {stake: 200}, [idle.session_in_round(), plays.session_in_round()])
    return settled.sessions


@pytest.mark.rule("804/2015:29")
async def test_a_bet_in_the_warned_round_is_enough(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", MULTI_PLAYER)
    seat = await desk.sit_down("ana", "wheel")
    await desk.miss_rounds("wheel", [seat], 6)
    await desk.announce("wheel", "r7")
    stake = await desk.place(seat, "r7", 100)
    settled = await desk.settle("wheel", "r7", {stake: 0}, [seat.session_in_round()])

    assert not settled.sessions.announce_next_round
    assert await desk.session_state(seat) == ACTIVE
    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]


@pytest.mark.rule("804/2015:29")
async def test_a_void_round_is_not_the_one_more_round(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", MULTI_PLAYER)
    seat = await desk.sit_down("ana", "wheel")
    await desk.miss_rounds("wheel", [seat], 6)
    await desk.announce("wheel", "r7")
    await desk.void("wheel", "r7")
    assert await desk.session_state(seat) == WARNED

    assert await desk.announce("wheel", "r8") == [seat.session_id]
    await desk.settle("wheel", "r8", report=[seat.session_in_round()])

    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "ended"]


async def test_an_announcement_sent_again_warns_nobody_twice(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", MULTI_PLAYER)
    seat = await desk.sit_down("ana", "wheel")
    await desk.miss_rounds("wheel", [seat], 6)

    answers = await asyncio.gather(*(desk.announce("wheel", "r7") for _ in range(4)))

    assert answers == [[seat.session_id]] * 4
    assert await desk.fact_names("ana") == ["started", "invitation", "warning"]


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_announces_nothing(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", MULTI_PLAYER, epoch=3)

    with pytest.raises(Refused) as refused:
        await desk.announce("wheel", "r1", epoch=2)
    assert refused.value.reason == "STALE_EPOCH"
    assert refused.value.facts == {"table_id": "wheel", "epoch": "2", "current_epoch": "3"}

    await desk.announce("wheel", "r1", epoch=4)
    with pytest.raises(Refused):
        await desk.announce("wheel", "r1", epoch=3)


@pytest.mark.guarantee("G8")
async def test_g8_an_epoch_counts_whatever_becomes_of_the_announcement_that_brings_it(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", MULTI_PLAYER)
    await desk.settle("wheel", "r1")

    for epoch, reason in ((5, "ROUND_ENDED"), (4, "STALE_EPOCH")):
        with pytest.raises(Refused) as refused:
            await desk.announce("wheel", "r1", epoch=epoch)
        assert refused.value.reason == reason


async def test_a_round_that_has_ended_or_is_elsewhere_is_not_announced(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", MULTI_PLAYER)
    await desk.open_table("other", MULTI_PLAYER)
    await desk.settle("wheel", "r1")

    for table_id, round_id, reason in (
        ("wheel", "r1", "ROUND_ENDED"),
        ("other", "r1", "ROUND_MISMATCH"),
        ("nowhere", "r1", "TABLE_UNKNOWN"),
    ):
        with pytest.raises(Refused) as refused:
            await desk.announce(table_id, round_id)
        assert refused.value.reason == reason


# -- poker ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("806/2015:70.b")
@pytest.mark.rule("806/2015:71")
async def test_c30_an_absent_player_leaves_when_his_cave_is_cashed_out(desk: InProcessWallet) -> None:
    await desk.open_table("felt", POKER, "806/2015")
    seat = await desk.sit_down("ana", "felt")
    await desk.buy_in(seat, 10_000)
    for number in range(1, 6):
        await desk.transfer_hand("felt", f"h{number}", report=[seat.session_in_round()])
    sixth = (await desk.transfer_hand("felt", "h6", report=[seat.session_in_round()])).sessions
    assert list(sixth.invited_session_ids) == [seat.session_id]
    await desk.announce("felt", "h7")
    seventh = (await desk.transfer_hand("felt", "h7", report=[seat.session_in_round()])).sessions

    assert list(seventh.ending_session_ids) == [seat.session_id]
    assert await desk.session_state(seat) == ENDING
    assert (await desk.cash_out(seat)).session_ended
    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "ended"]


@pytest.mark.rule("806/2015:71")
async def test_c30_coming_back_during_the_warned_hand(desk: InProcessWallet) -> None:
    await desk.open_table("felt", POKER, "806/2015")
    seat = await desk.sit_down("ana", "felt")
    await desk.buy_in(seat, 10_000)
    for number in range(1, 7):
        await desk.transfer_hand("felt", f"h{number}", report=[seat.session_in_round()])
    await desk.announce("felt", "h7")
    await desk.transfer_hand("felt", "h7", report=[seat.session_in_round(excused=True)])

    session = (await desk.get_session(seat)).session
    assert (session.state, session.missed_rounds) == (ACTIVE, 0)
    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]


async def short_cave(desk: InProcessWallet) -> Seat:
    """C-29: the hand ends with 99 in Ana's cave, and the minimum is 100."""
    await desk.open_table("felt", POKER, "806/2015")
    ana, rui = await desk.sit_down("ana", "felt"), await desk.sit_down("rui", "felt")
    await desk.buy_in(ana, 199)
    await desk.buy_in(rui, 10_000)
    present = [ana.session_in_round(bet=True, cave_below_minimum=True), rui.session_in_round(bet=True)]
    await desk.transfer_hand("felt", "h1", [(ana, 100, 0), (rui, 100, 195)], present)
    return ana


@pytest.mark.rule("806/2015:70.a")
@pytest.mark.rule("806/2015:71")
async def test_c29_b_nothing_is_done_about_a_short_cave(desk: InProcessWallet) -> None:
    seat = await short_cave(desk)

    assert await desk.session_state(seat) == INVITED
    await desk.advance_clock(29.9)
    assert await desk.session_state(seat) == INVITED
    await desk.advance_clock(0.1)
    assert await desk.session_state(seat) == WARNED
    await desk.advance_clock(29.9)
    assert await desk.session_state(seat) == WARNED
    await desk.advance_clock(0.1)
    assert await desk.session_state(seat) == ENDING
    assert (await desk.cash_out(seat)).session_ended
    summary = (await desk.player_facts("ana"))[-1].session_ended.summary
    assert (summary.staked_cents, summary.won_cents, summary.net_cents, summary.rounds) == (100, 0, -100, 1)


@pytest.mark.rule("806/2015:71")
async def test_c29_a_he_tops_up(desk: InProcessWallet) -> None:
    seat = await short_cave(desk)
    await desk.advance_clock(30)
    await desk.buy_in(seat, 9_901)
    await desk.advance_clock(60)

    assert await desk.session_state(seat) == ACTIVE
    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]


@pytest.mark.rule("806/2015:71")
async def test_a_lost_cave_ends_without_a_cash_out(desk: InProcessWallet) -> None:
    await desk.open_table("felt", POKER, "806/2015")
    ana, rui = await desk.sit_down("ana", "felt"), await desk.sit_down("rui", "felt")
    await desk.buy_in(ana, 100)
    await desk.buy_in(rui, 100)
    present = [ana.session_in_round(bet=True, cave_below_minimum=True), rui.session_in_round(bet=True)]
    await desk.transfer_hand("felt", "h1", [(ana, 100, 0), (rui, 100, 195)], present)
    await desk.advance_clock(30)
    await desk.advance_clock(30)

    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "ended"]


# -- restarts and replicas ------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G5")
async def test_a_restart_in_every_state_forgets_nothing(wallet_database: WalletDatabase) -> None:
    clock = ManualClock()
    async with open_wallet(wallet_database.url, clock) as desk:
        seat = await at_individual_table(desk)
        await desk.open_table("wheel", MULTI_PLAYER)
        wheel = await desk.sit_down("rui", "wheel")
    for seconds, state in ((0, ACTIVE), (180, ACTIVE), (0.1, INVITED), (20, WARNED), (59, WARNED), (1, ENDED)):
        async with open_wallet(wallet_database.url, clock) as desk:
            await desk.advance_clock(seconds)
            await desk.watch.sweep()
            assert await desk.session_state(seat) == state
    for number in range(1, 7):
        async with open_wallet(wallet_database.url, clock) as desk:
            await desk.settle("wheel", f"r{number}", report=[wheel.session_in_round()])
    async with open_wallet(wallet_database.url, clock) as desk:
        await desk.announce("wheel", "r7")
    async with open_wallet(wallet_database.url, clock) as desk:
        await desk.settle("wheel", "r7", report=[wheel.session_in_round()])
        for name in ("ana", "rui"):
            assert await desk.fact_names(name) == ["started", "invitation", "warning", "ended"]


@pytest.mark.guarantee("G3")
async def test_replicas_that_sweep_at_once_take_each_step_once(wallet_database: WalletDatabase) -> None:
    clock = ManualClock()
    async with AsyncExitStack() as replicas:
        desks = [await replicas.enter_async_context(open_wallet(wallet_database.url, clock)) for _ in range(3)]
        seats = [await at_individual_table(desks[0], f"p{number}") for number in range(8)]
        for seconds in (181, 21, 61):
            clock.advance(seconds)
            await asyncio.gather(*(desk.watch.sweep() for desk in desks for _ in range(2)))

        for seat in seats:
            assert await desks[0].fact_names(seat.player_id) == ["started", "invitation", "warning", "ended"]


@pytest.mark.rule("805/2015:35")
async def test_bets_and_sweeps_that_cross_never_end_a_session_with_an_open_stake(
    wallet_database: WalletDatabase,
) -> None:
    clock = ManualClock()
    async with open_wallet(wallet_database.url, clock) as one, open_wallet(wallet_database.url, clock) as other:
        seats = [await at_individual_table(one, f"p{number}") for number in range(6)]
        for seconds in (181, 21):
            await one.advance_clock(seconds)
        clock.advance(61)

        placed = await asyncio.gather(
            *(one.place(seat, f"r-{seat.player_id}", 100) for seat in seats),
            other.watch.sweep(),
            one.watch.sweep(),
            return_exceptions=True,
        )

        for seat, stake in zip(seats, placed[:6], strict=True):
            if isinstance(stake, Refused):
                assert stake.reason == "SESSION_ENDED"
                assert await one.session_state(seat) == ENDED
            else:
                assert isinstance(stake, str)
                assert await one.session_state(seat) == ACTIVE
        assert placed[6:] == [None, None]
        await nobody_ended_holds_a_stake(wallet_database)


async def nobody_ended_holds_a_stake(wallet_database: WalletDatabase) -> None:
    connection = await asyncpg.connect(wallet_database.owner_url.replace("+asyncpg", ""))
    try:
        count = await connection.fetchval(
            "SELECT count(*) FROM stakes JOIN sessions USING (session_no) WHERE stakes.state = 1 AND sessions.state = 5"
        )
    finally:
        await connection.close()
    assert count == 0


# -- faults of ours -------------------------------------------------------------------------------------------------


async def outage(wallet_database: WalletDatabase, length: timedelta) -> None:
    """Nobody has watched for so long, by the database's own clock."""
    engine = postgresql.connect(wallet_database.owner_url, "test", 1)
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE session_clock SET watched_at = watched_at - CAST(:length AS interval)"), {"length": length}
        )
    await engine.dispose()


@pytest.mark.guarantee("G9")
@pytest.mark.rule("804/2015:29")
async def test_g9_after_an_outage_the_minute_runs_anew(desk: InProcessWallet, wallet_database: WalletDatabase) -> None:
    seat = await at_individual_table(desk)
    await desk.advance_clock(181)
    await desk.advance_clock(21)
    await outage(wallet_database, timedelta(minutes=10))
    await desk.advance_clock(600)

    assert await desk.session_state(seat) == WARNED
    await desk.advance_clock(59)
    assert await desk.session_state(seat) == WARNED
    await desk.advance_clock(1)
    assert await desk.session_state(seat) == ENDED
    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "warning", "ended"]


@pytest.mark.guarantee("G9")
async def test_g9_a_restart_is_no_outage(desk: InProcessWallet, wallet_database: WalletDatabase) -> None:
    seat = await at_individual_table(desk)
    await desk.advance_clock(181)
    await desk.advance_clock(21)
    await outage(wallet_database, OUTAGE_THRESHOLD / 2)
    await desk.advance_clock(61)

    assert await desk.session_state(seat) == ENDED


async def test_the_watch_lives_through_a_database_that_is_away(
    desk: InProcessWallet, wallet_database: WalletDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    seat = await at_individual_table(desk)
    desk.clock.advance(181)
    away = postgresql.connect(wallet_database.url.replace(wallet_database.name, "no_such_database"), "test", 1)
    watch = InactivityWatch(away, desk.clock, SessionClock(away, desk.clock), interval=timedelta(milliseconds=1))
    running = asyncio.create_task(watch.run())
    await until(lambda: said(caplog, "a sweep over inactive sessions failed"))
    # The same watch finds its database again.
    watch._engine = desk.engine
    await until(lambda: is_state(desk, seat, INVITED))

    assert not running.done()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await away.dispose()


async def said(caplog: pytest.LogCaptureFixture, words: str) -> bool:
    return words in caplog.text


async def is_state(desk: InProcessWallet, seat: Seat, state: session_pb2.SessionState.ValueType) -> bool:
    return await desk.session_state(seat) == state


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        # What it waits for happens in another task, which has no event to offer.
        while not await condition():
            await asyncio.sleep(0.001)


@pytest.mark.guarantee("G9")
async def test_one_session_that_cannot_be_brought_on_keeps_no_other(
    desk: InProcessWallet, wallet_database: WalletDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = await at_individual_table(desk, "ana"), await at_individual_table(desk, "rui")
    engine = postgresql.connect(wallet_database.owner_url, "test", 1)
    async with engine.begin() as connection:
        await connection.execute(
            text("ALTER TABLE sessions ADD CONSTRAINT broken CHECK (state = 1 OR player_id <> 'ana') NOT VALID")
        )
    await engine.dispose()

    await desk.advance_clock(181)

    assert (await desk.session_state(broken), await desk.session_state(sound)) == (ACTIVE, INVITED)
    assert "could not be brought on" in caplog.text


# -- the operator's numbers -----------------------------------------------------------------------------------------


def policy_of(table_id: str, **numbers: int) -> session_pb2.SetInactivityPolicyRequest:
    policy = session_pb2.InactivityPolicy(invite=True)
    for name, number in numbers.items():
        setattr(policy, name, number)
    return session_pb2.SetInactivityPolicyRequest(table_id=table_id, policy=policy)


def rules_of(
    table_id: str, version: int, policy: session_pb2.InactivityPolicy, epoch: int = 1
) -> session_pb2.ApplySpecificRulesRequest:
    table = types_pb2.TableRef(table_id=table_id, epoch=epoch)
    return session_pb2.ApplySpecificRulesRequest(table=table, version=version, policy=policy)


@pytest.mark.rule("804/2015:28")
async def test_a_later_policy_holds_at_once_and_is_logged(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk)

    answer = await desk.sessions.set_inactivity_policy(policy_of(seat.table_id, idle_seconds=600), OPERATOR)
    assert answer.policy == session_pb2.InactivityPolicy(
        invite=True,
        idle_seconds=600,
        missed_rounds=5,
        warn_after_seconds=20,
        end_after_seconds=60,
        rebuy_grace_seconds=60,
    )
    await desk.advance_clock(600)
    assert await desk.session_state(seat) == ACTIVE
    await desk.advance_clock(1)
    assert await desk.session_state(seat) == INVITED
    (change,) = (await desk.policy_changes(seat.table_id)).changes
    assert (change.changed_by, change.before.idle_seconds, change.after) == ("back-office", 180, answer.policy)


@pytest.mark.rule("804/2015:28.a")
async def test_an_earlier_policy_is_refused_and_changes_nothing(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk)

    with pytest.raises(Refused) as refused:
        await desk.sessions.set_inactivity_policy(policy_of(seat.table_id, idle_seconds=179), OPERATOR)

    assert refused.value.reason == "RULE_VIOLATED"
    assert refused.value.facts == {"field": "idle_seconds", "bound": "180", "rule": "804/2015:28.a"}
    assert not (await desk.policy_changes(seat.table_id)).changes


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_every_change_of_a_policy_says_who_and_when_and_from_what_to_what(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk)
    other = await desk.open_table("another", INDIVIDUAL)
    moments = []
    for seconds, version in ((600, 0), (600, 1), (700, 2), (800, 0)):
        # To say once more what holds already changes nothing.
        asked = policy_of(seat.table_id, idle_seconds=seconds)
        if version:
            await desk.sessions.apply_specific_rules(rules_of(seat.table_id, version, asked.policy), GAME)
        else:
            await desk.sessions.set_inactivity_policy(asked, OPERATOR)
        moments.append(desk.clock.now())
        desk.clock.advance(1)
    numbers = {"idle_seconds": 900, "missed_rounds": 7, "warn_after_seconds": 21, "end_after_seconds": 61}
    late = await desk.sessions.set_inactivity_policy(policy_of(other, **numbers, rebuy_grace_seconds=62), OPERATOR)
    off = session_pb2.SetInactivityPolicyRequest(table_id=other, policy=session_pb2.InactivityPolicy())
    never = await desk.sessions.set_inactivity_policy(off, OPERATOR)

    changes = (await desk.policy_changes(seat.table_id)).changes
    assert [(each.changed_by, each.before.idle_seconds, each.after.idle_seconds) for each in changes] == [
        ("back-office", 700, 800),
        ("games", 600, 700),
        ("back-office", 180, 600),
    ]
    assert [each.at.ToDatetime(UTC) for each in changes] == [moments[3], moments[2], moments[0]]
    assert changes[0].before == changes[1].after
    assert changes[2].before == session_pb2.InactivityPolicy(
        invite=True,
        idle_seconds=180,
        missed_rounds=5,
        warn_after_seconds=20,
        end_after_seconds=60,
        rebuy_grace_seconds=60,
    )
    switched_off, put_off = (await desk.policy_changes(other)).changes
    assert (put_off.before, put_off.after) == (changes[2].before, late.policy)
    assert (switched_off.before, switched_off.after) == (late.policy, never.policy)
    first = await desk.policy_changes(seat.table_id, page_size=2)
    second = await desk.policy_changes(seat.table_id, page_size=2, page_token=first.next_page_token)
    assert [*first.changes, *second.changes] == list(changes)
    assert second.next_page_token == ""


@pytest.mark.rule("804/2015:28")
async def test_switching_invitations_off_withdraws_them(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk)
    await desk.advance_clock(181)
    await desk.advance_clock(21)

    off = rules_of(seat.table_id, 1, session_pb2.InactivityPolicy())
    answer = await desk.sessions.apply_specific_rules(off, GAME)
    await desk.advance_clock(10_000)

    assert not answer.policy.invite
    assert await desk.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]
    assert await desk.session_state(seat) == ACTIVE


@pytest.mark.rule("804/2015:28")
async def test_whoever_takes_a_table_over_undoes_nothing_that_an_operator_has_set(desk: InProcessWallet) -> None:
    table_id = (await at_individual_table(desk)).table_id
    law = session_pb2.InactivityPolicy(invite=True)
    await desk.sessions.apply_specific_rules(rules_of(table_id, 1, law), GAME)
    await desk.sessions.set_inactivity_policy(policy_of(table_id, idle_seconds=600), OPERATOR)

    again = await desk.sessions.apply_specific_rules(rules_of(table_id, 1, law, epoch=2), GAME)
    assert again.policy.idle_seconds == 600
    # Other rules come into force.
    changed = await desk.sessions.apply_specific_rules(rules_of(table_id, 2, law, epoch=2), GAME)
    assert changed.policy.idle_seconds == 180
    seconds = [each.after.idle_seconds for each in (await desk.policy_changes(table_id)).changes]
    assert seconds == [180, 600]


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_s_rules_are_refused(desk: InProcessWallet) -> None:
    table_id = await desk.open_table("wheel", MULTI_PLAYER, epoch=3)
    late = rules_of(table_id, 7, session_pb2.InactivityPolicy(), epoch=2)

    with pytest.raises(Refused) as refused:
        await desk.sessions.apply_specific_rules(late, GAME)

    assert refused.value.reason == "STALE_EPOCH"
    assert not (await desk.policy_changes(table_id)).changes


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (session_pb2.SetInactivityPolicyRequest(table_id="table-of-ana"), "INVALID"),
        (policy_of("nowhere"), "TABLE_UNKNOWN"),
    ],
)
async def test_a_policy_needs_a_table_and_numbers(
    desk: InProcessWallet, request_: session_pb2.SetInactivityPolicyRequest, reason: str
) -> None:
    await at_individual_table(desk)

    with pytest.raises(Refused) as refused:
        await desk.sessions.set_inactivity_policy(request_, OPERATOR)

    assert refused.value.reason == reason


async def test_the_next_step_is_shown(desk: InProcessWallet) -> None:
    seat = await at_individual_table(desk)
    session = (await desk.get_session(seat)).session

    assert session.next_step_at.ToDatetime(T0.tzinfo) == T0 + timedelta(seconds=180, microseconds=1)
    await desk.end_session(seat, player("ana"))
    assert not (await desk.get_session(seat)).session.HasField("next_step_at")
