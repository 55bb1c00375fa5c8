"""Inactivity on a real database: by time and by rounds, with restarts, several replicas and outages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2
from services.kit.database import postgresql
from services.kit.refusal import Refused
from services.wallet.sessions.clock import SessionClock
from services.wallet.sessions.inactivity_watch import OUTAGE_THRESHOLD, InactivityWatch
from tests.processes.databases import WalletDatabase, connect_asyncpg
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


async def at_individual_table(wallet: InProcessWallet, player_id: str = "ana", regulation: str = "804/2015") -> Seat:
    await wallet.open_table(f"table-of-{player_id}", INDIVIDUAL, regulation)
    return await wallet.sit_down(player_id, f"table-of-{player_id}")


# -- by time ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:28.a")
@pytest.mark.rule("804/2015:29")
@pytest.mark.rule("804/2015:26")
async def test_a9_a10_an_idle_session_is_invited_warned_and_ended(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)

    await wallet.advance_clock(180)
    assert await wallet.fact_names("ana") == ["started"]
    await wallet.advance_clock(0.1)
    assert await wallet.session_state(seat) == INVITED
    await wallet.advance_clock(20)
    assert await wallet.session_state(seat) == WARNED
    await wallet.advance_clock(59.9)
    assert await wallet.session_state(seat) == WARNED
    await wallet.advance_clock(0.1)

    session = (await wallet.get_session(seat)).session
    assert (session.state, session.end_cause) == (ENDED, session_pb2.END_CAUSE_INACTIVITY)
    facts = await wallet.player_facts("ana")
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "ended"]
    assert [fact.session_notice.rule for fact in facts[1:3]] == ["804/2015:28.a", "804/2015:29"]
    assert facts[2].session_notice.ends_at == session.ended_at
    assert facts[3].session_ended.summary.duration_ms // 1000 == 260


@pytest.mark.rule("804/2015:29")
async def test_a10_a_bet_at_the_last_moment_cancels_the_end(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)
    await wallet.advance_clock(180.1)
    await wallet.advance_clock(20)
    wallet.clock.advance(59)
    await wallet.place(seat, "r1", 100)
    await wallet.advance_clock(2)

    assert await wallet.session_state(seat) == ACTIVE
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]


@pytest.mark.rule("805/2015:35.a")
async def test_b24_no_player_with_an_open_stake_is_invited(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet, regulation="805/2015")
    stake = await wallet.place(seat, "r1", 100)
    for _ in range(20):
        await wallet.advance_clock(60)
    assert await wallet.fact_names("ana") == ["started"]

    await wallet.settle(seat.table_id, "r1", {stake: 0})
    await wallet.advance_clock(180)
    assert await wallet.fact_names("ana") == ["started"]
    await wallet.advance_clock(0.1)
    assert await wallet.fact_names("ana") == ["started", "invitation"]


@pytest.mark.rule("805/2015:35.a")
@pytest.mark.parametrize("how", ["void", "cancel"])
async def test_b24_idle_time_starts_anew_when_the_stake_comes_back(wallet: InProcessWallet, how: str) -> None:
    seat = await at_individual_table(wallet, regulation="805/2015")
    stake = await wallet.place(seat, "r1", 100)
    await wallet.advance_clock(500)
    if how == "void":
        await wallet.void(seat.table_id, "r1")
    else:
        await wallet.cancel(seat, "r1", stake)

    await wallet.advance_clock(180)
    assert await wallet.fact_names("ana") == ["started"]
    await wallet.advance_clock(0.1)
    assert await wallet.fact_names("ana") == ["started", "invitation"]


async def test_a_stake_at_another_table_does_not_count_here(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)
    await wallet.open_table("other", INDIVIDUAL)
    other = await wallet.sit_down("ana", "other")
    await wallet.place(other, "r1", 100)

    await wallet.advance_clock(180.1)

    assert (await wallet.session_state(seat), await wallet.session_state(other)) == (INVITED, ACTIVE)


@pytest.mark.rule("804/2015:28")
async def test_advancing_the_session_clock_ends_idle_sessions(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)
    for seconds in (181, 21, 61):
        await wallet.advance_session_clock(seconds)
        await wallet.inactivity_watch.sweep()

    assert await wallet.session_state(seat) == ENDED


async def test_one_sweep_takes_the_steps_of_many_sessions(wallet: InProcessWallet) -> None:
    seats = [await at_individual_table(wallet, f"p{number}") for number in range(25)]

    await wallet.advance_clock(181)

    assert {await wallet.session_state(seat) for seat in seats} == {INVITED}


# -- by rounds --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:28.b")
@pytest.mark.rule("804/2015:29")
async def test_a11_a_session_ends_in_the_seventh_round_without_a_bet(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", MULTI_PLAYER)
    idle, plays = await wallet.sit_down("ana", "wheel"), await wallet.sit_down("rui", "wheel")
    for number in range(1, 6):
        await round_of(wallet, f"r{number}", idle, plays)
    assert await wallet.session_state(idle) == ACTIVE
    sixth = await round_of(wallet, "r6", idle, plays)
    assert (list(sixth.invited_session_ids), sixth.announce_next_round) == ([idle.session_id], True)
    assert await wallet.announce("wheel", "r7") == [idle.session_id]
    assert await wallet.session_state(idle) == WARNED
    seventh = await round_of(wallet, "r7", idle, plays)

    assert list(seventh.ended_session_ids) == [idle.session_id]
    assert (await wallet.session_state(idle), await wallet.session_state(plays)) == (ENDED, ACTIVE)
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "ended"]
    assert (await wallet.player_facts("ana"))[2].session_notice.round_id == "r7"
    assert await wallet.fact_names("rui") == ["started"]


async def round_of(wallet: InProcessWallet, round_id: str, idle: Seat, plays: Seat) -> wallet_pb2.SessionsAfterRound:
    stake = await wallet.place(plays, round_id, 100)
    settled = await wallet.settle("wheel", round_id, {stake: 200}, [idle.session_in_round(), plays.session_in_round()])
    return settled.sessions


@pytest.mark.rule("804/2015:29")
async def test_a_bet_in_the_announced_round_keeps_the_session(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", MULTI_PLAYER)
    seat = await wallet.sit_down("ana", "wheel")
    await wallet.miss_rounds("wheel", [seat], 6)
    await wallet.announce("wheel", "r7")
    stake = await wallet.place(seat, "r7", 100)
    settled = await wallet.settle("wheel", "r7", {stake: 0}, [seat.session_in_round()])

    assert not settled.sessions.announce_next_round
    assert await wallet.session_state(seat) == ACTIVE
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]


@pytest.mark.rule("804/2015:29")
async def test_a_void_round_does_not_end_a_warned_session(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", MULTI_PLAYER)
    seat = await wallet.sit_down("ana", "wheel")
    await wallet.miss_rounds("wheel", [seat], 6)
    await wallet.announce("wheel", "r7")
    await wallet.void("wheel", "r7")
    assert await wallet.session_state(seat) == WARNED

    assert await wallet.announce("wheel", "r8") == [seat.session_id]
    await wallet.settle("wheel", "r8", report=[seat.session_in_round()])

    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "ended"]


async def test_a_repeated_announcement_warns_nobody_twice(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", MULTI_PLAYER)
    seat = await wallet.sit_down("ana", "wheel")
    await wallet.miss_rounds("wheel", [seat], 6)

    answers = await asyncio.gather(*(wallet.announce("wheel", "r7") for _ in range(4)))

    assert answers == [[seat.session_id]] * 4
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning"]


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_announces_no_round(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", MULTI_PLAYER, epoch=3)

    with pytest.raises(Refused) as refused:
        await wallet.announce("wheel", "r1", epoch=2)
    assert refused.value.reason == "STALE_EPOCH"
    assert refused.value.facts == {"table_id": "wheel", "epoch": "2", "current_epoch": "3"}

    await wallet.announce("wheel", "r1", epoch=4)
    with pytest.raises(Refused):
        await wallet.announce("wheel", "r1", epoch=3)


@pytest.mark.guarantee("G8")
async def test_g8_the_epoch_of_a_refused_announcement_counts(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", MULTI_PLAYER)
    await wallet.settle("wheel", "r1")

    for epoch, reason in ((5, "ROUND_ENDED"), (4, "STALE_EPOCH")):
        with pytest.raises(Refused) as refused:
            await wallet.announce("wheel", "r1", epoch=epoch)
        assert refused.value.reason == reason


async def test_a_round_that_has_ended_or_is_at_another_table_is_not_announced(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", MULTI_PLAYER)
    await wallet.open_table("other", MULTI_PLAYER)
    await wallet.settle("wheel", "r1")

    for table_id, round_id, reason in (
        ("wheel", "r1", "ROUND_ENDED"),
        ("other", "r1", "ROUND_MISMATCH"),
        ("nowhere", "r1", "TABLE_UNKNOWN"),
    ):
        with pytest.raises(Refused) as refused:
            await wallet.announce(table_id, round_id)
        assert refused.value.reason == reason


# -- poker ------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("806/2015:70.b")
@pytest.mark.rule("806/2015:71")
async def test_c30_an_absent_players_session_ends_when_the_cave_is_cashed_out(wallet: InProcessWallet) -> None:
    await wallet.open_table("felt", POKER, "806/2015")
    seat = await wallet.sit_down("ana", "felt")
    await wallet.buy_in(seat, 10_000)
    for number in range(1, 6):
        await wallet.transfer_hand("felt", f"h{number}", report=[seat.session_in_round()])
    sixth = (await wallet.transfer_hand("felt", "h6", report=[seat.session_in_round()])).sessions
    assert list(sixth.invited_session_ids) == [seat.session_id]
    await wallet.announce("felt", "h7")
    seventh = (await wallet.transfer_hand("felt", "h7", report=[seat.session_in_round()])).sessions

    assert list(seventh.ending_session_ids) == [seat.session_id]
    assert await wallet.session_state(seat) == ENDING
    assert (await wallet.cash_out(seat)).session_ended
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "ended"]


@pytest.mark.rule("806/2015:71")
async def test_c30_a_player_who_returns_in_the_announced_hand_stays(wallet: InProcessWallet) -> None:
    await wallet.open_table("felt", POKER, "806/2015")
    seat = await wallet.sit_down("ana", "felt")
    await wallet.buy_in(seat, 10_000)
    for number in range(1, 7):
        await wallet.transfer_hand("felt", f"h{number}", report=[seat.session_in_round()])
    await wallet.announce("felt", "h7")
    await wallet.transfer_hand("felt", "h7", report=[seat.session_in_round(excused=True)])

    session = (await wallet.get_session(seat)).session
    assert (session.state, session.missed_rounds) == (ACTIVE, 0)
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]


async def short_cave(wallet: InProcessWallet) -> Seat:
    """C-29: the hand leaves 99 in Ana's cave, and the minimum is 100."""
    await wallet.open_table("felt", POKER, "806/2015")
    ana, rui = await wallet.sit_down("ana", "felt"), await wallet.sit_down("rui", "felt")
    await wallet.buy_in(ana, 199)
    await wallet.buy_in(rui, 10_000)
    present = [ana.session_in_round(bet=True, cave_below_minimum=True), rui.session_in_round(bet=True)]
    await wallet.transfer_hand("felt", "h1", [(ana, 100, 0), (rui, 100, 195)], present)
    return ana


