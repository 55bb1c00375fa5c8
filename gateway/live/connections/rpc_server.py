"""Answers JSON-RPC calls of WebSockets: the methods of all services, and the few of the connection itself."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from google.protobuf.message import Message
from opentelemetry.trace import Span
from prometheus_client import Counter

from gateway.access.authenticator import Authenticator
from gateway.access.principals import Principal
from gateway.access.rate_limiter import RateLimiter
from gateway.backends.dispatcher import CallContext, CallDispatcher
from gateway.contracts import bounds, json_codec
from gateway.contracts.bounds import REQUEST_ID_FIELD
from gateway.contracts.methods import Contracts
from gateway.contracts.refusals import GatewayRefused, token_expired
from gateway.http.call_metrics import CallMetrics, CallTransport
from gateway.http.problems import internal_error, log_problem, method_unknown
from gateway.live.connections import json_rpc
from gateway.live.feeds import ClientConnection, Watcher
from gateway.live.hub import Hub, Subscription
from gateway.live.private_facts import PlayerConnections
from services.kit.refusal import Refused
from services.kit.telemetry import trace
from services.kit.telemetry.logs import AboutCall

# Tables that one connection may watch (G11).
WATCHED_TABLES_LIMIT = 64
_SEQ_LIMIT = 2**63
_UNNAMED = "Name the command by its `request_id`, so that it can be sent again safely."

# Methods that show a token.
_TOKEN_METHODS = frozenset({"authenticate", "refresh"})

_OVERLOADED = Counter("feltro_edge_calls_overloaded", "Calls over WebSockets refused for overload", ["reason"])
_CALL_REFUSED = "a call was refused"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one call, and what is done right after it was written."""

    text: bytes
    after_sent: Callable[[], None] | None = None


class RpcConnection(ClientConnection, Protocol):
    """A connection that calls are made on: a WebSocket."""

    pending_subscriptions: int
    """How many subscriptions are being opened."""
    client_address: str

    def send_answer(self, text: bytes) -> None:
        """Writes the answer to a message, within the send budget."""
        ...

    def set_principal(self, principal: Principal) -> None:
        """Sets the principal after a token was shown."""
        ...


_ConnectionMethod = Callable[[RpcConnection, json_rpc.Call], Awaitable[Answer]]


