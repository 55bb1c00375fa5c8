"""Who is at a table, for the game service that takes it over: it lists them, seats players, and sends them home."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio
from sqlalchemy import text

from feltro.wallet.v1 import session_pb2, types_pb2
from services.kit.refusal import Refused
from tests.processes.databases import WalletDatabase
from tests.processes.wallet import Seat, WalletClient, refusal_facts, refusal_reason
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
    open_wallet,
)

CROWD = 1_203


@pytest_asyncio.fixture
async def desk(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    async with open_wallet(wallet_database.url) as opened:
        yield opened


async def page(
    desk: InProcessWallet, table_id: str, size: int = 0, token: str = ""
) -> session_pb2.ListTableSessionsResponse:
    request = session_pb2.ListTableSessionsRequest(table_id=table_id, page_size=size, page_token=token)
    return await desk.sessions.list_table_sessions(request, GAME)


async def pages(desk: InProcessWallet, table_id: str, size: int = 0) -> list[list[session_pb2.Session]]:
    answer = await page(desk, table_id, size)
    found = [list(answer.sessions)]
    while answer.next_page_token:
        answer = await page(desk, table_id, size, answer.next_page_token)
        found.append(list(answer.sessions))
    return found


async def fill(desk: InProcessWallet, table_id: str, players: int) -> None:
    """Sessions as rows: to start so many one by one would take longer than what is tested."""
    async with desk.engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO accounts (kind, mode, player_id, opened_at)"
                " SELECT 1, 1, 'p' || n, :at FROM generate_series(1, :players) AS n"
            ),
            {"players": players, "at": T0},
        )
        await connection.execute(
            text(
                "INSERT INTO sessions (player_id, account_no, table_no, state, device_kind, device_agent,"
                " device_address, device_fingerprint, started_at, started_version, last_activity_at, idle_since)"
                " SELECT a.player_id, a.account_no, t.table_no, 1, '', '', '', '', :at, 0, :at, :at"
                " FROM accounts a, tables t WHERE t.table_id = :table_id AND a.kind = 1 ORDER BY a.account_no"
            ),
            {"table_id": table_id, "at": T0},
        )


# -- listing --------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G8")
async def test_g8_a_successor_sees_everybody_who_has_not_ended_in_the_order_of_start(desk: InProcessWallet) -> None:
    await desk.open_table("wheel", INDIVIDUAL)
    warned = await desk.sit_down("warned", "wheel")
    await desk.advance_clock(30)
    invited = await desk.sit_down("invited", "wheel")
    for seconds in (151, 21, 10):
        await desk.advance_clock(seconds)
    gone = await desk.sit_down("gone", "wheel")
    ending = await desk.sit_down("ending", "wheel")
    await desk.place(ending, "r1", 100)
    await desk.end_session(gone)
    await desk.end_session(ending)
    active = await desk.sit_down("active", "wheel")
    await desk.open_table("another", INDIVIDUAL)
    await desk.sit_down("active", "another")

    ((*found,),) = await pages(desk, "wheel")

    assert [(session.session_id, session.state) for session in found] == [
        (warned.session_id, WARNED),
        (invited.session_id, INVITED),
        (ending.session_id, ENDING),
        (active.session_id, ACTIVE),
    ]
    # As GetSession shows it, all of it.
    assert found[0] == (await desk.get_session(warned)).session


async def test_every_page_can_be_read(desk: InProcessWallet) -> None:
    await desk.open_table("hall", MULTI_PLAYER)
    await fill(desk, "hall", CROWD)

    for size, lengths in ((0, [50] * 24 + [3]), (401, [401, 401, 401]), (500, [500, 500, 203])):
        found = await pages(desk, "hall", size)
        assert [len(sessions) for sessions in found] == lengths
        assert [session.player_id for sessions in found for session in sessions] == [f"p{n + 1}" for n in range(CROWD)]


async def test_who_comes_and_goes_between_two_pages_moves_nobody_else(desk: InProcessWallet) -> None:
    await desk.open_table("hall", MULTI_PLAYER)
    seats = [await desk.sit_down(f"p{number}", "hall") for number in range(4)]
    first = await page(desk, "hall", 2)
    await desk.end_session(seats[1])
    await desk.end_session(seats[2])
    late = await desk.sit_down("late", "hall")

    second = await page(desk, "hall", 2, first.next_page_token)

    assert [session.player_id for session in first.sessions] == ["p0", "p1"]
    assert [session.session_id for session in second.sessions] == [seats[3].session_id, late.session_id]
    assert not second.next_page_token


async def test_nobody_is_at_an_empty_table(desk: InProcessWallet) -> None:
    await desk.open_table("hall", MULTI_PLAYER)

    assert await pages(desk, "hall") == [[]]


@pytest.mark.parametrize(
    ("table_id", "size", "token", "why", "fact"),
    [
        ("nowhere", 0, "", "TABLE_UNKNOWN", {"table_id": "nowhere"}),
        ("", 0, "", "INVALID", {"field": "table_id"}),
        ("hall", 501, "", "INVALID", {"field": "page_size"}),
        ("hall", -1, "", "INVALID", {"field": "page_size"}),
        ("hall", 0, "what?", "INVALID", {"field": "page_token"}),
    ],
)
async def test_what_cannot_be_listed_is_refused(
    desk: InProcessWallet, table_id: str, size: int, token: str, why: str, fact: dict[str, str]
) -> None:
    await desk.open_table("hall", MULTI_PLAYER)

    with pytest.raises(Refused) as refused:
        await page(desk, table_id, size, token)

    assert (refused.value.reason, refused.value.facts) == (why, fact)


async def test_who_sits_at_a_table_is_for_its_game_and_the_operator_only(wallet: WalletClient) -> None:
    await wallet.open_table("wheel")
    ana = await wallet.sit_down("ana", "wheel")
    request = session_pb2.ListTableSessionsRequest(table_id="wheel")

    for who in (wallet.game, wallet.operator):
        answer = await wallet.sessions.ListTableSessions(request, metadata=who)
        assert [session.session_id for session in answer.sessions] == [ana.session_id]
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet.sessions.ListTableSessions(request, metadata=wallet.bearer("player", "ana"))
    assert refusal_reason(refused.value) == "SCOPE_MISSING"


# -- seating --------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_a_game_seats_a_player_once_and_is_told_where_he_sits(wallet: WalletClient) -> None:
    await wallet.open_table("wheel")
    account_id = await wallet.open_account("ana", 1_000)
    request = session_pb2.StartSessionRequest(request_id=str(uuid4()), account_id=account_id, table_id="wheel")

    first = await wallet.sessions.StartSession(request, metadata=wallet.game)
    again = await wallet.sessions.StartSession(request, metadata=wallet.game)
    request.request_id = str(uuid4())
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet.sessions.StartSession(request, metadata=wallet.game)

    assert (first.session.player_id, first.session.state) == ("ana", session_pb2.SESSION_STATE_ACTIVE)
    assert again == first
    assert refusal_facts(refused.value) == ("SESSION_RUNNING", {"session_id": first.session.session_id})
    table = types_pb2.TableRef(table_id="wheel", epoch=1)
    seat = Seat("ana", account_id, again.session.session_id)
    stake = await wallet.place(seat, types_pb2.RoundRef(round_id="r1", table=table), 100)
    assert stake.balance.locked_cents == 100


# -- sending home ---------------------------------------------------------------------------------------------------


async def test_whichever_session_a_cash_out_names_the_one_that_waits_for_the_cave_ends(desk: InProcessWallet) -> None:
    await desk.open_table("felt", POKER, "806/2015")
    old = await desk.sit_down("ana", "felt")
    assert (await desk.end_session(old)).session.state == ENDED
    new = await desk.sit_down("ana", "felt")
    await desk.buy_in(new, 10_000)
    assert (await desk.end_session(new)).session.state == ENDING

    part = await desk.cash_out(old, 4_000)
    assert await desk.session_state(new) == ENDING
    rest = await desk.cash_out(old)

    assert (part.cave_cents, rest.cave_cents) == (6_000, 0)
    # The session that was named ended long before.
    assert not rest.session_ended
    assert await desk.session_state(new) == ENDED
    assert await desk.fact_names("ana") == ["started", "ended", "started", "ended"]


async def test_a_cash_out_that_names_an_old_session_leaves_one_that_plays_on_alone(desk: InProcessWallet) -> None:
    await desk.open_table("felt", POKER, "806/2015")
    old = await desk.sit_down("ana", "felt")
    await desk.end_session(old)
    new = await desk.sit_down("ana", "felt")
    await desk.buy_in(new, 10_000)

    await desk.cash_out(old)

    assert await desk.session_state(new) == ACTIVE
    assert [session.session_id for session in (await page(desk, "felt")).sessions] == [new.session_id]
    listed = await desk.sessions.list_table_sessions(session_pb2.ListTableSessionsRequest(table_id="felt"), OPERATOR)
    assert listed == await page(desk, "felt")