@pytest.mark.rule("806/2015:70.a")
@pytest.mark.rule("806/2015:71")
async def test_c29_b_a_session_with_a_short_cave_is_invited_warned_and_ended(wallet: InProcessWallet) -> None:
    seat = await short_cave(wallet)

    assert await wallet.session_state(seat) == INVITED
    await wallet.advance_clock(29.9)
    assert await wallet.session_state(seat) == INVITED
    await wallet.advance_clock(0.1)
    assert await wallet.session_state(seat) == WARNED
    await wallet.advance_clock(29.9)
    assert await wallet.session_state(seat) == WARNED
    await wallet.advance_clock(0.1)
    assert await wallet.session_state(seat) == ENDING
    assert (await wallet.cash_out(seat)).session_ended
    summary = (await wallet.player_facts("ana"))[-1].session_ended.summary
    assert (summary.staked_cents, summary.payout_cents, summary.net_cents, summary.rounds) == (100, 0, -100, 1)


@pytest.mark.rule("806/2015:71")
async def test_c29_a_a_topped_up_cave_withdraws_the_warning(wallet: InProcessWallet) -> None:
    seat = await short_cave(wallet)
    await wallet.advance_clock(30)
    await wallet.buy_in(seat, 9_901)
    await wallet.advance_clock(60)

    assert await wallet.session_state(seat) == ACTIVE
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]


