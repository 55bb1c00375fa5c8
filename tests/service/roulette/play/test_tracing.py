"""A bet is followed by its trace from the call to the ledger, although many travel together."""

from __future__ import annotations

import asyncio
import json
from uuid import uuid4

from feltro.roulette.v1 import roulette_pb2
from tests.service.roulette.platform import LONG_WINDOW_MS, RouletteDriver, SeatedPlayer


async def test_each_bet_reaches_the_ledger_in_its_own_trace(room: RouletteDriver) -> None:
    table_id = await room.new_table(window_ms=LONG_WINDOW_MS)
    guests = [await room.seat_new_player(table_id) for _ in range(3)]
    round_id = await room.wait_for_open_round(guests[0])
    traces = {guest.player_id: uuid4().hex for guest in guests}

    async def bet(guest: SeatedPlayer) -> roulette_pb2.PlaceBetsResponse:
        request = roulette_pb2.PlaceBetsRequest(
            request_id=str(uuid4()),
            table_id=table_id,
            round_id=round_id,
            bets=[roulette_pb2.Bet(place="red", amount_cents=100)],
        )
        traceparent = ("traceparent", f"00-{traces[guest.player_id]}-00f067aa0ba902b7-01")
        return await room.roulette.roulette.PlaceBets(request, metadata=(*room.metadata_of(guest), traceparent))

    answers = await asyncio.gather(*(bet(guest) for guest in guests))

    told = [json.loads(line) for line in room.platform.wallet.log.read_text().splitlines() if '"a stake"' in line]
    by_trace = {line["trace_id"]: (line["stake_id"], line["refused"]) for line in told if "trace_id" in line}
    for guest, answer in zip(guests, answers, strict=True):
        assert by_trace[traces[guest.player_id]] == (answer.stake.stake_id, False)
