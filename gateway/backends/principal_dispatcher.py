"""What gets a call of somebody answered, as those see it who hear calls."""

from __future__ import annotations

from typing import Protocol

from google.protobuf.message import Message

from gateway.access.principals import Principal
from gateway.contracts.methods import Method


class PrincipalDispatcher(Protocol):
    """Whoever gets a call answered."""

    async def dispatch(
        self, method: Method, request: Message, principal: Principal, traceparent: str = "", address: str = ""
    ) -> bytes:
        """The answer's bytes; every failure is a `Refused`. `address` is where the call came from."""
        ...