@pytest.mark.rule("806/2015:71")
async def test_a_session_with_an_empty_cave_ends_without_a_cash_out(wallet: InProcessWallet) -> None:
    await wallet.open_table("felt", POKER, "806/2015")
    ana, rui = await wallet.sit_down("ana", "felt"), await wallet.sit_down("rui", "felt")
    await wallet.buy_in(ana, 100)
    await wallet.buy_in(rui, 100)
    present = [ana.session_in_round(bet=True, cave_below_minimum=True), rui.session_in_round(bet=True)]
    await wallet.transfer_hand("felt", "h1", [(ana, 100, 0), (rui, 100, 195)], present)
    await wallet.advance_clock(30)
    await wallet.advance_clock(30)

    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "ended"]


# -- restarts and replicas --------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G5")
async def test_g5_a_restart_in_every_state_forgets_nothing(wallet_database: WalletDatabase) -> None:
    clock = ManualClock()
    async with open_wallet(wallet_database.url, clock) as wallet:
        seat = await at_individual_table(wallet)
        await wallet.open_table("wheel", MULTI_PLAYER)
        wheel = await wallet.sit_down("rui", "wheel")
    for seconds, state in ((0, ACTIVE), (180, ACTIVE), (0.1, INVITED), (20, WARNED), (59, WARNED), (1, ENDED)):
        async with open_wallet(wallet_database.url, clock) as wallet:
            await wallet.advance_clock(seconds)
            await wallet.inactivity_watch.sweep()
            assert await wallet.session_state(seat) == state
    for number in range(1, 7):
        async with open_wallet(wallet_database.url, clock) as wallet:
            await wallet.settle("wheel", f"r{number}", report=[wheel.session_in_round()])
    async with open_wallet(wallet_database.url, clock) as wallet:
        await wallet.announce("wheel", "r7")
    async with open_wallet(wallet_database.url, clock) as wallet:
        await wallet.settle("wheel", "r7", report=[wheel.session_in_round()])
        for name in ("ana", "rui"):
            assert await wallet.fact_names(name) == ["started", "invitation", "warning", "ended"]


