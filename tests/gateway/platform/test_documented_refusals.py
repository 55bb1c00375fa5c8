"""Every reason that an operation documents is provoked by a client from outside, or it is said why none can.

A new reason, or one that a method newly lists in its proto, makes this fail until somebody provokes it here.
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

from gateway.access.activity import IDLE_LIMIT_S
from gateway.http.rest import BODY_BYTES_LIMIT
from services.wallet.complaints.rows import UNANSWERED_LIMIT
from stack.issuer import AUDIENCE, KeyFolder
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.documented_problems import DocumentedProblems
from tests.gateway.platform.processes import Platform, running_platform
from tests.processes.databases import OWNER_ROLE, ROULETTE_ROLE, ROULETTE_TEMPLATE, WALLET_ROLE
from tests.processes.gateway import Answer, GatewayProcess, RestClient
from tests.processes.roulette import RouletteProcess
from tests.processes.wallet import WalletProcess
from tests.service.table.stoppable_nats import StoppableNats

WALLET, TABLE, GATEWAY = "wallet.feltro", "table.feltro", "gateway.feltro"
WITHIN_S = 60.0
NOBODY = "00000000-0000-4000-8000-000000000000"

# What no client from outside can bring about, and why.
NOT_PROVOKED = {
    (WALLET, "TOKEN_INVALID"): "the gateway reads the same token before, and says so itself",
    (WALLET, "TOKEN_EXPIRED"): "the gateway reads the same token before, and says so itself",
    (TABLE, "TOKEN_INVALID"): "the gateway reads the same token before, and says so itself",
    (TABLE, "TOKEN_EXPIRED"): "the gateway reads the same token before, and says so itself",
    (TABLE, "TABLE_ELSEWHERE"): "the gateway goes after a table for longer than it takes to change hands",
    (WALLET, "OVERLOADED"): "takes 20 000 commands that wait at once; the limits of calls are far below",
    (TABLE, "OVERLOADED"): "takes 5 000 bets that wait at once, or 5 000 tables; the limits of calls are far below",
    (TABLE, "ROUND_FULL"): "takes a hundred players who each bet as often as one may; tests/simulation does it",
    (GATEWAY, "OVERLOADED"): "takes more calls under way to one process than the limits of calls let through",
    (WALLET, "AMOUNT_OUT_OF_RANGE"): "takes 100 000 deposits of the largest amount",
    (TABLE, "ANSWER_TOO_LARGE"): "no page of what tables tell comes near it",
}

JsonObject = dict[str, Any]
Provocation = Callable[["PlatformClient"], Awaitable[Answer]]
PROVOKED: dict[tuple[str, str], Provocation] = {}


def provokes(domain: str, reason: str) -> Callable[[Provocation], Provocation]:
    """Marks what makes the platform refuse for this reason."""

    def mark(provocation: Provocation) -> Provocation:
        assert (domain, reason) not in PROVOKED
        PROVOKED[domain, reason] = provocation
        return provocation

    return mark


@dataclass
class Player:
    """Somebody with an account."""

    player_id: str
    token: str
    account_id: str


@dataclass
class PlatformClient:
    """The platform from outside: an address, and tokens."""

    running: Platform
    client: RestClient
    postgres: EmbeddedPostgres
    office: str = field(init=False)

    def __post_init__(self) -> None:
        self.office = self.client.token("operator", "back-office")

    async def post(self, path: str, body: object = None, token: str = "", key: str | None = None) -> Answer:
        return await self.client.call("POST", path, {} if body is None else body, token or self.office, key=key)

    async def get(self, path: str, token: str = "") -> Answer:
        return await self.client.call("GET", path, token=token or self.office)

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
        return Player(player_id, self.client.token("player", player_id), account_id)

    async def table(self, *, play: str = "PLAY_INDIVIDUAL", own: JsonObject | None = None, **more: object) -> str:
        """One that is open; `own` are rules that roulette alone knows."""
        table_id = f"t{uuid4().hex[:8]}"
        await self.post_ok(f"/v1/tables/{table_id}/configurations", rules(play, own, **more))
        async with asyncio.timeout(WITHIN_S):
            while (await self.get(f"/v1/roulette/tables/{table_id}/layout")).status != 200:
                await asyncio.sleep(0.05)
        return table_id

    async def seat_player(
        self, *, play: str = "PLAY_INDIVIDUAL", own: JsonObject | None = None, **more: object
    ) -> Seat:
        """A player at a table of his own, with a round that takes bets; at one for many if they are named."""
        player = await self.player(1_000)
        placement_id = await self.table(play=play, own=own, **more)
        entered = await self.post_ok(f"/v1/tables/{placement_id}:enter", {}, player.token)
        table_id = entered["table"]["table_id"]
        async with asyncio.timeout(WITHIN_S):
            while True:
                shown: JsonObject = (await self.get(f"/v1/tables/{table_id}")).body
                if shown["table"]["phase"] == "PHASE_BETTING":
                    round_id = shown["table"]["round"]["round_id"]
                    return Seat(self, player, table_id, round_id, entered["own_seat"]["session_id"])
                await asyncio.sleep(0.05)

    async def complaint(self) -> str:
        seat = await self.seat_player()
        about = {"account_id": seat.player.account_id, "session_id": seat.session_id, "text": "The ball was slow."}
        reference: str = (await self.post_ok("/v1/complaints", about))["complaint"]["reference"]
        return reference

    def signed(self, scope: str, subject: str, **claims: object) -> str:
        """A token of the operator's issuer with these claims; None for one that it does not say."""
        now = int(time.time())
        said = {"aud": AUDIENCE, "sub": subject, "scope": scope, "iat": now, "exp": now + 3600, **claims}
        key = KeyFolder(self.running.gateway.home).key()
        return key.sign({name: value for name, value in said.items() if value is not None})


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


