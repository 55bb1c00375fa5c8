"""What the regulations and our guarantees say of particular accidents, each told as a story at a simulated table."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from services.kit.table.banked.settlement import OWNER_LOST
from services.kit.table.journal.entries import DrawTrigger, Ending
from services.kit.table.live.closing import ALL_BETS_CANCELLED, HANDOVER_DRAW_TIMEOUT_S
from services.kit.table.live.table import RANDOMNESS_FAILED
from services.wallet.model.state import StakeState
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.virtual_time import STARTS_AT
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario, closes_at, placed_stake, refusal_reason

both_regulations = pytest.mark.parametrize("regulation", ["804/2015", "807/2015"])


def _pocket(stage: Scenario, number: str) -> int:
    """Where a number lies on the table's wheel."""
    rules = stage.world.catalogue.rules_in_force(TABLE_ID).rules
    layout: roulette_pb2.GetLayoutResponse = rules.layout()  # type: ignore[attr-defined]
    return [pocket.number for pocket in layout.pockets].index(number)


# -- bets in time, late, and twice -------------------------------------------------------------------------------------


@both_regulations
@pytest.mark.rule("804/2015:14", "807/2015:16")
@pytest.mark.guarantee("G12")
def test_a_late_bet_is_refused_and_costs_nothing(regulation: str) -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        left_s = closes_at(await ana.get_snapshot()) - STARTS_AT.timestamp() - stage.world.loop.time()
        # It takes a hundredth of a second to arrive: exactly when the window closes.
        await asyncio.sleep(left_s - 0.01)
        assert refusal_reason(await ana.bet(round_id, {"red": 500})) == "BETTING_CLOSED"
        assert stage.free_cents("ana") == STARTING_CENTS
        assert not stage.stakes(round_id)
        await asyncio.sleep(3.0)
        assert refusal_reason(await ana.bet(round_id, {"red": 500})) == "BETTING_CLOSED"

    Scenario(regulation=regulation).run(story)


@both_regulations
@pytest.mark.rule("804/2015:14", "807/2015:16")
def test_every_player_has_the_same_betting_time(regulation: str) -> None:
    """The window is one and the same for all who sit there, and both notices are given."""

    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        assert closes_at(await ana.get_snapshot()) == closes_at(await rui.get_snapshot())
        await asyncio.sleep(
            closes_at(await ana.get_snapshot()) - STARTS_AT.timestamp() - stage.world.loop.time() - 0.04
        )
        both_bet = await asyncio.gather(ana.bet(round_id, {"red": 500}), rui.bet(round_id, {"black": 500}))
        assert not any(map(refusal_reason, both_bet))
        await asyncio.sleep(1.0)
        (opened, *_), (closed, *_) = stage.published("round_opened"), stage.published("betting_closed")
        assert stage.published_at("betting_closed") == opened.round.closes_at.ToDatetime(UTC)
        assert opened.words.pt.startswith("Façam")
        assert closed.words.pt.startswith("Jogo feito")

    Scenario(regulation=regulation).run(story)


@pytest.mark.rule("903-B/2015:6.1.4")
def test_the_window_is_never_shorter_than_announced() -> None:
    """A slow journal delays the opening, and takes nothing from the time to bet."""

    async def story(stage: Scenario) -> None:
        stage.set_deliveries(opened=Delivery(request_delay_s=2.0, answer_delay_s=1.5))
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        left_s = closes_at(await ana.get_snapshot()) - STARTS_AT.timestamp() - stage.world.loop.time()
        assert left_s > 2.9
        await asyncio.sleep(2.9)
        placed_stake(await ana.bet(round_id, {"red": 500}))

    Scenario(window_ms=3_000).run(story)


