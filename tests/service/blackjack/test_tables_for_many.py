"""A hand at a table for many: places of one's own, the clock of each decision, and what others may not do."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import events_pb2, types_pb2
from tests.processes.wallet import REAL
from tests.service.blackjack.platform import (
    ALONE,
    DECISION_S,
    ROUNDS_LIMIT,
    WINDOW_S,
    BlackjackDriver,
    Playing,
    default_of,
)
from tests.service.game_driver import TIMEOUT_S, SeatedPlayer, unpacked
from tests.service.refusals import refusal, refusal_of


async def deal_to(driver: BlackjackDriver, players: list[SeatedPlayer]) -> str:
    """Lets players bet on the places of their seats, and ends the betting; the round."""
    round_id = await driver.wait_for_open_round(players[0])
    for player in players:
        await driver.bet(player, round_id, str(player.seat), 1000)
    await driver.blackjack.advance_tables(WINDOW_S)
    async with asyncio.timeout(TIMEOUT_S):
        while (shown := (await driver.get_table(players[0])).table).round.round_id == round_id:
            if shown.phase == types_pb2.PHASE_PLAYING:
                break
            if shown.phase == types_pb2.PHASE_BETTING:
                await driver.blackjack.advance_tables(1)
            await asyncio.sleep(0.01)
    return round_id


async def deal_until_hands(driver: BlackjackDriver, players: list[SeatedPlayer], count: int) -> list[Playing]:
    """Plays rounds until nobody is offered anything and so many hands are to be played; as each player sees it."""
    for _ in range(ROUNDS_LIMIT):
        round_id = await deal_to(driver, players)
        seen = [await driver.playing(player, round_id) for player in players]
        playing = [each for each in seen if each is not None]
        if len(playing) == len(players) and not playing[0].view.offers:
            in_play = [hand for hand in playing[0].view.hands if hand.state == blackjack_pb2.HAND_STATE_IN_PLAY]
            if len(in_play) == count:
                return playing
        await play_out(driver, players, round_id)
    raise AssertionError("no round came as the test needs it")


async def play_out(driver: BlackjackDriver, players: list[SeatedPlayer], round_id: str) -> None:
    """Lets every player take the published defaults, until the round has ended."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            seen = [(player, await driver.playing(player, round_id)) for player in players]
            in_play = [(player, playing) for player, playing in seen if playing is not None]
            if not in_play:
                break
            acting = next(((player, playing) for player, playing in in_play if playing.options), None)
            if acting is None:
                # The platform decides for a player who has left: a hand may need several decisions.
                await asyncio.sleep(0.01)
                continue
            player, playing = acting
            place, decision = default_of(playing)
            await driver.act(player, playing, decision, place)
    await driver.ended(players[0], round_id)


