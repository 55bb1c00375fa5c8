"""What lies in caves, accounts and the bank is constant, whatever becomes of a transfer and whatever comes between."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.table.caves.rules import Presence
from services.wallet.model.state import AccountKind
from tests.simulation.caves.players import CALL, RAISE
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.seated.test_presence import handed_over, play_hand
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID

FIRST = f"{TABLE_ID}.1"
NAMES = ("ana", "rui", "eva")

LOST = {
    "request lost": Delivery(request_lost=True),
    "answer lost": Delivery(answer_lost=True),
    "late": Delivery(request_delay_s=2.5),
    "repeated": Delivery(duplicate_after_s=0.4),
}


def everything(scenario: PokerScenario) -> int:
    """Returns all money of the players and of the house: accounts, caves and the bank."""
    wallet = scenario.world.wallet
    caves = sum(
        wallet.cave_cents(account.no, wallet.tables[TABLE_ID].no)
        for account in wallet.accounts.values()
        if account.player_id in NAMES
    )
    accounts = sum(
        account.free_cents + account.locked_cents
        for account in wallet.book.accounts.values()
        if account.kind is AccountKind.BANK or (account.player_id in NAMES and account.kind is not AccountKind.CAVE)
    )
    return caves + accounts


async def _watch(scenario: PokerScenario, cents: int, seen: set[int]) -> None:
    """Compares the sum at every moment."""
    while True:
        seen.add(everything(scenario) - cents)
        await asyncio.sleep(0.001)


@pytest.mark.guarantee("G1", "G3", "G4")
@pytest.mark.parametrize("delivery", LOST.values(), ids=LOST.keys())
@pytest.mark.parametrize("dies", [False, True])
def test_g1_leaving_all_in_top_up_and_cash_out_race_the_end_of_a_hand(delivery: Delivery, dies: bool) -> None:  # noqa: FBT001 - a parameter
    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players(*NAMES, cave_cents=4_000)
        cents, seen = everything(scenario), set[int]()
        watching = asyncio.create_task(_watch(scenario, cents, seen))
        raiser = await in_turn(*players)
        turn = await raiser.wait_for_turn()
        await raiser.prepare_act(turn, RAISE, turn.legal.max_to_cents)[1]()
        caller = await in_turn(*[each for each in players if each is not raiser])
        third = next(each for each in players if each not in {raiser, caller})
        scenario.set_deliveries(TransferHand=delivery, BuyIn=delivery, CashOut=delivery)
        for player in players:
            player.timeout_s = 1.0
        # All at once: the last calls, a top-up of who is all in, and two who leave.
        third.leave()
        await asyncio.gather(caller.act(CALL), raiser.buy_in(1_000), caller.buy_in(500))
        raiser.leave()
        if dies:
            await asyncio.sleep(0.2)
            await scenario.kill_owner()
        await asyncio.sleep(4.0)
        scenario.restore_network()
        await scenario.wait_for_end(FIRST)
        await scenario.wait_until(
            lambda: scenario.cave_cents(raiser.player_id) == 0 and scenario.cave_cents(third.player_id) == 0
        )
        watching.cancel()
        assert seen == {0}
        assert sum(scenario.free_cents(name) for name in NAMES) <= 3 * STARTING_CENTS

    PokerScenario(cave_min_cents=1_000, cave_max_cents=10_000, min_players=3).run(script)


@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:46", "806/2015:48", "806/2015:64")
@pytest.mark.parametrize("disturbed", ["handed over", "killed"])
def test_button_and_blinds_go_round_as_in_an_undisturbed_run(disturbed: str) -> None:
    """The table moves after every hand for a lap, in which a newcomer waits for the big blind, and one sits out."""

    def positions(*, moves: str) -> list[tuple[int, int, int, list[int]]]:
        async def script(scenario: PokerScenario) -> list[tuple[int, int, int, list[int]]]:
            players = await scenario.seat_players("ana", "rui", "eva")
            seen = []
            for number in range(1, 7):
                round_id = f"{TABLE_ID}.{number}"
                await play_hand(scenario, number, *players)
                if number == 4:
                    await players[1].set_presence(Presence.AWAY)
                view = scenario.outcome(round_id).view
                seen.append((view.button, view.small_blind, view.big_blind, sorted(each.seat for each in view.seats)))
                await asyncio.sleep(0.1)
                if moves == "handed over":
                    await handed_over(scenario)
                elif moves == "killed":
                    await scenario.kill_owner()
            return seen

        return PokerScenario(result_shown_ms=1_000, min_players=2).run(script)

    undisturbed = positions(moves="")
    assert len({button for button, *_ in undisturbed}) == 3
    assert positions(moves=disturbed) == undisturbed