@both_regulations
@pytest.mark.rule("804/2015:29", "807/2015:31")
def test_a_warned_player_may_bet_at_once(regulation: str) -> None:
    """The warning names a round, and may reach him before a slow journal has opened it: his bet is not late."""

    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        round_id = ""
        while not (warned := _warned_round(stage, "ana")):
            opened = stage.published("round_opened")
            if opened and opened[-1].round.round_id != round_id:
                round_id = opened[-1].round.round_id
                placed_stake(await rui.bet(round_id, {"red": 500}))
                stage.set_deliveries(opened=Delivery(request_delay_s=0.3, answer_delay_s=0.3))
            await asyncio.sleep(0.01)
        assert warned not in [each.round.round_id for each in stage.published("round_opened")]
        placed_stake(await ana.bet(warned, {"black": 500}))
        stage.restore_network()

    Scenario(regulation=regulation).run(story)


def _warned_round(stage: Scenario, name: str) -> str:
    """The round that a player has to bet in."""
    (session,) = (each for each in stage.world.wallet.running_sessions(TABLE_ID) if each.player_id == name)
    return session.warned_round_id or ""


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
def test_a_repeated_command_acts_once() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        command, click = ana.prepare_bet(round_id, {"17": 300})
        answers = await asyncio.gather(*(click() for _ in range(5)))
        assert len({placed_stake(answer).stake_id for answer in answers}) == 1
        assert stage.stakes(round_id) == [(300, StakeState.OPEN)]
        other = roulette_pb2.PlaceBetsRequest(
            request_id=command.request_id,
            table_id=TABLE_ID,
            round_id=round_id,
            bets=[roulette_pb2.Bet(place="18", amount_cents=300)],
        )
        owner = stage.world.current_owners[TABLE_ID]
        with pytest.raises(Exception, match="used for something else"):
            await stage.world.call(owner, lambda there: there.service.place_bets(other, ana.caller))
        await asyncio.sleep(7.0)
        # Long afterwards it is still the same bet.
        assert placed_stake(await click()).stake_id == placed_stake(answers[0]).stake_id

    Scenario().run(story)


@pytest.mark.guarantee("G5", "G9")
def test_bets_in_time_count_although_the_wallet_is_away_at_the_close() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        stage.set_deliveries(wallet=Delivery(refused_at_once=True))
        ana.timeout_s = 30.0
        bet = asyncio.create_task(ana.bet(round_id, {"red": 500}))
        await asyncio.sleep(9.0)
        assert not bet.done()
        assert not stage.published("outcome_drawn")
        stage.restore_network()
        placed_stake(await bet)
        await asyncio.sleep(1.0)
        assert stage.round_entries(round_id).ended is not None
        assert [state for _, state in stage.stakes(round_id)] == [StakeState.SETTLED]

    Scenario().run(story)


@pytest.mark.guarantee("G6", "G12")
def test_repeating_bets_after_the_close_is_refused() -> None:
    """What the player bet last is read while the round closes: nothing is bet on an outcome that is drawn."""

    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        await ana.bet(await ana.wait_for_open_round(), {"red": 500})
        await asyncio.sleep(6.0)
        round_id = await ana.wait_for_open_round()
        before = stage.free_cents("ana")
        stage.set_deliveries(
            last_bets=Delivery(request_delay_s=4.99),
            drawn=Delivery(answer_delay_s=1.0),
            SettleRound=Delivery(request_delay_s=1.0),
        )
        assert refusal_reason(await ana.prepare_repeat(round_id)[1]()) == "BETTING_CLOSED"
        assert stage.free_cents("ana") == before

    Scenario().run(story)


@pytest.mark.guarantee("G9")
def test_a_bet_must_be_legal_without_stakes_that_may_be_cancelled() -> None:
    """A bet must not be legal only together with another one, which may go: by the wallet's word or the player's."""

    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana", cents=160)
        round_id = await ana.wait_for_open_round()
        too_much = asyncio.create_task(ana.bet(round_id, {"red": 170}))
        await asyncio.sleep(0.001)
        # It would be below the minimum by itself, and the other one is still on its way to the wallet.
        leaning = await ana.bet(round_id, {"red": 60})
        assert refusal_reason(await too_much) == "INSUFFICIENT_FUNDS"
        assert refusal_reason(leaning) == "BELOW_MINIMUM"
        placed_stake(await ana.bet(round_id, {"red": 100}))
        await ana.bet(round_id, {"red": 58})
        assert not refusal_reason(await ana.cancel_bets(round_id))
        assert {state for _, state in stage.stakes(round_id)} == {StakeState.CANCELLED}
        assert await ana.get_snapshot() is not None

    Scenario().run(story)


