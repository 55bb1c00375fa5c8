"""What the regulations and our guarantees say of particular accidents, each told as a story at a simulated table."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from services.kit.table.closing import EMPTIED, LAUNCH_WITHIN_S
from services.kit.table.journal import Ending, Launch
from services.kit.table.live_table import SOURCE_FAILED
from services.kit.table.settlement import OWNER_LOST
from services.wallet.state import StakeState
from tests.simulation.network import Fate
from tests.simulation.stage import HOUSE, MONEY_CENTS, Stage, closes_at, placed, refused
from tests.simulation.virtual_time import STARTS_AT

both = pytest.mark.parametrize("regulation", ["804/2015", "807/2015"])


def _pocket(stage: Stage, number: str) -> int:
    """Where a number lies on the table's wheel."""
    rules = stage.world.catalogue.configured(HOUSE).rules
    layout: roulette_pb2.GetLayoutResponse = rules.layout()  # type: ignore[attr-defined]
    return [pocket.number for pocket in layout.pockets].index(number)


# -- bets in time, late, and twice -------------------------------------------------------------------------------------


@both
@pytest.mark.rule("804/2015:14", "807/2015:16")
@pytest.mark.guarantee("G12")
def test_a_late_bet_is_refused_and_costs_nothing(regulation: str) -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        left_s = closes_at(await ana.look()) - STARTS_AT.timestamp() - stage.world.loop.time()
        # It takes a hundredth of a second to arrive: exactly when the window closes.
        await asyncio.sleep(left_s - 0.01)
        assert refused(await ana.bet(round_id, {"red": 500})) == "BETTING_CLOSED"
        assert stage.free_cents("ana") == MONEY_CENTS
        assert not stage.stakes(round_id)
        await asyncio.sleep(3.0)
        assert refused(await ana.bet(round_id, {"red": 500})) == "BETTING_CLOSED"

    Stage(regulation=regulation).tell(story)


@both
@pytest.mark.rule("804/2015:14", "807/2015:16")
def test_everybody_has_the_same_time(regulation: str) -> None:
    """The window is one and the same for all who sit there, and both notices are given."""

    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        round_id = await ana.open_round()
        assert closes_at(await ana.look()) == closes_at(await rui.look())
        await asyncio.sleep(closes_at(await ana.look()) - STARTS_AT.timestamp() - stage.world.loop.time() - 0.04)
        both_bet = await asyncio.gather(ana.bet(round_id, {"red": 500}), rui.bet(round_id, {"black": 500}))
        assert not any(map(refused, both_bet))
        await asyncio.sleep(1.0)
        (opened, *_), (closed, *_) = stage.heard("round_opened"), stage.heard("betting_closed")
        assert stage.at("betting_closed") == opened.round.closes_at.ToDatetime(UTC)
        assert opened.words.pt.startswith("Façam")
        assert closed.words.pt.startswith("Jogo feito")

    Stage(regulation=regulation).tell(story)


@pytest.mark.rule("903-B/2015:6.1.4")
def test_the_window_is_never_shorter_than_announced() -> None:
    """A slow journal delays the opening, and takes nothing from the time to bet."""

    async def story(stage: Stage) -> None:
        stage.fate(opened=Fate(there_s=2.0, back_s=1.5))
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        left_s = closes_at(await ana.look()) - STARTS_AT.timestamp() - stage.world.loop.time()
        assert left_s > 2.9
        await asyncio.sleep(2.9)
        placed(await ana.bet(round_id, {"red": 500}))

    Stage(window_ms=3_000).tell(story)


