"""The wallet in memory with the pools of tournaments and tickets: the real service and the real decisions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from types import SimpleNamespace
from typing import Any, TypeAlias, TypeVar, cast
from uuid import UUID

from google.protobuf.message import Message

from feltro.wallet.v1 import ticket_pb2, tournament_pb2, types_pb2, wallet_pb2
from services.kit.clock import Clock
from services.kit.wire_format import timestamp
from services.wallet.ledger import commands
from services.wallet.ledger.book import Awarded
from services.wallet.ledger.commands import Command
from services.wallet.ledger.messages import ticket_message
from services.wallet.model import refusals
from services.wallet.model.state import AccountKind, Mode, PayIn, Play, Ticket
from services.wallet.server.tournament_service import TournamentMoneyService, award_message
from tests.simulation.environment.wallet import PAGE_SIZE, InMemoryWallet, _run

GAME = "poker"
_ListRequest: TypeAlias = (
    tournament_pb2.ListTournamentPayInsRequest
    | tournament_pb2.ListTournamentAwardsRequest
    | ticket_pb2.ListTicketsRequest
)
_Page = TypeVar(
    "_Page",
    tournament_pb2.ListTournamentPayInsResponse,
    tournament_pb2.ListTournamentAwardsResponse,
    ticket_pb2.ListTicketsResponse,
)


@dataclass(frozen=True, slots=True)
class StoredPayIn:
    """A payment into a tournament, and when it was made."""

    paid: PayIn
    at: datetime


@dataclass(frozen=True, slots=True)
class StoredAward:
    """An award, the request that paid it, and when."""

    request_id: str
    awarded: Awarded
    at: datetime


class PoolWallet(InMemoryWallet):
    """The wallet in memory, for tournaments alone."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(GAME, clock, lambda _: None)
        self.pay_ins: list[StoredPayIn] = []
        self.awards: list[StoredAward] = []
        self._pay_in_requests: dict[int, str] = {}
        self.overlay_cents = self.shortfall_cents = 0
        self.book.ticket_keys = ((no, str(UUID(int=no))) for no in itertools.count(1))
        self._tournaments = TournamentMoneyService(cast("Any", None), cast("Any", self))

    def pages(self, request: _ListRequest, answer: type[_Page]) -> Iterator[_Page]:
        """Reads a list page by page."""
        method = type(request).__name__.removesuffix("Request")
        while True:
            page = answer.FromString(self.handle(method, request.SerializeToString()))
            yield page
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return

    def open_tournament(self, tournament_id: str) -> None:
        """Opens the table of a tournament for money, as its first owner does."""
        request = wallet_pb2.OpenTableRequest(
            table=types_pb2.TableRef(table_id=tournament_id, epoch=1),
            game=GAME,
            regulation="810/2015",
            mode=types_pb2.MODE_REAL,
            play=types_pb2.PLAY_TOURNAMENT,
        )
        self.handle("OpenTable", request.SerializeToString())

    @cached_property
    def _methods(self) -> dict[str, tuple[Callable[[bytes], Any], Callable[[Any], Message | bytes]]]:
        service, game = self._tournaments, self._game
        return super()._methods | {
            "PayIn": (tournament_pb2.PayInRequest.FromString, lambda r: _run(service.pay_in(r, game))),
            "PayOut": (tournament_pb2.PayOutRequest.FromString, lambda r: _run(service.pay_out(r, game))),
            "SettleTickets": (
                tournament_pb2.SettleTicketsRequest.FromString,
                lambda r: _run(service.settle_tickets(r, game)),
            ),
            "ListTickets": (ticket_pb2.ListTicketsRequest.FromString, self._list_tickets),
            "ListTicketChanges": (ticket_pb2.ListTicketChangesRequest.FromString, self._find_ticket),
            "RegisterTable": (wallet_pb2.RegisterTableRequest.FromString, self._register_table),
            "CloseTournament": (
                tournament_pb2.CloseTournamentRequest.FromString,
                lambda r: _run(service.close_tournament(r, game)),
            ),
            "GetTournamentMoney": (tournament_pb2.GetTournamentMoneyRequest.FromString, self._money),
            "ListTournamentPayIns": (tournament_pb2.ListTournamentPayInsRequest.FromString, self._list_pay_ins),
            "ListTournamentAwards": (tournament_pb2.ListTournamentAwardsRequest.FromString, self._list_awards),
        }

    def _open_table(self, request: wallet_pb2.OpenTableRequest) -> wallet_pb2.OpenTableResponse:
        answer = super()._open_table(request)
        table = self.tables[request.table.table_id]
        if table.play is Play.TOURNAMENT and table.pool_no is None:
            table.pool_no = self._account(f"{table.table_id}-pool", AccountKind.POOL, table.mode, None).no
            table.tickets_no = self._account(f"{table.table_id}-tickets", AccountKind.TICKETS, table.mode, None).no
        return answer

    def _register_table(self, request: wallet_pb2.RegisterTableRequest) -> wallet_pb2.RegisterTableResponse:
        """Registers a tournament to which tickets may be awarded before anybody has opened it."""
        if request.table_id not in self.tables:
            self._open_table(
                wallet_pb2.OpenTableRequest(
                    table=types_pb2.TableRef(table_id=request.table_id),
                    game=request.game,
                    regulation=request.regulation,
                    mode=request.mode,
                    play=request.play,
                )
            )
        return wallet_pb2.RegisterTableResponse()

    def _look_up(self, command: Command) -> None:
        super()._look_up(command)
        if isinstance(command, commands.PayIn):
            account = self.accounts.get(command.account_id)
            command.account_no = 0 if account is None else account.no
        if isinstance(command, commands.PayOut):
            command.account_nos = {
                award.account_id: self.accounts[award.account_id].no
                for award in command.awards
                if award.account_id in self.accounts
            }
        if isinstance(command, commands.PayOut | commands.SettleTickets):
            command.target_nos = {i: self.tables[i].no for i in command.target_ids if i in self.tables}

    def _store(self) -> None:
        book = self.book
        requests = {answered.no: answered.request_id for answered in book.new_pay_ins}
        self.pay_ins += [StoredPayIn(paid, book.now) for paid in book.new_pay_ins]
        self._pay_in_requests |= requests
        for awarded in book.awarded:
            request_id = requests.get(awarded.transfer_no) or self._paying_request
            self.awards.append(StoredAward(request_id, awarded, book.now))
        for payment in book.bank_payments:
            self.overlay_cents += payment.overlay_cents
            self.shortfall_cents += payment.shortfall_cents
        written = (book.new_pay_ins, book.awarded, book.bank_payments, book.closed_tables)
        for appended in (*written, book.new_tickets, book.ticket_changes):
            cast("list[Any]", appended).clear()
        super()._store()

    async def submit(self, key: str, submitted: list[Command]) -> Any:  # noqa: ANN401 - as in the base class
        self._paying_request = submitted[0].request_id
        return await super().submit(key, submitted)

    # -- reading -----------------------------------------------------------------------------------------------------

    def pool_cents(self, tournament_id: str) -> int:
        table = self.tables[tournament_id]
        return self.book.accounts[table.pool_no or 0].free_cents

    def balance_cents(self, player_id: str, mode: Mode = Mode.REAL) -> int:
        return self.open_account(player_id, mode).free_cents

    def tickets_cents(self, tournament_id: str) -> int:
        """What the open tickets to a tournament are worth."""
        table = self.tables[tournament_id]
        return self.book.accounts[table.tickets_no or 0].free_cents

    def tickets_to(self, tournament_id: str) -> list[Ticket]:
        """Returns the tickets to a tournament, oldest first."""
        table = self.tables[tournament_id]
        return [ticket for ticket in self.book.tickets.values() if ticket.table_no == table.no]

    def _list_tickets(self, request: ticket_pb2.ListTicketsRequest) -> ticket_pb2.ListTicketsResponse:
        table, accounts = self.tables[request.tournament_id], self.book.accounts
        found = [
            ticket_message(ticket, accounts[ticket.account_no], table)
            for ticket in self.tickets_to(request.tournament_id)
            if ticket.is_open or not request.open_only
        ]
        wanted = [ticket for ticket in found if request.account_id in {"", ticket.account_id}]
        page, token = _page(wanted, request.page_token)
        return ticket_pb2.ListTicketsResponse(tickets=page, next_page_token=token)

    def _find_ticket(self, request: ticket_pb2.ListTicketChangesRequest) -> ticket_pb2.ListTicketChangesResponse:
        """Returns a ticket as it is now, without its history."""
        ticket = self.book.tickets.get(request.ticket_id)
        if ticket is None:
            raise refusals.ticket_unknown(request.ticket_id)
        message = ticket_message(ticket, self.book.accounts[ticket.account_no], self.book.tables[ticket.table_no])
        return ticket_pb2.ListTicketChangesResponse(ticket=message)

    def _money(self, request: tournament_pb2.GetTournamentMoneyRequest) -> tournament_pb2.GetTournamentMoneyResponse:
        return tournament_pb2.GetTournamentMoneyResponse(pool_cents=self.pool_cents(request.tournament_id))

    def _list_pay_ins(
        self, request: tournament_pb2.ListTournamentPayInsRequest
    ) -> tournament_pb2.ListTournamentPayInsResponse:
        table = self.tables[request.tournament_id]
        stored = [each for each in self.pay_ins if each.paid.table_no == table.no]
        page, token = _page(stored, request.page_token)
        return tournament_pb2.ListTournamentPayInsResponse(
            pay_ins=[
                tournament_pb2.TournamentPayIn(
                    request_id=each.paid.request_id,
                    transfer_id=each.paid.no,
                    account_id=self.book.accounts[each.paid.account_no].account_id,
                    kind=each.paid.kind.value,
                    prize_cents=each.paid.prize_cents,
                    fee_cents=each.paid.fee_cents,
                    bounty_cents=each.paid.bounty_cents,
                    paid_at=timestamp(each.at),
                    refunded=each.paid.refunded,
                    ticket_id=each.paid.ticket_id or "",
                    from_freeroll=bool(each.paid.ticket_id) and self.book.tickets[each.paid.ticket_id].from_freeroll,
                )
                for each in page
            ],
            next_page_token=token,
        )

    def _list_awards(
        self, request: tournament_pb2.ListTournamentAwardsRequest
    ) -> tournament_pb2.ListTournamentAwardsResponse:
        table = self.tables[request.tournament_id]
        stored = [each for each in self.awards if each.awarded.table_no == table.no]
        page, token = _page(stored, request.page_token)
        return tournament_pb2.ListTournamentAwardsResponse(
            awards=[
                tournament_pb2.TournamentAward(
                    request_id=each.request_id,
                    transfer_id=each.awarded.transfer_no,
                    award=self._award(each.awarded),
                    paid_at=timestamp(each.at),
                    ticket_id="" if each.awarded.ticket is None else each.awarded.ticket.ticket_id,
                    ticket_state=ticket_pb2.TicketState.ValueType(each.awarded.ticket_state or 0),
                )
                for each in page
            ],
            next_page_token=token,
        )

    def _award(self, awarded: Awarded) -> tournament_pb2.Award:
        """Returns an award as it was asked for."""
        ticket = awarded.ticket
        row = SimpleNamespace(
            account_id=self.book.accounts[awarded.account_no].account_id,
            reason=awarded.reason,
            amount_cents=awarded.amount_cents,
            refunded_request_id=self._pay_in_requests.get(awarded.refunded_no or 0),
            ticket_id=None if ticket is None else ticket.ticket_id,
            ticket_state=awarded.ticket_state,
            from_freeroll=None if ticket is None else ticket.from_freeroll,
            target_id=None if ticket is None else self.book.tables[ticket.table_no].table_id,
        )
        return award_message(cast("Any", row))


def _page(stored: list[Any], token: str) -> tuple[list[Any], str]:
    first = int(token or 0)
    following = first + PAGE_SIZE
    return stored[first:following], str(following) if following < len(stored) else ""
