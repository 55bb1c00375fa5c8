"""The trace of a bet leads from the call to the ledger, although many bets travel together."""

from __future__ import annotations

import asyncio
import json
from uuid import uuid4

from feltro.roulette.v1 import roulette_pb2
from tests.service.game_driver import SeatedPlayer
from tests.service.roulette.platform import RouletteDriver


async def test_each_bet_reaches_the_ledger_in_its_own_trace(driver: RouletteDriver) -> None:
    table_id = await driver.new_table()
    players = [await driver.seat_new_player(table_id) for _ in range(3)]
    round_id = await driver.wait_for_open_round(players[0])
    traces = {seated_player.player_id: uuid4().hex for seated_player in players}

    async def bet(seated_player: SeatedPlayer) -> roulette_pb2.PlaceBetsResponse:
        request = roulette_pb2.PlaceBetsRequest(
            request_id=str(uuid4()),
            table_id=table_id,
            round_id=round_id,
            bets=[roulette_pb2.Bet(place="red", amount_cents=100)],
        )
        traceparent = ("traceparent", f"00-{traces[seated_player.player_id]}-00f067aa0ba902b7-01")
        return await driver.roulette.roulette.PlaceBets(
            request, metadata=(*driver.metadata_of(seated_player), traceparent)
        )

    answers = await asyncio.gather(*(bet(seated_player) for seated_player in players))

    logged = [json.loads(line) for line in driver.platform.wallet.log.read_text().splitlines() if '"a stake"' in line]
    by_trace = {line["trace_id"]: (line["stake_id"], line["refused"]) for line in logged if "trace_id" in line}
    for seated_player, answer in zip(players, answers, strict=True):
        assert by_trace[traces[seated_player.player_id]] == (answer.stake.stake_id, False)
