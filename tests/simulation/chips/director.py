"""A small director: it has each table play so many hands, and keeps what they report on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from feltro.poker.v1 import poker_pb2
from services.kit.table.chips.seam import ChipTable, ChipTables, HandToPlay, SeatedPlayer
from services.kit.table.fencing import StaleOwner
from services.poker.lineup.entry import clockwise, next_seat
from services.poker.tournament_hands import hand_ended
from tests.simulation.environment.virtual_time import Process
from tests.simulation.environment.world import World

_T = TypeVar("_T")


class Fact(NamedTuple):
    """What has happened to the tournament: a hand `ended` or `voided`, a player is `away` or `back`."""

    what: str
    table: int = 0
    number: int = 0
    outcome: bytes = b""
    player: str = ""


@dataclass(frozen=True, slots=True)
class Course:
    """What is to be played: the players of each table by seat, and how many hands."""

    players: Mapping[int, Mapping[int, str]]
    hands: int = 2
    chips: int = 1_500
    uneven: Mapping[str, int] = field(default_factory=dict)
    """Chips of players who begin with others."""
    level: int = 1


@dataclass(slots=True)
class _Table:
    chips: dict[int, int]
    hand: HandToPlay | None = None
    button: int = 0
    ended: int = 0


class SmallDirector:
    """Implements `seam.Director`; its state follows from its facts."""

    def __init__(self, tournament_id: str, world: World, process: Process, course: Course) -> None:
        self._tournament_id = tournament_id
        self._world = world
        self._process = process
        self._course = course
        self._epoch = 0
        self._numbers = 0
        self._deciding = asyncio.Lock()
        self._presence: asyncio.Queue[Fact] = asyncio.Queue()
        self._open: dict[int, ChipTable] = {}
        self.ready = asyncio.Event()
        self.away: set[str] = set()
        self.state: dict[int, _Table] = {}
        self.reported: list[Fact] = []
        """Every report of a hand, the repeated ones included."""
        world.tournaments.directors[tournament_id] = self

    async def run(self, tables: ChipTables, epoch: int) -> None:
        self._epoch = epoch
        for number, players in self._course.players.items():
            chips = {seat: self._course.uneven.get(each, self._course.chips) for seat, each in players.items()}
            self.state[number] = _Table(chips)
        for number in self.state:
            self._start_hand(number)
        for fact in await self._ask("read_facts", lambda: list(self._facts)):
            self._apply(fact)
        for number, players in self._course.players.items():
            table = self._open[number] = await tables.open(number)
            for seat, player_id in players.items():
                await table.seat(seat, SeatedPlayer(seat + 10 * number, player_id, self._account_id(player_id)))
                table.mark(seat, away=player_id in self.away)
            await self._order(number)
        self.ready.set()
        while True:
            await self._write(await self._presence.get())

    def _account_id(self, player_id: str) -> str:
        accounts = self._world.wallet.accounts.values()
        return next(each.account_id for each in accounts if each.player_id == player_id)

    # -- what tables report ------------------------------------------------------------------------------------------

    async def hand_ended(self, table: int, number: int, outcome: bytes) -> None:
        await self._report(Fact("ended", table, number, outcome))

    async def hand_voided(self, table: int, number: int) -> None:
        await self._report(Fact("voided", table, number))

    async def _report(self, fact: Fact) -> None:
        self.reported.append(fact)
        hand = self.state[fact.table].hand
        if hand is not None and hand.number == fact.number:
            await self._write(fact)

    def went_away(self, player_id: str) -> None:
        self._presence.put_nowait(Fact("away", player=player_id))

    def came_back(self, player_id: str) -> None:
        self._presence.put_nowait(Fact("back", player=player_id))

    # -- facts -------------------------------------------------------------------------------------------------------

    @property
    def _facts(self) -> list[Fact]:
        return self._world.tournaments.facts.setdefault(self._tournament_id, [])

    async def _ask(self, method: str, handle: Callable[[], _T]) -> _T:
        return await self._world.network.call(self._process, "facts", method, handle, timeout_s=None)

    async def _write(self, fact: Fact) -> None:
        """Puts a fact on record, and then does what follows from it."""

        def write() -> None:
            if self._world.journal.epochs[self._tournament_id] != self._epoch:
                raise StaleOwner
            self._facts.append(fact)

        async with self._deciding:
            await self._ask("write_fact", write)
            self._apply(fact)
            if fact.player:
                for number, players in self._course.players.items():
                    for seat, player_id in players.items():
                        if player_id == fact.player:
                            self._open[number].mark(seat, away=fact.what == "away")
            else:
                await self._order(fact.table)

    def _apply(self, fact: Fact) -> None:
        if fact.player:
            (self.away.add if fact.what == "away" else self.away.discard)(fact.player)
            return
        table = self.state[fact.table]
        hand = table.hand
        assert hand is not None
        assert hand.number == fact.number
        if fact.what == "voided":
            self._numbers += 1
            table.hand = replace(hand, number=self._numbers)
            return
        table.chips = {**table.chips, **hand_ended(fact.table, fact.number, fact.outcome).chips}
        table.hand = None
        table.ended += 1
        self._start_hand(fact.table)

    def _start_hand(self, number: int) -> None:
        table = self.state[number]
        seats = sorted(seat for seat, chips in table.chips.items() if chips)
        if table.ended >= self._course.hands or len(seats) < 2:
            return
        self._numbers += 1
        table.button = next_seat(seats, table.button)
        order = tuple(clockwise(seats, table.button))
        chips = tuple(table.chips[seat] for seat in order)
        table.hand = HandToPlay(self._numbers, order, chips, self._course.level)

    async def _order(self, number: int) -> None:
        """Has a table do what follows from the facts."""
        state, table = self.state[number], self._open[number]
        notice = poker_pb2.TournamentNotice(level=self._course.level, players_left=self._players_left())
        table.show(state.chips, notice)
        if state.hand is not None:
            await table.play(state.hand)
        else:
            await table.hold("break")

    def _players_left(self) -> int:
        return sum(chips > 0 for table in self.state.values() for chips in table.chips.values())

    def table(self, number: int) -> ChipTable:
        return self._open[number]
