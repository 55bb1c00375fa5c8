"""The real wallet as tests and benches meet it: a process of its own, and a client that knows how to talk to it."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import grpc
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc

from feltro.wallet.v1 import (
    complaint_pb2_grpc,
    session_pb2,
    session_pb2_grpc,
    types_pb2,
    wallet_pb2,
    wallet_pb2_grpc,
)
from services.kit.refusal import error_info, status_of
from stack.ephemeral import free_port
from stack.issuer import DevelopmentIssuer
from stack.leash import Leash

ROOT = Path(__file__).resolve().parent.parent
REAL = types_pb2.MODE_REAL
DEMO = types_pb2.MODE_DEMO
READY_WITHIN_S = 20.0


@dataclass
class WalletProcess:
    """One `python -m services.wallet`; it may be killed and started again on the same address.

    It is on a leash: a test run that is killed leaves no wallet behind.
    """

    database_url: str
    nats_url: str
    home: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    metrics_port: int = field(default_factory=free_port)
    leash: Leash | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.issuer = DevelopmentIssuer(self.home)
        self.issuer.prepare()
        self.log = self.home / f"wallet-{self.port}.log"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        variables = {
            "FELTRO_ENVIRONMENT": "development",
            "FELTRO_LOG_LEVEL": "warning",
            "FELTRO_WALLET_LISTEN": self.address,
            "FELTRO_WALLET_METRICS_LISTEN": f"127.0.0.1:{self.metrics_port}",
            "FELTRO_WALLET_DATABASE_URL": self.database_url,
            "FELTRO_NATS_URL": self.nats_url,
            "FELTRO_ISSUER_JWKS": str(self.issuer.jwks),
            "FELTRO_ISSUER_AUDIENCE": "feltro",
            "FELTRO_WALLET_SESSION_CLOCK": "advanceable",
            # A leash runs its command elsewhere: what is tested is the wallet beside this file, whatever is installed.
            "PYTHONPATH": str(ROOT),
        }
        command = [sys.executable, "-m", "services.wallet"]
        self.leash = Leash(command, log=self.log, environment={**variables, **self.environment})

    async def ready(self) -> None:
        """Returns when the wallet says that it serves; fails with its log when it does not."""
        async with grpc.aio.insecure_channel(self.address) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            request = health_pb2.HealthCheckRequest()
            try:
                answer = await stub.Check(request, wait_for_ready=True, timeout=READY_WITHIN_S)
            except grpc.aio.AioRpcError as failed:
                raise AssertionError(
                    f"the wallet is not ready: {failed.code()}\n{self.log.read_text()[-4000:]}"
                ) from None
            if answer.status != health_pb2.HealthCheckResponse.SERVING:
                raise AssertionError(f"the wallet does not serve:\n{self.log.read_text()[-4000:]}")

    def kill(self) -> None:
        """SIGKILL: nothing is said or written any more."""
        if self.leash is None:
            return
        leash, self.leash = self.leash, None
        for wallet in _commands_on(leash):
            wallet.kill()
        leash.let_go()

    def stop(self) -> int:
        """SIGTERM, and its exit status."""
        if self.leash is None:
            return 0
        leash, self.leash = self.leash, None
        return leash.let_go()

    @asynccontextmanager
    async def client(self) -> AsyncIterator[WalletClient]:
        options = [("grpc.enable_retries", 0), ("grpc.max_reconnect_backoff_ms", 200)]
        async with grpc.aio.insecure_channel(self.address, options=options) as channel:
            yield WalletClient(channel, self.issuer)


def _commands_on(leash: Leash) -> list[psutil.Process]:
    """The command that a leash holds, which may be about to be started; none if it has ended."""
    while not leash.ended:
        if found := psutil.Process(leash.pid).children():
            return found
        time.sleep(0.001)
    return []


@dataclass(frozen=True)
class Seat:
    """A player in a session at a table."""

    player_id: str
    account_id: str
    session_id: str


class WalletClient:
    """Stubs of all three services, tokens, and the few steps that nearly every test begins with."""

    def __init__(self, channel: grpc.aio.Channel, issuer: DevelopmentIssuer) -> None:
        self.wallet: wallet_pb2_grpc.WalletServiceAsyncStub = wallet_pb2_grpc.WalletServiceStub(channel)
        self.sessions: session_pb2_grpc.SessionServiceAsyncStub = session_pb2_grpc.SessionServiceStub(channel)
        self.complaints: complaint_pb2_grpc.ComplaintServiceAsyncStub = complaint_pb2_grpc.ComplaintServiceStub(channel)
        self.health = health_pb2_grpc.HealthStub(channel)
        self._issuer = issuer
        self.game = self.bearer("game", "games")
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
        """Account, deposit and session."""
        account_id = await self.open_account(player_id, cents, mode)
        request = session_pb2.StartSessionRequest(
            request_id=str(uuid4()), account_id=account_id, table_id=table_id, device=session_pb2.Device(kind="test")
        )
        started = await self.sessions.StartSession(request, metadata=self.operator)
        return Seat(player_id, account_id, started.session.session_id)

    async def sit_down_all(self, players: Sequence[str], table_id: str, cents: int) -> list[Seat]:
        return await asyncio.gather(*(self.sit_down(player, table_id, cents) for player in players))

    async def place(
        self, seat: Seat, round_: types_pb2.RoundRef, cents: int, request_id: str | None = None
    ) -> wallet_pb2.StakePlaced:
        order = wallet_pb2.StakeOrder(
            request_id=request_id or str(uuid4()),
            account_id=seat.account_id,
            session_id=seat.session_id,
            amount_cents=cents,
            detail=b"red",
        )
        request = wallet_pb2.PlaceStakeRequest(round=round_, order=order)
        return (await self.wallet.PlaceStake(request, metadata=self.game)).placed

    async def balance(self, account_id: str) -> types_pb2.Balance:
        request = wallet_pb2.GetBalanceRequest(account_id=account_id)
        return (await self.wallet.GetBalance(request, metadata=self.operator)).balance


def reason(error: grpc.aio.AioRpcError) -> str:
    """The reason of a refusal, from its ErrorInfo."""
    return facts(error)[0]


def facts(error: grpc.aio.AioRpcError) -> tuple[str, dict[str, str]]:
    """Reason and facts of a refusal."""
    status = status_of(error)
    info = None if status is None else error_info(status)
    if info is None:
        raise AssertionError(f"no refusal of the wallet: {error}")
    return info.reason, dict(info.metadata)
