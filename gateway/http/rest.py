"""REST: every method of every service by its `google.api.http` binding, transcoded by descriptors alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

from aiohttp import hdrs, web

from gateway.access.bearer import bearer_token
from gateway.access.principals import Principal
from gateway.access.rate_limiter import RateLimiter
from gateway.backends.principal_dispatcher import PrincipalDispatcher
from gateway.contracts import json_codec, refusals
from gateway.contracts.methods import Contracts, Method
from gateway.contracts.refusals import GatewayRefused
from gateway.http.envelope import CALLED_METHOD
from gateway.http.problems import Problem, invalid
from gateway.http.routes import Routes
from gateway.http.transcoding import IDEMPOTENCY_HEADER, Transcoder
from services.kit import trace

JSON_CONTENT_TYPE = "application/json"
# A body that is larger is not read (G11).
BODY_BYTES_LIMIT = 256 * 1024
# How long an answer that is the same for everybody may be shown again: less than a person notices.
PUBLIC_MAX_AGE_S = 1

_PRIVATE = {"Cache-Control": "no-store"}


class RequestAuthenticator(Protocol):
    """Who lets people in: `Visitors`."""

    def was_verified(self, token: str) -> bool: ...

    async def identify(self, token: str) -> Principal: ...

    async def verify(self, principal: Principal) -> None: ...

    def record_activity(self, principal: Principal) -> None: ...

    def is_unexpired(self, principal: Principal) -> bool: ...


class RestApi:
    """One handler for all paths of all bindings."""

    def __init__(
        self,
        contracts: Contracts,
        dispatcher: PrincipalDispatcher,
        authenticator: RequestAuthenticator,
        rate_limiter: RateLimiter,
    ) -> None:
        self._desk = dispatcher
        self._visitors = authenticator
        self._rates = rate_limiter
        self._routes: Routes[Transcoder] = Routes()
        for method in contracts.methods:
            for binding in method.bindings:
                self._routes.add(binding.verb, binding.template, Transcoder(method, binding))

    def install(self, application: web.Application) -> None:
        for beginning in self._routes.first_segments:
            application.router.add_route("*", f"/{beginning}/{{rest:[\\s\\S]*}}", self.answer)

    async def answer(self, request: web.Request) -> web.Response:
        """Any request to any method."""
        found = self._routes.find(request.rel_url.raw_path)
        if found is None:
            raise web.HTTPNotFound
        by_verb, values = found
        transcoder = by_verb.get(hdrs.METH_GET if request.method == hdrs.METH_HEAD else request.method)
        if transcoder is None:
            return _other_verb(request, by_verb)
        method = transcoder.method
        request[CALLED_METHOD] = method.rpc_name
        visitor = await self._admit(request, method)
        key = request.headers.get(IDEMPOTENCY_HEADER)
        body = await _body(request) if transcoder.takes_body else b""
        message = transcoder.build_request(values, request.rel_url.raw_query_string, body, key)
        answer = await self._desk.dispatch(method, message, visitor, trace.traceparent(), request.remote or "")
        text = json_codec.encode(method.response_class.FromString(answer))
        if method.public and not visitor.token and request.method in {hdrs.METH_GET, hdrs.METH_HEAD}:
            return _for_everybody(request, text)
        return web.Response(body=text, content_type=JSON_CONTENT_TYPE, headers=_PRIVATE)

    async def _admit(self, request: web.Request, method: Method) -> Principal:
        token, address = bearer_token(request), request.remote or ""
        if not token and not method.public:
            raise GatewayRefused("TOKEN_INVALID", "Send a bearer token: `Authorization: Bearer …`.")
        if token and not self._visitors.was_verified(token):
            # To read a token costs more than to forge one: nobody may show new ones without end.
            self._rates.count_shown_token(address)
        visitor = await self._visitors.identify(token)
        # Before others are asked about him: whoever asks too much costs nobody but us anything.
        self._rates.count_call(visitor, address)
        await self._visitors.verify(visitor)
        self._visitors.record_activity(visitor)
        if not method.expired_token_accepted and not self._visitors.is_unexpired(visitor):
            raise refusals.token_expired()
        return visitor


def _other_verb(request: web.Request, by_verb: Mapping[str, Transcoder]) -> web.Response:
    verbs = {*by_verb, hdrs.METH_OPTIONS} | ({hdrs.METH_HEAD} if hdrs.METH_GET in by_verb else set())
    if request.method == hdrs.METH_OPTIONS:
        return web.Response(status=204, headers={hdrs.ALLOW: ", ".join(sorted(verbs)), **_PRIVATE})
    raise web.HTTPMethodNotAllowed(request.method, sorted(verbs))


async def _body(request: web.Request) -> bytes:
    """What was sent, if it may be what is wanted."""
    if not request.body_exists:
        return b""
    if request.content_type != JSON_CONTENT_TYPE:
        problem = invalid(f"Send the body as `Content-Type: {JSON_CONTENT_TYPE}`.")
        raise Problem(415, problem.detail, problem.reason, headers={hdrs.ACCEPT: JSON_CONTENT_TYPE})
    if request.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
        problem = invalid("Send the body as it is, without `Content-Encoding`.")
        raise Problem(415, problem.detail, problem.reason, headers={"Accept-Encoding": "identity"})
    if request.content_length is not None and request.content_length > BODY_BYTES_LIMIT:
        raise _too_large()
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise _too_large() from None
    except web.RequestPayloadError:
        raise invalid("The body broke off or is garbled: send the whole request again.") from None


def _too_large() -> Problem:
    sentence = "The message is larger than anything that could be meant."
    return Problem(413, sentence, "TOO_LARGE", facts={"limit": str(BODY_BYTES_LIMIT)})


def _for_everybody(request: web.Request, text: bytes) -> web.Response:
    """What needs no token is the same for everybody, and may be kept for a moment."""
    tag = hashlib.blake2b(text, digest_size=12).hexdigest()
    headers = {
        hdrs.CACHE_CONTROL: f"public, max-age={PUBLIC_MAX_AGE_S}",
        hdrs.ETAG: f'"{tag}"',
        hdrs.VARY: hdrs.AUTHORIZATION,
    }
    if any(known.value in {tag, "*"} for known in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    return web.Response(body=text, content_type=JSON_CONTENT_TYPE, headers=headers)
