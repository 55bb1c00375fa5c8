"""Sessions counted in hands: only absence invites, a click or coming back resets, and a cave has to be filled."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta
from functools import partial

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from services.kit.table.caves.rules import Presence
from services.kit.table.journal.entries import ActedBy
from services.wallet.model.state import Session, SessionState
from tests.simulation.caves.players import CALL, CHECK, RAISE
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.seated.test_presence import handed_over, play_hand
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.scenario import TABLE_ID

ENDED = None


def session_of(scenario: PokerScenario, name: str) -> Session | None:
    """Returns a player's session; None once it has ended."""
    return next((each for each in scenario.world.wallet.running_sessions(TABLE_ID) if each.player_id == name), None)


def state_of(scenario: PokerScenario, name: str) -> tuple[SessionState, int] | None:
    session = session_of(scenario, name)
    return None if session is None else (session.state, session.missed_rounds)


@pytest.mark.rule("806/2015:70.b", "806/2015:71")
@pytest.mark.parametrize("moves", [False, True])
def test_who_is_absent_for_more_than_five_hands_is_invited_warned_and_cashed_out(moves: bool) -> None:  # noqa: FBT001 - a parameter
    """C-30: hands left to the clock, and then hands away, are counted; the table may change hands meanwhile."""

    async def script(scenario: PokerScenario) -> None:
        ana, rui, _ = await scenario.seat_players("ana", "rui", "eva")
        seen: list[tuple[SessionState, int] | None] = []
        for number in range(1, 14):
            await play_hand(scenario, number, ana, rui)
            await asyncio.sleep(0.2)
            seen.append(state_of(scenario, "eva"))
            if seen[-1] is None:
                break
            if moves and number % 3 == 0:
                await handed_over(scenario)
        # Blinds that were posted are bets: the count begins after the last of them.
        states = [each for each in seen if each is not None]
        begins = max(at for at, (_, missed) in enumerate(states) if not missed)
        counted = states[begins + 1 :]
        assert [missed for _, missed in counted] == list(range(1, len(counted) + 1))
        assert len(counted) >= 6
        assert {state for state, missed in counted if missed <= 5} == {SessionState.ACTIVE}
        assert counted[5] == (SessionState.INVITED, 6)
        # The next hand was announced as the one to bet in, and was the last.
        assert seen[-1] is ENDED
        assert len(counted) <= 7
        assert scenario.cave_cents("eva") == 0

    PokerScenario(decision_ms=5_000, entry_mode=poker_pb2.ENTRY_MODE_IMMEDIATE).run(script)


@pytest.mark.rule("806/2015:69", "806/2015:70.b")
def test_who_folds_in_person_is_never_invited() -> None:
    """A click is not the same as absence (A-25), nor is waiting for the big blind or a rest that the table grants."""

    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players("ana", "rui", "eva")
        await players[2].set_presence(Presence.RESTING)
        for number in range(1, 9):
            await play_hand(scenario, number, *players)
            await asyncio.sleep(0.1)
            assert [state_of(scenario, name) for name in ("ana", "rui", "eva")] == [(SessionState.ACTIVE, 0)] * 3

    PokerScenario().run(script)


@pytest.mark.rule("806/2015:70.b", "806/2015:71")
def test_coming_back_withdraws_the_warning() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")
        await eva.set_presence(Presence.AWAY)
        number = 0
        while (state := state_of(scenario, "eva")) is not None and state[0] is not SessionState.WARNED:
            number += 1
            await play_hand(scenario, number, ana, rui)
            await scenario.wait_until(partial(scenario.world.journal.rounds.__contains__, f"{TABLE_ID}.{number + 1}"))
        await eva.set_presence(Presence.PLAYING)
        await play_hand(scenario, number + 1, ana, rui)
        await asyncio.sleep(0.2)
        assert state_of(scenario, "eva") == (SessionState.ACTIVE, 0)

    PokerScenario().run(script)


@pytest.mark.rule("806/2015:15", "806/2015:70.a", "806/2015:71")
def test_a_cave_below_the_minimum_bet_invites_at_once_until_it_is_filled() -> None:
    """C-29: the invitation stays while others play on, also after a takeover, and filling the cave withdraws it."""

    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players("ana", "rui", "eva", cave_cents=1_000)
        first = f"{TABLE_ID}.1"
        # Two were dealt in before the third came, and go all in.
        raiser = await in_turn(*players)
        turn = await raiser.wait_for_turn()
        await raiser.prepare_act(turn, RAISE, turn.legal.max_to_cents)[1]()
        caller = await in_turn(*[each for each in players if each is not raiser])
        await caller.act(CALL)
        await scenario.wait_for_end(first)
        ended_at = scenario.now
        await asyncio.sleep(0.1)
        loser = next(each for each in (raiser, caller) if scenario.cave_cents(each.player_id) < 100)
        others = [each for each in players if each is not loser]
        assert scenario.standing(1 + players.index(loser)) == types_pb2.CAVE_STANDING_SHORT
        state = state_of(scenario, loser.player_id)
        assert state is not None
        assert state[0] is SessionState.INVITED
        session = session_of(scenario, loser.player_id)
        assert session is not None
        assert session.next_step_at is not None
        assert timedelta(seconds=44) < session.next_step_at - ended_at <= timedelta(seconds=45)
        fill_by = scenario.own_cave(loser.player_id).fill_by.ToDatetime(UTC)
        assert timedelta(seconds=89) < fill_by - ended_at <= timedelta(seconds=90)
        # The others' hands withdraw nothing, and no takeover gives more time.
        await play_hand(scenario, 2, *others)
        await handed_over(scenario)
        await play_hand(scenario, 3, *others)
        assert scenario.own_cave(loser.player_id).fill_by.ToDatetime(UTC) == fill_by
        state = state_of(scenario, loser.player_id)
        assert state is not None
        assert state[0] is SessionState.INVITED
        await loser.buy_in(1_000)
        state = state_of(scenario, loser.player_id)
        assert state is not None
        assert state[0] is SessionState.ACTIVE
        assert not scenario.own_cave(loser.player_id).HasField("fill_by")

    PokerScenario(cave_min_cents=1_000, cave_max_cents=5_000, min_players=2, rebuy_grace_s=90).run(script)


@pytest.mark.rule("806/2015:45")
def test_absent_is_not_clicked_in_the_journal_and_for_the_session() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor = await in_turn(ana, rui)
        turn = await actor.wait_for_turn()
        await actor.prepare_act(turn, CALL)[1]()
        await scenario.wait_until(lambda: len(scenario.round_entries(f"{TABLE_ID}.1").moves) >= 2)
        assert [moved.acted_by for moved in scenario.round_entries(f"{TABLE_ID}.1").moves[:2]] == [
            ActedBy.PLAYER,
            ActedBy.CLOCK,
        ]
        # Both have checked: the journal alone tells them apart.
        await actor.act(CHECK)

    PokerScenario(decision_ms=5_000).run(script)