@both
@pytest.mark.rule("804/2015:29", "807/2015:31")
def test_who_is_warned_may_bet_at_once(regulation: str) -> None:
    """The warning names a round, and may reach him before a slow journal has opened it: his bet is not late."""

    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        round_id = ""
        while not (warned := _warned_round(stage, "ana")):
            opened = stage.heard("round_opened")
            if opened and opened[-1].round.round_id != round_id:
                round_id = opened[-1].round.round_id
                placed(await rui.bet(round_id, {"red": 500}))
                stage.fate(opened=Fate(there_s=0.3, back_s=0.3))
            await asyncio.sleep(0.01)
        assert warned not in [each.round.round_id for each in stage.heard("round_opened")]
        placed(await ana.bet(warned, {"black": 500}))
        stage.heal()

    Stage(regulation=regulation).tell(story)


def _warned_round(stage: Stage, name: str) -> str:
    """The round that a player has to bet in."""
    (session,) = (each for each in stage.world.ledger.running(HOUSE) if each.player_id == name)
    return session.warned_round_id or ""


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
def test_a_click_that_is_repeated_acts_once() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        command, click = ana.betting(round_id, {"17": 300})
        answers = await asyncio.gather(*(click() for _ in range(5)))
        assert len({placed(answer).stake_id for answer in answers}) == 1
        assert stage.stakes(round_id) == [(300, StakeState.OPEN)]
        other = roulette_pb2.PlaceBetsRequest(
            request_id=command.request_id,
            table_id=HOUSE,
            round_id=round_id,
            bets=[roulette_pb2.Bet(place="18", amount_cents=300)],
        )
        owner = stage.world.current[HOUSE]
        with pytest.raises(Exception, match="used for something else"):
            await stage.world.ask(owner, lambda there: there.service.place_bets(other, ana.caller))
        await asyncio.sleep(7.0)
        # Long afterwards it is still the same bet.
        assert placed(await click()).stake_id == placed(answers[0]).stake_id

    Stage().tell(story)


@pytest.mark.guarantee("G5", "G9")
def test_bets_in_time_count_although_the_wallet_was_away_at_the_close() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        stage.fate(wallet=Fate(refused_at_once=True))
        ana.patience_s = 30.0
        bet = asyncio.create_task(ana.bet(round_id, {"red": 500}))
        await asyncio.sleep(9.0)
        assert not bet.done()
        assert not stage.heard("outcome_drawn")
        stage.heal()
        placed(await bet)
        await asyncio.sleep(1.0)
        assert stage.written(round_id).ended is not None
        assert [state for _, state in stage.stakes(round_id)] == [StakeState.SETTLED]

    Stage().tell(story)


@pytest.mark.guarantee("G6", "G12")
def test_bets_that_are_repeated_too_slowly_are_late() -> None:
    """What the player bet last is read while the round closes: nothing is bet on an outcome that is drawn."""

    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        await ana.bet(await ana.open_round(), {"red": 500})
        await asyncio.sleep(6.0)
        round_id = await ana.open_round()
        before = stage.free_cents("ana")
        stage.fate(last_bets=Fate(there_s=4.99), drawn=Fate(back_s=1.0), SettleRound=Fate(there_s=1.0))
        assert refused(await ana.repeating(round_id)[1]()) == "BETTING_CLOSED"
        assert stage.free_cents("ana") == before

    Stage().tell(story)


@pytest.mark.guarantee("G9")
def test_what_a_bet_leans_on_may_be_taken_back() -> None:
    """A bet must not be legal only together with another one, which may go: by the wallet's word or the player's."""

    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana", cents=160)
        round_id = await ana.open_round()
        too_much = asyncio.create_task(ana.bet(round_id, {"red": 170}))
        await asyncio.sleep(0.001)
        # It would be below the minimum by itself, and the other one is still on its way to the wallet.
        leaning = await ana.bet(round_id, {"red": 60})
        assert refused(await too_much) == "INSUFFICIENT_FUNDS"
        assert refused(leaning) == "BELOW_MINIMUM"
        placed(await ana.bet(round_id, {"red": 100}))
        await ana.bet(round_id, {"red": 58})
        assert not refused(await ana.take_back(round_id))
        assert {state for _, state in stage.stakes(round_id)} == {StakeState.CANCELLED}
        assert await ana.look() is not None

    Stage().tell(story)


