"""Two gateways in front of one platform: it does not matter which one a player comes to, nor what is killed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import aiohttp
import pytest

from services.kit import background
from stack.servers.ephemeral import free_port
from stack.servers.nats import EmbeddedNats
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.live_gateway import JsonObject, RpcClient
from tests.gateway.platform.websocket_player import STAKE_CENTS, WebSocketPlayer
from tests.processes.databases import OWNER_ROLE
from tests.processes.databases import ROULETTE_ROLE as ROULETTE_USER
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.gateway import GatewayProcess
from tests.processes.roulette import RouletteProcess, configuration
from tests.processes.service import ServiceProcess
from tests.processes.wallet import WalletProcess
from tests.service.roulette.platform import INDIVIDUAL
from tests.service.roulette_crash.processes import ServerProcess

pytestmark = pytest.mark.slow

SOLO, MANY = "solo_house", "many_house"
WITHIN_S = 60.0
RETRY_AFTER_S = 0.05
# Nothing was done, or it is not known: the same command is sent again.
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
        # The gateways have to have found it, too.
        for gateway in self.gateways:
            await gateway.ready()

    def kill(self, name: str) -> None:
        part: ServerProcess | ServiceProcess = getattr(self, name)
        part.kill()


@pytest.fixture(scope="module")
def house(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TwoGateways]:
    home = tmp_path_factory.mktemp("house")
    for name, user, template in (
        (_WALLET_DATABASE, WALLET_USER, wallet_template),
        (_ROULETTE_DATABASE, ROULETTE_USER, game_template),
    ):
        postgres.ensure_database(name, OWNER_ROLE, user, template=template)
    server = EmbeddedNats(home / "jetstream", free_port())
    wallet = WalletProcess(postgres.url(WALLET_USER, _WALLET_DATABASE), server.url, home)
    made = TwoGateways(
        ServerProcess(server, home / "nats.log"),
        wallet,
        RouletteProcess(
            postgres.url(ROULETTE_USER, _ROULETTE_DATABASE), server.url, home, wallet_address=wallet.address
        ),
        [GatewayProcess("", server.url, home, wallet_address=wallet.address) for _ in range(2)],
    )
    try:
        asyncio.run(_open(made))
        yield made
    finally:
        for process in reversed(made.services):
            process.kill()
        made.bus.kill()
    for name in (_WALLET_DATABASE, _ROULETTE_DATABASE):
        postgres.drop_database(name)


async def _open(house: TwoGateways) -> None:
    house.bus.start()
    await house.bus.ready()
    for process in house.services:
        process.start()
        await process.ready()
    async with house.roulette.client() as roulette:
        await roulette.configure(SOLO, configuration(play=INDIVIDUAL))
        await roulette.configure(MANY, configuration())


@pytest.fixture
async def ana(house: TwoGateways) -> WebSocketPlayer:
    made = WebSocketPlayer(house.gateways[0])
    await made.fund(house.gateways[0])
    return made


async def test_a_bet_through_one_is_seen_at_the_other(house: TwoGateways, ana: WebSocketPlayer) -> None:
    one, other = house.gateways
    async with ana.connect(one) as here, ana.connect(other) as there:
        table_id, round_id = await ana.enter_table(here, SOLO)
        # What the owner says when he takes over a table is told, and its number is to be believed.
        begun = [await client.result("subscribe", table_id=table_id) for client in (here, there)]
        await ana.play_round(here, table_id, round_id)
        told = [await _told(client, int(first["seq"])) for client, first in ((here, begun[0]), (there, begun[1]))]
        # One has begun to watch a moment later, and that may have been within what the owner said first.
        both = min(len(events) for events in told)
        assert told[0][-both:] == told[1][-both:]
        assert any("bets_placed" in event for event in told[0][-both:])
        # A repeat at the other one is the same command.
        bet = ana.bet(
            table_id, (await there.result("TableService.GetTable", table_id=table_id))["table"]["round"]["round_id"]
        )
        stakes = [await client.result("RouletteService.PlaceBets", **bet) for client in (here, there)]
        assert stakes[0]["stake"] == stakes[1]["stake"]


async def test_who_is_shut_out_at_one_is_out_at_the_other(house: TwoGateways, ana: WebSocketPlayer) -> None:
    one, other = house.gateways
    rui = WebSocketPlayer(one)
    async with ana.connect(other) as there, rui.connect(other) as at_work, aiohttp.ClientSession(one.url) as session:
        for client in (there, at_work):
            await client.result("ping")
        await _until_done(session, "/v1/logout", {}, ana.token)
        assert await there.wait_for_close() == 4403
        office = one.issuer.token(["operator"], "back-office")
        await _until_done(
            session, "/v1/operator/revocations", {"subject": rui.name, "reason": "lost his telephone"}, office
        )
        assert await at_work.wait_for_close() == 4403
    async with aiohttp.ClientSession(other.url) as session:
        for player in (ana, rui):
            async with session.get("/v1/ws", headers=_bearer(player.token)) as answer:
                assert (answer.status, (await answer.json(content_type=None))["reason"]) == (401, "TOKEN_REVOKED")


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G9")
async def test_a_gateway_is_killed_under_play(house: TwoGateways, ana: WebSocketPlayer) -> None:
    one, other = house.gateways
    async with ana.connect(one) as here, ana.connect(other) as there:
        await there.result("TableService.EnterTable", table_id=MANY, request_id=str(uuid4()))
        follower = TableFollower(house)
        async with follower.following():
            first = await Bettor(house, ana).bet()
            await follower.wait_for_round(first)
            # A bet of which nobody says whether it counts.
            round_id = await Bettor(house, ana).round_id()
            bet = ana.bet(MANY, round_id)
            await here.ws.send_json({"jsonrpc": "2.0", "id": "x", "method": "RouletteService.PlaceBets", "params": bet})
            one.kill()
            placed = await there.call("RouletteService.PlaceBets", **bet)
            again = await there.call("RouletteService.PlaceBets", **bet)
            assert again.get("result", {}).get("stake") == placed.get("result", {}).get("stake")
            second = await Bettor(house, ana).bet()
            await follower.wait_for_round(second)
    assert follower.connections >= 2
    assert follower.snapshots_received == 1, "he could take up where he was"
    one.start()
    await one.ready()
    await PlayerRecords(house, ana).verify_rounds([first, second] + [round_id] * ("result" in placed))


@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize("victim", ["bus", "wallet", "roulette"])
async def test_what_is_behind_is_killed_under_play(house: TwoGateways, ana: WebSocketPlayer, victim: str) -> None:
    async with ana.connect(house.gateways[1]) as client:
        await client.result("TableService.EnterTable", table_id=MANY, request_id=str(uuid4()))
    follower, bettor = TableFollower(house), Bettor(house, ana)
    async with follower.following():
        rounds = [await bettor.bet()]
        await asyncio.to_thread(house.kill, victim)
        betting = asyncio.create_task(bettor.bet())
        await house.restart(victim)
        rounds.append(await betting)
        await follower.wait_for_round(rounds[-1])
        rounds.append(await bettor.bet())
        await follower.wait_for_round(rounds[-1])
    await PlayerRecords(house, ana).verify_rounds(rounds)


class TableFollower:
    """Watches the table for many at either gateway, and comes back with the last event seen."""

    def __init__(self, house: TwoGateways) -> None:
        self.connections = 0
        self.snapshots_received = 0
        self._house = house
        self._seen: int | None = None
        self._ended: set[str] = set()
        self._over: set[str] = set()
        self._told = asyncio.Event()
        self._following: asyncio.Task[None]

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._follow())
        # What he must not see ends him, and has to be known.
        task.add_done_callback(lambda _: self._told.set())
        self._following = task
        yield
        await background.cancel_and_wait([task])

    async def wait_for_round(self, round_id: str) -> None:
        """Returns when the round is over for whoever watches."""
        async with asyncio.timeout(WITHIN_S):
            while round_id not in self._over:
                if self._following.done():
                    self._following.result()
                self._told.clear()
                await self._told.wait()

    async def _follow(self) -> None:
        while True:
            for gateway in self._house.gateways:
                try:
                    async with aiohttp.ClientSession(gateway.url) as session, session.ws_connect("/v1/ws") as ws:
                        await self._watch(RpcClient(ws))
                except (aiohttp.ClientError, TypeError, TimeoutError):
                    # A connection that is lost says nothing, which is no JSON.
                    await asyncio.sleep(RETRY_AFTER_S)

    async def _watch(self, client: RpcClient) -> None:
        from_seq = {} if self._seen is None else {"from_seq": str(self._seen)}
        answer = await client.call("subscribe", table_id=MANY, **from_seq)
        if "error" in answer:
            return
        self.connections += 1
        opened = answer["result"]
        if not opened["resumed"]:
            self.snapshots_received += 1
            self._picture(opened["table"])
        while True:
            said = client.notifications.pop(0) if client.notifications else await client.ws.receive_json()
            if said["method"] == "snapshot":
                self._picture(said["params"]["table"])
            elif said["method"] == "table":
                self._event(said["params"])

    def _picture(self, table: JsonObject) -> None:
        self._seen = int(table["seq"])
        # What was over before is in the history.
        self._over |= {past["round_id"] for past in table["past_outcomes"]}
        if "round" in table:
            house, _, number = table["round"]["round_id"].rpartition(".")
            self._over |= {f"{house}.{earlier}" for earlier in range(int(number))}
        self._told.set()

    def _event(self, event: JsonObject) -> None:
        if "snapshot_published" in event:
            self._picture(event["snapshot_published"]["snapshot"])
        else:
            assert self._seen is not None
            assert int(event["seq"]) == self._seen + 1, "each event once, in order"
        self._seen = int(event["seq"])
        for kind in ("round_settled", "round_void"):
            if kind in event:
                round_id = event[kind]["round_id"]
                assert round_id not in self._ended, "a round ends once"
                self._ended.add(round_id)
                self._over.add(round_id)
        self._told.set()


@dataclass
class Bettor:
    """Sends a command under one name, at either gateway, until it is answered."""

    house: TwoGateways
    player: WebSocketPlayer
    _at: int = field(default=0)

    async def bet(self) -> str:
        """A bet that counts; its round."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                bet = self.player.bet(MANY, await self.round_id())
                said = await self._until_answered("RouletteService.PlaceBets", bet)
                if "result" in said:
                    return str(bet["round_id"])
                assert said["error"]["data"]["reason"] == "BETTING_CLOSED", said

    async def round_id(self) -> str:
        while True:
            said = await self._until_answered("TableService.GetTable", {"table_id": MANY})
            table = said["result"]["table"] if "result" in said else {}
            if table.get("phase") == "PHASE_BETTING":
                return str(table["round"]["round_id"])
            await asyncio.sleep(RETRY_AFTER_S)

    async def _until_answered(self, method: str, params: JsonObject) -> JsonObject:
        while True:
            gateway = self.house.gateways[self._at % len(self.house.gateways)]
            self._at += 1
            try:
                async with self.player.connect(gateway) as client:
                    said = await client.call(method, **params)
            except (aiohttp.ClientError, TypeError, TimeoutError):
                said = {"error": {"data": {}}}
            if "result" in said or said["error"]["data"].get("reason", "") not in RETRY_REASONS:
                return said
            await asyncio.sleep(RETRY_AFTER_S)


