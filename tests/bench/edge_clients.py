"""Clients as cheap as they can be, so that a bench measures the platform: one socket, one call at a time."""

from __future__ import annotations

import asyncio
import re
import struct
from typing import Protocol, Self, cast

HANDSHAKE = (
    "GET /v1/ws HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Authorization: Bearer {token}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_HEAD_ENDS = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_TEXT, _PING = 0x81, 0x89
# Only answers have an id; events do not.
_ANSWER, _DONE = b'{"jsonrpc":"2.0","id":', b',"result":'


class BetFailed(Exception):
    """A bet was not placed; the bench stops."""


class BetClient(Protocol):
    """A player's connection."""

    async def bet(self, number: int, table_id: str, round_id: str, place: str, cents: int) -> None:
        """Returns when the bet is acknowledged."""
        ...

    def close(self) -> None: ...


class _Connection(asyncio.Protocol):
    """A socket with one call at a time."""

    def __init__(self) -> None:
        self._received = b""
        self._answer: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, failed: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(BetFailed(f"the connection was lost: {failed}"))

    def data_received(self, data: bytes) -> None:
        self._received += data
        self.receive()

    def receive(self) -> None:
        raise NotImplementedError

    def answered(self, payload: bytes) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(payload)

    async def bet(self, number: int, table_id: str, round_id: str, place: str, cents: int) -> None:
        raise NotImplementedError

    async def request(self, payload: bytes) -> bytes:
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(payload)
        return await self._answer

    def close(self) -> None:
        self.transport.abort()


class WebSocketClient(_Connection):
    """Bets over a WebSocket."""

    _open = False

    @classmethod
    async def connect(cls, host: str, port: int, token: str) -> Self:
        _, client = await asyncio.get_running_loop().create_connection(cls, host, port)
        head = await client.request(HANDSHAKE.format(token=token).encode())
        if b" 101 " not in head.partition(b"\r\n")[0]:
            raise BetFailed(head.decode())
        return client

    def receive(self) -> None:
        if not self._open:
            head, ended, rest = self._received.partition(_HEAD_ENDS)
            if not ended:
                return
            self._received, self._open = rest, True
            self.answered(head)
        while (frame := self._frame()) is not None:
            kind, payload = frame
            if kind == _TEXT and payload.startswith(_ANSWER):
                self.answered(payload)
            elif kind == _TEXT:
                self.notified(payload)
            elif kind == _PING:
                self.transport.write(bytes((0x8A, 0x80 | len(payload), 0, 0, 0, 0)) + payload)

    def notified(self, payload: bytes) -> None:
        """Takes an event or a notice; bets need none."""

    def _frame(self) -> tuple[int, bytes] | None:
        received = self._received
        if len(received) < 4:
            return None if len(received) < 2 or received[1] else self._take(0, 2)
        size, start = received[1], 2
        if size == 126:
            size, start = int.from_bytes(received[2:4], "big"), 4
        elif size == 127:
            if len(received) < 10:
                return None
            size, start = int.from_bytes(received[2:10], "big"), 10
        return None if len(received) < start + size else self._take(size, start)

    def _take(self, size: int, start: int) -> tuple[int, bytes]:
        received = self._received
        self._received = received[start + size :]
        return received[0], received[start : start + size]

    async def bet(self, number: int, table_id: str, round_id: str, place: str, cents: int) -> None:
        await self.call(
            number,
            "RouletteService.PlaceBets",
            f'{{"request_id":"w{number}","table_id":"{table_id}","round_id":"{round_id}",'
            f'"bets":[{{"place":"{place}","amount_cents":{cents}}}]}}',
        )

    async def call(self, number: int, method: str, params: str) -> bytes:
        """Returns the answer of a call with these parameters in JSON, as it came."""
        text = f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}'.encode()
        # A mask of zeros leaves the text as it is.
        answer = await self.request(struct.pack("!BBHI", _TEXT, 0x80 | 126, len(text), 0) + text)
        if _DONE not in answer[:60]:
            raise BetFailed(answer.decode())
        return answer


class RestClient(_Connection):
    """Bets over REST, on one connection that stays open."""

    @classmethod
    async def connect(cls, host: str, port: int, token: str) -> RestClient:
        _, client = await asyncio.get_running_loop().create_connection(cls, host, port)
        client._token = token
        return client

    _token = ""

    def receive(self) -> None:
        head, ended, rest = self._received.partition(_HEAD_ENDS)
        found = _LENGTH.search(head) if ended else None
        if found is None or len(rest) < int(found[1]):
            return
        answer, self._received = self._received, b""
        self.answered(answer)

    async def bet(self, number: int, table_id: str, round_id: str, place: str, cents: int) -> None:
        body = f'{{"round_id":"{round_id}","bets":[{{"place":"{place}","amount_cents":{cents}}}]}}'
        head = (
            f"POST /v1/roulette/tables/{table_id}/bets HTTP/1.1\r\nHost: bench\r\n"
            f"Authorization: Bearer {self._token}\r\nIdempotency-Key: r{number}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        answer = await self.request((head + body).encode())
        if not answer.startswith(b"HTTP/1.1 200"):
            raise BetFailed(answer.decode())