@pytest.mark.guarantee("G12")
def test_where_taking_back_is_forbidden_a_bet_that_lies_stays() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        await ana.bet(round_id, {"red": 500})
        assert refused(await ana.take_back(round_id)) == "TAKE_BACK_FORBIDDEN"
        assert stage.stakes(round_id) == [(500, StakeState.OPEN)]

    Stage(take_back_forbidden=True).tell(story)


# -- the player's own line ---------------------------------------------------------------------------------------------


@both
@pytest.mark.rule("804/2015:22", "804/2015:23", "807/2015:24", "807/2015:25")
@pytest.mark.guarantee("G9")
def test_a_bet_stands_when_the_player_loses_his_line(regulation: str) -> None:
    """Vector A6 of the rulebook: one euro on 17, the device is offline, the ball falls on 17."""

    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        stage.world.ball_falls_into = [_pocket(stage, "17")]
        round_id = await ana.open_round()
        # The line breaks while the wallet is still being asked: his request is cancelled at the table.
        stage.fate(PlaceStakes=Fate(there_s=0.5))
        ana.patience_s = 0.1
        assert await ana.bet(round_id, {"17": 100}) is None
        await rui.bet(round_id, {"red": 300})
        await asyncio.sleep(7.0)
        assert stage.free_cents("ana") == MONEY_CENTS + 3_500
        ended = stage.written(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    Stage(regulation=regulation).tell(story)


# -- one result --------------------------------------------------------------------------------------------------------


@both
@pytest.mark.rule("804/2015:5", "807/2015:5")
def test_one_result_binds_all(regulation: str) -> None:
    async def story(stage: Stage) -> None:
        players = await stage.open("ana", "rui", "eva")
        stage.world.ball_falls_into = [_pocket(stage, "17")]
        round_id = await players[0].open_round()
        for player, place in zip(players, ("17", "black", "red"), strict=True):
            placed(await player.bet(round_id, {place: 200}))
        await asyncio.sleep(6.0)
        assert [said.round_id for said in stage.heard("outcome_drawn")] == [round_id]
        won = {name: stage.free_cents(name) - MONEY_CENTS for name in ("ana", "rui", "eva")}
        assert won == {"ana": 7_000, "rui": 200, "eva": -200}

    Stage(regulation=regulation).tell(story)


@both
@pytest.mark.rule("804/2015:15", "807/2015:17")
def test_alone_the_player_launches_the_ball(regulation: str) -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        assert refused(await ana.spin(round_id)) == "NOTHING_STAKED"
        await ana.bet(round_id, {"red": 500})
        await asyncio.sleep(100.0)
        assert stage.written(round_id).drawn is None
        said = await ana.spin(round_id)
        assert isinstance(said, roulette_pb2.SpinResponse)
        drawn = stage.written(round_id).drawn
        assert drawn is not None
        assert said.outcome.SerializeToString() == drawn.outcome
        assert drawn.launch is Launch.PLAYER
        # Spun again it is not spun again.
        again = await ana.spin(round_id)
        assert isinstance(again, roulette_pb2.SpinResponse)
        assert again.outcome == said.outcome
        assert refused(await ana.bet(round_id, {"red": 502})) == "BETTING_CLOSED"

    Stage(regulation=regulation, individual=True).tell(story)


@pytest.mark.rule("GLI-19 4.16")
def test_the_platform_launches_the_ball_for_one_who_has_left() -> None:
    """And the record says that it did, and why; so does what everybody is told."""

    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        await ana.bet(round_id, {"red": 500})
        ana.leave()
        await asyncio.sleep(1.0)
        written = stage.written(round_id)
        assert written.drawn is not None
        assert written.drawn.launch is Launch.PLATFORM_SESSION_ENDED
        assert written.ended is not None
        assert written.ended.ending is Ending.SETTLED
        assert not stage.world.ledger.running(ana.table_id)
        (said,) = stage.heard("outcome_drawn", ana.table_id)
        assert said.launch == types_pb2.LAUNCH_BY_PLATFORM_SESSION_ENDED

    Stage(individual=True).tell(story)


def test_no_ball_is_thrown_where_every_bet_was_taken_back() -> None:
    """Neither for one who leaves nor when the table moves to another process."""

    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        for player, go in ((ana, ana.leave), (rui, stage.world.current[HOUSE].leave.set)):
            round_id = await player.open_round()
            placed(await player.bet(round_id, {"red": 500}))
            assert not refused(await player.take_back(round_id))
            go()
            await asyncio.sleep(1.0)
            written = stage.written(round_id)
            assert written.drawn is None
            assert written.ended is not None
            assert (written.ended.ending, written.ended.void_reason) == (Ending.VOID, EMPTIED)
            assert stage.free_cents(player.player_id) == MONEY_CENTS
            assert not stage.heard("outcome_drawn", player.table_id)
        assert not stage.world.ledger.running(ana.table_id)

    Stage(individual=True).tell(story)


@pytest.mark.rule("GLI-19 4.16")
def test_a_player_who_launches_and_leaves_has_launched() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        await ana.bet(round_id, {"red": 500})
        launched = asyncio.create_task(ana.spin(round_id))
        stage.fate(drawn=Fate(back_s=1.0))
        await asyncio.sleep(0.1)
        ana.leave()
        assert isinstance(await launched, roulette_pb2.SpinResponse)
        drawn = stage.written(round_id).drawn
        assert drawn is not None
        assert drawn.launch is Launch.PLAYER

    Stage(individual=True).tell(story)


@pytest.mark.rule("GLI-19 4.16")
def test_at_a_table_of_many_the_clock_decides_whoever_is_there() -> None:
    """One has left and one has stayed: the round is the same, and the record says that nobody's word was needed."""

    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        round_id = await ana.open_round()
        await asyncio.gather(ana.bet(round_id, {"red": 500}), rui.bet(round_id, {"black": 500}))
        announced = closes_at(await rui.look())
        ana.leave()
        await asyncio.sleep(7.0)
        drawn = stage.written(round_id).drawn
        assert drawn is not None
        assert drawn.launch is Launch.CLOCK
        assert drawn.closed_at.timestamp() == pytest.approx(announced)
        assert [said.launch for said in stage.heard("outcome_drawn")] == [types_pb2.LAUNCH_BY_CLOCK]

    Stage().tell(story)


@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize(
    ("spins", "launch"), [(False, Launch.PLATFORM_TABLE_HANDED_OVER), (True, Launch.PLAYER)], ids=["waits", "spins"]
)
def test_at_a_table_that_is_handed_over_the_player_may_still_launch(*, spins: bool, launch: Launch) -> None:
    """If he does not do so in time, the platform does; the record says who did."""

    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"red": 500}))
        asked_at = stage.world.loop.now()
        stage.world.current[HOUSE].leave.set()
        await asyncio.sleep(LAUNCH_WITHIN_S - 1.0)
        assert stage.written(round_id).drawn is None
        if spins:
            assert isinstance(await ana.spin(round_id), roulette_pb2.SpinResponse)
        await asyncio.sleep(5.0)
        drawn = stage.written(round_id).drawn
        assert drawn is not None
        assert drawn.launch is launch
        assert spins or drawn.closed_at - asked_at >= timedelta(seconds=LAUNCH_WITHIN_S)
        assert stage.world.current[HOUSE].process.name == "mesa#2"
        (said,) = stage.heard("outcome_drawn", ana.table_id)
        assert said.launch == launch.value

    Stage(individual=True).tell(story)


