"""All that the running platform says of time, over REST, over the WebSocket and in its logs, carries its offset."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from tests.system.platform import TIMEOUT_S, Platform

pytestmark = [pytest.mark.slow, pytest.mark.rule("903-B/2015:2.1.3")]

RFC_3339 = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})")
BEGINS_AS_A_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]")
SERVICES = ("wallet", "roulette", "gateway")


class ReceivedMessages:
    """Whatever was said of time, by the name it was said under."""

    def __init__(self) -> None:
        self.moments: dict[str, list[str]] = {}

    def listen(self, said: object, name: str = "") -> None:
        """To all that is in a JSON value."""
        if isinstance(said, dict):
            for key, value in said.items():
                self.listen(value, key)
        elif isinstance(said, list):
            for value in said:
                self.listen(value, name)
        elif said is not None and (name == "at" or name.endswith("_at") or self._looks_like_one(said)):
            self.moments.setdefault(name, []).append(str(said))

    @staticmethod
    def _looks_like_one(said: object) -> bool:
        return isinstance(said, str) and BEGINS_AS_A_MOMENT.match(said) is not None

    def without_offset(self) -> dict[str, list[str]]:
        wrong = {name: [at for at in said if not RFC_3339.fullmatch(at)] for name, said in self.moments.items()}
        return {name: said for name, said in wrong.items() if said}


class Caller:
    """Somebody at the edge, whose answers are listened to."""

    def __init__(self, platform: Platform, session: aiohttp.ClientSession, heard: ReceivedMessages, scope: str) -> None:
        self.token = _token(platform, scope)
        self._url = platform.url
        self._session = session
        self._heard = heard

    async def call(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": str(uuid4())}
        method = "GET" if body is None else "POST"
        async with self._session.request(method, self._url + path, json=body, headers=headers) as answer:
            said: dict[str, Any] = await answer.json(content_type=None)
            assert answer.ok, said
        self._heard.listen(said)
        return said


def _token(platform: Platform, scope: str) -> str:
    command = [sys.executable, "-m", "services.kit.command", "token", "--scope", scope, "--subject", "ana"]
    ran = subprocess.run(command, env=platform.environment, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


async def test_every_moment_over_rest_and_websocket_carries_its_offset(platform: Platform) -> None:
    heard = ReceivedMessages()
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session:
        operator, ana = (Caller(platform, session, heard, scope) for scope in ("operator", "player"))
        opened = await operator.call("/v1/accounts", {"player_id": "ana", "mode": "MODE_REAL"})
        account = opened["balance"]["account_id"]
        await operator.call(f"/v1/accounts/{account}/deposits", {"amount_cents": 5000})
        entered = await ana.call("/v1/tables/french-solo:enter", {})
        table = entered["table"]["table_id"]
        said: dict[str, Any] = {}
        async with session.ws_connect(f"{platform.url}/v1/ws") as socket:
            for number, (method, params) in enumerate(
                [("authenticate", {"token": ana.token}), ("ping", {}), ("subscribe", {"table_id": table})]
            ):
                await socket.send_json({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
                answered = False
                while not answered:
                    said = await socket.receive_json()
                    heard.listen(said)
                    answered = said.get("id") == number
            await _play(ana, table)
            while "round_settled" not in said.get("params", {}):
                said = await socket.receive_json()
                heard.listen(said)
        for path in (
            "/v1/games/roulette/players/ana/rounds?include_open=true",
            f"/v1/tables/{table}/rounds",
            f"/v1/accounts/{account}/transactions",
            f"/v1/accounts/{account}/openRounds",
            "/v1/players/ana/sessions",
        ):
            await ana.call(path)
        for path in (
            "/v1/games/roulette/tables",
            "/v1/tables/french-solo/configurations",
            "/v1/games/roulette/switches",
            "/v1/operator/actions",
            "/v1/operator/switches",
        ):
            await operator.call(path)
    assert heard.without_offset() == {}
    expected = {
        "at",
        "opened_at",
        "closed_at",
        "drawn_at",
        "ended_at",
        "placed_at",
        "started_at",
        "entered_at",
        "expires_at",
    }
    assert expected <= heard.moments.keys()


async def _play(ana: Caller, table: str) -> None:
    """One round, alone."""
    while (seen := (await ana.call(f"/v1/tables/{table}"))["table"])["phase"] != "PHASE_BETTING":
        await asyncio.sleep(0.05)
    round_id = seen["round"]["round_id"]
    bets = [{"place": "red", "amount_cents": 500}]
    await ana.call(f"/v1/roulette/tables/{table}/bets", {"round_id": round_id, "bets": bets})
    await ana.call(f"/v1/roulette/tables/{table}:spin", {"round_id": round_id})


def _lines(platform: Platform, service: str) -> list[str]:
    """Those of its log that are whole: it may be writing one."""
    return (platform.data / "logs" / f"{service}.log").read_text(encoding="utf-8").split("\n")[:-1]


def test_every_line_of_the_logs_carries_its_offset(platform: Platform) -> None:
    for service in SERVICES:
        platform.wait(lambda: bool(_lines(platform, service)))  # noqa: B023 - waited for right here
        logged = [json.loads(line) for line in _lines(platform, service)]
        assert [line for line in logged if not RFC_3339.fullmatch(line["at"])] == []
