"""`TicketService`: lists tickets for their players, for operators and for the games of their tournaments."""

from typing import Any

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from feltro.wallet.v1 import ticket_pb2 as pb
from services.kit.access.identity import GAME, Caller
from services.kit.wire_format import timestamp
from services.wallet.model import refusals
from services.wallet.server import fields
from services.wallet.server.access import verify_game, verify_owner
from services.wallet.store import accounts, tournaments
from services.wallet.tickets import queries
from services.wallet.tickets.queries import TicketFilter


class TicketService:
    """One method per rpc; ticket.proto says what each promises."""

    descriptor = pb.DESCRIPTOR.services_by_name["TicketService"]

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def list_tickets(self, request: pb.ListTicketsRequest, caller: Caller) -> pb.ListTicketsResponse:
        wanted = fields.page_request(request)
        async with self._engine.connect() as connection:
            ticket_filter = TicketFilter(
                account_no=await _account_no(connection, request, caller),
                table_no=await _table_no(connection, request, caller),
                after=wanted.position,
                open_only=request.open_only,
            )
            rows = await queries.page(connection, ticket_filter, wanted.row_limit)
        page = wanted.page([(row.ticket_no, _message(row)) for row in rows])
        return pb.ListTicketsResponse(tickets=page.items, next_page_token=page.next_page_token)

    async def list_ticket_changes(
        self, request: pb.ListTicketChangesRequest, caller: Caller
    ) -> pb.ListTicketChangesResponse:
        wanted = fields.page_request(request)
        ticket_id = fields.printable_id("ticket_id", request.ticket_id)
        async with self._engine.connect() as connection:
            found = await queries.find(connection, ticket_id)
            if found is None:
                raise refusals.ticket_unknown(ticket_id)
            verify_owner(caller, found.player_id, refusals.ticket_unknown(ticket_id))
            verify_game(caller, found.game, found.tournament_id)
            rows = await queries.changes(connection, found.ticket_no, wanted.position or 0, wanted.row_limit)
        page = wanted.page([(row.number, row) for row in rows])
        return pb.ListTicketChangesResponse(
            ticket=_message(found),
            changes=[
                pb.TicketChange(
                    state=row.state, transfer_id=row.transfer_no, request_id=row.request_id, at=timestamp(row.at)
                )
                for row in page.items
            ],
            next_page_token=page.next_page_token,
        )


async def _account_no(connection: AsyncConnection, request: pb.ListTicketsRequest, caller: Caller) -> int | None:
    """Returns the account that the list is narrowed to: a player's own, or any for others."""
    if not request.account_id:
        if not request.tournament_id or caller.scopes.isdisjoint({"operator", "game"}):
            raise refusals.invalid("account_id", "has to be given.")
        return None
    found = await accounts.find(connection, request.account_id)
    verify_owner(caller, found.player_id, refusals.account_unknown(request.account_id))
    return found.no


async def _table_no(connection: AsyncConnection, request: pb.ListTicketsRequest, caller: Caller) -> int | None:
    """Returns the tournament that the list is narrowed to; a game asks for its own alone."""
    if not request.tournament_id:
        if GAME in caller.scopes:
            raise refusals.invalid("tournament_id", "has to be given.")
        return None
    table_id = fields.bus_safe_id("tournament_id", request.tournament_id)
    found = await tournaments.find(connection, table_id)
    if found is None:
        raise refusals.table_unknown(table_id)
    verify_game(caller, found.game, table_id)
    return found.no


def _message(row: Row[Any]) -> pb.Ticket:
    return pb.Ticket(
        ticket_id=row.ticket_id,
        account_id=row.account_id,
        tournament_id=row.tournament_id,
        value_cents=row.value_cents,
        from_freeroll=row.from_freeroll,
        won=row.won,
        state=row.state,
        awarded_by_tournament_id=row.awarded_by_id,
        replaced_ticket_id=row.replaced_id or "",
        issued_at=timestamp(row.issued_at),
        changed_at=timestamp(row.changed_at),
        mode=row.mode,
    )
