"""The kinds of tables, by what the money of a round is: stakes that are placed there, or the caves of players."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Protocol

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2
from services.kit.table.banked.settlement import Settlement
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.entries import Journal
from services.kit.table.live.dependencies import TableDependencies
from services.kit.table.live.seat_record import SeatRecord
from services.kit.table.live.shoe import OpenShoe
from services.kit.table.live.table import LiveTable
from services.kit.table.turns.resuming import ResumedRound
from services.kit.table.wallet.table_wallet import TableWallet


@dataclass(frozen=True, slots=True)
class FoundTable(Generic[Bets, Outcome]):
    """What an owner knows of a table when it opens it."""

    table_id: str
    placement_id: str
    epoch: int
    last_round_number: int
    past_outcomes: list[types_pb2.PastOutcome]
    resumed: ResumedRound[Bets, Outcome] | None
    seat_record: SeatRecord | None
    shoe: OpenShoe | None
    """One that goes on."""


class TableGroup(Protocol[Bets, Outcome]):
    """The tables of one placement, while this process owns them."""

    placement_id: str
    ready: asyncio.Event
    """Set while players are served here."""

    @property
    def seated_count(self) -> int:
        """How many players sit at these tables."""

    def tables(self) -> Mapping[str, LiveTable[Bets, Outcome]]:
        """Returns the tables that are open."""

    def contains(self, table_id: str) -> bool:
        """Whether this can be the id of a table of the group."""

    async def table(self, table_id: str) -> LiveTable[Bets, Outcome]:
        """Returns a table, and opens it first if it is not open."""

    async def table_for(self, player_id: str) -> LiveTable[Bets, Outcome]:
        """Returns the table that a player may enter; refused where players are seated otherwise."""

    async def void_unreadable_round(self, round_id: str, reason: str) -> bool:
        """Makes a dealt round void for an operator; returns false if its cards can be read, or it has ended."""

    def apply_session(self, session: session_pb2.Session) -> None:
        """Passes a session that has started, moved on or ended to its table."""

    def wake(self) -> None:
        """Has every table look at configurations and switches again."""

    async def run(
        self, announce: Callable[[int], Awaitable[None]], hand_over: asyncio.Event, lost: asyncio.Event
    ) -> None:
        """Runs the tables until they are to be handed over."""


class TableKind(Protocol[Bets, Outcome]):
    """Makes the tables of a game, and ends the rounds that former owners left there."""

    async def open_table(
        self, found: FoundTable[Bets, Outcome], dependencies: TableDependencies[Bets, Outcome]
    ) -> LiveTable[Bets, Outcome]:
        """Makes a table, which runs once its `run` is called."""

    async def settlement(self, wallet: TableWallet, journal: Journal, epoch: int) -> Settlement[Bets, Outcome]:
        """Returns what ends the rounds of a table."""

    def recovered_within(self, rules: VersionedRules[Bets, Outcome]) -> timedelta | None:
        """Returns for how long a dealt round may be interrupted, counted from when its last turn began.

        None if a next owner goes on with it however long that was.
        """


class BankedTables(Generic[Bets, Outcome]):
    """Tables whose players place stakes against the bank."""

    async def open_table(
        self, found: FoundTable[Bets, Outcome], dependencies: TableDependencies[Bets, Outcome]
    ) -> LiveTable[Bets, Outcome]:
        return LiveTable(
            found.table_id,
            found.placement_id,
            found.epoch,
            dependencies,
            last_round_number=found.last_round_number,
            past_outcomes=found.past_outcomes,
            resumed=found.resumed,
            seat_record=found.seat_record,
            shoe=found.shoe,
        )

    async def settlement(self, wallet: TableWallet, journal: Journal, epoch: int) -> Settlement[Bets, Outcome]:
        return Settlement(wallet, journal, epoch)

    def recovered_within(self, rules: VersionedRules[Bets, Outcome]) -> timedelta | None:  # noqa: ARG002 - of any rules
        return None
