"""Operators' commands at the real platform: each is on record, and a switch takes effect everywhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, cast
from uuid import uuid4

import pytest

from feltro.table.v1 import types_pb2
from gateway.contracts import json_codec
from services.kit.telemetry import trace
from tests.gateway.live_gateway import RpcClient
from tests.gateway.platform.processes import TIMEOUT_S, Platform
from tests.processes.gateway import RestClient
from tests.processes.roulette import configuration
from tests.service.roulette.platform import INDIVIDUAL

ACTIONS = "/v1/operator/actions"
SWITCHES = "/v1/operator/switches"
RELEVANT = "/v1/operator/relevantEvents"
JsonObject = dict[str, Any]
# One for each test that needs a table of its own: a process takes a moment to open one.
SPARE_TABLES = 6


@pytest.fixture(scope="module")
def spare_tables(platform: Platform) -> Iterator[str]:
    """Individual tables that no test has used yet, all alike."""
    table_ids = [f"spare_{number}" for number in range(SPARE_TABLES)]
    asyncio.run(platform.open_tables({table_id: _configuration() for table_id in table_ids}))
    return iter(table_ids)


@pytest.fixture
async def operator(platform: Platform, spare_tables: Iterator[str]) -> AsyncIterator[Operator]:
    async with platform.gateway.client() as client:
        yield Operator(client, spare_tables)


def _configuration(minimum_cents: int = 200) -> types_pb2.TableConfiguration:
    return configuration(play=INDIVIDUAL, minimum_cents=minimum_cents)


class Operator:
    """An operator whose own name tells its commands from those of other tests."""

    def __init__(self, client: RestClient, spare_tables: Iterator[str]) -> None:
        self.client = client
        self._spare_tables = spare_tables
        self.name = f"office-{uuid4().hex[:8]}"
        self.token = client.token("operator", self.name)
        self.headers = {"Authorization": f"Bearer {self.token}"}

    async def request(
        self,
        verb: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, JsonObject, dict[str, str]]:
        answer = await self.client.call(verb, path, body, self.token, key=key, headers=headers)
        return answer.status, cast("JsonObject", answer.body), answer.headers

    async def post_ok(self, path: str, body: object, verb: str = "POST") -> JsonObject:
        status, answer, _ = await self.request(verb, path, body)
        assert status == 200, answer
        return answer

    async def actions(self, **asked: str) -> list[JsonObject]:
        query = "&".join(f"{name}={value}" for name, value in ({"subject": self.name} | asked).items())
        status, answer, _ = await self.request("GET", f"{ACTIONS}?{query}")
        assert status == 200, answer
        return cast("list[JsonObject]", answer["actions"])

    async def player(self) -> tuple[str, str]:
        """Makes a player with an account; returns the ids of both."""
        player_id = f"p{uuid4().hex[:12]}"
        opened = await self.post_ok("/v1/accounts", {"player_id": player_id, "mode": "MODE_REAL"})
        account_id: str = opened["balance"]["account_id"]
        return player_id, account_id

    def spare_table(self) -> str:
        """Returns an individual table that is open and that no other test uses."""
        return next(self._spare_tables)

    async def configure(self, table_id: str, approval: str, minimum_cents: int = 200) -> JsonObject:
        rules = json.loads(json_codec.encode(_configuration(minimum_cents)))
        return await self.post_ok(
            f"/v1/tables/{table_id}/configurations", {"configuration": rules, "approval_reference": approval}
        )

    async def enter(self, table_id: str, player_id: str) -> tuple[int, JsonObject]:
        token = self.client.token("player", player_id)
        answer = await self.client.call("POST", f"/v1/tables/{table_id}:enter", {}, token)
        return answer.status, cast("JsonObject", answer.body)

    async def enter_table(self, table_id: str, player_id: str) -> tuple[JsonObject, str]:
        """Seats a player at their own table; returns the answer, and the round that takes bets there."""
        status, entered = await self.enter(table_id, player_id)
        assert status == 200, entered
        shown = entered

        async def takes_bets() -> bool:
            nonlocal shown
            _, shown, _ = await self.request("GET", f"/v1/tables/{entered['table']['table_id']}")
            return bool(shown["table"]["phase"] == "PHASE_BETTING")

        await wait_until(takes_bets)
        return entered, shown["table"]["round"]["round_id"]


async def wait_until(condition: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not await condition():
            await asyncio.sleep(0.05)


def methods(actions: list[JsonObject]) -> list[tuple[str, str]]:
    """Returns the methods of actions and how each ended, oldest first."""
    return [(action["method"].rpartition(".")[2], action["outcome"]["status"]) for action in reversed(actions)]


@pytest.mark.rule("903-B/2015:6.3.6.7", "903-B/2015:6.3.6.6")
async def test_every_command_of_an_operator_is_on_record_with_its_outcome(
    platform: Platform, operator: Operator
) -> None:
    player_id, account_id = await operator.player()
    traced = trace.begin("a call")
    key = str(uuid4())
    status, _, headers = await operator.request(
        "POST",
        f"/v1/accounts/{account_id}/deposits",
        {"amount_cents": 5_000},
        key=key,
        headers={"Traceparent": trace.header_of(traced)},
    )
    assert status == 200
    assert headers["X-Trace-Id"] == trace.trace_id_of(traced)
    status, refused, _ = await operator.request("POST", f"/v1/accounts/{uuid4()}/deposits", {"amount_cents": 5_000})
    assert (status, refused["reason"]) == (404, "ACCOUNT_UNKNOWN")
    async with operator.client.session.ws_connect(
        "/v1/ws", headers={"Authorization": f"Bearer {operator.token}"}
    ) as ws:
        await RpcClient(ws).result(
            "WalletService.BlockAccount", account_id=account_id, reason="at the player's request"
        )
    table_id = f"t{uuid4().hex[:8]}"
    await operator.configure(table_id, "SRIJ/test")
    scope = {"scope": "SWITCH_SCOPE_TABLE", "table_id": table_id, "enabled": False, "reason": "the felt is torn"}
    await operator.post_ok("/v1/games/roulette/switches", scope)
    await operator.post_ok("/v1/operator/revocations", {"subject": player_id, "reason": "stolen phone"})
    await operator.request("GET", f"/v1/accounts/{account_id}/balance")

    actions = await operator.actions()
    assert methods(actions) == [
        ("WalletService/OpenAccount", "OK"),
        ("WalletService/Deposit", "OK"),
        ("WalletService/Deposit", "NOT_FOUND"),
        ("WalletService/BlockAccount", "OK"),
        ("TableService/ConfigureTable", "OK"),
        ("TableService/SetSwitch", "OK"),
        ("GatewayService/RevokeSubject", "OK"),
    ]
    deposit, refusal = actions[-2], actions[-3]
    assert (deposit["subject"], deposit["address"]) == (operator.name, "127.0.0.1")
    assert (deposit["request_id"], deposit["trace_id"]) == (key, trace.trace_id_of(traced))
    assert json.loads(deposit["request"])["amount_cents"] == "5000"
    assert deposit["at"] <= deposit["outcome"]["at"]
    assert refusal["outcome"]["reason"] == "ACCOUNT_UNKNOWN"
    assert methods(await operator.actions(object=account_id)) == [
        ("WalletService/Deposit", "OK"),
        ("WalletService/BlockAccount", "OK"),
    ]
    assert methods(await operator.actions(object=player_id)) == [
        ("WalletService/OpenAccount", "OK"),
        ("GatewayService/RevokeSubject", "OK"),
    ]
    assert methods(await operator.actions(object=table_id, method="feltro.table.v1.TableService/SetSwitch")) == [
        ("TableService/SetSwitch", "OK")
    ]


@pytest.mark.rule("903-B/2015:6.3.6.7", "903-B/2015:6.3.3")
async def test_voiding_a_round_is_on_record_with_its_reason(operator: Operator) -> None:
    player_id, _ = await operator.player()
    entered, round_id = await operator.enter_table(operator.spare_table(), player_id)
    table_id = entered["table"]["table_id"]
    await operator.post_ok(f"/v1/tables/{table_id}/rounds/{round_id}:void", {"reason": "the wheel stands still"})
    (voided,) = await operator.actions(object=round_id)
    assert voided["method"] == "feltro.table.v1.TableService/VoidOpenRound"
    assert json.loads(voided["request"])["reason"] == "the wheel stands still"
    assert voided["outcome"]["status"] == "OK"


@pytest.mark.rule("903-B/2015:6.3.6.7")
async def test_an_operator_who_revokes_their_own_token_is_on_record(operator: Operator) -> None:
    async with operator.client.session.ws_connect(
        "/v1/ws", headers={"Authorization": f"Bearer {operator.token}"}
    ) as ws:
        call = {"subject": operator.name, "reason": "I am leaving"}
        await ws.send_json({"jsonrpc": "2.0", "id": 1, "method": "GatewayService.RevokeSubject", "params": call})
        assert await RpcClient(ws).wait_for_close() == 4403
    other = Operator(operator.client, iter(()))

    async def on_record() -> list[JsonObject]:
        return [action for action in await other.actions(subject=operator.name) if "outcome" in action]

    await wait_until(on_record)
    (revoked,) = await on_record()
    assert (revoked["method"], revoked["outcome"]["status"]) == ("feltro.gateway.v1.GatewayService/RevokeSubject", "OK")


@pytest.mark.rule("903-B/2015:6.3.6.7")
async def test_only_operators_read_the_action_log(operator: Operator) -> None:
    for scope, refused in (("player", (403, "SCOPE_MISSING")), ("game", (401, "TOKEN_INVALID"))):
        answer = await operator.client.call("GET", ACTIONS, token=operator.client.token(scope, "ana"))
        assert (answer.status, answer.body["reason"]) == refused
    assert (await operator.client.call("GET", ACTIONS)).status == 401


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_operators_see_large_deposits_withdrawals_and_prizes(operator: Operator) -> None:
    player_id, account_id = await operator.player()
    token = operator.client.token("player", player_id)
    for cents in (199_999, 200_000, 30_001):
        await operator.post_ok(f"/v1/accounts/{account_id}/deposits", {"amount_cents": cents, "reference": "cashier 7"})
    await operator.post_ok(f"/v1/accounts/{account_id}/withdrawals", {"amount_cents": 200_000})
    entered, round_id = await operator.enter_table(operator.spare_table(), player_id)
    own, table_id = entered["own_seat"], entered["table"]["table_id"]
    # On every number, so that one wins: of 2 220 euro, 36 times 60 come back.
    bets = [{"place": str(number), "amount_cents": 6_000} for number in range(37)]
    path = f"/v1/roulette/tables/{table_id}"
    placed = await operator.client.call("POST", f"{path}/bets", {"round_id": round_id, "bets": bets}, token)
    assert placed.status == 200, placed.body
    spun = await operator.client.call("POST", f"{path}:spin", {"round_id": round_id}, token)
    assert spun.status == 200, spun.body

    async def relevant_events(query: str = "") -> list[JsonObject]:
        status, answer, _ = await operator.request("GET", f"{RELEVANT}?page_size=500{query}")
        assert status == 200, answer
        return [event for event in answer["events"] if event["player_id"] == player_id]

    async def has_prize() -> bool:
        return len(await relevant_events()) == 3

    await wait_until(has_prize)
    prize, withdrawal, deposit = await relevant_events()
    assert [event["kind"].removeprefix("RELEVANT_EVENT_KIND_") for event in (prize, withdrawal, deposit)] == [
        "LARGE_PRIZE",
        "LARGE_WITHDRAWAL",
        "LARGE_DEPOSIT",
    ]
    assert (prize["amount_cents"], prize["staked_cents"], prize["limit_cents"]) == ("216000", "222000", "200000")
    assert (prize["round_id"], prize["table_id"], prize["game"]) == (round_id, table_id, "roulette")
    assert (prize["session_id"], prize["ordered_by"]) == (own["session_id"], "roulette")
    assert (deposit["amount_cents"], deposit["ordered_by"], deposit["reference"]) == (
        "200000",
        operator.name,
        "cashier 7",
    )
    assert (withdrawal["amount_cents"], withdrawal["account_id"]) == ("200000", account_id)
    assert await relevant_events("&kind=RELEVANT_EVENT_KIND_LARGE_PRIZE") == [prize]
    assert await relevant_events(f"&since={withdrawal['at']}&until={prize['at']}") == [withdrawal]

    for query, field in (("kind=LARGE", "kind"), ("page_size=501", "page_size"), ("since=yesterday", "since")):
        status, refused, _ = await operator.request("GET", f"{RELEVANT}?{query}")
        assert (status, refused["reason"], refused["facts"]["field"]) == (400, "INVALID", field)
    for scope, refusal in (("player", (403, "SCOPE_MISSING")), ("game", (401, "TOKEN_INVALID"))):
        answer = await operator.client.call("GET", RELEVANT, token=operator.client.token(scope, player_id))
        assert (answer.status, answer.body["reason"]) == refusal
    assert (await operator.client.call("GET", RELEVANT)).status == 401


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_changes_of_parameters_show_the_values_before_and_after(operator: Operator) -> None:
    placement_id = operator.spare_table()
    await operator.configure(placement_id, "SRIJ/second", minimum_cents=300)
    status, listed, _ = await operator.request("GET", f"/v1/tables/{placement_id}/configurations")
    assert status == 200, listed
    by_number = {version["version"]: version for version in listed["versions"]}
    change = listed["changes"][0]
    after, before = by_number[change["version"]], by_number[change["replaces"]]
    assert listed["changes"][1] == {"version": 1, "replaces": 0}
    assert (before["configuration"]["rules"]["minimum_cents"], before["approval_reference"]) == ("200", "SRIJ/test")
    assert (after["configuration"]["rules"]["minimum_cents"], after["approval_reference"]) == ("300", "SRIJ/second")
    assert (after["entered_by"], after["entered_at"] > before["entered_at"]) == (operator.name, True)

    player_id, _ = await operator.player()
    _, entered = await operator.enter(placement_id, player_id)
    # Under the listed id, for the tables of all players.
    path = f"/v1/tables/{placement_id}/inactivityPolicy"
    for seconds in (600, 700):
        await operator.post_ok(path, {"invite": True, "idle_seconds": seconds}, "PUT")
    for table_id in (placement_id, entered["table"]["table_id"]):
        status, shown, _ = await operator.request("GET", f"/v1/tables/{table_id}/inactivityPolicy")
        assert (status, shown["policy"]["idle_seconds"]) == (200, 700)
    status, omitted, _ = await operator.request("PUT", path, {})
    assert (status, omitted["facts"]) == (400, {"field": "policy.invite"})
    status, page, _ = await operator.request("GET", f"{path}/changes")
    assert status == 200, page
    seconds_of = [(each["before"]["idle_seconds"], each["after"]["idle_seconds"]) for each in page["changes"]]
    assert seconds_of == [(600, 700), (180, 600)]
    assert {each["changed_by"] for each in page["changes"]} == {operator.name}
    answer = await operator.client.call("GET", f"{path}/changes", token=operator.client.token("player", player_id))
    assert (answer.status, answer.body["reason"]) == (403, "SCOPE_MISSING")


@pytest.mark.slow
@pytest.mark.rule("903-B/2015:6.3.6.7")
@pytest.mark.guarantee("G12")
async def test_g12_a_command_that_cannot_be_recorded_is_not_carried_out(platform: Platform, operator: Operator) -> None:
    player_id, _ = await operator.player()
    table_id = operator.spare_table()
    scope = {"scope": "SWITCH_SCOPE_TABLE", "table_id": table_id, "enabled": False, "reason": "the felt is torn"}
    platform.wallet.kill()
    try:
        # Neither command needs the wallet, only its record does.
        answers = await asyncio.gather(
            operator.request("POST", "/v1/operator/revocations", {"subject": player_id, "reason": "stolen phone"}),
            operator.request("POST", "/v1/games/roulette/switches", scope),
        )
    finally:
        platform.wallet.start()
        await platform.wallet.ready()
        # The gateway has to have noticed, too.
        await platform.gateway.ready()
    assert {(status, answer["reason"]) for status, answer, _ in answers} == {(503, "UNAVAILABLE")}
    log = await operator.request("GET", "/v1/games/roulette/switches?page_size=1")
    assert table_id not in json.dumps(log[1])

    async def is_let_in() -> bool:
        return (await operator.enter(table_id, player_id))[0] == 200

    # It takes a moment until the roulette has found the wallet again.
    await wait_until(is_let_in)
    assert methods(await operator.actions(object=player_id)) == [("WalletService/OpenAccount", "OK")]


@pytest.mark.slow
@pytest.mark.rule("903-B/2015:6.3.1")
@pytest.mark.guarantee("G12")
async def test_switching_off_the_platform_reaches_a_game_that_was_down(platform: Platform, operator: Operator) -> None:
    (player_id, _), table_id = await operator.player(), operator.spare_table()

    async def is_switched_off() -> bool:
        status, answer = await operator.enter(table_id, player_id)
        reason = "the regulator asks for it"
        return (status, answer.get("reason"), answer.get("facts", {}).get("why")) == (409, "TABLE_DISABLED", reason)

    async def is_let_in() -> bool:
        return (await operator.enter(table_id, player_id))[0] == 200

    platform.roulette.kill()
    await operator.post_ok(SWITCHES, {"enabled": False, "reason": "the regulator asks for it"})
    platform.roulette.start()
    await platform.roulette.ready()
    try:
        # From its first moment on it lets nobody in, not once.
        async with asyncio.timeout(TIMEOUT_S):
            while not await is_switched_off():
                assert not await is_let_in()
                await asyncio.sleep(0.05)
    finally:
        await operator.post_ok(SWITCHES, {"enabled": True, "reason": "the regulator is content"})
    await wait_until(is_let_in)
    logged = (await operator.request("GET", f"{SWITCHES}?page_size=2"))[1]["switches"]
    assert [(each["enabled"], each["reason"], each["set_by"]) for each in logged] == [
        (True, "the regulator is content", operator.name),
        (False, "the regulator asks for it", operator.name),
    ]
    assert (
        methods(await operator.actions(method="feltro.wallet.v1.PlatformService/SetPlatformSwitch"))
        == [("PlatformService/SetPlatformSwitch", "OK")] * 2
    )


@pytest.mark.rule("903-B/2015:6.3.1")
async def test_an_operator_blocks_and_unblocks_one_player(operator: Operator) -> None:
    (player_id, account_id), table_id = await operator.player(), operator.spare_table()
    await operator.post_ok(f"/v1/accounts/{account_id}:block", {"reason": "at the player's request"})
    status, answer = await operator.enter(table_id, player_id)
    await operator.post_ok(f"/v1/accounts/{account_id}:unblock", {"reason": "at the player's request"})
    assert (status, answer.get("reason")) == (409, "ACCOUNT_BLOCKED")
    assert (await operator.enter(table_id, player_id))[0] == 200
    assert methods(await operator.actions(object=account_id)) == [
        ("WalletService/BlockAccount", "OK"),
        ("WalletService/UnblockAccount", "OK"),
    ]
