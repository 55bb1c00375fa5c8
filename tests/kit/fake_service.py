"""A gRPC service of one test: the test implements the methods that it calls, and any other one fails."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message

from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.transport import PLAINTEXT, Transport
from stack.issuer import DevelopmentIssuer

# The domain whose reasons the fakes give.
DOMAIN = "wallet.feltro"


async def _not_called(_request: Message, _caller: Caller) -> Message:
    raise AssertionError("this method is not called here")


class FakeService:
    """Implements what its subclass does not: those methods must not be called."""

    descriptor: ServiceDescriptor

    def __getattr__(self, name: str) -> Callable[[Message, Caller], Awaitable[Message]]:
        declared = {re.sub(r"(?<!^)(?=[A-Z])", "_", method.name).lower() for method in self.descriptor.methods}
        if name not in declared:
            raise AttributeError(name)
        return _not_called


@asynccontextmanager
async def serving(
    service: FakeService,
    issuer: DevelopmentIssuer,
    port: int = 0,
    refusal_for: Callable[[Exception], Refused | None] = lambda _: None,
    transport: Transport = PLAINTEXT,
    callers: Collection[str] = (),
    *,
    reflection: bool = False,
) -> AsyncIterator[GrpcServer]:
    """Serves it on this machine, at a free port if none is named."""
    verifier = TokenVerifier(issuer.jwks, "feltro")
    server = GrpcServer(
        f"127.0.0.1:{port}", verifier, [service], DOMAIN, refusal_for, transport, callers, reflection=reflection
    )
    await server.start()
    await server.set_serving(serving=True)
    yield server
    await server.stop(0)