def rules(play: str, own: JsonObject | None = None, **more: object) -> JsonObject:
    """The specific rules of a French table."""
    roulette = {"@type": "type.googleapis.com/feltro.roulette.v1.SpecificRules", "wheel": "WHEEL_FRENCH"}
    configuration: JsonObject = {"game": "roulette", "regulation": "807/2015", "mode": "MODE_REAL", "play": play}
    configuration |= {"name": {"pt": "Mesa", "en": "Table"}, "rules": {**roulette, "minimum_cents": 100, **(own or {})}}
    return {"configuration": {**configuration, **more}, "approval_reference": "SRIJ/test"}


@pytest.fixture(scope="module")
def running(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    # Whoever asks two hundred times gets too many answers in no time that a busy machine might take for them.
    slow = {"FELTRO_GATEWAY_PLAYER_CALLS_PER_S": "1"}
    with running_platform(
        postgres, (wallet_template, game_template), tmp_path_factory.mktemp("platform"), slow
    ) as running:
        yield running


@pytest.fixture
async def house(running: Platform, postgres: EmbeddedPostgres) -> AsyncIterator[PlatformClient]:
    async with running.gateway.client() as client:
        yield PlatformClient(running, client, postgres)


# -- the wallet ------------------------------------------------------------------------------------------------------


@provokes(WALLET, "INVALID")
async def _(house: PlatformClient) -> Answer:
    return await house.get(f"/v1/accounts/{NOBODY}/transactions?page_size=501")


@provokes(WALLET, "INSUFFICIENT_FUNDS")
async def _(house: PlatformClient) -> Answer:
    return await house.post(f"/v1/accounts/{(await house.player()).account_id}/withdrawals", {"amount_cents": 1})


@provokes(WALLET, "REQUEST_REUSED")
async def _(house: PlatformClient) -> Answer:
    path = f"/v1/accounts/{(await house.player()).account_id}/deposits"
    key = uuid4().hex
    await house.post(path, {"amount_cents": 1}, key=key)
    return await house.post(path, {"amount_cents": 2}, key=key)


@provokes(WALLET, "ACCOUNT_UNKNOWN")
async def _(house: PlatformClient) -> Answer:
    return await house.get(f"/v1/accounts/{NOBODY}/balance")


@provokes(WALLET, "ACCOUNT_BLOCKED")
async def _(house: PlatformClient) -> Answer:
    account = f"/v1/accounts/{(await house.player()).account_id}"
    await house.post_ok(f"{account}:block", {"reason": "test"})
    return await house.post(f"{account}/deposits", {"amount_cents": 1})


@provokes(WALLET, "MODE_MISMATCH")
async def _(house: PlatformClient) -> Answer:
    trying = await house.player(100, "MODE_DEMO")
    return await house.post(f"/v1/accounts/{trying.account_id}/withdrawals", {"amount_cents": 1})


@provokes(WALLET, "TABLE_UNKNOWN")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/tables/none/sessions")


@provokes(WALLET, "ROUND_UNKNOWN")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/rounds/none")


@provokes(WALLET, "SESSION_UNKNOWN")
async def _(house: PlatformClient) -> Answer:
    return await house.get(f"/v1/sessions/{NOBODY}")


@provokes(WALLET, "SESSION_ENDED")
async def _(house: PlatformClient) -> Answer:
    # Where he plays alone the ball would be launched for him at once.
    seat = await house.seat_player(play="PLAY_MULTI_PLAYER", betting_window_ms=600_000, seats=10)
    assert (await seat.bet("red", 100)).status == 200
    # With a bet on the felt it ends with the round, and until then takes no other.
    await house.post_ok(f"/v1/sessions/{seat.session_id}:end", {}, seat.player.token)
    return await seat.bet("red", 100)


@provokes(WALLET, "SESSION_RUNNING")
async def _(house: PlatformClient) -> Answer:
    seat = await house.seat_player()
    wanted = {"account_id": seat.player.account_id, "table_id": seat.table_id}
    return await house.post("/v1/sessions", wanted, house.office)


@provokes(WALLET, "RULE_VIOLATED")
async def _(house: PlatformClient) -> Answer:
    path = f"/v1/tables/{(await house.seat_player()).table_id}/inactivityPolicy"
    return await house.client.call("PUT", path, {"invite": True, "idle_seconds": 1}, house.office)


@provokes(WALLET, "COMPLAINT_UNKNOWN")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/complaints/R-none")


@provokes(WALLET, "COMPLAINT_NOT_ANSWERED")
async def _(house: PlatformClient) -> Answer:
    return await house.post(f"/v1/complaints/{await house.complaint()}:close")


@provokes(WALLET, "COMPLAINT_CLOSED")
async def _(house: PlatformClient) -> Answer:
    complaint = f"/v1/complaints/{await house.complaint()}"
    await house.post_ok(f"{complaint}:answer", {"text": "It was an ordinary one."})
    await house.post_ok(f"{complaint}:close")
    return await house.post(f"{complaint}:review")


@provokes(WALLET, "COMPLAINTS_UNANSWERED")
async def _(house: PlatformClient) -> Answer:
    seat = await house.seat_player()
    about = {"account_id": seat.player.account_id, "session_id": seat.session_id, "text": "The ball was slow."}
    for _ in range(UNANSWERED_LIMIT):
        await house.post_ok("/v1/complaints", about)
    return await house.post("/v1/complaints", about, seat.player.token)


@provokes(WALLET, "ANSWER_TOO_LARGE")
async def _(house: PlatformClient) -> Answer:
    # What is refused is written down too, as long as it is.
    for _ in range(40):
        await house.post("/v1/accounts/none/deposits", {"amount_cents": 1, "reference": "€" * 40_000})
    return await house.get("/v1/operator/actions?method=feltro.wallet.v1.WalletService/Deposit")


@provokes(WALLET, "SCOPE_MISSING")
async def _(house: PlatformClient) -> Answer:
    player = await house.player()
    return await house.post(f"/v1/accounts/{player.account_id}/deposits", {"amount_cents": 1}, player.token)


@provokes(WALLET, "NOT_YOURS")
async def _(house: PlatformClient) -> Answer:
    one, other = await house.player(), await house.player()
    return await house.get(f"/v1/accounts/{other.account_id}/balance", one.token)


@provokes(WALLET, "UNAVAILABLE")
async def _(house: PlatformClient) -> Answer:
    player = await house.player()
    house.postgres.sql(f"ALTER ROLE {WALLET_ROLE} CONNECTION LIMIT 0")
    house.postgres.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{WALLET_ROLE}'")  # noqa: S608
    try:
        return await house.get(f"/v1/accounts/{player.account_id}/balance", player.token)
    finally:
        house.postgres.sql(f"ALTER ROLE {WALLET_ROLE} CONNECTION LIMIT -1")


@provokes(WALLET, "NOT_OFFERED")
async def _(house: PlatformClient) -> Answer:
    async with _of_production(house) as client:
        return await client.call("POST", "/v1/development/sessionClock:advance", {"by": "1s"}, house.office)


# -- tables ----------------------------------------------------------------------------------------------------------


@provokes(TABLE, "INVALID")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/games/roulette/switches?page_size=501")


@provokes(TABLE, "TABLE_UNKNOWN")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/tables/none")


@provokes(TABLE, "TABLE_DISABLED")
async def _(house: PlatformClient) -> Answer:
    table_id = await house.table()
    switch = {"scope": "SWITCH_SCOPE_TABLE", "table_id": table_id, "enabled": False, "reason": "test"}
    await house.post_ok("/v1/games/roulette/switches", switch)
    return await house.post(f"/v1/tables/{table_id}:enter", {}, (await house.player()).token)


@provokes(TABLE, "TABLE_FULL")
async def _(house: PlatformClient) -> Answer:
    table_id = await house.table(play="PLAY_MULTI_PLAYER", seats=1, betting_window_ms=600_000)
    await house.post_ok(f"/v1/tables/{table_id}:enter", {}, (await house.player()).token)
    return await house.post(f"/v1/tables/{table_id}:enter", {}, (await house.player()).token)


@provokes(TABLE, "NOT_SEATED")
async def _(house: PlatformClient) -> Answer:
    seat, other = await house.seat_player(), await house.player()
    return await seat.bet("red", 100, token=other.token)


@provokes(TABLE, "BETTING_CLOSED")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player()).bet("red", 100, round_id="another")


