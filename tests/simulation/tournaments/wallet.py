"""The wallet in memory with the pools of tournaments: the real service and the real decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, cast

from google.protobuf.message import Message

from feltro.wallet.v1 import tournament_pb2, wallet_pb2
from services.kit.clock import Clock
from services.kit.wire_format import timestamp
from services.wallet.ledger import commands
from services.wallet.ledger.book import Awarded
from services.wallet.ledger.commands import Command
from services.wallet.model.state import AccountKind, Mode, PayIn, Play
from services.wallet.server.tournament_service import TournamentMoneyService
from tests.simulation.environment.wallet import PAGE_SIZE, InMemoryWallet, _run

GAME = "poker"


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
        self.overlay_cents = self.shortfall_cents = 0
        self._tournaments = TournamentMoneyService(cast("Any", None), cast("Any", self))

    @cached_property
    def _methods(self) -> dict[str, tuple[Callable[[bytes], Any], Callable[[Any], Message | bytes]]]:
        service, game = self._tournaments, self._game
        return super()._methods | {
            "PayIn": (tournament_pb2.PayInRequest.FromString, lambda r: _run(service.pay_in(r, game))),
            "PayOut": (tournament_pb2.PayOutRequest.FromString, lambda r: _run(service.pay_out(r, game))),
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
        return answer

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

    def _store(self) -> None:
        book = self.book
        requests = {answered.no: answered.request_id for answered in book.new_pay_ins}
        self.pay_ins += [StoredPayIn(paid, book.now) for paid in book.new_pay_ins]
        for awarded in book.awarded:
            request_id = requests.get(awarded.transfer_no) or self._paying_request
            self.awards.append(StoredAward(request_id, awarded, book.now))
        for payment in book.bank_payments:
            self.overlay_cents += payment.overlay_cents
            self.shortfall_cents += payment.shortfall_cents
        for appended in (book.new_pay_ins, book.awarded, book.bank_payments, book.closed_tables):
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
                    award=tournament_pb2.Award(
                        account_id=self.book.accounts[each.awarded.account_no].account_id,
                        reason=each.awarded.reason.value,
                        amount_cents=each.awarded.amount_cents,
                    ),
                    paid_at=timestamp(each.at),
                )
                for each in page
            ],
            next_page_token=token,
        )


def _page(stored: list[Any], token: str) -> tuple[list[Any], str]:
    first = int(token or 0)
    following = first + PAGE_SIZE
    return stored[first:following], str(following) if following < len(stored) else ""