class RpcServer:
    """Answers the calls of all WebSockets."""

    def __init__(
        self,
        contracts: Contracts,
        dispatcher: CallDispatcher,
        authenticator: Authenticator,
        rate_limiter: RateLimiter,
        hub: Hub,
        players: PlayerConnections,
    ) -> None:
        self._methods = contracts.by_rpc_name
        self._dispatcher = dispatcher
        self._authenticator = authenticator
        self._rate_limiter = rate_limiter
        self._hub = hub
        self._players = players
        self._metrics = CallMetrics(CallTransport.WEBSOCKET)
        self._connection_methods: dict[str, _ConnectionMethod] = {
            "authenticate": self._authenticate,
            "ping": self._ping,
            "refresh": self._refresh,
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
        }

    def handle_message(self, connection: RpcConnection, text: bytes) -> Coroutine[object, object, None] | int:
        """Rate-limits every call of a message, malformed ones included, before any work.

        Returns what answers the calls within the limit, all at the same time. If none is, they are refused at once and
        cheaply, for it costs the other clients' time, and their number is returned.
        """
        calls, is_batch = json_rpc.parse(text)
        accepted: list[json_rpc.Call | json_rpc.InvalidCall] = []
        # By whether a call shows a token, for each kind has a limit of its own.
        refused: dict[bool, Refused] = {}
        refused_ids: dict[bool, dict[bytes, None]] = {}
        for call in calls:
            shows_token = isinstance(call, json_rpc.Call) and call.method in _TOKEN_METHODS
            if shows_token not in refused:
                try:
                    self._count(connection, shows_token=shows_token)
                except Refused as overload:
                    refused[shows_token], refused_ids[shows_token] = overload, {}
                else:
                    accepted.append(call)
                    continue
            refused_ids[shows_token][call.id] = None
        answers = [
            answer
            for shows_token, ids in refused_ids.items()
            for answer in _overload_answers(calls, ids, refused[shows_token])
        ]
        if accepted:
            return self._answer_all(connection, accepted, answers, is_batch=is_batch)
        connection.send_answer(json_rpc.batch(answers) if is_batch else answers[0])
        return len(calls)

    def refuse_message(self, connection: RpcConnection, text: bytes, refused: Refused) -> int:
        """Refuses all calls of a message, and returns how many there are."""
        calls, is_batch = json_rpc.parse(text)
        answers = _overload_answers(calls, dict.fromkeys(call.id for call in calls), refused)
        connection.send_answer(json_rpc.batch(answers) if is_batch else answers[0])
        return len(calls)

    def _count(self, connection: RpcConnection, *, shows_token: bool) -> None:
        """Counts a call; many clients behind one address show tokens, so these have a limit of their own."""
        if shows_token:
            self._rate_limiter.count_shown_token(connection.client_address)
        else:
            self._rate_limiter.count_call(connection.principal, connection.client_address)

    async def _answer_all(
        self,
        connection: RpcConnection,
        accepted: list[json_rpc.Call | json_rpc.InvalidCall],
        refusals: list[bytes],
        *,
        is_batch: bool,
    ) -> None:
        """Answers a message; `refusals` are the answers to the calls above the limit."""
        calls = [call for call in accepted if isinstance(call, json_rpc.Call)]
        if len(calls) == 1:
            # Most messages are one call, and `gather` costs more than reading one.
            answers = [await self._answer(connection, calls[0])]
        else:
            answers = await asyncio.gather(*(self._answer(connection, call) for call in calls))
        texts = [answer.text for answer in answers]
        if len(calls) < len(accepted):
            texts += _invalid_call_answers([call for call in accepted if isinstance(call, json_rpc.InvalidCall)])
        texts += refusals
        connection.send_answer(json_rpc.batch(texts) if is_batch else texts[0])
        for answer in answers:
            if answer.after_sent is not None:
                answer.after_sent()

    def register(self, connection: RpcConnection) -> None:
        """Registers a connection for what is private to its player, if it has one."""
        self._players.add(connection)

    def unregister(self, connection: RpcConnection) -> None:
        """Ends everything that a connection is sent."""
        self._players.remove(connection)
        for watcher in connection.watchers.values():
            self._hub.remove_watcher(watcher)
        connection.watchers.clear()

    def stop_watching(self, connection: RpcConnection, watcher: Watcher) -> None:
        """Ends the subscription to one table."""
        if connection.watchers.get(watcher.feed.table_id) is watcher:
            del connection.watchers[watcher.feed.table_id]
            self._hub.remove_watcher(watcher)

    async def _answer(self, connection: RpcConnection, call: json_rpc.Call) -> Answer:
        started = time.perf_counter()
        known = call.method in self._methods or call.method in self._connection_methods
        name = call.method if known else "unknown method"
        with trace.start_span(name, call.traceparent) as span, AboutCall(connection.principal.player_id):
            try:
                connection_method = self._connection_methods.get(call.method)
                if connection_method is not None:
                    answer = await connection_method(connection, call)
                else:
                    answer = Answer(json_rpc.success(call.id, await self._dispatch(connection, call)))
            except json_rpc.CallFailed as error:
                failed = error
            except Refused as refused:
                failed = json_rpc.error_of_refusal(refused)
                trace.note_failure(span, refused)
            except Exception as fault:  # noqa: BLE001 - every call is answered
                _log.exception("a call failed", extra={"method": call.method})
                trace.note_failure(span, fault)
                failed = json_rpc.CallFailed(json_rpc.INTERNAL_ERROR, internal_error())
            else:
                self._metrics.succeeded(call.method, started)
                return answer
            if known:
                self._metrics.failed(call.method, failed.problem.status, failed.problem.reason)
            return Answer(_failure(call, failed, span))

    async def _dispatch(self, connection: RpcConnection, call: json_rpc.Call) -> bytes:
        principal = connection.principal
        method = self._methods.get(call.method)
        if method is None:
            sentence = "There is no such method: see /asyncapi.json."
            raise json_rpc.CallFailed(json_rpc.METHOD_NOT_FOUND, method_unknown(sentence, call.method))
        if not method.public and principal.caller is None:
            raise GatewayRefused("TOKEN_INVALID", "Say who you are first: `authenticate` with a token.")
        try:
            request = json_codec.from_json(call.params, method.request_class)
        except json_codec.JsonMismatch as mismatch:
            raise json_rpc.invalid_params(str(mismatch), mismatch.path) from None
        if method.has_request_id and not bounds.is_request_id(request_id := _request_id(request)):
            sentence = f"`request_id` {bounds.REQUEST_ID_RULE}" if request_id else _UNNAMED
            raise json_rpc.invalid_params(sentence, REQUEST_ID_FIELD)
        await self._authenticator.verify(principal)
        self._authenticator.record_activity(principal)
        context = CallContext(principal, trace.traceparent(), connection.client_address)
        answer = await self._dispatcher.dispatch(method, request, context)
        return json_codec.encode(method.response_class.FromString(answer))

    async def _ping(self, _: RpcConnection, call: json_rpc.Call) -> Answer:
        return _result(call, {"at": datetime.now(UTC).isoformat().replace("+00:00", "Z")})

    async def _authenticate(self, connection: RpcConnection, call: json_rpc.Call) -> Answer:
        token = _text(call, "token")
        principal = await self._authenticator.authenticate(token)
        if not self._authenticator.is_unexpired(principal):
            raise token_expired()
        if connection.principal.caller is not None:
            raise json_rpc.invalid_params(
                "This connection has shown a token already: `refresh` it, or open another one."
            )
        connection.set_principal(principal)
        self.register(connection)
        return _result(call, _identity(principal))

    async def _refresh(self, connection: RpcConnection, call: json_rpc.Call) -> Answer:
        token = _text(call, "token")
        principal = await self._authenticator.renew(connection.principal, token)
        connection.set_principal(principal)
        return _result(call, _identity(principal))

    async def _subscribe(self, connection: RpcConnection, call: json_rpc.Call) -> Answer:
        table_id = _text(call, "table_id")
        from_seq = call.params.get("from_seq")
        if isinstance(from_seq, str) and from_seq.isdecimal() and len(from_seq) < 20:
            # 64-bit numbers are strings in the JSON of messages, and may be sent back as such.
            from_seq = int(from_seq)
        if from_seq is not None and (
            not isinstance(from_seq, int) or isinstance(from_seq, bool) or not 0 <= from_seq < _SEQ_LIMIT
        ):
            raise json_rpc.invalid_params("`from_seq` has to be the number of an event.", "from_seq")
        if (
            table_id not in connection.watchers
            and len(connection.watchers) + connection.pending_subscriptions >= WATCHED_TABLES_LIMIT
        ):
            sentence = "This connection watches as many tables as it may: unsubscribe from one first."
            raise GatewayRefused("TOO_MANY_TABLES", sentence, limit=WATCHED_TABLES_LIMIT)
        # Several subscriptions may be opened at the same time: each counts from here on.
        connection.pending_subscriptions += 1
        try:
            await self._authenticator.verify(connection.principal)
            subscription = await self._hub.open_subscription(table_id, connection.principal, from_seq)
        except BaseException:
            connection.pending_subscriptions -= 1
            raise

        def start_watching() -> None:
            connection.pending_subscriptions -= 1
            if connection.is_open:
                self._watch(connection, subscription)

        return Answer(json_rpc.success(call.id, json_codec.dumps(subscription.to_json())), start_watching)

    def _watch(self, connection: RpcConnection, subscription: Subscription) -> None:
        table_id = subscription.feed.table_id
        if table_id in connection.watchers:
            self._hub.remove_watcher(connection.watchers.pop(table_id))
        watcher = self._hub.add_watcher(subscription, connection)
        if connection.is_open:
            connection.watchers[table_id] = watcher
        else:
            # The missed events were too much for the connection, and closed it.
            self._hub.remove_watcher(watcher)

    async def _unsubscribe(self, connection: RpcConnection, call: json_rpc.Call) -> Answer:
        watcher = connection.watchers.get(_text(call, "table_id"))
        if watcher is not None:
            self.stop_watching(connection, watcher)
        return _result(call, {"was_subscribed": watcher is not None})


