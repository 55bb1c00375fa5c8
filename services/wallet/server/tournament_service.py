"""`TournamentMoneyService`: checks payments into tournaments and out of them, and reads what was paid."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from feltro.wallet.v1 import ticket_pb2, types_pb2
from feltro.wallet.v1 import tournament_pb2 as pb
from services.kit.access.identity import Caller
from services.kit.command_digest import digest
from services.kit.paging import Page
from services.kit.wire_format import timestamp
from services.wallet.ledger import commands
from services.wallet.model import refusals
from services.wallet.model.state import AwardReason, PayInKind, TicketRefund, TicketSettlement, TicketState
from services.wallet.server import fields
from services.wallet.server.access import verify_game
from services.wallet.store import accounts, tournaments
from services.wallet.store.group_commit import GroupCommit
from services.wallet.store.tournaments import Tournament
from services.wallet.tickets import queries as tickets

# In one payment: the largest cancellation takes several.
AWARDS_LIMIT = 5_000
# No award is larger than what a thousand of the dearest entries bring, as no payout is.
AWARD_LIMIT_CENTS = fields.AMOUNT_LIMIT_CENTS * 1_000
# Tournaments that the tickets of one payment are for: each of them is locked (G11). A satellite has one.
TARGETS_LIMIT = 20
# A ticket is a won entry, and buys no more chips.
_PAID_BY_TICKET = frozenset({PayInKind.ENTRY, PayInKind.RE_ENTRY})
# What may become of a ticket that was not won in a freeroll: it is lost, or money (`810/2015:37`).
_SETTLEMENTS = {TicketSettlement.EXPIRE, TicketSettlement.REIMBURSE}

_Request = pb.PayInRequest | pb.PayOutRequest | pb.SettleTicketsRequest | pb.CloseTournamentRequest
_PagedRequest = pb.ListTournamentPayInsRequest | pb.ListTournamentAwardsRequest
_ReadRequest = pb.GetTournamentMoneyRequest | _PagedRequest
_ReadRows = Callable[[AsyncConnection, Tournament, int | None, int | None, int], Awaitable[Sequence[Row[Any]]]]


class TournamentMoneyService:
    """One method per rpc; tournament.proto says what each promises."""

    descriptor = pb.DESCRIPTOR.services_by_name["TournamentMoneyService"]

    def __init__(self, engine: AsyncEngine, group_commit: GroupCommit) -> None:
        self._engine = engine
        self._group_commit = group_commit

    async def pay_in(self, request: pb.PayInRequest, caller: Caller) -> bytes:
        if int(request.kind) not in {kind.value for kind in PayInKind}:
            raise refusals.invalid("kind", "has to be an entry, a re-entry, a rebuy or an add-on.")
        command = commands.PayIn(
            *_head(request, caller),
            fields.printable_id("account_id", request.account_id),
            PayInKind(request.kind),
            fields.amount_or_zero("prize_cents", request.prize_cents),
            fields.amount_or_zero("fee_cents", request.fee_cents),
            fields.amount_or_zero("bounty_cents", request.bounty_cents),
            request.ticket_id and fields.printable_id("ticket_id", request.ticket_id),
        )
        if command.ticket_id and command.kind not in _PAID_BY_TICKET:
            raise refusals.invalid("ticket_id", "pays for an entry or a re-entry alone.")
        if not command.prize_cents + command.bounty_cents:
            raise refusals.invalid("prize_cents", "or `bounty_cents` has to be above 0: what is free is not paid in.")
        if request.command_digest:
            command.digest = fields.command_digest("command_digest", request.command_digest)
        return await self._submit(command)

    async def pay_out(self, request: pb.PayOutRequest, caller: Caller) -> bytes:
        if not 0 < len(request.awards) <= AWARDS_LIMIT:
            raise refusals.invalid("awards", f"has to have 1 to {AWARDS_LIMIT} awards.")
        command = commands.PayOut(
            *_head(request, caller),
            [
                _award(f"awards[{position}]", award, request.tournament.table_id)
                for position, award in enumerate(request.awards)
            ],
            fields.amount_or_zero("overlay_cents", request.overlay_cents, AWARD_LIMIT_CENTS),
            fields.amount_or_zero("shortfall_cents", request.shortfall_cents, AWARD_LIMIT_CENTS),
        )
        if len(command.target_ids) > TARGETS_LIMIT:
            raise refusals.invalid("awards", f"may be tickets to {TARGETS_LIMIT} tournaments at most.")
        winnings = sum(award.amount_cents for award in command.awards if award.reason is not AwardReason.REFUND)
        if command.from_bank_cents > winnings:
            raise refusals.invalid(
                "overlay_cents", "and `shortfall_cents` together are at most the awards that are no refunds."
            )
        return await self._submit(command)

    async def settle_tickets(self, request: pb.SettleTicketsRequest, caller: Caller) -> bytes:
        settlement = _settlement("settlement", request.settlement, _SETTLEMENTS)
        of_freerolls = _settlement("freeroll_settlement", request.freeroll_settlement, set(TicketSettlement))
        if settlement is TicketSettlement.EXPIRE and of_freerolls is not TicketSettlement.EXPIRE:
            raise refusals.invalid("freeroll_settlement", "can be another one only where tickets are reimbursed.")
        head = _head(request, caller)
        replacement = request.replacement_tournament_id
        if (of_freerolls is TicketSettlement.REPLACE) != bool(replacement):
            raise refusals.invalid("replacement_tournament_id", "is of a replacement, and of nothing else.")
        if replacement:
            _verify_target("replacement_tournament_id", replacement, request.tournament.table_id)
        return await self._submit(commands.SettleTickets(*head, settlement, of_freerolls, replacement))

    async def close_tournament(self, request: pb.CloseTournamentRequest, caller: Caller) -> bytes:
        return await self._submit(commands.CloseTournament(*_head(request, caller)))

    async def get_tournament_money(
        self, request: pb.GetTournamentMoneyRequest, caller: Caller
    ) -> pb.GetTournamentMoneyResponse:
        # One snapshot: the sums add up to the pool while players go on paying.
        async with self._engine.connect() as connection:
            await connection.execution_options(isolation_level="REPEATABLE READ")
            found, account_no = await _find(connection, request, caller)
            sums = await tournaments.sums(connection, found, account_no)
            of_tickets = await tickets.sums(connection, found.no, account_no)
        response = pb.GetTournamentMoneyResponse(
            pool_cents=found.pool_cents,
            paid_in=[
                pb.PaidInSum(
                    kind=kind,
                    count=count,
                    prize_cents=prize,
                    fee_cents=fee,
                    bounty_cents=bounty,
                    ticket_count=ticket_count,
                    ticket_cents=ticket_cents,
                )
                for kind, count, prize, fee, bounty, ticket_count, ticket_cents in map(tuple, sums.paid_in)
            ],
            awarded=[
                pb.AwardedSum(
                    reason=reason, count=count, amount_cents=cents, ticket_count=ticket_count, ticket_cents=ticket_cents
                )
                for reason, count, cents, ticket_count, ticket_cents, _ in map(tuple, sums.awarded)
            ],
            tickets=[
                ticket_pb2.TicketSum(state=ticket_state, count=count, value_cents=cents)
                for ticket_state, count, cents in map(tuple, of_tickets)
            ],
            fees_returned_cents=sum(fees for *_, fees in sums.awarded),
            overlay_cents=sums.overlay_cents,
            shortfall_cents=sums.shortfall_cents,
            mode=types_pb2.Mode.ValueType(found.mode),
        )
        if found.closed_at is not None:
            response.closed_at.CopyFrom(timestamp(found.closed_at))
        return response

    async def list_tournament_pay_ins(
        self, request: pb.ListTournamentPayInsRequest, caller: Caller
    ) -> pb.ListTournamentPayInsResponse:
        page = await self._page(request, caller, tournaments.pay_ins, lambda row: row.transfer_no)
        return pb.ListTournamentPayInsResponse(
            pay_ins=[
                pb.TournamentPayIn(
                    request_id=row.request_id,
                    transfer_id=row.transfer_no,
                    account_id=row.account_id,
                    kind=row.kind,
                    prize_cents=row.prize_cents,
                    fee_cents=row.fee_cents,
                    bounty_cents=row.bounty_cents,
                    paid_at=timestamp(row.at),
                    refunded=row.refunded,
                    ticket_id=row.ticket_id or "",
                    from_freeroll=bool(row.from_freeroll),
                )
                for row in page.items
            ],
            next_page_token=page.next_page_token,
        )

    async def list_tournament_awards(
        self, request: pb.ListTournamentAwardsRequest, caller: Caller
    ) -> pb.ListTournamentAwardsResponse:
        page = await self._page(request, caller, tournaments.awards, lambda row: row.award_no)
        return pb.ListTournamentAwardsResponse(
            awards=[
                pb.TournamentAward(
                    request_id=row.request_id,
                    transfer_id=row.transfer_no,
                    award=award_message(row),
                    paid_at=timestamp(row.at),
                    ticket_id=row.ticket_id or "",
                    ticket_state=ticket_pb2.TicketState.ValueType(row.ticket_state or 0),
                )
                for row in page.items
            ],
            next_page_token=page.next_page_token,
        )

    async def _page(
        self, request: _PagedRequest, caller: Caller, read_rows: _ReadRows, position_of: Callable[[Row[Any]], int]
    ) -> Page[Row[Any]]:
        """Reads one page of what was paid into a tournament, or out of it."""
        wanted = fields.page_request(request)
        async with self._engine.connect() as connection:
            found, account_no = await _find(connection, request, caller)
            rows = await read_rows(connection, found, account_no, wanted.position, wanted.row_limit)
        return wanted.page([(position_of(row), row) for row in rows])

    async def _submit(self, command: commands.TournamentCommand) -> bytes:
        """Carries one command out, and returns its answer as it is stored (G3)."""
        (stored,) = await self._group_commit.submit(command.table_id, [command])
        return stored.unwrap()


def _head(request: _Request, caller: Caller) -> tuple[str, bytes, str, str, int, str]:
    """The first fields of a command: request id, digest, caller, tournament, epoch and the sender's game."""
    table_id, epoch = fields.table_ref("tournament", request.tournament)
    request_id = fields.id_of_table("request_id", request.request_id, table_id)
    return request_id, digest(request), caller.subject, table_id, epoch, caller.game


