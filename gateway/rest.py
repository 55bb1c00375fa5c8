"""REST: every method of every service by its `google.api.http` binding, transcoded by descriptors alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

from aiohttp import hdrs, web

from gateway import json_codec, refusals
from gateway.asking import Asks
from gateway.bearer import token_of
from gateway.contracts import Contracts, Method
from gateway.envelope import CALLED
from gateway.problems import Problem, invalid
from gateway.rates import Rates
from gateway.refusals import GatewayRefused
from gateway.routes import Routes
from gateway.transcoding import KEY_HEADER, Transcoder
from gateway.visitors import Visitor
from services.kit import trace

JSON = "application/json"
# A body that is larger is not read (G11).
BODY_BYTES_LIMIT = 256 * 1024
# How long an answer that is the same for everybody may be shown again: less than a person notices.
FRESH_FOR_S = 1

_PRIVATE = {"Cache-Control": "no-store"}


class Door(Protocol):
    """Who lets people in: `Visitors`."""

    def known(self, token: str) -> bool: ...

    async def recognise(self, token: str) -> Visitor: ...

    async def verify(self, visitor: Visitor) -> None: ...

    def seen(self, visitor: Visitor) -> None: ...

    def current(self, visitor: Visitor) -> bool: ...


class Rest:
    """One handler for all paths of all bindings."""

    def __init__(self, contracts: Contracts, desk: Asks, visitors: Door, rates: Rates) -> None:
        self._desk = desk
        self._visitors = visitors
        self._rates = rates
        self._routes: Routes[Transcoder] = Routes()
        for method in contracts.methods:
            for binding in method.bindings:
                self._routes.add(binding.verb, binding.template, Transcoder(method, binding))

    def add_routes(self, application: web.Application) -> None:
        for beginning in self._routes.beginnings:
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
        request[CALLED] = method.rpc_name
        visitor = await self._admit(request, method)
        key = request.headers.get(KEY_HEADER)
        body = await _body(request) if transcoder.takes_body else b""
        message = transcoder.request(values, request.rel_url.raw_query_string, body, key)
        answer = await self._desk.ask(method, message, visitor, trace.traceparent(), request.remote or "")
        text = json_codec.encode(method.response_class.FromString(answer))
        if method.public and not visitor.token and request.method in {hdrs.METH_GET, hdrs.METH_HEAD}:
            return _for_everybody(request, text)
        return web.Response(body=text, content_type=JSON, headers=_PRIVATE)

    async def _admit(self, request: web.Request, method: Method) -> Visitor:
        token, address = token_of(request), request.remote or ""
        if not token and not method.public:
            raise GatewayRefused("TOKEN_INVALID", "Send a bearer token: `Authorization: Bearer …`.")
        if token and not self._visitors.known(token):
            # To read a token costs more than to forge one: nobody may show new ones without end.
            self._rates.newcomer(address)
        visitor = await self._visitors.recognise(token)
        # Before others are asked about him: whoever asks too much costs nobody but us anything.
        self._rates.call(visitor, address)
        await self._visitors.verify(visitor)
        self._visitors.seen(visitor)
        if not method.expired_token_accepted and not self._visitors.current(visitor):
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
    if request.content_type != JSON:
        problem = invalid(f"Send the body as `Content-Type: {JSON}`.")
        raise Problem(415, problem.detail, problem.reason, headers={hdrs.ACCEPT: JSON})
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
        hdrs.CACHE_CONTROL: f"public, max-age={FRESH_FOR_S}",
        hdrs.ETAG: f'"{tag}"',
        hdrs.VARY: hdrs.AUTHORIZATION,
    }
    if any(known.value in {tag, "*"} for known in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    return web.Response(body=text, content_type=JSON, headers=headers)
