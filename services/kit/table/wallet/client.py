"""What the runtime asks of the wallet, and how a call can fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from feltro.wallet.v1 import session_pb2, wallet_pb2


class WalletUnanswered(Exception):
    """The wallet has not answered: it is not known whether anything was done."""


class WalletFailed(Exception):
    """The wallet has answered with a fault of its own or of this service, such as no command asks for.

    It is not known whether anything was done. A fault may pass: the command is sent again for a while, then this is
    raised.
    """


class ServiceTokenRefused(WalletUnanswered):
    """The wallet refuses this service's token: nothing was done, and the service needs another token."""


class Wallet(Protocol):
    """One call, one answer.

    Raises `Refused` as the wallet refuses, `StaleOwner` for STALE_EPOCH, `WalletUnanswered`, or `WalletFailed`.
    """

    async def register_table(self, request: wallet_pb2.RegisterTableRequest) -> wallet_pb2.RegisterTableResponse: ...

    async def open_table(self, request: wallet_pb2.OpenTableRequest) -> wallet_pb2.OpenTableResponse: ...

    async def place_stakes(self, request: wallet_pb2.PlaceStakesRequest) -> wallet_pb2.PlaceStakesResponse: ...

    async def cancel_stakes(self, request: wallet_pb2.CancelStakesRequest) -> wallet_pb2.CancelStakesResponse: ...

    async def get_first_answer(
        self, request: wallet_pb2.GetFirstAnswerRequest
    ) -> wallet_pb2.GetFirstAnswerResponse: ...

    async def pay_stakes(self, request: wallet_pb2.PayStakesRequest) -> wallet_pb2.PayStakesResponse: ...

    async def settle_round(self, request: wallet_pb2.SettleRoundRequest) -> wallet_pb2.SettleRoundResponse: ...

    async def void_round(self, request: wallet_pb2.VoidRoundRequest) -> wallet_pb2.VoidRoundResponse: ...

    async def buy_in(self, request: wallet_pb2.BuyInRequest) -> wallet_pb2.BuyInResponse: ...

    async def cash_out(self, request: wallet_pb2.CashOutRequest) -> wallet_pb2.CashOutResponse: ...

    async def transfer_hand(self, request: wallet_pb2.TransferHandRequest) -> wallet_pb2.TransferHandResponse: ...

    async def list_table_caves(self, table_id: str) -> Sequence[wallet_pb2.TableCave]:
        """The caves at a table that are not empty, in the order in which the sessions of their players started."""

    async def list_transactions(
        self, request: wallet_pb2.ListTransactionsRequest
    ) -> wallet_pb2.ListTransactionsResponse: ...

    async def get_round(self, request: wallet_pb2.GetRoundRequest) -> wallet_pb2.GetRoundResponse: ...

    async def list_open_rounds(
        self, request: wallet_pb2.ListOpenRoundsRequest
    ) -> wallet_pb2.ListOpenRoundsResponse: ...

    async def announce_round(self, request: session_pb2.AnnounceRoundRequest) -> session_pb2.AnnounceRoundResponse: ...

    async def apply_specific_rules(
        self, request: session_pb2.ApplySpecificRulesRequest
    ) -> session_pb2.ApplySpecificRulesResponse: ...

    async def list_table_sessions(self, table_id: str) -> Sequence[session_pb2.Session]:
        """The sessions at a table that have not ended, in the order of their start."""

    async def list_placement_sessions(self, placement_id: str) -> Sequence[session_pb2.Session]:
        """The sessions at a configured table and at the individual tables made from it that have not ended.

        One that starts meanwhile may be missing.
        """

    async def start_session(self, request: session_pb2.StartSessionRequest) -> session_pb2.StartSessionResponse: ...

    async def get_session(self, request: session_pb2.GetSessionRequest) -> session_pb2.GetSessionResponse: ...

    async def end_session(self, request: session_pb2.EndSessionRequest) -> session_pb2.EndSessionResponse: ...

    async def find_account(self, request: wallet_pb2.FindAccountRequest) -> wallet_pb2.FindAccountResponse: ...

    async def refill_demo_account(
        self, request: wallet_pb2.RefillDemoAccountRequest
    ) -> wallet_pb2.RefillDemoAccountResponse: ...


class PageRequest(Protocol):
    """A request whose answer comes in pages."""

    page_token: str


class AnswerPage(Protocol):
    """One page of an answer."""

    @property
    def next_page_token(self) -> str: ...


_Request = TypeVar("_Request", bound=PageRequest)
_Page = TypeVar("_Page", bound=AnswerPage)


async def pages(get_page: Callable[[_Request], Awaitable[_Page]], request: _Request) -> AsyncIterator[_Page]:
    """Yields an answer page by page, to its end."""
    while True:
        page = await get_page(request)
        yield page
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


async def get_whole_round(
    get_page: Callable[[wallet_pb2.GetRoundRequest], Awaitable[wallet_pb2.GetRoundResponse]], round_id: str
) -> wallet_pb2.Round:
    """Reads a round with all of its stakes, which come in pages."""
    found = wallet_pb2.Round()
    async for page in pages(get_page, wallet_pb2.GetRoundRequest(round_id=round_id)):
        found.MergeFrom(page.round)
    return found
