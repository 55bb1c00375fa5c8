"""Events name the stakes of bets, so that a player's clients recognise their own ones and others learn nothing."""

from __future__ import annotations

import asyncio
import re

import pytest

from feltro.roulette.v1 import roulette_pb2
from tests.simulation.scenario import Scenario, placed_stake, refusal_reason


def test_events_carry_the_stake_id_of_the_answer() -> None:
    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        answers = await asyncio.gather(
            ana.bet(round_id, {"red": 500}), rui.bet(round_id, {"red": 500}), ana.bet(round_id, {"red": 502})
        )
        await asyncio.sleep(0.1)
        stake_ids = [placed_stake(answer).stake_id for answer in answers]
        seats = [event.seat for event in scenario.published("bets_placed")]
        assert [event.stake_id for event in scenario.published("bets_placed")] == stake_ids
        assert seats == [1, 2, 1]

    Scenario().run(script)


def test_a_stake_of_which_a_part_is_taken_back_keeps_its_id() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        stake_id = placed_stake(await ana.bet(round_id, {"red": 500})).stake_id
        answer = await ana.cancel_bets(round_id, {"red": 200})
        assert isinstance(answer, roulette_pb2.CancelBetsResponse)
        (reduced,) = answer.reduced_stakes
        assert (reduced.stake_id, reduced.amount_cents, not answer.cancelled_stake_ids) == (stake_id, 300, True)
        await asyncio.sleep(0.1)
        (cancelled,) = scenario.published("bets_cancelled")
        assert (cancelled.stake_id, cancelled.amount_cents, cancelled.remaining_cents) == (stake_id, 200, 300)
        remaining = roulette_pb2.Bets()
        assert cancelled.remaining_bets.Unpack(remaining)
        assert remaining == reduced.bets
        # Nothing is placed anew.
        assert len(scenario.published("bets_placed")) == 1
        (stored,) = scenario.world.wallet.stakes_of(round_id)
        assert (stored.stake.stake_id, stored.stake.open_cents) == (stake_id, 300)
        assert not refusal_reason(await ana.cancel_bets(round_id))
        await asyncio.sleep(0.1)
        _, rest = scenario.published("bets_cancelled")
        assert (rest.stake_id, rest.amount_cents, rest.HasField("remaining_bets")) == (stake_id, 300, False)

    Scenario().run(script)


@pytest.mark.guarantee("G7")
def test_g7_a_stake_id_shows_others_neither_its_player_nor_a_refused_bet() -> None:
    """A plain count would have a gap where the wallet has refused a bet."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui", cents=1_000)
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 100}))
        assert refusal_reason(await rui.bet(round_id, {"red": 1_200})) == "INSUFFICIENT_FUNDS"
        placed_stake(await ana.bet(round_id, {"red": 200}))
        await asyncio.sleep(0.1)
        stake_ids = [event.stake_id for event in scenario.published("bets_placed")]
        assert len(set(stake_ids)) == 2
        assert all(re.fullmatch(r"[0-9a-f]{32}", stake_id) for stake_id in stake_ids)
        secrets = [
            *(command.request_id for command in scenario.world.commands),
            *(session.session_id for session in scenario.world.wallet.running_sessions(ana.table_id)),
            *scenario.world.wallet.accounts,
        ]
        assert not any(secret in stake_id for secret in secrets for stake_id in stake_ids)

    Scenario().run(script)