@provokes(TABLE, "BET_ILLEGAL")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player()).bet("38", 100)


@provokes(TABLE, "BET_NOT_OFFERED")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player()).bet("voisins", 100)


@provokes(TABLE, "BELOW_MINIMUM")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player()).bet("red", 99)


@provokes(TABLE, "ABOVE_MAXIMUM")
async def _(house: PlatformClient) -> Answer:
    seat = await house.seat_player(own={"maxima": [{"kind": "KIND_RED", "times_minimum": 2}]})
    return await seat.bet("red", 201)


@provokes(TABLE, "ABOVE_TOTAL")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player(own={"total_maximum_cents": 500})).bet("red", 501)


@provokes(TABLE, "ODD_CENTS")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player()).bet("double-dozen-1-2", 101)


@provokes(TABLE, "CANCEL_FORBIDDEN")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player(cancel_forbidden=True)).command("/bets:cancel")


@provokes(TABLE, "NOT_ON_FELT")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player()).command("/bets:cancel")


@provokes(TABLE, "NOTHING_TO_REPEAT")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player()).command("/bets:repeat")


@provokes(TABLE, "NOTHING_STAKED")
async def _(house: PlatformClient) -> Answer:
    return await (await house.seat_player()).command(":spin")


@provokes(TABLE, "TOO_MANY_BETS")
async def _(house: PlatformClient) -> Answer:
    # A bet on every place is said with so many words that few of them are one player's share of a large table.
    own = {"minimum_cents": 1}
    seat = await house.seat_player(play="PLAY_MULTI_PLAYER", own=own, betting_window_ms=600_000, seats=1_000)
    layout: JsonObject = (await house.get(f"/v1/roulette/tables/{seat.table_id}/layout")).body
    everywhere = [{"place": place["place"], "amount_cents": 2} for place in layout["places"]]
    while (answer := await seat.command("/bets", bets=everywhere)).status == 200:
        assert (await seat.command("/bets:cancel")).status == 200
    return answer