@pytest.mark.guarantee("G12")
def test_a_bet_stays_where_taking_back_is_forbidden() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        assert refusal_reason(await ana.cancel_bets(round_id)) == "CANCEL_FORBIDDEN"
        assert stage.stakes(round_id) == [(500, StakeState.OPEN)]

    Scenario(cancel_forbidden=True).run(story)


# -- the player's own line ---------------------------------------------------------------------------------------------


@both_regulations
@pytest.mark.rule("804/2015:22", "804/2015:23", "807/2015:24", "807/2015:25")
@pytest.mark.guarantee("G9")
def test_a_bet_stands_when_the_player_loses_the_connection(regulation: str) -> None:
    """Vector A6 of the rulebook: one euro on 17, the device is offline, the ball falls on 17."""

    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        stage.world.next_pockets = [_pocket(stage, "17")]
        round_id = await ana.wait_for_open_round()
        # The line breaks while the wallet is still being asked: his request is cancelled at the table.
        stage.set_deliveries(PlaceStakes=Delivery(request_delay_s=0.5))
        ana.timeout_s = 0.1
        assert await ana.bet(round_id, {"17": 100}) is None
        await rui.bet(round_id, {"red": 300})
        await asyncio.sleep(7.0)
        assert stage.free_cents("ana") == STARTING_CENTS + 3_500
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    Scenario(regulation=regulation).run(story)


# -- one result --------------------------------------------------------------------------------------------------------


@both_regulations
@pytest.mark.rule("804/2015:5", "807/2015:5")
def test_one_result_binds_all_players(regulation: str) -> None:
    async def story(stage: Scenario) -> None:
        players = await stage.open_table("ana", "rui", "eva")
        stage.world.next_pockets = [_pocket(stage, "17")]
        round_id = await players[0].wait_for_open_round()
        for player, place in zip(players, ("17", "black", "red"), strict=True):
            placed_stake(await player.bet(round_id, {place: 200}))
        await asyncio.sleep(6.0)
        assert [said.round_id for said in stage.published("outcome_drawn")] == [round_id]
        won = {name: stage.free_cents(name) - STARTING_CENTS for name in ("ana", "rui", "eva")}
        assert won == {"ana": 7_000, "rui": 200, "eva": -200}

    Scenario(regulation=regulation).run(story)


@both_regulations
@pytest.mark.rule("804/2015:15", "807/2015:17")
def test_at_an_individual_table_the_player_launches_the_ball(regulation: str) -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        assert refusal_reason(await ana.spin(round_id)) == "NOTHING_STAKED"
        await ana.bet(round_id, {"red": 500})
        await asyncio.sleep(100.0)
        assert stage.round_entries(round_id).drawn is None
        said = await ana.spin(round_id)
        assert isinstance(said, roulette_pb2.SpinResponse)
        drawn = stage.round_entries(round_id).drawn
        assert drawn is not None
        assert said.outcome.SerializeToString() == drawn.outcome
        assert drawn.draw_trigger is DrawTrigger.PLAYER
        # Spun again it is not spun again.
        again = await ana.spin(round_id)
        assert isinstance(again, roulette_pb2.SpinResponse)
        assert again.outcome == said.outcome
        assert refusal_reason(await ana.bet(round_id, {"red": 502})) == "BETTING_CLOSED"

    Scenario(regulation=regulation, individual=True).run(story)


@pytest.mark.rule("GLI-19 4.16")
def test_the_platform_launches_the_ball_for_a_player_who_left() -> None:
    """And the record says that it did, and why; so does what everybody is told."""

    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        ana.leave()
        await asyncio.sleep(1.0)
        written = stage.round_entries(round_id)
        assert written.drawn is not None
        assert written.drawn.draw_trigger is DrawTrigger.SESSION_ENDED
        assert written.ended is not None
        assert written.ended.ending is Ending.SETTLED
        assert not stage.world.wallet.running_sessions(ana.table_id)
        (said,) = stage.published("outcome_drawn", ana.table_id)
        assert said.launch == types_pb2.DRAW_TRIGGER_SESSION_ENDED

    Scenario(individual=True).run(story)