def _overload_answers(
    calls: Sequence[json_rpc.Call | json_rpc.InvalidCall], ids: Iterable[bytes], refused: Refused
) -> list[bytes]:
    """Returns the answers to calls above a limit, which are counted and not logged: they would fill the log."""
    _OVERLOADED.labels(refused.reason).inc()
    only = calls[0] if len(calls) == 1 else None
    with trace.start_span("refused for overload", only.traceparent if isinstance(only, json_rpc.Call) else "") as span:
        return json_rpc.failures(ids, json_rpc.error_of_refusal(refused), trace.trace_id_of(span))


def _invalid_call_answers(invalid: Sequence[json_rpc.InvalidCall]) -> list[bytes]:
    """Returns the answers to malformed calls; logs one line for all of one message."""
    with trace.start_span("malformed call") as span:
        log_problem(invalid[0].error.problem, _CALL_REFUSED, {"method": "", "count": len(invalid)}, _OVERLOADED)
        return [json_rpc.failure(call.id, call.error, trace.trace_id_of(span)) for call in invalid]


def _failure(call: json_rpc.Call, failed: json_rpc.CallFailed, span: Span) -> bytes:
    """Returns the answer to a call that failed, and logs it under the same trace."""
    log_problem(failed.problem, _CALL_REFUSED, {"method": call.method, "count": 1}, _OVERLOADED)
    return json_rpc.failure(call.id, failed, trace.trace_id_of(span))


def _request_id(request: Message) -> str:
    named: str = getattr(request, REQUEST_ID_FIELD)
    return named


def _identity(principal: Principal) -> dict[str, object]:
    caller = principal.caller
    if caller is None:
        return {}
    expires_at = datetime.fromtimestamp(caller.expires_at, UTC).isoformat().replace("+00:00", "Z")
    return {"subject": caller.subject, "scopes": sorted(caller.scopes), "expires_at": expires_at}


def _result(call: json_rpc.Call, result: object) -> Answer:
    return Answer(json_rpc.success(call.id, json_codec.dumps(result)))


def _text(call: json_rpc.Call, name: str) -> str:
    value = call.params.get(name)
    if not isinstance(value, str) or not value:
        raise json_rpc.invalid_params(f"`{name}` has to be a text.", name)
    return value
