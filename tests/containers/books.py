"""What must hold after any fault: every round has ended once, the money agrees with it, and so does the audit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from tests.containers.platform import Platform
from tests.containers.players import DEPOSIT_CENTS, PAUSE_S, TIMEOUT_S, Player

HAS_ENDED = {"ROUND_STATE_SETTLED", "ROUND_STATE_VOID"}


async def assert_books_are_right(platform: Platform, players: Iterable[Player]) -> None:
    """Compares what the players did with what their games, the wallet and the audit say."""
    for player in players:
        await _assert_rounds_ended_once(player)
    status, report = await asyncio.to_thread(platform.audit)
    assert status == 0, report


async def _assert_rounds_ended_once(player: Player) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            listed, balance = await player.books()
            states = {listed_round["round"]["round_id"]: listed_round["round"]["state"] for listed_round in listed}
            if set(states) >= set(player.rounds) and set(states.values()) <= HAS_ENDED:
                break
            await asyncio.sleep(PAUSE_S)
    assert sorted(states) == sorted(player.rounds)
    assert len(listed) == len(states), "a round is listed twice"
    result = sum(int(listed_round["payout_cents"]) - int(listed_round["staked_cents"]) for listed_round in listed)
    assert int(balance["locked_cents"]) == 0
    assert int(balance["free_cents"]) == DEPOSIT_CENTS + result