@dataclass
class PlayerRecords:
    """What the platform has kept of a player."""

    house: TwoGateways
    player: WebSocketPlayer

    async def verify_rounds(self, bets: list[str]) -> None:
        """A bet in each of these rounds is what he has played, no more and no less, and the balance what it came to."""
        async with self.player.connect(self.house.gateways[1]) as client, asyncio.timeout(WITHIN_S):
            while True:
                listed = await client.result(
                    "TableService.ListPlayerRounds", game="roulette", player_id=self.player.name
                )
                played = listed["rounds"]
                if all(one["round"]["state"] in {"ROUND_STATE_SETTLED", "ROUND_STATE_VOID"} for one in played):
                    break
                await asyncio.sleep(RETRY_AFTER_S)
            assert len({one["round"]["round_id"] for one in played}) == len(played)
            staked = {one["round"]["round_id"]: int(one["staked_cents"]) for one in played}
            assert staked == {round_id: STAKE_CENTS * count for round_id, count in Counter(bets).items()}
            settled = [one for one in played if one["round"]["state"] == "ROUND_STATE_SETTLED"]
            won = sum(int(one["payout_cents"]) - int(one["staked_cents"]) for one in settled)
            assert await self.player.free_cents(client) == self.player.cents + won


async def _told(client: RpcClient, seen: int) -> list[JsonObject]:
    """What is told of the table until the round is settled, and of the balance besides."""
    events: list[JsonObject] = []
    balance = False
    async with asyncio.timeout(WITHIN_S):
        while not balance or not any("round_settled" in event for event in events):
            said = client.notifications.pop(0) if client.notifications else await client.ws.receive_json()
            if said["method"] == "player":
                balance = balance or "balance_changed" in said["params"]
            else:
                seq = int(said["params"]["seq"])
                assert seq == seen + 1 or "snapshot_published" in said["params"]
                seen = seq
                events.append(said["params"])
    settled = next(number for number, event in enumerate(events) if "round_settled" in event)
    return [event for event in events[: settled + 1] if "snapshot_published" not in event]


async def _until_done(session: aiohttp.ClientSession, path: str, body: JsonObject, token: str) -> None:
    """One command, sent again while the bus is too slow for the gateway."""
    async with asyncio.timeout(WITHIN_S):
        status = 0
        while status in {0, 503}:
            async with session.post(path, json=body, headers=_bearer(token)) as answer:
                status = answer.status
    assert status == 200


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
