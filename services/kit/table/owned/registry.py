"""Finds the table that a call is about among all that one process runs of its game, and passes sessions on to it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Generic

import nats.errors
from google.protobuf.message import DecodeError
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.access.identity import Caller
from services.kit.bus.subjects import FACTS_STREAM, sessions_subject, stored_subject
from services.kit.table import refusals
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, Outcome
from services.kit.table.live.dependencies import RuntimeDependencies
from services.kit.table.live.kinds import TableGroup
from services.kit.table.live.table import LiveTable
from services.kit.table.owned.entering import Admission
from services.kit.table.owned.owned_tables import OwnedTables
from services.kit.table.refusals import TableRefused

# Who may see every table.
_SEES_ALL = frozenset({"operator", "game"})

_log = logging.getLogger(__name__)


class TableRegistry(Generic[Bets, Outcome]):
    """The owned tables of one process, by placement."""

    def __init__(
        self,
        dependencies: RuntimeDependencies[Bets, Outcome],
        placement_ids: Callable[[], frozenset[str]],
        address_of: Callable[[str], str | None],
        open_tournament: Callable[[str], TableGroup[Bets, Outcome]] | None = None,
        verify_not_over: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`placement_ids` are all of the game; `address_of` says where another process runs one of them.

        Where the game has tournaments, `open_tournament` creates the tables of one, and `verify_not_over` refuses calls
        to those of a tournament that is over.
        """
        self._dependencies = dependencies
        self._placement_ids = placement_ids
        self._address_of = address_of
        self._open_tournament = open_tournament
        self._verify_not_over = verify_not_over
        self._owned: dict[str, TableGroup[Bets, Outcome]] = {}
        self._admission = Admission(dependencies)

    def open_group(self, placement_id: str) -> TableGroup[Bets, Outcome]:
        """Creates the tables of a placement that this process now owns."""
        if self._open_tournament is not None and self._play_of(placement_id) == wallet_types.PLAY_TOURNAMENT:
            owned_tables = self._open_tournament(placement_id)
        else:
            owned_tables = OwnedTables(placement_id, self._dependencies)
        self._owned[placement_id] = owned_tables
        return owned_tables

    def _play_of(self, placement_id: str) -> wallet_types.Play.ValueType:
        return self._dependencies.catalogue.rules_in_force(placement_id).configuration.play

    def wake(self) -> None:
        """Has every table look at configurations and switches again."""
        for owned_tables in self._owned.values():
            owned_tables.wake()

    def seated_counts(self) -> dict[str, int]:
        """Returns how many players sit at the tables of each placement of this process."""
        return {placement_id: owned_tables.seated_count for placement_id, owned_tables in self._owned.items()}

    def placement_id_of(self, table_id: str) -> str:
        """Returns the placement of a table: the id itself, or the part before the last hyphen.

        Of a player's own table and of a table of a tournament the rest says which one of the placement's it is.
        """
        placement_ids = self._placement_ids()
        if table_id in placement_ids:
            return table_id
        prefix = table_id.rpartition("-")[0]
        if prefix in placement_ids:
            return prefix
        raise refusals.table_unknown(table_id)

    def verify_visible(self, table_id: str, caller: Caller) -> None:
        """Refuses a player's own table to everybody else, like one that does not exist (G7).

        Nothing is looked up: neither the answer nor the time that it takes shows whether there is such a table.
        """
        placement_id = self.placement_id_of(table_id)
        is_shared = table_id == placement_id or self._play_of(placement_id) == wallet_types.PLAY_TOURNAMENT
        if not is_shared and not caller.scopes & _SEES_ALL and not self._is_own(table_id, caller):
            raise refusals.individual_table_unknown(table_id)

    def _is_own(self, table_id: str, caller: Caller) -> bool:
        """Whether this is the individual table of the player who calls."""
        placement_id = self.placement_id_of(table_id)
        player_id = caller.player_id
        return player_id is not None and table_id == self._dependencies.individual_ids.table_id(placement_id, player_id)

    def owned_tables_of(self, table_id: str) -> TableGroup[Bets, Outcome]:
        """Returns the owned tables that a table belongs to; refused if another process runs it."""
        placement_id = self.placement_id_of(table_id)
        # Nobody runs them ever again: the caller need not look for an owner.
        self._verify_not_over(placement_id)
        owned_tables = self._owned.get(placement_id)
        if owned_tables is not None and owned_tables.ready.is_set():
            if owned_tables.contains(table_id):
                return owned_tables
            raise refusals.table_unknown(table_id)
        raise TableRefused(
            "TABLE_ELSEWHERE",
            "Another process runs the table, or it is just changing hands: ask there, or again in a moment.",
            table_id=table_id,
            address=self._address_of(placement_id) or "",
        )

    async def table(self, table_id: str, caller: Caller) -> LiveTable[Bets, Outcome]:
        """Returns a table that the caller may see, and opens it first if it is not open."""
        self.verify_visible(table_id, caller)
        try:
            return await self.owned_tables_of(table_id).table(table_id)
        except TableRefused as refused:
            if refused.reason == "TABLE_UNKNOWN" and self._is_own(table_id, caller):
                # The player has left it, and it is closed meanwhile.
                raise refusals.not_seated(table_id) from None
            raise

    async def void_unreadable_round(self, table_id: str, round_id: str, reason: str) -> bool:
        """Makes a dealt round void whose cards cannot be read; returns false if there is no such round at the table."""
        return round_id.rpartition(".")[0] == table_id and await self.owned_tables_of(table_id).void_unreadable_round(
            round_id, reason
        )

    def rules_in_force(self, table_id: str, caller: Caller) -> VersionedRules[Bets, Outcome]:
        """Returns the specific rules by which a table of this process plays, whether anybody sits there or not.

        Of another player's own table, those that its configured table has now: a round there may have older ones.
        """
        owned_tables = self.owned_tables_of(table_id)
        table = owned_tables.tables().get(table_id)
        try:
            self.verify_visible(table_id, caller)
        except TableRefused:
            table = None
        if table is None:
            return self._dependencies.catalogue.rules_in_force(owned_tables.placement_id)
        return table.current_rules

    def configured_rules(self, table_id: str) -> VersionedRules[Bets, Outcome]:
        """Returns the specific rules in force for a table of the game, whichever process runs it."""
        return self._dependencies.catalogue.rules_in_force(self.placement_id_of(table_id))

    async def rules_of_version(self, placement_id: str, version: int) -> VersionedRules[Bets, Outcome]:
        """Returns the specific rules of one version, such as the one that a round was opened under."""
        return await self._dependencies.catalogue.rules_of_version(placement_id, version)

    async def enter(
        self, player_id: str, request: table_pb2.EnterTableRequest
    ) -> tuple[LiveTable[Bets, Outcome], session_pb2.StartSessionResponse]:
        """Seats a player, and returns their table and session."""
        return await self._admission.enter(self.owned_tables_of(request.table_id), player_id, request)

    async def subscribe_to_sessions(self, bus: Nats) -> None:
        """Follows the sessions that start, move on and end in the wallet.

        What is missed while the bus is away is made up for: the wallet refuses a stake in a session that has ended, the
        end of a round says which sessions ended with it, and a new owner reads the sessions of its tables.
        """
        game = self._dependencies.game.name

        async def receive(message: Msg) -> None:
            try:
                session = wallet_events.SessionChanged.FromString(message.data).session
                owned_tables = self._owned.get(self.placement_id_of(session.table_id))
            except (DecodeError, TableRefused):
                return
            if owned_tables is not None:
                owned_tables.apply_session(session)

        try:
            await bus.subscribe(stored_subject(FACTS_STREAM, sessions_subject(game, "*")), cb=receive)
        except nats.errors.Error as failed:
            _log.warning("the subscription to sessions has failed", extra={"error": str(failed)})