def _award(path: str, award: pb.Award, table_id: str) -> commands.Award:
    if int(award.reason) not in {reason.value for reason in AwardReason}:
        raise refusals.invalid(f"{path}.reason", "has to be one of those that there are.")
    refunded = award.refunded_request_id
    if (int(award.reason) == AwardReason.REFUND) != bool(refunded):
        raise refusals.invalid(f"{path}.refunded_request_id", "is of a refund, and of nothing else.")
    return commands.Award(
        fields.printable_id(f"{path}.account_id", award.account_id),
        AwardReason(award.reason),
        fields.positive_amount(f"{path}.amount_cents", award.amount_cents, AWARD_LIMIT_CENTS),
        refunded and fields.printable_id(f"{path}.refunded_request_id", refunded),
        *_ticket_of(path, award, table_id),
    )


def _ticket_of(path: str, award: pb.Award, table_id: str) -> tuple[TicketRefund | None, str, bool]:
    """Returns how an award gives a ticket back, which tournament a new one is for, and whether a freeroll awards it."""
    if int(award.ticket_refund) not in {0, *TicketRefund}:
        raise refusals.invalid(f"{path}.ticket_refund", "has to be one of those that there are.")
    refund = TicketRefund(award.ticket_refund) if award.ticket_refund else None
    if refund is not None and int(award.reason) != AwardReason.REFUND:
        raise refusals.invalid(f"{path}.ticket_refund", "is of a refund, and of nothing else.")
    if (refund is TicketRefund.REPLACE) != bool(award.replacement_tournament_id):
        raise refusals.invalid(f"{path}.replacement_tournament_id", "is of a replacement, and of nothing else.")
    if refund is TicketRefund.REPLACE:
        path = f"{path}.replacement_tournament_id"
        return refund, _verify_target(path, award.replacement_tournament_id, table_id), False
    if not award.HasField("ticket"):
        return refund, "", False
    if int(award.reason) != AwardReason.PRIZE:
        raise refusals.invalid(f"{path}.ticket", "is of a prize, and of nothing else.")
    target_id = _verify_target(f"{path}.ticket.tournament_id", award.ticket.tournament_id, table_id)
    return None, target_id, award.ticket.from_freeroll