@pytest.mark.rule("805/2015:6", "805/2015:12", "805/2015:14")
async def test_everybody_plays_in_turn_against_one_bank(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table()
    players = [await driver.seat_new_player(table_id, seat=seat) for seat in (5, 2)]
    assert [player.seat for player in players] == [5, 2]
    watcher = await driver.watch(table_id)
    fifth, second = await deal_until_hands(driver, players, 2)

    # In the order of the places, and not of sitting down.
    assert second.seats == fifth.seats == (2,)
    assert second.view == fifth.view
    assert {option.place for option in second.options} == {2}
    assert not fifth.options
    refused = await refusal(driver.act(players[0], fifth, "DRAW", 5))
    decide_by = refused.facts.pop("decide_by")
    assert decide_by
    assert (refused.reason, refused.facts) == ("NOT_YOUR_TURN", {"place": "5", "turn_of": "2"})
    refused = await refusal(driver.act(players[0], fifth, "DRAW", 2))
    facts = {"place": "2", "turn_of": "2", "decide_by": decide_by}
    assert (refused.reason, refused.facts) == ("NOT_YOUR_PLACE", facts)
    assert await driver.playing(players[0], fifth.round_id) == fifth

    await play_out(driver, players, second.round_id)
    rounds = [await driver.ended(player, second.round_id) for player in players]
    assert rounds[0].round.outcome == rounds[1].round.outcome
    assert rounds[0].round.draw_trigger == types_pb2.DRAW_TRIGGER_CLOCK
    await watcher.wait_for("round_settled", second.round_id)
    # No event has shown the hole card before the rules did (G7).
    told: list[events_pb2.RoundDealt | events_pb2.MoveMade] = [
        *(event.round_dealt for event in watcher.events_of("round_dealt")),
        *(event.move_made for event in watcher.events_of("move_made")),
    ]
    undecided = [unpacked(message.view, blackjack_pb2.View()) for message in told if message.HasField("turn")]
    assert undecided
    assert all(list(view.bank.cards)[1:] == [""] for view in undecided)


@pytest.mark.rule("805/2015:4.a")
async def test_a_player_chooses_a_free_seat(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table(places=3)
    ana = await driver.seat_new_player(table_id, seat=2)
    assert ana.seat == 2
    refused = await refusal(driver.seat_new_player(table_id, seat=2))
    assert (refused.reason, refused.facts) == ("SEAT_TAKEN", {"table_id": table_id, "seat": "2"})
    refused = await refusal(driver.seat_new_player(table_id, seat=4))
    assert (refused.reason, refused.facts["field"]) == ("INVALID", "seat")
    # Who wants any seat gets the lowest, and who is seated already stays there.
    assert (await driver.seat_new_player(table_id)).seat == 1
    assert (await driver.seat(ana.player_id, table_id, seat=3)).seat == 2
    await driver.leave(ana)
    rui = await driver.seat_new_player(table_id, seat=3)
    assert rui.seat == 3


def taken(table: types_pb2.TableSnapshot) -> list[int]:
    """Returns the seats that everybody sees taken."""
    return [seat.seat for seat in table.seats if seat.taken]


@pytest.mark.rule("805/2015:4.a")
async def test_everybody_sees_which_seats_are_free_before_they_sit_down(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table(places=3)

    async def seen() -> types_pb2.TableSnapshot:
        return (await driver.blackjack.table("stranger", table_id)).table

    empty = await seen()
    assert [(seat.seat, seat.taken) for seat in empty.seats] == [(1, False), (2, False), (3, False)]
    watcher = await driver.watch(table_id)
    ana = await driver.seat_new_player(table_id, seat=3)
    rui = await driver.seat_new_player(table_id, seat=1)
    assert taken(await seen()) == [1, 3]
    await driver.leave(ana)
    left = await watcher.wait_for("seat_left")
    assert left.seat_left.seat == 3
    assert taken(await seen()) == [1]
    # A snapshot and the events after it, which have no gap, say the same as a later snapshot.
    latest = await seen()
    await watcher.wait_for_seq(latest.seq)
    events = [event for event in watcher.events if empty.seq < event.seq <= latest.seq]
    assert [event.seq for event in events] == list(range(empty.seq + 1, latest.seq + 1))
    seats = {seat.seat: seat.taken for seat in empty.seats}
    for event in events:
        if event.HasField("seat_taken"):
            seats[event.seat_taken.seat] = True
        elif event.HasField("seat_left"):
            seats[event.seat_left.seat] = False
    assert seats == {seat.seat: seat.taken for seat in latest.seats}
    # Others learn that a seat is taken, and nothing of its player.
    assert all(player.player_id.encode() not in raw for player in (ana, rui) for raw in watcher.raw_messages)
    assert rui.player_id not in str(latest)


@pytest.mark.rule("805/2015:4.a")
async def test_of_players_who_want_one_seat_at_once_one_gets_it(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table()
    names = [driver.unique_name("player") for _ in range(4)]
    for name in names:
        await driver.wallet.open_account(name, 10_000, REAL)
    results = await asyncio.gather(*(driver.seat(name, table_id, seat=5) for name in names), return_exceptions=True)
    seated = [each for each in results if isinstance(each, SeatedPlayer)]
    refusals = [refusal_of(each) for each in results if isinstance(each, grpc.aio.AioRpcError)]
    assert [player.seat for player in seated] == [5]
    assert [(refused.reason, refused.facts) for refused in refusals] == [
        ("SEAT_TAKEN", {"table_id": table_id, "seat": "5"})
    ] * 3
    assert taken((await driver.get_table(seated[0])).table) == [5]
    # Players who were refused sit down elsewhere.
    refused_name = next(name for name in names if name != seated[0].player_id)
    assert (await driver.seat(refused_name, table_id, seat=6)).seat == 6


async def test_a_player_who_plays_alone_chooses_no_seat(driver: BlackjackDriver) -> None:
    player = await driver.seat_new_player(ALONE)
    assert not (await driver.get_table(player)).table.seats


@pytest.mark.rule("805/2015:4.a", "805/2015:7")
async def test_a_place_belongs_to_one_player(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table(places_per_player=2)
    ana, rui = [await driver.seat_new_player(table_id, seat=seat) for seat in (1, 4)]
    round_id = await driver.wait_for_open_round(ana)
    # Where another sits, and where another has bet.
    refused = await refusal(driver.bet(ana, round_id, "4", 1000))
    assert (refused.reason, refused.facts) == ("PLACE_TAKEN", {"place": "4"})
    await driver.bet(ana, round_id, "3", 1000)
    assert (await refusal(driver.bet(rui, round_id, "3", 1000))).reason == "PLACE_TAKEN"
    await driver.bet(ana, round_id, "1", 1000)
    refused = await refusal(driver.bet(ana, round_id, "7", 1000))
    assert (refused.reason, refused.facts) == ("TOO_MANY_PLACES", {"places": "3", "limit": "2", "rule": "805/2015:7"})
    await driver.bet(rui, round_id, "7", 1000)
    await driver.blackjack.advance_tables(WINDOW_S)


@pytest.mark.rule("903-B/2015:6.1.4", "805/2015:29")
async def test_when_the_time_is_over_the_published_default_is_taken(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table()
    players = [await driver.seat_new_player(table_id, seat=seat) for seat in (1, 2)]
    watcher = await driver.watch(table_id)
    first, _ = await deal_until_hands(driver, players, 2)
    hand = first.view.hands[0]

    await driver.blackjack.advance_tables(DECISION_S)

    made = (await watcher.wait_for("move_made", first.round_id)).move_made
    move = unpacked(made.move, blackjack_pb2.Move())
    stands = hand.score > 11
    assert (made.seat, made.acted_by, move.place) == (1, types_pb2.ACTED_BY_CLOCK, 1)
    assert move.decision == (blackjack_pb2.DECISION_STAND if stands else blackjack_pb2.DECISION_DRAW)
    # What comes later is refused, and costs nothing.
    refused = await refusal(driver.act(players[0], first, "DRAW", 1))
    assert refused.reason == "TURN_OVER"
    assert refused.facts["turn"] == str(first.turn)
    await play_out(driver, players, first.round_id)


@pytest.mark.rule("805/2015:29", "805/2015:30", "805/2015:34")
@pytest.mark.guarantee("G9")
async def test_g9_nobody_waits_for_a_player_who_has_left(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table()
    players = [await driver.seat_new_player(table_id, seat=seat) for seat in (1, 2)]
    watcher = await driver.watch(table_id)
    first, _ = await deal_until_hands(driver, players, 2)

    await driver.leave(players[0])

    made = (await watcher.wait_for("move_made", first.round_id)).move_made
    assert (made.seat, made.acted_by) == (1, types_pb2.ACTED_BY_AWAY)
    await play_out(driver, players[1:], first.round_id)
    left, stayed = [await driver.ended(player, first.round_id) for player in players]
    assert left.round.outcome == stayed.round.outcome


@pytest.mark.rule("805/2015:20.b", "805/2015:15.f")
async def test_insurance_is_asked_of_all_at_once_before_any_hand_is_played(driver: BlackjackDriver) -> None:
    table_id = await driver.new_table()
    players = [await driver.seat_new_player(table_id, seat=seat) for seat in (1, 2, 3)]
    for _ in range(ROUNDS_LIMIT):
        round_id = await deal_to(driver, players)
        seen = await driver.playing(players[0], round_id)
        if seen is not None and [offer.open for offer in seen.view.offers] == [True] * 3:
            break
        await play_out(driver, players, round_id)
    else:
        raise AssertionError("no round came as the test needs it")
    assert seen.seats == (1, 2, 3)

    # Side by side: each answer leaves the turn of the others as it is.
    answers = []
    for player in reversed(players):
        playing = await driver.playing(player, round_id)
        assert playing is not None
        assert playing.turn == seen.turn
        answers.append(await driver.act(player, playing, "DECLINE", player.seat))
    assert [answer.position for answer in answers] == [1, 2, 3]
    await play_out(driver, players, round_id)
