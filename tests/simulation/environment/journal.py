"""The round journal in memory: one book, and how each process reaches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from services.kit.table.journal.entries import Drawn, Ended, Ending, JournalStake, Opened, StaleOwner, UnfinishedRound
from tests.simulation.environment.network import Network
from tests.simulation.environment.virtual_time import Process

_T = TypeVar("_T")


class Contradiction(Exception):
    """The entry says something else than what is written of its round."""


@dataclass(slots=True)
class RoundEntries:
    """A round as it stands in the book."""

    opened: Opened
    drawn: Drawn | None = None
    ended: Ended | None = None


class InMemoryJournal:
    """What is written, for ever."""

    def __init__(self) -> None:
        self.rounds: dict[str, RoundEntries] = {}
        self.epochs: dict[str, int] = {}

    def take_ownership(self, placement_id: str) -> int:
        self.epochs[placement_id] = self.epochs.get(placement_id, 0) + 1
        return self.epochs[placement_id]

    def write_opened(self, epoch: int, entry: Opened) -> None:
        self._fence(epoch, entry.placement_id)
        known = self.rounds.setdefault(entry.round_id, RoundEntries(entry))
        if (known.opened.table_id, known.opened.number, known.opened.configuration_version) != (
            entry.table_id,
            entry.number,
            entry.configuration_version,
        ):
            raise Contradiction(f"{entry.round_id} was opened otherwise")

    def write_drawn(self, epoch: int, entry: Drawn) -> None:
        known = self._round(epoch, entry.round_id)
        if known.drawn is not None:
            if (known.drawn.entropy, known.drawn.outcome) != (entry.entropy, entry.outcome):
                raise Contradiction(f"G6: {entry.round_id} has another outcome")
            return
        if known.ended is not None:
            raise Contradiction(f"G6: {entry.round_id} has ended without an outcome")
        known.drawn = entry

    def write_ended(self, epoch: int, entry: Ended) -> None:
        known = self._round(epoch, entry.round_id)
        if known.ended is not None:
            if known.ended.ending != entry.ending:
                raise Contradiction(f"G4: {entry.round_id} has ended otherwise")
            return
        if (entry.ending is Ending.SETTLED) != (known.drawn is not None):
            raise Contradiction(f"G6: {entry.round_id} cannot end as {entry.ending.name}")
        known.ended = entry

    def _round(self, epoch: int, round_id: str) -> RoundEntries:
        known = self.rounds.get(round_id)
        if known is None:
            raise Contradiction(f"{round_id} was never opened")
        self._fence(epoch, known.opened.placement_id)
        return known

    def _fence(self, epoch: int, placement_id: str) -> None:
        if self.epochs.get(placement_id) != epoch:
            raise StaleOwner

    def unfinished_rounds(self, placement_id: str) -> list[UnfinishedRound]:
        return [
            UnfinishedRound(known.opened, known.drawn)
            for known in self.rounds.values()
            if known.opened.placement_id == placement_id and known.ended is None
        ]

    def settled_rounds(self, table_id: str) -> list[tuple[Drawn, Ended]]:
        """Newest first."""
        found = [
            (known.drawn, known.ended)
            for known in self.rounds.values()
            if known.opened.table_id == table_id and known.drawn is not None and known.ended is not None
        ]
        return found[::-1]

    def past_outcomes(self, table_id: str, count: int) -> list[tuple[str, datetime, bytes]]:
        return [(drawn.round_id, drawn.drawn_at, drawn.outcome) for drawn, _ in self.settled_rounds(table_id)[:count]]

    def last_round_number(self, table_id: str) -> int:
        numbers = [known.opened.number for known in self.rounds.values() if known.opened.table_id == table_id]
        return max(numbers, default=0)

    def last_bets(self, table_id: str, player_id: str) -> list[bytes]:
        for drawn, _ in self.settled_rounds(table_id):
            if mine := [stake.bets for stake in drawn.stakes if stake.player_id == player_id]:
                return mine
        return []

    def stakes_of(self, round_id: str) -> list[JournalStake]:
        """As far as they are written."""
        known = self.rounds.get(round_id)
        if known is None:
            return []
        if known.drawn is not None:
            return list(known.drawn.stakes)
        return [] if known.ended is None else list(known.ended.returned_stakes)

    def find_stake(self, round_id: str, player_id: str, request_id: str) -> JournalStake | None:
        for stake in self.stakes_of(round_id):
            if (stake.player_id, stake.request_id) == (player_id, request_id):
                return stake
        return None


class ReplicaJournal:
    """Implements `Journal` for one process: it waits for as long as it takes."""

    def __init__(self, process: Process, network: Network, journal: InMemoryJournal) -> None:
        self._process = process
        self._network = network
        self._book = journal

    async def _ask(self, what: str, act: Callable[[], _T], about: str) -> _T:
        return await self._network.call(self._process, "journal", what, act, about=about, timeout_s=None)

    async def take_ownership(self, placement_id: str) -> int:
        return await self._ask("take", lambda: self._book.take_ownership(placement_id), placement_id)

    async def write_opened(self, epoch: int, entry: Opened) -> None:
        await self._ask("opened", lambda: self._book.write_opened(epoch, entry), entry.round_id)

    async def write_drawn(self, epoch: int, entry: Drawn) -> None:
        await self._ask("drawn", lambda: self._book.write_drawn(epoch, entry), entry.round_id)

    async def write_ended(self, epoch: int, entry: Ended) -> None:
        await self._ask("ended", lambda: self._book.write_ended(epoch, entry), entry.round_id)

    async def unfinished_rounds(self, placement_id: str) -> list[UnfinishedRound]:
        return await self._ask("unfinished", lambda: self._book.unfinished_rounds(placement_id), placement_id)

    async def past_outcomes(self, table_id: str, count: int) -> list[tuple[str, datetime, bytes]]:
        return await self._ask("past", lambda: self._book.past_outcomes(table_id, count), table_id)

    async def last_round_number(self, table_id: str) -> int:
        return await self._ask("rounds_of", lambda: self._book.last_round_number(table_id), table_id)

    async def last_bets(self, table_id: str, player_id: str) -> list[bytes]:
        return await self._ask("last_bets", lambda: self._book.last_bets(table_id, player_id), table_id)

    async def find_stake(self, round_id: str, player_id: str, request_id: str) -> JournalStake | None:
        return await self._ask("placed", lambda: self._book.find_stake(round_id, player_id, request_id), round_id)
