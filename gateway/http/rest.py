"""REST: every method by its `google.api.http` binding, transcoded by descriptors alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from aiohttp import hdrs, web

from gateway.access.bearer import bearer_token
from gateway.access.principals import Principal
from gateway.access.rate_limiter import RateLimiter
from gateway.backends.dispatcher import CallContext, CallDispatcher
from gateway.contracts import json_codec, refusals
from gateway.contracts.bounds import REQUEST_ID_FIELD
from gateway.contracts.methods import Contracts, Method
from gateway.contracts.refusals import GatewayRefused
from gateway.http.documents import JSON_CONTENT_TYPE, etag, has_current
from gateway.http.envelope import CALLED_METHOD
from gateway.http.problems import Problem, invalid
from gateway.http.routes import Routes
from gateway.http.transcoding import IDEMPOTENCY_HEADER, Transcoder
from services.kit.telemetry import trace
from services.kit.telemetry.logs import note_player

# A larger body is not read (G11).
BODY_BYTES_LIMIT = 256 * 1024
# How long an answer that is the same for everybody may be cached: less than a person notices.
PUBLIC_MAX_AGE_S = 1

_PRIVATE = {"Cache-Control": "no-store"}


class RequestAuthenticator(Protocol):
    """Verifies the tokens of requests: `Authenticator`."""

    def was_verified(self, token: str) -> bool: ...

    async def identify(self, token: str) -> Principal: ...

    async def verify(self, principal: Principal) -> None: ...

    def record_activity(self, principal: Principal) -> None: ...

    def is_unexpired(self, principal: Principal) -> bool: ...


class RestApi:
    """Answers requests at all paths of all bindings."""

    def __init__(
        self,
        contracts: Contracts,
        dispatcher: CallDispatcher,
        authenticator: RequestAuthenticator,
        rate_limiter: RateLimiter,
    ) -> None:
        self._dispatcher = dispatcher
        self._authenticator = authenticator
        self._rate_limiter = rate_limiter
        self._routes: Routes[Transcoder] = Routes()
        for method in contracts.methods:
            for binding in method.bindings:
                self._routes.add(binding.verb, binding.template, Transcoder(method, binding))

    def install(self, application: web.Application) -> None:
        for segment in self._routes.first_segments:
            application.router.add_route("*", f"/{segment}/{{rest:[\\s\\S]*}}", self.answer)

    async def answer(self, request: web.Request) -> web.Response:
        """Answers any request to any method."""
        found = self._routes.find(request.rel_url.raw_path)
        if found is None:
            raise web.HTTPNotFound
        by_verb, values = found
        transcoder = by_verb.get(hdrs.METH_GET if request.method == hdrs.METH_HEAD else request.method)
        if transcoder is None:
            return _other_verb(request, by_verb)
        method = transcoder.method
        request[CALLED_METHOD] = method.rpc_name
        principal = await self._admit(request, method)
        key = _idempotency_key(request)
        body = await _body(request) if transcoder.takes_body else b""
        message = transcoder.build_request(values, request.rel_url.raw_query_string, body, key)
        context = CallContext(principal, trace.traceparent(), request.remote or "")
        answer = await self._dispatcher.dispatch(method, message, context)
        text = json_codec.encode(method.response_class.FromString(answer))
        if method.public and not principal.token and request.method in {hdrs.METH_GET, hdrs.METH_HEAD}:
            return _public_answer(request, text)
        return web.Response(body=text, content_type=JSON_CONTENT_TYPE, headers=_PRIVATE)

    async def _admit(self, request: web.Request, method: Method) -> Principal:
        token, address = bearer_token(request), request.remote or ""
        if not token and not method.public:
            raise GatewayRefused("TOKEN_INVALID", "Send a bearer token: `Authorization: Bearer …`.")
        if token and not self._authenticator.was_verified(token):
            # Verifying a token costs more than forging one, so new tokens are limited.
            self._rate_limiter.count_shown_token(address)
        principal = await self._authenticator.identify(token)
        note_player(principal.player_id)
        # Counted before anything else: a refused call must not cost the bus or a service anything.
        self._rate_limiter.count_call(principal, address)
        await self._authenticator.verify(principal)
        self._authenticator.record_activity(principal)
        if not method.expired_token_accepted and not self._authenticator.is_unexpired(principal):
            raise refusals.token_expired()
        return principal


def _idempotency_key(request: web.Request) -> str | None:
    """Returns the key by which a command can be repeated; refuses several, for only one of them would count."""
    keys = request.headers.getall(IDEMPOTENCY_HEADER, [])
    if len(keys) > 1:
        raise invalid(f"Send one `{IDEMPOTENCY_HEADER}`.", REQUEST_ID_FIELD)
    return keys[0] if keys else None


def _other_verb(request: web.Request, by_verb: Mapping[str, Transcoder]) -> web.Response:
    verbs = {*by_verb, hdrs.METH_OPTIONS} | ({hdrs.METH_HEAD} if hdrs.METH_GET in by_verb else set())
    if request.method == hdrs.METH_OPTIONS:
        return web.Response(status=204, headers={hdrs.ALLOW: ", ".join(sorted(verbs)), **_PRIVATE})
    raise web.HTTPMethodNotAllowed(request.method, sorted(verbs))


async def _body(request: web.Request) -> bytes:
    """Reads the body, or refuses one of a wrong type or size."""
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


def _public_answer(request: web.Request, text: bytes) -> web.Response:
    """Answers a call without a token: the answer is the same for everybody, and may be cached for a moment."""
    tag = etag(text)
    headers = {
        hdrs.CACHE_CONTROL: f"public, max-age={PUBLIC_MAX_AGE_S}",
        hdrs.ETAG: f'"{tag}"',
        hdrs.VARY: hdrs.AUTHORIZATION,
    }
    if has_current(request, tag):
        return web.Response(status=304, headers=headers)
    return web.Response(body=text, content_type=JSON_CONTENT_TYPE, headers=headers)
