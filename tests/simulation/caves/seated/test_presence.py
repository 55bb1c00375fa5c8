"""Players who sit out, rest, come back, wait for a seat, or return with what they left with, over takeovers too."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit.refusal import Refused
from services.kit.table.caves.rules import Presence
from services.kit.table.caves.waiting import SEAT_KEPT_FOR
from services.kit.table.journal.entries import ActedBy
from tests.simulation.caves.game import CAVE_CENTS
from tests.simulation.caves.players import FOLD, PokerPlayer
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, refusal_reason

PLAYING, WAITING = types_pb2.CAVE_STANDING_PLAYING, types_pb2.CAVE_STANDING_WAITING
AWAY, RESTING = types_pb2.CAVE_STANDING_AWAY, types_pb2.CAVE_STANDING_RESTING


def newcomer(scenario: PokerScenario, name: str) -> PokerPlayer:
    """Returns a player with an account who does not sit here."""
    scenario.world.deposit(name, STARTING_CENTS)
    return PokerPlayer(scenario.world, name, TABLE_ID)


async def handed_over(scenario: PokerScenario) -> None:
    """Lets another process take the table, and waits until it plays there."""
    former = scenario.world.current_owners[TABLE_ID]
    former.hand_over.set()
    owner = await scenario.wait_for_next_owner(former)
    await owner.owned_tables.ready.wait()


def dealt_in(scenario: PokerScenario, number: int) -> list[int]:
    """Returns the seats that were dealt into a hand."""
    drawn = scenario.round_entries(f"{TABLE_ID}.{number}").drawn
    assert drawn is not None
    return sorted(stake.seat for stake in drawn.stakes)


def dealt_view(scenario: PokerScenario, number: int) -> poker_pb2.View:
    """Returns how a hand lay on the table when its cards were dealt."""
    dealt = next(each for each in scenario.published("round_dealt") if each.round_id == f"{TABLE_ID}.{number}")
    view = poker_pb2.View()
    dealt.view.Unpack(view)
    return view


async def play_hand(scenario: PokerScenario, number: int, *players: PokerPlayer) -> None:
    """Plays a hand to its end: all fold."""
    round_id = f"{TABLE_ID}.{number}"
    await scenario.wait_until(lambda: round_id in scenario.world.journal.rounds)
    while scenario.round_entries(round_id).ended is None:
        for player in players:
            turn = await player.own_turn()
            if turn is not None and turn.round_id == round_id:
                await player.prepare_act(turn, FOLD)[1]()
        await asyncio.sleep(0.05)


@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:68")
def test_who_sits_out_is_not_dealt_in_and_stays_so_when_the_table_moves() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")
        assert isinstance(await eva.set_presence(Presence.AWAY), types_pb2.CaveAtSeat)
        await play_hand(scenario, 1, ana, rui, eva)
        await play_hand(scenario, 2, ana, rui)
        assert dealt_in(scenario, 2) == [1, 2]
        await handed_over(scenario)
        assert scenario.standing(3) == AWAY
        number = len(scenario.world.journal.rounds)
        await play_hand(scenario, number + 1, ana, rui)
        assert dealt_in(scenario, number + 1) == [1, 2]
        # Who comes back waits for the big blind like a newcomer.
        await eva.set_presence(Presence.PLAYING)
        assert scenario.standing(3) == WAITING
        await scenario.kill_owner()
        await asyncio.sleep(1.0)
        assert scenario.standing(3) in {WAITING, PLAYING}

    PokerScenario().run(script)


@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:45")
def test_hands_left_to_the_clock_are_counted_over_a_takeover() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        # Nobody decides in the first hand: who had to has left one hand to the clock.
        await scenario.wait_for_end(f"{TABLE_ID}.1")
        first = scenario.round_entries(f"{TABLE_ID}.1").moves
        assert {moved.acted_by for moved in first} == {ActedBy.CLOCK}
        absent = first[0].seat
        await asyncio.sleep(0.1)
        await handed_over(scenario)
        present = rui if absent == 1 else ana
        # Two play, so every other hand is the absent player's to decide first.
        await play_hand(scenario, 2, present)
        assert scenario.standing(absent) == PLAYING
        await play_hand(scenario, 3, present)
        third = scenario.round_entries(f"{TABLE_ID}.3").moves
        assert [(moved.seat, moved.acted_by) for moved in third] == [(absent, ActedBy.CLOCK)]
        await asyncio.sleep(0.1)
        assert scenario.standing(absent) == AWAY

    PokerScenario().run(script)


@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:68")
def test_a_rest_is_granted_once_an_hour_and_ends_by_itself() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")
        assert scenario.own_cave("eva").rests_left == 1
        await eva.set_presence(Presence.RESTING)
        began = scenario.now
        assert scenario.standing(3) == RESTING
        await play_hand(scenario, 1, ana, rui, eva)
        await handed_over(scenario)
        own = scenario.own_cave("eva")
        assert own.rests_left == 0
        ends_at = own.resting_until.ToDatetime(UTC)
        assert timedelta(seconds=59) < ends_at - began <= timedelta(seconds=60)
        for player in (ana, rui):
            await player.set_presence(Presence.AWAY)
        await scenario.wait_until(lambda: scenario.standing(3) == AWAY, within_s=200.0)
        assert scenario.now - ends_at < timedelta(seconds=1)
        assert refusal_reason(await eva.set_presence(Presence.RESTING)) == "REST_REFUSED"
        await eva.set_presence(Presence.PLAYING)
        await asyncio.sleep(3_600.0)
        assert scenario.own_cave("eva").rests_left == 1

    PokerScenario(rest_period_s=60).run(script)


@pytest.mark.rule("806/2015:21")
def test_a_newcomer_may_post_a_big_blind_where_the_table_offers_it() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")
        number = 1
        await play_hand(scenario, number, ana, rui, eva)
        while dealt_in(scenario, number) != [1, 2, 3] or dealt_view(scenario, number).button != 2:
            number += 1
            await play_hand(scenario, number, ana, rui, eva)
        ivo = newcomer(scenario, "ivo")
        assert await ivo.enter(4)
        await ivo.buy_in(CAVE_CENTS)
        await ivo.set_presence(Presence.PLAYING, posts=True)
        # The button goes to the third seat, and then to the first: the newcomer's blinds are not due.
        await play_hand(scenario, number + 1, ana, rui, eva)
        await play_hand(scenario, number + 2, ana, rui, eva, ivo)
        view = dealt_view(scenario, number + 2)
        assert (view.button, view.small_blind, view.big_blind) == (1, 2, 3)
        assert {seat.seat: seat.bet_cents for seat in view.seats} == {1: 0, 2: 50, 3: 100, 4: 100}

    PokerScenario(entry_mode=poker_pb2.ENTRY_MODE_WAIT_OR_VOLUNTARY_POST).run(script)


@pytest.mark.rule("806/2015:21")
def test_a_post_is_refused_where_the_table_does_not_offer_it() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, _ = await scenario.seat_players("ana", "rui")
        ivo = newcomer(scenario, "ivo")
        assert await ivo.enter(3)
        await ivo.buy_in(CAVE_CENTS)
        assert refusal_reason(await ivo.set_presence(Presence.PLAYING, posts=True)) == "POST_REFUSED"
        await ana.set_presence(Presence.AWAY)

    PokerScenario().run(script)


@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:8", "806/2015:11.a")
@pytest.mark.parametrize("dies", [False, True])
def test_who_comes_back_soon_brings_what_they_left_with(dies: bool) -> None:  # noqa: FBT001 - a parameter
    async def script(scenario: PokerScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva", cave_cents=5_000)
        for player in (ana, rui):
            await player.set_presence(Presence.AWAY)
        eva.leave()
        await scenario.wait_until(lambda: scenario.cave_cents("eva") == 0)
        left_with = 5_000 - (STARTING_CENTS - scenario.free_cents("eva"))
        if dies:
            await scenario.kill_owner()
            await asyncio.sleep(3.0)
        assert await eva.enter(3)
        assert scenario.own_cave("eva").buy_in_min_cents == left_with
        refused = await eva.buy_in(1_000)
        assert isinstance(refused, Refused)
        assert refused.reason == "CAVE_OUT_OF_BOUNDS"
        assert refused.facts["minimum_cents"] == str(left_with)
        # After the window the cave inicial is enough.
        await asyncio.sleep(10 * 60.0)
        assert scenario.own_cave("eva").buy_in_min_cents == 1_000
        assert isinstance(await eva.buy_in(1_000), wallet_pb2.BuyInResponse)

    PokerScenario(cave_min_cents=1_000, cave_max_cents=6_000, rathole_window_min=10).run(script)


# -- the waiting list -------------------------------------------------------------------------------------------------


async def join(scenario: PokerScenario, player: PokerPlayer) -> events_pb2.WaitingPlace:
    owner = scenario.world.current_owners[TABLE_ID]
    return await owner.caves.join_waiting_list(TABLE_ID, player.caller)


def told(scenario: PokerScenario, player: PokerPlayer) -> events_pb2.WaitingPlace:
    """Returns what a player was told last of their place."""
    return scenario.world.own_views.by_player[player.player_id][-1].waiting


@pytest.mark.guarantee("G9")
@pytest.mark.parametrize("dies", [False, True])
def test_a_free_seat_is_kept_for_the_first_on_the_waiting_list(dies: bool) -> None:  # noqa: FBT001 - a parameter
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        ivo, zoe, max_ = (newcomer(scenario, name) for name in ("ivo", "zoe", "max"))
        assert refusal_reason(await ivo.send_enter()) == "TABLE_FULL"
        with pytest.raises(Refused) as seated:
            await join(scenario, ana)
        assert seated.value.reason == "ALREADY_SEATED"
        assert [(await join(scenario, each)).position for each in (ivo, zoe, ivo)] == [1, 2, 1]
        assert scenario.table().snapshot().waiting == 2
        if dies:
            await asyncio.sleep(0.5)
            await scenario.kill_owner()
            await asyncio.sleep(1.0)
            assert scenario.table().snapshot().waiting == 2
        rui.leave()
        await scenario.wait_until(lambda: told(scenario, ivo).seat == 2)
        assert told(scenario, zoe).position == 2
        # Nobody else takes the seat, whether they wait or not.
        assert refusal_reason(await max_.send_enter()) == "TABLE_FULL"
        assert refusal_reason(await zoe.send_enter(2)) in {"TABLE_FULL", "SEAT_TAKEN"}
        if dies:
            await asyncio.sleep(0.5)
            await scenario.kill_owner()
            await asyncio.sleep(1.0)
            assert refusal_reason(await max_.send_enter()) == "TABLE_FULL"
        assert await ivo.enter()
        await scenario.wait_until(lambda: told(scenario, zoe).position == 1)
        assert scenario.table().snapshot().waiting == 1
        assert scenario.published("caves_changed")[-1].waiting == 1

    PokerScenario(seats=2).run(script)


def test_who_does_not_take_a_seat_in_time_is_off_the_list_and_the_next_one_gets_it() -> None:
    async def script(scenario: PokerScenario) -> None:
        _, rui = await scenario.seat_players("ana", "rui")
        ivo, zoe = newcomer(scenario, "ivo"), newcomer(scenario, "zoe")
        for player in (ivo, zoe):
            await join(scenario, player)
        rui.leave()
        await scenario.wait_until(lambda: told(scenario, ivo).seat == 2)
        kept_from = scenario.now
        await scenario.wait_until(lambda: told(scenario, zoe).seat == 2)
        assert timedelta(0) <= scenario.now - kept_from - SEAT_KEPT_FOR < timedelta(seconds=1)
        assert told(scenario, ivo).position == 0
        owner = scenario.world.current_owners[TABLE_ID]
        await owner.caves.leave_waiting_list(TABLE_ID, zoe.caller)
        assert told(scenario, zoe).position == 0
        assert scenario.table().snapshot().waiting == 0
        # Now anybody may sit there.
        assert await ivo.enter()

    PokerScenario(seats=2).run(script)


def test_the_waiting_list_is_bounded() -> None:
    async def script(scenario: PokerScenario) -> None:
        await scenario.seat_players("ana", "rui")
        for number in range(50):
            await join(scenario, newcomer(scenario, f"player{number}"))
        with pytest.raises(Refused) as full:
            await join(scenario, newcomer(scenario, "late"))
        assert full.value.reason == "WAITING_LIST_FULL"
        assert full.value.facts["limit"] == "50"

    PokerScenario(seats=2).run(script)
