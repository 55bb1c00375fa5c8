"""A journal that was restored to the middle of a hand: the ledger knows what was staked and paid since."""

from __future__ import annotations

import pytest

from feltro.table.v1 import table_pb2
from services.kit.table.journal.entries import Ending
from tests.simulation import guarantees
from tests.simulation.decisions.players import DOUBLE, DRAW, GIVE_UP, SPLIT, STAND
from tests.simulation.decisions.scenario import (
    BLACKJACK_AND_ELEVEN,
    DOUBLE_ON_ELEVEN,
    PAIR_OF_EIGHTS,
    BlackjackScenario,
    acted,
)
from tests.simulation.scenario import STARTING_CENTS, refusal_reason

REASON = "the decisions are lost"


@pytest.mark.guarantee("G4", "G10")
@pytest.mark.parametrize("individual", [False, True])
def test_g4_a_hand_that_the_ledger_has_settled_ends_as_the_ledger_has_it(*, individual: bool) -> None:
    """The double is on record again with its stake, and nobody is paid or asked again."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await (ana.bet_and_deal(1_000) if individual else scenario.bet_all(ana))
        await ana.wait_for_turn()
        backup = scenario.world.journal.backup()
        acted(await ana.decide(DOUBLE))
        await scenario.wait_until(lambda: scenario.published("round_settled", ana.table_id))
        before = scenario.round_entries(round_id).ended
        assert before is not None
        await scenario.restore(backup)
        after = scenario.round_entries(round_id).ended
        assert after is not None
        assert (after.ending, after.outcome) == (Ending.SETTLED, before.outcome)
        assert sorted(after.payouts) == sorted(before.payouts)
        assert after.player_results == before.player_results
        assert {stake.seat for stake in after.returned_stakes} == {1}
        assert scenario.free_cents("ana") == STARTING_CENTS + 2_000
        assert (
            len([event for event in scenario.published("round_settled", ana.table_id) if event.round_id == round_id])
            == 1
        )

    BlackjackScenario(DOUBLE_ON_ELEVEN, individual=individual).run(script)


@pytest.mark.guarantee("G4", "G10")
@pytest.mark.rule("805/2015:20.a")
def test_g10_a_player_whose_stakes_were_all_paid_early_is_among_the_results() -> None:
    """The transfer that settled the round did not move their money."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        backup = scenario.world.journal.backup()
        acted(await rui.decide(DOUBLE))
        await scenario.wait_for_end(round_id)
        before = scenario.round_entries(round_id).ended
        assert before is not None
        await scenario.restore(backup)
        after = scenario.round_entries(round_id).ended
        assert after is not None
        assert {result.player_id: result for result in after.player_results} == {
            result.player_id: result for result in before.player_results
        }

    BlackjackScenario(BLACKJACK_AND_ELEVEN).run(script)


@pytest.mark.guarantee("G3", "G6")
def test_g6_a_hand_under_way_goes_on_with_its_cards_and_adopts_a_lost_split() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        await ana.wait_for_turn()
        backup = scenario.world.journal.backup()
        acted(await ana.decide(SPLIT))
        draws = scenario.world.draws
        await scenario.restore(backup)
        assert [move for _, move, _ in scenario.moves(round_id)] == ["split"]
        for _ in range(2):
            acted(await ana.decide(STAND if (await ana.wait_for_turn()).option(STAND) else DRAW))
        await ana.finish_hand()
        await scenario.wait_for_end(round_id)
        assert scenario.is_settled(round_id)
        assert scenario.world.draws == draws

    BlackjackScenario(PAIR_OF_EIGHTS, individual=True).run(script)


@pytest.mark.guarantee("G1", "G3", "G12")
def test_g12_the_stake_of_a_lost_decision_that_is_not_possible_yet_goes_back() -> None:
    """Ana has split, stood on the first hand and doubled the second; only the ledger knows of it, by the stakes."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        await ana.wait_for_turn()
        backup = scenario.world.journal.backup()
        acted(await ana.decide(SPLIT))
        acted(await ana.decide(STAND))
        command, double = await ana.prepare_decision(DOUBLE)
        acted(await double())
        await rui.wait_for_turn()
        assert scenario.free_cents("ana") == STARTING_CENTS - 3_000
        await scenario.restore(backup)
        # The split is the next decision, and counts; with the first hand undecided nobody doubles the second.
        assert scenario.free_cents("ana") == STARTING_CENTS - 2_000
        assert [move for _, move, _ in scenario.moves(round_id)] == ["split"]
        acted(await ana.decide(STAND))
        turn = await ana.wait_for_turn()
        # The command has done what it will ever do (G3): another one has a name of its own.
        _, again = await ana.prepare_decision(DOUBLE, request_id=command.request_id)
        assert refusal_reason(await again()) == "REQUEST_REUSED"
        assert scenario.free_cents("ana") == STARTING_CENTS - 2_000
        assert (await ana.wait_for_turn()).turn == turn.turn
        acted(await ana.decide(DOUBLE))
        await rui.finish_hand()
        await scenario.wait_for_end(round_id)
        assert scenario.is_settled(round_id)
        assert [move for _, move, _ in scenario.moves(round_id)][:3] == ["split", "stand", "double"]

    scenario = BlackjackScenario("8s 6s 9h 8d 5d 8c Th 3h Td 9d Kd 3c", decision_ms=60_000)
    scenario.world.run(lambda: script(scenario))
    # Watchers were told the decisions that the journal has lost, and nothing else is wrong.
    (violation,) = guarantees.violations(scenario.world)
    assert violation.endswith("decision 2 of mesa.1 after 3")


@pytest.mark.guarantee("G4", "G12")
@pytest.mark.rule("805/2015:27", "805/2015:28")
def test_g12_a_payment_that_lost_decisions_made_closes_the_table() -> None:
    """Ana gave up and has half of the bet back: another decision of hers would contradict what was paid."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        await ana.wait_for_turn()
        backup = scenario.world.journal.backup()
        acted(await ana.decide(GIVE_UP))
        await rui.wait_for_turn()
        await scenario.restore(backup)
        scenario.world.unreadable_rounds.add(round_id)
        assert scenario.round_entries(round_id).ended is None
        assert isinstance(await scenario.void(round_id, REASON), table_pb2.VoidOpenRoundResponse)
        assert [scenario.free_cents(name) - STARTING_CENTS for name in ("ana", "rui")] == [-500, 0]
        # The table plays on, and then the void itself is lost: the ledger has it.
        next_round_id = await scenario.bet_all(rui)
        acted(await rui.decide(STAND))
        await scenario.wait_for_end(next_round_id)
        won_cents = scenario.free_cents("rui") - STARTING_CENTS
        await scenario.restore(backup)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, REASON)
        assert [scenario.free_cents(name) - STARTING_CENTS for name in ("ana", "rui")] == [-500, won_cents]

    BlackjackScenario("Ts 9s 9h 6d 9d 8c", decision_ms=60_000).run(script)
