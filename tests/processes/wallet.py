"""The real wallet as a process of its own for tests and benches, and a client of all its services."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import grpc
from grpc_health.v1 import health_pb2_grpc

from feltro.wallet.v1 import (
    audit_pb2_grpc,
    complaint_pb2_grpc,
    platform_pb2_grpc,
    relevant_events_pb2_grpc,
    session_pb2,
    session_pb2_grpc,
    ticket_pb2_grpc,
    tournament_pb2_grpc,
    types_pb2,
    wallet_pb2,
    wallet_pb2_grpc,
)
from services.kit.rpc.status import error_info, status_of
from stack.issuer import DevelopmentIssuer
from tests.processes.service import CHANNEL_OPTIONS, ServiceProcess

REAL = types_pb2.MODE_REAL
DEMO = types_pb2.MODE_DEMO


@dataclass
class WalletProcess(ServiceProcess):
    """One `python -m services.wallet`."""

    name = "wallet"

    def variables(self) -> dict[str, str]:
        return {"FELTRO_WALLET_SESSION_CLOCK": "advanceable"}

    @asynccontextmanager
    async def client(self) -> AsyncIterator[WalletClient]:
        async with self.transport.open_channel(self.address, self.name, CHANNEL_OPTIONS) as channel:
            yield WalletClient(channel, self.issuer)


@dataclass(frozen=True)
class Seat:
    """A player in a session at a table."""

    player_id: str
    account_id: str
    session_id: str


class WalletClient:
    """Stubs of all services, tokens, and the steps that nearly every test begins with."""

    def __init__(self, channel: grpc.aio.Channel, issuer: DevelopmentIssuer) -> None:
        self.wallet: wallet_pb2_grpc.WalletServiceAsyncStub = wallet_pb2_grpc.WalletServiceStub(channel)
        self.sessions: session_pb2_grpc.SessionServiceAsyncStub = session_pb2_grpc.SessionServiceStub(channel)
        self.complaints: complaint_pb2_grpc.ComplaintServiceAsyncStub = complaint_pb2_grpc.ComplaintServiceStub(channel)
        self.audit: audit_pb2_grpc.AuditServiceAsyncStub = audit_pb2_grpc.AuditServiceStub(channel)
        self.audit_intake: audit_pb2_grpc.AuditIntakeServiceAsyncStub = audit_pb2_grpc.AuditIntakeServiceStub(channel)
        self.platform: platform_pb2_grpc.PlatformServiceAsyncStub = platform_pb2_grpc.PlatformServiceStub(channel)
        self.relevant_events: relevant_events_pb2_grpc.RelevantEventServiceAsyncStub = (
            relevant_events_pb2_grpc.RelevantEventServiceStub(channel)
        )
        self.tournaments: tournament_pb2_grpc.TournamentMoneyServiceAsyncStub = (
            tournament_pb2_grpc.TournamentMoneyServiceStub(channel)
        )
        self.tickets: ticket_pb2_grpc.TicketServiceAsyncStub = ticket_pb2_grpc.TicketServiceStub(channel)
        self.health = health_pb2_grpc.HealthStub(channel)
        self.channel = channel
        self._issuer = issuer
        self.game = self.bearer("game", "roulette")
        self.operator = self.bearer("operator", "back-office")

    def bearer(self, scope: str, subject: str, minutes: int = 60) -> tuple[tuple[str, str], ...]:
        """Call metadata with a token."""
        return (("authorization", f"Bearer {self._issuer.token([scope], subject, minutes)}"),)

    async def open_table(
        self,
        table_id: str,
        *,
        epoch: int = 1,
        mode: types_pb2.Mode.ValueType = REAL,
        play: types_pb2.Play.ValueType = types_pb2.PLAY_MULTI_PLAYER,
        regulation: str = "804/2015",
    ) -> types_pb2.TableRef:
        table = types_pb2.TableRef(table_id=table_id, epoch=epoch)
        request = wallet_pb2.OpenTableRequest(table=table, game="roulette", regulation=regulation, mode=mode, play=play)
        await self.wallet.OpenTable(request, metadata=self.game)
        return table

    async def open_account(self, player_id: str, cents: int = 0, mode: types_pb2.Mode.ValueType = REAL) -> str:
        opened = await self.wallet.OpenAccount(
            wallet_pb2.OpenAccountRequest(player_id=player_id, mode=mode), metadata=self.operator
        )
        account_id = opened.balance.account_id
        if cents:
            deposit = wallet_pb2.DepositRequest(request_id=str(uuid4()), account_id=account_id, amount_cents=cents)
            await self.wallet.Deposit(deposit, metadata=self.operator)
        return account_id

    async def sit_down(
        self, player_id: str, table_id: str, cents: int = 0, mode: types_pb2.Mode.ValueType = REAL
    ) -> Seat:
        """Opens an account, deposits, and starts a session."""
        account_id = await self.open_account(player_id, cents, mode)
        request = session_pb2.StartSessionRequest(
            request_id=str(uuid4()), account_id=account_id, table_id=table_id, device=session_pb2.Device(kind="test")
        )
        started = await self.sessions.StartSession(request, metadata=self.operator)
        return Seat(player_id, account_id, started.session.session_id)

    async def sit_down_all(self, players: Sequence[str], table_id: str, cents: int) -> list[Seat]:
        return await asyncio.gather(*(self.sit_down(player, table_id, cents) for player in players))

    async def place(
        self,
        seat: Seat,
        round_: types_pb2.RoundRef,
        cents: int,
        request_id: str | None = None,
        *,
        detail: bytes = b"red",
    ) -> wallet_pb2.PlacedStake:
        order = wallet_pb2.StakeOrder(
            request_id=request_id or str(uuid4()),
            account_id=seat.account_id,
            session_id=seat.session_id,
            amount_cents=cents,
            detail=detail,
        )
        request = wallet_pb2.PlaceStakeRequest(round=round_, order=order)
        return (await self.wallet.PlaceStake(request, metadata=self.game)).placed

    async def balance(self, account_id: str) -> types_pb2.Balance:
        request = wallet_pb2.GetBalanceRequest(account_id=account_id)
        return (await self.wallet.GetBalance(request, metadata=self.operator)).balance


def refusal_reason(error: grpc.aio.AioRpcError) -> str:
    """The reason of a refusal."""
    return refusal_facts(error)[0]


def refusal_facts(error: grpc.aio.AioRpcError) -> tuple[str, dict[str, str]]:
    """The reason and the facts of a refusal."""
    status = status_of(error)
    info = None if status is None else error_info(status)
    if info is None:
        raise AssertionError(f"no refusal of the wallet: {error}")
    return info.reason, dict(info.metadata)
