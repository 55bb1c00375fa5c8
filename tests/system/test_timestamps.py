"""Every timestamp of the running platform, over REST, over the WebSocket and in its logs, carries its offset."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

import aiohttp
import pytest

from tests.system.client import RestClient
from tests.system.platform import TIMEOUT_S, Platform

pytestmark = [pytest.mark.slow, pytest.mark.rule("903-B/2015:2.1.3")]

RFC_3339 = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})")
BEGINS_LIKE_A_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[T ]")
SERVICES = ("wallet", "roulette", "gateway")
PLAYER = "dora"


class ReceivedTimestamps:
    """Every timestamp in the messages of the platform, by the name of its field."""

    def __init__(self) -> None:
        self.by_field: dict[str, list[str]] = {}

    def collect(self, value: object, field: str = "") -> None:
        """Adds all timestamps in a JSON value."""
        if isinstance(value, dict):
            for name, part in value.items():
                self.collect(part, name)
        elif isinstance(value, list):
            for part in value:
                self.collect(part, field)
        elif value is not None and (field == "at" or field.endswith("_at") or self._looks_like_one(value)):
            self.by_field.setdefault(field, []).append(str(value))

    @staticmethod
    def _looks_like_one(value: object) -> bool:
        return isinstance(value, str) and BEGINS_LIKE_A_TIMESTAMP.match(value) is not None

    def without_offset(self) -> dict[str, list[str]]:
        wrong = {
            field: [text for text in texts if not RFC_3339.fullmatch(text)] for field, texts in self.by_field.items()
        }
        return {field: texts for field, texts in wrong.items() if texts}


class RecordingClient(RestClient):
    """A client that collects the timestamps of its answers."""

    def __init__(
        self, platform: Platform, session: aiohttp.ClientSession, received: ReceivedTimestamps, scope: str
    ) -> None:
        super().__init__(platform, session, scope, PLAYER)
        self._received = received

    async def call(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        content = await super().call(path, body)
        self._received.collect(content)
        return content


async def test_every_timestamp_over_rest_and_websocket_carries_its_offset(platform: Platform) -> None:
    received = ReceivedTimestamps()
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session:
        operator, player = (RecordingClient(platform, session, received, scope) for scope in ("operator", "player"))
        opened = await operator.call("/v1/accounts", {"player_id": PLAYER, "mode": "MODE_REAL"})
        account = opened["balance"]["account_id"]
        await operator.call(f"/v1/accounts/{account}/deposits", {"amount_cents": 5000})
        entered = await player.call("/v1/tables/french-solo:enter", {})
        table = entered["table"]["table_id"]
        message: dict[str, Any] = {}
        async with session.ws_connect(f"{platform.url}/v1/ws") as socket:
            for number, (method, params) in enumerate(
                [("authenticate", {"token": player.token}), ("ping", {}), ("subscribe", {"table_id": table})]
            ):
                await socket.send_json({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
                answered = False
                while not answered:
                    message = await socket.receive_json()
                    received.collect(message)
                    answered = message.get("id") == number
            await _play(player, table)
            while "round_settled" not in message.get("params", {}):
                message = await socket.receive_json()
                received.collect(message)
        for path in (
            f"/v1/games/roulette/players/{PLAYER}/rounds?include_taking_bets=true",
            f"/v1/tables/{table}/rounds",
            f"/v1/transactions?account_id={account}",
            f"/v1/openRounds?account_id={account}",
            f"/v1/players/{PLAYER}/sessions",
        ):
            await player.call(path)
        for path in (
            "/v1/games/roulette/tables",
            "/v1/tables/french-solo/configurations",
            "/v1/games/roulette/switches",
            "/v1/operator/actions",
            "/v1/operator/switches",
        ):
            await operator.call(path)
    assert received.without_offset() == {}
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
    assert expected <= received.by_field.keys()


async def _play(player: RestClient, table: str) -> None:
    """Plays one round at an individual table."""
    while (shown := (await player.call(f"/v1/tables/{table}"))["table"])["phase"] != "PHASE_BETTING":
        await asyncio.sleep(0.05)
    round_id = shown["round"]["round_id"]
    bets = [{"place": "red", "amount_cents": 500}]
    await player.call(f"/v1/roulette/tables/{table}/bets", {"round_id": round_id, "bets": bets})
    await player.call(f"/v1/roulette/tables/{table}:spin", {"round_id": round_id})


def _lines(platform: Platform, service: str) -> list[str]:
    """The complete lines of its log: it may be writing one."""
    return (platform.data / "logs" / f"{service}.log").read_text(encoding="utf-8").split("\n")[:-1]


def test_every_line_of_the_logs_carries_its_offset(platform: Platform) -> None:
    for service in SERVICES:
        platform.wait(lambda: bool(_lines(platform, service)))  # noqa: B023 - waited for right here
        logged = [json.loads(line) for line in _lines(platform, service)]
        assert [line for line in logged if not RFC_3339.fullmatch(line["at"])] == []