@pytest.mark.guarantee("G3")
async def test_g3_concurrent_sweeps_of_replicas_take_each_step_once(wallet_database: WalletDatabase) -> None:
    clock = ManualClock()
    async with AsyncExitStack() as replicas:
        wallets = [await replicas.enter_async_context(open_wallet(wallet_database.url, clock)) for _ in range(3)]
        seats = [await at_individual_table(wallets[0], f"p{number}") for number in range(8)]
        for seconds in (181, 21, 61):
            clock.advance(seconds)
            await asyncio.gather(*(wallet.inactivity_watch.sweep() for wallet in wallets for _ in range(2)))

        for seat in seats:
            assert await wallets[0].fact_names(seat.player_id) == ["started", "invitation", "warning", "ended"]


@pytest.mark.rule("805/2015:35")
async def test_concurrent_bets_and_sweeps_never_end_a_session_with_an_open_stake(
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
            other.inactivity_watch.sweep(),
            one.inactivity_watch.sweep(),
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
        await verify_no_ended_session_has_a_stake(wallet_database)


async def verify_no_ended_session_has_a_stake(wallet_database: WalletDatabase) -> None:
    connection = await connect_asyncpg(wallet_database.owner_url)
    try:
        count = await connection.fetchval(
            "SELECT count(*) FROM stakes JOIN sessions USING (session_no) WHERE stakes.state = 1 AND sessions.state = 5"
        )
    finally:
        await connection.close()
    assert count == 0


# -- outages ----------------------------------------------------------------------------------------------------------


async def outage(wallet_database: WalletDatabase, length: timedelta) -> None:
    """Moves the last sweep back, by the database's own clock."""
    engine = postgresql.connect(wallet_database.owner_url, "test", 1)
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE session_clock SET watched_at = watched_at - CAST(:length AS interval)"), {"length": length}
        )
    await engine.dispose()


