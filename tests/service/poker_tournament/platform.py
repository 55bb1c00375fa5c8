"""The real wallet and poker, with a client of its tournaments; the owner can be killed and started again."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import uuid4

import grpc

from feltro.poker.v1 import tournament_pb2, tournament_pb2_grpc, tournament_rules_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import ticket_pb2
from feltro.wallet.v1 import tournament_pb2 as money_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.bus.buckets import Bucket
from services.kit.bus.connections import player_key
from services.kit.bus.permissions import GATEWAY
from services.kit.bus.subjects import CONNECTIONS_BUCKET
from tests.processes.bus import connect_bus, user_url
from tests.processes.poker import HOLDEM, PokerClient
from tests.processes.stacked_poker import StackedPokerProcess
from tests.processes.wallet import WalletClient, WalletProcess, refusal_facts, refusal_reason

MONEY_CENTS = 50_000
# What takes longer hangs.
TIMEOUT_S = 240.0
# By how much a look at a tournament moves the clock of the tables on.
STEP_S = 5.0
# Nobody owns the tournament now, or the wallet is away: the same call is sent again.
_AGAIN = {"TABLE_ELSEWHERE", "UNAVAILABLE", "OVERLOADED"}

T = TypeVar("T")
_numbers = itertools.count(1)


@dataclass
class TournamentPlatform:
    """The processes of the wallet and of poker."""

    wallet: WalletProcess
    poker: StackedPokerProcess
    # The ledger's database as its owner.
    ledger_url: str
    accounts: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def driver(self) -> AsyncIterator[TournamentDriver]:
        async with AsyncExitStack() as stack:
            wallet = await stack.enter_async_context(self.wallet.client())
            poker = await stack.enter_async_context(self.poker.client())
            bus = await connect_bus(user_url(self.poker.nats_url, GATEWAY))
            stack.push_async_callback(bus.close)
            yield TournamentDriver(self, wallet, poker, Bucket(bus, CONNECTIONS_BUCKET, lambda: None))

    async def kill_and_start_again(self) -> None:
        """Kills the owner, and starts another process in its place."""
        self.poker.kill()
        self.poker.start()
        await self.poker.ready()


def rules(**chosen: object) -> tournament_rules_pb2.TournamentRules:
    """Rules of a sit & go for two in which the blinds are all that anybody has: nobody decides anything."""
    usual: dict[str, object] = {
        "regulation": HOLDEM,
        "price": tournament_rules_pb2.TournamentPrice(prize_cents=1_000, fee_cents=100),
        "start": tournament_rules_pb2.TOURNAMENT_START_ON_FULL,
        "seats": 2,
        "max_players": 2,
        "starting_stack": 100,
        "levels": [tournament_rules_pb2.TournamentLevel(small_blind=100, big_blind=100, seconds=60)],
    }
    return tournament_rules_pb2.TournamentRules(**{**usual, **chosen})  # type: ignore[arg-type]


def scheduled(
    in_seconds: float, *, after: datetime | None = None, **chosen: object
) -> tournament_rules_pb2.TournamentRules:
    """The same as a scheduled tournament, so long after now; `after` is now by the clock of the tables."""
    usual: dict[str, object] = {"max_players": 0, "late_reg_until_level": 0}
    made = rules(start=tournament_rules_pb2.TOURNAMENT_START_SCHEDULED, **{**usual, **chosen})
    made.starts_at.FromDatetime((after or datetime.now(UTC)) + timedelta(seconds=in_seconds))
    return made


class TournamentDriver:
    """A test's clients."""

    def __init__(
        self, platform: TournamentPlatform, wallet: WalletClient, poker: PokerClient, connections: Bucket
    ) -> None:
        self.platform = platform
        self.wallet = wallet
        self.poker = poker
        self._connections = connections
        self.tournaments: tournament_pb2_grpc.TournamentServiceAsyncStub = poker.tournaments

    # -- operators ---------------------------------------------------------------------------------------------------

    async def create(
        self,
        made: tournament_rules_pb2.TournamentRules,
        *,
        tournament_id: str = "",
        request_id: str = "",
        mode: wallet_types.Mode.ValueType = wallet_types.MODE_REAL,
        approval: str = "SRIJ/2026/1",
    ) -> str:
        """Creates a tournament, and returns its id when somebody runs it."""
        tournament_id = tournament_id or f"t_{os.getpid()}_{next(_numbers)}"
        request = tournament_pb2.CreateTournamentRequest(
            request_id=request_id or str(uuid4()),
            tournament_id=tournament_id,
            configuration=tournament_pb2.TournamentConfiguration(
                name=types_pb2.LocalizedText(pt="Torneio", en="Tournament"), mode=mode, rules=made
            ),
            approval_reference=approval,
        )
        await self.tournaments.CreateTournament(request, metadata=self.operator)
        await self.tournament(tournament_id)
        return tournament_id

    @property
    def operator(self) -> tuple[tuple[str, str], ...]:
        return tuple(self.poker.bearer("operator", "op"))

    async def cancel(self, tournament_id: str, reason: str) -> tournament_pb2.TournamentSummary:
        request = tournament_pb2.CancelTournamentRequest(tournament_id=tournament_id, reason=reason)
        answer = await self.again(lambda: self.tournaments.CancelTournament(request, metadata=self.operator))
        return answer.tournament

    async def report(self, tournament_id: str) -> tournament_pb2.GetTournamentReportResponse:
        request = tournament_pb2.GetTournamentReportRequest(tournament_id=tournament_id)
        return await self.again(lambda: self.tournaments.GetTournamentReport(request, metadata=self.operator))

    # -- players -----------------------------------------------------------------------------------------------------

    async def new_player(self, cents: int = MONEY_CENTS) -> str:
        player_id = f"tp_{os.getpid()}_{next(_numbers)}"
        self.platform.accounts[player_id] = await self.wallet.open_account(player_id, cents)
        return player_id

    async def connect(self, player_id: str) -> None:
        """Says as a gateway would that the player has a connection: the player is not away when a hand begins."""
        await self._connections.put(player_key(player_id, "g"), b"1")

    async def balance(self, player_id: str) -> int:
        return (await self.wallet.balance(self.platform.accounts[player_id])).free_cents

    async def register(
        self, tournament_id: str, player_id: str, request_id: str = "", *, ticket_id: str = ""
    ) -> tournament_pb2.RegisterResponse:
        request = tournament_pb2.RegisterRequest(
            request_id=request_id or str(uuid4()), tournament_id=tournament_id, ticket_id=ticket_id
        )
        return await self.again(lambda: self.tournaments.Register(request, metadata=self.poker.player(player_id)))

    async def unregister(
        self, tournament_id: str, player_id: str, request_id: str = ""
    ) -> tournament_pb2.UnregisterResponse:
        request = tournament_pb2.UnregisterRequest(request_id=request_id or str(uuid4()), tournament_id=tournament_id)
        return await self.again(lambda: self.tournaments.Unregister(request, metadata=self.poker.player(player_id)))

    async def rebuy(self, tournament_id: str, player_id: str) -> tournament_pb2.RebuyResponse:
        request = tournament_pb2.RebuyRequest(request_id=str(uuid4()), tournament_id=tournament_id)
        return await self.again(lambda: self.tournaments.Rebuy(request, metadata=self.poker.player(player_id)))

    async def decline_rebuy(self, tournament_id: str, player_id: str) -> tournament_pb2.DeclineRebuyResponse:
        request = tournament_pb2.DeclineRebuyRequest(tournament_id=tournament_id)
        return await self.again(lambda: self.tournaments.DeclineRebuy(request, metadata=self.poker.player(player_id)))

    async def tickets(self, player_id: str, tournament_id: str) -> list[ticket_pb2.Ticket]:
        """Returns the tickets of a player to a tournament, oldest first."""
        account_id = self.platform.accounts[player_id]
        request = ticket_pb2.ListTicketsRequest(account_id=account_id, tournament_id=tournament_id)
        answer = await self.wallet.tickets.ListTickets(request, metadata=self.wallet.bearer("operator", "op"))
        return list(answer.tickets)

    async def now(self) -> datetime:
        """Returns the time by the clock of the tables, which tests have moved ahead."""
        answer = await self.again(
            lambda: self.tournaments.ListTournaments(
                tournament_pb2.ListTournamentsRequest(page_size=1), metadata=self.operator
            )
        )
        return answer.at.ToDatetime(UTC)

    # -- what is seen ------------------------------------------------------------------------------------------------

    async def tournament(self, tournament_id: str, player_id: str = "") -> tournament_pb2.GetTournamentResponse:
        request = tournament_pb2.GetTournamentRequest(tournament_id=tournament_id)
        metadata = self.poker.player(player_id) if player_id else ()
        return await self.again(lambda: self.tournaments.GetTournament(request, metadata=metadata))

    async def players(self, tournament_id: str) -> list[tournament_pb2.TournamentPlayer]:
        request = tournament_pb2.ListTournamentPlayersRequest(tournament_id=tournament_id, page_size=500)
        answer = await self.again(lambda: self.tournaments.ListTournamentPlayers(request, metadata=self.operator))
        return list(answer.players)

    async def refused_table(self, tournament_id: str) -> dict[str, str]:
        """Returns the facts of the refusal that a call to the first table of a tournament gets when it is over."""
        player = self.poker.player("a_visitor")
        request = table_pb2.GetTableRequest(table_id=f"{tournament_id}-t1")
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                try:
                    await self.again(lambda: self.poker.tables.GetTable(request, metadata=player))
                except grpc.aio.AioRpcError as failed:
                    reason, facts = refusal_facts(failed)
                    if reason != "TOURNAMENT_OVER":
                        raise
                    return facts
                # It is paid, and about to be closed.
                await asyncio.sleep(0.02)

    async def pool(self, tournament_id: str) -> money_pb2.GetTournamentMoneyResponse:
        request = money_pb2.GetTournamentMoneyRequest(tournament_id=tournament_id)
        return await self.wallet.tournaments.GetTournamentMoney(request, metadata=self.wallet.bearer("operator", "op"))

    async def until(
        self, tournament_id: str, reached: Callable[[tournament_pb2.TournamentSummary], bool]
    ) -> tournament_pb2.TournamentSummary:
        """Moves the clock of the tables on until the tournament has come so far."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                seen = (await self.tournament(tournament_id)).tournament
                if reached(seen):
                    return seen
                await self.again(lambda: self.poker.advance_tables(STEP_S))

    async def until_over(self, tournament_id: str) -> tournament_pb2.TournamentSummary:
        """Plays to the end, and waits until everybody is paid."""
        over = await self.until(tournament_id, lambda seen: seen.HasField("ended_at"))
        await self.until_closed(tournament_id)
        return over

    async def until_closed(self, tournament_id: str) -> None:
        """Waits until nobody runs the tournament any more: it is closed in the wallet."""
        async with asyncio.timeout(TIMEOUT_S):
            while not (await self.pool(tournament_id)).HasField("closed_at"):
                await asyncio.sleep(0.05)

    async def again(self, call: Callable[[], Awaitable[T]]) -> T:
        """Sends a call until the owner of the tournament answers it."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                try:
                    return await call()
                except grpc.aio.AioRpcError as failed:
                    gone = failed.code() is grpc.StatusCode.UNAVAILABLE
                    if not gone and refusal_reason(failed) not in _AGAIN:
                        raise
                await asyncio.sleep(0.05)
