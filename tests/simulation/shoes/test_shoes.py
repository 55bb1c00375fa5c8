"""A shoe goes on from round to round until its cut card has come, whoever runs the table, and under the same rules."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.journal.entries import Ending, ShoePosition
from tests.simulation.decisions.game import blackjack, configuration
from tests.simulation.decisions.players import DRAW, STAND, DecidingPlayer
from tests.simulation.decisions.scenario import BlackjackScenario, acted
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID

# The first four rounds: the player stands on twenty, on nineteen, on eighteen, and draws to twenty-one.
SHOE = "Ts 9h Td Tc Kc 8h 9d Qc Jc 7h 8d Jd 6s 9c 5d Th Ts Qh 8h 9s Qd Tc"
# The cut card comes in the third round.
CUT_CARD = 10


async def play(scenario: BlackjackScenario, player: DecidingPlayer, *, draws: int = 0) -> str:
    """Plays a round at an individual table to its end, and returns it."""
    round_id = await player.bet_and_deal(1_000)
    for _ in range(draws):
        acted(await player.decide(DRAW))
    acted(await player.decide(STAND))
    await scenario.wait_for_end(round_id)
    return round_id


def position(scenario: BlackjackScenario, round_id: str) -> tuple[str, int]:
    """Returns for which round the shoe of a round was shuffled, and how many cards were taken before."""
    drawn = scenario.round_entries(round_id).drawn
    assert drawn is not None
    assert drawn.shoe is not None
    return drawn.shoe


def entropies(scenario: BlackjackScenario) -> int:
    """Returns from how many shoes rounds were dealt."""
    return len({each.drawn.entropy for each in scenario.world.journal.rounds.values() if each.drawn is not None})


def cards(scenario: BlackjackScenario, round_id: str) -> tuple[list[str], list[str]]:
    """Returns the first hand and the bank's, as the record shows them."""
    outcome = blackjack_pb2.Outcome.FromString(scenario.round_entries(round_id).outcome or b"")
    return list(outcome.hands[0].cards), list(outcome.bank.cards)


@pytest.mark.guarantee("G6", "G10")
@pytest.mark.rule("805/2015:4.b", "805/2015:14")
def test_a_shoe_goes_on_until_its_cut_card_has_come() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        rounds = [await play(scenario, ana) for _ in range(4)]
        first, last = rounds[0], rounds[3]
        assert [position(scenario, each) for each in rounds] == [(first, 0), (first, 4), (first, 8), (last, 0)]
        assert [cards(scenario, each) for each in rounds] == [
            (["Ts", "Td"], ["9h", "Tc"]),
            (["Kc", "9d"], ["8h", "Qc"]),
            (["Jc", "8d"], ["7h", "Jd"]),
            (["Ts", "Td"], ["9h", "Tc"]),
        ]
        assert entropies(scenario) == 2
        opened = [event.shoe.cards_taken for event in scenario.published("round_opened", ana.table_id)]
        assert opened[:4] == [0, 4, 8, 0]
        told = [event.shoe for event in scenario.published("outcome_drawn", ana.table_id)]
        assert [(shoe.cards_taken, shoe.cut_card) for shoe in told] == [(4, 10), (8, 10), (12, 10), (4, 10)]
        snapshot = await ana.get_snapshot()
        assert snapshot is not None
        assert snapshot.shoe == types_pb2.Shoe(cards_taken=4, cut_card=CUT_CARD)

    BlackjackScenario(SHOE, individual=True, cut_card=CUT_CARD).run(script)


def test_without_a_cut_card_each_round_has_a_shuffle_of_its_own() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        rounds = [await play(scenario, ana) for _ in range(3)]
        assert all(scenario.world.journal.rounds[each].drawn.shoe is None for each in rounds)  # type: ignore[union-attr]
        assert entropies(scenario) == 3
        assert not any(event.HasField("shoe") for event in scenario.published("outcome_drawn", ana.table_id))
        snapshot = await ana.get_snapshot()
        assert snapshot is not None
        assert not snapshot.HasField("shoe")

    BlackjackScenario(SHOE, individual=True).run(script)


@pytest.mark.guarantee("G6", "G8")
@pytest.mark.parametrize("killed", [True, False], ids=["killed", "handed over"])
def test_g6_the_next_owner_goes_on_with_the_very_shoe(*, killed: bool) -> None:
    """Between two rounds, and in the middle of one: the card that comes next is the one that lay there."""

    async def change_owner(scenario: BlackjackScenario) -> None:
        former = scenario.world.current_owners[TABLE_ID]
        if killed:
            former.process.kill()
        else:
            former.hand_over.set()
        await scenario.wait_for_next_owner(former)

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        rounds = [await play(scenario, ana), await play(scenario, ana)]
        draws = scenario.world.draws
        await change_owner(scenario)
        rounds.append(await play(scenario, ana))
        # Fifteen, and the ace that makes it sixteen is still to come.
        rounds.append(await ana.bet_and_deal(1_000))
        await ana.wait_for_turn()
        await change_owner(scenario)
        await ana.wait_for_turn()
        snapshot = await ana.get_snapshot()
        assert snapshot is not None
        assert snapshot.shoe.cards_taken == 12
        acted(await ana.decide(DRAW))
        await scenario.wait_for_end(rounds[-1])
        rounds.append(await play(scenario, ana))
        assert [position(scenario, each) for each in rounds] == [(rounds[0], taken) for taken in (0, 4, 8, 12, 17)]
        assert cards(scenario, rounds[3]) == (["6s", "5d", "Ts"], ["9c", "Th"])
        assert cards(scenario, rounds[4])[0] == ["Qh", "9s"]
        assert scenario.world.draws == draws

    BlackjackScenario(SHOE, individual=True, cut_card=150).run(script)


