"""A table in session mode: open for a time fixed beforehand, and for players who registered beforehand (6.b)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import kept_pb2
from services.kit.table.caves.period import REGISTRATIONS_LIMIT, Period, TablePeriod
from services.kit.table.journal.entries import Ending
from services.kit.table.refusals import TableRefused
from tests.simulation.caves.game import CAVE_CENTS, configuration
from tests.simulation.caves.players import PokerPlayer
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.seated.test_caves import is_gone
from tests.simulation.caves.seated.test_presence import newcomer
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.virtual_time import STARTS_AT
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, refusal_reason

pytestmark = pytest.mark.rule("806/2015:6.b", "806/2015:2.m", "811/2015:6.b", "811/2015:2.m")

NAMES = ("ana", "rui", "eva")
BEGINS, LASTS = timedelta(minutes=1), timedelta(minutes=15)


def period(*, ends_with_hand: bool = False, begins: timedelta = BEGINS) -> poker_pb2.Period:
    made = poker_pb2.Period(ends_with_hand=ends_with_hand)
    made.begins_at.FromDatetime(STARTS_AT + begins)
    made.ends_at.FromDatetime(STARTS_AT + begins + LASTS)
    return made


async def register(scenario: PokerScenario, player: PokerPlayer) -> tuple[bool, int] | TableRefused:
    commands = scenario.world.current_owners[TABLE_ID].caves
    try:
        return await commands.register(TABLE_ID, player.caller)
    except TableRefused as refused:
        return refused


async def until(scenario: PokerScenario, after: timedelta) -> None:
    """Waits until so long after the start of the world."""
    await asyncio.sleep((STARTS_AT + after - scenario.now).total_seconds())


async def registered(scenario: PokerScenario, *names: str) -> list[PokerPlayer]:
    owner = scenario.world.open_tables(TABLE_ID, scenario.configuration)
    await owner.owned_tables.ready.wait()
    players = [newcomer(scenario, name) for name in names]
    for number, player in enumerate(players, 1):
        assert await register(scenario, player) == (True, number)
    return players


async def play_on(scenario: PokerScenario, players: list[PokerPlayer]) -> None:
    """Plays hand after hand: everybody checks or folds."""
    while True:
        for player in players:
            turn = await player.own_turn()
            if turn is not None:
                action = poker_pb2.ACTION_FOLD if turn.legal.to_call_cents else poker_pb2.ACTION_CHECK
                await player.prepare_act(turn, action)[1]()
        await asyncio.sleep(2.0)


def buttons(scenario: PokerScenario) -> list[int]:
    """Returns where the button was in each hand."""
    rounds = sorted(scenario.world.journal.rounds, key=lambda each: int(each.rpartition(".")[2]))
    return [scenario.outcome(each).view.button for each in rounds if scenario.round_entries(each).ended]


@pytest.mark.guarantee("G5")
def test_g5_a_registration_that_is_not_on_record_is_not_confirmed_and_may_be_sent_again() -> None:
    async def script(scenario: PokerScenario) -> None:
        await registered(scenario, "ana")
        rui = newcomer(scenario, "rui")
        scenario.set_deliveries(keep_lineup=Delivery(refused_at_once=True))
        refused = await register(scenario, rui)
        assert isinstance(refused, TableRefused)
        assert refused.reason == "UNAVAILABLE"
        scenario.restore_network()
        assert await register(scenario, rui) == (True, 2)
        await scenario.kill_owner()
        await scenario.world.current_owners[TABLE_ID].owned_tables.ready.wait()
        assert await register(scenario, rui) == (True, 2)

    PokerScenario(period=period()).run(script)


@pytest.mark.guarantee("G9")
def test_g9_a_period_that_is_over_closes_when_the_wallet_is_back() -> None:
    async def script(scenario: PokerScenario) -> None:
        (ana,) = await registered(scenario, "ana")
        await until(scenario, BEGINS)
        assert await ana.enter(1)
        assert not refusal_reason(await ana.buy_in(CAVE_CENTS))
        scenario.set_deliveries(EndSession=Delivery(refused_at_once=True))
        await until(scenario, BEGINS + LASTS + timedelta(minutes=2))
        assert not is_gone(scenario, "ana", STARTING_CENTS)
        scenario.restore_network()
        await scenario.wait_until(lambda: is_gone(scenario, "ana", STARTING_CENTS))

    PokerScenario(period=period()).run(script)


@pytest.mark.parametrize("dies", [False, True])
def test_only_who_registered_beforehand_may_sit_down_and_only_within_the_period(dies: bool) -> None:  # noqa: FBT001 - a parameter
    async def script(scenario: PokerScenario) -> None:
        ana, _ = await registered(scenario, "ana", "rui")
        ivo = newcomer(scenario, "ivo")
        assert refusal_reason(await ana.send_enter()) == "OUTSIDE_PERIOD"
        if dies:
            await (await scenario.kill_owner()).owned_tables.ready.wait()
        await until(scenario, BEGINS)
        assert refusal_reason(await ivo.send_enter()) == "NOT_REGISTERED_FOR_PERIOD"
        assert refusal_reason(await register(scenario, ivo)) == "PERIOD_BEGUN"
        # A repeated registration is answered as before.
        assert await register(scenario, ana) == (True, 2)
        assert await ana.enter()
        commands = scenario.world.current_owners[TABLE_ID].caves
        with pytest.raises(TableRefused) as refused:
            await commands.join_waiting_list(TABLE_ID, ivo.caller)
        assert refused.value.reason == "NOT_REGISTERED_FOR_PERIOD"
        await until(scenario, BEGINS + LASTS)
        assert refusal_reason(await newcomer(scenario, "rui").send_enter()) == "OUTSIDE_PERIOD"

    PokerScenario(period=period()).run(script)


@pytest.mark.rule("806/2015:2.s", "806/2015:67")
@pytest.mark.parametrize("ends_with_hand", [False, True])
@pytest.mark.parametrize("dies", [False, True])
def test_when_the_time_is_up_the_lap_is_completed_and_everybody_is_cashed_out(ends_with_hand: bool, dies: bool) -> None:  # noqa: FBT001 - parameters
    async def script(scenario: PokerScenario) -> None:
        players = await registered(scenario, *NAMES)
        await until(scenario, BEGINS)
        for seat, player in enumerate(players, 1):
            assert await player.enter(seat)
            await player.buy_in(CAVE_CENTS)
        playing = asyncio.create_task(play_on(scenario, players))
        if dies:
            await until(scenario, BEGINS + LASTS / 2)
            await scenario.kill_owner()
        await until(scenario, BEGINS + LASTS)
        hands = len(scenario.world.journal.rounds)
        await scenario.wait_until(lambda: not scenario.world.wallet.running_sessions(TABLE_ID), 600.0)
        playing.cancel()
        assert sum(scenario.free_cents(name) + scenario.cave_cents(name) for name in NAMES) == 3 * STARTING_CENTS
        assert not any(scenario.cave_cents(name) for name in NAMES)
        ended = [scenario.round_entries(each).ended for each in scenario.world.journal.rounds]
        assert all(each is not None and each.ending is Ending.SETTLED for each in ended)
        went = buttons(scenario)
        if ends_with_hand:
            # The hand under way was the last one.
            assert len(went) == hands
        else:
            # The button would come back to where it was in the first hand.
            assert went[-1] % len(NAMES) + 1 == went[0]
            assert len(went) - hands <= 3
        await asyncio.sleep(60)
        assert len(scenario.world.journal.rounds) == len(went)

    # Few hands, so that the run is short.
    fixed = period(ends_with_hand=ends_with_hand)
    PokerScenario(period=fixed, min_players=3, result_shown_ms=60_000, decision_ms=60_000).run(script)


def test_a_table_that_is_not_left_by_anyone_to_play_with_closes_when_the_time_is_up() -> None:
    async def script(scenario: PokerScenario) -> None:
        (ana,) = await registered(scenario, "ana")
        await until(scenario, BEGINS)
        assert await ana.enter()
        await ana.buy_in(CAVE_CENTS)
        await until(scenario, BEGINS + LASTS)
        await scenario.wait_until(lambda: is_gone(scenario, "ana", STARTING_CENTS), 5.0)

    PokerScenario(period=period()).run(script)


def test_another_period_has_registrations_of_its_own() -> None:
    async def script(scenario: PokerScenario) -> None:
        (ana,) = await registered(scenario, "ana")
        tomorrow = timedelta(days=1)
        scenario.world.catalogue.configure(TABLE_ID, configuration(period=period(begins=tomorrow)))
        await asyncio.sleep(1.0)
        await until(scenario, tomorrow)
        assert refusal_reason(await ana.send_enter()) == "NOT_REGISTERED_FOR_PERIOD"

    PokerScenario(period=period()).run(script)


def test_registrations_are_taken_back_and_bounded() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await registered(scenario, "ana", "rui")
        commands = scenario.world.current_owners[TABLE_ID].caves
        assert await commands.cancel_registration(TABLE_ID, ana.caller) == (False, 1)
        assert await commands.registration(TABLE_ID, rui.caller) == (True, 1)
        for number in range(1, REGISTRATIONS_LIMIT):
            await commands.register(TABLE_ID, PokerPlayer(scenario.world, f"player-{number}", TABLE_ID).caller)
        assert refusal_reason(await register(scenario, ana)) == "PERIOD_FULL"

    PokerScenario(period=period(begins=timedelta(hours=1))).run(script)


def test_nobody_registers_for_a_table_that_is_always_open() -> None:
    async def script(scenario: PokerScenario) -> None:
        (ana, _) = await scenario.seat_players("ana", "rui")
        assert refusal_reason(await register(scenario, ana)) == "PERIOD_BEGUN"

    PokerScenario().run(script)


@pytest.mark.rule("806/2015:2.s")
@pytest.mark.parametrize(
    ("first", "button", "following", "is_over"),
    [
        (3, 2, 3, True),
        (3, 2, 4, True),
        (3, 1, 2, False),
        (3, 5, 1, False),
        (3, 5, 3, True),
        (3, 3, 4, False),
        (3, 3, 3, True),
        (1, 6, 1, True),
        (1, 6, 2, True),
        (1, 5, 6, False),
        (3, None, 4, True),
        (3, 2, None, True),
        (0, 1, 2, True),
    ],
)
def test_a_lap_ends_where_the_first_button_was(
    first: int,
    button: int | None,
    following: int | None,
    is_over: bool,  # noqa: FBT001 - what is expected
) -> None:
    ends_at = datetime(2026, 11, 20, 21, tzinfo=UTC)
    begins_at = ends_at - timedelta(hours=1)
    table = TablePeriod("t", kept_pb2.KeptPeriod())
    table.follow(Period(begins_at, ends_at, completes_lap=True))
    table.note_button(first or None)
    assert table.is_over(ends_at, 6, button, following) is is_over
    assert not table.is_over(ends_at - timedelta(microseconds=1), 6, button, following)