@pytest.mark.rule("GLI-19 4.16", "GLI-19 2.8.2")
@pytest.mark.guarantee("G6")
def test_whoever_takes_the_table_over_tells_who_launched() -> None:
    """The platform has launched and journalled it, and dies before anybody has heard."""

    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        await ana.bet(round_id, {"red": 500})
        await ana.bet(round_id, {"17": 100})
        assert not refused(await ana.take_back(round_id, {"17": 100}))
        stage.fate(drawn=Fate(back_s=1.0))
        ana.leave()
        await asyncio.sleep(0.5)
        noted = stage.written(round_id).drawn
        assert noted is not None
        assert not stage.heard("outcome_drawn", ana.table_id)
        stage.world.current[HOUSE].process.kill()
        stage.heal()
        await asyncio.sleep(5.0)
        assert stage.written(round_id).ended is not None
        (said,) = stage.heard("outcome_drawn", ana.table_id)
        assert noted.launch is Launch.PLATFORM_SESSION_ENDED
        assert said.launch == types_pb2.LAUNCH_BY_PLATFORM_SESSION_ENDED
        assert [taken.stake.amount_cents for taken in noted.taken_back] == [100]

    Stage(individual=True).tell(story)


@pytest.mark.rule("GLI-19 2.8.2")
@pytest.mark.guarantee("G10")
def test_what_was_taken_back_is_on_record_although_the_owner_has_died() -> None:
    """Whoever takes the table over finds it in the ledger, with its time."""

    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        round_id = await ana.open_round()
        await ana.bet(round_id, {"red": 500})
        await rui.bet(round_id, {"17": 300})
        await asyncio.sleep(1.0)
        assert not refused(await rui.take_back(round_id))
        taken_at = stage.world.loop.now()
        stage.world.current[HOUSE].process.kill()
        await asyncio.sleep(5.0)
        ended = stage.written(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
        assert [stake.amount_cents for stake in ended.returned_stakes] == [500]
        (taken,) = ended.taken_back
        assert (taken.stake.player_id, taken.stake.amount_cents) == ("rui", 300)
        assert taken.stake.placed_at + timedelta(seconds=1) <= taken.taken_back_at <= taken_at
        # Nobody closed it: it took bets until its process ended.
        assert ended.closed_at is None

    Stage().tell(story)


@pytest.mark.rule("GLI-19 2.8.2")
def test_of_a_round_without_a_number_it_is_known_when_it_was_closed() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        announced = closes_at(await ana.look())
        await ana.bet(round_id, {"red": 500})
        stage.world.source_fails = True
        await asyncio.sleep(8.0)
        ended = stage.written(round_id).ended
        assert ended is not None
        assert ended.closed_at is not None
        assert ended.closed_at.timestamp() == pytest.approx(announced)

    Stage().tell(story)


# -- malfunctions ------------------------------------------------------------------------------------------------------


@both
@pytest.mark.rule(
    "804/2015:20", "804/2015:21", "807/2015:22", "807/2015:23", "903-B/2015:6.7.3", "903-B/2015:6.3.3", "GLI-19 A.6.4"
)
@pytest.mark.guarantee("G9")
def test_without_a_number_the_round_is_void_and_the_game_switched_off(regulation: str) -> None:
    """Vector A7 of the rulebook: stakes of 500, 700 and 300 go back."""

    async def story(stage: Stage) -> None:
        players = await stage.open("ana", "rui", "eva")
        round_id = await players[0].open_round()
        for player, cents in zip(players, (500, 700, 300), strict=True):
            placed(await player.bet(round_id, {"red": cents}))
        stage.world.source_fails = True
        await asyncio.sleep(8.0)
        ended = stage.written(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, SOURCE_FAILED)
        assert [stage.free_cents(name) for name in ("ana", "rui", "eva")] == [MONEY_CENTS] * 3
        assert stage.stakes(round_id) == [(cents, StakeState.RETURNED) for cents in (500, 700, 300)]
        (said,) = stage.heard("round_void")
        assert said.words.pt.startswith("Ocorreu um erro")
        assert not stage.heard("outcome_drawn")
        # Of the whole game, and no other round opens.
        assert [house for house, _ in stage.world.catalogue.switches] == [None]
        assert [said.enabled for said in stage.heard("table_switched")] == [False]
        await asyncio.sleep(60.0)
        assert len(stage.heard("round_opened")) == 1

    Stage(regulation=regulation).tell(story)


@both
@pytest.mark.rule("804/2015:20", "807/2015:22", "903-B/2015:6.7.5")
@pytest.mark.guarantee("G4", "G6")
def test_a_number_that_was_journalled_stands(regulation: str) -> None:
    """Vector A8 of the rulebook: 8 is persisted, the server dies before anybody has seen it."""

    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        stage.world.ball_falls_into = [_pocket(stage, "8")]
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"8": 100}))
        stage.fate(drawn=Fate(back_s=1.0))
        await asyncio.sleep(5.2)
        assert stage.written(round_id).drawn is not None
        stage.world.current[HOUSE].process.kill()
        stage.heal()
        await asyncio.sleep(5.0)
        assert stage.free_cents("ana") == MONEY_CENTS + 3_500
        (drawn,) = [said for said in stage.heard("outcome_drawn") if said.round_id == round_id]
        assert drawn.outcome.value == stage.written(round_id).drawn.outcome  # type: ignore[union-attr]

    Stage(regulation=regulation).tell(story)


