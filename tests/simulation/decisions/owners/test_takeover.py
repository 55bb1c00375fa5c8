"""A dealt round goes on at the next owner: the very cards, every decision, and what was answered."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from feltro.table.v1 import types_pb2
from services.kit.table.journal.entries import ActedBy
from tests.simulation.decisions.players import DOUBLE, DRAW, GIVE_UP, SPLIT, STAND, DecidingPlayer
from tests.simulation.decisions.scenario import PAIR_OF_EIGHTS, BlackjackScenario, acted
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import TABLE_ID, placed_stake

# Small cards for the player, so that there is much to decide; the bank has 17.
MANY_DRAWS = "2s 9h 3d 8c 2h 2c 2d 3s 3h 4c"


async def hand_of(player: DecidingPlayer) -> tuple[bytes, int, tuple[int, ...]]:
    """Returns the public view of the hand under way, its turn, and whose it is."""
    answer = await player.get_table()
    assert answer is not None
    round_ = answer.table.round
    return round_.view.value, round_.turn.turn, tuple(round_.turn.seats)


@pytest.mark.guarantee("G4", "G6", "G8")
@pytest.mark.rule("805/2015:23", "903-B/2015:6.7.5")
@pytest.mark.parametrize("individual", [False, True])
@pytest.mark.parametrize("change", ["killed", "superseded", "handed over"])
def test_the_same_cards_lie_after_every_takeover(change: str, *, individual: bool) -> None:
    """The owner changes before each decision: the view stays byte for byte, and entropy is drawn once."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        if individual:
            round_id = await ana.bet_and_deal(1_000)
        else:
            round_id = await scenario.bet_all(ana)
        await ana.wait_for_turn()
        draws = scenario.world.draws
        for _ in range(4):
            before = await hand_of(ana)
            former = scenario.world.current_owners[TABLE_ID]
            if change == "killed":
                former.process.kill()
            elif change == "superseded":
                scenario.world.start_owner(TABLE_ID)
            else:
                former.hand_over.set()
            await scenario.wait_for_next_owner(former)
            await ana.wait_for_turn()
            assert await hand_of(ana) == before
            acted(await ana.decide(DRAW))
        acted(await ana.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.is_settled(round_id)
        assert scenario.world.draws == draws
        assert scenario.moves(round_id) == [(1, "draw", ActedBy.PLAYER)] * 4 + [(1, "stand", ActedBy.PLAYER)]

    BlackjackScenario(MANY_DRAWS, individual=individual, decision_ms=60_000).run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.parametrize("individual", [False, True])
def test_a_planned_handover_in_the_middle_of_a_hand_voids_nothing(*, individual: bool) -> None:
    """The process is told to stop (SIGTERM): it leaves at once, and the next owner goes on."""

    async def script(scenario: BlackjackScenario) -> None:
        players = await scenario.seat_players(*(["ana"] if individual else ["ana", "rui"]))
        ana = players[0]
        round_id = await (ana.bet_and_deal(1_000) if individual else scenario.bet_all(*players))
        acted(await ana.decide(DRAW))
        former = scenario.world.current_owners[TABLE_ID]
        former.hand_over.set()
        await scenario.wait_until(lambda: former.ended, within_s=1.0)
        assert scenario.round_entries(round_id).ended is None
        await scenario.wait_for_next_owner(former)
        for player in players:
            await player.wait_for_turn()
            await player.finish_hand()
        await scenario.wait_for_end(round_id)
        assert scenario.is_settled(round_id)
        assert {acted_by for _, _, acted_by in scenario.moves(round_id)} == {ActedBy.PLAYER}

    BlackjackScenario("2s 2h 9h 3d 3h 8c 2c 2d Ts Td", individual=individual).run(script)


@pytest.mark.guarantee("G9", "G12")
@pytest.mark.rule("903-B/2015:6.1.4")
@pytest.mark.parametrize("change", ["killed", "handed over"])
def test_cards_that_are_being_dealt_at_a_takeover_lie_when_players_were_told(change: str) -> None:
    """Those of the deal, and of a decision: nobody's time runs before, and nothing is shown before."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await scenario.bet_all(ana)
        for decided in (False, True):
            if decided:
                acted(await ana.decide(DRAW))
            told = await shown_and_due(ana)
            former = scenario.world.current_owners[TABLE_ID]
            if change == "killed":
                former.process.kill()
            else:
                former.hand_over.set()
            await scenario.wait_for_next_owner(former)
            await ana.wait_for_turn()
            shown_at, decide_by = await shown_and_due(ana)
            assert scenario.world.loop.now() < shown_at
            # The journal was written a moment before they were told.
            assert timedelta(0) <= told[0] - shown_at < timedelta(seconds=0.1)
            assert decide_by == shown_at + timedelta(seconds=10)
        await ana.finish_hand()
        await scenario.wait_for_end(round_id)

    BlackjackScenario(MANY_DRAWS, dealing_ms=10_000).run(script)


async def shown_and_due(player: DecidingPlayer) -> tuple[datetime, datetime]:
    """Returns when the cards lie, and until when the turn may be decided."""
    answer = await player.get_table()
    assert answer is not None
    round_ = answer.table.round
    return round_.shown_at.ToDatetime(UTC), round_.turn.decide_by.ToDatetime(UTC)


@pytest.mark.guarantee("G4", "G9")
def test_a_round_that_was_dealt_and_not_shown_goes_on() -> None:
    """The owner dies when the deal is journalled: nobody has seen a card, and nothing is dealt again."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"1": 1_000}))
        scenario.set_deliveries(write_drawn=Delivery(answer_delay_s=5.0))
        ana.timeout_s = 1.0
        assert await ana.deal(round_id) is None
        assert scenario.round_entries(round_id).drawn is not None
        scenario.restore_network()
        draws = scenario.world.draws
        await scenario.kill_owner()
        await ana.wait_for_turn()
        assert scenario.world.draws == draws
        ana.timeout_s = 8.0
        # The deal was asked for, and is answered.
        assert getattr(await ana.deal(round_id), "staked_cents", 0) == 1_000
        await ana.finish_hand()
        assert scenario.is_settled(round_id)

    BlackjackScenario(individual=True).run(script)


@pytest.mark.guarantee("G3")
@pytest.mark.rule("903-B/2015:6.1.1")
def test_g3_a_repeated_deal_has_the_first_answer_whatever_was_staked_since() -> None:
    """While its owner plays, when the next one does, after the round, and when only the journal knows it."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"1": 1_000}))
        first = await ana.deal(round_id)
        assert (getattr(first, "staked_cents", 0), getattr(first, "void_reason", None)) == (1_000, "")
        acted(await ana.decide(SPLIT))
        assert await ana.deal(round_id) == first
        await scenario.kill_owner()
        ana.timeout_s = 8.0
        await ana.wait_for_turn()
        assert await ana.deal(round_id) == first
        await ana.finish_hand()
        await scenario.wait_for_end(round_id)
        assert await ana.deal(round_id) == first
        await ana.bet_and_deal(100)
        await ana.finish_hand()
        assert await ana.deal(round_id) == first

    BlackjackScenario(PAIR_OF_EIGHTS, individual=True).run(script)


@pytest.mark.guarantee("G3")
@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.parametrize("ended", [False, True])
def test_g3_a_bet_is_answered_the_same_at_the_owner_that_goes_on(*, ended: bool) -> None:
    """The next owner knows the round, and did not take its bets."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.wait_for_open_round()
        _, send = ana.prepare_bet(round_id, {"1": 1_000})
        first = placed_stake(await send())
        await ana.deal(round_id)
        await ana.wait_for_turn()
        await scenario.kill_owner()
        await ana.wait_for_turn()
        if ended:
            await ana.finish_hand()
            await scenario.wait_for_end(round_id)
        assert placed_stake(await send()).stake_id == first.stake_id
        await ana.finish_hand()

    BlackjackScenario("2s 9h 3d 8c Ts 5s", individual=True).run(script)


@pytest.mark.guarantee("G3", "G11")
def test_a_decision_at_an_owner_that_has_left_the_hand_is_refused_at_once() -> None:
    """Other tables of the placement may keep the owner for a while: nobody waits for an answer that does not come."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await ana.bet_and_deal(1_000)
        turn = await ana.wait_for_turn()
        # Keeps the owner until the time for launching is over.
        open_round_id = await rui.wait_for_open_round()
        placed_stake(await rui.bet(open_round_id, {"1": 500}))
        scenario.world.current_owners[TABLE_ID].hand_over.set()
        await asyncio.sleep(1.0)
        _, send = ana.prepare_act(round_id, turn.turn, STAND)
        ana.timeout_s = 1.0
        answer = await send()
        assert getattr(answer, "reason", "") == "UNAVAILABLE"
        await asyncio.sleep(15.0)
        for player in (ana, rui):
            await player.finish_hand()
        await scenario.wait_for_end(round_id)
        assert scenario.is_settled(round_id)

    BlackjackScenario("Ts 9h 6d 8c 2h 2c Td Th", individual=True).run(script)


@pytest.mark.guarantee("G9")
def test_watchers_see_the_hand_again_after_a_takeover() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        await ana.wait_for_turn()
        view, turn, seats = await hand_of(ana)
        await scenario.kill_owner()
        await ana.wait_for_turn()
        snapshot = scenario.published("snapshot_published", ana.table_id)[-1].snapshot
        assert snapshot.phase == types_pb2.PHASE_PLAYING
        assert snapshot.round.round_id == round_id
        assert (snapshot.round.view.value, snapshot.round.turn.turn, tuple(snapshot.round.turn.seats)) == (
            view,
            turn,
            seats,
        )
        await ana.finish_hand()

    BlackjackScenario("Ts 9h 6d 8c Td", individual=True).run(script)


@pytest.mark.guarantee("G4", "G9")
def test_players_keep_their_seats_after_a_takeover() -> None:
    """A seat is a place: the hand of a player stays at it, and nobody else sits down there."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui", seats=(4, 2))
        round_id = await scenario.bet_all(ana, rui)
        turn = await rui.wait_for_turn()
        assert next(option.place for option in turn.options) == 2
        await scenario.kill_owner()
        await rui.wait_for_turn()
        assert [await ana.place(), await rui.place()] == ["4", "2"]
        for player in (rui, ana):
            acted(await player.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(2, "stand", ActedBy.PLAYER), (4, "stand", ActedBy.PLAYER)]

    BlackjackScenario("Ts 9s 9h 6d 9d 8c").run(script)