@pytest.mark.guarantee("G6")
@pytest.mark.rule("903-B/2015:6.1.5")
def test_other_rules_begin_another_shoe() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        first = await play(scenario, ana)
        second = await ana.wait_for_open_round()
        await ana.bet(second, {"1": 1_000})
        # The round under way keeps its rules, and its shoe.
        scenario.configuration.result_shown_ms += 100
        scenario.world.catalogue.configure(TABLE_ID, scenario.configuration)
        await ana.deal(second)
        acted(await ana.decide(STAND))
        await scenario.wait_for_end(second)
        third = await play(scenario, ana)
        rounds = first, second, third
        assert [position(scenario, each) for each in rounds] == [(first, 0), (first, 4), (third, 0)]
        assert cards(scenario, third) == cards(scenario, first)

    BlackjackScenario(SHOE, individual=True, cut_card=CUT_CARD).run(script)


@pytest.mark.guarantee("G6", "G12")
@pytest.mark.rule("805/2015:27")
@pytest.mark.parametrize("taken_over", [False, True])
def test_a_round_that_is_void_before_its_deal_takes_no_cards(*, taken_over: bool) -> None:
    """An operator declares it void, or its owner dies: the next round is dealt the cards that it would have had."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        first = await play(scenario, ana)
        void = await ana.wait_for_open_round()
        await ana.bet(void, {"1": 1_000})
        if taken_over:
            await scenario.kill_owner()
        else:
            assert isinstance(await scenario.void(void, "a malfunction"), table_pb2.VoidOpenRoundResponse)
        await scenario.wait_for_end(void)
        ended = scenario.round_entries(void).ended
        assert ended is not None
        assert ended.ending is Ending.VOID
        second = await play(scenario, ana)
        assert second != void
        assert position(scenario, second) == (first, 4)
        assert cards(scenario, second) == (["Kc", "9d"], ["8h", "Qc"])

    BlackjackScenario(SHOE, individual=True, cut_card=CUT_CARD).run(script)


@pytest.mark.guarantee("G6", "G12")
@pytest.mark.rule("805/2015:27", "805/2015:28")
def test_g12_a_dealt_round_that_is_void_takes_its_shoe_with_it() -> None:
    """Its cards were seen, and nobody knows which."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        await play(scenario, ana)
        void = await ana.bet_and_deal(1_000)
        await ana.wait_for_turn()
        scenario.seal(void)
        await scenario.kill_owner()
        await asyncio.sleep(1.0)
        assert isinstance(await scenario.void(void, "the key is lost"), table_pb2.VoidOpenRoundResponse)
        assert scenario.free_cents("ana") == STARTING_CENTS + 1_000
        third = await play(scenario, ana)
        assert position(scenario, third) == (third, 0)
        # So it is after another takeover.
        await scenario.kill_owner()
        assert position(scenario, await play(scenario, ana)) == (third, 4)

    BlackjackScenario(SHOE, individual=True, cut_card=CUT_CARD).run(script)


@pytest.mark.guarantee("G6", "G12")
def test_g12_a_shoe_whose_entropy_cannot_be_read_does_not_go_on() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        first = await play(scenario, ana)
        scenario.seal(first)
        await scenario.kill_owner()
        await ana.wait_for_open_round()
        scenario.unseal(first)
        second = await ana.bet_and_deal(1_000)
        acted(await ana.decide(STAND))
        await scenario.wait_for_end(second)
        entries = scenario.round_entries(second)
        assert entries.drawn is not None
        assert entries.drawn.shoe == ShoePosition(second, 0)
        # The check of all runs knows of no key that was missing.
        scenario.world.rounds_lost.add(first)

    BlackjackScenario(SHOE, individual=True, cut_card=CUT_CARD).run(script)


