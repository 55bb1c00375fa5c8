"""Two gateways in front of one platform: players may use either, and any process may be killed."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import aiohttp
import pytest

from services.kit import background
from stack.servers.ephemeral import EphemeralNats, free_port
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.live_gateway import JsonObject, RpcClient
from tests.gateway.platform.processes import GENEROUS_LIMITS, TIMEOUT_S
from tests.gateway.platform.websocket_player import STAKE_CENTS, WebSocketPlayer
from tests.processes.databases import OWNER_ROLE, ROULETTE_ROLE, WALLET_ROLE
from tests.processes.gateway import GatewayProcess
from tests.processes.roulette import RouletteProcess, configuration
from tests.processes.service import ServiceProcess
from tests.processes.wallet import WalletProcess
from tests.service.roulette.platform import INDIVIDUAL
from tests.service.roulette_crash.processes import ServerProcess

pytestmark = pytest.mark.slow

SOLO, MANY = "individual_table", "shared_table"
RETRY_AFTER_S = 0.1
# Nothing was done, or that is unknown: the same command is sent again.
RETRY_REASONS = {"UNAVAILABLE", "TABLE_ELSEWHERE", "OVERLOADED", "RATE_LIMITED", ""}
_WALLET_DATABASE, _ROULETTE_DATABASE = "feltro_wallet_of_many", "feltro_roulette_of_many"


@dataclass
class TwoGateways:
    """One platform and its two gateways."""

    bus: ServerProcess
    wallet: WalletProcess
    roulette: RouletteProcess
    gateways: list[GatewayProcess]

    @property
    def services(self) -> list[ServiceProcess]:
        return [self.wallet, self.roulette, *self.gateways]

    async def restart(self, name: str) -> None:
        if name == "bus":
            self.bus.start()
            await self.bus.ready()
        else:
            process: ServiceProcess = getattr(self, name)
            process.start()
            await process.ready()
        # The gateways have to have noticed, too.
        for gateway in self.gateways:
            await gateway.ready()

    def kill(self, name: str) -> None:
        part: ServerProcess | ServiceProcess = getattr(self, name)
        part.kill()


@pytest.fixture(scope="module")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TwoGateways]:
    home = tmp_path_factory.mktemp("platform")
    for name, user, template in (
        (_WALLET_DATABASE, WALLET_ROLE, wallet_template),
        (_ROULETTE_DATABASE, ROULETTE_ROLE, game_template),
    ):
        postgres.ensure_database(name, OWNER_ROLE, user, template=template)
    server = EphemeralNats(home, free_port())
    wallet = WalletProcess(postgres.url(WALLET_ROLE, _WALLET_DATABASE), server.url, home)
    platform = TwoGateways(
        ServerProcess(server, home / "nats.log"),
        wallet,
        RouletteProcess(
            postgres.url(ROULETTE_ROLE, _ROULETTE_DATABASE), server.url, home, wallet_address=wallet.address
        ),
        [GatewayProcess("", server.url, home, GENEROUS_LIMITS, wallet_address=wallet.address) for _ in range(2)],
    )
    try:
        asyncio.run(_open(platform))
        yield platform
    finally:
        for process in reversed(platform.services):
            process.kill()
        platform.bus.kill()
    for name in (_WALLET_DATABASE, _ROULETTE_DATABASE):
        postgres.drop_database(name)


async def _open(platform: TwoGateways) -> None:
    platform.bus.start()
    await platform.bus.ready()
    for process in platform.services:
        process.start()
        await process.ready()
    async with platform.roulette.client() as roulette:
        await roulette.configure(SOLO, configuration(play=INDIVIDUAL))
        await roulette.configure(MANY, configuration())


@pytest.fixture
async def player(platform: TwoGateways) -> WebSocketPlayer:
    player = WebSocketPlayer(platform.gateways[0])
    await player.fund(platform.gateways[0])
    return player


async def test_a_bet_through_one_gateway_is_seen_at_the_other(platform: TwoGateways, player: WebSocketPlayer) -> None:
    first, second = platform.gateways
    async with player.connect(first) as at_first, player.connect(second) as at_second:
        clients = at_first, at_second
        table_id, round_id = await player.enter_table(at_first, SOLO)
        # An owner publishes a snapshot when it takes over a table, and the snapshot's number is to be believed.
        opened = [await client.result("subscribe", table_id=table_id) for client in clients]
        await player.play_round(at_first, table_id, round_id)
        received = [
            await _read_round(client, int(snapshot["seq"])) for client, snapshot in zip(clients, opened, strict=True)
        ]
        # The second subscribed a moment later, perhaps only after the owner's first events.
        common = min(len(events) for events in received)
        assert received[0][-common:] == received[1][-common:]
        assert any("bets_placed" in event for event in received[0][-common:])
        # The same bet through the other gateway is the same command.
        shown = await at_second.result("TableService.GetTable", table_id=table_id)
        bet = player.bet(table_id, shown["table"]["round"]["round_id"])
        stakes = [await client.result("RouletteService.PlaceBets", **bet) for client in clients]
        assert stakes[0]["stake"] == stakes[1]["stake"]


async def test_a_token_revoked_at_one_gateway_is_refused_at_the_other(
    platform: TwoGateways, player: WebSocketPlayer
) -> None:
    first, second = platform.gateways
    revoked = WebSocketPlayer(first)
    async with (
        player.connect(second) as logged_out_client,
        revoked.connect(second) as revoked_client,
        aiohttp.ClientSession(first.url) as session,
    ):
        for client in (logged_out_client, revoked_client):
            await client.result("ping")
        await _post_until_done(session, "/v1/logout", {}, player.token)
        assert await logged_out_client.wait_for_close() == 4403
        operator_token = first.issuer.token(["operator"], "back-office")
        revocation = {"subject": revoked.name, "reason": "lost telephone"}
        await _post_until_done(session, "/v1/operator/revocations", revocation, operator_token)
        assert await revoked_client.wait_for_close() == 4403
    async with aiohttp.ClientSession(second.url) as session:
        for token in (player.token, revoked.token):
            async with session.get("/v1/ws", headers=_bearer(token)) as answer:
                assert (answer.status, (await answer.json(content_type=None))["reason"]) == (401, "TOKEN_REVOKED")


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G9")
async def test_play_goes_on_when_a_gateway_is_killed(platform: TwoGateways, player: WebSocketPlayer) -> None:
    killed, remaining = platform.gateways
    async with player.connect(killed) as lost_client, player.connect(remaining) as client:
        await client.result("TableService.EnterTable", table_id=MANY, request_id=str(uuid4()))
        follower = TableFollower(platform)
        async with follower.following():
            before = await Bettor(platform, player).bet()
            await follower.wait_for_round(before)
            # A bet whose answer is lost with the gateway.
            round_id = await Bettor(platform, player).round_id()
            bet = player.bet(MANY, round_id)
            call = {"jsonrpc": "2.0", "id": "x", "method": "RouletteService.PlaceBets", "params": bet}
            await lost_client.ws.send_json(call)
            killed.kill()
            placed = await client.call("RouletteService.PlaceBets", **bet)
            again = await client.call("RouletteService.PlaceBets", **bet)
            assert again.get("result", {}).get("stake") == placed.get("result", {}).get("stake")
            after = await Bettor(platform, player).bet()
            await follower.wait_for_round(after)
    assert follower.connections >= 2
    assert follower.snapshots_received == 1, "the follower resumes where it was"
    killed.start()
    await killed.ready()
    await PlayerRecords(platform, player).verify_rounds([before, after] + [round_id] * ("result" in placed))


@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize("victim", ["bus", "wallet", "roulette"])
async def test_play_goes_on_when_a_process_behind_the_gateways_is_killed(
    platform: TwoGateways, player: WebSocketPlayer, victim: str
) -> None:
    async with player.connect(platform.gateways[1]) as client:
        await client.result("TableService.EnterTable", table_id=MANY, request_id=str(uuid4()))
    follower, bettor = TableFollower(platform), Bettor(platform, player)
    async with follower.following():
        rounds = [await bettor.bet()]
        await asyncio.to_thread(platform.kill, victim)
        betting = asyncio.create_task(bettor.bet())
        await platform.restart(victim)
        rounds.append(await betting)
        await follower.wait_for_round(rounds[-1])
        rounds.append(await bettor.bet())
        await follower.wait_for_round(rounds[-1])
    await PlayerRecords(platform, player).verify_rounds(rounds)


class TableFollower:
    """Watches the multi-player table at either gateway, and resumes after the last event that it has seen."""

    def __init__(self, platform: TwoGateways) -> None:
        self.connections = 0
        self.snapshots_received = 0
        self._platform = platform
        self._seen: int | None = None
        self._ended: set[str] = set()
        self._over: set[str] = set()
        self._changed = asyncio.Event()
        self._following: asyncio.Task[None]

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._follow())
        # A failure ends the task, and `wait_for_round` has to notice.
        task.add_done_callback(lambda _: self._changed.set())
        self._following = task
        yield
        await background.cancel_and_wait([task])

    async def wait_for_round(self, round_id: str) -> None:
        """Returns when the watched events say that the round is over."""
        async with asyncio.timeout(TIMEOUT_S):
            while round_id not in self._over:
                if self._following.done():
                    self._following.result()
                self._changed.clear()
                await self._changed.wait()

    async def _follow(self) -> None:
        while True:
            for gateway in self._platform.gateways:
                try:
                    async with aiohttp.ClientSession(gateway.url) as session, session.ws_connect("/v1/ws") as ws:
                        await self._watch(RpcClient(ws))
                except (aiohttp.ClientError, TypeError, TimeoutError):
                    # A lost connection is read as no text, which is a TypeError.
                    await asyncio.sleep(RETRY_AFTER_S)

    async def _watch(self, client: RpcClient) -> None:
        from_seq = {} if self._seen is None else {"from_seq": str(self._seen)}
        answer = await client.call("subscribe", table_id=MANY, **from_seq)
        if "error" in answer:
            return
        self.connections += 1
        subscribed = answer["result"]
        if not subscribed["resumed"]:
            self.snapshots_received += 1
            self._on_snapshot(subscribed["table"])
        while True:
            message = client.notifications.pop(0) if client.notifications else await client.ws.receive_json()
            if message["method"] == "snapshot":
                self._on_snapshot(message["params"]["table"])
            elif message["method"] == "table":
                self._on_event(message["params"])

    def _on_snapshot(self, table: JsonObject) -> None:
        self._seen = int(table["seq"])
        # Rounds that ended earlier are in the history, or have lower numbers.
        self._over |= {past["round_id"] for past in table["past_outcomes"]}
        if "round" in table:
            placement_id, _, number = table["round"]["round_id"].rpartition(".")
            self._over |= {f"{placement_id}.{earlier}" for earlier in range(int(number))}
        self._changed.set()

    def _on_event(self, event: JsonObject) -> None:
        if "snapshot_published" in event:
            self._on_snapshot(event["snapshot_published"]["snapshot"])
        else:
            assert self._seen is not None
            assert int(event["seq"]) == self._seen + 1, "each event once, in order"
        self._seen = int(event["seq"])
        for kind in ("round_settled", "round_voided"):
            if kind in event:
                round_id = event[kind]["round_id"]
                assert round_id not in self._ended, "a round ends once"
                self._ended.add(round_id)
                self._over.add(round_id)
        self._changed.set()


@dataclass
class Bettor:
    """Sends a command under one request id, through either gateway, until it is answered."""

    platform: TwoGateways
    player: WebSocketPlayer
    _at: int = field(default=0)

    async def bet(self) -> str:
        """Places a bet that counts, and returns its round."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                bet = self.player.bet(MANY, await self.round_id())
                answer = await self._call_until_answered("RouletteService.PlaceBets", bet)
                if "result" in answer:
                    return str(bet["round_id"])
                assert answer["error"]["data"]["reason"] == "BETTING_CLOSED", answer

    async def round_id(self) -> str:
        while True:
            answer = await self._call_until_answered("TableService.GetTable", {"table_id": MANY})
            table = answer["result"]["table"] if "result" in answer else {}
            if table.get("phase") == "PHASE_BETTING":
                return str(table["round"]["round_id"])
            await asyncio.sleep(RETRY_AFTER_S)

    async def _call_until_answered(self, method: str, params: JsonObject) -> JsonObject:
        while True:
            gateway = self.platform.gateways[self._at % len(self.platform.gateways)]
            self._at += 1
            try:
                async with self.player.connect(gateway) as client:
                    answer = await client.call(method, **params)
            except (aiohttp.ClientError, TypeError, TimeoutError):
                answer = {"error": {"data": {}}}
            if "result" in answer or answer["error"]["data"].get("reason", "") not in RETRY_REASONS:
                return answer
            await asyncio.sleep(RETRY_AFTER_S)


