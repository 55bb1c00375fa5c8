"""The operator's hand at the real platform: what he commands is on record, and all games are off when he says so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, cast
from uuid import uuid4

import pytest

from gateway.contracts import json_codec
from services.kit.trace import start_span
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.live_gateway import RpcClient
from tests.gateway.platform.processes import Platform, running_platform
from tests.processes.gateway import RestClient
from tests.processes.roulette import configuration
from tests.service.roulette.platform import INDIVIDUAL

ACTIONS = "/v1/operator/actions"
SWITCHES = "/v1/operator/switches"
RELEVANT = "/v1/operator/relevantEvents"
WITHIN_S = 60.0
Said = dict[str, Any]


@pytest.fixture(scope="module")
def running(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    with running_platform(postgres, (wallet_template, game_template), tmp_path_factory.mktemp("platform")) as running:
        yield running


@pytest.fixture
async def office(running: Platform) -> AsyncIterator[Office]:
    async with running.gateway.client() as client:
        yield Office(client)


class Office:
    """A back office with a name of its own, so that its commands are told from those of other tests."""

    def __init__(self, client: RestClient) -> None:
        self.client = client
        self.name = f"office-{uuid4().hex[:8]}"
        self.token = client.token("operator", self.name)

    async def request(
        self,
        verb: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, Said, dict[str, str]]:
        answer = await self.client.call(verb, path, body, self.token, key=key, headers=headers)
        return answer.status, cast("Said", answer.body), answer.headers

    async def post_ok(self, path: str, body: object, verb: str = "POST") -> Said:
        status, said, _ = await self.request(verb, path, body)
        assert status == 200, said
        return said

    async def actions(self, **asked: str) -> list[Said]:
        query = "&".join(f"{name}={value}" for name, value in ({"subject": self.name} | asked).items())
        status, said, _ = await self.request("GET", f"{ACTIONS}?{query}")
        assert status == 200, said
        return cast("list[Said]", said["actions"])

    async def player(self) -> tuple[str, str]:
        """One with an account: his id and its."""
        player_id = f"p{uuid4().hex[:12]}"
        opened = await self.post_ok("/v1/accounts", {"player_id": player_id, "mode": "MODE_REAL"})
        account_id: str = opened["balance"]["account_id"]
        return player_id, account_id

    async def table(self) -> str:
        """A table that is open for play, each player by himself."""
        table_id = f"t{uuid4().hex[:8]}"
        await self.configure(table_id, "SRIJ/test")
        await wait_until(lambda: self._is_open(table_id))
        return table_id

    async def configure(self, table_id: str, approval: str, minimum_cents: int = 200) -> Said:
        rules = json.loads(json_codec.encode(configuration(play=INDIVIDUAL, minimum_cents=minimum_cents)))
        return await self.post_ok(
            f"/v1/tables/{table_id}/configurations", {"configuration": rules, "approval_reference": approval}
        )

    async def _is_open(self, table_id: str) -> bool:
        return (await self.request("GET", f"/v1/tables/{table_id}/rules"))[0] == 200

    async def enter(self, table_id: str, player_id: str) -> tuple[int, Said]:
        token = self.client.token("player", player_id)
        answer = await self.client.call("POST", f"/v1/tables/{table_id}:enter", {}, token)
        return answer.status, cast("Said", answer.body)

    async def enter_table(self, table_id: str, player_id: str) -> tuple[Said, str]:
        """At a table of his own: all that he is told, and the round that takes bets there, as soon as one does."""
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
    async with asyncio.timeout(WITHIN_S):
        while not await condition():
            await asyncio.sleep(0.05)


def methods(actions: list[Said]) -> list[tuple[str, str]]:
    """What was done, and how it ended, in the order of doing."""
    return [(action["method"].rpartition(".")[2], action["outcome"]["status"]) for action in reversed(actions)]


@pytest.mark.rule("903-B/2015:6.3.6.7", "903-B/2015:6.3.6.6")
async def test_what_an_operator_commands_is_on_record_whatever_the_service(running: Platform, office: Office) -> None:
    player_id, account_id = await office.player()
    traced = start_span()
    key = str(uuid4())
    status, _, headers = await office.request(
        "POST",
        f"/v1/accounts/{account_id}/deposits",
        {"amount_cents": 5_000},
        key=key,
        headers={"Traceparent": traced.header},
    )
    assert status == 200
    assert headers["X-Trace-Id"] == traced.trace_id
    status, refused, _ = await office.request("POST", f"/v1/accounts/{uuid4()}/deposits", {"amount_cents": 5_000})
    assert (status, refused["reason"]) == (404, "ACCOUNT_UNKNOWN")
    async with office.client.session.ws_connect("/v1/ws", headers={"Authorization": f"Bearer {office.token}"}) as ws:
        await RpcClient(ws).result("WalletService.BlockAccount", account_id=account_id, reason="he asked for it")
    table_id = await office.table()
    scope = {"scope": "SWITCH_SCOPE_TABLE", "table_id": table_id, "enabled": False, "reason": "the felt is torn"}
    await office.post_ok("/v1/games/roulette/switches", scope)
    await office.post_ok("/v1/operator/revocations", {"subject": player_id, "reason": "stolen phone"})
    await office.request("GET", f"/v1/accounts/{account_id}/balance")

    actions = await office.actions()
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
    assert (deposit["subject"], deposit["address"]) == (office.name, "127.0.0.1")
    assert (deposit["request_id"], deposit["trace_id"]) == (key, traced.trace_id)
    assert json.loads(deposit["request"])["amount_cents"] == "5000"
    assert deposit["at"] <= deposit["outcome"]["at"]
    assert refusal["outcome"]["reason"] == "ACCOUNT_UNKNOWN"
    assert methods(await office.actions(object=account_id)) == [
        ("WalletService/Deposit", "OK"),
        ("WalletService/BlockAccount", "OK"),
    ]
    assert methods(await office.actions(object=player_id)) == [
        ("WalletService/OpenAccount", "OK"),
        ("GatewayService/RevokeSubject", "OK"),
    ]
    assert methods(await office.actions(object=table_id, method="feltro.table.v1.TableService/SetSwitch")) == [
        ("TableService/SetSwitch", "OK")
    ]


@pytest.mark.rule("903-B/2015:6.3.6.7", "903-B/2015:6.3.3")
async def test_a_round_that_is_voided_is_on_record_with_its_reason(office: Office) -> None:
    player_id, _ = await office.player()
    entered, round_id = await office.enter_table(await office.table(), player_id)
    table_id = entered["table"]["table_id"]
    await office.post_ok(f"/v1/tables/{table_id}/rounds/{round_id}:void", {"reason": "the wheel stands still"})
    (voided,) = await office.actions(object=round_id)
    assert voided["method"] == "feltro.table.v1.TableService/VoidOpenRound"
    assert json.loads(voided["request"])["reason"] == "the wheel stands still"
    assert voided["outcome"]["status"] == "OK"


@pytest.mark.rule("903-B/2015:6.3.6.7")
async def test_one_who_takes_his_own_token_back_is_on_record_too(office: Office) -> None:
    async with office.client.session.ws_connect("/v1/ws", headers={"Authorization": f"Bearer {office.token}"}) as ws:
        call = {"subject": office.name, "reason": "I am leaving"}
        await ws.send_json({"jsonrpc": "2.0", "id": 1, "method": "GatewayService.RevokeSubject", "params": call})
        assert await RpcClient(ws).wait_for_close() == 4403
    other = Office(office.client)

    async def on_record() -> list[Said]:
        return [action for action in await other.actions(subject=office.name) if "outcome" in action]

    await wait_until(on_record)
    (revoked,) = await on_record()
    assert (revoked["method"], revoked["outcome"]["status"]) == ("feltro.gateway.v1.GatewayService/RevokeSubject", "OK")


@pytest.mark.rule("903-B/2015:6.3.6.7")
async def test_only_operators_see_the_log(office: Office) -> None:
    for scope, refused in (("player", (403, "SCOPE_MISSING")), ("game", (401, "TOKEN_INVALID"))):
        answer = await office.client.call("GET", ACTIONS, token=office.client.token(scope, "ana"))
        assert (answer.status, answer.body["reason"]) == refused
    assert (await office.client.call("GET", ACTIONS)).status == 401


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_what_is_large_is_told_to_operators(office: Office) -> None:
    player_id, account_id = await office.player()
    token = office.client.token("player", player_id)
    for cents in (199_999, 200_000, 30_001):
        await office.post_ok(f"/v1/accounts/{account_id}/deposits", {"amount_cents": cents, "reference": "cashier 7"})
    await office.post_ok(f"/v1/accounts/{account_id}/withdrawals", {"amount_cents": 200_000})
    entered, round_id = await office.enter_table(await office.table(), player_id)
    own, table_id = entered["own_seat"], entered["table"]["table_id"]
    # On every number, so that one of them wins: 36 times 60 euro come back of 2220.
    bets = [{"place": str(number), "amount_cents": 6_000} for number in range(37)]
    path = f"/v1/roulette/tables/{table_id}"
    placed = await office.client.call("POST", f"{path}/bets", {"round_id": round_id, "bets": bets}, token)
    assert placed.status == 200, placed.body
    spun = await office.client.call("POST", f"{path}:spin", {"round_id": round_id}, token)
    assert spun.status == 200, spun.body

    async def noted(query: str = "") -> list[Said]:
        status, said, _ = await office.request("GET", f"{RELEVANT}?page_size=500{query}")
        assert status == 200, said
        return [event for event in said["events"] if event["player_id"] == player_id]

    async def paid() -> bool:
        return len(await noted()) == 3

    await wait_until(paid)
    prize, withdrawal, deposit = await noted()
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
        office.name,
        "cashier 7",
    )
    assert (withdrawal["amount_cents"], withdrawal["account_id"]) == ("200000", account_id)
    assert await noted("&kind=RELEVANT_EVENT_KIND_LARGE_PRIZE") == [prize]
    assert await noted(f"&since={withdrawal['at']}&until={prize['at']}") == [withdrawal]

    for query, field in (("kind=LARGE", "kind"), ("page_size=501", "page_size"), ("since=yesterday", "since")):
        status, refused, _ = await office.request("GET", f"{RELEVANT}?{query}")
        assert (status, refused["reason"], refused["facts"]["field"]) == (400, "INVALID", field)
    for scope, why in (("player", (403, "SCOPE_MISSING")), ("game", (401, "TOKEN_INVALID"))):
        answer = await office.client.call("GET", RELEVANT, token=office.client.token(scope, player_id))
        assert (answer.status, answer.body["reason"]) == why
    assert (await office.client.call("GET", RELEVANT)).status == 401


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_changes_of_parameters_are_told_with_before_and_after(office: Office) -> None:
    placement_id = await office.table()
    await office.configure(placement_id, "SRIJ/second", minimum_cents=300)
    status, listed, _ = await office.request("GET", f"/v1/tables/{placement_id}/configurations")
    assert status == 200, listed
    by_number = {version["version"]: version for version in listed["versions"]}
    change = listed["changes"][0]
    after, before = by_number[change["version"]], by_number[change["replaces"]]
    assert listed["changes"][1] == {"version": 1, "replaces": 0}
    assert (before["configuration"]["rules"]["minimum_cents"], before["approval_reference"]) == ("200", "SRIJ/test")
    assert (after["configuration"]["rules"]["minimum_cents"], after["approval_reference"]) == ("300", "SRIJ/second")
    assert (after["entered_by"], after["entered_at"] > before["entered_at"]) == (office.name, True)

    player_id, _ = await office.player()
    _, entered = await office.enter(placement_id, player_id)
    path = f"/v1/tables/{entered['table']['table_id']}/inactivityPolicy"
    for seconds in (600, 700):
        await office.post_ok(path, {"invite": True, "idle_seconds": seconds}, "PUT")
    status, told, _ = await office.request("GET", f"{path}/changes")
    assert status == 200, told
    seconds_of = [(each["before"]["idle_seconds"], each["after"]["idle_seconds"]) for each in told["changes"]]
    assert seconds_of == [(600, 700), (180, 600)]
    assert {each["changed_by"] for each in told["changes"]} == {office.name}
    answer = await office.client.call("GET", f"{path}/changes", token=office.client.token("player", player_id))
    assert (answer.status, answer.body["reason"]) == (403, "SCOPE_MISSING")


@pytest.mark.slow
@pytest.mark.rule("903-B/2015:6.3.6.7")
@pytest.mark.guarantee("G12")
async def test_g12_what_cannot_be_recorded_is_not_done(running: Platform, office: Office) -> None:
    player_id, _ = await office.player()
    table_id = await office.table()
    scope = {"scope": "SWITCH_SCOPE_TABLE", "table_id": table_id, "enabled": False, "reason": "the felt is torn"}
    running.wallet.kill()
    try:
        # Neither needs the wallet for itself.
        answers = await asyncio.gather(
            office.request("POST", "/v1/operator/revocations", {"subject": player_id, "reason": "stolen phone"}),
            office.request("POST", "/v1/games/roulette/switches", scope),
        )
    finally:
        running.wallet.start()
        await running.wallet.ready()
        # The gateway has to have found it, too.
        await running.gateway.ready()
    assert {(status, said["reason"]) for status, said, _ in answers} == {(503, "UNAVAILABLE")}
    log = await office.request("GET", "/v1/games/roulette/switches?page_size=1")
    assert table_id not in json.dumps(log[1])

    async def plays() -> bool:
        return (await office.enter(table_id, player_id))[0] == 200

    # As soon as the roulette has found the wallet.
    await wait_until(plays)
    assert methods(await office.actions(object=player_id)) == [("WalletService/OpenAccount", "OK")]


@pytest.mark.slow
@pytest.mark.rule("903-B/2015:6.3.1")
@pytest.mark.guarantee("G12")
async def test_all_games_are_off_also_where_a_game_was_down(running: Platform, office: Office) -> None:
    (player_id, _), table_id = await office.player(), await office.table()

    async def refused() -> bool:
        status, said = await office.enter(table_id, player_id)
        why = "the regulator asks for it"
        return (status, said.get("reason"), said.get("facts", {}).get("why")) == (409, "TABLE_DISABLED", why)

    async def plays() -> bool:
        return (await office.enter(table_id, player_id))[0] == 200

    running.roulette.kill()
    await office.post_ok(SWITCHES, {"enabled": False, "reason": "the regulator asks for it"})
    running.roulette.start()
    await running.roulette.ready()
    try:
        # Not once, from its first moment on, does it let anybody in.
        async with asyncio.timeout(WITHIN_S):
            while not await refused():
                assert not await plays()
    finally:
        await office.post_ok(SWITCHES, {"enabled": True, "reason": "the regulator is content"})
    await wait_until(plays)
    logged = (await office.request("GET", f"{SWITCHES}?page_size=2"))[1]["switches"]
    assert [(each["enabled"], each["reason"], each["set_by"]) for each in logged] == [
        (True, "the regulator is content", office.name),
        (False, "the regulator asks for it", office.name),
    ]
    assert (
        methods(await office.actions(method="feltro.wallet.v1.PlatformService/SetPlatformSwitch"))
        == [("PlatformService/SetPlatformSwitch", "OK")] * 2
    )


@pytest.mark.rule("903-B/2015:6.3.1")
async def test_one_player_s_play_is_switched_off_and_on(office: Office) -> None:
    (player_id, account_id), table_id = await office.player(), await office.table()
    await office.post_ok(f"/v1/accounts/{account_id}:block", {"reason": "he asked for it"})
    status, said = await office.enter(table_id, player_id)
    await office.post_ok(f"/v1/accounts/{account_id}:unblock", {"reason": "he asked for it"})
    assert (status, said.get("reason")) == (409, "ACCOUNT_BLOCKED")
    assert (await office.enter(table_id, player_id))[0] == 200
    assert methods(await office.actions(object=account_id)) == [
        ("WalletService/BlockAccount", "OK"),
        ("WalletService/UnblockAccount", "OK"),
    ]