@pytest.mark.guarantee("G6", "G7", "G12")
def test_g12_cards_that_a_restored_journal_has_lost_do_not_come_again() -> None:
    """The backup has the shoe as it lay before two rounds: their cards were seen, and would be dealt again."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        first = await play(scenario, ana)
        backup = scenario.world.journal.backup()
        lost = [await play(scenario, ana) for _ in range(2)]
        await scenario.restore(backup)
        # The next owner dies before it deals: now the journal knows of later rounds, and still lacks two.
        opened = await ana.wait_for_open_round()
        await ana.bet(opened, {"1": 1_000})
        assert opened not in {first, *lost}
        await scenario.kill_owner()
        await scenario.wait_for_end(opened)
        after = await play(scenario, ana)
        assert position(scenario, after) == (after, 0)

    BlackjackScenario(SHOE, individual=True, cut_card=150).run(script)


@pytest.mark.guarantee("G6", "G12")
def test_g12_a_shoe_does_not_go_on_from_decisions_that_are_lost() -> None:
    """The ledger has settled a round of which the journal lacks the last card."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        await ana.wait_for_turn()
        backup = scenario.world.journal.backup()
        acted(await ana.decide(STAND))
        await scenario.wait_until(lambda: scenario.published("round_settled", ana.table_id))
        await scenario.restore(backup)
        assert scenario.is_settled(round_id)
        after = await play(scenario, ana)
        assert position(scenario, after) == (after, 0)

    BlackjackScenario(SHOE, individual=True, cut_card=150).run(script)


@pytest.mark.guarantee("G6", "G7", "G12")
def test_g12_a_shoe_whose_last_decision_cannot_be_read_does_not_go_on() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        first = await play(scenario, ana)
        entries = scenario.round_entries(first)
        made = entries.moves
        entries.moves = [*made[:-1], replace(made[-1], move=b"\xff")]
        await scenario.kill_owner()
        await ana.wait_for_open_round()
        entries.moves = made
        second = await play(scenario, ana)
        assert position(scenario, second) == (second, 0)
        # The check of all runs knows of no decision that could not be read.
        scenario.world.rounds_lost.add(first)

    BlackjackScenario(SHOE, individual=True, cut_card=150).run(script)


@pytest.mark.guarantee("G6")
def test_a_demonstration_has_shoes_that_go_on_too() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        scenario.configuration.mode = wallet_types.MODE_DEMO
        owner = scenario.world.open_tables(TABLE_ID, scenario.configuration)
        await owner.owned_tables.ready.wait()
        ana = DecidingPlayer(scenario.world, "ana", TABLE_ID)
        assert await ana.enter()
        first, second = await play(scenario, ana), await play(scenario, ana)
        assert position(scenario, second) == (first, 4)

    BlackjackScenario(SHOE, individual=True, cut_card=CUT_CARD).run(script)


@pytest.mark.guarantee("G9", "G12")
def test_g9_a_shoe_needs_entropy_once() -> None:
    """The source fails: rounds of the shoe are dealt, and the one that needs another shoe is void."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        first = await play(scenario, ana)
        scenario.world.randomness_fails = True
        rounds = [await play(scenario, ana), await play(scenario, ana)]
        assert [position(scenario, each) for each in rounds] == [(first, 4), (first, 8)]
        void = await ana.bet_and_deal(1_000)
        await scenario.wait_for_end(void)
        ended = scenario.round_entries(void).ended
        assert ended is not None
        assert ended.ending is Ending.VOID

    BlackjackScenario(SHOE, individual=True, cut_card=CUT_CARD).run(script)


@pytest.mark.guarantee("G5", "G6")
def test_g6_a_draw_that_was_not_written_takes_no_cards() -> None:
    """The owner dies with its cards in its hands: nobody has seen them, and they come again."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        first = await play(scenario, ana)
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"1": 1_000})
        scenario.set_deliveries(write_drawn=Delivery(request_lost=True))
        ana.timeout_s = 1.0
        await ana.deal(round_id)
        scenario.restore_network()
        ana.timeout_s = 8.0
        await scenario.kill_owner()
        await scenario.wait_for_end(round_id)
        second = await play(scenario, ana)
        assert position(scenario, second) == (first, 4)
        assert cards(scenario, second) == (["Kc", "9d"], ["8h", "Qc"])

    BlackjackScenario(SHOE, individual=True, cut_card=CUT_CARD).run(script)


def test_a_table_for_many_goes_on_with_its_shoe() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        rounds = []
        for _ in range(2):
            round_id = await scenario.bet_all(ana, rui)
            for player in (ana, rui):
                acted(await player.decide(STAND))
            await scenario.wait_for_end(round_id)
            rounds.append(round_id)
        # A round in which nobody bets is dealt too, and takes the bank's cards.
        assert position(scenario, rounds[1])[0] == position(scenario, rounds[0])[0]
        assert position(scenario, rounds[1])[1] >= 6

    BlackjackScenario("Ts Th 9h Td Tc 7s Kc Kd 8h 9d Qc Th Jc Jd 7h 8d Jd 9s 9c 5d Th Ts Qh 8h", cut_card=150).run(
        script
    )


def test_the_rig_of_these_tests_deals_what_it_says() -> None:
    rules = blackjack(SHOE).game.rules(configuration(individual=True, cut_card=CUT_CARD))
    assert rules.cut_card == CUT_CARD
