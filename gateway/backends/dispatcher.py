"""Gets a call answered: finds the process, asks it, and goes after a table that is just changing hands."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

import grpc
from google.protobuf.message import Message

from gateway.backends.directory import Directory, NoReplicaKnown
from gateway.backends.upstream import Upstream
from gateway.contracts.methods import Method
from gateway.contracts.refusals import DOMAIN, code_of, unavailable
from services.kit import trace
from services.kit.refusal import Refused
from services.kit.rpc.relay_connection import NoAnswer

__all__ = ["DOMAIN", "Dispatcher", "unavailable"]

_log = logging.getLogger(__name__)

# How long a call goes after a table that changes hands: longer than others need to take it over (G11).
RETRY_FOR_S = 6.0
RETRY_EVERY_S = 0.1

# It is not here: another process may have it, or have it soon.
_ASK_ANOTHER = frozenset({"TABLE_ELSEWHERE", "TABLE_UNKNOWN"})


class Dispatcher:
    """Where every call of every client goes through."""

    def __init__(self, directory: Directory, upstream: Upstream) -> None:
        self._directory = directory
        self._upstream = upstream
        self._here: dict[str, Callable[[Message, str, str], Awaitable[Message]]] = {}

    def register_local(self, methods: Mapping[str, Callable[[Message, str, str], Awaitable[Message]]]) -> None:
        """These are answered here, by their paths, and passed on to nobody: a request, its token and its address."""
        self._here.update(methods)

    async def dispatch(
        self, method: Method, request: Message, token: str, traceparent: str = "", address: str = ""
    ) -> bytes:
        """The answer's bytes; every failure is a `Refused`."""
        method.set_client_address(request, address)
        here = self._here.get(method.path)
        if here is not None:
            return (await here(request, token, address)).SerializeToString()
        return await self._pass_on(method, request, token, traceparent or trace.traceparent())

    async def _pass_on(self, method: Method, request: Message, token: str, traceparent: str) -> bytes:
        payload = request.SerializeToString()
        give_up_at = asyncio.get_running_loop().time() + RETRY_FOR_S
        while True:
            problem: Refused = unavailable("No service answers for this at the moment: try again.")
            try:
                for address in self._directory.addresses(method, request):
                    try:
                        return await self._upstream.call(address, method.path, token, payload, traceparent)
                    except Refused as refused:
                        if refused.reason not in _ASK_ANOTHER and code_of(refused) != grpc.StatusCode.UNIMPLEMENTED:
                            raise
                        problem = refused
                if problem.reason == "TABLE_UNKNOWN" or code_of(problem) == grpc.StatusCode.UNIMPLEMENTED:
                    raise problem
            except NoReplicaKnown:
                pass
            except NoAnswer as silent:
                # Where it was, and what the way to it failed with, is for the log (G7).
                _log.warning("a service has gone away", extra={"method": method.path, "error": str(silent)})
                problem = unavailable("The service has gone away: send the same request again.")
                if not method.is_retryable:
                    raise problem from silent
            if asyncio.get_running_loop().time() >= give_up_at:
                raise problem
            await asyncio.sleep(RETRY_EVERY_S)
