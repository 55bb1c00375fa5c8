"""The purchases of a tournament's players that are under way: one after the other for each player."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from feltro.wallet.v1 import ticket_pb2, types_pb2, wallet_pb2
from services.kit import background
from services.kit.refusal import Refused
from services.kit.table.owned.demo_credits import refill_request
from services.kit.table.wallet.table_wallet import retry_for_a_while
from services.kit.table.wallet.tournament_wallet import TournamentMoney
from services.poker.tournament.money.tickets import Ticket, TicketState

_TICKET_STATES = {
    ticket_pb2.TICKET_STATE_ISSUED: TicketState.ISSUED,
    ticket_pb2.TICKET_STATE_RETURNED: TicketState.RETURNED,
    ticket_pb2.TICKET_STATE_USED: TicketState.USED,
    ticket_pb2.TICKET_STATE_CONVERTED: TicketState.CONVERTED,
}


class Purchases:
    """What players are buying. A purchase goes on when its caller is gone: the money may be on its way."""

    def __init__(self) -> None:
        self._under_way: dict[str, asyncio.Task[bytes]] = {}
        # Set when the tournament is over, and nothing can be bought any more.
        self.over = asyncio.Event()

    async def run(self, player_id: str, buy: Callable[[], Coroutine[Any, Any, bytes]]) -> bytes:
        """Returns the answer to a purchase, which begins when the player's earlier one is done."""
        while (earlier := self._under_way.get(player_id)) is not None:
            with suppress(Exception):
                await background.shared_result(earlier)
        task = self._under_way[player_id] = asyncio.create_task(buy())
        task.add_done_callback(lambda done: self._ended(player_id, done))
        return await background.shared_result(task)

    def _ended(self, player_id: str, task: asyncio.Task[bytes]) -> None:
        if self._under_way.get(player_id) is task:
            del self._under_way[player_id]
        if not task.cancelled():
            # The caller may have stopped waiting: then nobody retrieves it.
            task.exception()

    async def wait(self) -> None:
        """Returns when no purchase is under way."""
        while self._under_way:
            await asyncio.wait(list(self._under_way.values()))

    async def close(self) -> None:
        """Ends all purchases; the next owner finds what was paid."""
        await background.cancel_and_wait(list(self._under_way.values()))


async def account_of(
    wallet: TournamentMoney, player_id: str, mode: types_pb2.Mode.ValueType, price_cents: int, request_id: str
) -> str:
    """Returns a player's account; one for demonstration is opened, and refilled when it lacks the price."""
    request = wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode)
    try:
        found = (await retry_for_a_while(lambda: wallet.find_account(request))).balance
    except Refused as refused:
        if refused.reason != "ACCOUNT_UNKNOWN" or mode != types_pb2.MODE_DEMO:
            raise
    else:
        if mode != types_pb2.MODE_DEMO or found.free_cents >= price_cents:
            return found.account_id
    refill = refill_request(player_id, request_id)
    return (await retry_for_a_while(lambda: wallet.refill_demo_account(refill))).balance.account_id


async def ticket_for(wallet: TournamentMoney, ticket_id: str, player_id: str, account_id: str) -> Ticket:
    """Returns a ticket as the wallet has it; one of another account is another player's."""
    request = ticket_pb2.ListTicketChangesRequest(ticket_id=ticket_id, page_size=1)
    found = (await retry_for_a_while(lambda: wallet.list_ticket_changes(request))).ticket
    return Ticket(
        found.ticket_id,
        player_id if found.account_id == account_id else "",
        found.tournament_id,
        found.value_cents,
        from_freeroll=found.from_freeroll,
        won=found.won,
        state=_TICKET_STATES.get(found.state, TicketState.EXPIRED),
    )
