"""Sessions start, end and are shown as the player decides (`804/2015:27`), each to its own player."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import text

from feltro.wallet.v1 import session_pb2
from services.kit.refusal import Refused
from services.wallet.settings import SessionClockKind
from tests.processes.databases import WalletDatabase
from tests.service.wallet.in_process_wallet import (
    ACTIVE,
    DEMO,
    ENDED,
    ENDING,
    GAME,
    INDIVIDUAL,
    MULTI_PLAYER,
    OPERATOR,
    POKER,
    T0,
    InProcessWallet,
    ManualClock,
    open_wallet,
    player,
)

# An id that the wallet might have given out, and has not.
NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
async def desk(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as opened:
        yield opened


# -- starting -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:27")
@pytest.mark.rule("903-B/2015:6.3.6.2")
async def test_a_session_keeps_who_where_when_and_on_what(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", INDIVIDUAL)
    account_id = await desk.open_account("ana")

    started = await desk.start_session(account_id, "wheel")

    session = started.session
    assert (session.player_id, session.account_id, session.table_id, session.game) == (
        "ana",
        account_id,
        "wheel",
        "game",
    )
    assert (session.state, session.device.address) == (ACTIVE, "192.0.2.1")
    assert session.started_at.ToDatetime(T0.tzinfo) == T0
    assert not started.HasField("previous_session_started_at")
    assert await desk.fact_names("ana") == ["started"]


async def test_the_next_session_names_the_one_before(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", INDIVIDUAL)
    seat = await desk.sit_down("ana", "wheel")
    desk.clock.advance(60)
    await desk.end_session(seat)
    desk.clock.advance(3600)

    started = await desk.start_session(seat.account_id, "wheel")

    assert started.previous_session_started_at.ToDatetime(T0.tzinfo) == T0
    assert started.previous_session_ended_at.ToDatetime(T0.tzinfo) == T0 + timedelta(seconds=60)
    told = (await desk.player_facts("ana"))[-1].session_started
    assert told.previous_session_started_at == started.previous_session_started_at


async def test_one_running_session_per_player_and_table_and_several_tables_at_once(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    await desk.open_table("two", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")

    with pytest.raises(Refused) as refused:
        await desk.start_session(seat.account_id, "one")
    await desk.start_session(seat.account_id, "two")

    assert (refused.value.reason, refused.value.facts) == ("SESSION_RUNNING", {"session_id": seat.session_id})


async def test_two_starts_at_once_make_one_session(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    account_id = await desk.open_account("ana")

    answers = await asyncio.gather(*(desk.start_session(account_id, "one") for _ in range(6)), return_exceptions=True)

    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert len(refused) == 5
    assert {refusal.reason for refusal in refused} == {"SESSION_RUNNING"}


@pytest.mark.guarantee("G3")
async def test_g3_the_same_request_starts_one_session_and_gets_the_same_bytes(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    account_id = await desk.open_account("ana")
    request = session_pb2.StartSessionRequest(request_id="start-1", account_id=account_id, table_id="one")

    first = await asyncio.gather(*(desk.sessions.start_session(request, GAME) for _ in range(4)))
    desk.clock.advance(100)
    later = await desk.sessions.start_session(request, GAME)

    assert {*first, later} == {first[0]}
    assert await desk.fact_names("ana") == ["started"]


@pytest.mark.guarantee("G3")
async def test_g3_a_click_that_is_repeated_over_another_network_is_the_same(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    account_id = await desk.open_account("ana")
    here, there = (
        session_pb2.StartSessionRequest(
            request_id="start-1", account_id=account_id, table_id="one", device=session_pb2.Device(address=address)
        )
        for address in ("192.0.2.1", "198.51.100.7")
    )

    first = await desk.sessions.start_session(here, GAME)
    again = await desk.sessions.start_session(there, GAME)

    assert again == first
    assert session_pb2.StartSessionResponse.FromString(first).session.device.address == "192.0.2.1"


@pytest.mark.guarantee("G3")
async def test_g3_the_same_request_id_for_something_else_is_refused(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    await desk.open_table("two", INDIVIDUAL)
    account_id = await desk.open_account("ana")
    await desk.start_session(account_id, "one", request_id="start-1")

    with pytest.raises(Refused) as refused:
        await desk.start_session(account_id, "two", request_id="start-1")

    assert refused.value.reason == "REQUEST_REUSED"


@pytest.mark.guarantee("G3")
async def test_g3_a_refusal_is_an_answer_that_stays(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    with pytest.raises(Refused):
        await desk.start_session(seat.account_id, "one", request_id="again")
    await desk.end_session(seat)

    with pytest.raises(Refused) as refused:
        await desk.start_session(seat.account_id, "one", request_id="again")

    assert refused.value.reason == "SESSION_RUNNING"


async def test_real_and_demonstration_do_not_meet(desk: InProcessWallet) -> None:
    await desk.open_table("fun", INDIVIDUAL, mode=DEMO)
    account_id = await desk.open_account("ana")

    with pytest.raises(Refused) as refused:
        await desk.start_session(account_id, "fun")

    assert refused.value.reason == "MODE_MISMATCH"
    assert refused.value.facts == {"account_id": account_id, "account_mode": "REAL", "table_mode": "DEMO"}


async def test_a_blocked_account_starts_nothing(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    account_id = await desk.open_account("ana")
    async with desk.engine.begin() as connection:
        await connection.execute(text("UPDATE accounts SET blocked = true WHERE kind = 1"))

    with pytest.raises(Refused) as refused:
        await desk.start_session(account_id, "one")

    assert refused.value.reason == "ACCOUNT_BLOCKED"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"table_id": "nowhere"}, "TABLE_UNKNOWN"),
        ({"account_id": NOBODY}, "ACCOUNT_UNKNOWN"),
        ({"account_id": "what?"}, "ACCOUNT_UNKNOWN"),
        ({"request_id": ""}, "INVALID"),
        ({"table_id": "no such\ntable"}, "INVALID"),
        ({"device": session_pb2.Device(agent="x" * 1000)}, "INVALID"),
        ({"device": session_pb2.Device(agent="\0")}, "INVALID"),
    ],
)
async def test_what_cannot_be_is_refused(desk: InProcessWallet, wrong: dict[str, object], reason: str) -> None:
    await desk.open_table("one", INDIVIDUAL)
    right = {"request_id": "r", "table_id": "one", "account_id": await desk.open_account("ana")}

    with pytest.raises(Refused) as refused:
        await desk.sessions.start_session(session_pb2.StartSessionRequest(**(right | wrong)), GAME)  # type: ignore[arg-type]

    assert refused.value.reason == reason


# -- whose ----------------------------------------------------------------------------------------------------------


async def test_a_player_sees_and_touches_his_own_only(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    rui, sessions = player("rui"), desk.sessions
    of_session = {"session_id": seat.session_id}

    for call in (
        desk.end_session(seat, rui),
        sessions.get_session(session_pb2.GetSessionRequest(**of_session), rui),
        sessions.record_activity(session_pb2.RecordActivityRequest(**of_session), rui),
        sessions.list_sessions(session_pb2.ListSessionsRequest(player_id="ana"), rui),
        sessions.end_player_sessions(session_pb2.EndPlayerSessionsRequest(player_id="ana"), rui),
    ):
        with pytest.raises(Refused) as refused:
            await call
        assert refused.value.reason == "NOT_YOURS"
    assert await desk.session_state(seat) == ACTIVE


@pytest.mark.parametrize("session_id", [NOBODY, "", "ffff", "no id"])
async def test_an_unknown_session_is_said_to_be_unknown(desk: InProcessWallet, session_id: str) -> None:
    request = session_pb2.EndSessionRequest(session_id=session_id, cause=session_pb2.END_CAUSE_PLAYER)

    with pytest.raises(Refused) as refused:
        await desk.sessions.end_session(request, player("ana"))

    assert (refused.value.reason, refused.value.facts) == ("SESSION_UNKNOWN", {"session_id": session_id})


# -- ending ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:26")
@pytest.mark.rule("804/2015:27")
async def test_the_player_ends_his_session_and_is_told_what_it_came_to(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    stake = await desk.place(seat, "r1", 500)
    await desk.settle("one", "r1", {stake: 800})
    desk.clock.advance(90)

    ended = await desk.end_session(seat)

    assert (ended.session.state, ended.session.end_cause) == (ENDED, session_pb2.END_CAUSE_PLAYER)
    assert (ended.summary.staked_cents, ended.summary.won_cents, ended.summary.net_cents) == (500, 800, 300)
    assert ended.summary.duration.seconds == 90
    assert await desk.fact_names("ana") == ["started", "ended"]
    fact = (await desk.player_facts("ana"))[-1].session_ended
    assert (fact.session, fact.summary) == (ended.session, ended.summary)


async def test_ending_twice_changes_nothing(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    first = await desk.end_session(seat)
    desk.clock.advance(50)

    again = await desk.end_session(seat, OPERATOR, session_pb2.END_CAUSE_OPERATOR)

    assert again == first
    assert await desk.fact_names("ana") == ["started", "ended"]


@pytest.mark.rule("805/2015:35")
async def test_b24_with_a_stake_in_play_it_ends_with_the_round(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    stake = await desk.place(seat, "r1", 500)

    ending = await desk.end_session(seat)
    assert ending.session.state == ENDING
    with pytest.raises(Refused) as refused:
        await desk.place(seat, "r1", 100)
    assert refused.value.reason == "SESSION_ENDED"
    settled = await desk.settle("one", "r1", {stake: 0})

    assert list(settled.sessions.ended_session_ids) == [seat.session_id]
    assert await desk.session_state(seat) == ENDED
    assert (await desk.player_facts("ana"))[-1].session_ended.summary.net_cents == -500


@pytest.mark.parametrize("how", ["void", "cancel"])
async def test_b24_it_ends_as_well_when_the_stake_comes_back(desk: InProcessWallet, how: str) -> None:
    await desk.open_table("one", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    stake = await desk.place(seat, "r1", 500)
    await desk.end_session(seat)

    if how == "void":
        await desk.void("one", "r1")
    else:
        await desk.cancel(seat, "r1", stake)

    assert await desk.session_state(seat) == ENDED
    assert await desk.fact_names("ana") == ["started", "ended"]


async def test_a_cave_is_cashed_out_before_a_session_is_over(desk: InProcessWallet) -> None:
    await desk.open_table("felt", POKER, "806/2015")
    seat = await desk.sit_down("ana", "felt")
    await desk.buy_in(seat, 10_000)

    assert (await desk.end_session(seat)).session.state == ENDING
    assert not (await desk.cash_out(seat, 4_000)).session_ended
    assert (await desk.cash_out(seat)).session_ended
    assert await desk.session_state(seat) == ENDED


async def test_a_stake_at_another_table_keeps_nobody(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    await desk.open_table("two", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    other = await desk.start_session(seat.account_id, "two")
    await desk.place(seat, "r1", 500)

    request = session_pb2.EndSessionRequest(session_id=other.session.session_id)
    assert (await desk.sessions.end_session(request, player("ana"))).session.state == ENDED


@pytest.mark.parametrize(
    ("who", "cause"),
    [
        (player("ana"), session_pb2.END_CAUSE_INACTIVITY),
        (player("ana"), session_pb2.END_CAUSE_OPERATOR),
        (GAME, session_pb2.END_CAUSE_INACTIVITY),
        (OPERATOR, session_pb2.END_CAUSE_INACTIVITY),
        (OPERATOR, session_pb2.END_CAUSE_UNSPECIFIED),
        (GAME, 77),
    ],
)
@pytest.mark.rule("804/2015:29")
async def test_nobody_may_call_it_inactivity_but_the_wallet(
    desk: InProcessWallet, who: object, cause: session_pb2.EndCause.ValueType
) -> None:
    await desk.open_table("one", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")

    with pytest.raises(Refused) as refused:
        await desk.end_session(seat, who, cause)  # type: ignore[arg-type]

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "cause"})


async def test_what_the_operator_ends_says_so(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")

    ended = await desk.end_session(seat, OPERATOR, session_pb2.END_CAUSE_OPERATOR)

    assert ended.session.end_cause == session_pb2.END_CAUSE_OPERATOR


async def test_logging_out_ends_all_sessions(desk: InProcessWallet) -> None:
    for table in ("one", "two", "three"):
        await desk.open_table(table, INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    await desk.start_session(seat.account_id, "two")
    await desk.end_session(seat)
    await desk.start_session(seat.account_id, "three")
    stays = await desk.sit_down("rui", "one")
    staked = await desk.sit_down("ana", "one")
    await desk.place(staked, "r1", 100)

    answer = await desk.sessions.end_player_sessions(
        session_pb2.EndPlayerSessionsRequest(player_id="ana"), player("ana")
    )

    states = {session.table_id: session.state for session in answer.sessions}
    assert states == {"one": ENDING, "two": ENDED, "three": ENDED}
    assert {session.end_cause for session in answer.sessions} == {session_pb2.END_CAUSE_LOGOUT}
    assert await desk.session_state(stays) == ACTIVE


async def test_an_operator_who_ends_them_is_on_record_as_the_one_who_did(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    await desk.open_table("two", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    await desk.start_session(seat.account_id, "two")
    request = session_pb2.EndPlayerSessionsRequest(player_id="ana", cause=session_pb2.END_CAUSE_OPERATOR)

    with pytest.raises(Refused) as refused:
        await desk.sessions.end_player_sessions(request, player("ana"))
    answer = await desk.sessions.end_player_sessions(request, OPERATOR)

    assert refused.value.facts["field"] == "cause"
    assert [session.end_cause for session in answer.sessions] == [session_pb2.END_CAUSE_OPERATOR] * 2


# -- looking --------------------------------------------------------------------------------------------------------


async def test_a_sign_of_life_is_kept_and_is_no_bet(desk: InProcessWallet) -> None:
    await desk.open_table("one", INDIVIDUAL)
    seat = await desk.sit_down("ana", "one")
    before = (await desk.get_session(seat)).session
    desk.clock.advance(30)

    request = session_pb2.RecordActivityRequest(session_id=seat.session_id)
    await desk.sessions.record_activity(request, player("ana"))

    after = (await desk.get_session(seat)).session
    assert after.last_activity_at.ToDatetime(T0.tzinfo) == T0 + timedelta(seconds=30)
    assert after.next_step_at == before.next_step_at
    await desk.end_session(seat)
    with pytest.raises(Refused) as refused:
        await desk.sessions.record_activity(request, player("ana"))
    assert refused.value.reason == "SESSION_ENDED"


async def test_sessions_are_listed_newest_first_in_pages(desk: InProcessWallet) -> None:
    seats = []
    for number in range(5):
        await desk.open_table(f"t{number}", MULTI_PLAYER)
        seats.append(await desk.sit_down("ana", f"t{number}"))
    await desk.end_session(seats[3])

    pages: list[list[str]] = []
    token = ""
    while not pages or token:
        request = session_pb2.ListSessionsRequest(player_id="ana", page_size=2, page_token=token)
        answer = await desk.sessions.list_sessions(request, player("ana"))
        pages.append([session.table_id for session in answer.sessions])
        token = answer.next_page_token
    running = await desk.sessions.list_sessions(
        session_pb2.ListSessionsRequest(player_id="ana", running_only=True), OPERATOR
    )

    assert pages == [["t4", "t3"], ["t2", "t1"], ["t0"]]
    assert [session.table_id for session in running.sessions] == ["t4", "t2", "t1", "t0"]


# -- the clock of development ---------------------------------------------------------------------------------------


async def test_development_moves_the_clock_for_every_replica(
    desk: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    answer = await desk.advance_session_clock(100)
    assert answer.now.ToDatetime(T0.tzinfo) == T0 + timedelta(seconds=100)

    async with open_wallet(wallet_database.url, desk.clock) as restarted:
        assert restarted.session_clock.now() == T0 + timedelta(seconds=100)
        await restarted.advance_session_clock(1)
    await desk.watch.sweep()
    assert desk.session_clock.now() == T0 + timedelta(seconds=101)


@pytest.mark.parametrize("seconds", [0, -1, 1e9])
async def test_the_clock_goes_forward_and_within_reason(desk: InProcessWallet, seconds: float) -> None:
    with pytest.raises(Refused) as refused:
        await desk.advance_session_clock(seconds)

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "by"})


async def test_a_real_clock_cannot_be_moved_and_ignores_that_it_was(wallet_database: WalletDatabase) -> None:
    clock = ManualClock()
    async with open_wallet(wallet_database.url, clock) as development:
        await development.advance_session_clock(1000)
    async with open_wallet(wallet_database.url, clock, SessionClockKind.REAL) as production:
        with pytest.raises(Refused) as refused:
            await production.advance_session_clock(1)

        assert refused.value.reason == "NOT_OFFERED"
        assert refused.value.facts == {"setting": "FELTRO_WALLET_SESSION_CLOCK"}
        await production.watch.sweep()
        assert production.session_clock.now() == T0
