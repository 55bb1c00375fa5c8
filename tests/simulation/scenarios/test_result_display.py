"""A result stays on show for as long as the table's rules say, also for a player who enters meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import events_pb2, types_pb2
from services.kit.refusal import Refused
from tests.engine.roulette import reference
from tests.simulation.environment.catalogue import configuration
from tests.simulation.environment.players import Player
from tests.simulation.scenario import TABLE_ID, Scenario

SHOWN_S = 8
BETS = {"red": 500, "dozen-2": 300, "17": 100}


@pytest.mark.parametrize("individual", [False, True], ids=["multi-player", "individual"])
@pytest.mark.rule("903-B/2015:6.2.3")
def test_a_result_is_shown_until_the_next_round_may_open(*, individual: bool) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, BETS)
        if individual:
            await ana.spin(round_id)
        settled = await _event(scenario, ana, "round_settled")

        number = _number((await _event(scenario, ana, "outcome_drawn")).outcome_drawn.outcome)
        (result,) = settled.round_settled.results
        assert (result.staked_cents, result.payout_cents) == (900, int(reference.payout(BETS, number)))
        announced_s = settled.round_settled.next_round_opens_at.seconds - settled.at.seconds
        assert announced_s >= SHOWN_S

        await asyncio.sleep(SHOWN_S - 0.5)
        watching = [ana]
        if not individual:
            scenario.world.deposit("rui", 1_000)
            watching.append(Player(scenario.world, "rui", TABLE_ID))
            assert await watching[-1].enter()
        for player in watching:
            snapshot = await player.get_snapshot()
            assert snapshot is not None
            assert snapshot.phase == types_pb2.PHASE_RESULT_SHOWN
            assert snapshot.next_round_opens_at == settled.round_settled.next_round_opens_at
            assert (snapshot.past_outcomes[0].round_id, _number(snapshot.past_outcomes[0].outcome)) == (
                round_id,
                number,
            )

        assert await ana.wait_for_open_round() != round_id
        opened = [event for event in scenario.events(ana.table_id) if event.WhichOneof("event") == "round_opened"][1]
        assert opened.at.ToNanoseconds() >= settled.round_settled.next_round_opens_at.ToNanoseconds()

    scenario = Scenario()
    scenario.configuration = configuration(individual=individual, result_shown_ms=SHOWN_S * 1000)
    scenario.run(script)


def test_a_player_learns_when_the_next_round_opens() -> None:
    """From the answer to the launch, and from the refusal of a bet in the round that it names."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, BETS)
        spun = await ana.spin(round_id)
        assert isinstance(spun, roulette_pb2.SpinResponse)
        refused = await ana.bet(spun.next_round_id, {"red": 700})
        assert isinstance(refused, Refused)
        opens_at = spun.next_round_opens_at
        assert (refused.reason, refused.facts["next_round_opens_at"]) == ("BETTING_CLOSED", opens_at.ToJsonString())
        opens_in_s = opens_at.ToNanoseconds() / 1e9 - scenario.world.loop.now().timestamp()
        assert 0 < opens_in_s <= SHOWN_S

        await asyncio.sleep(opens_in_s + 0.5)
        assert isinstance(await ana.bet(spun.next_round_id, {"red": 600}), roulette_pb2.PlaceBetsResponse)
        snapshot = await ana.get_snapshot()
        assert snapshot is not None
        assert not snapshot.HasField("next_round_opens_at")

    scenario = Scenario()
    scenario.configuration = configuration(individual=True, result_shown_ms=SHOWN_S * 1000)
    scenario.run(script)


async def _event(scenario: Scenario, player: Player, kind: str) -> events_pb2.TableEvent:
    """Waits for the first event of a kind at the player's table."""
    async with asyncio.timeout(60):
        while True:
            for event in scenario.events(player.table_id):
                if event.WhichOneof("event") == kind:
                    return event
            await asyncio.sleep(0.05)


def _number(packed: types_pb2.google_dot_protobuf_dot_any__pb2.Any) -> str:  # type: ignore[name-defined]
    outcome = roulette_pb2.Outcome()
    assert packed.Unpack(outcome)
    return outcome.number