def test_no_ball_is_launched_when_every_bet_was_taken_back() -> None:
    """Neither for one who leaves nor when the table moves to another process."""

    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        for player, go in ((ana, ana.leave), (rui, stage.world.current_owners[TABLE_ID].hand_over.set)):
            round_id = await player.wait_for_open_round()
            placed_stake(await player.bet(round_id, {"red": 500}))
            assert not refusal_reason(await player.cancel_bets(round_id))
            go()
            await asyncio.sleep(1.0)
            written = stage.round_entries(round_id)
            assert written.drawn is None
            assert written.ended is not None
            assert (written.ended.ending, written.ended.void_reason) == (Ending.VOID, ALL_BETS_CANCELLED)
            assert stage.free_cents(player.player_id) == STARTING_CENTS
            assert not stage.published("outcome_drawn", player.table_id)
        assert not stage.world.wallet.running_sessions(ana.table_id)

    Scenario(individual=True).run(story)


@pytest.mark.rule("GLI-19 4.16")
def test_a_launch_counts_although_the_player_leaves() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        launched = asyncio.create_task(ana.spin(round_id))
        stage.set_deliveries(drawn=Delivery(answer_delay_s=1.0))
        await asyncio.sleep(0.1)
        ana.leave()
        assert isinstance(await launched, roulette_pb2.SpinResponse)
        drawn = stage.round_entries(round_id).drawn
        assert drawn is not None
        assert drawn.draw_trigger is DrawTrigger.PLAYER

    Scenario(individual=True).run(story)


@pytest.mark.rule("GLI-19 4.16")
def test_at_a_multi_player_table_the_clock_closes_betting() -> None:
    """One has left and one has stayed: the round is the same, and the record says that nobody's word was needed."""

    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        await asyncio.gather(ana.bet(round_id, {"red": 500}), rui.bet(round_id, {"black": 500}))
        announced = closes_at(await rui.get_snapshot())
        ana.leave()
        await asyncio.sleep(7.0)
        drawn = stage.round_entries(round_id).drawn
        assert drawn is not None
        assert drawn.draw_trigger is DrawTrigger.CLOCK
        assert drawn.closed_at.timestamp() == pytest.approx(announced)
        assert [said.launch for said in stage.published("outcome_drawn")] == [types_pb2.DRAW_TRIGGER_CLOCK]

    Scenario().run(story)


@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize(
    ("spins", "launch"), [(False, DrawTrigger.TABLE_HANDED_OVER), (True, DrawTrigger.PLAYER)], ids=["waits", "spins"]
)
def test_during_a_handover_the_player_may_still_launch(*, spins: bool, launch: DrawTrigger) -> None:
    """If he does not do so in time, the platform does; the record says who did."""

    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        asked_at = stage.world.loop.now()
        stage.world.current_owners[TABLE_ID].hand_over.set()
        await asyncio.sleep(HANDOVER_DRAW_TIMEOUT_S - 1.0)
        assert stage.round_entries(round_id).drawn is None
        if spins:
            assert isinstance(await ana.spin(round_id), roulette_pb2.SpinResponse)
        await asyncio.sleep(5.0)
        drawn = stage.round_entries(round_id).drawn
        assert drawn is not None
        assert drawn.draw_trigger is launch
        assert spins or drawn.closed_at - asked_at >= timedelta(seconds=HANDOVER_DRAW_TIMEOUT_S)
        assert stage.world.current_owners[TABLE_ID].process.name == "mesa#2"
        (said,) = stage.published("outcome_drawn", ana.table_id)
        assert said.launch == launch.value

    Scenario(individual=True).run(story)


