"""RFC 6455 byte by byte, without a client library in between.

`make test-websocket` runs the cases of the Autobahn testsuite; here the most important ones are repeated, with the
gateway's own messages and limits.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator

import pytest

from gateway.live import frames
from gateway.live.connections import websocket
from tests.gateway.live_gateway import WITHIN_S, live_gateway

TEXT, CONTINUATION, BINARY, CLOSE, PING, PONG = 0x1, 0x0, 0x2, 0x8, 0x9, 0xA
FINAL = 0x80
CALL = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
_MASK = b"\x12\x34\x56\x78"


class RawWebSocket:
    """A WebSocket client that writes and reads frames itself."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    def send(self, first: int, payload: bytes = b"", *, length: int | None = None, masked: bool = True) -> None:
        size = len(payload) if length is None else length
        mark = 0x80 if masked else 0
        if size < 126:
            head = bytes((first, mark | size))
        elif size < 65536:
            head = struct.pack("!BBH", first, mark | 126, size)
        else:
            head = struct.pack("!BBQ", first, mark | 127, size)
        if masked:
            payload = bytes(byte ^ _MASK[at % 4] for at, byte in enumerate(payload))
            head += _MASK
        self.writer.write(head + payload)

    async def receive(self) -> tuple[int, bytes]:
        async with asyncio.timeout(WITHIN_S):
            first, size = await self._reader.readexactly(2)
            assert size < 0x80, "a server does not mask"
            if size == 126:
                (size,) = struct.unpack("!H", await self._reader.readexactly(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", await self._reader.readexactly(8))
            return first, await self._reader.readexactly(size)

    async def expect_answer(self) -> None:
        first, payload = await self.receive()
        assert first == FINAL | TEXT
        assert "result" in json.loads(payload)

    async def wait_for_close(self) -> int:
        """Returns the close code; fails if anything follows it."""
        first, payload = await self.receive()
        assert first == FINAL | CLOSE
        code: int = struct.unpack("!H", payload[:2])[0] if payload else 0
        self.send(FINAL | CLOSE, payload[:2])
        async with asyncio.timeout(WITHIN_S):
            assert await self._reader.read() == b""
        return code


@pytest.fixture
async def client(nats_url: str) -> AsyncIterator[RawWebSocket]:
    async with live_gateway(nats_url) as (gateway, _, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(
            b"GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
        )
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101")
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head
        assert b"permessage-deflate" not in head
        yield RawWebSocket(reader, writer)
        writer.close()


async def test_a_fragmented_message_is_answered_and_a_ping_between_fragments_too(client: RawWebSocket) -> None:
    client.send(TEXT, CALL[:10])
    client.send(FINAL | PING, b"still there?")
    client.send(CONTINUATION, CALL[10:20])
    client.send(FINAL | CONTINUATION, CALL[20:])
    assert await client.receive() == (FINAL | PONG, b"still there?")
    await client.expect_answer()
    for at in range(len(CALL)):
        client.send(TEXT if at == 0 else CONTINUATION | (FINAL if at == len(CALL) - 1 else 0), CALL[at : at + 1])
    await client.expect_answer()


async def test_a_message_may_arrive_one_byte_at_a_time(client: RawWebSocket) -> None:
    sent = bytes((FINAL | TEXT, 0x80 | len(CALL))) + b"\0\0\0\0" + CALL
    for byte in sent:
        client.writer.write(bytes((byte,)))
        await client.writer.drain()
        await asyncio.sleep(0)
    await client.expect_answer()


@pytest.mark.parametrize("payload", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"])
async def test_text_that_is_not_utf_8_closes_with_1007(client: RawWebSocket, payload: bytes) -> None:
    client.send(FINAL | TEXT, payload)
    assert await client.wait_for_close() == 1007


@pytest.mark.parametrize(
    ("first", "payload"),
    [
        (FINAL | 0x40 | TEXT, CALL),
        (FINAL | 0x3, b""),
        (FINAL | 0xB, b""),
        (PING, b"in fragments"),
        (FINAL | PING, b"x" * 126),
        (FINAL | CONTINUATION, b"of nothing"),
        (FINAL | CLOSE, b"\x03"),
        (FINAL | CLOSE, struct.pack("!H", 1005)),
        (FINAL | CLOSE, struct.pack("!H", 1006)),
    ],
)
async def test_a_frame_that_breaks_the_protocol_closes_with_1002(
    client: RawWebSocket, first: int, payload: bytes
) -> None:
    client.send(first, payload)
    assert await client.wait_for_close() == 1002


async def test_a_new_message_within_a_fragmented_one_closes_with_1002(client: RawWebSocket) -> None:
    client.send(TEXT, CALL)
    client.send(FINAL | TEXT, CALL)
    assert await client.wait_for_close() == 1002


async def test_a_message_announced_as_too_large_closes_with_1009(client: RawWebSocket) -> None:
    client.send(FINAL | TEXT, b"", length=websocket.MESSAGE_BYTES_LIMIT + 1)
    assert await client.wait_for_close() == 1009


async def test_fragments_that_are_too_large_together_close_with_1009(client: RawWebSocket) -> None:
    for number in range(3):
        client.send(TEXT if number == 0 else CONTINUATION, b"x" * (websocket.MESSAGE_BYTES_LIMIT // 2))
    assert await client.wait_for_close() == 1009


@pytest.mark.parametrize("payload", [b"", struct.pack("!H", 1000) + b"bye", struct.pack("!H", 4999)])
async def test_a_close_is_answered_with_its_code(client: RawWebSocket, payload: bytes) -> None:
    client.send(FINAL | CLOSE, payload)
    client.send(FINAL | TEXT, CALL)
    first, answer = await client.receive()
    assert (first, answer) == (FINAL | CLOSE, payload[:2])
    async with asyncio.timeout(WITHIN_S):
        assert await client._reader.read() == b""


async def test_a_lost_connection_is_forgotten(nats_url: str) -> None:
    async with live_gateway(nats_url) as (gateway, _, _):
        async with gateway.connect() as client:
            await client.result("ping")
            assert client.ws._conn is not None
            assert client.ws._conn.transport is not None
            client.ws._conn.transport.abort()
        async with asyncio.timeout(WITHIN_S):
            while gateway.websockets._open:
                await asyncio.sleep(0.005)


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536])
def test_a_frame_encodes_its_length(size: int) -> None:
    frame = frames.text(b"x" * size)
    head = 2 if size < 126 else 4 if size < 65536 else 10
    assert frame[0] == FINAL | TEXT
    assert len(frame) == head + size
    assert len(frames.close(4408, "é" * 200)) <= 2 + frames.CONTROL_BYTES_LIMIT
