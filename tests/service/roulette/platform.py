"""A casino for tests: the real wallet and the real roulette, and a room of one's own in it for every test."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import grpc
import nats
import pytest
from google.protobuf.message import Message
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2, types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.rpc.status import error_info, status_of
from services.wallet.outbox.facts import STREAM
from tests.processes.roulette import Metadata, RouletteClient, RouletteProcess, configuration
from tests.processes.wallet import DEMO, REAL, WalletClient, WalletProcess
from tests.service.roulette.table_watcher import TableWatcher

INDIVIDUAL = wallet_types.PLAY_INDIVIDUAL
MULTI_PLAYER = wallet_types.PLAY_MULTI_PLAYER
# A window that no test outlives: for what is not about its end.
LONG_WINDOW_MS = 600_000
# Individual tables that stand open all day, by regulation.
INDIVIDUAL_TABLES = {"804": "single_804", "807": "single_807"}
WHEEL_BY_REGULATION = {"804": roulette_pb2.WHEEL_AMERICAN_38, "807": roulette_pb2.WHEEL_FRENCH}
# The rules that most tests want their tables to have.
SPARE_TABLE_RULES: list[dict[str, Any]] = [
    {},
    {"play": INDIVIDUAL},
    {"window_ms": LONG_WINDOW_MS},
    {"play": INDIVIDUAL, "mode": DEMO, "minimum_cents": 1_000},
]
SPARE_TABLES_PER_RULES = 12
# How long anything may take before it is called a hang.
TIMEOUT_S = 60.0

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Refusal:
    """How a service said no."""

    reason: str
    facts: dict[str, str]
    domain: str = "table.feltro"
    code: grpc.StatusCode = grpc.StatusCode.UNKNOWN


@dataclass(frozen=True)
class SeatedPlayer:
    """A player who sits at a table; at an individual one it is his own."""

    player_id: str
    account_id: str
    session_id: str
    table_id: str
    seat: int


@dataclass(frozen=True)
class RoulettePlatform:
    """Both processes, as they run."""

    wallet: WalletProcess
    roulette: RouletteProcess
    nats_url: str
    spare_tables: dict[bytes, list[str]] = field(default_factory=dict)
    """Tables that are open and that nobody has played at, by their rules."""

    async def open_tables(self) -> None:
        """Opens what stands open all day, and spare tables: a process takes those it is given only once a second."""
        async with self.driver() as room:
            opened = []
            for regulation, house in INDIVIDUAL_TABLES.items():
                await room.roulette.configure(
                    house, configuration(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL)
                )
                opened.append(house)
            for wheel, rules in itertools.product(WHEEL_BY_REGULATION.values(), SPARE_TABLE_RULES):
                made = configuration(wheel=wheel, **rules)
                spare = [room.unique_name("table") for _ in range(SPARE_TABLES_PER_RULES)]
                self.spare_tables[made.SerializeToString(deterministic=True)] = spare
                for table_id in spare:
                    await room.roulette.configure(table_id, made)
                opened += spare
            for table_id in opened:
                await room.wait_until_open(table_id)

    @asynccontextmanager
    async def driver(self) -> AsyncIterator[RouletteDriver]:
        """What one test has for itself. Its players leave when it ends."""
        bus = await nats.connect(self.nats_url)
        try:
            async with self.wallet.client() as wallet, self.roulette.client() as roulette:
                room = RouletteDriver(self, wallet, roulette, bus)
                yield room
                await room.clean_up()
        finally:
            await bus.close()


class RouletteDriver:
    """A test's clients, tables and players."""

    def __init__(self, casino: RoulettePlatform, wallet: WalletClient, roulette: RouletteClient, bus: Nats) -> None:
        self.platform = casino
        self.wallet = wallet
        self.roulette = roulette
        self.bus = bus
        self._players: set[str] = set()
        self._open: list[tuple[str, str]] = []

    # -- tables and players ------------------------------------------------------------------------------------------

    def unique_name(self, of: str) -> str:
        """A name that nobody else in this casino has."""
        return f"{of}_{os.getpid()}_{next(_numbers)}"

    async def new_table(self, **rules: object) -> str:
        """A new table, open for play."""
        made = configuration(**rules)  # type: ignore[arg-type]
        spare = self.platform.spare_tables.get(made.SerializeToString(deterministic=True))
        return spare.pop() if spare else await self.configure_table(self.unique_name("table"), made)

    async def configure_table(self, table_id: str, rules: types_pb2.TableConfiguration) -> str:
        """A new table with these rules, open for play."""
        await self.roulette.configure(table_id, rules)
        await self.wait_until_open(table_id)
        return table_id

    async def wait_until_open(self, table_id: str) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while (await self.open_refusal(table_id)) == "TABLE_ELSEWHERE":
                # A process takes its tables by and by; it has no event for that.
                await asyncio.sleep(0.02)

    async def open_refusal(self, table_id: str) -> str:
        request = table_pb2.GetTableRequest(table_id=table_id)
        try:
            await self.roulette.tables.GetTable(request, metadata=self.roulette.operator)
        except grpc.aio.AioRpcError as refused:
            return refusal_of(refused).reason
        return ""

    async def new_player(self, cents: int = 100_000) -> str:
        """A player with money, who sits nowhere yet."""
        player_id = self.unique_name("player")
        await self.wallet.open_account(player_id, cents, REAL)
        self._players.add(player_id)
        return player_id

    async def seat_new_player(self, table_id: str, cents: int = 100_000) -> SeatedPlayer:
        """A player with money, seated."""
        return await self.seat(await self.new_player(cents), table_id)

    async def seat_new_players(self, table_id: str, count: int, cents: int = 100_000) -> list[SeatedPlayer]:
        return await asyncio.gather(*(self.seat_new_player(table_id, cents) for _ in range(count)))

    async def seat(self, player_id: str, table_id: str) -> SeatedPlayer:
        self._players.add(player_id)
        entered = await self.roulette.enter(player_id, table_id)
        own = entered.own_seat
        return SeatedPlayer(player_id, own.account_id, own.session_id, entered.table.table_id, own.seat)

    def keep_seated(self, guest: SeatedPlayer) -> None:
        """He stays when the test leaves."""
        self._players.discard(guest.player_id)
        self._open = [each for each in self._open if each[0] != guest.table_id]

    async def clean_up(self) -> None:
        """Ends what this test began, so that its tables play no more rounds."""
        request = session_pb2.EndPlayerSessionsRequest
        await asyncio.gather(
            *(
                self.wallet.sessions.EndPlayerSessions(request(player_id=player), metadata=self.wallet.operator)
                for player in self._players
            )
        )
        for table_id, round_id in self._open:
            void = table_pb2.VoidOpenRoundRequest(table_id=table_id, round_id=round_id, reason="the test is over")
            try:
                await self.roulette.tables.VoidOpenRound(void, metadata=self.roulette.operator)
            except grpc.aio.AioRpcError as refused:
                if refusal_of(refused).reason != "ROUND_DECIDED":
                    raise

    # -- playing -----------------------------------------------------------------------------------------------------

    def metadata_of(self, guest: SeatedPlayer) -> Metadata:
        return self.roulette.player(guest.player_id)

    async def get_table(self, guest: SeatedPlayer) -> table_pb2.GetTableResponse:
        return await self.roulette.table(guest.player_id, guest.table_id)

    async def wait_for_open_round(self, guest: SeatedPlayer) -> str:
        """The round that takes bets at his table, as soon as one does."""
        async with asyncio.timeout(TIMEOUT_S):
            while (seen := await self.get_table(guest)).table.phase != types_pb2.PHASE_BETTING:
                await asyncio.sleep(0.02)
        round_id: str = seen.table.round.round_id
        self._open.append((guest.table_id, round_id))
        return round_id

    async def bet(
        self, guest: SeatedPlayer, round_id: str, bets: Mapping[str, int], request_id: str | None = None
    ) -> roulette_pb2.PlaceBetsResponse:
        return await self.roulette.bet(guest.player_id, guest.table_id, round_id, bets, request_id)

    async def bet_in_open_round(self, guest: SeatedPlayer, bets: Mapping[str, int]) -> str:
        """Bets in the round that takes bets, or in the next one if it has closed in the meantime; which one it was."""
        while True:
            round_id = await self.wait_for_open_round(guest)
            try:
                await self.bet(guest, round_id, bets)
            except grpc.aio.AioRpcError as refused:
                if refusal_of(refused).reason != "BETTING_CLOSED":
                    raise
            else:
                return round_id

    async def try_bet(self, guest: SeatedPlayer, round_id: str, bets: Mapping[str, int]) -> bool:
        """Bets in this round; whether it still took bets. To refuse what comes before its end is wrong."""
        seen = (await self.get_table(guest)).table.round
        try:
            await self.bet(guest, round_id, bets)
        except grpc.aio.AioRpcError as refused:
            is_over = seen.round_id != round_id or datetime.now(UTC) >= seen.closes_at.ToDatetime(UTC)
            if refusal_of(refused).reason != "BETTING_CLOSED" or not is_over:
                raise
            return False
        return True

    async def cancel_bets(
        self, guest: SeatedPlayer, round_id: str, bets: Mapping[str, int] | None = None, request_id: str | None = None
    ) -> roulette_pb2.CancelBetsResponse:
        request = roulette_pb2.CancelBetsRequest(
            request_id=request_id or str(uuid4()),
            table_id=guest.table_id,
            round_id=round_id,
            bets=bet_messages(bets or {}),
        )
        return await self.roulette.roulette.CancelBets(request, metadata=self.metadata_of(guest))

    async def repeat(
        self, guest: SeatedPlayer, round_id: str, request_id: str | None = None
    ) -> roulette_pb2.RepeatBetsResponse:
        request = roulette_pb2.RepeatBetsRequest(
            request_id=request_id or str(uuid4()), table_id=guest.table_id, round_id=round_id
        )
        return await self.roulette.roulette.RepeatBets(request, metadata=self.metadata_of(guest))

    async def spin(self, guest: SeatedPlayer, round_id: str) -> roulette_pb2.SpinResponse:
        return await self.roulette.spin(guest.player_id, guest.table_id, round_id)

    async def play(self, guest: SeatedPlayer, bets: Mapping[str, int]) -> roulette_pb2.SpinResponse:
        """One round at an individual table."""
        round_id = await self.wait_for_open_round(guest)
        await self.bet(guest, round_id, bets)
        return await self.spin(guest, round_id)

    async def void(self, table_id: str, round_id: str, reason: str = "the wheel stands still") -> None:
        request = table_pb2.VoidOpenRoundRequest(table_id=table_id, round_id=round_id, reason=reason)
        await self.roulette.tables.VoidOpenRound(request, metadata=self.roulette.operator)

    async def rounds(self, guest: SeatedPlayer, **more: object) -> list[table_pb2.PlayerRound]:
        """The last rounds in which he took part, newest first."""
        return list((await self.roulette.rounds(guest.player_id, **more)).rounds)

    # -- money and sessions ------------------------------------------------------------------------------------------

    async def balance(self, guest: SeatedPlayer) -> tuple[int, int]:
        """What he has, free and locked."""
        balance = await self.wallet.balance(guest.account_id)
        return balance.free_cents, balance.locked_cents

    async def session(self, guest: SeatedPlayer) -> session_pb2.GetSessionResponse:
        request = session_pb2.GetSessionRequest(session_id=guest.session_id)
        return await self.wallet.sessions.GetSession(request, metadata=self.wallet.operator)

    async def leave(self, guest: SeatedPlayer) -> session_pb2.EndSessionResponse:
        request = session_pb2.EndSessionRequest(session_id=guest.session_id)
        metadata = self.wallet.bearer("player", guest.player_id)
        return await self.wallet.sessions.EndSession(request, metadata=metadata)

    # -- the bus -----------------------------------------------------------------------------------------------------

    async def watch(self, table_id: str) -> TableWatcher:
        """All that is said of a table, from the first word on."""
        return await TableWatcher.start(self.bus, table_id)

    async def private_facts(self, guest: SeatedPlayer) -> asyncio.Queue[wallet_events.PlayerFact]:
        """What the player is told in private, from the first word on."""
        facts: asyncio.Queue[wallet_events.PlayerFact] = asyncio.Queue()

        async def heard(message: Msg) -> None:
            facts.put_nowait(wallet_events.PlayerFact.FromString(message.data))

        await self.bus.jetstream(timeout=TIMEOUT_S).subscribe(_private(guest), cb=heard, ordered_consumer=True)
        return facts

    async def stored_private_facts(self, guest: SeatedPlayer) -> list[wallet_events.PlayerFact]:
        """All that he was told in private, for when nothing more is to come."""
        kept = (
            await self.bus.jetstream(timeout=TIMEOUT_S).stream_info(STREAM, subjects_filter=_private(guest))
        ).state.subjects
        facts = await self.private_facts(guest)
        async with asyncio.timeout(TIMEOUT_S):
            return [await facts.get() for _ in range((kept or {}).get(_private(guest), 0))]


