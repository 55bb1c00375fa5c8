"""What gets a call of somebody answered, as those see it who hear calls."""

from __future__ import annotations

from typing import Protocol

from google.protobuf.message import Message

from gateway.contracts import Method
from gateway.visitors import Visitor


class Asks(Protocol):
    """Whoever gets a call answered."""

    async def ask(
        self, method: Method, request: Message, visitor: Visitor, traceparent: str = "", address: str = ""
    ) -> bytes:
        """The answer's bytes; every failure is a `Refused`. `address` is where the call came from."""
        ...
