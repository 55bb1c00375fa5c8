"""Lets a player enter a table: checks that there is room, finds the account, and starts the session."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic

from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import session_pb2, wallet_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.game import Bets, Outcome
from services.kit.table.live.dependencies import RuntimeDependencies
from services.kit.table.live.kinds import TableGroup
from services.kit.table.live.table import LiveTable
from services.kit.table.owned.demo_credits import refill_request
from services.kit.table.refusals import TableRefused
from services.kit.table.wallet.client import WalletUnanswered


class Admission(Generic[Bets, Outcome]):
    """Admits players to the tables of one process."""

    def __init__(self, dependencies: RuntimeDependencies[Bets, Outcome]) -> None:
        self._catalogue = dependencies.catalogue
        self._wallet = dependencies.wallet
        # Players whose session is being started, by table: each of their concurrent requests counts.
        self._entering: Counter[tuple[str, str]] = Counter()

    async def enter(
        self, owned_tables: TableGroup[Bets, Outcome], player_id: str, request: table_pb2.EnterTableRequest
    ) -> tuple[LiveTable[Bets, Outcome], session_pb2.StartSessionResponse]:
        """Seats a player, and returns their table and session."""
        table = await owned_tables.table_for(player_id)
        if table.seat_of(player_id) is None:
            self._verify_room(owned_tables.placement_id, table, player_id)
            table.want_seat(player_id, request.seat)
        with self._counted_as_entering(table.table_id, player_id):
            try:
                account_id = await self._account_id(player_id, table, request.request_id)
                started = await self._start_session(account_id, table, request)
                table.apply_session(started.session)
            except WalletUnanswered as unanswered:
                raise refusals.unavailable("The wallet does not answer") from unanswered
            finally:
                table.forget_wanted_seat(player_id)
        if table.individual:
            # An individual round opens when its player sits down, and the answer shows it.
            await table.wait_for_open_round()
        return table, started

    def _verify_room(self, placement_id: str, table: LiveTable[Bets, Outcome], player_id: str) -> None:
        """Refuses the player if they may not sit down there now.

        Players who are entering count as seated, and so do those for whom a seat is kept.
        """
        reason = self._catalogue.closed_reason(placement_id)
        if reason is not None:
            raise TableRefused("TABLE_DISABLED", "The table is closed.", table_id=placement_id, why=reason)
        if table.individual:
            return
        table.verify_admitted(player_id)
        seats = table.current_rules.configuration.seats
        entering = {entering for table_id, entering in self._entering if table_id == table.table_id}
        others = (entering | table.players_with_kept_seats()) - {player_id}
        if table.seated_count + sum(table.seat_of(other) is None for other in others) >= seats:
            raise TableRefused("TABLE_FULL", "All seats are taken.", table_id=placement_id, seats=seats)

    @contextmanager
    def _counted_as_entering(self, table_id: str, player_id: str) -> Iterator[None]:
        key = (table_id, player_id)
        self._entering[key] += 1
        try:
            yield
        finally:
            self._entering[key] -= 1
            if not self._entering[key]:
                del self._entering[key]

    async def _account_id(self, player_id: str, table: LiveTable[Bets, Outcome], request_id: str) -> str:
        """Finds the player's account; a demonstration table opens one, and refills it when it is empty."""
        mode = table.current_rules.configuration.mode
        try:
            found = await self._wallet.find_account(wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode))
        except Refused as refused:
            if refused.reason != "ACCOUNT_UNKNOWN" or mode != wallet_types.MODE_DEMO:
                raise
        else:
            enough = found.balance.free_cents >= table.current_rules.rules.minimum_cents
            if mode != wallet_types.MODE_DEMO or enough:
                return found.balance.account_id
        refill = refill_request(player_id, f"{table.table_id}:enter:{_digest(player_id, request_id)}")
        return (await self._wallet.refill_demo_account(refill)).balance.account_id

    async def _start_session(
        self, account_id: str, table: LiveTable[Bets, Outcome], request: table_pb2.EnterTableRequest
    ) -> session_pb2.StartSessionResponse:
        start = session_pb2.StartSessionRequest(
            # Of one part, which names no table: a name that the player has used at another one is refused there (G3).
            request_id=f"enter-{_digest(account_id, request.request_id)}",
            account_id=account_id,
            table_id=table.table_id,
            device=request.device,
            refuses_shared_devices=table.refuses_shared_devices,
        )
        try:
            started = await self._wallet.start_session(start)
        except Refused as refused:
            if refused.reason == "REQUEST_REUSED":
                # The wallet names its own id of the command.
                raise refusals.request_reused(request.request_id) from None
            if refused.reason == "SHARED_DEVICE":
                raise refusals.shared_device(table.table_id) from None
            if refused.reason != "SESSION_RUNNING":
                raise
            started = session_pb2.StartSessionResponse(
                session=session_pb2.Session(session_id=refused.facts["session_id"])
            )
        # The wallet repeats its first answer to a repeated request: the session may have ended since.
        current = session_pb2.GetSessionRequest(session_id=started.session.session_id)
        started.session.CopyFrom((await self._wallet.get_session(current)).session)
        return started


def _digest(*parts: str) -> str:
    """Shortens parts that together are too long for a request id."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
