"""The round journal in memory, and how each process reaches it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.entries import (
    CommandUsed,
    Drawn,
    DrawnOutcome,
    Ended,
    Ending,
    JournalStake,
    LatestDeal,
    Moved,
    Opened,
    Paid,
    UnfinishedRound,
)
from services.kit.table.journal.history import RoundRecord
from services.kit.table.journal.seats import KeptSeat, SeatTaken
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
    moves: list[Moved] = field(default_factory=list)
    paid: list[Paid] = field(default_factory=list)

    @property
    def outcome(self) -> bytes | None:
        """The outcome: with the ending, of a round in which players decided."""
        if self.ended is not None and self.ended.outcome is not None:
            return self.ended.outcome
        return None if self.drawn is None else self.drawn.outcome

    @property
    def stakes(self) -> list[JournalStake]:
        """The stakes as far as they are written, those of decisions after those of the deal."""
        dealt = [] if self.drawn is None else [*self.drawn.stakes]
        decided = [move.stake for move in self.moves if move.stake is not None]
        returned = [] if self.ended is None else self.ended.returned_stakes
        known = {stake.stake_id for stake in (*dealt, *decided)}
        return [*dealt, *decided, *(stake for stake in returned if stake.stake_id not in known)]

    def copy(self) -> RoundEntries:
        return replace(self, moves=list(self.moves), paid=list(self.paid))


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
        self.seats: dict[tuple[str, int], KeptSeat] = {}
        """The seats that are taken, by table and number."""
        self.lineups: dict[str, bytes] = {}
        """What tables with caves have kept of their lineups, by table."""

    def backup(self) -> JournalBackup:
        return JournalBackup({round_id: each.copy() for round_id, each in self.rounds.items()}, dict(self.epochs))

    def restore(self, backup: JournalBackup) -> None:
        """Goes back to what was written when the backup was made."""
        self.rounds = {round_id: each.copy() for round_id, each in backup.rounds.items()}
        self.epochs = dict(backup.epochs)

    def take_seat(self, placement_id: str, table_id: str, epoch: int, seat: KeptSeat) -> None:
        self._fence(epoch, placement_id)
        for (of_table, number), held in self.seats.items():
            if of_table == table_id and (number == seat.seat) != (held.player_id == seat.player_id):
                raise SeatTaken(f"seat {seat.seat} of {table_id} cannot be {seat.player_id}'s")
        if (held := self.seats.setdefault((table_id, seat.seat), seat)).session_id != seat.session_id:
            raise SeatTaken(f"seat {seat.seat} of {table_id} is another session's")

    def leave_seat(self, placement_id: str, table_id: str, epoch: int, number: int, session_id: str) -> None:
        self._fence(epoch, placement_id)
        held = self.seats.get((table_id, number))
        if held is not None and held.session_id == session_id:
            del self.seats[table_id, number]

    def keep_lineup(self, placement_id: str, table_id: str, epoch: int, state: bytes) -> None:
        self._fence(epoch, placement_id)
        self.lineups[table_id] = state

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
            written = entries.drawn
            if (written.entropy, written.outcome, written.shoe) != (entry.entropy, entry.outcome, entry.shoe):
                raise Contradiction(f"G6: {entry.round_id} has another outcome")
            return
        if entries.ended is not None:
            raise Contradiction(f"G6: {entry.round_id} has ended without an outcome")
        if entry.cards_taken:
            self._verify_shoe(entries.opened, entry)
        entries.drawn = entry

    def _verify_shoe(self, opened: Opened, entry: Drawn) -> None:
        """Refuses a shoe that the round before has not left like that, as the database does."""
        before = self._deals(opened.table_id, below=opened.number)[-1:]
        for earlier in before:
            drawn = earlier.drawn
            assert drawn is not None
            if (
                drawn.drawn_in == entry.drawn_in
                and drawn.entropy == entry.entropy
                and drawn.cards_taken < entry.cards_taken
                and earlier.opened.configuration_version == opened.configuration_version
            ):
                return
        raise Contradiction(f"G6: {entry.round_id} is dealt from a shoe that the round before has not left like that")

    def _deals(self, table_id: str, *, below: float = math.inf) -> list[RoundEntries]:
        """Returns the rounds of a table for which something was drawn, in their order."""
        drawn = [
            entries
            for entries in self.rounds.values()
            if entries.opened.table_id == table_id and entries.drawn is not None and entries.opened.number < below
        ]
        return sorted(drawn, key=lambda entries: entries.opened.number)

    def latest_deal(self, table_id: str) -> LatestDeal | None:
        deals = self._deals(table_id)
        if not deals:
            return None
        latest = deals[-1]
        assert latest.drawn is not None
        numbers = [each.opened.number for each in self.rounds.values() if each.opened.table_id == table_id]
        return LatestDeal(
            latest.opened,
            latest.drawn,
            tuple(latest.moves),
            None if latest.ended is None else latest.ended.ending,
            latest.outcome,
            sum(number > latest.opened.number for number in numbers),
        )

    def write_moved(self, epoch: int, entry: Moved) -> None:
        entries = self._round(epoch, entry.round_id)
        if entry.position <= len(entries.moves):
            if replace(entries.moves[entry.position - 1], moved_at=entry.moved_at) != entry:
                raise Contradiction(f"G6: {entry.round_id} has another decision {entry.position}")
            return
        if entries.drawn is None or entries.drawn.outcome is not None:
            raise Contradiction(f"G6: there is nothing to decide in {entry.round_id}")
        if entries.ended is not None:
            raise Contradiction(f"G4: {entry.round_id} has ended")
        if entry.position != len(entries.moves) + 1:
            raise Contradiction(f"G10: {entry.round_id} lacks the decision before {entry.position}")
        if entry.stake is None and entry.command_id and self.has_command(entry.command_id):
            raise CommandUsed
        entries.moves.append(entry)

    def write_paid(self, epoch: int, entry: Paid) -> None:
        entries = self._round(epoch, entry.round_id)
        paid = {stake_id: (cents, each.position) for each in entries.paid for stake_id, cents in each.payouts}
        new = [(stake_id, cents) for stake_id, cents in entry.payouts if stake_id not in paid]
        repeated = [(stake_id, (cents, entry.position)) for stake_id, cents in entry.payouts if stake_id in paid]
        if any(paid[stake_id] != payment for stake_id, payment in repeated):
            raise Contradiction(f"G3: {entry.round_id} has paid otherwise")
        if not new:
            return
        if entries.drawn is None or entries.ended is not None or entry.position > len(entries.moves):
            raise Contradiction(f"G4: {entry.round_id} pays nothing after decision {entry.position}")
        if unknown := {stake_id for stake_id, _ in new} - {stake.stake_id for stake in entries.stakes}:
            raise Contradiction(f"G10: {entry.round_id} pays for {unknown}")
        entries.paid.append(replace(entry, payouts=new))

    def write_ended(self, epoch: int, entry: Ended) -> None:
        entries = self._round(epoch, entry.round_id)
        if entries.ended is not None:
            if entries.ended.ending != entry.ending:
                raise Contradiction(f"G4: {entry.round_id} has ended otherwise")
            return
        drawn_outcome = None if entries.drawn is None else entries.drawn.outcome
        has_outcome = entries.drawn is not None and (drawn_outcome or entry.outcome) is not None
        other_outcome = drawn_outcome is not None and entry.outcome not in {None, drawn_outcome}
        if (entry.ending is Ending.SETTLED) != has_outcome or other_outcome:
            raise Contradiction(f"G6: {entry.round_id} cannot end as {entry.ending.name}")
        paid = {stake_id: cents for each in entries.paid for stake_id, cents in each.payouts}
        if any(paid.get(stake_id, cents) != cents for stake_id, cents in entry.payouts):
            raise Contradiction(f"G3: {entry.round_id} has paid otherwise")
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
            UnfinishedRound(entries.opened, entries.drawn, tuple(entries.moves), tuple(entries.paid))
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
        settled = [(drawn, self.rounds[drawn.round_id]) for drawn, _ in self.settled_rounds(table_id)[:count]]
        return [
            DrawnOutcome(drawn.round_id, drawn.drawn_at, entries.outcome or b"", entries.opened.configuration_version)
            for drawn, entries in settled
        ]

    def has_command(self, command_id: str) -> bool:
        return any(
            command_id in {moved.command_id for moved in entries.moves} | {stake.stake_id for stake in entries.stakes}
            for entries in self.rounds.values()
        )

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
        return [] if entries is None else entries.stakes

    def record(self, round_id: str) -> RoundRecord | None:
        """Returns everything about a round."""
        entries = self.rounds.get(round_id)
        if entries is None:
            return None
        record = RoundRecord(entries.opened, entries.drawn, entries.ended, tuple(entries.moves), tuple(entries.paid))
        drawn, opened = entries.drawn, entries.opened
        if drawn is None or drawn.shoe is None:
            return record
        deals = self._deals(opened.table_id)
        other_since = any(
            each.opened.number > opened.number and each.drawn is not None and each.drawn.drawn_in != drawn.drawn_in
            for each in deals
        )
        earlier = self._deals(opened.table_id, below=opened.number) if drawn.cards_taken else []
        before = None if not earlier else self.record(earlier[-1].opened.round_id)
        return replace(record, before=before, shoe_goes_on=not other_since)


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

    async def write_moved(self, epoch: int, entry: Moved) -> None:
        await self._call("write_moved", lambda: self._journal.write_moved(epoch, entry), entry.round_id)

    async def write_paid(self, epoch: int, entry: Paid) -> None:
        await self._call("write_paid", lambda: self._journal.write_paid(epoch, entry), entry.round_id)

    async def write_ended(self, epoch: int, entry: Ended) -> None:
        await self._call("write_ended", lambda: self._journal.write_ended(epoch, entry), entry.round_id)

    async def unfinished_rounds(self, placement_id: str) -> list[UnfinishedRound]:
        return await self._call(
            "unfinished_rounds", lambda: self._journal.unfinished_rounds(placement_id), placement_id
        )

    async def past_outcomes(self, table_id: str, count: int) -> list[DrawnOutcome]:
        return await self._call("past_outcomes", lambda: self._journal.past_outcomes(table_id, count), table_id)

    async def has_command(self, command_id: str) -> bool:
        return await self._call("has_command", lambda: self._journal.has_command(command_id), command_id)

    async def last_round_number(self, table_id: str) -> int:
        return await self._call("last_round_number", lambda: self._journal.last_round_number(table_id), table_id)

    async def latest_deal(self, table_id: str) -> LatestDeal | None:
        return await self._call("latest_deal", lambda: self._journal.latest_deal(table_id), table_id)

    async def last_bets(self, table_id: str, player_id: str) -> list[bytes]:
        return await self._call("last_bets", lambda: self._journal.last_bets(table_id, player_id), table_id)

    async def round_for_replay(self, round_id: str) -> RoundRecord | None:
        return await self.read_round(round_id)

    async def read_round(self, round_id: str) -> RoundRecord | None:
        return await self._call("read_round", lambda: self._journal.record(round_id), round_id)


class ReplicaSeats:
    """Implements `SeatStore` for one process."""

    def __init__(self, process: Process, network: Network, journal: InMemoryJournal) -> None:
        self._process = process
        self._network = network
        self._journal = journal

    async def _call(self, method: str, handle: Callable[[], _T], about: str) -> _T:
        return await self._network.call(self._process, "journal", method, handle, about=about, timeout_s=None)

    async def take(self, placement_id: str, table_id: str, epoch: int, seat: KeptSeat) -> None:
        await self._call(
            "take_seat", lambda: self._journal.take_seat(placement_id, table_id, epoch, seat), f"{table_id} {seat.seat}"
        )

    async def leave(
        self,
        placement_id: str,
        table_id: str,
        epoch: int,
        seat: int,
        session_id: str,
        at: datetime,
    ) -> None:
        await self._call(
            "leave_seat",
            lambda: self._journal.leave_seat(placement_id, table_id, epoch, seat, session_id),
            f"{table_id} {seat}",
        )

    async def of_table(self, table_id: str) -> list[KeptSeat]:
        return await self._call(
            "seats", lambda: [seat for (of, _), seat in sorted(self._journal.seats.items()) if of == table_id], table_id
        )

    async def keep_lineup(
        self,
        placement_id: str,
        table_id: str,
        epoch: int,
        state: bytes,
        at: datetime,
    ) -> None:
        await self._call(
            "keep_lineup", lambda: self._journal.keep_lineup(placement_id, table_id, epoch, state), table_id
        )

    async def lineup(self, table_id: str) -> bytes:
        return await self._call("lineup", lambda: self._journal.lineups.get(table_id, b""), table_id)