@pytest.mark.rule("GLI-19 4.16", "GLI-19 2.8.2")
@pytest.mark.guarantee("G6")
def test_the_next_owner_publishes_who_launched() -> None:
    """The platform has launched and journalled it, and dies before anybody has heard."""

    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        await ana.bet(round_id, {"17": 100})
        assert not refusal_reason(await ana.cancel_bets(round_id, {"17": 100}))
        stage.set_deliveries(drawn=Delivery(answer_delay_s=1.0))
        ana.leave()
        await asyncio.sleep(0.5)
        noted = stage.round_entries(round_id).drawn
        assert noted is not None
        assert not stage.published("outcome_drawn", ana.table_id)
        stage.world.current_owners[TABLE_ID].process.kill()
        stage.restore_network()
        await asyncio.sleep(5.0)
        assert stage.round_entries(round_id).ended is not None
        (said,) = stage.published("outcome_drawn", ana.table_id)
        assert noted.draw_trigger is DrawTrigger.SESSION_ENDED
        assert said.launch == types_pb2.DRAW_TRIGGER_SESSION_ENDED
        assert [taken.stake.amount_cents for taken in noted.cancelled_stakes] == [100]

    Scenario(individual=True).run(story)


@pytest.mark.rule("GLI-19 2.8.2")
@pytest.mark.guarantee("G10")
def test_cancelled_stakes_are_recorded_although_the_owner_died() -> None:
    """Whoever takes the table over finds it in the ledger, with its time."""

    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        await rui.bet(round_id, {"17": 300})
        await asyncio.sleep(1.0)
        assert not refusal_reason(await rui.cancel_bets(round_id))
        taken_at = stage.world.loop.now()
        stage.world.current_owners[TABLE_ID].process.kill()
        await asyncio.sleep(5.0)
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
        assert [stake.amount_cents for stake in ended.returned_stakes] == [500]
        (taken,) = ended.cancelled_stakes
        assert (taken.stake.player_id, taken.stake.amount_cents) == ("rui", 300)
        assert taken.stake.placed_at + timedelta(seconds=1) <= taken.cancelled_at <= taken_at
        # Nobody closed it: it took bets until its process ended.
        assert ended.closed_at is None

    Scenario().run(story)


@pytest.mark.rule("GLI-19 2.8.2")
def test_an_undrawn_round_records_when_it_closed() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        announced = closes_at(await ana.get_snapshot())
        await ana.bet(round_id, {"red": 500})
        stage.world.randomness_fails = True
        await asyncio.sleep(8.0)
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert ended.closed_at is not None
        assert ended.closed_at.timestamp() == pytest.approx(announced)

    Scenario().run(story)


# -- malfunctions ------------------------------------------------------------------------------------------------------


@both_regulations
@pytest.mark.rule(
    "804/2015:20", "804/2015:21", "807/2015:22", "807/2015:23", "903-B/2015:6.7.3", "903-B/2015:6.3.3", "GLI-19 A.6.4"
)
@pytest.mark.guarantee("G9")
def test_a_failed_draw_voids_the_round_and_switches_the_game_off(regulation: str) -> None:
    """Vector A7 of the rulebook: stakes of 500, 700 and 300 go back."""

    async def story(stage: Scenario) -> None:
        players = await stage.open_table("ana", "rui", "eva")
        round_id = await players[0].wait_for_open_round()
        for player, cents in zip(players, (500, 700, 300), strict=True):
            placed_stake(await player.bet(round_id, {"red": cents}))
        stage.world.randomness_fails = True
        await asyncio.sleep(8.0)
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, RANDOMNESS_FAILED)
        assert [stage.free_cents(name) for name in ("ana", "rui", "eva")] == [STARTING_CENTS] * 3
        assert stage.stakes(round_id) == [(cents, StakeState.RETURNED) for cents in (500, 700, 300)]
        (said,) = stage.published("round_void")
        assert said.words.pt.startswith("Ocorreu um erro")
        assert not stage.published("outcome_drawn")
        # Of the whole game, and no other round opens.
        assert [house for house, _ in stage.world.catalogue.switches] == [None]
        assert [said.enabled for said in stage.published("table_switched")] == [False]
        await asyncio.sleep(60.0)
        assert len(stage.published("round_opened")) == 1

    Scenario(regulation=regulation).run(story)


