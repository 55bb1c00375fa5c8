"""Provokes every reason that an operation documents, as a client would, or says why no client can.

A new reason, or one that a method newly lists in its proto, fails the test until it is provoked here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import any_topic_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from gateway.access.activity import IDLE_LIMIT_S
from gateway.contracts import json_codec
from gateway.contracts.any_types import type_url
from gateway.http.rest import BODY_BYTES_LIMIT
from services.wallet.complaints.states import UNANSWERED_LIMIT
from stack.issuer import AUDIENCE, KeyFolder
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.documented_problems import DocumentedProblems
from tests.gateway.http_gateway import CONTRACTS
from tests.gateway.platform.processes import TIMEOUT_S, Platform
from tests.processes.databases import OWNER_ROLE, ROULETTE_ROLE, WALLET_ROLE
from tests.processes.gateway import Answer, GatewayProcess, RestClient
from tests.processes.roulette import RouletteProcess, configuration
from tests.processes.wallet import WalletProcess
from tests.service.roulette.platform import INDIVIDUAL, MULTI_PLAYER, WINDOW_MS
from tests.service.table.stoppable_nats import StoppableNats

WALLET, TABLE, GATEWAY = "wallet.feltro", "table.feltro", "gateway.feltro"
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"

# The reasons that no client can provoke, and why.
NOT_PROVOKED = {
    (WALLET, "TOKEN_INVALID"): "the gateway verifies the same token first, and refuses it itself",
    (WALLET, "TOKEN_EXPIRED"): "the gateway verifies the same token first, and refuses it itself",
    (TABLE, "TOKEN_INVALID"): "the gateway verifies the same token first, and refuses it itself",
    (TABLE, "TOKEN_EXPIRED"): "the gateway verifies the same token first, and refuses it itself",
    (TABLE, "TABLE_ELSEWHERE"): "the gateway looks for a table for longer than it takes to change owners",
    (WALLET, "OVERLOADED"): "takes 20 000 commands that wait at once; the rate limits are far below",
    (TABLE, "OVERLOADED"): "takes 5 000 bets that wait at once, or 5 000 tables; the rate limits are far below",
    (TABLE, "ROUND_FULL"): "takes a hundred players who each place the most bets allowed; tests/simulation does it",
    (GATEWAY, "OVERLOADED"): "takes more calls in flight to one process than the rate limits let through",
    (WALLET, "AMOUNT_OUT_OF_RANGE"): "takes 100 000 deposits of the largest amount",
    (
        WALLET,
        "SHARED_DEVICE",
    ): "in this platform's one game nobody plays against another; tests/service/poker do it",
    (TABLE, "SHARED_DEVICE"): "in this platform's one game nobody plays against another; tests/service/poker do it",
    (TABLE, "OUTSIDE_PERIOD"): "only caves have periods; tests/service/poker do it",
    (TABLE, "NOT_REGISTERED_FOR_PERIOD"): "only caves have periods; tests/service/poker do it",
    (TABLE, "TOURNAMENT_OVER"): "only poker has tournaments; tests/service/poker_tournament does it",
    (TABLE, "ANSWER_TOO_LARGE"): "no page of a table's answers comes near it",
    **dict.fromkeys(
        (
            (TABLE, reason)
            for reason in ("TURN_OVER", "NOT_YOUR_TURN", "NOT_YOUR_PLACE", "DECISION_ILLEGAL", "INSURANCE_REFUSED")
        ),
        "nobody decides in roulette, the one game of this platform",
    ),
}

JsonObject = dict[str, Any]
Provocation = Callable[["PlatformClient"], Awaitable[Answer]]
PROVOKED: dict[tuple[str, str], Provocation] = {}


def provokes(domain: str, reason: str) -> Callable[[Provocation], Provocation]:
    """Registers the calls that make the platform refuse for this reason."""

    def mark(provocation: Provocation) -> Provocation:
        assert (domain, reason) not in PROVOKED
        PROVOKED[domain, reason] = provocation
        return provocation

    return mark


@dataclass
class Player:
    """A player with an account."""

    player_id: str
    token: str
    account_id: str


@dataclass
class PlatformClient:
    """REST calls with tokens, and control over the processes behind the gateway."""

    platform: Platform
    rest: RestClient
    restricted: RestClient
    """A client of the restricted gateway."""
    postgres: EmbeddedPostgres
    operator_token: str = field(init=False)

    def __post_init__(self) -> None:
        self.operator_token = self.rest.token("operator", "back-office")

    async def post(self, path: str, body: object = None, token: str = "", key: str | None = None) -> Answer:
        return await self.rest.call("POST", path, {} if body is None else body, token or self.operator_token, key=key)

    async def get(self, path: str, token: str = "") -> Answer:
        return await self.rest.call("GET", path, token=token or self.operator_token)

    async def post_ok(self, path: str, body: object = None, token: str = "") -> JsonObject:
        answer = await self.post(path, body, token)
        assert answer.status == 200, answer.body
        return answer.body

    async def player(self, cents: int = 0, mode: str = "MODE_REAL") -> Player:
        player_id = f"p{uuid4().hex[:12]}"
        opened = await self.post_ok("/v1/accounts", {"player_id": player_id, "mode": mode})
        account_id = opened["balance"]["account_id"]
        if cents:
            await self.post_ok(f"/v1/accounts/{account_id}/deposits", {"amount_cents": cents})
        return Player(player_id, self.rest.token("player", player_id), account_id)

    async def seat_player(self, table: str = "individual") -> Seat:
        """Seats a new player at one of TABLES, and returns once a round takes bets there."""
        player = await self.player(1_000)
        entered = await self.post_ok(f"/v1/tables/{table_id(table)}:enter", {}, player.token)
        own_table_id = entered["table"]["table_id"]
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                shown: JsonObject = (await self.get(f"/v1/tables/{own_table_id}")).body
                if shown["table"]["phase"] == "PHASE_BETTING":
                    round_id = shown["table"]["round"]["round_id"]
                    return Seat(self, player, own_table_id, round_id, entered["own_seat"]["session_id"])
                await asyncio.sleep(0.05)

    async def complaint(self) -> str:
        seat = await self.seat_player()
        complaint = {"account_id": seat.player.account_id, "session_id": seat.session_id, "text": "The ball was slow."}
        reference: str = (await self.post_ok("/v1/complaints", complaint))["complaint"]["reference"]
        return reference

    def signed(self, scope: str, subject: str, **claims: object) -> str:
        """Signs a token of the operator's issuer with these claims; a claim that is None is left out."""
        now = int(time.time())
        all_claims = {"aud": AUDIENCE, "sub": subject, "scope": scope, "iat": now, "exp": now + 3600, **claims}
        key = KeyFolder(self.platform.gateway.home).key()
        return key.sign({name: value for name, value in all_claims.items() if value is not None})


