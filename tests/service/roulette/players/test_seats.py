"""Seats: taken by entering or by a session that starts, and free again when the session ends."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import grpc
import pytest

from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import Refusal, refusal, refusal_of
from tests.service.roulette.platform import INDIVIDUAL_TABLES, RouletteDriver, amounts_by_place, unpack_bets, wait_until

ENDED = session_pb2.SESSION_STATE_ENDED


async def enter(
    driver: RouletteDriver, player_id: str, table_id: str, request_id: str = "", kind: str = "browser"
) -> table_pb2.EnterTableResponse:
    request = table_pb2.EnterTableRequest(
        request_id=request_id or str(uuid4()), table_id=table_id, device=session_pb2.Device(kind=kind)
    )
    return await driver.roulette.tables.EnterTable(request, metadata=driver.roulette.player(player_id))


@pytest.mark.rule("804/2015:27", "807/2015:29")
async def test_entering_starts_a_session_and_leaving_ends_it(driver: RouletteDriver, regulation: str) -> None:
    player_id = await driver.new_player()

    entered = await enter(driver, player_id, INDIVIDUAL_TABLES[regulation], kind="phone")
    seated_player = await driver.seat(player_id, INDIVIDUAL_TABLES[regulation])
    left = await driver.leave(seated_player)

    assert entered.session.session_id == entered.own_seat.session_id == seated_player.session_id
    assert (entered.session.player_id, entered.session.device.kind) == (player_id, "phone")
    assert entered.table.table_id == seated_player.table_id
    assert left.session.state == ENDED
    assert left.session.end_cause == session_pb2.END_CAUSE_PLAYER
    again = await enter(driver, player_id, INDIVIDUAL_TABLES[regulation])
    assert again.session.session_id != seated_player.session_id
    assert again.previous_session_started_at == entered.session.started_at
    assert again.previous_session_ended_at == left.session.ended_at


async def test_g3_a_player_who_enters_twice_is_in_one_session(driver: RouletteDriver, regulation: str) -> None:
    player_id, request_id = await driver.new_player(), str(uuid4())

    together = await asyncio.gather(
        *(enter(driver, player_id, INDIVIDUAL_TABLES[regulation], request_id) for _ in range(5))
    )
    later = await enter(driver, player_id, INDIVIDUAL_TABLES[regulation], request_id)
    from_another_device = await enter(driver, player_id, INDIVIDUAL_TABLES[regulation], kind="phone")

    assert {each.session.session_id for each in (*together, later, from_another_device)} == {later.session.session_id}
    assert {each.own_seat.seat for each in (*together, later, from_another_device)} == {later.own_seat.seat}


@pytest.mark.guarantee("G3")
async def test_g3_the_name_of_an_entry_is_refused_at_another_table(driver: RouletteDriver, regulation: str) -> None:
    player_id, request_id = await driver.new_player(), str(uuid4())
    await enter(driver, player_id, INDIVIDUAL_TABLES[regulation], request_id)
    refused = await refusal(enter(driver, player_id, await driver.new_table(), request_id))
    assert (refused.reason, refused.facts) == ("REQUEST_REUSED", {"request_id": request_id})
    # Another player may use the same name.
    await enter(driver, await driver.new_player(), await driver.new_table(), request_id)


async def test_two_devices_of_a_player_share_seat_and_felt(driver: RouletteDriver, seated_player: SeatedPlayer) -> None:
    round_id = await driver.wait_for_open_round(seated_player)
    await driver.bet(seated_player, round_id, {"17": 100})
    async with driver.platform.roulette.client() as phone:
        entered = await phone.enter(seated_player.player_id, seated_player.table_id)
        (own,) = entered.own_seat.stakes
        assert unpack_bets(own.bets) == {"17": 100}
        answer = await phone.bet(seated_player.player_id, seated_player.table_id, round_id, {"18": 200})
    assert amounts_by_place(answer.on_felt) == {"17": 100, "18": 200}
    assert len((await driver.get_table(seated_player)).own_seat.stakes) == 2


async def test_a_full_table_takes_nobody_until_somebody_leaves(driver: RouletteDriver) -> None:
    table_id = await driver.new_table(seats=2)
    first, second = await driver.seat_new_players(table_id, 2)
    third = await driver.new_player()
    watcher = await driver.watch(table_id)

    refused = await refusal(driver.roulette.enter(third, table_id))
    again = await driver.roulette.enter(first.player_id, table_id)
    await driver.leave(first)
    await watcher.wait_for("seat_left")
    entered = await driver.roulette.enter(third, table_id)

    assert (refused.reason, refused.facts) == ("TABLE_FULL", {"table_id": table_id, "seats": "2"})
    assert again.own_seat.session_id == first.session_id
    assert entered.own_seat.seat == first.seat
    assert {entered.own_seat.seat, second.seat} == {1, 2}


async def test_no_more_players_sit_down_at_once_than_there_are_seats(driver: RouletteDriver) -> None:
    table_id = await driver.new_table(seats=3)
    players = [await driver.new_player() for _ in range(8)]

    answers = await asyncio.gather(*(driver.roulette.enter(each, table_id) for each in players), return_exceptions=True)

    refused = [refusal_of(answer).reason for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
    assert refused == ["TABLE_FULL"] * 5
    assert len({each.own_seat.seat for each in answers if not isinstance(each, BaseException)}) == 3


async def test_a_player_who_leaves_with_a_bet_on_the_felt_places_no_other(driver: RouletteDriver) -> None:
    table_id = await driver.new_table()
    leaving, staying = await driver.seat_new_players(table_id, 2)
    watcher = await driver.watch(table_id)
    round_id = await driver.wait_for_open_round(leaving)
    await driver.bet(leaving, round_id, {"17": 100})

    left = await driver.leave(leaving)
    refused = await refusal(driver.bet(leaving, round_id, {"18": 100}))
    await driver.void(table_id, round_id)
    await watcher.wait_for("seat_left")

    assert left.session.state == session_pb2.SESSION_STATE_ENDING
    assert (refused.reason, refused.domain) == ("SESSION_ENDED", "wallet.feltro")
    assert (
        await refusal(driver.bet(leaving, await driver.wait_for_open_round(staying), {"18": 100}))
    ).reason == "NOT_SEATED"


async def test_leaving_frees_the_seat_after_the_round_is_settled(driver: RouletteDriver) -> None:
    table_id = await driver.new_table()
    leaving, _ = await driver.seat_new_players(table_id, 2)
    watcher = await driver.watch(table_id)
    round_id = await driver.bet_in_open_round(leaving, {"17": 100})

    await driver.leave(leaving)
    await driver.end_betting()
    settled = await watcher.wait_for("round_settled", round_id)
    left = await watcher.wait_for("seat_left")

    assert left.seq > settled.seq
    assert left.seat_left.seat == leaving.seat
    assert (await driver.session(leaving)).session.state == ENDED
    (player_round,) = await driver.rounds(leaving)
    assert await driver.balance(leaving) == (100_000 - 100 + player_round.payout_cents, 0)


async def test_a_session_started_at_the_wallet_seats_its_player(driver: RouletteDriver) -> None:
    table_id = await driver.new_table()
    player_id = await driver.new_player()
    account_id = await driver.wallet.open_account(player_id)
    request = session_pb2.StartSessionRequest(request_id=str(uuid4()), account_id=account_id, table_id=table_id)
    watcher = await driver.watch(table_id)

    started = await driver.wallet.sessions.StartSession(request, metadata=driver.wallet.operator)
    await watcher.wait_for("seat_taken")
    await watcher.wait_for("round_opened")

    own = (await driver.roulette.table(player_id, table_id)).own_seat
    assert own.session_id == started.session.session_id
    answer = await driver.roulette.bet(player_id, table_id, await watcher.next_round(), {"17": 100})
    assert answer.stake.amount_cents == 100
    seated_player = SeatedPlayer(player_id, account_id, own.session_id, table_id, own.seat)
    assert await driver.wait_for_open_round(seated_player)


async def test_a_table_where_any_seat_is_as_good_as_another_lists_none(driver: RouletteDriver) -> None:
    player = await driver.seat_new_player(await driver.new_table())
    shown = (await driver.get_table(player)).table
    assert (shown.seated, list(shown.seats)) == (1, [])


async def test_nobody_enters_without_an_account_or_a_table(driver: RouletteDriver, regulation: str) -> None:
    nobody = driver.unique_name("nobody")

    without_account = await refusal(driver.roulette.enter(nobody, INDIVIDUAL_TABLES[regulation]))
    without_table = await refusal(driver.roulette.enter(nobody, "nowhere"))

    assert (without_account.reason, without_account.domain) == ("ACCOUNT_UNKNOWN", "wallet.feltro")
    assert without_table == Refusal("TABLE_UNKNOWN", {"table_id": "nowhere"}, code=grpc.StatusCode.NOT_FOUND)


async def test_a_player_may_sit_at_two_tables(driver: RouletteDriver) -> None:
    player_id = await driver.new_player()
    first, second = [await driver.seat(player_id, table_id) for table_id in INDIVIDUAL_TABLES.values()]
    assert first.session_id != second.session_id

    await asyncio.gather(*(driver.play(seated_player, {"red": 100}) for seated_player in (first, second)))

    assert len(await driver.rounds(first)) == 2
    assert [each.table_id for each in await driver.rounds(first, table_id=first.table_id)] == [first.table_id]


async def test_a_table_opens_no_round_when_all_players_have_left(driver: RouletteDriver) -> None:
    table_id = await driver.new_table()
    seated_player = await driver.seat_new_player(table_id)
    watcher = await driver.watch(table_id)
    round_id = await driver.wait_for_open_round(seated_player)

    await driver.leave(seated_player)
    await watcher.wait_for("seat_left")
    await driver.void(table_id, round_id)

    async def resting() -> bool:
        request = table_pb2.GetTableRequest(table_id=table_id)
        answer = await driver.roulette.tables.GetTable(request, metadata=driver.roulette.operator)
        return answer.table.seated == 0 and answer.table.phase == types_pb2.PHASE_IDLE

    await wait_until(resting)
    assert len(list(watcher.events_of("round_opened"))) == 1
