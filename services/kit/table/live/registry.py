"""All that one process runs of its game: which houses it has, which table a call is about, who comes and goes."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic

import nats.errors
from google.protobuf.message import DecodeError
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2, wallet_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.game import Bets, Outcome
from services.kit.table.live.dependencies import VersionedRules
from services.kit.table.live.owned_tables import DEMO_CREDITS_CENTS, OwnedTables, RuntimeDependencies
from services.kit.table.live.table import LiveTable
from services.kit.table.refusals import TableRefused
from services.kit.table.wallet.table_wallet import WalletUnanswered

_SESSIONS = "feltro.wallet.sessions"

_log = logging.getLogger(__name__)


class TableRegistry(Generic[Bets, Outcome]):
    """The houses of one process."""

    def __init__(
        self,
        dependencies: RuntimeDependencies[Bets, Outcome],
        placement_ids: Callable[[], frozenset[str]],
        address_of: Callable[[str], str | None],
    ) -> None:
        """`known` are all houses of the game; `address_of` tells where another process runs one."""
        self._resources = dependencies
        self._known = placement_ids
        self._address_of = address_of
        self._houses: dict[str, OwnedTables[Bets, Outcome]] = {}
        # Players whose session is being started, by table; several times over if they ask several times at once.
        self._coming: Counter[tuple[str, str]] = Counter()

    def open_group(self, placement_id: str) -> OwnedTables[Bets, Outcome]:
        """For placement: this process has been given the house."""
        house = self._houses[placement_id] = OwnedTables(placement_id, self._resources)
        return house

    def wake(self) -> None:
        for house in self._houses.values():
            house.wake()

    def live_tables(self) -> list[LiveTable[Bets, Outcome]]:
        return [table for house in self._houses.values() for table in house.tables().values()]

    # -- which table -------------------------------------------------------------------------------------------------

    def placement_id_of(self, table_id: str) -> str:
        """The house a table of this id stands in: itself, or of a player's own table the one it was made from."""
        known = self._known()
        if table_id in known:
            return table_id
        prefix = table_id.rpartition("-")[0]
        if prefix in known:
            return prefix
        raise TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=table_id)

    def owned_tables_of(self, table_id: str) -> OwnedTables[Bets, Outcome]:
        """The house of a table, if this process runs it."""
        placement_id = self.placement_id_of(table_id)
        house = self._houses.get(placement_id)
        if house is not None and house.ready.is_set():
            if house.contains(table_id):
                return house
            raise TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=table_id)
        raise TableRefused(
            "TABLE_ELSEWHERE",
            "Another process runs the table, or it is just changing hands: ask there, or again in a moment.",
            table_id=table_id,
            address=self._address_of(placement_id) or "",
        )

    async def table(self, table_id: str) -> LiveTable[Bets, Outcome]:
        return await self.owned_tables_of(table_id).table(table_id)

    def rules_in_force(self, table_id: str) -> VersionedRules[Bets, Outcome]:
        """The specific rules by which a table of this process plays, whether anybody sits there or not."""
        house = self.owned_tables_of(table_id)
        table = house.tables().get(table_id)
        return self._resources.catalogue.rules_in_force(house.placement_id) if table is None else table.current_rules

    # -- coming and going --------------------------------------------------------------------------------------------

    async def enter(
        self, player_id: str, request: table_pb2.EnterTableRequest
    ) -> tuple[LiveTable[Bets, Outcome], session_pb2.StartSessionResponse]:
        """Sits a player down."""
        house = self.owned_tables_of(request.table_id)
        table = await house.table_for(player_id)
        if table.seat_of(player_id) is None:
            self._verify_room(house.placement_id, table)
        with self._on_his_way(table.table_id, player_id):
            try:
                account_id = await self._account(player_id, table, request.request_id)
                started = await self._start_session(account_id, table.table_id, request)
            except WalletUnanswered as silent:
                raise refusals.unavailable("The wallet does not answer") from silent
            table.apply_session(started.session)
        if table.individual:
            # His round opens when he sits: the answer shows it.
            await table.wait_for_open_round()
        return table, started

    def _verify_room(self, placement_id: str, table: LiveTable[Bets, Outcome]) -> None:
        """Refused if nobody may sit down there now. Whoever is on his way to a seat has it already."""
        why = self._resources.catalogue.closed_reason(placement_id)
        if why is not None:
            raise TableRefused("TABLE_DISABLED", "The table is closed.", table_id=placement_id, why=why)
        if table.individual:
            return
        seats = table.current_rules.configuration.seats
        coming = [player for table_id, player in self._coming if table_id == table.table_id]
        if table.seated_count + sum(table.seat_of(player) is None for player in coming) >= seats:
            raise TableRefused("TABLE_FULL", "All seats are taken.", table_id=placement_id, seats=seats)

    @contextmanager
    def _on_his_way(self, table_id: str, player_id: str) -> Iterator[None]:
        coming = (table_id, player_id)
        self._coming[coming] += 1
        try:
            yield
        finally:
            self._coming[coming] -= 1
            if not self._coming[coming]:
                del self._coming[coming]

    async def _account(self, player_id: str, table: LiveTable[Bets, Outcome], request_id: str) -> str:
        """The player's account; at a demonstration table he is given one, and credits where he has none left."""
        wallet, configuration = self._resources.wallet, table.current_rules.configuration
        wanted = wallet_pb2.FindAccountRequest(player_id=player_id, mode=configuration.mode)
        try:
            found = await wallet.find_account(wanted)
        except Refused as refused:
            if refused.reason != "ACCOUNT_UNKNOWN" or configuration.mode != wallet_types.MODE_DEMO:
                raise
        else:
            enough = found.balance.free_cents >= table.current_rules.rules.minimum_cents
            if configuration.mode != wallet_types.MODE_DEMO or enough:
                return found.balance.account_id
        refill = wallet_pb2.RefillDemoAccountRequest(
            request_id=f"{table.table_id}:enter:{_digest(player_id, request_id)}",
            player_id=player_id,
            amount_cents=DEMO_CREDITS_CENTS,
        )
        return (await wallet.refill_demo_account(refill)).balance.account_id

    async def _start_session(
        self, account_id: str, table_id: str, request: table_pb2.EnterTableRequest
    ) -> session_pb2.StartSessionResponse:
        wallet = self._resources.wallet
        start = session_pb2.StartSessionRequest(
            request_id=f"{table_id}:enter:{_digest(account_id, request.request_id)}",
            account_id=account_id,
            table_id=table_id,
            device=request.device,
        )
        try:
            started = await wallet.start_session(start)
        except Refused as refused:
            if refused.reason != "SESSION_RUNNING":
                raise
            started = session_pb2.StartSessionResponse(
                session=session_pb2.Session(session_id=refused.facts["session_id"])
            )
        # The wallet repeats its first answer to a click that is repeated: the session may be over by now.
        now = session_pb2.GetSessionRequest(session_id=started.session.session_id)
        started.session.CopyFrom((await wallet.get_session(now)).session)
        return started

    async def subscribe_to_sessions(self, bus: Nats) -> None:
        """Hears from the wallet of sessions that start, move on and end.

        What is missed while the bus is away is made up for: a stake in a session that has ended is refused by the
        wallet, the end of a round tells which sessions ended with it, and whoever takes a table asks for its sessions.
        """

        async def heard(message: Msg) -> None:
            try:
                session = wallet_events.SessionChanged.FromString(message.data).session
                house = self._houses.get(self.placement_id_of(session.table_id))
            except (DecodeError, TableRefused):
                return
            if house is not None:
                house.apply_session(session)

        try:
            await bus.subscribe(f"{_SESSIONS}.*", cb=heard)
        except nats.errors.Error as failed:
            _log.warning("sessions cannot be heard of", extra={"error": str(failed)})


def _digest(*words: str) -> str:
    """Stands for words that together are too long for a request id."""
    return hashlib.blake2b("\0".join(words).encode(), digest_size=16).hexdigest()