@provokes(TABLE, "REQUEST_REUSED")
async def _(house: PlatformClient) -> Answer:
    seat, key = await house.seat_player(), uuid4().hex
    assert (await seat.bet("red", 100, key=key)).status == 200
    return await seat.bet("black", 100, key=key)


@provokes(TABLE, "ROUND_UNKNOWN")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/games/roulette/rounds/none:replay")


@provokes(TABLE, "ROUND_DECIDED")
async def _(house: PlatformClient) -> Answer:
    return await house.post(
        f"/v1/tables/{(await house.seat_player()).table_id}/rounds/another:void", {"reason": "test"}
    )


@provokes(TABLE, "RULE_VIOLATED")
async def _(house: PlatformClient) -> Answer:
    return await house.post("/v1/tables/t/configurations", rules("PLAY_MULTI_PLAYER", seats=1, betting_window_ms=2_999))


@provokes(TABLE, "UNAVAILABLE")
async def _(house: PlatformClient) -> Answer:
    seat = await house.seat_player()
    assert (await seat.bet("red", 100)).status == 200
    assert (await seat.command(":spin")).status == 200
    async with _without_wallet(house):
        return await house.get(f"/v1/games/roulette/rounds/{seat.round_id}:replay")


@provokes(TABLE, "SCOPE_MISSING")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/games/roulette/switches", (await house.player()).token)


