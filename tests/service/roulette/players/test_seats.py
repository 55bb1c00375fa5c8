"""Coming and going: a seat is taken by entering or by a session, and is free again when the session ends."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import grpc
import pytest

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from tests.service.roulette.platform import (
    INDIVIDUAL_TABLES,
    LONG_WINDOW_MS,
    Refusal,
    RouletteDriver,
    SeatedPlayer,
    amounts_by_place,
    refusal,
    refusal_of,
    unpack_bets,
    wait_until,
)

ENDED = session_pb2.SESSION_STATE_ENDED


async def enter(
    room: RouletteDriver, player_id: str, table_id: str, request_id: str = "", kind: str = "browser"
) -> table_pb2.EnterTableResponse:
    request = table_pb2.EnterTableRequest(
        request_id=request_id or str(uuid4()), table_id=table_id, device=session_pb2.Device(kind=kind)
    )
    return await room.roulette.tables.EnterTable(request, metadata=room.roulette.player(player_id))


@pytest.mark.rule("804/2015:27", "807/2015:29")
async def test_entering_starts_a_session_and_leaving_ends_it(room: RouletteDriver, regulation: str) -> None:
    player_id = await room.new_player()

    entered = await enter(room, player_id, INDIVIDUAL_TABLES[regulation], kind="phone")
    guest = await room.seat(player_id, INDIVIDUAL_TABLES[regulation])
    left = await room.leave(guest)

    assert entered.session.session_id == entered.own_seat.session_id == guest.session_id
    assert (entered.session.player_id, entered.session.device.kind) == (player_id, "phone")
    assert entered.table.table_id == guest.table_id
    assert left.session.state == ENDED
    assert left.session.end_cause == session_pb2.END_CAUSE_PLAYER
    again = await enter(room, player_id, INDIVIDUAL_TABLES[regulation])
    assert again.session.session_id != guest.session_id
    assert again.previous_session_started_at == entered.session.started_at
    assert again.previous_session_ended_at == left.session.ended_at


async def test_whoever_enters_twice_is_in_one_session(room: RouletteDriver, regulation: str) -> None:
    player_id, click = await room.new_player(), str(uuid4())

    together = await asyncio.gather(*(enter(room, player_id, INDIVIDUAL_TABLES[regulation], click) for _ in range(5)))
    later = await enter(room, player_id, INDIVIDUAL_TABLES[regulation], click)
    from_another_device = await enter(room, player_id, INDIVIDUAL_TABLES[regulation], kind="phone")

    assert {each.session.session_id for each in (*together, later, from_another_device)} == {later.session.session_id}
    assert {each.own_seat.seat for each in (*together, later, from_another_device)} == {later.own_seat.seat}


async def test_two_devices_of_a_player_see_and_do_the_same(room: RouletteDriver, guest: SeatedPlayer) -> None:
    round_id = await room.wait_for_open_round(guest)
    await room.bet(guest, round_id, {"17": 100})
    async with room.platform.roulette.client() as phone:
        entered = await phone.enter(guest.player_id, guest.table_id)
        (own,) = entered.own_seat.stakes
        assert unpack_bets(own.bets) == {"17": 100}
        answer = await phone.bet(guest.player_id, guest.table_id, round_id, {"18": 200})
    assert amounts_by_place(answer.on_felt) == {"17": 100, "18": 200}
    assert len((await room.get_table(guest)).own_seat.stakes) == 2


async def test_a_full_table_takes_nobody_until_somebody_leaves(room: RouletteDriver) -> None:
    table_id = await room.new_table(seats=2, window_ms=LONG_WINDOW_MS)
    first, second = await room.seat_new_players(table_id, 2)
    third = await room.new_player()
    watch = await room.watch(table_id)

    refused = await refusal(room.roulette.enter(third, table_id))
    again = await room.roulette.enter(first.player_id, table_id)
    await room.leave(first)
    await watch.wait_for("seat_left")
    entered = await room.roulette.enter(third, table_id)

    assert (refused.reason, refused.facts) == ("TABLE_FULL", {"table_id": table_id, "seats": "2"})
    assert again.own_seat.session_id == first.session_id
    assert entered.own_seat.seat == first.seat
    assert {entered.own_seat.seat, second.seat} == {1, 2}


async def test_of_many_who_come_at_once_no_more_sit_down_than_there_are_seats(room: RouletteDriver) -> None:
    table_id = await room.new_table(seats=3, window_ms=LONG_WINDOW_MS)
    players = [await room.new_player() for _ in range(8)]

    answers = await asyncio.gather(*(room.roulette.enter(each, table_id) for each in players), return_exceptions=True)

    refused = [refusal_of(answer).reason for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
    assert refused == ["TABLE_FULL"] * 5
    assert len({each.own_seat.seat for each in answers if not isinstance(each, BaseException)}) == 3


async def test_who_leaves_with_a_bet_on_the_felt_places_no_other(room: RouletteDriver) -> None:
    table_id = await room.new_table(window_ms=LONG_WINDOW_MS)
    leaving, staying = await room.seat_new_players(table_id, 2)
    watch = await room.watch(table_id)
    round_id = await room.wait_for_open_round(leaving)
    await room.bet(leaving, round_id, {"17": 100})

    left = await room.leave(leaving)
    refused = await refusal(room.bet(leaving, round_id, {"18": 100}))
    await room.void(table_id, round_id)
    await watch.wait_for("seat_left")

    assert left.session.state == session_pb2.SESSION_STATE_ENDING
    assert (refused.reason, refused.domain) == ("SESSION_ENDED", "wallet.feltro")
    assert (
        await refusal(room.bet(leaving, await room.wait_for_open_round(staying), {"18": 100}))
    ).reason == "NOT_SEATED"


async def test_leaving_frees_the_seat_and_the_felt_is_finished_first(room: RouletteDriver) -> None:
    table_id = await room.new_table()
    leaving, _ = await room.seat_new_players(table_id, 2)
    watch = await room.watch(table_id)
    round_id = await room.bet_in_open_round(leaving, {"17": 100})

    await room.leave(leaving)
    settled = await watch.wait_for("round_settled", round_id)
    gone = await watch.wait_for("seat_left")

    assert gone.seq > settled.seq
    assert gone.seat_left.seat == leaving.seat
    assert (await room.session(leaving)).session.state == ENDED
    (lived,) = await room.rounds(leaving)
    assert await room.balance(leaving) == (100_000 - 100 + lived.payout_cents, 0)


async def test_a_session_started_at_the_wallet_seats_its_player(room: RouletteDriver) -> None:
    table_id = await room.new_table(window_ms=LONG_WINDOW_MS)
    player_id = await room.new_player()
    account_id = await room.wallet.open_account(player_id)
    request = session_pb2.StartSessionRequest(request_id=str(uuid4()), account_id=account_id, table_id=table_id)
    watch = await room.watch(table_id)

    started = await room.wallet.sessions.StartSession(request, metadata=room.wallet.operator)
    await watch.wait_for("seat_taken")
    await watch.wait_for("round_opened")

    own = (await room.roulette.table(player_id, table_id)).own_seat
    assert own.session_id == started.session.session_id
    answer = await room.roulette.bet(player_id, table_id, await watch.next_round(), {"17": 100})
    assert answer.stake.amount_cents == 100
    guest = SeatedPlayer(player_id, account_id, own.session_id, table_id, own.seat)
    assert await room.wait_for_open_round(guest)


async def test_nobody_enters_without_an_account_or_a_table(room: RouletteDriver, regulation: str) -> None:
    nobody = room.unique_name("nobody")

    without_account = await refusal(room.roulette.enter(nobody, INDIVIDUAL_TABLES[regulation]))
    without_table = await refusal(room.roulette.enter(nobody, "nowhere"))

    assert (without_account.reason, without_account.domain) == ("ACCOUNT_UNKNOWN", "wallet.feltro")
    assert without_table == Refusal("TABLE_UNKNOWN", {"table_id": "nowhere"}, code=grpc.StatusCode.NOT_FOUND)


async def test_a_player_may_sit_at_two_tables(room: RouletteDriver) -> None:
    player_id = await room.new_player()
    here, there = [await room.seat(player_id, house) for house in INDIVIDUAL_TABLES.values()]
    assert here.session_id != there.session_id

    await asyncio.gather(*(room.play(guest, {"red": 100}) for guest in (here, there)))

    assert len(await room.rounds(here)) == 2
    assert [lived.table_id for lived in await room.rounds(here, table_id=here.table_id)] == [here.table_id]


async def test_when_everybody_has_left_a_table_rests(room: RouletteDriver) -> None:
    table_id = await room.new_table(window_ms=LONG_WINDOW_MS)
    guest = await room.seat_new_player(table_id)
    watch = await room.watch(table_id)
    round_id = await room.wait_for_open_round(guest)

    await room.leave(guest)
    await watch.wait_for("seat_left")
    await room.void(table_id, round_id)

    async def resting() -> bool:
        request = table_pb2.GetTableRequest(table_id=table_id)
        answer = await room.roulette.tables.GetTable(request, metadata=room.roulette.operator)
        return answer.table.seated == 0 and answer.table.phase == types_pb2.PHASE_IDLE

    await wait_until(resting)
    assert len(list(watch.events_of("round_opened"))) == 1
