"""Tables: what they are, who waits for a seat, what an operator lays down, switches off and demonstrates."""

from __future__ import annotations

import grpc
import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import complaint_pb2
from tests.processes.poker import configuration
from tests.processes.wallet import DEMO
from tests.service.poker.platform import PokerDriver, table_rules
from tests.service.refusals import refusal_of

BOTH = pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
POT = poker_pb2.LIMIT_POT


@BOTH
@pytest.mark.rule("806/2015:R4", "806/2015:14", "806/2015:66", "811/2015:R4", "811/2015:14", "811/2015:66")
async def test_the_layout_says_every_rule_of_a_table_to_anybody(driver: PokerDriver, regulation: str) -> None:
    table_id = await driver.new_table(regulation=regulation, limit=POT)

    layout = await driver.poker.poker.GetLayout(poker_pb2.GetLayoutRequest(table_id=table_id))

    assert (layout.regulation, layout.seats, layout.decision_ms) == (regulation, 6, 120_000)
    rules = layout.rules
    assert (rules.big_blind_cents, rules.small_blind_cents) == (100, 50)
    assert (rules.cave_min_cents, rules.cave_max_cents, rules.limit) == (2_000, 10_000, POT)
    assert (rules.commission_bps, rules.min_players) == (500, 2)


@BOTH
@pytest.mark.rule("806/2015:R4", "806/2015:66", "811/2015:R4", "811/2015:66", "903-B/2015:6.1.6")
@pytest.mark.parametrize("language", ["pt", "en"])
async def test_the_rules_are_there_for_anybody_with_the_tables_numbers(
    driver: PokerDriver, regulation: str, language: str
) -> None:
    table_id = await driver.new_table(regulation=regulation, limit=POT)
    request = table_pb2.GetRulesRequest(table_id=table_id, language=language)

    text = (await driver.poker.tables.GetRules(request)).text

    assert regulation in text
    assert ("Reclamações" if language == "pt" else "Complaints") in text


@BOTH
@pytest.mark.rule("806/2015:R3", "811/2015:R3")
async def test_rules_take_effect_with_the_regulators_approval_alone(driver: PokerDriver, regulation: str) -> None:
    request = table_pb2.ConfigureTableRequest(
        request_id=driver.unique_name("rules"),
        table_id=driver.unique_name("table"),
        configuration=table_rules(regulation=regulation, limit=POT),
    )

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.poker.tables.ConfigureTable(request, metadata=driver.poker.operator)

    found = refusal_of(refused.value)
    assert (found.reason, found.facts["rule"]) == ("RULE_VIOLATED", f"{regulation}:R3")


@BOTH
@pytest.mark.rule("806/2015:R2", "806/2015:5", "806/2015:15", "806/2015:17.a", "806/2015:17.b", "806/2015:22")
@pytest.mark.rule("811/2015:R2", "811/2015:5", "811/2015:15", "811/2015:17.a", "811/2015:17.b", "811/2015:22")
@pytest.mark.parametrize(
    ("rules", "field", "paragraph"),
    [
        ({"seats": 11}, "seats", "5"),
        ({"cave_min_cents": 50}, "cave_min_cents", "15"),
        ({"small_blind_cents": 200}, "small_blind_cents", "22"),
        ({"commission_bps": 501}, "commission_bps", "17.a"),
        ({"commission_bps": 50}, "commission_bps", "17.a"),
        ({"commission_mode": poker_pb2.COMMISSION_MODE_CAVE, "commission_bps": 400}, "commission_bps", "17.b"),
        ({"heads_up_blinds": poker_pb2.HEADS_UP_BLINDS_BUTTON_SMALL_BLIND}, "heads_up_blinds", "48"),
    ],
)
async def test_what_the_regulation_forbids_is_refused_with_its_rule(
    driver: PokerDriver, regulation: str, rules: dict[str, object], field: str, paragraph: str
) -> None:
    table_id = driver.unique_name("table")

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.poker.configure(table_id, configuration(regulation=regulation, **{"limit": POT, **rules}))  # type: ignore[arg-type]

    found = refusal_of(refused.value)
    assert (found.reason, found.facts["rule"]) == ("RULE_VIOLATED", f"{regulation}:{paragraph}")
    assert found.facts["field"].rpartition(".")[2] == field
    request = table_pb2.GetTableRequest(table_id=table_id)
    with pytest.raises(grpc.aio.AioRpcError) as unknown:
        await driver.poker.tables.GetTable(request, metadata=driver.poker.operator)
    assert refusal_of(unknown.value).reason == "TABLE_UNKNOWN"