@dataclass
class PlayerRecords:
    """The records that the platform keeps of a player."""

    platform: TwoGateways
    player: WebSocketPlayer

    async def verify_rounds(self, bets: list[str]) -> None:
        """Fails unless the player has a bet in each of these rounds, no other, and the balance that follows."""
        async with self.player.connect(self.platform.gateways[1]) as client, asyncio.timeout(TIMEOUT_S):
            while True:
                listed = await client.result(
                    "TableService.ListPlayerRounds", game="roulette", player_id=self.player.name
                )
                played = listed["rounds"]
                if all(past["round"]["state"] in {"ROUND_STATE_SETTLED", "ROUND_STATE_VOID"} for past in played):
                    break
                await asyncio.sleep(RETRY_AFTER_S)
            assert len({past["round"]["round_id"] for past in played}) == len(played)
            staked = {past["round"]["round_id"]: int(past["staked_cents"]) for past in played}
            assert staked == {round_id: STAKE_CENTS * count for round_id, count in Counter(bets).items()}
            settled = [past for past in played if past["round"]["state"] == "ROUND_STATE_SETTLED"]
            won = sum(int(past["payout_cents"]) - int(past["staked_cents"]) for past in settled)
            assert await self.player.free_cents(client) == self.player.cents + won


@pytest.mark.guarantee("G5")
@pytest.mark.guarantee("G12")
async def test_g5_a_revoked_token_stays_revoked_when_the_bus_forgets_everything(
    platform: TwoGateways, player: WebSocketPlayer
) -> None:
    first, second = platform.gateways
    revoked = WebSocketPlayer(first)
    async with aiohttp.ClientSession(first.url) as session:
        await _post_until_done(session, "/v1/logout", {}, player.token)
        operator_token = first.issuer.token(["operator"], "back-office")
        revocation = {"subject": revoked.name, "reason": "lost telephone"}
        await _post_until_done(session, "/v1/operator/revocations", revocation, operator_token)
    for gateway in platform.gateways:
        gateway.kill()
    platform.kill("bus")
    shutil.rmtree(platform.bus.server.home)
    for gateway in platform.gateways:
        gateway.start()
    await platform.restart("bus")
    for gateway in (first, second):
        async with aiohttp.ClientSession(gateway.url) as session:
            for token in (player.token, revoked.token):
                async with session.get("/v1/ws", headers=_bearer(token)) as answer:
                    assert (answer.status, (await answer.json(content_type=None))["reason"]) == (401, "TOKEN_REVOKED")


async def _read_round(client: RpcClient, seen: int) -> list[JsonObject]:
    """Reads until the round is settled and the balance has changed; returns the events, without snapshots."""
    events: list[JsonObject] = []
    balance = False
    async with asyncio.timeout(TIMEOUT_S):
        while not balance or not any("round_settled" in event for event in events):
            message = await client.next_message()
            if message["method"] == "player":
                balance = balance or "balance_changed" in message["params"]
            else:
                seq = int(message["params"]["seq"])
                assert seq == seen + 1 or "snapshot_published" in message["params"]
                seen = seq
                events.append(message["params"])
    settled = next(number for number, event in enumerate(events) if "round_settled" in event)
    return [event for event in events[: settled + 1] if "snapshot_published" not in event]


async def _post_until_done(session: aiohttp.ClientSession, path: str, body: JsonObject, token: str) -> None:
    """Sends one command, again while the bus is too slow for the gateway."""
    async with asyncio.timeout(TIMEOUT_S):
        status = 0
        while status in {0, 503}:
            async with session.post(path, json=body, headers=_bearer(token)) as answer:
                status = answer.status
            await asyncio.sleep(0.05)
    assert status == 200


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