@dataclass
class Seat:
    """A player at a table."""

    platform: PlatformClient
    player: Player
    table_id: str
    round_id: str
    session_id: str

    async def command(self, name: str, key: str | None = None, token: str = "", **body: object) -> Answer:
        path = f"/v1/roulette/tables/{self.table_id}{name}"
        return await self.platform.post(path, {"round_id": self.round_id, **body}, token or self.player.token, key)

    async def bet(self, place: str, cents: int, key: str | None = None, token: str = "", **body: object) -> Answer:
        bets = [{"place": place, "amount_cents": cents}]
        return await self.command("/bets", key, token, **{"bets": bets, **body})


def rules(
    play: wallet_types.Play.ValueType = INDIVIDUAL, own: JsonObject | None = None, **more: object
) -> types_pb2.TableConfiguration:
    """Returns the specific rules of a French table; `own` are rules that roulette alone knows."""
    made = configuration(play=play, call_bets=False, **more)  # type: ignore[arg-type]
    if own is not None:
        known = roulette_pb2.SpecificRules()
        made.rules.Unpack(known)
        known.MergeFrom(json_codec.from_json(own, roulette_pb2.SpecificRules))
        made.rules.Pack(known)
    return made


# Opened together before the first test: a process takes a moment to open one.
TABLES = {
    "individual": rules(),
    "switched off": rules(),
    "low maximum": rules(own={"maxima": [{"kind": "KIND_RED", "times_minimum": 2}]}),
    "low total maximum": rules(own={"total_maximum_cents": 500}),
    "no cancelling": rules(cancel_forbidden=True),
    "shared": rules(MULTI_PLAYER, seats=10, window_ms=WINDOW_MS),
    "one seat": rules(MULTI_PLAYER, seats=1, window_ms=WINDOW_MS),
    "large": rules(MULTI_PLAYER, seats=1_000, window_ms=WINDOW_MS, minimum_cents=1),
}