@provokes(TABLE, "NOT_YOURS")
async def _(house: PlatformClient) -> Answer:
    one, other = await house.player(), await house.player()
    return await house.get(f"/v1/games/roulette/players/{other.player_id}/rounds", one.token)


@provokes(TABLE, "WRONG_PLAY")
async def _(house: PlatformClient) -> Answer:
    table_id = await house.table(play="PLAY_MULTI_PLAYER", seats=1, betting_window_ms=600_000)
    return await house.post(f"/v1/roulette/tables/{table_id}:spin", {"round_id": "any"}, (await house.player()).token)


# -- the gateway -----------------------------------------------------------------------------------------------------


@provokes(GATEWAY, "INVALID")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/rounds/any?colour=red")


@provokes(GATEWAY, "METHOD_UNKNOWN")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/nothing")


@provokes(GATEWAY, "TOO_LARGE")
async def _(house: PlatformClient) -> Answer:
    return await house.post("/v1/complaints", {"text": "a" * BODY_BYTES_LIMIT})


@provokes(GATEWAY, "TOKEN_INVALID")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/rounds/any", house.signed("player", "ana", iat=None))


@provokes(GATEWAY, "TOKEN_EXPIRED")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/rounds/any", house.client.token("player", "ana", -5))


@provokes(GATEWAY, "TOKEN_REVOKED")
async def _(house: PlatformClient) -> Answer:
    player = await house.player()
    await house.post_ok("/v1/logout", {}, player.token)
    return await house.get("/v1/rounds/any", player.token)


@provokes(GATEWAY, "LOGIN_NEEDED")
async def _(house: PlatformClient) -> Answer:
    token = house.signed("player", f"p{uuid4().hex[:12]}", iat=int(time.time()) - IDLE_LIMIT_S - 1)
    async with asyncio.timeout(WITHIN_S):
        # A gateway that has just started cannot tell yet.
        while (answer := await house.get("/v1/rounds/any", token)).body["reason"] == "UNAVAILABLE":
            await asyncio.sleep(0.05)
    return answer


@provokes(GATEWAY, "SCOPE_MISSING")
async def _(house: PlatformClient) -> Answer:
    revoked = {"subject": "somebody", "reason": "test"}
    return await house.post("/v1/operator/revocations", revoked, (await house.player()).token)


@provokes(GATEWAY, "RATE_LIMITED")
async def _(house: PlatformClient) -> Answer:
    token = house.client.token("player", f"p{uuid4().hex[:12]}")
    answers = await asyncio.gather(*(house.get("/v1/rounds/any", token) for _ in range(200)))
    return next(answer for answer in answers if answer.status == 429)


@provokes(GATEWAY, "UNAVAILABLE")
async def _(house: PlatformClient) -> Answer:
    player = await house.player()
    async with _without_wallet(house):
        return await house.get(f"/v1/accounts/{player.account_id}/balance", player.token)


@provokes(TABLE, "NOT_OFFERED")
async def _(house: PlatformClient) -> Answer:
    async with _game_of_production(house) as client:
        body = {"game": "roulette", "by": "1s"}
        return await client.call("POST", "/v1/development/tableClock:advance", body, house.office)


@provokes(GATEWAY, "NOT_OFFERED")
async def _(house: PlatformClient) -> Answer:
    async with _of_production(house) as client:
        return await client.call("POST", "/v1/demo:enter")


@provokes(GATEWAY, "GAME_UNKNOWN")
async def _(house: PlatformClient) -> Answer:
    return await house.get("/v1/games/chess/tables")