@pytest.mark.guarantee("G3", "G4")
def test_a_settlement_whose_answer_is_lost_pays_once() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        stage.world.ball_falls_into = [_pocket(stage, "17")]
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"17": 100}))
        stage.fate(SettleRound=Fate(answer_lost=True, arrives_again_after_s=12.0))
        await asyncio.sleep(20.0)
        assert stage.free_cents("ana") == MONEY_CENTS + 3_500
        assert stage.written(round_id).ended is None
        stage.heal()
        await asyncio.sleep(8.0)
        assert stage.free_cents("ana") == MONEY_CENTS + 3_500
        assert stage.written(round_id).ended is not None

    Stage().tell(story)


@pytest.mark.guarantee("G9")
def test_a_player_who_may_not_be_given_credits_stops_nobody_else() -> None:
    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        # On a zero low and high both lose.
        stage.world.ball_falls_into = [_pocket(stage, "0")]
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"low": 50_000, "high": 50_000}))
        (account,) = (a for a in stage.world.ledger.accounts.values() if a.player_id == "ana")
        account.blocked = True
        await asyncio.sleep(7.0)
        assert account.free_cents == 0
        assert await rui.open_round() != round_id
        assert stage.world.current[HOUSE].process.name == "mesa#1"

    Stage(demo=True).tell(story)