def table_id(table: str) -> str:
    return f"refusals_{table.replace(' ', '_')}"


@pytest.fixture(scope="module", autouse=True)
def open_tables(platform: Platform) -> None:
    """The tables of this file."""
    asyncio.run(platform.open_tables({table_id(table): configured for table, configured in TABLES.items()}))


@pytest.fixture(scope="module")
def restricted_gateway(platform: Platform, postgres: EmbeddedPostgres, game_template: str) -> Iterator[GatewayProcess]:
    """A second gateway: it offers nothing for development or demonstrations, and lets players call only three times.

    Its roulette has a bus and a database of its own, because it is no replica of the platform's.
    """
    wallet, home, database = platform.wallet, platform.gateway.home, "feltro_roulette_restricted"
    postgres.ensure_database(database, OWNER_ROLE, ROULETTE_ROLE, template=game_template)
    with StoppableNats() as bus:
        real_wallet = WalletProcess(wallet.database_url, wallet.nats_url, home, {"FELTRO_WALLET_SESSION_CLOCK": "real"})
        roulette = RouletteProcess(
            postgres.url(ROULETTE_ROLE, database),
            bus.url,
            home,
            {"FELTRO_ROULETTE_TABLE_CLOCK": "real"},
            wallet_address=wallet.address,
        )
        environment = {
            "FELTRO_GATEWAY_DEMO_KEY": "",
            "FELTRO_GATEWAY_PLAYER_CALLS_PER_S": "0.001",
            "FELTRO_GATEWAY_PLAYER_CALLS_AT_ONCE": "3",
        }
        gateway = GatewayProcess("", bus.url, home, environment, wallet_address=real_wallet.address)
        try:
            for process in (real_wallet, roulette, gateway):
                process.start()
                asyncio.run(process.ready())
            yield gateway
        finally:
            for process in (gateway, roulette, real_wallet):
                process.kill()
    postgres.drop_database(database)


@pytest.fixture
async def client(
    platform: Platform, restricted_gateway: GatewayProcess, postgres: EmbeddedPostgres
) -> AsyncIterator[PlatformClient]:
    async with platform.gateway.client() as rest, restricted_gateway.client() as restricted:
        yield PlatformClient(platform, rest, restricted, postgres)


async def restart_wallet(platform: Platform) -> None:
    """Starts the wallet anew, with the settings that it has now."""
    platform.wallet.kill()
    platform.wallet.start()
    await platform.wallet.ready()
    # The gateway has to have noticed, too.
    await platform.gateway.ready()


# -- the wallet ------------------------------------------------------------------------------------------------------


@provokes(WALLET, "INVALID")
async def _(client: PlatformClient) -> Answer:
    return await client.get(f"/v1/transactions?account_id={UNKNOWN_ID}&page_size=501")


@provokes(WALLET, "INSUFFICIENT_FUNDS")
async def _(client: PlatformClient) -> Answer:
    return await client.post(f"/v1/accounts/{(await client.player()).account_id}/withdrawals", {"amount_cents": 1})


@provokes(WALLET, "REQUEST_REUSED")
async def _(client: PlatformClient) -> Answer:
    path = f"/v1/accounts/{(await client.player()).account_id}/deposits"
    key = uuid4().hex
    await client.post(path, {"amount_cents": 1}, key=key)
    return await client.post(path, {"amount_cents": 2}, key=key)


@provokes(WALLET, "PAYOUT_TOO_LARGE")
async def _(client: PlatformClient) -> Answer:
    # No table is entered whose limits are above the wallet's: the operator lowers the wallet's afterwards.
    seat, wallet = await client.seat_player(), client.platform.wallet
    usual = wallet.environment
    try:
        wallet.environment = {**usual, "FELTRO_WALLET_STAKE_PAYOUT_LIMIT_CENTS": "3599"}
        await restart_wallet(client.platform)
        return await seat.bet("17", 100)
    finally:
        wallet.environment = usual
        await restart_wallet(client.platform)


