"""Sessions: how they start and end (`804/2015:27`), who sees them, and the session clock."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from feltro.wallet.v1 import session_pb2
from services.kit.refusal import Refused
from services.wallet.sessions.clock import AHEAD_LIMIT, SessionClockKind
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
    Seat,
    open_wallet,
    player,
)

# Spelled like an id of the wallet.
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


# -- starting ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:27")
@pytest.mark.rule("903-B/2015:6.3.6.2")
async def test_a_session_records_player_table_time_and_device(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", INDIVIDUAL)
    account_id = await wallet.open_account("ana")

    started = await wallet.start_session(account_id, "wheel")

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
    assert await wallet.fact_names("ana") == ["started"]


async def test_a_new_session_names_the_times_of_the_previous_one(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "wheel")
    wallet.clock.advance(60)
    await wallet.end_session(seat)
    wallet.clock.advance(3600)

    started = await wallet.start_session(seat.account_id, "wheel")

    assert started.previous_session_started_at.ToDatetime(T0.tzinfo) == T0
    assert started.previous_session_ended_at.ToDatetime(T0.tzinfo) == T0 + timedelta(seconds=60)
    fact = (await wallet.player_facts("ana"))[-1].session_started
    assert fact.previous_session_started_at == started.previous_session_started_at


async def test_a_player_has_one_running_session_per_table(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    await wallet.open_table("two", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")

    with pytest.raises(Refused) as refused:
        await wallet.start_session(seat.account_id, "one")
    await wallet.start_session(seat.account_id, "two")

    assert (refused.value.reason, refused.value.facts) == ("SESSION_RUNNING", {"session_id": seat.session_id})


async def test_concurrent_starts_make_one_session(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    account_id = await wallet.open_account("ana")

    answers = await asyncio.gather(*(wallet.start_session(account_id, "one") for _ in range(6)), return_exceptions=True)

    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert len(refused) == 5
    assert {refusal.reason for refusal in refused} == {"SESSION_RUNNING"}


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_request_starts_one_session_and_gets_the_same_bytes(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    account_id = await wallet.open_account("ana")
    request = session_pb2.StartSessionRequest(request_id="start-1", account_id=account_id, table_id="one")

    first = await asyncio.gather(*(wallet.session_service.start_session(request, GAME) for _ in range(4)))
    wallet.clock.advance(100)
    later = await wallet.session_service.start_session(request, GAME)

    assert {*first, later} == {first[0]}
    assert await wallet.fact_names("ana") == ["started"]


@pytest.mark.guarantee("G3")
async def test_g3_a_request_repeated_over_another_network_gets_the_first_answer(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    account_id = await wallet.open_account("ana")
    original, repeated = (
        session_pb2.StartSessionRequest(
            request_id="start-1", account_id=account_id, table_id="one", device=session_pb2.Device(address=address)
        )
        for address in ("192.0.2.1", "198.51.100.7")
    )

    first = await wallet.session_service.start_session(original, GAME)
    again = await wallet.session_service.start_session(repeated, GAME)

    assert again == first
    assert session_pb2.StartSessionResponse.FromString(first).session.device.address == "192.0.2.1"


@pytest.mark.guarantee("G3")
async def test_g3_the_same_request_id_for_something_else_is_refused(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    await wallet.open_table("two", INDIVIDUAL)
    account_id = await wallet.open_account("ana")
    await wallet.start_session(account_id, "one", request_id="start-1")

    with pytest.raises(Refused) as refused:
        await wallet.start_session(account_id, "two", request_id="start-1")

    assert refused.value.reason == "REQUEST_REUSED"


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_request_gets_the_first_refusal(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    with pytest.raises(Refused):
        await wallet.start_session(seat.account_id, "one", request_id="again")
    await wallet.end_session(seat)

    with pytest.raises(Refused) as refused:
        await wallet.start_session(seat.account_id, "one", request_id="again")

    assert refused.value.reason == "SESSION_RUNNING"


async def test_no_real_account_plays_at_a_demonstration_table(wallet: InProcessWallet) -> None:
    await wallet.open_table("fun", INDIVIDUAL, mode=DEMO)
    account_id = await wallet.open_account("ana")

    with pytest.raises(Refused) as refused:
        await wallet.start_session(account_id, "fun")

    assert refused.value.reason == "MODE_MISMATCH"
    assert refused.value.facts == {"account_id": account_id, "account_mode": "MODE_REAL", "table_mode": "MODE_DEMO"}


async def test_a_blocked_account_starts_no_session(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    account_id = await wallet.open_account("ana")
    async with wallet.engine.begin() as connection:
        await connection.execute(text("UPDATE accounts SET blocked = true WHERE kind = 1"))

    with pytest.raises(Refused) as refused:
        await wallet.start_session(account_id, "one")

    assert refused.value.reason == "ACCOUNT_BLOCKED"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"table_id": "nowhere"}, "TABLE_UNKNOWN"),
        ({"account_id": UNKNOWN_ID}, "ACCOUNT_UNKNOWN"),
        ({"account_id": "what?"}, "ACCOUNT_UNKNOWN"),
        ({"request_id": ""}, "INVALID"),
        ({"table_id": "no such\ntable"}, "INVALID"),
        ({"device": session_pb2.Device(agent="x" * 1000)}, "INVALID"),
        ({"device": session_pb2.Device(agent="\0")}, "INVALID"),
    ],
)
async def test_invalid_or_unknown_fields_are_refused(
    wallet: InProcessWallet, wrong: dict[str, object], reason: str
) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    right = {"request_id": "r", "table_id": "one", "account_id": await wallet.open_account("ana")}

    with pytest.raises(Refused) as refused:
        await wallet.session_service.start_session(session_pb2.StartSessionRequest(**(right | wrong)), GAME)  # type: ignore[arg-type]

    assert refused.value.reason == reason


# -- access -----------------------------------------------------------------------------------------------------------


async def test_a_player_sees_and_changes_only_their_own_sessions(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    rui, sessions = player("rui"), wallet.session_service
    session_id = {"session_id": seat.session_id}

    for call, reason in (
        (wallet.end_session(seat, rui), "SESSION_UNKNOWN"),
        (sessions.get_session(session_pb2.GetSessionRequest(**session_id), rui), "SESSION_UNKNOWN"),
        (sessions.record_activity(session_pb2.RecordActivityRequest(**session_id), rui), "SESSION_UNKNOWN"),
        (sessions.list_sessions(session_pb2.ListSessionsRequest(player_id="ana"), rui), "NOT_YOURS"),
        (sessions.end_player_sessions(session_pb2.EndPlayerSessionsRequest(player_id="ana"), rui), "NOT_YOURS"),
    ):
        with pytest.raises(Refused) as refused:
            await call
        assert refused.value.reason == reason
    assert await wallet.session_state(seat) == ACTIVE


@pytest.mark.parametrize("session_id", [UNKNOWN_ID, "", "ffff", "no id"])
async def test_an_unknown_session_is_refused(wallet: InProcessWallet, session_id: str) -> None:
    request = session_pb2.EndSessionRequest(session_id=session_id, cause=session_pb2.END_CAUSE_PLAYER)

    with pytest.raises(Refused) as refused:
        await wallet.session_service.end_session(request, player("ana"))

    assert (refused.value.reason, refused.value.facts) == ("SESSION_UNKNOWN", {"session_id": session_id})


# -- ending -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:26")
@pytest.mark.rule("804/2015:27")
async def test_the_player_ends_the_session_and_gets_its_summary(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    stake = await wallet.place(seat, "r1", 500)
    await wallet.settle("one", "r1", {stake: 800})
    wallet.clock.advance(90)

    ended = await wallet.end_session(seat)

    assert (ended.session.state, ended.session.end_cause) == (ENDED, session_pb2.END_CAUSE_PLAYER)
    assert (ended.summary.staked_cents, ended.summary.payout_cents, ended.summary.net_cents) == (500, 800, 300)
    assert ended.summary.duration_ms == 90000
    assert await wallet.fact_names("ana") == ["started", "ended"]
    fact = (await wallet.player_facts("ana"))[-1].session_ended
    assert (fact.session, fact.summary) == (ended.session, ended.summary)


async def test_ending_twice_changes_nothing(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    first = await wallet.end_session(seat)
    wallet.clock.advance(50)

    again = await wallet.end_session(seat, OPERATOR, session_pb2.END_CAUSE_OPERATOR)

    assert again == first
    assert await wallet.fact_names("ana") == ["started", "ended"]


@pytest.mark.rule("805/2015:35")
async def test_b24_a_session_with_a_stake_in_play_ends_with_the_round(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    stake = await wallet.place(seat, "r1", 500)

    ending = await wallet.end_session(seat)
    assert ending.session.state == ENDING
    with pytest.raises(Refused) as refused:
        await wallet.place(seat, "r1", 100)
    assert refused.value.reason == "SESSION_ENDED"
    settled = await wallet.settle("one", "r1", {stake: 0})

    assert list(settled.sessions.ended_session_ids) == [seat.session_id]
    assert await wallet.session_state(seat) == ENDED
    assert (await wallet.player_facts("ana"))[-1].session_ended.summary.net_cents == -500


@pytest.mark.parametrize("how", ["void", "cancel"])
async def test_b24_an_ending_session_ends_when_its_stake_comes_back(wallet: InProcessWallet, how: str) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    stake = await wallet.place(seat, "r1", 500)
    await wallet.end_session(seat)

    if how == "void":
        await wallet.void("one", "r1")
    else:
        await wallet.cancel(seat, "r1", stake)

    assert await wallet.session_state(seat) == ENDED
    assert await wallet.fact_names("ana") == ["started", "ended"]


async def test_a_session_ends_only_after_its_cave_is_cashed_out(wallet: InProcessWallet) -> None:
    await wallet.open_table("felt", POKER, "806/2015")
    seat = await wallet.sit_down("ana", "felt")
    await wallet.buy_in(seat, 10_000)

    assert (await wallet.end_session(seat)).session.state == ENDING
    assert not (await wallet.cash_out(seat, 4_000)).session_ended
    assert (await wallet.cash_out(seat)).session_ended
    assert await wallet.session_state(seat) == ENDED


async def test_a_stake_at_another_table_keeps_no_session_open(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    await wallet.open_table("two", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    other = await wallet.start_session(seat.account_id, "two")
    await wallet.place(seat, "r1", 500)

    request = session_pb2.EndSessionRequest(session_id=other.session.session_id)
    assert (await wallet.session_service.end_session(request, player("ana"))).session.state == ENDED


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
async def test_only_the_wallet_ends_a_session_for_inactivity(
    wallet: InProcessWallet, who: object, cause: session_pb2.EndCause.ValueType
) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")

    with pytest.raises(Refused) as refused:
        await wallet.end_session(seat, who, cause)  # type: ignore[arg-type]

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "cause"})


async def test_a_session_ended_by_the_operator_records_that_cause(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")

    ended = await wallet.end_session(seat, OPERATOR, session_pb2.END_CAUSE_OPERATOR)

    assert ended.session.end_cause == session_pb2.END_CAUSE_OPERATOR


async def test_logging_out_ends_all_sessions(wallet: InProcessWallet) -> None:
    for table in ("one", "two", "three"):
        await wallet.open_table(table, INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    await wallet.start_session(seat.account_id, "two")
    await wallet.end_session(seat)
    await wallet.start_session(seat.account_id, "three")
    other_player = await wallet.sit_down("rui", "one")
    seat_with_stake = await wallet.sit_down("ana", "one")
    await wallet.place(seat_with_stake, "r1", 100)

    answer = await wallet.session_service.end_player_sessions(
        session_pb2.EndPlayerSessionsRequest(player_id="ana"), player("ana")
    )

    states = {session.table_id: session.state for session in answer.sessions}
    assert states == {"one": ENDING, "two": ENDED, "three": ENDED}
    assert {session.end_cause for session in answer.sessions} == {session_pb2.END_CAUSE_LOGOUT}
    assert await wallet.session_state(other_player) == ACTIVE


async def test_sessions_ended_by_an_operator_record_that_cause(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    await wallet.open_table("two", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    await wallet.start_session(seat.account_id, "two")
    request = session_pb2.EndPlayerSessionsRequest(player_id="ana", cause=session_pb2.END_CAUSE_OPERATOR)

    with pytest.raises(Refused) as refused:
        await wallet.session_service.end_player_sessions(request, player("ana"))
    answer = await wallet.session_service.end_player_sessions(request, OPERATOR)

    assert refused.value.facts["field"] == "cause"
    assert [session.end_cause for session in answer.sessions] == [session_pb2.END_CAUSE_OPERATOR] * 2


# -- activity and lists -----------------------------------------------------------------------------------------------


async def test_a_bet_counts_as_activity_at_once_and_when_its_round_ends(wallet: InProcessWallet) -> None:
    await wallet.open_table("many", MULTI_PLAYER)
    # Sessions have a clock of their own, which is ahead.
    await wallet.advance_session_clock(3600)
    seat, other = await wallet.sit_down("ana", "many"), await wallet.sit_down("rui", "many")
    started = T0 + timedelta(hours=1)

    async def last_activity(of: Seat) -> list[datetime]:
        """As it is read alone, among the player's sessions and among the table's."""
        of_player = session_pb2.ListSessionsRequest(player_id=of.player_id)
        at_table = session_pb2.ListTableSessionsRequest(table_id="many")
        found = [
            (await wallet.get_session(of)).session,
            *(await wallet.session_service.list_sessions(of_player, OPERATOR)).sessions,
            *(await wallet.session_service.list_table_sessions(at_table, OPERATOR)).sessions,
        ]
        return [each.last_activity_at.ToDatetime(UTC) for each in found if each.player_id == of.player_id]

    wallet.clock.advance(30)
    stake = await wallet.place(seat, "r1", 100)
    wallet.clock.advance(10)
    assert await last_activity(seat) == [started + timedelta(seconds=30)] * 3
    await wallet.settle("many", "r1", {stake: 0}, [seat.session_in_round(), other.session_in_round()])
    wallet.clock.advance(10)
    assert await last_activity(seat) == [started + timedelta(seconds=40)] * 3
    assert await last_activity(other) == [started] * 3


async def test_activity_is_recorded_and_is_no_bet(wallet: InProcessWallet) -> None:
    await wallet.open_table("one", INDIVIDUAL)
    seat = await wallet.sit_down("ana", "one")
    before = (await wallet.get_session(seat)).session
    wallet.clock.advance(30)

    request = session_pb2.RecordActivityRequest(session_id=seat.session_id)
    await wallet.session_service.record_activity(request, player("ana"))

    after = (await wallet.get_session(seat)).session
    assert after.last_activity_at.ToDatetime(T0.tzinfo) == T0 + timedelta(seconds=30)
    assert after.next_step_at == before.next_step_at
    await wallet.end_session(seat)
    with pytest.raises(Refused) as refused:
        await wallet.session_service.record_activity(request, player("ana"))
    assert refused.value.reason == "SESSION_ENDED"


async def test_sessions_are_listed_newest_first_in_pages(wallet: InProcessWallet) -> None:
    seats = []
    for number in range(5):
        await wallet.open_table(f"t{number}", MULTI_PLAYER)
        seats.append(await wallet.sit_down("ana", f"t{number}"))
    await wallet.end_session(seats[3])

    pages: list[list[str]] = []
    token = ""
    while not pages or token:
        request = session_pb2.ListSessionsRequest(player_id="ana", page_size=2, page_token=token)
        answer = await wallet.session_service.list_sessions(request, player("ana"))
        pages.append([session.table_id for session in answer.sessions])
        token = answer.next_page_token
    running = await wallet.session_service.list_sessions(
        session_pb2.ListSessionsRequest(player_id="ana", running_only=True), OPERATOR
    )

    assert pages == [["t4", "t3"], ["t2", "t1"], ["t0"]]
    assert [session.table_id for session in running.sessions] == ["t4", "t2", "t1", "t0"]


# -- the session clock ------------------------------------------------------------------------------------------------


async def test_the_clock_is_advanced_for_every_replica(
    wallet: InProcessWallet, wallet_database: WalletDatabase
) -> None:
    answer = await wallet.advance_session_clock(100)
    assert answer.at.ToDatetime(T0.tzinfo) == T0 + timedelta(seconds=100)

    async with open_wallet(wallet_database.url, wallet.clock) as restarted:
        assert restarted.session_clock.now() == T0 + timedelta(seconds=100)
        await restarted.advance_session_clock(1)
    await wallet.inactivity_watch.sweep()
    assert wallet.session_clock.now() == T0 + timedelta(seconds=101)


@pytest.mark.parametrize("seconds", [0, -1, 1e9])
async def test_the_clock_is_advanced_only_forward_and_within_its_limit(wallet: InProcessWallet, seconds: float) -> None:
    with pytest.raises(Refused) as refused:
        await wallet.advance_session_clock(seconds)

    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "by_ms"})


@pytest.mark.guarantee("G11")
async def test_g11_the_clock_is_not_advanced_step_by_step_beyond_its_limit(wallet: InProcessWallet) -> None:
    await wallet.advance_session_clock((AHEAD_LIMIT - timedelta(seconds=1)).total_seconds())
    with pytest.raises(Refused) as refused:
        await wallet.advance_session_clock(1.001)
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "by_ms"})
    assert wallet.session_clock.ahead == AHEAD_LIMIT - timedelta(seconds=1)
    await wallet.advance_session_clock(1)
    assert wallet.session_clock.now() == T0 + AHEAD_LIMIT


async def test_a_real_clock_cannot_be_advanced_and_ignores_earlier_advances(wallet_database: WalletDatabase) -> None:
    clock = ManualClock()
    async with open_wallet(wallet_database.url, clock) as development:
        await development.advance_session_clock(1000)
    async with open_wallet(wallet_database.url, clock, SessionClockKind.REAL) as production:
        with pytest.raises(Refused) as refused:
            await production.advance_session_clock(1)

        assert refused.value.reason == "NOT_OFFERED"
        assert refused.value.facts == {"setting": "FELTRO_WALLET_SESSION_CLOCK"}
        await production.inactivity_watch.sweep()
        assert production.session_clock.now() == T0
