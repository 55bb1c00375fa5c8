"""A player who has folded and leaves gets the cave at once, but for what they have lost in the hand (A-18)."""

from __future__ import annotations

import asyncio

import pytest

from feltro.wallet.v1 import wallet_pb2
from services.kit.table.journal.entries import Ending
from tests.simulation.caves.game import CAVE_CENTS
from tests.simulation.caves.players import CALL, CHECK, FOLD, RAISE, PokerPlayer
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.seated.test_caves import actor_of, is_gone
from tests.simulation.caves.test_conservation import LOST, NAMES
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, refusal_reason

FIRST = f"{TABLE_ID}.1"


async def three_dealt_in(scenario: PokerScenario) -> list[PokerPlayer]:
    """Seats three players, of whom all are dealt into the first hand; returns them in the order of their turns."""
    players = await scenario.seat_players(*NAMES)
    first = await actor_of(*players)
    at = players.index(first)
    return [*players[at:], *players[:at]]


async def taken_over(scenario: PokerScenario) -> None:
    """Kills the table's owner, and waits until the next one plays there."""
    owner = await scenario.kill_owner()
    await owner.owned_tables.ready.wait()


def is_running(scenario: PokerScenario, player: PokerPlayer) -> bool:
    running = scenario.world.wallet.running_sessions(TABLE_ID)
    return player.player_id in {session.player_id for session in running}


async def fold_after_a_raise(scenario: PokerScenario) -> tuple[PokerPlayer, list[PokerPlayer]]:
    """Has one raise to 300, another one raise that, and the first one fold and leave; returns them and the others."""
    under_the_gun, small_blind, big_blind = await three_dealt_in(scenario)
    await under_the_gun.act(RAISE, 300)
    await small_blind.act(RAISE, 900)
    await big_blind.act(CALL)
    await under_the_gun.act(FOLD)
    under_the_gun.leave()
    return under_the_gun, [small_blind, big_blind]


async def finish(scenario: PokerScenario, players: list[PokerPlayer]) -> None:
    """Plays the first hand to its end: everybody checks."""
    while scenario.round_entries(FIRST).ended is None:
        for player in players:
            if await player.own_turn() is not None:
                await player.act(CHECK)
        await asyncio.sleep(0.2)


@pytest.mark.guarantee("G1", "G2")
@pytest.mark.rule("806/2015:10", "811/2015:10")
@pytest.mark.parametrize("dies", [False, True])
def test_who_has_folded_and_leaves_has_the_rest_of_the_cave_while_others_play_on(dies: bool) -> None:  # noqa: FBT001 - a parameter
    async def script(scenario: PokerScenario) -> None:
        leaver, others = await fold_after_a_raise(scenario)
        await scenario.wait_until(lambda: scenario.cave_cents(leaver.player_id) == 300)
        assert scenario.round_entries(FIRST).ended is None
        assert scenario.free_cents(leaver.player_id) == STARTING_CENTS - 300
        # What they have lost is counted in their session, so it ends with the hand.
        assert is_running(scenario, leaver)
        if dies:
            await taken_over(scenario)
        await finish(scenario, others)
        await scenario.wait_until(lambda: is_gone(scenario, leaver.player_id, STARTING_CENTS - 300))
        commission_cents = scenario.outcome(FIRST).commission_cents
        money = [scenario.free_cents(name) + scenario.cave_cents(name) for name in NAMES]
        assert sum(money) + commission_cents == len(NAMES) * STARTING_CENTS

    PokerScenario(decision_ms=60_000, min_players=3).run(script)


@pytest.mark.guarantee("G1", "G3", "G4")
@pytest.mark.rule("806/2015:10", "811/2015:10")
@pytest.mark.parametrize("delivery", LOST.values(), ids=LOST.keys())
@pytest.mark.parametrize("dies", [False, True])
def test_the_rest_of_the_cave_is_given_back_once_whatever_happens_on_the_way(delivery: Delivery, dies: bool) -> None:  # noqa: FBT001 - a parameter
    async def script(scenario: PokerScenario) -> None:
        scenario.set_deliveries(CashOut=delivery)
        leaver, others = await fold_after_a_raise(scenario)
        await scenario.wait_until(scenario.has_asked("CashOut"))
        if dies:
            await taken_over(scenario)
        scenario.restore_network()
        # Once, and before the hand is over.
        await scenario.wait_until(lambda: scenario.cave_cents(leaver.player_id) == 300)
        assert scenario.free_cents(leaver.player_id) == STARTING_CENTS - 300
        await finish(scenario, others)
        await scenario.wait_until(lambda: is_gone(scenario, leaver.player_id, STARTING_CENTS - 300))

    PokerScenario(decision_ms=60_000, min_players=3).run(script)