@both_regulations
@pytest.mark.rule("804/2015:20", "807/2015:22", "903-B/2015:6.7.5")
@pytest.mark.guarantee("G4", "G6")
def test_a_journalled_outcome_stands(regulation: str) -> None:
    """Vector A8 of the rulebook: 8 is persisted, the server dies before anybody has seen it."""

    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        stage.world.next_pockets = [_pocket(stage, "8")]
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"8": 100}))
        stage.set_deliveries(drawn=Delivery(answer_delay_s=1.0))
        await asyncio.sleep(5.2)
        assert stage.round_entries(round_id).drawn is not None
        stage.world.current_owners[TABLE_ID].process.kill()
        stage.restore_network()
        await asyncio.sleep(5.0)
        assert stage.free_cents("ana") == STARTING_CENTS + 3_500
        (drawn,) = [said for said in stage.published("outcome_drawn") if said.round_id == round_id]
        assert drawn.outcome.value == stage.round_entries(round_id).drawn.outcome  # type: ignore[union-attr]

    Scenario(regulation=regulation).run(story)


@pytest.mark.guarantee("G3", "G4")
def test_a_settlement_whose_answer_is_lost_pays_once() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        stage.world.next_pockets = [_pocket(stage, "17")]
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"17": 100}))
        stage.set_deliveries(SettleRound=Delivery(answer_lost=True, duplicate_after_s=12.0))
        await asyncio.sleep(20.0)
        assert stage.free_cents("ana") == STARTING_CENTS + 3_500
        assert stage.round_entries(round_id).ended is None
        stage.restore_network()
        await asyncio.sleep(8.0)
        assert stage.free_cents("ana") == STARTING_CENTS + 3_500
        assert stage.round_entries(round_id).ended is not None

    Scenario().run(story)


@pytest.mark.guarantee("G9")
def test_a_refused_demo_refill_stops_no_other_player() -> None:
    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        # On a zero low and high both lose.
        stage.world.next_pockets = [_pocket(stage, "0")]
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"low": 50_000, "high": 50_000}))
        (account,) = (a for a in stage.world.wallet.accounts.values() if a.player_id == "ana")
        account.blocked = True
        await asyncio.sleep(7.0)
        assert account.free_cents == 0
        assert await rui.wait_for_open_round() != round_id
        assert stage.world.current_owners[TABLE_ID].process.name == "mesa#1"

    Scenario(demo=True).run(story)


# -- rules and switches ------------------------------------------------------------------------------------------------


@pytest.mark.rule("903-B/2015:6.1.5")
def test_rules_never_change_during_a_round() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        dearer = types_pb2.TableConfiguration()
        dearer.CopyFrom(stage.configuration)
        dearer.rules.Pack(roulette_pb2.SpecificRules(wheel=roulette_pb2.WHEEL_FRENCH, minimum_cents=1_000))
        dearer.betting_window_ms = 9_000
        stage.world.catalogue.configure(TABLE_ID, dearer)
        placed_stake(await ana.bet(round_id, {"red": 100}))
        await asyncio.sleep(6.0)
        assert stage.round_entries(round_id).opened.configuration_version == 1
        assert stage.round_entries(round_id).drawn is not None
        after = await ana.wait_for_open_round()
        assert stage.round_entries(after).opened.configuration_version == 2
        assert refusal_reason(await ana.bet(after, {"red": 100})) == "BELOW_MINIMUM"

    Scenario().run(story)


@pytest.mark.rule("903-B/2015:6.3.1")
def test_a_table_that_is_switched_off_finishes_its_round() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        stage.world.catalogue.set_switch(TABLE_ID, "maintenance")
        placed_stake(await ana.bet(round_id, {"black": 502}))
        await asyncio.sleep(30.0)
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        seen = await ana.get_snapshot()
        assert seen is not None
        assert (seen.phase, seen.disabled_reason) == (types_pb2.PHASE_DISABLED, "maintenance")
        assert len(stage.published("round_opened")) == 1
        stage.world.catalogue.set_switch(TABLE_ID, None)
        assert await ana.wait_for_open_round() != round_id
        assert [said.enabled for said in stage.published("table_switched")] == [False, True]

    Scenario().run(story)