@pytest.mark.guarantee("G9")
@pytest.mark.rule("804/2015:29")
async def test_g9_after_an_outage_the_warning_starts_anew(
    wallet: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    seat = await at_individual_table(wallet)
    await wallet.advance_clock(181)
    await wallet.advance_clock(21)
    await outage(wallet_database, timedelta(minutes=10))
    await wallet.advance_clock(600)

    assert await wallet.session_state(seat) == WARNED
    await wallet.advance_clock(59)
    assert await wallet.session_state(seat) == WARNED
    await wallet.advance_clock(1)
    assert await wallet.session_state(seat) == ENDED
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "warning", "ended"]


@pytest.mark.guarantee("G9")
async def test_g9_a_short_restart_is_no_outage(wallet: InProcessWallet, wallet_database: WalletDatabase) -> None:
    seat = await at_individual_table(wallet)
    await wallet.advance_clock(181)
    await wallet.advance_clock(21)
    await outage(wallet_database, OUTAGE_THRESHOLD / 2)
    await wallet.advance_clock(61)

    assert await wallet.session_state(seat) == ENDED


async def test_the_watch_survives_an_unreachable_database(
    wallet: InProcessWallet, wallet_database: WalletDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    seat = await at_individual_table(wallet)
    wallet.clock.advance(181)
    unreachable = postgresql.connect(wallet_database.url.replace(wallet_database.name, "no_such_database"), "test", 1)
    watch = InactivityWatch(
        unreachable, wallet.clock, SessionClock(unreachable, wallet.clock), interval=timedelta(milliseconds=1)
    )
    running = asyncio.create_task(watch.run())
    await until(lambda: is_logged(caplog, "a sweep over inactive sessions failed"))
    # The same watch finds its database again.
    watch._engine = wallet.engine
    await until(lambda: is_state(wallet, seat, INVITED))

    assert not running.done()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await unreachable.dispose()


@pytest.mark.guarantee("G5")
async def test_g5_a_sweep_whose_connection_breaks_leaves_its_step_to_the_next_one(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)
    wallet.clock.advance(181)
    async with wallet.engine.begin() as connection:
        await connection.execute(text("SELECT 1 FROM tables FOR UPDATE"))
        sweep = asyncio.create_task(wallet.inactivity_watch.sweep())
        await wallet.wait_for_blocked()
        # The sweep's own backend, which waits for the lock that this test holds.
        await connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
        )
        with pytest.raises(DBAPIError):
            await sweep
    assert await wallet.session_state(seat) == ACTIVE
    await wallet.inactivity_watch.sweep()
    assert await wallet.session_state(seat) == INVITED