async def test_a_full_table_has_a_waiting_list_and_keeps_a_seat_for_the_first_on_it(driver: PokerDriver) -> None:
    table_id = await driver.new_table(seats=2)
    sitting = [await driver.seat_new_player(table_id, seat=seat) for seat in (1, 2)]
    first, second = await driver.new_player(), await driver.new_player()

    async def join(player_id: str) -> poker_pb2.JoinWaitingListResponse:
        request = poker_pb2.JoinWaitingListRequest(table_id=table_id)
        return await driver.poker.poker.JoinWaitingList(request, metadata=driver.poker.player(player_id))

    assert [(await join(each)).position for each in (first, second, first)] == [1, 2, 1]
    assert (await driver.table(table_id)).waiting == 2
    with pytest.raises(grpc.aio.AioRpcError) as seated:
        await join(sitting[0].player_id)
    assert refusal_of(seated.value).reason == "ALREADY_SEATED"
    leave = poker_pb2.LeaveWaitingListRequest(table_id=table_id)
    await driver.poker.poker.LeaveWaitingList(leave, metadata=driver.poker.player(second))
    await driver.poker.poker.LeaveWaitingList(leave, metadata=driver.poker.player(second))

    await driver.leave(sitting[1])
    await driver.session_ended(sitting[1])

    kept = await join(first)
    assert (kept.position, kept.seat) == (1, 2)
    with pytest.raises(grpc.aio.AioRpcError) as full:
        await driver.seat(second, table_id)
    assert refusal_of(full.value).reason in {"TABLE_FULL", "SEAT_TAKEN"}
    assert (await driver.seat(first, table_id)).seat == 2


@pytest.mark.rule("806/2015:68", "811/2015:68")
@BOTH
async def test_a_player_rests_as_often_as_the_table_grants(driver: PokerDriver, regulation: str) -> None:
    player = await driver.seat_new_player(await driver.new_table(regulation=regulation, limit=POT))
    await driver.buy_in(player)

    assert (await driver.set_presence(player, "RESTING")).seat == player.seat

    assert (await driver.standings(player.table_id))[player.seat] == "RESTING"
    own = (await driver.poker.table(player.player_id, player.table_id)).own_seat.cave
    assert own.rests_left == 0
    assert own.HasField("resting_until")
    await driver.set_presence(player, "PLAYING")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.set_presence(player, "RESTING")
    found = refusal_of(refused.value)
    assert (found.reason, found.facts["rule"]) == ("REST_REFUSED", f"{regulation}:68")


async def test_a_table_that_is_switched_off_deals_no_hand_and_admits_nobody(driver: PokerDriver) -> None:
    players = await driver.begin(5_000, 5_000)
    table_id = players[0].table_id
    first = await driver.playing(table_id)

    await driver.switch(table_id, enabled=False)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.seat_new_player(table_id)
    assert refusal_of(refused.value).reason == "TABLE_DISABLED"
    # The hand under way is played to its end.
    round_id = await driver.play(players, "f")
    await driver.ended(players[0], round_id)
    await driver.end_result(table_id)
    await driver.wait_for(table_id, lambda table: table.disabled_reason and not table.round.round_id)
    await driver.switch(table_id, enabled=True)
    assert (await driver.playing(table_id, first.round_id)).round_id != first.round_id


@pytest.mark.rule("806/2015:74", "806/2015:75", "811/2015:74", "811/2015:75", "903-B/2015:6.1.3")
async def test_a_guest_plays_for_credits_at_a_demonstration(driver: PokerDriver) -> None:
    table_id = await driver.new_table(mode=DEMO)
    players = [await driver.seat(f"guest-{driver.unique_name('x')}"[:60], table_id) for _ in range(2)]
    for player in players:
        await driver.buy_in(player, 5_000)

    played = await driver.play_to_showdown(players)

    assert played.mode == DEMO
    assert played.round.HasField("outcome")


async def test_a_guest_who_cannot_bring_the_smallest_cave_gets_new_credits(driver: PokerDriver) -> None:
    first, second = [await driver.new_table(mode=DEMO, cave_min_cents=60_000, cave_max_cents=60_000) for _ in range(2)]
    guest = f"guest-{driver.unique_name('x')}"[:60]
    player = await driver.seat(guest, first)
    bought = await driver.buy_in(player, 60_000)
    assert bought.balance.free_cents == 40_000

    again = await driver.seat(guest, second)

    assert await driver.balance(again) == 100_000
    assert (await driver.buy_in(again, 60_000)).amount_cents == 60_000


@BOTH
@pytest.mark.rule("806/2015:66", "811/2015:66")
async def test_a_player_complains_about_a_hand(driver: PokerDriver, regulation: str) -> None:
    players = await driver.begin(5_000, 5_000, regulation=regulation, limit=POT)
    round_id = await driver.play(players, "f")
    await driver.ended(players[0], round_id)
    request = complaint_pb2.FileComplaintRequest(
        request_id="hand", account_id=players[0].account_id, round_id=round_id, text="I had a flush."
    )
    metadata = driver.wallet.bearer("player", players[0].player_id)

    filed = (await driver.wallet.complaints.FileComplaint(request, metadata=metadata)).complaint

    assert filed.reference
    assert filed.round_id == round_id