# -- rules and switches ------------------------------------------------------------------------------------------------


@pytest.mark.rule("903-B/2015:6.1.5")
def test_rules_never_change_under_a_round() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        dearer = types_pb2.TableConfiguration()
        dearer.CopyFrom(stage.made)
        dearer.rules.Pack(roulette_pb2.SpecificRules(wheel=roulette_pb2.WHEEL_FRENCH, minimum_cents=1_000))
        dearer.betting_window_ms = 9_000
        stage.world.catalogue.configure(HOUSE, dearer)
        placed(await ana.bet(round_id, {"red": 100}))
        await asyncio.sleep(6.0)
        assert stage.written(round_id).opened.configuration_version == 1
        assert stage.written(round_id).drawn is not None
        after = await ana.open_round()
        assert stage.written(after).opened.configuration_version == 2
        assert refused(await ana.bet(after, {"red": 100})) == "BELOW_MINIMUM"

    Stage().tell(story)


@pytest.mark.rule("903-B/2015:6.3.1")
def test_a_table_that_is_switched_off_finishes_its_round() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"red": 500}))
        stage.world.catalogue.switch(HOUSE, "maintenance")
        placed(await ana.bet(round_id, {"black": 502}))
        await asyncio.sleep(30.0)
        ended = stage.written(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        seen = await ana.look()
        assert seen is not None
        assert (seen.phase, seen.disabled_reason) == (types_pb2.PHASE_DISABLED, "maintenance")
        assert len(stage.heard("round_opened")) == 1
        stage.world.catalogue.switch(HOUSE, None)
        assert await ana.open_round() != round_id
        assert [said.enabled for said in stage.heard("table_switched")] == [False, True]

    Stage().tell(story)


# -- owners ------------------------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G4", "G8", "G9")
@pytest.mark.parametrize("individual", [False, True])
def test_a_table_that_is_handed_over_finishes_its_round(*, individual: bool) -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"red": 500}))
        stage.world.current[HOUSE].leave.set()
        await asyncio.sleep(LAUNCH_WITHIN_S + 5.0)
        ended = stage.written(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        assert await ana.open_round() != round_id
        assert stage.world.current[HOUSE].process.name == "mesa#2"

    Stage(individual=individual).tell(story)


@pytest.mark.guarantee("G11")
def test_nothing_that_happens_meanwhile_holds_up_a_table_that_is_handed_over() -> None:
    """Whatever wakes the table before the ball is launched, it is launched when it was to be."""

    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"red": 500}))
        stage.world.current[HOUSE].leave.set()
        await asyncio.sleep(LAUNCH_WITHIN_S - 1.0)
        stage.world.catalogue.switch(HOUSE, "maintenance")
        await asyncio.sleep(1.5)
        ended = stage.written(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    Stage(individual=True).tell(story)


@pytest.mark.guarantee("G8")
def test_a_former_owner_changes_nothing() -> None:
    """He goes on as if he were alone: his bets, his draw and his settlement come to nothing."""

    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"red": 500}))
        former = stage.world.current[HOUSE]
        stage.world.start_owner(HOUSE)
        await asyncio.sleep(0.5)
        ended = stage.written(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
        stage.world.current[HOUSE], latter = former, stage.world.current[HOUSE]
        assert await ana.bet(round_id, {"black": 500}) is None or refused(await ana.bet(round_id, {"black": 500}))
        stage.world.current[HOUSE] = latter
        await asyncio.sleep(10.0)
        assert former.overtaken
        assert stage.stakes(round_id) == [(500, StakeState.RETURNED)]

    Stage().tell(story)


@pytest.mark.guarantee("G8")
def test_a_bet_that_arrives_after_its_sender_has_died_is_shut_out() -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        round_id = await ana.open_round()
        stage.fate(PlaceStakes=Fate(request_lost=True, arrives_again_after_s=1.5))
        ana.patience_s = 0.2
        assert await ana.bet(round_id, {"red": 500}) is None
        stage.world.taken_over_after_s = 0.5
        stage.world.current[HOUSE].process.kill()
        stage.heal()
        await asyncio.sleep(5.0)
        assert not stage.stakes(round_id)
        assert stage.free_cents("ana") == MONEY_CENTS

    Stage().tell(story)


def test_nobody_sits_on_at_a_table_who_left_while_it_was_taken_over() -> None:
    """His leaving is heard of after the sessions were read and before the table stands."""

    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        stage.world.current[HOUSE].process.kill()
        stage.fate(ListTableSessions=Fate(back_s=1.0))
        stage.world.start_owner(HOUSE)
        await asyncio.sleep(0.5)
        ana.leave()
        await asyncio.sleep(3.0)
        seen = await rui.look()
        assert seen is not None
        assert seen.seated == 1

    Stage().tell(story)


def test_a_click_on_enter_that_is_repeated_after_leaving_seats_nobody() -> None:
    """The wallet gives its first answer again, and that says that the session runs."""

    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        (entered,) = (command for command in stage.world.commands if command.player_id == "ana")
        ana.leave()
        await asyncio.sleep(1.0)
        request = table_pb2.EnterTableRequest(request_id=entered.request_id, table_id=HOUSE)
        await stage.world.ask(stage.world.current[HOUSE], lambda owner: owner.hall.enter("ana", request))
        seen = await rui.look()
        assert seen is not None
        assert seen.seated == 1

    Stage().tell(story)
