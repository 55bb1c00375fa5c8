"""One decision at a poker table over the gateway: from a player's click to the answer and to everybody at the table.

Nobody folds and nobody raises, so that every hand has decisions of all players in each round of betting; the floor is
that of a lone bet (`tests/bench/edge_decisions.py`).
"""

from __future__ import annotations

import time

import uvloop

from stack.servers import ephemeral
from tests.bench import edge_floor
from tests.bench.edge_decisions import (
    DECISION_MS,
    TABLE_ID,
    LoneDecisions,
    Platform,
    Told,
    measured_ratios,
    prepared_platform,
    seated_players,
)
from tests.processes.poker import CAVE_MAX_CENTS, PokerProcess, configuration

PLAYERS = 6
# A hand costs a player who calls one big blind: no cave runs low.
BIG_BLIND_CENTS = CAVE_MAX_CENTS // 500
MOVE = "type.googleapis.com/feltro.poker.v1.Move"


class PokerHands(LoneDecisions):
    """Hands in which everybody stays in."""

    async def play(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        while True:
            event = await self.next_event("round_dealt", "move_made")
            if event.get("turn"):
                action = "ACTION_CALL" if int(event["view"]["legal"].get("to_call_cents", 0)) else "ACTION_CHECK"
                await self.decide(event["round_id"], event["turn"], f'{{"@type":"{MOVE}","action":"{action}"}}')
                if time.perf_counter() >= until:
                    return


def ratios(seconds: float) -> dict[str, float]:
    """Compares a decision with the floor of a lone bet, on a platform of its own."""
    with (
        ephemeral.postgres() as postgres,
        prepared_platform(postgres, PokerProcess) as (running, echo, owner_url),
    ):
        return uvloop.run(_ratios(running, echo, owner_url, seconds))


async def _ratios(running: Platform[PokerProcess], echo: str, owner_url: str, seconds: float) -> dict[str, float]:
    told = Told()
    async with running.game.client() as poker, edge_floor.floor(echo, owner_url) as floor:
        rules = configuration(seats=PLAYERS, decision_ms=DECISION_MS, big_blind_cents=BIG_BLIND_CENTS)
        await poker.configure(TABLE_ID, rules)
        lone = PokerHands(await seated_players(running, poker, PLAYERS, told), told, floor)
        await lone.watch()
        # The first hand begins with the second cave.
        for seat in range(1, PLAYERS + 1):
            await poker.buy_in(f"player-{seat}", TABLE_ID, CAVE_MAX_CENTS)
        return await measured_ratios("poker", lone, seconds)