@provokes(WALLET, "ACCOUNT_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get(f"/v1/accounts/{UNKNOWN_ID}/balance")


@provokes(WALLET, "ACCOUNT_BLOCKED")
async def _(client: PlatformClient) -> Answer:
    account = f"/v1/accounts/{(await client.player()).account_id}"
    await client.post_ok(f"{account}:block", {"reason": "test"})
    return await client.post(f"{account}/deposits", {"amount_cents": 1})


@provokes(WALLET, "MODE_MISMATCH")
async def _(client: PlatformClient) -> Answer:
    guest = await client.player(100, "MODE_DEMO")
    return await client.post(f"/v1/accounts/{guest.account_id}/withdrawals", {"amount_cents": 1})


@provokes(WALLET, "TABLE_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/tables/none/sessions")


@provokes(WALLET, "ROUND_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/rounds/none")


@provokes(WALLET, "SESSION_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get(f"/v1/sessions/{UNKNOWN_ID}")


@provokes(WALLET, "SESSION_ENDED")
async def _(client: PlatformClient) -> Answer:
    # At an individual table the ball would be launched at once.
    seat = await client.seat_player("shared")
    assert (await seat.bet("red", 100)).status == 200
    # With a bet on the felt the session ends with the round, and takes no other bet until then.
    await client.post_ok(f"/v1/sessions/{seat.session_id}:end", {}, seat.player.token)
    return await seat.bet("red", 100)


@provokes(WALLET, "SESSION_RUNNING")
async def _(client: PlatformClient) -> Answer:
    seat = await client.seat_player()
    wanted = {"account_id": seat.player.account_id, "table_id": seat.table_id}
    return await client.post("/v1/sessions", wanted, client.operator_token)


@provokes(WALLET, "RULE_VIOLATED")
async def _(client: PlatformClient) -> Answer:
    path = f"/v1/tables/{(await client.seat_player()).table_id}/inactivityPolicy"
    return await client.rest.call("PUT", path, {"invite": True, "idle_seconds": 1}, client.operator_token)


@provokes(WALLET, "TICKET_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get(f"/v1/tickets/{UNKNOWN_ID}/changes")


@provokes(WALLET, "COMPLAINT_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/complaints/R-none")


@provokes(WALLET, "COMPLAINT_NOT_ANSWERED")
async def _(client: PlatformClient) -> Answer:
    return await client.post(f"/v1/complaints/{await client.complaint()}:close")


@provokes(WALLET, "COMPLAINT_CLOSED")
async def _(client: PlatformClient) -> Answer:
    complaint = f"/v1/complaints/{await client.complaint()}"
    await client.post_ok(f"{complaint}:answer", {"text": "It was an ordinary one."})
    await client.post_ok(f"{complaint}:close")
    return await client.post(f"{complaint}:review")


@provokes(WALLET, "COMPLAINTS_UNANSWERED")
async def _(client: PlatformClient) -> Answer:
    seat = await client.seat_player()
    complaint = {"account_id": seat.player.account_id, "session_id": seat.session_id, "text": "The ball was slow."}
    for _ in range(UNANSWERED_LIMIT):
        await client.post_ok("/v1/complaints", complaint)
    return await client.post("/v1/complaints", complaint, seat.player.token)


@provokes(WALLET, "ANSWER_TOO_LARGE")
async def _(client: PlatformClient) -> Answer:
    # Refused commands are recorded too, however long they are.
    for _ in range(40):
        await client.post("/v1/accounts/none/deposits", {"amount_cents": 1, "reference": "€" * 40_000})
    return await client.get("/v1/operator/actions?method=feltro.wallet.v1.WalletService/Deposit")


@provokes(WALLET, "SCOPE_MISSING")
async def _(client: PlatformClient) -> Answer:
    player = await client.player()
    return await client.post(f"/v1/accounts/{player.account_id}/deposits", {"amount_cents": 1}, player.token)


@provokes(WALLET, "NOT_YOURS")
async def _(client: PlatformClient) -> Answer:
    one, other = await client.player(), await client.player()
    return await client.get(f"/v1/players/{other.player_id}/accounts/MODE_REAL", one.token)


@provokes(WALLET, "UNAVAILABLE")
async def _(client: PlatformClient) -> Answer:
    player = await client.player()
    client.postgres.sql(f"ALTER ROLE {WALLET_ROLE} CONNECTION LIMIT 0")
    client.postgres.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{WALLET_ROLE}'")  # noqa: S608
    try:
        return await client.get(f"/v1/accounts/{player.account_id}/balance", player.token)
    finally:
        client.postgres.sql(f"ALTER ROLE {WALLET_ROLE} CONNECTION LIMIT -1")


@provokes(WALLET, "NOT_OFFERED")
async def _(client: PlatformClient) -> Answer:
    path = "/v1/development/sessionClock:advance"
    return await client.restricted.call("POST", path, {"by_ms": 1000}, client.operator_token)


# -- tables ----------------------------------------------------------------------------------------------------------


@provokes(TABLE, "INVALID")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/games/roulette/switches?page_size=501")


@provokes(TABLE, "TABLE_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/tables/none")


@provokes(TABLE, "TABLE_DISABLED")
async def _(client: PlatformClient) -> Answer:
    switched_off = table_id("switched off")
    switch = {"scope": "SWITCH_SCOPE_TABLE", "table_id": switched_off, "enabled": False, "reason": "test"}
    await client.post_ok("/v1/games/roulette/switches", switch)
    return await client.post(f"/v1/tables/{switched_off}:enter", {}, (await client.player()).token)


@provokes(TABLE, "TABLE_FULL")
async def _(client: PlatformClient) -> Answer:
    enter = f"/v1/tables/{table_id('one seat')}:enter"
    await client.post_ok(enter, {}, (await client.player()).token)
    return await client.post(enter, {}, (await client.player()).token)


@provokes(TABLE, "SEAT_TAKEN")
async def _(client: PlatformClient) -> Answer:
    enter = f"/v1/tables/{table_id('shared')}:enter"
    seated = await client.post_ok(enter, {}, (await client.player()).token)
    return await client.post(enter, {"seat": seated["own_seat"]["seat"]}, (await client.player()).token)


@provokes(TABLE, "NOT_SEATED")
async def _(client: PlatformClient) -> Answer:
    seat, other = await client.seat_player("shared"), await client.player()
    return await seat.bet("red", 100, token=other.token)


@provokes(TABLE, "BETTING_CLOSED")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player()).bet("red", 100, round_id="another")


@provokes(TABLE, "BET_ILLEGAL")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player()).bet("38", 100)


@provokes(TABLE, "BET_NOT_OFFERED")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player()).bet("voisins", 100)


