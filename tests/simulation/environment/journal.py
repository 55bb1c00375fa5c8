"""The round journal in memory, and how each process reaches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.entries import Drawn, DrawnOutcome, Ended, Ending, JournalStake, Opened, UnfinishedRound
from services.kit.table.journal.history import RoundRecord
from tests.simulation.environment.network import Network
from tests.simulation.environment.virtual_time import Process

_T = TypeVar("_T")


class Contradiction(Exception):
    """An entry says something else than what is written of its round."""


@dataclass(slots=True)
class RoundEntries:
    """The entries of one round."""

    opened: Opened
    drawn: Drawn | None = None
    ended: Ended | None = None


@dataclass(frozen=True, slots=True)
class JournalBackup:
    """What the journal held at one moment."""

    rounds: dict[str, RoundEntries]
    epochs: dict[str, int]


class InMemoryJournal:
    """Keeps every entry."""

    def __init__(self) -> None:
        self.rounds: dict[str, RoundEntries] = {}
        self.epochs: dict[str, int] = {}

    def backup(self) -> JournalBackup:
        return JournalBackup({round_id: replace(each) for round_id, each in self.rounds.items()}, dict(self.epochs))

    def restore(self, backup: JournalBackup) -> None:
        """Goes back to what was written when the backup was made."""
        self.rounds = {round_id: replace(each) for round_id, each in backup.rounds.items()}
        self.epochs = dict(backup.epochs)

    def take_ownership(self, placement_id: str) -> int:
        self.epochs[placement_id] = self.epochs.get(placement_id, 0) + 1
        return self.epochs[placement_id]

    def raise_epoch(self, placement_id: str, epoch: int, known_epoch: int) -> None:
        if self.epochs.get(placement_id) == epoch:
            self.epochs[placement_id] = max(epoch, known_epoch)

    def write_opened(self, epoch: int, entry: Opened) -> None:
        self._fence(epoch, entry.placement_id)
        entries = self.rounds.setdefault(entry.round_id, RoundEntries(entry))
        if (entries.opened.table_id, entries.opened.number, entries.opened.configuration_version) != (
            entry.table_id,
            entry.number,
            entry.configuration_version,
        ):
            raise Contradiction(f"{entry.round_id} was opened otherwise")

    def write_drawn(self, epoch: int, entry: Drawn) -> None:
        entries = self._round(epoch, entry.round_id)
        if entries.drawn is not None:
            if (entries.drawn.entropy, entries.drawn.outcome) != (entry.entropy, entry.outcome):
                raise Contradiction(f"G6: {entry.round_id} has another outcome")
            return
        if entries.ended is not None:
            raise Contradiction(f"G6: {entry.round_id} has ended without an outcome")
        entries.drawn = entry

    def write_ended(self, epoch: int, entry: Ended) -> None:
        entries = self._round(epoch, entry.round_id)
        if entries.ended is not None:
            if entries.ended.ending != entry.ending:
                raise Contradiction(f"G4: {entry.round_id} has ended otherwise")
            return
        if (entry.ending is Ending.SETTLED) != (entries.drawn is not None):
            raise Contradiction(f"G6: {entry.round_id} cannot end as {entry.ending.name}")
        entries.ended = entry

    def _round(self, epoch: int, round_id: str) -> RoundEntries:
        entries = self.rounds.get(round_id)
        if entries is None:
            raise Contradiction(f"{round_id} was never opened")
        self._fence(epoch, entries.opened.placement_id)
        return entries

    def _fence(self, epoch: int, placement_id: str) -> None:
        if self.epochs.get(placement_id) != epoch:
            raise StaleOwner

    def unfinished_rounds(self, placement_id: str) -> list[UnfinishedRound]:
        return [
            UnfinishedRound(entries.opened, entries.drawn)
            for entries in self.rounds.values()
            if entries.opened.placement_id == placement_id and entries.ended is None
        ]

    def settled_rounds(self, table_id: str) -> list[tuple[Drawn, Ended]]:
        """Returns the settled rounds of a table, newest first."""
        settled = [
            (entries.drawn, entries.ended)
            for entries in self.rounds.values()
            if entries.opened.table_id == table_id and entries.drawn is not None and entries.ended is not None
        ]
        return settled[::-1]

    def past_outcomes(self, table_id: str, count: int) -> list[DrawnOutcome]:
        return [
            DrawnOutcome(
                drawn.round_id,
                drawn.drawn_at,
                drawn.outcome,
                self.rounds[drawn.round_id].opened.configuration_version,
            )
            for drawn, _ in self.settled_rounds(table_id)[:count]
        ]

    def last_round_number(self, table_id: str) -> int:
        numbers = [entries.opened.number for entries in self.rounds.values() if entries.opened.table_id == table_id]
        return max(numbers, default=0)

    def last_bets(self, table_id: str, player_id: str) -> list[bytes]:
        for drawn, _ in self.settled_rounds(table_id):
            if bets := [stake.bets for stake in drawn.stakes if stake.player_id == player_id]:
                return bets
        return []

    def stakes_of(self, round_id: str) -> list[JournalStake]:
        """Returns the stakes of a round, as far as they are written."""
        entries = self.rounds.get(round_id)
        if entries is None:
            return []
        if entries.drawn is not None:
            return list(entries.drawn.stakes)
        return [] if entries.ended is None else list(entries.ended.returned_stakes)

    def record(self, round_id: str) -> RoundRecord | None:
        """Returns everything about a round."""
        entries = self.rounds.get(round_id)
        return None if entries is None else RoundRecord(entries.opened, entries.drawn, entries.ended)


class ReplicaJournal:
    """Implements `Journal` for one process, which waits as long as it takes."""

    def __init__(self, process: Process, network: Network, journal: InMemoryJournal) -> None:
        self._process = process
        self._network = network
        self._journal = journal

    async def _call(self, method: str, handle: Callable[[], _T], about: str) -> _T:
        return await self._network.call(self._process, "journal", method, handle, about=about, timeout_s=None)

    async def take_ownership(self, placement_id: str) -> int:
        return await self._call("take_ownership", lambda: self._journal.take_ownership(placement_id), placement_id)

    async def raise_epoch(self, placement_id: str, epoch: int, known_epoch: int) -> None:
        await self._call(
            "raise_epoch", lambda: self._journal.raise_epoch(placement_id, epoch, known_epoch), placement_id
        )

    async def write_opened(self, epoch: int, entry: Opened) -> None:
        await self._call("write_opened", lambda: self._journal.write_opened(epoch, entry), entry.round_id)

    async def write_drawn(self, epoch: int, entry: Drawn) -> None:
        await self._call("write_drawn", lambda: self._journal.write_drawn(epoch, entry), entry.round_id)

    async def write_ended(self, epoch: int, entry: Ended) -> None:
        await self._call("write_ended", lambda: self._journal.write_ended(epoch, entry), entry.round_id)

    async def unfinished_rounds(self, placement_id: str) -> list[UnfinishedRound]:
        return await self._call(
            "unfinished_rounds", lambda: self._journal.unfinished_rounds(placement_id), placement_id
        )

    async def past_outcomes(self, table_id: str, count: int) -> list[DrawnOutcome]:
        return await self._call("past_outcomes", lambda: self._journal.past_outcomes(table_id, count), table_id)

    async def last_round_number(self, table_id: str) -> int:
        return await self._call("last_round_number", lambda: self._journal.last_round_number(table_id), table_id)

    async def last_bets(self, table_id: str, player_id: str) -> list[bytes]:
        return await self._call("last_bets", lambda: self._journal.last_bets(table_id, player_id), table_id)

    async def read_round(self, round_id: str) -> RoundRecord | None:
        return await self._call("read_round", lambda: self._journal.record(round_id), round_id)
