"""The sessions at a table, for its game service: it lists them, seats players, and cashes out those who leave."""

from __future__ import annotations

from uuid import uuid4

import grpc
import pytest
from sqlalchemy import text

from feltro.wallet.v1 import session_pb2, types_pb2
from services.kit.refusal import Refused
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
)

SESSIONS = 1_203


async def page(
    wallet: InProcessWallet, table_id: str, size: int = 0, token: str = ""
) -> session_pb2.ListTableSessionsResponse:
    request = session_pb2.ListTableSessionsRequest(table_id=table_id, page_size=size, page_token=token)
    return await wallet.session_service.list_table_sessions(request, GAME)


async def pages(wallet: InProcessWallet, table_id: str, size: int = 0) -> list[list[session_pb2.Session]]:
    answer = await page(wallet, table_id, size)
    found = [list(answer.sessions)]
    while answer.next_page_token:
        answer = await page(wallet, table_id, size, answer.next_page_token)
        found.append(list(answer.sessions))
    return found


async def fill(wallet: InProcessWallet, table_id: str, players: int) -> None:
    """Inserts sessions as rows: starting so many one by one takes longer than the test."""
    async with wallet.engine.begin() as connection:
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


# -- listing ----------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G8")
async def test_g8_a_new_owner_lists_running_sessions_in_the_order_of_start(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel", INDIVIDUAL)
    warned = await wallet.sit_down("warned", "wheel")
    await wallet.advance_clock(30)
    invited = await wallet.sit_down("invited", "wheel")
    for seconds in (151, 21, 10):
        await wallet.advance_clock(seconds)
    ended = await wallet.sit_down("ended", "wheel")
    ending = await wallet.sit_down("ending", "wheel")
    await wallet.place(ending, "r1", 100)
    await wallet.end_session(ended)
    await wallet.end_session(ending)
    active = await wallet.sit_down("active", "wheel")
    await wallet.open_table("another", INDIVIDUAL)
    await wallet.sit_down("active", "another")

    ((*found,),) = await pages(wallet, "wheel")

    assert [(session.session_id, session.state) for session in found] == [
        (warned.session_id, WARNED),
        (invited.session_id, INVITED),
        (ending.session_id, ENDING),
        (active.session_id, ACTIVE),
    ]
    # Complete, as GetSession shows it.
    assert found[0] == (await wallet.get_session(warned)).session


async def test_all_pages_together_list_every_session(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel-for-many", MULTI_PLAYER)
    await fill(wallet, "wheel-for-many", SESSIONS)

    for size, lengths in ((0, [50] * 24 + [3]), (401, [401, 401, 401]), (500, [500, 500, 203])):
        found = await pages(wallet, "wheel-for-many", size)
        assert [len(sessions) for sessions in found] == lengths
        assert [session.player_id for sessions in found for session in sessions] == [
            f"p{n + 1}" for n in range(SESSIONS)
        ]


async def test_sessions_that_start_or_end_between_two_pages_move_no_other(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel-for-many", MULTI_PLAYER)
    seats = [await wallet.sit_down(f"p{number}", "wheel-for-many") for number in range(4)]
    first = await page(wallet, "wheel-for-many", 2)
    await wallet.end_session(seats[1])
    await wallet.end_session(seats[2])
    late = await wallet.sit_down("late", "wheel-for-many")

    second = await page(wallet, "wheel-for-many", 2, first.next_page_token)

    assert [session.player_id for session in first.sessions] == ["p0", "p1"]
    assert [session.session_id for session in second.sessions] == [seats[3].session_id, late.session_id]
    assert not second.next_page_token


async def test_the_sessions_at_players_own_tables_are_listed_together(wallet: InProcessWallet) -> None:
    for table_id in ("solo", "solo-1", "solo-2", "solo2-1", "sol"):
        await wallet.open_table(table_id, INDIVIDUAL)
    seats = [await wallet.sit_down(f"p-{table_id}", table_id) for table_id in ("solo-2", "solo2-1", "solo-1", "sol")]
    ended = await wallet.sit_down("p-ended", "solo-1")
    await wallet.end_session(ended)
    shared = await wallet.sit_down("p-solo", "solo")

    async def listed(table_id: str, size: int) -> list[str]:
        found, token = list[str](), ""
        while True:
            request = session_pb2.ListTableSessionsRequest(
                table_id=table_id, page_size=size, page_token=token, include_individual=True
            )
            answer = await wallet.session_service.list_table_sessions(request, GAME)
            found += [session.session_id for session in answer.sessions]
            if not answer.next_page_token:
                return found
            token = answer.next_page_token

    together = [seats[0].session_id, seats[2].session_id, shared.session_id]
    for size in (0, 1, 2):
        assert await listed("solo", size) == together
    assert await listed("solo2", 0) == [seats[1].session_id]
    # An individual table at which nobody has played is unknown to the wallet.
    assert await listed("nowhere", 0) == []


async def test_an_empty_table_has_one_empty_page(wallet: InProcessWallet) -> None:
    await wallet.open_table("wheel-for-many", MULTI_PLAYER)

    assert await pages(wallet, "wheel-for-many") == [[]]


@pytest.mark.parametrize(
    ("table_id", "size", "token", "reason", "facts"),
    [
        ("nowhere", 0, "", "TABLE_UNKNOWN", {"table_id": "nowhere"}),
        ("", 0, "", "INVALID", {"field": "table_id"}),
        ("wheel-for-many", 501, "", "INVALID", {"field": "page_size"}),
        ("wheel-for-many", -1, "", "INVALID", {"field": "page_size"}),
        ("wheel-for-many", 0, "what?", "INVALID", {"field": "page_token"}),
    ],
)
async def test_an_invalid_list_request_is_refused(
    wallet: InProcessWallet, table_id: str, size: int, token: str, reason: str, facts: dict[str, str]
) -> None:
    await wallet.open_table("wheel-for-many", MULTI_PLAYER)

    with pytest.raises(Refused) as refused:
        await page(wallet, table_id, size, token)

    assert (refused.value.reason, refused.value.facts) == (reason, facts)


async def test_only_games_and_operators_list_the_sessions_at_a_table(wallet_client: WalletClient) -> None:
    await wallet_client.open_table("wheel")
    ana = await wallet_client.sit_down("ana", "wheel")
    request = session_pb2.ListTableSessionsRequest(table_id="wheel")

    for who in (wallet_client.game, wallet_client.operator):
        answer = await wallet_client.sessions.ListTableSessions(request, metadata=who)
        assert [session.session_id for session in answer.sessions] == [ana.session_id]
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.sessions.ListTableSessions(request, metadata=wallet_client.bearer("player", "ana"))
    assert refusal_reason(refused.value) == "SCOPE_MISSING"


# -- seating ----------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G3")
async def test_g3_a_game_seats_a_player_once_and_learns_of_a_running_session(wallet_client: WalletClient) -> None:
    await wallet_client.open_table("wheel")
    account_id = await wallet_client.open_account("ana", 1_000)
    request = session_pb2.StartSessionRequest(request_id=str(uuid4()), account_id=account_id, table_id="wheel")

    first = await wallet_client.sessions.StartSession(request, metadata=wallet_client.game)
    again = await wallet_client.sessions.StartSession(request, metadata=wallet_client.game)
    request.request_id = str(uuid4())
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await wallet_client.sessions.StartSession(request, metadata=wallet_client.game)

    assert (first.session.player_id, first.session.state) == ("ana", session_pb2.SESSION_STATE_ACTIVE)
    assert again == first
    assert refusal_facts(refused.value) == ("SESSION_RUNNING", {"session_id": first.session.session_id})
    table = types_pb2.TableRef(table_id="wheel", epoch=1)
    seat = Seat("ana", account_id, again.session.session_id)
    stake = await wallet_client.place(seat, types_pb2.RoundRef(round_id="r1", table=table), 100)
    assert stake.balance.locked_cents == 100


# -- cashing out ------------------------------------------------------------------------------------------------------


async def test_a_cash_out_ends_the_session_that_waits_for_the_cave_whatever_session_it_names(
    wallet: InProcessWallet,
) -> None:
    await wallet.open_table("felt", POKER, "806/2015")
    old = await wallet.sit_down("ana", "felt")
    assert (await wallet.end_session(old)).session.state == ENDED
    new = await wallet.sit_down("ana", "felt")
    await wallet.buy_in(new, 10_000)
    assert (await wallet.end_session(new)).session.state == ENDING

    part = await wallet.cash_out(old, 4_000)
    assert await wallet.session_state(new) == ENDING
    rest = await wallet.cash_out(old)

    assert (part.cave_cents, rest.cave_cents) == (6_000, 0)
    # The named session had ended long before.
    assert not rest.session_ended
    assert await wallet.session_state(new) == ENDED
    assert await wallet.fact_names("ana") == ["started", "ended", "started", "ended"]


async def test_a_cash_out_that_names_an_old_session_does_not_end_the_active_one(wallet: InProcessWallet) -> None:
    await wallet.open_table("felt", POKER, "806/2015")
    old = await wallet.sit_down("ana", "felt")
    await wallet.end_session(old)
    new = await wallet.sit_down("ana", "felt")
    await wallet.buy_in(new, 10_000)

    await wallet.cash_out(old)

    assert await wallet.session_state(new) == ACTIVE
    assert [session.session_id for session in (await page(wallet, "felt")).sessions] == [new.session_id]
    listed = await wallet.session_service.list_table_sessions(
        session_pb2.ListTableSessionsRequest(table_id="felt"), OPERATOR
    )
    assert listed == await page(wallet, "felt")
