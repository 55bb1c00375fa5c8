"""A WebSocket client that sends forbidden frames and checks answers strictly, controlled by Autobahn's cases."""

from __future__ import annotations

import asyncio
import base64
import codecs
import os
import socket
import struct
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tests.websocket.cases import Case, State

_TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x1, 0x2, 0x8, 0x9, 0xA
_CONTROL_BYTES_LIMIT = 125
# How long the server may take to drop a connection that both have closed, or to answer a close: a busy machine is not
# its fault.
_DROPPED_WITHIN_S = 60.0
_OVER_WITHIN_S = 120.0


class Violation(Exception):
    """A violation of the protocol by the server."""


class Fuzzer:
    """One connection. Methods that cases call have the testsuite's names."""

    CLOSE_STATUS_CODE_NORMAL = 1000
    CLOSE_STATUS_CODE_PROTOCOL_ERROR = 1002
    CLOSE_STATUS_CODE_INVALID_PAYLOAD = 1007

    def __init__(self, case: type[Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.factory = SimpleNamespace(isServer=False)
        self.state = State.STATE_OPEN
        self.autoFragmentSize = 0
        self.createWirelog = False
        self.txFrameStats: Counter[int] = Counter()
        self.connectionWasOpen = True
        self.closedByMe = self.failedByMe = self.droppedByMe = self.wasClean = False
        self.localCloseReason: str | None = None
        self.remoteCloseCode: int | None = None
        self.violation = ""
        self._reader = reader
        self._writer = writer
        self._frame_mask = b""
        self._frame_at = 0
        self._sending: asyncio.Queue[bytes] = asyncio.Queue()
        self._timers: list[asyncio.TimerHandle] = []
        self._message: list[bytes] = []
        self._message_code = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.case: Case = case(self)

    # Called by cases.

    def sendFrame(  # noqa: N802
        self,
        opcode: int,
        payload: str = "",
        fin: bool = True,  # noqa: FBT001, FBT002
        rsv: int = 0,
        mask: None = None,
        payload_len: int | None = None,
        chopsize: int | None = None,
        sync: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        content = payload.encode("latin-1")
        if payload_len is not None:
            content = (content * (payload_len // len(content) + 1))[:payload_len]
        self.txFrameStats[opcode] += 1
        key = os.urandom(4)
        frame = _head(opcode, len(content), fin=fin, rsv=rsv) + key + _masked(content, key)
        for at in range(0, len(frame), chopsize or len(frame)):
            self._sending.put_nowait(frame[at : at + (chopsize or len(frame))])

    def sendMessage(self, payload: str, isBinary: bool = False, fragmentSize: int | None = None) -> None:  # noqa: N802, N803, FBT001, FBT002
        opcode = _BINARY if isBinary else _TEXT
        size = fragmentSize or self.autoFragmentSize or max(1, len(payload))
        pieces = [payload[at : at + size] for at in range(0, len(payload), size)] or [""]
        for number, piece in enumerate(pieces, 1):
            self.sendFrame(opcode if number == 1 else 0, piece, fin=number == len(pieces))

    def beginMessage(self) -> None:  # noqa: N802
        self._frame_at = 0

    def beginMessageFrame(self, length: int) -> None:  # noqa: N802
        self._frame_mask = os.urandom(4)
        self._sending.put_nowait(_head(_TEXT, length, fin=False, rsv=0) + self._frame_mask)

    def sendMessageFrameData(self, payload: str) -> None:  # noqa: N802
        turned = self._frame_mask[self._frame_at % 4 :] + self._frame_mask[: self._frame_at % 4]
        self._frame_at += len(payload)
        self._sending.put_nowait(_masked(payload.encode("latin-1"), turned))

    def endMessage(self) -> None:  # noqa: N802
        self.sendFrame(0, fin=True)

    def sendClose(self, code: int | None = None, reason: str | None = None) -> None:  # noqa: N802
        self.sendCloseFrame(code, reason)

    def sendCloseFrame(self, code: int | None = None, reasonUtf8: str | None = None) -> None:  # noqa: N802, N803
        self._close(code, reasonUtf8 or "", mine=True)
        self.localCloseReason = reasonUtf8

    def continueLater(self, delay: float, fun: Callable[[], None], tag: str | None = None) -> None:  # noqa: N802
        self._later(delay, fun)

    def closeAfter(self, delay: float) -> None:  # noqa: N802
        self._later(delay, self.sendClose)

    def killAfter(self, delay: float) -> None:  # noqa: N802
        self._later(max(delay, _DROPPED_WITHIN_S), self._fail)

    def enableWirelog(self, enable: bool) -> None:  # noqa: N802, FBT001
        """Frames are not logged."""

    # The course of a connection.

    async def run(self) -> None:
        """Runs until the connection is lost."""
        sending = asyncio.create_task(self._send())
        try:
            self.case.onOpen()
            async with asyncio.timeout(_OVER_WITHIN_S):
                while await self._receive():
                    pass
        except Violation as violation:
            self.violation = str(violation)
            self._fail()
        except TimeoutError:
            self._fail()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.state = State.STATE_CLOSED
            sending.cancel()
            for timer in self._timers:
                timer.cancel()
            self._writer.transport.abort()
        self.case.onConnectionLost(self.failedByMe)

    async def _send(self) -> None:
        try:
            while True:
                self._writer.write(await self._sending.get())
                await self._writer.drain()
                # Each piece is sent by itself.
                await asyncio.sleep(0)
        except ConnectionError:
            return

    async def _receive(self) -> bool:
        first, second = await self._reader.readexactly(2)
        code, size = first & 0x0F, second & 0x7F
        if first & 0x70 or second & 0x80:
            raise Violation("reserved bits are set, or a server masks")
        if size == 126:
            (size,) = struct.unpack("!H", await self._reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", await self._reader.readexactly(8))
        payload = await self._reader.readexactly(size)
        if code >= _CLOSE:
            if not first & 0x80 or size > _CONTROL_BYTES_LIMIT:
                raise Violation("a control frame is large or in pieces")
            self._control(code, payload)
        else:
            self._data(code, payload, final=bool(first & 0x80))
        return True

    def _control(self, code: int, payload: bytes) -> None:
        if code == _PING:
            self.sendFrame(_PONG, payload.decode("latin-1"))
            self.case.onPing(payload.decode("latin-1"))
        elif code == _PONG:
            self.case.onPong(payload.decode("latin-1"))
        elif code == _CLOSE:
            self._on_close(payload)
        else:
            raise Violation("an unknown control frame")

    def _data(self, code: int, payload: bytes, *, final: bool) -> None:
        if code not in {0, _TEXT, _BINARY} or (code == 0) != bool(self._message_code):
            raise Violation("a frame that neither starts nor continues a message")
        self._message_code = code or self._message_code
        self._message.append(payload)
        if not final:
            return
        content, binary = b"".join(self._message), self._message_code == _BINARY
        self._message, self._message_code = [], 0
        if not binary:
            try:
                content.decode()
            except UnicodeDecodeError:
                raise Violation("a text is not UTF-8") from None
        if self.state == State.STATE_OPEN or self.closedByMe:
            self.case.onMessage(content.decode("latin-1"), binary)

    def _on_close(self, payload: bytes) -> None:
        if len(payload) == 1:
            raise Violation("a close frame has half a code")
        self.remoteCloseCode = struct.unpack("!H", payload[:2])[0] if payload else None
        self.wasClean = True
        if self.state == State.STATE_OPEN:
            self._close(1000, "", mine=False)
        self._later(_DROPPED_WITHIN_S, self._drop)

    def _close(self, code: int | None, reason: str, *, mine: bool) -> None:
        if self.state != State.STATE_OPEN:
            return
        content = b"" if code is None else struct.pack("!H", code)
        self.sendFrame(_CLOSE, content.decode("latin-1") + reason)
        self.state = State.STATE_CLOSING
        self.closedByMe = mine
        if mine:
            self._later(_DROPPED_WITHIN_S, self._unanswered)

    def _unanswered(self) -> None:
        if self.remoteCloseCode is None and not self.wasClean:
            self._drop()

    def _fail(self) -> None:
        self.failedByMe = True
        self._drop()

    def _drop(self) -> None:
        """Drops the connection, which the server should have done."""
        self.droppedByMe, self.wasClean = True, False
        self._writer.transport.abort()

    def _later(self, delay: float, fun: Callable[[], None]) -> None:
        def call_if_open() -> None:
            if self.state != State.STATE_CLOSED:
                fun()

        self._timers.append(asyncio.get_running_loop().call_later(delay, call_if_open))


async def run(case: type[Any], port: int, path: str) -> Fuzzer:
    """Connects and runs one case to its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101"), head
    fuzzer = Fuzzer(case, reader, writer)
    await fuzzer.run()
    return fuzzer


def _head(opcode: int, size: int, *, fin: bool, rsv: int) -> bytes:
    first = (0x80 if fin else 0) | rsv << 4 | opcode
    if size < 126:
        return struct.pack("!BB", first, 0x80 | size)
    if size < 65_536:
        return struct.pack("!BBH", first, 0x80 | 126, size)
    return struct.pack("!BBQ", first, 0x80 | 127, size)


def _masked(content: bytes, key: bytes) -> bytes:
    size = len(content)
    whole = int.from_bytes((key * (size // 4 + 1))[:size], "big")
    return (int.from_bytes(content, "big") ^ whole).to_bytes(size, "big")
