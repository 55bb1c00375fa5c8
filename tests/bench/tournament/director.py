"""A director alone: its tables end each hand at once by lot, and what it writes and pays is real.

Beside it the floor of the same run: its facts written again one after the other, without a tournament.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping

import uvloop
from google.protobuf.message import Message

from services.kit import background
from services.kit.supervision import prepare_memory
from services.kit.table.chips.seam import Destination, HandToPlay, SeatedPlayer
from services.poker.directing.director import TournamentDirector
from services.poker.messages import Brought, Outcome
from services.poker.tournament.levels import Level
from services.poker.tournament.specific_rules import TournamentRules
from tests.bench.poker.bots import BenchPoker
from tests.bench.tables import phases
from tests.bench.tables.runtime import BenchTables, bench_tables
from tests.bench.tournament import opening
from tests.simulation.tournaments.environment import drawn_outcome

TOURNAMENT_ID, FLOOR_ID = "director", "floor"
SEATS, SEED = 9, 810


class LotTables:
    """Implements `seam.ChipTables`: tables that end every hand as soon as it is ordered."""

    def __init__(self, director: TournamentDirector, rules: TournamentRules) -> None:
        self.done: Counter[str] = Counter()
        self._director = director
        self._rules = rules
        self._reports: set[asyncio.Task[None]] = set()

    async def open(self, number: int) -> LotTable:
        return LotTable(self, number)

    def end_hand(self, number: int, hand: HandToPlay) -> None:
        self.done["hands"] += 1
        outcome = drawn_outcome(random.Random(f"{SEED} {hand.number}"), self._rules, hand)
        report = asyncio.create_task(self._director.hand_ended(number, hand.number, outcome))
        self._reports.add(report)
        report.add_done_callback(self._reports.discard)

    async def close(self) -> None:
        await background.cancel_and_wait(list(self._reports))


class LotTable:
    """Implements `seam.ChipTable`."""

    def __init__(self, tables: LotTables, number: int) -> None:
        self._tables = tables
        self._number = number

    async def seat(self, seat: int, player: SeatedPlayer) -> None:
        """Seats nobody."""

    async def stand(self, seat: int, moved_to: Destination | None = None) -> None:
        if moved_to is not None:
            self._tables.done["moves"] += 1

    def mark(self, seat: int, *, away: bool) -> None:
        """Marks nobody."""

    def show(self, chips: Mapping[int, int], notice: Message | None) -> None:
        """Shows nothing."""

    async def play(self, hand: HandToPlay) -> None:
        self._tables.end_hand(self._number, hand)

    async def hold(self, why: str) -> None:
        """Begins no hand."""

    async def close(self) -> None:
        """Is closed."""


def ratios(players: int) -> dict[str, float]:
    """Compares registrations, facts and moves of a director with bare writes of as many facts."""
    # As in the service.
    prepare_memory()
    return uvloop.run(_ratios(players))


async def _ratios(players: int) -> dict[str, float]:
    async with (
        phases.running_servers() as servers,
        bench_tables(BenchPoker(), servers.postgres, servers.nats_url, servers.wallet) as tables,
    ):
        return await _measure(tables, players)


async def _measure(tables: BenchTables[Brought, Outcome], count: int) -> dict[str, float]:
    rules = opening.rules_when_full(count, seats=SEATS, levels=(Level(50, 100, 86_400),))
    director = opening.director_of(tables, TOURNAMENT_ID, opening.configuration(rules))
    lot = LotTables(director, rules)
    players = [f"d-{number}" for number in range(count)]
    await opening.open_accounts(tables, players)
    epoch = await tables.journal.take_ownership(TOURNAMENT_ID)
    directing = asyncio.create_task(director.run(lot, epoch))
    await director.ready.wait()
    # The last one begins the tournament.
    began = time.perf_counter()
    await opening.register(director, players[:-1])
    registered_s = time.perf_counter() - began
    began = time.perf_counter()
    await opening.register(director, players[-1:])
    await directing
    played_s = time.perf_counter() - began
    await lot.close()
    facts = await tables.facts.facts(TOURNAMENT_ID)
    floor = await tables.journal.take_ownership(FLOOR_ID)
    began = time.perf_counter()
    for fact in facts:
        await tables.facts.write_fact(FLOOR_ID, floor, fact)
    writes = len(facts) / (time.perf_counter() - began)
    played = (len(facts) - count) / played_s
    moves, registrations = lot.done["moves"] / played_s, (count - 1) / registered_s
    print(
        f"  {count} players, one director: {registrations:.0f} registrations/s, then {played:.0f} facts/s", flush=True
    )
    print(f"      {lot.done['hands']} hands, {lot.done['moves']} moves between tables, {moves:.0f} moves/s")
    print(f"  the same facts, written and nothing else: {writes:.0f} facts/s", flush=True)
    return {
        "tournament-registrations-to-writes": registrations / writes,
        "tournament-facts-to-writes": played / writes,
        "tournament-moves-to-writes": moves / writes,
    }