@provokes(TABLE, "BELOW_MINIMUM")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player()).bet("red", 99)


@provokes(TABLE, "ABOVE_MAXIMUM")
async def _(client: PlatformClient) -> Answer:
    seat = await client.seat_player("low maximum")
    return await seat.bet("red", 201)


@provokes(TABLE, "ABOVE_TOTAL")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player("low total maximum")).bet("red", 501)


@provokes(TABLE, "ODD_CENTS")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player()).bet("double-dozen-1-2", 101)


@provokes(TABLE, "CANCEL_FORBIDDEN")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player("no cancelling")).command("/bets:cancel")


@provokes(TABLE, "NOT_ON_FELT")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player()).command("/bets:cancel")


@provokes(TABLE, "NOTHING_TO_REPEAT")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player()).command("/bets:repeat")


@provokes(TABLE, "NOTHING_STAKED")
async def _(client: PlatformClient) -> Answer:
    return await (await client.seat_player()).command(":spin")


@provokes(TABLE, "TOO_MANY_BETS")
async def _(client: PlatformClient) -> Answer:
    # A bet on every place is so long a message that few of them are one player's share of a large table.
    seat = await client.seat_player("large")
    layout: JsonObject = (await client.get(f"/v1/roulette/tables/{seat.table_id}/layout")).body
    everywhere = [{"place": place["place"], "amount_cents": 2} for place in layout["places"]]
    while (answer := await seat.command("/bets", bets=everywhere)).status == 200:
        assert (await seat.command("/bets:cancel")).status == 200
    return answer


@provokes(TABLE, "REQUEST_REUSED")
async def _(client: PlatformClient) -> Answer:
    seat, key = await client.seat_player(), uuid4().hex
    assert (await seat.bet("red", 100, key=key)).status == 200
    return await seat.bet("black", 100, key=key)


@provokes(TABLE, "ROUND_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/games/roulette/rounds/none:replay")


@provokes(TABLE, "ROUND_DECIDED")
async def _(client: PlatformClient) -> Answer:
    seat = await client.seat_player()
    assert (await seat.bet("red", 100)).status == 200
    assert (await seat.command(":spin")).status == 200
    return await client.post(f"/v1/tables/{seat.table_id}/rounds/{seat.round_id}:void", {"reason": "test"})


