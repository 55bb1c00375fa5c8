"""What the gateway answers itself, as if it were a service: who may call is read from the proto like everywhere."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, cast

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from feltro.gateway.v1 import gateway_pb2
from feltro.wallet.v1 import session_pb2
from gateway.access.demonstration import DemoTokenIssuer
from gateway.access.principals import Authenticator, Principal
from gateway.access.rate_limiter import RateLimiter
from gateway.access.revocations import Revocations
from gateway.contracts import refusals
from gateway.contracts.refusals import DOMAIN
from services.kit.access.authorization import AccessRule, token_missing
from services.kit.access.identity import SUBJECT_CHARACTERS_LIMIT
from services.kit.refusal import Refused

REASON_CHARACTERS_LIMIT = 500

_log = logging.getLogger(__name__)

# Asks the wallet on behalf of a visitor.
EndSessions = Callable[[session_pb2.EndPlayerSessionsRequest, str], Awaitable[session_pb2.EndPlayerSessionsResponse]]
LocalMethod = Callable[[Message, str, str], Awaitable[Message]]
_Implementation = Callable[[Message, Principal, str], Awaitable[Message]]


class LocalService(Protocol):
    """For each method `DoThing` of its descriptor an `async def do_thing(request, visitor, address)`."""

    descriptor: ServiceDescriptor


class GameDirectory(Protocol):
    """Who is there: `Directory`."""

    @property
    def is_current(self) -> bool: ...

    def games(self) -> list[str]: ...


class GatewayService:
    """One method per rpc; see gateway.proto for what each promises."""

    descriptor = gateway_pb2.DESCRIPTOR.services_by_name["GatewayService"]

    def __init__(
        self,
        games: GameDirectory,
        demo: DemoTokenIssuer,
        rate_limiter: RateLimiter,
        revocations: Revocations,
        end_sessions: EndSessions,
    ) -> None:
        self._games = games
        self._demo = demo
        self._rates = rate_limiter
        self._revocations = revocations
        self._end_sessions = end_sessions

    async def list_games(
        self, request: gateway_pb2.ListGamesRequest, principal: Principal, address: str
    ) -> gateway_pb2.ListGamesResponse:
        """While the bus is away those that were there; if none was ever seen it cannot be told that there is none."""
        del request, principal, address
        names = self._games.games()
        if not names and not self._games.is_current:
            raise refusals.unavailable("It cannot be told which games are served: try again in a moment.")
        return gateway_pb2.ListGamesResponse(games=[gateway_pb2.Game(game=name) for name in names])

    async def enter_demo(
        self, request: gateway_pb2.EnterDemoRequest, principal: Principal, address: str
    ) -> gateway_pb2.EnterDemoResponse:
        del request, principal
        self._rates.count_demo_visit(address)
        return self._demo.issue()

    async def logout(
        self, request: gateway_pb2.LogoutRequest, principal: Principal, address: str
    ) -> gateway_pb2.LogoutResponse:
        """The wallet is asked first, for afterwards he could not ask again; but it does not keep the token alive."""
        del request, address
        caller = principal.caller
        if caller is None:
            raise token_missing()
        self._revocations.verify_capacity(caller)
        answer = gateway_pb2.LogoutResponse()
        if principal.player_id is not None:
            wanted = session_pb2.EndPlayerSessionsRequest(player_id=principal.player_id)
            try:
                answer.sessions.extend((await self._end_sessions(wanted, principal.token)).sessions)
            except Refused as refused:
                _log.warning("sessions outlive a logout", extra={"player_id": principal.player_id, "why": str(refused)})
                answer.sessions_left_open = True
        await self._revocations.revoke_token(caller, "logout")
        return answer

    async def revoke_subject(
        self, request: gateway_pb2.RevokeSubjectRequest, principal: Principal, address: str
    ) -> gateway_pb2.RevokeSubjectResponse:
        del address
        if not 0 < len(request.subject) <= SUBJECT_CHARACTERS_LIMIT:
            raise refusals.invalid("subject", f"has to be given, in at most {SUBJECT_CHARACTERS_LIMIT} characters.")
        if not 0 < len(request.reason.strip()) <= REASON_CHARACTERS_LIMIT:
            raise refusals.invalid("reason", f"has to be said, in at most {REASON_CHARACTERS_LIMIT} characters.")
        actor = "" if principal.caller is None else principal.caller.subject
        at = await self._revocations.revoke_subject(request.subject, actor, request.reason)
        said = {"actor": actor, "subject": request.subject, "reason": request.reason}
        _log.warning("an operator has taken tokens back", extra=said)
        answer = gateway_pb2.RevokeSubjectResponse()
        answer.revoked_at.FromMilliseconds(int(at * 1000))
        return answer


class _Here:
    """One method, guarded."""

    def __init__(self, service: LocalService, method: MethodDescriptor, visitors: Authenticator) -> None:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", method.name).lower()
        self._implemented = cast("_Implementation", getattr(service, name))
        self._rule = AccessRule(method)
        self._visitors = visitors

    async def answer(self, request: Message, token: str, address: str) -> Message:
        try:
            if not token and not self._rule.public:
                raise token_missing()
            visitor = await self._visitors.identify(token)
            if visitor.caller is not None:
                self._rule.verify(visitor.caller, self._visitors.now())
            return await self._implemented(request, visitor, address)
        except Refused as refused:
            if refused.domain == Refused.domain:
                refused.domain = DOMAIN
            raise


def local_methods(service: LocalService, authenticator: Authenticator) -> Mapping[str, LocalMethod]:
    """What a local service answers, by the methods' paths: for `Desk.offer`."""
    full_name = service.descriptor.full_name
    return {f"{full_name}/{one.name}": _Here(service, one, authenticator).answer for one in service.descriptor.methods}
