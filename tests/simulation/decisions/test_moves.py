"""Decisions of players count once, with their stakes, whatever fails meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.refusal import Refused
from services.kit.table.events import publisher
from services.kit.table.journal.entries import ActedBy
from services.wallet.model.state import StakeState
from tests.simulation.decisions.players import DOUBLE, DRAW, INSURE, SPLIT, STAND, DecidingPlayer, Decision
from tests.simulation.decisions.scenario import (
    BANK_SHOWS_AN_ACE,
    DOUBLE_ON_ELEVEN,
    PAIR_OF_EIGHTS,
    BlackjackScenario,
    acted,
)
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, refusal_reason

# Decisions that stake money, each with a shoe that offers it, the insurance, and what a bet of 1000 cents stakes more.
STAKING = pytest.mark.parametrize(
    ("shoe", "decision", "cents"),
    [(DOUBLE_ON_ELEVEN, DOUBLE, 1_000), (PAIR_OF_EIGHTS, SPLIT, 1_000), (BANK_SHOWS_AN_ACE, INSURE, 500)],
    ids=["double", "split", "insure"],
)


@pytest.mark.guarantee("G11", "G12")
def test_g11_no_decision_is_taken_that_watchers_would_not_see_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many events wait for the bus that nothing new begins; the decision may be sent again, in the same turn."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        _, double = await ana.prepare_decision(DOUBLE)
        with monkeypatch.context() as patch:
            patch.setattr(publisher, "FULL_FROM_EVENTS", -1)
            assert refusal_reason(await double()) == "OVERLOADED"
            assert (scenario.moves(round_id), scenario.free_cents("ana")) == ([], STARTING_CENTS - 1_000)
        acted(await double())
        await scenario.wait_for_end(round_id)
        assert scenario.decision_cents(round_id) == [1_000]

    BlackjackScenario(DOUBLE_ON_ELEVEN, individual=True).run(script)


@pytest.mark.guarantee("G4", "G5", "G10")
@pytest.mark.rule("805/2015:15.b")
def test_a_double_is_staked_journalled_and_paid() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        answer = acted(await ana.decide(DOUBLE))
        assert (answer.position, answer.staked_cents) == (1, 1_000)
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "double", ActedBy.PLAYER)]
        assert scenario.free_cents("ana") == STARTING_CENTS + 2_000

    BlackjackScenario(DOUBLE_ON_ELEVEN, individual=True).run(script)


@pytest.mark.guarantee("G3")
def test_two_decisions_at_once_on_a_hand_that_the_first_ends() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        _, double = await ana.prepare_decision(DOUBLE)
        _, draw = await ana.prepare_decision(DRAW)
        answers = await asyncio.wait_for(asyncio.gather(double(), draw()), 60.0)
        assert acted(answers[0]).position == 1
        assert refusal_reason(answers[1]) == "TURN_OVER"
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "double", ActedBy.PLAYER)]

    BlackjackScenario(DOUBLE_ON_ELEVEN, individual=True).run(script)


@STAKING
@pytest.mark.guarantee("G3", "G4", "G5", "G10")
def test_g3_a_decision_that_was_staked_and_not_journalled_counts_once(
    shoe: str, decision: Decision, cents: int
) -> None:
    """The owner dies between the two, the next one adopts the stake, and the player who sends it again has one."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        _, send = await ana.prepare_decision(decision, cents if decision == INSURE else 0)
        scenario.set_deliveries(write_moved=Delivery(request_lost=True))
        ana.timeout_s = 1.0
        assert await send() is None
        assert scenario.moves(round_id) == []
        assert sorted(scenario.stakes(round_id)) == sorted([(1_000, StakeState.OPEN), (cents, StakeState.OPEN)])
        scenario.restore_network()
        await scenario.kill_owner()
        await asyncio.sleep(1.0)
        ana.timeout_s = 8.0
        first = acted(await send())
        assert (first.position, first.staked_cents) == (1, cents)
        assert acted(await send()) == first
        await ana.finish_hand()
        await scenario.wait_for_end(round_id)
        # From the journal, when no table remembers the round any more.
        assert acted(await send()) == first
        assert scenario.decision_cents(round_id).count(cents) == 1
        assert len(scenario.stakes(round_id)) == 2

    BlackjackScenario(shoe, individual=True).run(script)