@provokes(TABLE, "RULE_VIOLATED")
async def _(client: PlatformClient) -> Answer:
    wrong = json_codec.to_json(rules(MULTI_PLAYER, window_ms=2_999))
    return await client.post("/v1/tables/t/configurations", {"configuration": wrong, "approval_reference": "SRIJ/test"})


@provokes(TABLE, "TABLE_TAKEN")
async def _(client: PlatformClient) -> Answer:
    taken = f"taken_{uuid4().hex[:12]}"
    async with client.platform.wallet.client() as wallet:
        request = wallet_pb2.RegisterTableRequest(
            table_id=taken,
            game="poker",
            regulation="806/2015",
            mode=wallet_types.MODE_REAL,
            play=wallet_types.PLAY_POKER,
        )
        await wallet.wallet.RegisterTable(request, metadata=wallet.bearer("game", "poker"))
    body = {"configuration": json_codec.to_json(rules()), "approval_reference": "SRIJ/test"}
    return await client.post(f"/v1/tables/{taken}/configurations", body)


@provokes(TABLE, "UNAVAILABLE")
async def _(client: PlatformClient) -> Answer:
    seat = await client.seat_player()
    assert (await seat.bet("red", 100)).status == 200
    assert (await seat.command(":spin")).status == 200
    async with _without_wallet(client):
        return await client.get(f"/v1/games/roulette/rounds/{seat.round_id}:replay")


@provokes(TABLE, "SCOPE_MISSING")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/games/roulette/switches", (await client.player()).token)


@provokes(TABLE, "NOT_YOURS")
async def _(client: PlatformClient) -> Answer:
    one, other = await client.player(), await client.player()
    return await client.get(f"/v1/games/roulette/players/{other.player_id}/rounds", one.token)


@provokes(TABLE, "WRONG_PLAY")
async def _(client: PlatformClient) -> Answer:
    spin = f"/v1/roulette/tables/{table_id('one seat')}:spin"
    return await client.post(spin, {"round_id": "any"}, (await client.player()).token)


# -- the gateway -----------------------------------------------------------------------------------------------------


@provokes(GATEWAY, "INVALID")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/rounds/any?colour=red")


@provokes(GATEWAY, "METHOD_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/nothing")


@provokes(GATEWAY, "TOO_LARGE")
async def _(client: PlatformClient) -> Answer:
    return await client.post("/v1/complaints", {"text": "a" * BODY_BYTES_LIMIT})


@provokes(GATEWAY, "TOKEN_INVALID")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/rounds/any", client.signed("player", "ana", iat=None))


@provokes(GATEWAY, "TOKEN_EXPIRED")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/rounds/any", client.rest.token("player", "ana", -5))


@provokes(GATEWAY, "TOKEN_REVOKED")
async def _(client: PlatformClient) -> Answer:
    player = await client.player()
    await client.post_ok("/v1/logout", {}, player.token)
    return await client.get("/v1/rounds/any", player.token)


@provokes(GATEWAY, "LOGIN_NEEDED")
async def _(client: PlatformClient) -> Answer:
    token = client.signed("player", f"p{uuid4().hex[:12]}", iat=int(time.time()) - IDLE_LIMIT_S - 1)
    async with asyncio.timeout(TIMEOUT_S):
        # A gateway that has just started does not know yet when the player was last active.
        while (answer := await client.get("/v1/rounds/any", token)).body["reason"] == "UNAVAILABLE":
            await asyncio.sleep(0.05)
    return answer


@provokes(GATEWAY, "SCOPE_MISSING")
async def _(client: PlatformClient) -> Answer:
    revoked = {"subject": "somebody", "reason": "test"}
    return await client.post("/v1/operator/revocations", revoked, (await client.player()).token)


@provokes(GATEWAY, "RATE_LIMITED")
async def _(client: PlatformClient) -> Answer:
    token = client.rest.token("player", f"p{uuid4().hex[:12]}")
    for _ in range(3):
        assert (await client.restricted.call("GET", "/v1/rounds/any", token=token)).status != 429
    return await client.restricted.call("GET", "/v1/rounds/any", token=token)


@provokes(GATEWAY, "UNAVAILABLE")
async def _(client: PlatformClient) -> Answer:
    player = await client.player()
    async with _without_wallet(client):
        return await client.get(f"/v1/accounts/{player.account_id}/balance", player.token)


