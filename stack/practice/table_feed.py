"""Follows one table over a WebSocket as one client, and connects again after each loss."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import aiohttp

from stack.platform_client import Json, PlatformClient, Route

CONNECT_WITHIN_S = 5.0
HEARTBEAT_S = 20.0
# The pauses before connecting again grow to the last one.
PAUSES_S = (0.3, 1.0, 3.0)
# After these the connection is of no more use.
_ENDINGS = frozenset({"draining", "unsubscribed", "token_expires"})
SNAPSHOT = "snapshot"

Receive = Callable[[str, Json], None]


class TableFeed:
    """What a table tells everybody, told on: `snapshot` with its whole state, or an event by its name."""

    def __init__(self, route: Route, client: PlatformClient, table_id: str) -> None:
        self._route = route
        self._client = client
        self._table_id = table_id

    async def follow(self, receive: Receive) -> None:
        """Follows until cancelled."""
        lost = 0
        while True:
            with suppress(aiohttp.ClientError, OSError, TimeoutError):
                lost = 0 if await self._follow_once(receive) else lost + 1
            await asyncio.sleep(PAUSES_S[min(lost, len(PAUSES_S) - 1)])

    async def _follow_once(self, receive: Receive) -> bool:
        """Follows over one connection until it ends; whether it was of any use."""
        url = f"{await self._route.gateway_url(0)}/v1/ws"
        subscribed = False
        # The limit is for connecting alone.
        async with asyncio.timeout(CONNECT_WITHIN_S) as limit:
            connecting = self._route.session.ws_connect(url, headers=self._client.headers, heartbeat=HEARTBEAT_S)
            async with connecting as socket:
                subscription = {"table_id": self._table_id}
                await socket.send_json({"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": subscription})
                limit.reschedule(None)
                async for message in socket:
                    if message.type is not aiohttp.WSMsgType.TEXT:
                        break
                    content: Json = message.json()
                    if "error" in content:
                        break
                    subscribed = True
                    if not _pass_on(content, receive):
                        break
        return subscribed


def _pass_on(message: Json, receive: Receive) -> bool:
    """Tells what a message says; False after one that ends the connection."""
    if "result" in message:
        receive(SNAPSHOT, message["result"]["table"])
        return True
    method, params = message["method"], message["params"]
    if method == "table":
        for name, facts in params.items():
            if isinstance(facts, dict):
                receive(*((SNAPSHOT, facts["snapshot"]) if name == "snapshot_published" else (name, facts)))
    elif method == SNAPSHOT:
        receive(SNAPSHOT, params["table"])
    return not (method == "notice" and params.get("kind") in _ENDINGS)
