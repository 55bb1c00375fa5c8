"""Gets a call answered: finds the process, asks it, and goes after a table that is just changing hands."""

from __future__ import annotations

import asyncio

import grpc
from google.protobuf.message import Message

from gateway.contracts import Method
from gateway.directory import Directory, NobodyAnswers
from gateway.upstream import NoAnswer, Upstream
from services.kit.refusal import Refused

# How long a call goes after a table that changes hands: longer than others need to take it over (G11).
GO_AFTER_S = 6.0
TRY_AGAIN_S = 0.1

# It is not here: another process may have it, or have it soon.
_ASK_ANOTHER = frozenset({"TABLE_ELSEWHERE", "TABLE_UNKNOWN"})

DOMAIN = "gateway.feltro"


def unavailable(sentence: str) -> Refused:
    refused = Refused("UNAVAILABLE", grpc.StatusCode.UNAVAILABLE, sentence)
    refused.domain = DOMAIN
    return refused


class Desk:
    """Where every call of every client goes through."""

    def __init__(self, directory: Directory, upstream: Upstream) -> None:
        self._directory = directory
        self._upstream = upstream

    async def ask(self, method: Method, request: Message, token: str, traceparent: str = "") -> bytes:
        """The answer's bytes; every failure is a `Refused`."""
        payload = request.SerializeToString()
        give_up_at = asyncio.get_running_loop().time() + GO_AFTER_S
        while True:
            problem = unavailable("No service answers for this at the moment: try again.")
            try:
                for address in self._directory.addresses(method, request):
                    try:
                        return await self._upstream.call(address, method.path, token, payload, traceparent)
                    except Refused as refused:
                        if refused.reason not in _ASK_ANOTHER and refused.code != grpc.StatusCode.UNIMPLEMENTED:
                            raise
                        problem = refused
                if problem.reason == "TABLE_UNKNOWN":
                    raise problem
            except NobodyAnswers:
                pass
            except NoAnswer as silent:
                problem = unavailable(f"The service has gone away ({silent}): send the same request again.")
                if not method.safe:
                    raise problem from silent
            if asyncio.get_running_loop().time() >= give_up_at:
                raise problem
            await asyncio.sleep(TRY_AGAIN_S)
