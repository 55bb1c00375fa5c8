"""Bots at live tables, in the process of the tables: the runtime is measured and not the way to it."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field

from services.kit.refusal import Refused
from services.kit.table.banked.commands import BetCommand
from services.kit.table.game import Bets, Outcome
from services.kit.table.live.table import LiveTable
from services.kit.table.seat import Seat
from tests.bench.tables.games import BenchGame
from tests.bench.tables.runtime import BenchTables

POLL_EVERY_S = 0.05
# Until all bots sit, those that do bet now and then: the session of a player who never bets would end.
BET_WHILE_SEATING_EVERY_S = 1.5


@dataclass
class BotCounts:
    """What the bots have done; latencies since they were reset."""

    everybody_sits: bool = False
    stakes: int = 0
    refused_bets: int = 0
    refused_decisions: int = 0
    bets_s: list[float] = field(default_factory=list)
    decisions_s: list[float] = field(default_factory=list)

    def reset_latencies(self) -> None:
        self.bets_s, self.decisions_s = [], []


async def signal_open_betting(table: LiveTable[Bets, Outcome], open_for_bets: asyncio.Event) -> None:
    """Wakes the bots of a table while it takes bets: bots that poll would cost more than their bets."""
    while True:
        if table.takes_bets:
            open_for_bets.set()
        else:
            open_for_bets.clear()
        await asyncio.sleep(POLL_EVERY_S)


async def bet(
    game: BenchGame[Bets, Outcome],
    table: LiveTable[Bets, Outcome],
    open_for_bets: asyncio.Event,
    player_id: str,
    chance: random.Random,
    counts: BotCounts,
) -> None:
    """Runs a bot at a multi-player table: the next bet follows as soon as the last one counts."""
    next_bets = game.bets_of(table.current_rules.rules, _seat(table, player_id).number, chance)
    made = 0
    while True:
        await open_for_bets.wait()
        round_ = table.round
        if round_ is None or not table.takes_bets:
            open_for_bets.clear()
            continue
        made += 1
        started = time.perf_counter()
        try:
            open_round, seat = table.open_round_and_seat(round_.round_id, player_id)
            await open_round.place(seat, BetCommand(f"{round_.round_id} {made}", b""), next_bets())
        except Refused:
            counts.refused_bets += 1
            # Late, or as much as the rules allow: either way this round is nearly over.
            await asyncio.sleep(POLL_EVERY_S)
            continue
        counts.stakes += 1
        counts.bets_s.append(time.perf_counter() - started)
        if not counts.everybody_sits:
            await asyncio.sleep(BET_WHILE_SEATING_EVERY_S)


async def decide(
    tables: BenchTables[Bets, Outcome], table: LiveTable[Bets, Outcome], player_id: str, counts: BotCounts
) -> None:
    """Runs the decisions of a bot, each as soon as it is asked for one."""
    questions, seat = tables.own_views.read_by(player_id), _seat(table, player_id).number
    while True:
        question = await questions.get()
        hand = table.hand
        if hand is None or hand.round_id != question.round_id:
            continue
        # Own views tell cards too, to players who are not in turn.
        turn = hand.dealt.turn
        if turn is None or seat not in turn.seats:
            continue
        move = tables.game.decide(hand.dealt, seat)
        command = BetCommand(f"{question.round_id} turn {question.turn}", b"")
        started = time.perf_counter()
        try:
            moved = await table.act(player_id, command, question.round_id, question.turn, move)
        except Refused:
            counts.refused_decisions += 1
            continue
        counts.stakes += moved.stake is not None
        counts.decisions_s.append(time.perf_counter() - started)


async def bet_and_draw(
    game: BenchGame[Bets, Outcome],
    table: LiveTable[Bets, Outcome],
    player_id: str,
    chance: random.Random,
    counts: BotCounts,
) -> None:
    """Runs a bot at an individual table without decisions: it bets, has the outcome drawn, and begins again."""
    next_bets = game.bets_of(table.current_rules.rules, _seat(table, player_id).number, chance)
    while True:
        round_id = table.next_round_id
        if not table.takes_bets:
            await asyncio.sleep(POLL_EVERY_S / 10)
            continue
        open_round, seat = table.open_round_and_seat(round_id, player_id)
        await open_round.place(seat, BetCommand(round_id, b""), next_bets())
        counts.stakes += 1
        await table.trigger_draw(player_id, round_id)


def _seat(table: LiveTable[Bets, Outcome], player_id: str) -> Seat:
    seat = table.seat_of(player_id)
    if seat is None:
        raise RuntimeError(f"{player_id} does not sit at {table.table_id}")
    return seat