@asynccontextmanager
async def _without_wallet(house: PlatformClient) -> AsyncIterator[None]:
    house.running.wallet.kill()
    try:
        yield
    finally:
        house.running.wallet.start()
        await house.running.wallet.ready()
        # The gateway has to have found it, too.
        await house.running.gateway.ready()


@asynccontextmanager
async def _of_production(house: PlatformClient) -> AsyncIterator[RestClient]:
    """A second wallet and a second gateway, which offer nothing that is for development or demonstrations."""
    first, home = house.running.wallet, house.running.gateway.home
    wallet = WalletProcess(first.database_url, first.nats_url, home, {"FELTRO_WALLET_SESSION_CLOCK": "real"})
    gateway = GatewayProcess("", first.nats_url, home, {"FELTRO_GATEWAY_DEMO_KEY": ""}, wallet_address=wallet.address)
    try:
        for process in (wallet, gateway):
            process.start()
            await process.ready()
        async with gateway.client() as client:
            yield client
    finally:
        gateway.kill()
        wallet.kill()


@asynccontextmanager
async def _game_of_production(house: PlatformClient) -> AsyncIterator[RestClient]:
    """A roulette whose clock nobody moves, on a bus and a database of its own: no replica of the one beside it."""
    wallet, home, database = house.running.wallet, house.running.gateway.home, "feltro_roulette_of_production"
    house.postgres.ensure_database(database, OWNER_ROLE, ROULETTE_ROLE, template=ROULETTE_TEMPLATE.name)
    with StoppableNats() as bus:
        roulette = RouletteProcess(
            house.postgres.url(ROULETTE_ROLE, database),
            bus.url,
            home,
            {"FELTRO_ROULETTE_TABLE_CLOCK": "real"},
            wallet_address=wallet.address,
        )
        gateway = GatewayProcess("", bus.url, home, wallet_address=wallet.address)
        try:
            for process in (roulette, gateway):
                process.start()
                await process.ready()
            async with gateway.client() as client:
                yield client
        finally:
            gateway.kill()
            roulette.kill()
    house.postgres.drop_database(database)


@pytest.mark.parametrize(("domain", "reason"), sorted(PROVOKED))
async def test_it_is_refused_for_the_reason_and_the_reason_is_documented(
    house: PlatformClient, domain: str, reason: str
) -> None:
    answer = await PROVOKED[domain, reason](house)
    assert (answer.body["domain"], answer.body["reason"]) == (domain, reason), answer.body
    async with house.client.session.get(f"/problems/{reason}") as explained:
        said = await explained.json()
    assert answer.status == said["statuses"][domain]
    facts = answer.body["facts"]
    assert isinstance(facts, dict)
    assert set(_facts(said["meanings"][domain])) <= set(facts), facts


def _facts(words: str) -> list[str]:
    """What the words of a reason promise, where they do not say that it depends."""
    _, promised, names = words.partition("Facts: ")
    first = names.partition(".")[0]
    plain = promised and "," not in first.partition(" ")[0] and not any(word in first for word in (" if ", " or ", ";"))
    return [name.strip().partition(" ")[0] for name in first.split(",")] if plain else []


async def test_every_documented_reason_is_provoked_or_cannot_be(house: PlatformClient) -> None:
    async with house.client.session.get("/openapi.json") as answer:
        document = await answer.json()
    documented = DocumentedProblems(document)
    reasons = {
        (domain, reason)
        for verbs in document["paths"].values()
        for operation in verbs.values()
        for _, domain, reason in documented.reasons(operation)
    }
    # No operation can document that there is none.
    reasons.add((GATEWAY, "METHOD_UNKNOWN"))
    assert not set(PROVOKED) & set(NOT_PROVOKED)
    assert reasons == set(PROVOKED) | set(NOT_PROVOKED)


async def test_a_reason_that_is_not_documented_would_be_noticed(house: PlatformClient) -> None:
    async with house.client.session.get("/openapi.json") as answer:
        documented = DocumentedProblems(await answer.json())
    said = {"domain": WALLET, "reason": "STALE_EPOCH"}
    with pytest.raises(AssertionError, match="WalletService_GetBalance"):
        documented.verify("GET", "/v1/accounts/a/balance?x=1", 409, said)