async def is_logged(caplog: pytest.LogCaptureFixture, text: str) -> bool:
    return text in caplog.text


async def is_state(wallet: InProcessWallet, seat: Seat, state: session_pb2.SessionState.ValueType) -> bool:
    return await wallet.session_state(seat) == state


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        # The other task has no event to wait for.
        while not await condition():
            await asyncio.sleep(0.001)


@pytest.mark.guarantee("G9")
async def test_g9_a_session_whose_step_fails_delays_no_other(
    wallet: InProcessWallet, wallet_database: WalletDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = await at_individual_table(wallet, "ana"), await at_individual_table(wallet, "rui")
    engine = postgresql.connect(wallet_database.owner_url, "test", 1)
    async with engine.begin() as connection:
        await connection.execute(
            text("ALTER TABLE sessions ADD CONSTRAINT broken CHECK (state = 1 OR player_id <> 'ana') NOT VALID")
        )
    await engine.dispose()

    await wallet.advance_clock(181)

    assert (await wallet.session_state(broken), await wallet.session_state(sound)) == (ACTIVE, INVITED)
    assert "the step of inactive sessions failed" in caplog.text


# -- policies ---------------------------------------------------------------------------------------------------------


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
async def test_a_longer_policy_applies_at_once_and_is_logged(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)

    answer = await wallet.session_service.set_inactivity_policy(policy_of(seat.table_id, idle_seconds=600), OPERATOR)
    assert answer.policy == session_pb2.InactivityPolicy(
        invite=True,
        idle_seconds=600,
        missed_rounds=5,
        warn_after_seconds=20,
        end_after_seconds=60,
        rebuy_grace_seconds=60,
    )
    await wallet.advance_clock(600)
    assert await wallet.session_state(seat) == ACTIVE
    await wallet.advance_clock(1)
    assert await wallet.session_state(seat) == INVITED
    (change,) = (await wallet.policy_changes(seat.table_id)).changes
    assert (change.changed_by, change.before.idle_seconds, change.after) == ("back-office", 180, answer.policy)


async def policies_in_force(wallet: InProcessWallet, *table_ids: str) -> list[int]:
    """The seconds until the invitation at each table, as operators read them."""
    requests = [session_pb2.GetInactivityPolicyRequest(table_id=table_id) for table_id in table_ids]
    answers = [await wallet.session_service.get_inactivity_policy(request, OPERATOR) for request in requests]
    return [answer.policy.idle_seconds for answer in answers]


@pytest.mark.rule("804/2015:28")
@pytest.mark.parametrize("declared", [True, False])
async def test_a_policy_set_for_the_listed_table_holds_at_the_tables_of_all_its_players(
    wallet: InProcessWallet,
    declared: bool,  # noqa: FBT001
) -> None:
    """Also at those that open later; and no owner of one of them undoes it with the rules it was set after."""
    law = session_pb2.InactivityPolicy(invite=True)
    if declared:
        await wallet.open_table("solo", INDIVIDUAL)
    await wallet.open_table("solo-a", INDIVIDUAL, configured_table_id="solo")
    ana = await wallet.sit_down("ana", "solo-a")
    await wallet.session_service.apply_specific_rules(rules_of("solo-a", 1, law), GAME)
    assert await policies_in_force(wallet, "solo", "solo-a") == [180, 180]

    await wallet.session_service.set_inactivity_policy(policy_of("solo", idle_seconds=600), OPERATOR)
    for epoch, table_id in ((1, "solo-b"), (2, "solo-a")):
        await wallet.open_table(table_id, INDIVIDUAL, epoch=epoch, configured_table_id="solo")
        applied = await wallet.session_service.apply_specific_rules(rules_of(table_id, 1, law, epoch), GAME)
        assert applied.policy.idle_seconds == 600
    rui = await wallet.sit_down("rui", "solo-b")
    assert await policies_in_force(wallet, "solo", "solo-a", "solo-b") == [600, 600, 600]
    await wallet.advance_clock(600)
    assert (await wallet.session_state(ana), await wallet.session_state(rui)) == (ACTIVE, ACTIVE)
    await wallet.advance_clock(1)
    assert (await wallet.session_state(ana), await wallet.session_state(rui)) == (INVITED, INVITED)

    await wallet.session_service.apply_specific_rules(rules_of("solo-b", 2, law), GAME)
    assert await policies_in_force(wallet, "solo", "solo-a", "solo-b") == [180, 180, 180]
    seconds = [each.after.idle_seconds for each in (await wallet.policy_changes("solo")).changes]
    assert seconds == [180, 600]


@pytest.mark.guarantee("G8")
async def test_g8_a_stale_owner_of_a_players_table_changes_no_policy(wallet: InProcessWallet) -> None:
    await wallet.open_table("solo-a", INDIVIDUAL, epoch=3, configured_table_id="solo")
    late = rules_of("solo-a", 7, session_pb2.InactivityPolicy(invite=True, idle_seconds=900), epoch=2)

    with pytest.raises(Refused) as refused:
        await wallet.session_service.apply_specific_rules(late, GAME)

    assert refused.value.reason == "STALE_EPOCH"
    assert await policies_in_force(wallet, "solo", "solo-a") == [180, 180]


async def test_the_policy_of_an_unknown_table_is_unknown(wallet: InProcessWallet) -> None:
    with pytest.raises(Refused) as refused:
        await policies_in_force(wallet, "nowhere")
    assert (refused.value.reason, refused.value.facts) == ("TABLE_UNKNOWN", {"table_id": "nowhere"})


@pytest.mark.guarantee("G12")
async def test_g12_invitations_are_switched_off_on_purpose_only(wallet: InProcessWallet) -> None:
    """A policy that says nothing of invitations is refused, and not read as one without them."""
    seat = await at_individual_table(wallet)
    silent = session_pb2.InactivityPolicy(idle_seconds=600)

    with pytest.raises(Refused) as refused:
        await wallet.session_service.set_inactivity_policy(
            session_pb2.SetInactivityPolicyRequest(table_id=seat.table_id, policy=silent), OPERATOR
        )

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "policy.invite"})
    assert await policies_in_force(wallet, seat.table_id) == [180]