@STAKING
@pytest.mark.guarantee("G3", "G5")
def test_g3_a_decision_whose_answer_was_lost_is_answered_by_the_next_owner(
    shoe: str, decision: Decision, cents: int
) -> None:
    """It was journalled, and its owner died before the player heard of it."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        _, send = await ana.prepare_decision(decision, cents if decision == INSURE else 0)
        scenario.set_deliveries(write_moved=Delivery(answer_delay_s=5.0))
        ana.timeout_s = 1.0
        assert await send() is None
        assert len(scenario.moves(round_id)) == 1
        scenario.restore_network()
        await scenario.kill_owner()
        await asyncio.sleep(1.0)
        ana.timeout_s = 8.0
        first = acted(await send())
        assert (first.position, first.staked_cents) == (1, cents)
        await ana.finish_hand()
        assert acted(await send()) == first
        assert len(scenario.stakes(round_id)) == 2

    BlackjackScenario(shoe, individual=True).run(script)


@pytest.mark.guarantee("G3", "G12")
@pytest.mark.parametrize("taken_over", [False, True], ids=["same owner", "taken over"])
@pytest.mark.parametrize("decision", [DRAW, DOUBLE], ids=["draw", "double"])
def test_g3_the_request_id_of_a_decision_makes_none_in_another_round(decision: Decision, *, taken_over: bool) -> None:
    """Whether it costs anything or not, and whoever has the table: the first one cost nothing."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        first_round = await ana.bet_and_deal(1_000)
        first, draw = await ana.prepare_decision(DRAW)
        answer = acted(await draw())
        await scenario.wait_for_end(first_round)
        round_id = await ana.bet_and_deal(1_000)
        if taken_over:
            scenario.world.current_owners[TABLE_ID].process.kill()
            ana.timeout_s = 8.0
        free_cents = scenario.free_cents("ana")
        _, again = await ana.prepare_decision(decision, request_id=first.request_id)
        for _ in range(2):
            assert refusal_reason(await again()) == "REQUEST_REUSED"
        assert (scenario.moves(round_id), scenario.free_cents("ana")) == ([], free_cents)
        # The first answer stays what it was.
        assert acted(await draw()) == answer
        await ana.finish_hand()
        await scenario.wait_for_end(round_id)

    BlackjackScenario(DOUBLE_ON_ELEVEN, individual=True).run(script)


@pytest.mark.guarantee("G3", "G12")
@pytest.mark.rule("805/2015:24", "903-B/2015:6.1.1")
def test_a_decision_without_the_money_for_it_changes_nothing() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one(cents=1_500)
        round_id = await ana.bet_and_deal(1_000)
        turn = await ana.wait_for_turn()
        assert turn.option(DOUBLE) is None
        _, send = ana.prepare_act(round_id, turn.turn, DOUBLE)
        assert refusal_reason(await send()) == "INSUFFICIENT_FUNDS"
        assert scenario.free_cents("ana") == 500
        # The same command has the same answer for ever; a new one is carried out when there is the money for it.
        scenario.world.deposit("ana", 1_000)
        assert refusal_reason(await send()) == "INSUFFICIENT_FUNDS"
        assert acted(await ana.decide(DOUBLE)).staked_cents == 1_000
        assert scenario.moves(round_id) == [(1, "double", ActedBy.PLAYER)]

    BlackjackScenario(DOUBLE_ON_ELEVEN, individual=True).run(script)


@pytest.mark.guarantee("G12")
@pytest.mark.rule("805/2015:15.a", "805/2015:24")
def test_a_refused_decision_says_whose_turn_it_is_what_is_possible_and_until_when() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        turn = await ana.wait_for_turn()
        answer = await ana.get_table()
        assert answer is not None
        until = answer.table.round.turn.decide_by.ToJsonString()
        assert until

        async def refused(player: DecidingPlayer, place: int, decision: Decision) -> Refused:
            refusal = await player.prepare_act(round_id, turn.turn, decision, place)[1]()
            assert isinstance(refusal, Refused)
            return refusal

        # Eleven cannot stand.
        illegal = await refused(ana, 1, STAND)
        assert (illegal.reason, illegal.facts["rule"], illegal.facts["decide_by"]) == (
            "DECISION_ILLEGAL",
            "805/2015:15.a",
            until,
        )
        assert "DECISION_DOUBLE" in illegal.facts["legal"]
        early, anothers = await refused(rui, 2, STAND), await refused(rui, 1, DRAW)
        assert (early.reason, early.facts) == ("NOT_YOUR_TURN", {"place": "2", "turn_of": "1", "decide_by": until})
        assert (anothers.reason, anothers.facts) == (
            "NOT_YOUR_PLACE",
            {"place": "1", "turn_of": "1", "decide_by": until},
        )
        assert await ana.wait_for_turn() == turn
        assert scenario.moves(round_id) == []

    BlackjackScenario("6s Ts 9h 5d 8d 8c Td").run(script)


@pytest.mark.guarantee("G3")
@pytest.mark.rule("903-B/2015:6.1.1")
def test_a_double_click_decides_once() -> None:
    """Two clicks are two commands: the second is for a turn that is over when it is judged."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        turn = await ana.wait_for_turn()
        clicks = [ana.prepare_act(round_id, turn.turn, DRAW)[1] for _ in range(2)]
        answers = await asyncio.gather(*(send() for send in clicks))
        assert [refusal_reason(answer) for answer in answers] == ["", "TURN_OVER"]
        assert scenario.moves(round_id) == [(1, "draw", ActedBy.PLAYER)]
        await ana.finish_hand()

    BlackjackScenario("2s 9h 3d 8c 2h 2c Th 5s", individual=True).run(script)


@pytest.mark.guarantee("G4", "G5", "G8")
def test_decisions_reach_nobody_before_they_are_durable() -> None:
    """While the journal is slow nothing is told, and a superseded owner decides nothing."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        _, send = await ana.prepare_decision(STAND)
        scenario.set_deliveries(write_moved=Delivery(request_delay_s=3.0))
        sending = asyncio.ensure_future(send())
        await asyncio.sleep(1.0)
        scenario.world.start_owner(TABLE_ID)
        scenario.restore_network()
        assert refusal_reason(await sending) == "UNAVAILABLE"
        assert scenario.published("move_made", ana.table_id) == []
        await scenario.wait_until(scenario.world.current_owners[TABLE_ID].owned_tables.tables)
        acted(await send())
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "stand", ActedBy.PLAYER)]

    BlackjackScenario("Ts 9h 6d 8c Td", individual=True).run(script)