def _private(guest: SeatedPlayer) -> str:
    """Where he is told what is nobody else's."""
    return f"feltro.player.{guest.player_id}.wallet"


async def wait_until(condition: Callable[[], Awaitable[bool]]) -> None:
    """For what has no event to wait for."""
    async with asyncio.timeout(TIMEOUT_S):
        while not await condition():
            await asyncio.sleep(0.02)


async def refusal(call: Awaitable[object]) -> Refusal:
    """How a call is refused; it is an error if it is not."""
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    return refusal_of(refused.value)


def refusal_of(error: grpc.aio.AioRpcError) -> Refusal:
    status = status_of(error)
    info = None if status is None else error_info(status)
    if info is None:
        raise AssertionError(f"no refusal: {error}")
    return Refusal(info.reason, dict(info.metadata), info.domain, error.code())


def bet_messages(bets: Mapping[str, int]) -> list[roulette_pb2.Bet]:
    return [roulette_pb2.Bet(place=place, amount_cents=cents) for place, cents in bets.items()]


def amounts_by_place(bets: roulette_pb2.Bets) -> dict[str, int]:
    """By place."""
    return {bet.place: bet.amount_cents for bet in bets.bets}


def unpack_bets(box: Message) -> dict[str, int]:
    """Bets that travel among the words of all games."""
    bets = roulette_pb2.Bets()
    assert box.Unpack(bets)  # type: ignore[attr-defined]
    return amounts_by_place(bets)


def unpack_outcome(box: Message) -> roulette_pb2.Outcome:
    outcome = roulette_pb2.Outcome()
    assert box.Unpack(outcome)  # type: ignore[attr-defined]
    return outcome