@pytest.mark.rule("804/2015:28.a")
async def test_a_policy_shorter_than_the_law_is_refused(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)

    with pytest.raises(Refused) as refused:
        await wallet.session_service.set_inactivity_policy(policy_of(seat.table_id, idle_seconds=179), OPERATOR)

    assert refused.value.reason == "RULE_VIOLATED"
    assert refused.value.facts == {"field": "policy.idle_seconds", "bound": "180", "rule": "804/2015:28.a"}
    assert not (await wallet.policy_changes(seat.table_id)).changes


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_every_change_of_a_policy_is_logged_with_actor_time_and_both_policies(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)
    other = await wallet.open_table("another", INDIVIDUAL)
    moments = []
    for seconds, version in ((600, 0), (600, 1), (700, 2), (800, 0)):
        # A policy that is in force already is no change.
        asked = policy_of(seat.table_id, idle_seconds=seconds)
        if version:
            await wallet.session_service.apply_specific_rules(rules_of(seat.table_id, version, asked.policy), GAME)
        else:
            await wallet.session_service.set_inactivity_policy(asked, OPERATOR)
        moments.append(wallet.clock.now())
        wallet.clock.advance(1)
    numbers = {"idle_seconds": 900, "missed_rounds": 7, "warn_after_seconds": 21, "end_after_seconds": 61}
    late = await wallet.session_service.set_inactivity_policy(
        policy_of(other, **numbers, rebuy_grace_seconds=62), OPERATOR
    )
    off = session_pb2.SetInactivityPolicyRequest(table_id=other, policy=session_pb2.InactivityPolicy(invite=False))
    never = await wallet.session_service.set_inactivity_policy(off, OPERATOR)

    changes = (await wallet.policy_changes(seat.table_id)).changes
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
    switched_off, put_off = (await wallet.policy_changes(other)).changes
    assert (put_off.before, put_off.after) == (changes[2].before, late.policy)
    assert (switched_off.before, switched_off.after) == (late.policy, never.policy)
    first = await wallet.policy_changes(seat.table_id, page_size=2)
    second = await wallet.policy_changes(seat.table_id, page_size=2, page_token=first.next_page_token)
    assert [*first.changes, *second.changes] == list(changes)
    assert second.next_page_token == ""