def _verify_target(path: str, target_id: str, table_id: str) -> str:
    """Returns the tournament that a ticket is for, which is another one (`810/2015:32`)."""
    if fields.bus_safe_id(path, target_id) == table_id:
        raise refusals.invalid(path, "has to be another tournament.")
    return target_id


def _settlement(field: str, value: int, allowed: set[TicketSettlement]) -> TicketSettlement:
    if value not in {settlement.value for settlement in allowed}:
        raise refusals.invalid(field, "has to be one of those that there are for such tickets.")
    return TicketSettlement(value)


def award_message(row: Row[Any]) -> pb.Award:
    """Returns an award as it was asked for."""
    award = pb.Award(
        account_id=row.account_id,
        reason=row.reason,
        amount_cents=row.amount_cents,
        refunded_request_id=row.refunded_request_id or "",
    )
    if row.ticket_id is None:
        return award
    if row.reason != AwardReason.REFUND:
        award.ticket.tournament_id, award.ticket.from_freeroll = row.target_id, row.from_freeroll
    elif row.ticket_state == TicketState.RETURNED:
        award.ticket_refund = pb.TICKET_REFUND_RETURN
    elif row.ticket_state == TicketState.REIMBURSED:
        award.ticket_refund = pb.TICKET_REFUND_CASH
    else:
        award.ticket_refund, award.replacement_tournament_id = pb.TICKET_REFUND_REPLACE, row.target_id
    return award


async def _find(connection: AsyncConnection, request: _ReadRequest, caller: Caller) -> tuple[Tournament, int | None]:
    """Returns the tournament of a request, and the number of the account that it is narrowed to."""
    table_id = fields.bus_safe_id("tournament_id", request.tournament_id)
    found = await tournaments.find(connection, table_id)
    if found is None:
        raise refusals.table_unknown(table_id)
    verify_game(caller, found.game, table_id)
    if not request.account_id:
        return found, None
    return found, (await accounts.find(connection, request.account_id)).no
