"""Caves between hands: bought in, topped up, cashed out, and players who sit out or have too little."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit.refusal import Refused
from services.kit.table.banked.commands import BetCommand
from services.kit.table.journal.entries import ActedBy, Ending
from tests.simulation.caves.game import CAVE_CENTS
from tests.simulation.caves.players import CALL, FOLD, RAISE, PokerPlayer
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, refusal_reason

FIRST, SECOND = f"{TABLE_ID}.1", f"{TABLE_ID}.2"


async def actor_of(*players: PokerPlayer) -> PokerPlayer:
    """Waits until one of these players may act, and returns them."""
    for _ in range(1_000):
        for player in players:
            if await player.own_turn() is not None:
                return player
        await asyncio.sleep(0.05)
    raise AssertionError("nobody may act")


@pytest.mark.rule("806/2015:11.b", "806/2015:12")
def test_what_is_bought_in_during_a_hand_is_in_play_from_the_next_one() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui", cave_cents=5_000)
        first = await actor_of(ana, rui)
        assert isinstance(await ana.buy_in(2_000), wallet_pb2.BuyInResponse)
        assert scenario.cave_cents("ana") == 7_000
        view = await first.own_view()
        assert view is not None
        shown = poker_pb2.View()
        view[0].table.round.view.Unpack(shown)
        assert sum(seat.stack_cents + seat.bet_cents for seat in shown.seats) == 10_000
        await first.act(FOLD)
        await scenario.wait_until(lambda: SECOND in scenario.world.journal.rounds)
        await actor_of(ana, rui)
        drawn = scenario.round_entries(SECOND).drawn
        assert drawn is not None
        assert sum(stake.amount_cents for stake in drawn.stakes) == 12_000

    PokerScenario(cave_min_cents=1_000).run(script)


@pytest.mark.guarantee("G1", "G3")
def test_g3_a_buy_in_that_is_repeated_after_leaving_gets_its_first_answer_and_moves_nothing() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, _ = await scenario.seat_players("ana", "rui", cave_cents=5_000)
        command, buy_in = ana.prepare_buy_in(2_000)
        first = await buy_in()
        assert isinstance(first, wallet_pb2.BuyInResponse)
        ana.leave()
        await scenario.wait_until(lambda: scenario.cave_cents("ana") == 0)
        free_cents = scenario.free_cents("ana")
        assert await buy_in() == first
        # Another amount under the same name is another command, and one that was never carried out is no answer.
        other, buy_more = ana.prepare_buy_in(3_000)
        assert refusal_reason(await buy_more()) == "NOT_SEATED"
        owner = scenario.world.current_owners[TABLE_ID]
        changed = BetCommand(command.request_id, b"another amount")
        with pytest.raises(Refused) as refused:
            await owner.caves.buy_in(TABLE_ID, ana.caller, changed, 3_000)
        assert (refused.value.reason, refused.value.facts) == ("REQUEST_REUSED", {"request_id": command.request_id})
        assert other.request_id != command.request_id
        assert (scenario.free_cents("ana"), scenario.cave_cents("ana")) == (free_cents, 0)

    PokerScenario(cave_min_cents=1_000).run(script)


@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:R3")
def test_g9_no_hand_begins_before_the_wallet_knows_the_rules_and_nobody_loses_anything() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor, table = await actor_of(ana, rui), scenario.table()
        changed = types_pb2.TableConfiguration()
        changed.CopyFrom(scenario.configuration)
        changed.result_shown_ms += 1
        scenario.set_deliveries(ApplySpecificRules=Delivery(refused_at_once=True))
        scenario.world.catalogue.configure(TABLE_ID, changed)
        await actor.act(FOLD)
        await scenario.wait_for_end(FIRST)
        caves = [scenario.cave_cents(name) for name in ("ana", "rui")]
        await asyncio.sleep(60.0)
        assert not any(each.drawn for name, each in scenario.world.journal.rounds.items() if name != FIRST)
        scenario.restore_network()
        await actor_of(ana, rui)
        assert scenario.table() is table, "it went on by itself"
        assert [scenario.cave_cents(name) for name in ("ana", "rui")] == caves
        assert sum(caves) == 2 * CAVE_CENTS

    PokerScenario().run(script)


@pytest.mark.rule("806/2015:10", "806/2015:35")
def test_who_leaves_in_the_middle_of_a_hand_folds_and_takes_the_rest_of_the_cave() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor = await actor_of(ana, rui)
        await actor.act(CALL)
        other = rui if actor is ana else ana
        other.leave()
        await scenario.wait_for_end(FIRST)
        # A check would be free: a player who has left folds all the same.
        assert scenario.moves(FIRST)[-1][1:] == ("ACTION_FOLD", ActedBy.AWAY)
        await scenario.wait_until(lambda: scenario.cave_cents(other.player_id) == 0)
        assert scenario.free_cents(other.player_id) == STARTING_CENTS - 100

    PokerScenario().run(script)


def is_gone(scenario: PokerScenario, name: str, cents: int) -> bool:
    """Whether a player has left, with all that was in the cave."""
    running = {session.player_id for session in scenario.world.wallet.running_sessions(TABLE_ID)}
    return name not in running and scenario.cave_cents(name) == 0 and scenario.free_cents(name) == cents


@pytest.mark.rule("806/2015:10", "811/2015:10")
def test_who_leaves_while_a_result_is_shown_has_the_cave_at_once() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor = await actor_of(ana, rui)
        await actor.act(FOLD)
        await scenario.wait_for_end(FIRST)
        cents = STARTING_CENTS - CAVE_CENTS + scenario.cave_cents(actor.player_id)
        actor.leave()
        await asyncio.sleep(1.0)
        # The result is shown for another minute.
        assert scenario.table().snapshot().phase == types_pb2.PHASE_RESULT_SHOWN
        assert is_gone(scenario, actor.player_id, cents)
        assert [cave.seat for cave in scenario.table().snapshot().caves] == [1 if actor is rui else 2]

    PokerScenario(result_shown_ms=60_000).run(script)


@pytest.mark.rule("806/2015:10", "811/2015:10")
def test_who_is_in_no_hand_has_the_cave_at_once_while_others_play_one() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")
        actor = await actor_of(ana, rui)
        eva.leave()
        await asyncio.sleep(1.0)
        assert is_gone(scenario, "eva", STARTING_CENTS)
        # The seat is free, and the hand goes on undisturbed.
        ivo = PokerPlayer(scenario.world, "ivo", TABLE_ID)
        scenario.world.deposit("ivo", STARTING_CENTS)
        assert await ivo.enter(3)
        assert scenario.round_entries(FIRST).moves == []
        await actor.act(CALL)
        await (rui if actor is ana else ana).act(FOLD)
        await scenario.wait_for_end(FIRST)

    PokerScenario(decision_ms=60_000).run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.rule("806/2015:10")
def test_no_hand_waits_for_a_wallet_that_does_not_answer_to_one_who_leaves() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")
        actor = await actor_of(ana, rui)
        scenario.set_deliveries(CashOut=Delivery(request_lost=True))
        eva.leave()
        await asyncio.sleep(1.0)
        await actor.act(CALL)
        assert len(scenario.round_entries(FIRST).moves) == 1
        scenario.restore_network()
        await scenario.wait_until(lambda: is_gone(scenario, "eva", STARTING_CENTS))
        await (rui if actor is ana else ana).act(FOLD)
        await scenario.wait_for_end(FIRST)

    PokerScenario(decision_ms=60_000).run(script)


@pytest.mark.rule("806/2015:17.b")
def test_commission_on_caves_is_paid_besides_what_is_bought_in() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, _ = await scenario.seat_players("ana", "rui")
        assert scenario.cave_cents("ana") == CAVE_CENTS
        assert scenario.free_cents("ana") == STARTING_CENTS - CAVE_CENTS * 11 // 10
        await ana.set_away(away=True)

    PokerScenario(commission_mode=poker_pb2.COMMISSION_MODE_CAVE).run(script)


@pytest.mark.rule("806/2015:8", "806/2015:14")
@pytest.mark.parametrize("cents", [999, 10_001])
def test_a_cave_out_of_bounds_is_refused_and_costs_nothing(cents: int) -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, _ = await scenario.seat_players("ana", "rui", cave_cents=1_000)
        ivo = PokerPlayer(scenario.world, "ivo", TABLE_ID)
        scenario.world.deposit("ivo", STARTING_CENTS)
        assert await ivo.enter(3)
        assert refusal_reason(await ivo.buy_in(cents)) == "CAVE_OUT_OF_BOUNDS"
        assert scenario.free_cents("ivo") == STARTING_CENTS
        await ana.set_away(away=True)

    PokerScenario(cave_min_cents=1_000).run(script)


@pytest.mark.guarantee("G12")
@pytest.mark.rule("806/2015:8", "806/2015:14", "811/2015:8", "811/2015:14")
def test_two_purchases_at_once_do_not_fill_a_cave_beyond_its_bounds() -> None:
    """The second is judged by the cave that the first has left, not by the one that both have seen."""

    async def script(scenario: PokerScenario) -> None:
        await scenario.seat_players("rui")
        ana = PokerPlayer(scenario.world, "ana", TABLE_ID)
        scenario.world.deposit("ana", STARTING_CENTS)
        assert await ana.enter(2)
        answers = await asyncio.gather(ana.buy_in(6_000), ana.buy_in(6_000))
        assert [refusal_reason(answer) for answer in answers] == ["", "CAVE_OUT_OF_BOUNDS"]
        assert scenario.cave_cents("ana") == 6_000
        assert scenario.free_cents("ana") == STARTING_CENTS - 6_000

    PokerScenario(cave_min_cents=1_000, min_players=3).run(script)


@pytest.mark.guarantee("G12")
@pytest.mark.rule("806/2015:11.b", "806/2015:14", "811/2015:11.b", "811/2015:14")
def test_a_top_up_that_the_wallet_answers_after_the_hand_is_judged_by_the_cave_that_the_hand_has_left() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui", cave_cents=6_000)
        folder = await actor_of(ana, rui)
        winner = rui if folder is ana else ana
        scenario.set_deliveries(BuyIn=Delivery(request_delay_s=2.0))
        buying = asyncio.create_task(winner.buy_in(9_000))
        await asyncio.sleep(0.5)
        await folder.act(FOLD)
        assert isinstance(await buying, wallet_pb2.BuyInResponse)
        await scenario.wait_for_end(FIRST)
        # The hand has left 60.50: of the 90 euros as much is in play as fits, and the rest went back.
        await scenario.wait_until(lambda: scenario.cave_cents(winner.player_id) == 10_000)
        assert scenario.free_cents(winner.player_id) == STARTING_CENTS - 6_000 - 3_950
        scenario.restore_network()

    PokerScenario(cave_min_cents=1_000, result_shown_ms=10_000).run(script)


@pytest.mark.guarantee("G3")
def test_g3_a_cave_is_filled_once_however_often_the_command_is_sent() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, _ = await scenario.seat_players("ana", "rui", cave_cents=1_000)
        _, send = ana.prepare_buy_in(500)
        scenario.set_deliveries(BuyIn=Delivery(answer_lost=True))
        ana.timeout_s = 1.0
        assert await send() is None
        scenario.restore_network()
        await scenario.kill_owner()
        ana.timeout_s = 8.0
        await asyncio.sleep(3.0)
        answers = [await send(), await send()]
        assert {answer.cave_cents for answer in answers if isinstance(answer, wallet_pb2.BuyInResponse)} == {1_500}
        await scenario.wait_until(lambda: scenario.cave_cents("ana") <= 1_600)

    PokerScenario(cave_min_cents=1_000).run(script)


@pytest.mark.rule("806/2015:45")
def test_who_leaves_hands_to_the_clock_sits_out() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")

        def away() -> list[int]:
            owner = scenario.world.current_owners[TABLE_ID]
            (table,) = owner.owned_tables.tables().values()
            caves = table.snapshot().caves
            return [each.seat for each in caves if each.standing == types_pb2.CAVE_STANDING_AWAY]

        # Nobody decides: after two hands those who had to are away, and the table is suspended.
        await scenario.wait_until(lambda: len(away()) >= 2, within_s=400.0)
        for player in (ana, rui, eva):
            await player.set_away(away=False)
        assert away() == []

    PokerScenario(decision_ms=5_000).run(script)


@pytest.mark.guarantee("G6", "G9")
@pytest.mark.rule("806/2015:72")
def test_a_hand_goes_on_with_the_very_cards_when_its_owner_dies() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor = await actor_of(ana, rui)
        cards = {player.player_id: await player.hole_cards() for player in (ana, rui)}
        turn = await actor.wait_for_turn()
        await actor.prepare_act(turn, RAISE, turn.legal.max_to_cents)[1]()
        await scenario.kill_owner()
        assert {player.player_id: await player.hole_cards() for player in (ana, rui)} == cards
        await (rui if actor is ana else ana).act(CALL)
        await scenario.wait_for_end(FIRST)
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        shown = {each.seat: list(each.cards) for each in scenario.outcome(FIRST).view.seats}
        assert shown == {1: cards["ana"], 2: cards["rui"]}

    PokerScenario().run(script)


@pytest.mark.rule("806/2015:46", "806/2015:64")
def test_the_button_goes_on_when_the_table_changes_hands_between_two_hands() -> None:
    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players("ana", "rui", "eva")
        buttons = []
        for number in range(1, 5):
            round_id = f"{TABLE_ID}.{number}"
            while scenario.world.journal.rounds.get(round_id) is None or scenario.round_entries(round_id).ended is None:
                await (await actor_of(*players)).check_or_fold()
            buttons.append(scenario.outcome(round_id).view.button)
            former = scenario.world.current_owners[TABLE_ID]
            former.hand_over.set()
            await scenario.wait_for_next_owner(former)
        assert [(after - before) % 3 for before, after in pairwise(buttons)] == [1, 1, 1]

    PokerScenario(entry_mode=poker_pb2.ENTRY_MODE_IMMEDIATE).run(script)
