"""Answers the gateway's own methods as a service would: the proto says who may call them."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Protocol, cast

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message

from feltro.gateway.v1 import gateway_pb2
from feltro.wallet.v1 import session_pb2
from gateway.access.authenticator import Authenticator
from gateway.access.demonstration import DemoTokenIssuer
from gateway.access.principals import Principal
from gateway.access.rate_limiter import RateLimiter
from gateway.access.revocations import Revocations
from gateway.backends.dispatcher import CallContext, LocalMethod
from gateway.contracts import refusals
from gateway.contracts.refusals import DOMAIN
from services.kit import paging
from services.kit.access.authorization import AccessRule, token_missing
from services.kit.access.identity import SUBJECT_CHARACTERS_LIMIT
from services.kit.refusal import Refused

REASON_CHARACTERS_LIMIT = 500

_log = logging.getLogger(__name__)

# Ends a player's sessions in the wallet, with the token of that player.
EndSessions = Callable[
    [session_pb2.EndPlayerSessionsRequest, Principal], Awaitable[session_pb2.EndPlayerSessionsResponse]
]


class LocalService(Protocol):
    """A service with an `async def do_thing(request, context)` for each method `DoThing` of its descriptor."""

    descriptor: ServiceDescriptor


class GameDirectory(Protocol):
    """Knows which games are served: `Directory`."""

    @property
    def is_current(self) -> bool: ...

    def games(self) -> list[str]: ...


class GatewayService:
    """Implements gateway.proto, which says what each method promises."""

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
        self._rate_limiter = rate_limiter
        self._revocations = revocations
        self._end_sessions = end_sessions

    async def list_games(
        self, request: gateway_pb2.ListGamesRequest, context: CallContext
    ) -> gateway_pb2.ListGamesResponse:
        """While the bus is away the last known games; refused if none was ever seen."""
        del context
        names = self._games.games()
        if not names and not self._games.is_current:
            raise refusals.unavailable("It cannot be told which games are served: try again in a moment.")
        games = ((name, gateway_pb2.Game(game=name)) for name in names)
        page = paging.page_by_key(games, request.page_size, request.page_token, refusals.invalid)
        return gateway_pb2.ListGamesResponse(games=page.items, next_page_token=page.next_page_token)

    async def enter_demo(
        self, request: gateway_pb2.EnterDemoRequest, context: CallContext
    ) -> gateway_pb2.EnterDemoResponse:
        del request
        self._rate_limiter.count_demo_visit(context.client_address)
        return self._demo.issue()

    async def logout(self, request: gateway_pb2.LogoutRequest, context: CallContext) -> gateway_pb2.LogoutResponse:
        """Ends the sessions first, for which the token must still be valid; revokes the token even if that fails."""
        del request
        principal = context.principal
        caller = principal.caller
        if caller is None:
            raise token_missing()
        self._revocations.verify_capacity(caller)
        answer = gateway_pb2.LogoutResponse()
        if principal.player_id is not None:
            ending = session_pb2.EndPlayerSessionsRequest(player_id=principal.player_id)
            try:
                answer.sessions.extend((await self._end_sessions(ending, principal)).sessions)
            except Refused as refused:
                _log.warning(
                    "sessions outlive a log-out", extra={"player_id": principal.player_id, "error": str(refused)}
                )
                answer.sessions_left_open = True
        await self._revocations.revoke_token(principal, "logout")
        return answer

    async def revoke_subject(
        self, request: gateway_pb2.RevokeSubjectRequest, context: CallContext
    ) -> gateway_pb2.RevokeSubjectResponse:
        if not 0 < len(request.subject) <= SUBJECT_CHARACTERS_LIMIT:
            raise refusals.invalid("subject", f"has to be given, in at most {SUBJECT_CHARACTERS_LIMIT} characters.")
        if not 0 < len(request.reason.strip()) <= REASON_CHARACTERS_LIMIT:
            raise refusals.invalid("reason", f"has to be said, in at most {REASON_CHARACTERS_LIMIT} characters.")
        actor = "" if context.principal.caller is None else context.principal.caller.subject
        at = await self._revocations.revoke_subject(context.principal, request.subject, request.reason)
        facts = {"actor": actor, "subject": request.subject, "reason": request.reason}
        _log.warning("an operator has revoked tokens", extra=facts)
        answer = gateway_pb2.RevokeSubjectResponse()
        answer.revoked_at.FromMilliseconds(int(at * 1000))
        return answer


class _GuardedMethod:
    """One method, behind the access rule of its proto."""

    def __init__(self, service: LocalService, method: MethodDescriptor, authenticator: Authenticator) -> None:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", method.name).lower()
        self._implementation = cast("LocalMethod", getattr(service, name))
        self._rule = AccessRule(method)
        self._authenticator = authenticator

    async def answer(self, request: Message, context: CallContext) -> Message:
        try:
            token = context.principal.token
            if not token and not self._rule.public:
                raise token_missing()
            principal = await self._authenticator.identify(token)
            if principal.caller is not None:
                self._rule.verify(principal.caller, self._authenticator.now())
            return await self._implementation(request, replace(context, principal=principal))
        except Refused as refused:
            if refused.domain == Refused.domain:
                refused.domain = DOMAIN
            raise


def local_methods(service: LocalService, authenticator: Authenticator) -> Mapping[str, LocalMethod]:
    """Returns the methods of a local service by their paths, for `Dispatcher.register_local`."""
    return {
        f"{service.descriptor.full_name}/{method.name}": _GuardedMethod(service, method, authenticator).answer
        for method in service.descriptor.methods
    }
