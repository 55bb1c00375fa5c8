"""Bots at live tables, in the process of the tables: the runtime is measured and not the way to it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from services.kit.refusal import Refused
from services.kit.table.banked.commands import BetCommand
from services.kit.table.game import Bets, Outcome
from services.kit.table.live.table import LiveTable
from services.kit.table.seat import Seat
from tests.bench.tables.games import BenchGame
from tests.bench.tables.runtime import BenchTables

POLL_EVERY_S = 0.005


@dataclass
class BotCounts:
    """What the bots have done; latencies since they were reset."""

    stakes_per_round: int
    """How many each bot places in a round; it may change from one round to the next."""
    goes_on: bool = True
    """Whether bots of multi-player tables play another round after theirs."""
    stakes: int = 0
    refused_bets: int = 0
    refused_decisions: int = 0
    bets_s: list[float] = field(default_factory=list)
    decisions_s: list[float] = field(default_factory=list)

    def reset_latencies(self) -> None:
        self.bets_s, self.decisions_s = [], []


class TableBots(Generic[Bets, Outcome]):
    """The bots of one multi-player table: each places so many stakes in a round, and then betting closes."""

    def __init__(
        self,
        game: BenchGame[Bets, Outcome],
        table: LiveTable[Bets, Outcome],
        player_ids: Sequence[str],
        chance: random.Random,
        counts: BotCounts,
    ) -> None:
        self._table = table
        self._counts = counts
        rules = table.current_rules.rules
        self._bets = {
            player_id: game.bets_of(rules, _seat(table, player_id).number, random.Random(chance.random()))
            for player_id in player_ids
        }

    async def play(self) -> None:
        """Plays round after round: a bot's next bet follows as soon as its last one counts."""
        while self._counts.goes_on:
            await self._table.wait_for_open_round()
            round_ = self._table.round
            if round_ is None or not self._table.takes_bets:
                continue
            async with asyncio.TaskGroup() as group:
                for player_id, next_bets in self._bets.items():
                    group.create_task(self._bet(round_.round_id, player_id, next_bets))
            # By the clock of the table, which has seen them all.
            round_.closes_at = round_.opened_at
            self._table.wake()
            await asyncio.shield(round_.finished)

    async def _bet(self, round_id: str, player_id: str, next_bets: Callable[[], Bets]) -> None:
        for number in range(self._counts.stakes_per_round):
            started = time.perf_counter()
            try:
                round_, seat = self._table.open_round_and_seat(round_id, player_id)
                await round_.place(seat, BetCommand(f"{round_id} {number}", b""), next_bets())
            except Refused:
                self._counts.refused_bets += 1
                continue
            self._counts.stakes += 1
            self._counts.bets_s.append(time.perf_counter() - started)


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
            await asyncio.sleep(POLL_EVERY_S)
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