@pytest.mark.rule("806/2015:10", "811/2015:10")
def test_what_waits_for_the_end_of_the_hand_goes_back_at_once_too() -> None:
    async def script(scenario: PokerScenario) -> None:
        under_the_gun, small_blind, big_blind = await three_dealt_in(scenario)
        await under_the_gun.act(CALL)
        assert isinstance(await under_the_gun.buy_in(2_000), wallet_pb2.BuyInResponse)
        await small_blind.act(RAISE, 900)
        await big_blind.act(CALL)
        await under_the_gun.act(FOLD)
        under_the_gun.leave()
        await scenario.wait_until(lambda: scenario.cave_cents(under_the_gun.player_id) == 100)
        await finish(scenario, [small_blind, big_blind])
        await scenario.wait_until(lambda: is_gone(scenario, under_the_gun.player_id, STARTING_CENTS - 100))

    PokerScenario(decision_ms=60_000, min_players=3, cave_max_cents=20_000).run(script)


@pytest.mark.rule("806/2015:10", "811/2015:10")
@pytest.mark.parametrize("dies", [False, True])
def test_who_has_bet_nothing_is_gone_at_once_and_the_seat_is_kept_until_the_hand_ends(dies: bool) -> None:  # noqa: FBT001 - a parameter
    async def script(scenario: PokerScenario) -> None:
        under_the_gun, small_blind, big_blind = await three_dealt_in(scenario)
        await under_the_gun.act(FOLD)
        under_the_gun.leave()
        await scenario.wait_until(lambda: is_gone(scenario, under_the_gun.player_id, STARTING_CENTS))
        assert scenario.round_entries(FIRST).ended is None
        if dies:
            await taken_over(scenario)
        ivo = PokerPlayer(scenario.world, "ivo", TABLE_ID)
        scenario.world.deposit("ivo", STARTING_CENTS)
        seat = 1 + NAMES.index(under_the_gun.player_id)
        actor = await actor_of(small_blind, big_blind)
        assert refusal_reason(await ivo.send_enter(seat)) == "SEAT_TAKEN"
        await actor.act(CALL)
        await finish(scenario, [small_blind, big_blind])
        assert await ivo.enter(seat)

    PokerScenario(decision_ms=60_000, min_players=3).run(script)


@pytest.mark.guarantee("G1")
@pytest.mark.rule("806/2015:10", "806/2015:72")
def test_what_was_lost_in_a_void_hand_goes_back_to_a_player_who_has_left() -> None:
    async def script(scenario: PokerScenario) -> None:
        leaver, _ = await fold_after_a_raise(scenario)
        await scenario.wait_until(lambda: scenario.cave_cents(leaver.player_id) == 300)
        scenario.world.cut_off_rounds.add(FIRST)
        await scenario.void(FIRST, "the power has failed")
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert ended.ending is Ending.VOID
        await scenario.wait_until(lambda: is_gone(scenario, leaver.player_id, STARTING_CENTS))
        # Who comes back soon has to bring all that was taken away, not only what came last.
        assert await leaver.enter()
        assert scenario.own_cave(leaver.player_id).buy_in_min_cents == CAVE_CENTS

    PokerScenario(decision_ms=60_000, min_players=3, cave_min_cents=1_000, cave_max_cents=20_000).run(script)


@pytest.mark.rule("806/2015:11.a")
def test_who_comes_back_after_folding_brings_what_was_left() -> None:
    async def script(scenario: PokerScenario) -> None:
        leaver, others = await fold_after_a_raise(scenario)
        await finish(scenario, others)
        await scenario.wait_until(lambda: is_gone(scenario, leaver.player_id, STARTING_CENTS - 300))
        assert await leaver.enter()
        assert scenario.own_cave(leaver.player_id).buy_in_min_cents == CAVE_CENTS - 300

    PokerScenario(decision_ms=60_000, min_players=3, cave_min_cents=1_000).run(script)


@pytest.mark.rule("806/2015:10", "806/2015:35")
def test_who_is_all_in_and_leaves_waits_for_the_end_of_the_hand() -> None:
    """They keep their interest in the pots (A-18)."""

    async def script(scenario: PokerScenario) -> None:
        under_the_gun, small_blind, big_blind = await three_dealt_in(scenario)
        await under_the_gun.act(RAISE, CAVE_CENTS)
        under_the_gun.leave()
        await small_blind.act(FOLD)
        await asyncio.sleep(1.0)
        assert scenario.cave_cents(under_the_gun.player_id) == CAVE_CENTS
        await big_blind.act(FOLD)
        await scenario.wait_until(lambda: is_gone(scenario, under_the_gun.player_id, STARTING_CENTS + 150))

    PokerScenario(decision_ms=60_000, min_players=3).run(script)