@pytest.mark.guarantee("G4", "G5", "G6")
@pytest.mark.parametrize("individual", [False, True])
def test_g4_a_hand_that_was_paid_and_whose_end_was_not_written_ends_as_it_was_paid(*, individual: bool) -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await (ana.bet_and_deal(1_000) if individual else scenario.bet_all(ana))
        await ana.wait_for_turn()
        scenario.set_deliveries(write_ended=Delivery(request_lost=True))
        ana.timeout_s = 1.0
        await ana.decide(STAND)
        await scenario.wait_until(lambda: scenario.world.wallet.rounds[round_id].outcome)
        paid, outcome = scenario.free_cents("ana"), scenario.world.wallet.rounds[round_id].outcome
        assert scenario.round_entries(round_id).ended is None
        scenario.restore_network()
        await scenario.kill_owner()
        await scenario.wait_for_end(round_id)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.outcome, scenario.is_settled(round_id)) == (outcome, True)
        assert scenario.free_cents("ana") == paid
        assert [each.round_id for each in scenario.published("round_settled", ana.table_id)] == [round_id]

    BlackjackScenario("Ts 9h Td 8c", individual=individual).run(script)


@pytest.mark.guarantee("G4", "G9", "G10")
@pytest.mark.parametrize("paid", [False, True])
def test_g4_a_hand_that_the_ledger_has_settled_is_not_played_again(*, paid: bool) -> None:
    """The journal was restored from a backup that knows the deal, or a part of the decisions, and not the end."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        backup = None if paid else scenario.world.journal.backup()
        acted(await ana.decide(GIVE_UP))
        backup = backup or scenario.world.journal.backup()
        acted(await rui.decide(DOUBLE))
        await scenario.wait_for_end(round_id)
        after = scenario.free_cents("ana"), scenario.free_cents("rui")
        scenario.world.restore_journal(backup)
        await scenario.kill_owner()
        await scenario.wait_for_end(round_id)
        assert scenario.is_settled(round_id)
        assert (scenario.free_cents("ana"), scenario.free_cents("rui")) == after
        assert await ana.wait_for_open_round() != round_id

    BlackjackScenario("Ts 6s 9h 6d 5d 8c Td").run(script)
