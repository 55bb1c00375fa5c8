"""`make bench-games`, engines: rounds of each game per second without any runtime, from fresh entropy to payouts."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.randomness.source import Randomness, draw
from services.kit.table.game import Bets, Outcome, StakeOnTable
from tests.bench.tables.games import BenchGame

# The games take turns, so that a busy machine slows all of them.
TURNS = 5


def rounds_per_s(games: Sequence[BenchGame[Any, Any]], seconds: float) -> dict[str, float]:
    """Returns the rounds of each game per second, each round with one bet of every player of a table."""
    players = {game.name: round_player(game) for game in games}
    counts, spent = dict.fromkeys(players, 0), dict.fromkeys(players, 0.0)
    for _ in range(TURNS):
        for name, play_round in players.items():
            started = time.process_time()
            while (took := time.process_time() - started) < seconds / TURNS:
                play_round()
                counts[name] += 1
            spent[name] += took
    rates = {name: counts[name] / spent[name] for name in players}
    for name, rate in rates.items():
        print(f"  engine of {name:<48}{rate:>9.0f} rounds/s of CPU time", flush=True)
    return rates


def round_player(game: BenchGame[Bets, Outcome]) -> Callable[[], None]:
    """Returns what plays one round of a full table: deals, decides for everybody, and computes every payout."""
    rules = game.game.rules(game.configuration(wallet_types.PLAY_MULTI_PLAYER))
    randomness = Randomness()
    next_bets = {seat: game.bets_of(rules, seat, random.Random(seat)) for seat in range(1, game.players + 1)}

    def play_round() -> None:
        stakes = [StakeOnTable(f"bet {seat}", seat, bets()) for seat, bets in next_bets.items()]
        dealt, _ = draw(randomness, lambda tape: rules.deal(stakes, tape))
        decided = 0
        while (turn := dealt.turn) is not None:
            seat = turn.seats[0]
            move = game.decide(dealt, seat)
            dealt.judge(seat, move)
            decided += 1
            dealt = dealt.after(seat, move, f"decision {decided}")
        outcome = dealt.outcome
        for stake in stakes:
            rules.payout_cents(outcome, stake.bets)

    return play_round
