"""The wallet of one tournament: pays in and out under one lease, and reads what was paid.

Commands carry request ids of their own, so that sending them again repeats nothing (G3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from feltro.wallet.v1 import ticket_pb2, tournament_pb2, types_pb2, wallet_pb2
from services.kit.table.wallet.client import pages
from services.kit.table.wallet.table_wallet import retry_for_a_while, retry_until_answered

PAGE_SIZE = 500


class TournamentMoney(Protocol):
    """What a tournament asks of the wallet; it fails as `Wallet` says."""

    async def open_table(self, request: wallet_pb2.OpenTableRequest) -> wallet_pb2.OpenTableResponse: ...

    async def find_account(self, request: wallet_pb2.FindAccountRequest) -> wallet_pb2.FindAccountResponse: ...

    async def refill_demo_account(
        self, request: wallet_pb2.RefillDemoAccountRequest
    ) -> wallet_pb2.RefillDemoAccountResponse: ...

    async def pay_in(self, request: tournament_pb2.PayInRequest) -> tournament_pb2.PayInResponse: ...

    async def pay_out(self, request: tournament_pb2.PayOutRequest) -> tournament_pb2.PayOutResponse: ...

    async def settle_tickets(
        self, request: tournament_pb2.SettleTicketsRequest
    ) -> tournament_pb2.SettleTicketsResponse: ...

    async def list_tickets(self, request: ticket_pb2.ListTicketsRequest) -> ticket_pb2.ListTicketsResponse: ...

    async def list_ticket_changes(
        self, request: ticket_pb2.ListTicketChangesRequest
    ) -> ticket_pb2.ListTicketChangesResponse: ...

    async def close_tournament(
        self, request: tournament_pb2.CloseTournamentRequest
    ) -> tournament_pb2.CloseTournamentResponse: ...

    async def get_tournament_money(
        self, request: tournament_pb2.GetTournamentMoneyRequest
    ) -> tournament_pb2.GetTournamentMoneyResponse: ...

    async def list_tournament_pay_ins(
        self, request: tournament_pb2.ListTournamentPayInsRequest
    ) -> tournament_pb2.ListTournamentPayInsResponse: ...

    async def list_tournament_awards(
        self, request: tournament_pb2.ListTournamentAwardsRequest
    ) -> tournament_pb2.ListTournamentAwardsResponse: ...


class TournamentWallet:
    """Calls the wallet for one tournament under one lease, until it answers."""

    def __init__(self, wallet: TournamentMoney, tournament_id: str, epoch: int) -> None:
        self.wallet = wallet
        self._id = tournament_id
        self._ref = types_pb2.TableRef(table_id=tournament_id, epoch=epoch)

    async def open(self, game: str, regulation: str, mode: types_pb2.Mode.ValueType) -> None:
        """Declares the tournament and its owner: from now on the wallet refuses earlier ones (G8)."""
        request = wallet_pb2.OpenTableRequest(
            table=self._ref, game=game, regulation=regulation, mode=mode, play=types_pb2.PLAY_TOURNAMENT
        )
        await retry_until_answered(lambda: self.wallet.open_table(request))

    async def pay_in(
        self,
        request_id: str,
        account_id: str,
        kind: tournament_pb2.PayInKind.ValueType,
        price: tuple[int, int, int],
        command_digest: bytes,
        ticket_id: str = "",
    ) -> None:
        """Takes a price in its parts for prizes, for the operator and for bounties: from an account, or by a ticket."""
        prize_cents, fee_cents, bounty_cents = price
        request = tournament_pb2.PayInRequest(
            request_id=request_id,
            tournament=self._ref,
            account_id=account_id,
            kind=kind,
            prize_cents=prize_cents,
            fee_cents=fee_cents,
            bounty_cents=bounty_cents,
            command_digest=command_digest,
            ticket_id=ticket_id,
        )
        await retry_until_answered(lambda: self.wallet.pay_in(request))

    async def pay_out(
        self, request_id: str, awards: Sequence[tournament_pb2.Award], overlay_cents: int, shortfall_cents: int
    ) -> tournament_pb2.PayOutResponse:
        """Pays awards, and returns what is in the pool afterwards and what became of tickets."""
        request = tournament_pb2.PayOutRequest(
            request_id=request_id,
            tournament=self._ref,
            awards=awards,
            overlay_cents=overlay_cents,
            shortfall_cents=shortfall_cents,
        )
        return await retry_until_answered(lambda: self.wallet.pay_out(request))

    async def settle_tickets(
        self,
        batch: int,
        settlement: tournament_pb2.TicketSettlement.ValueType,
        freeroll_settlement: tournament_pb2.TicketSettlement.ValueType,
        replacement_tournament_id: str = "",
    ) -> tournament_pb2.SettleTicketsResponse:
        """Ends a batch of open tickets to this tournament; the batches count from 0, and go on while more are open."""
        request = tournament_pb2.SettleTicketsRequest(
            request_id=f"{self._id}:tickets:{batch}",
            tournament=self._ref,
            settlement=settlement,
            freeroll_settlement=freeroll_settlement,
            replacement_tournament_id=replacement_tournament_id,
        )
        return await retry_until_answered(lambda: self.wallet.settle_tickets(request))

    async def tickets(self) -> list[ticket_pb2.Ticket]:
        """Returns all tickets to this tournament, oldest first."""

        async def get_page(request: ticket_pb2.ListTicketsRequest) -> ticket_pb2.ListTicketsResponse:
            return await retry_for_a_while(lambda: self.wallet.list_tickets(request))

        request = ticket_pb2.ListTicketsRequest(tournament_id=self._id, page_size=PAGE_SIZE)
        return [ticket async for page in pages(get_page, request) for ticket in page.tickets]

    async def close(self) -> None:
        """Closes a tournament whose pool is empty; one that is closed stays as it is."""
        request = tournament_pb2.CloseTournamentRequest(request_id=f"{self._id}:close", tournament=self._ref)
        await retry_until_answered(lambda: self.wallet.close_tournament(request))

    async def money(self) -> tournament_pb2.GetTournamentMoneyResponse:
        request = tournament_pb2.GetTournamentMoneyRequest(tournament_id=self._id)
        return await retry_for_a_while(lambda: self.wallet.get_tournament_money(request))

    async def pay_ins(self) -> list[tournament_pb2.TournamentPayIn]:
        """Returns what was paid in, oldest first."""

        async def get_page(
            request: tournament_pb2.ListTournamentPayInsRequest,
        ) -> tournament_pb2.ListTournamentPayInsResponse:
            return await retry_until_answered(lambda: self.wallet.list_tournament_pay_ins(request))

        request = tournament_pb2.ListTournamentPayInsRequest(tournament_id=self._id, page_size=PAGE_SIZE)
        return [paid async for page in pages(get_page, request) for paid in page.pay_ins]

    async def paid_out(self) -> set[str]:
        """Returns the requests by which awards were paid."""
        return {paid.request_id for paid in await self.awards()}

    async def awards(self) -> list[tournament_pb2.TournamentAward]:
        """Returns what was paid out, oldest first."""

        async def get_page(
            request: tournament_pb2.ListTournamentAwardsRequest,
        ) -> tournament_pb2.ListTournamentAwardsResponse:
            return await retry_until_answered(lambda: self.wallet.list_tournament_awards(request))

        request = tournament_pb2.ListTournamentAwardsRequest(tournament_id=self._id, page_size=PAGE_SIZE)
        return [paid async for page in pages(get_page, request) for paid in page.awards]