# -- owners ------------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G4", "G8", "G9")
@pytest.mark.parametrize("individual", [False, True])
def test_a_table_that_is_handed_over_finishes_its_round(*, individual: bool) -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        stage.world.current_owners[TABLE_ID].hand_over.set()
        await asyncio.sleep(HANDOVER_DRAW_TIMEOUT_S + 5.0)
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        assert await ana.wait_for_open_round() != round_id
        assert stage.world.current_owners[TABLE_ID].process.name == "mesa#2"

    Scenario(individual=individual).run(story)


@pytest.mark.guarantee("G11")
def test_nothing_delays_a_handover() -> None:
    """Whatever wakes the table before the ball is launched, it is launched when it was to be."""

    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        stage.world.current_owners[TABLE_ID].hand_over.set()
        await asyncio.sleep(HANDOVER_DRAW_TIMEOUT_S - 1.0)
        stage.world.catalogue.set_switch(TABLE_ID, "maintenance")
        await asyncio.sleep(1.5)
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    Scenario(individual=True).run(story)


@pytest.mark.guarantee("G8")
def test_a_former_owner_changes_nothing() -> None:
    """He goes on as if he were alone: his bets, his draw and his settlement come to nothing."""

    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        former = stage.world.current_owners[TABLE_ID]
        stage.world.start_owner(TABLE_ID)
        await asyncio.sleep(0.5)
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
        stage.world.current_owners[TABLE_ID], latter = former, stage.world.current_owners[TABLE_ID]
        assert await ana.bet(round_id, {"black": 500}) is None or refusal_reason(
            await ana.bet(round_id, {"black": 500})
        )
        stage.world.current_owners[TABLE_ID] = latter
        await asyncio.sleep(10.0)
        assert former.superseded
        assert stage.stakes(round_id) == [(500, StakeState.RETURNED)]

    Scenario().run(story)


@pytest.mark.guarantee("G8")
def test_a_stake_of_a_dead_owner_is_refused() -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        round_id = await ana.wait_for_open_round()
        stage.set_deliveries(PlaceStakes=Delivery(request_lost=True, duplicate_after_s=1.5))
        ana.timeout_s = 0.2
        assert await ana.bet(round_id, {"red": 500}) is None
        stage.world.takeover_delay_s = 0.5
        stage.world.current_owners[TABLE_ID].process.kill()
        stage.restore_network()
        await asyncio.sleep(5.0)
        assert not stage.stakes(round_id)
        assert stage.free_cents("ana") == STARTING_CENTS

    Scenario().run(story)


def test_a_player_who_left_during_a_takeover_has_no_seat() -> None:
    """His leaving is heard of after the sessions were read and before the table stands."""

    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        stage.world.current_owners[TABLE_ID].process.kill()
        stage.set_deliveries(ListTableSessions=Delivery(answer_delay_s=1.0))
        stage.world.start_owner(TABLE_ID)
        await asyncio.sleep(0.5)
        ana.leave()
        await asyncio.sleep(3.0)
        seen = await rui.get_snapshot()
        assert seen is not None
        assert seen.seated == 1

    Scenario().run(story)


def test_a_repeated_enter_after_leaving_seats_nobody() -> None:
    """The wallet gives its first answer again, and that says that the session runs."""

    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        (entered,) = (command for command in stage.world.commands if command.player_id == "ana")
        ana.leave()
        await asyncio.sleep(1.0)
        request = table_pb2.EnterTableRequest(request_id=entered.request_id, table_id=TABLE_ID)
        await stage.world.call(stage.world.current_owners[TABLE_ID], lambda owner: owner.registry.enter("ana", request))
        seen = await rui.get_snapshot()
        assert seen is not None
        assert seen.seated == 1

    Scenario().run(story)