@pytest.mark.rule("804/2015:28")
async def test_a_policy_without_invitations_withdraws_them(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)
    await wallet.advance_clock(181)
    await wallet.advance_clock(21)

    off = rules_of(seat.table_id, 1, session_pb2.InactivityPolicy())
    answer = await wallet.session_service.apply_specific_rules(off, GAME)
    await wallet.advance_clock(10_000)

    assert not answer.policy.invite
    assert await wallet.fact_names("ana") == ["started", "invitation", "warning", "withdrawn"]
    assert await wallet.session_state(seat) == ACTIVE


@pytest.mark.rule("804/2015:28")
async def test_a_new_owner_does_not_undo_an_operators_policy(wallet: InProcessWallet) -> None:
    table_id = (await at_individual_table(wallet)).table_id
    law = session_pb2.InactivityPolicy(invite=True)
    await wallet.session_service.apply_specific_rules(rules_of(table_id, 1, law), GAME)
    await wallet.session_service.set_inactivity_policy(policy_of(table_id, idle_seconds=600), OPERATOR)

    again = await wallet.session_service.apply_specific_rules(rules_of(table_id, 1, law, epoch=2), GAME)
    assert again.policy.idle_seconds == 600
    # Newer rules replace the policy.
    changed = await wallet.session_service.apply_specific_rules(rules_of(table_id, 2, law, epoch=2), GAME)
    assert changed.policy.idle_seconds == 180
    seconds = [each.after.idle_seconds for each in (await wallet.policy_changes(table_id)).changes]
    assert seconds == [180, 600]


@pytest.mark.guarantee("G8")
async def test_g8_the_rules_of_a_stale_owner_are_refused(wallet: InProcessWallet) -> None:
    table_id = await wallet.open_table("wheel", MULTI_PLAYER, epoch=3)
    late = rules_of(table_id, 7, session_pb2.InactivityPolicy(), epoch=2)

    with pytest.raises(Refused) as refused:
        await wallet.session_service.apply_specific_rules(late, GAME)

    assert refused.value.reason == "STALE_EPOCH"
    assert not (await wallet.policy_changes(table_id)).changes


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (session_pb2.SetInactivityPolicyRequest(table_id="table-of-ana"), "INVALID"),
        (policy_of("nowhere"), "TABLE_UNKNOWN"),
    ],
)
async def test_a_policy_needs_a_table_and_values(
    wallet: InProcessWallet, request_: session_pb2.SetInactivityPolicyRequest, reason: str
) -> None:
    await at_individual_table(wallet)

    with pytest.raises(Refused) as refused:
        await wallet.session_service.set_inactivity_policy(request_, OPERATOR)

    assert refused.value.reason == reason


async def test_a_session_shows_its_next_step(wallet: InProcessWallet) -> None:
    seat = await at_individual_table(wallet)
    session = (await wallet.get_session(seat)).session

    assert session.next_step_at.ToDatetime(T0.tzinfo) == T0 + timedelta(seconds=180, microseconds=1)
    await wallet.end_session(seat, player("ana"))
    assert not (await wallet.get_session(seat)).session.HasField("next_step_at")