@provokes(TABLE, "NOT_OFFERED")
async def _(client: PlatformClient) -> Answer:
    path = "/v1/development/tableClock:advance"
    return await client.restricted.call("POST", path, {"game": "roulette", "by_ms": 1000}, client.operator_token)


@provokes(GATEWAY, "NOT_OFFERED")
async def _(client: PlatformClient) -> Answer:
    return await client.restricted.call("POST", "/v1/demo:enter")


@provokes(GATEWAY, "GAME_UNKNOWN")
async def _(client: PlatformClient) -> Answer:
    return await client.get("/v1/games/chess/tables")


@asynccontextmanager
async def _without_wallet(client: PlatformClient) -> AsyncIterator[None]:
    client.platform.wallet.kill()
    try:
        yield
    finally:
        await restart_wallet(client.platform)


@pytest.mark.parametrize(("domain", "reason"), sorted(PROVOKED))
async def test_a_provoked_call_is_refused_with_the_documented_reason(
    client: PlatformClient, domain: str, reason: str
) -> None:
    answer = await PROVOKED[domain, reason](client)
    assert (answer.body["domain"], answer.body["reason"]) == (domain, reason), answer.body
    async with client.rest.session.get(f"/problems/{reason}") as explained:
        page = await explained.json()
    assert answer.status == page["statuses"][domain]
    facts = answer.body["facts"]
    assert isinstance(facts, dict)
    assert set(_promised_facts(page["meanings"][domain])) <= set(facts), facts


def _promised_facts(meaning: str) -> list[str]:
    """Returns the facts that a reason always has, by the words of its documentation."""
    _, promised, names = meaning.partition("Facts: ")
    first = names.partition(".")[0]
    plain = promised and "," not in first.partition(" ")[0] and not any(word in first for word in (" if ", " or ", ";"))
    return [name.strip().partition(" ")[0] for name in first.split(",")] if plain else []


async def test_a_game_without_decisions_refuses_them(client: PlatformClient) -> None:
    """Over the very same method as any other game, with any game's decision, and before the table is asked."""
    seat = await client.seat_player()
    path = f"/v1/tables/{seat.table_id}/rounds/{seat.round_id}:act"
    for move in CONTRACTS.messages_about(any_topic_pb2.ANY_TOPIC_MOVE):
        answer = await client.post(path, {"turn": 1, "move": {"@type": type_url(move)}}, seat.player.token)
        assert (answer.status, answer.body["reason"]) == (409, "WRONG_PLAY"), answer.body
        assert answer.body["facts"] == {"table_id": seat.table_id, "play": "PLAY_INDIVIDUAL"}


async def test_every_documented_reason_is_provoked_or_known_to_be_unreachable(client: PlatformClient) -> None:
    async with client.rest.session.get("/openapi.json") as answer:
        document = await answer.json()
    documented = DocumentedProblems(document)
    served = {each["game"] for each in (await client.get("/v1/games")).body["games"]}  # type: ignore[attr-defined]
    packages = {message.file.package for message in CONTRACTS.messages_about(any_topic_pb2.ANY_TOPIC_RULES)}
    services = {method.descriptor.containing_service for method in CONTRACTS.methods}
    elsewhere = {
        service.name
        for service in services
        if service.file.package in packages and service.file.package.split(".")[1] not in served
    }
    reasons = {
        (domain, reason)
        for verbs in document["paths"].values()
        for operation in verbs.values()
        if operation["operationId"].partition("_")[0] not in elsewhere
        for _, domain, reason in documented.reasons(operation)
    }
    # No operation documents the reason for calls of none.
    reasons.add((GATEWAY, "METHOD_UNKNOWN"))
    assert not set(PROVOKED) & set(NOT_PROVOKED)
    assert reasons == set(PROVOKED) | set(NOT_PROVOKED)


async def test_an_undocumented_reason_fails_the_verification(client: PlatformClient) -> None:
    async with client.rest.session.get("/openapi.json") as answer:
        documented = DocumentedProblems(await answer.json())
    problem = {"domain": WALLET, "reason": "STALE_EPOCH"}
    with pytest.raises(AssertionError, match="WalletService_GetBalance"):
        documented.verify("GET", "/v1/accounts/a/balance?x=1", 409, problem)
