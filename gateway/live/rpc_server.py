"""What can be said on a WebSocket: every method of every service, and the few that are the socket's own."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Protocol

from prometheus_client import Counter

from gateway.access.principals import Authenticator, Principal
from gateway.access.rate_limiter import RateLimiter
from gateway.backends.principal_dispatcher import PrincipalDispatcher
from gateway.contracts import json_codec
from gateway.contracts.methods import Contracts
from gateway.contracts.refusals import GatewayRefused, token_expired
from gateway.http.call_metrics import CallMetrics, CallTransport
from gateway.http.problems import Problem, internal_error, method_unknown
from gateway.live import json_rpc
from gateway.live.feeds import ClientConnection, Watcher
from gateway.live.hub import Hub, Subscription
from gateway.live.private_facts import PrivateFacts
from services.kit import trace
from services.kit.refusal import Refused

# Tables that one connection may watch (G11).
WATCHED_TABLES_LIMIT = 64
_SEQ_LIMIT = 2**63

# With these one says who one is, or goes on being who one was.
_SHOWING_TOKENS = frozenset({"authenticate", "refresh"})

_UNHEARD = Counter("feltro_edge_messages_refused", "Messages of which something was one too many", ["reason"])
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one call, and what is to happen right after it was written."""

    text: bytes
    after_sent: Callable[[], None] | None = None


class RpcConnection(ClientConnection, Protocol):
    """The connection of somebody who talks."""

    watchers: dict[str, Watcher]
    pending_subscriptions: int
    """How many tables he is about to watch."""
    is_open: bool
    client_address: str
    """Where he comes from."""

    def send_answer(self, text: bytes) -> None:
        """Sends a message."""
        ...

    def set_principal(self, principal: Principal) -> None:
        """He has shown a token."""
        ...


_Own = Callable[[RpcConnection, json_rpc.Call], Awaitable[Answer]]


class RpcServer:
    """Answers calls."""

    def __init__(
        self,
        contracts: Contracts,
        dispatcher: PrincipalDispatcher,
        authenticator: Authenticator,
        rate_limiter: RateLimiter,
        hub: Hub,
        private_facts: PrivateFacts,
    ) -> None:
        self._methods = contracts.by_rpc_name
        self._desk = dispatcher
        self._visitors = authenticator
        self._rates = rate_limiter
        self._hub = hub
        self._private_facts = private_facts
        self._calls = CallMetrics(CallTransport.WEBSOCKET)
        self._own: dict[str, _Own] = {
            "authenticate": self._authenticate,
            "ping": self._ping,
            "refresh": self._refresh,
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
        }

    def handle_message(self, connection: RpcConnection, text: bytes) -> Coroutine[object, object, None] | int:
        """What answers a message: a call, or a batch of them that are carried out at the same time.

        Each is counted before anything is done, and so is what is no call. Where all of it was too much he has been
        told so, with as little effort as possible, for it costs the others' time; then it is how many calls that were.
        """
        calls, together = json_rpc.parse(text)
        heard: list[json_rpc.Call | json_rpc.InvalidCall] = []
        refused: dict[bool, Refused] = {}
        unheard: dict[bool, dict[bytes, None]] = {}
        for call in calls:
            shows = isinstance(call, json_rpc.Call) and call.method in _SHOWING_TOKENS
            if shows not in refused:
                try:
                    self._count(connection, shows=shows)
                except Refused as too_much:
                    refused[shows], unheard[shows] = too_much, {}
                else:
                    heard.append(call)
                    continue
            unheard[shows][call.id] = None
        said = [one for shows, ids in unheard.items() for one in _too_much(calls, ids, refused[shows])]
        if heard:
            return self._answer_all(connection, heard, said, together=together)
        connection.send_answer(json_rpc.batch(said) if together else said[0])
        return len(calls)

    def refuse_message(self, connection: RpcConnection, text: bytes, refused: Refused) -> int:
        """Says that nothing of a message is heard; how many calls it holds."""
        calls, together = json_rpc.parse(text)
        said = _too_much(calls, dict.fromkeys(call.id for call in calls), refused)
        connection.send_answer(json_rpc.batch(said) if together else said[0])
        return len(calls)

    def _count(self, talker: RpcConnection, *, shows: bool) -> None:
        """To show a token is what everybody behind one address does, and has an allowance of its own."""
        if shows:
            self._rates.count_shown_token(talker.client_address)
        else:
            self._rates.count_call(talker.principal, talker.client_address)

    async def _answer_all(
        self,
        talker: RpcConnection,
        heard: list[json_rpc.Call | json_rpc.InvalidCall],
        said: list[bytes],
        *,
        together: bool,
    ) -> None:
        """`said` is what is answered already."""
        calls = [call for call in heard if isinstance(call, json_rpc.Call)]
        if len(calls) == 1:
            # Most messages are one call, and to wait for others costs more than to read it.
            answers = [await self._answer(talker, calls[0])]
        else:
            answers = await asyncio.gather(*(self._answer(talker, call) for call in calls))
        if len(calls) < len(heard):
            said = _what_is_wrong([call for call in heard if isinstance(call, json_rpc.InvalidCall)]) + said
        said = [answer.text for answer in answers] + said
        talker.send_answer(json_rpc.batch(said) if together else said[0])
        for answer in answers:
            if answer.after_sent is not None:
                answer.after_sent()

    def register(self, connection: RpcConnection) -> None:
        """One whose token is known."""
        if connection.principal.player_id is not None:
            self._private_facts.add_connection(connection.principal.player_id, connection)

    def unregister(self, connection: RpcConnection) -> None:
        """He is gone: nothing is told to him any more."""
        if connection.principal.player_id is not None:
            self._private_facts.remove_connection(connection.principal.player_id, connection)
        for watcher in connection.watchers.values():
            self._hub.remove_watcher(watcher)
        connection.watchers.clear()

    def stop_watching(self, connection: RpcConnection, watcher: Watcher) -> None:
        """He watches a table no more."""
        if connection.watchers.get(watcher.feed.table_id) is watcher:
            del connection.watchers[watcher.feed.table_id]
            self._hub.remove_watcher(watcher)

    async def _answer(self, talker: RpcConnection, call: json_rpc.Call) -> Answer:
        started = time.perf_counter()
        with trace.start_span(call.traceparent) as begun:
            try:
                own = self._own.get(call.method)
                if own is not None:
                    answer = await own(talker, call)
                else:
                    answer = Answer(json_rpc.success(call.id, await self._ask(talker, call)))
            except json_rpc.CallFailed as said:
                failed = said
            except Refused as refused:
                failed = json_rpc.error_of_refusal(refused)
            except Exception:  # noqa: BLE001 - whatever it was, the caller is told
                _log.exception("a call failed", extra={"method": call.method})
                failed = json_rpc.CallFailed(json_rpc.INTERNAL_ERROR, internal_error())
            else:
                self._calls.succeeded(call.method, started)
                return answer
            if call.method in self._methods or call.method in self._own:
                self._calls.failed(call.method, failed.problem.status)
            return Answer(_failure(call, failed, begun))

    async def _ask(self, talker: RpcConnection, call: json_rpc.Call) -> bytes:
        visitor = talker.principal
        method = self._methods.get(call.method)
        if method is None:
            sentence = "There is no such method: see /asyncapi.json."
            raise json_rpc.CallFailed(json_rpc.METHOD_NOT_FOUND, method_unknown(sentence, call.method))
        if not method.public and visitor.caller is None:
            raise GatewayRefused("TOKEN_INVALID", "Say who you are first: `authenticate` with a token.")
        try:
            request = json_codec.from_json(call.params, method.request_class)
        except json_codec.JsonMismatch as wrong:
            raise json_rpc.invalid_params(str(wrong), wrong.path) from None
        await self._visitors.verify(visitor)
        self._visitors.record_activity(visitor)
        answer = await self._desk.dispatch(method, request, visitor, trace.traceparent(), talker.client_address)
        return json_codec.encode(method.response_class.FromString(answer))

    async def _ping(self, _: RpcConnection, call: json_rpc.Call) -> Answer:
        return _result(call, {"at": datetime.now(UTC).isoformat().replace("+00:00", "Z")})

    async def _authenticate(self, talker: RpcConnection, call: json_rpc.Call) -> Answer:
        token = _text(call, "token")
        visitor = await self._visitors.authenticate(token)
        if not self._visitors.is_unexpired(visitor):
            raise token_expired()
        if talker.principal.caller is not None:
            raise json_rpc.invalid_params(
                "This connection has shown a token already: `refresh` it, or open another one."
            )
        talker.set_principal(visitor)
        self.register(talker)
        return _result(call, _identity(visitor))

    async def _refresh(self, talker: RpcConnection, call: json_rpc.Call) -> Answer:
        token = _text(call, "token")
        visitor = await self._visitors.renew(talker.principal, token)
        talker.set_principal(visitor)
        return _result(call, _identity(visitor))

    async def _subscribe(self, talker: RpcConnection, call: json_rpc.Call) -> Answer:
        table_id = _text(call, "table_id")
        from_seq = call.params.get("from_seq")
        if isinstance(from_seq, str) and from_seq.isdecimal() and len(from_seq) < 20:
            # 64-bit numbers are strings in the JSON of messages, and may be sent back as they came.
            from_seq = int(from_seq)
        if from_seq is not None and (
            not isinstance(from_seq, int) or isinstance(from_seq, bool) or not 0 <= from_seq < _SEQ_LIMIT
        ):
            raise json_rpc.invalid_params("`from_seq` has to be the number of an event.", "from_seq")
        if (
            table_id not in talker.watchers
            and len(talker.watchers) + talker.pending_subscriptions >= WATCHED_TABLES_LIMIT
        ):
            sentence = "This connection watches as many tables as it may: unsubscribe from one first."
            raise GatewayRefused("OVERLOADED", sentence, limit=WATCHED_TABLES_LIMIT)
        # Calls of one batch, or of several messages, wait side by side: each has its place from here on.
        talker.pending_subscriptions += 1
        try:
            await self._visitors.verify(talker.principal)
            opening = await self._hub.open_subscription(table_id, talker.principal, from_seq)
        except BaseException:
            talker.pending_subscriptions -= 1
            raise

        def watch() -> None:
            talker.pending_subscriptions -= 1
            if talker.is_open:
                self._watch(talker, opening)

        return Answer(json_rpc.success(call.id, json_codec.dumps(opening.to_json())), watch)

    def _watch(self, talker: RpcConnection, opening: Subscription) -> None:
        table_id = opening.feed.table_id
        if table_id in talker.watchers:
            self._hub.remove_watcher(talker.watchers.pop(table_id))
        watcher = self._hub.add_watcher(opening, talker)
        if talker.is_open:
            talker.watchers[table_id] = watcher
        else:
            # What had happened since was too much for his connection.
            self._hub.remove_watcher(watcher)

    async def _unsubscribe(self, talker: RpcConnection, call: json_rpc.Call) -> Answer:
        watcher = talker.watchers.get(_text(call, "table_id"))
        if watcher is not None:
            self.stop_watching(talker, watcher)
        return _result(call, {"was_subscribed": watcher is not None})


def _too_much(
    calls: Sequence[json_rpc.Call | json_rpc.InvalidCall], ids: Iterable[bytes], refused: Refused
) -> list[bytes]:
    """The answers to those calls of a message that are not even looked at.

    They are counted and not logged: one who asks too much would fill the log, and nobody else's lines be found in it.
    """
    _UNHEARD.labels(refused.reason).inc()
    only = calls[0] if len(calls) == 1 else None
    with trace.start_span(only.traceparent if isinstance(only, json_rpc.Call) else "") as begun:
        return json_rpc.failures(ids, json_rpc.error_of_refusal(refused), begun.trace_id)


def _what_is_wrong(wrong: Sequence[json_rpc.InvalidCall]) -> list[bytes]:
    """The answers to what is no call: one line in the log for all that one message holds."""
    with trace.start_span() as begun:
        _note_failure(wrong[0].error.problem, "", count=len(wrong))
        return [json_rpc.failure(one.id, one.error, begun.trace_id) for one in wrong]


def _failure(call: json_rpc.Call, failed: json_rpc.CallFailed, begun: trace.Trace) -> bytes:
    """Told to the client, and to the log under the same trace."""
    _note_failure(failed.problem, call.method)
    return json_rpc.failure(call.id, failed, begun.trace_id)


def _note_failure(problem: Problem, method: str, count: int = 1) -> None:
    if problem.is_overload:
        _UNHEARD.labels(problem.reason).inc()
        return
    said = {"method": method, "status": problem.status, "reason": problem.reason, "domain": problem.domain}
    level = logging.WARNING if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.INFO
    _log.log(level, "a call was refused", extra=said | {"count": count})


def _identity(visitor: Principal) -> dict[str, object]:
    caller = visitor.caller
    if caller is None:
        return {}
    expires_at = datetime.fromtimestamp(caller.expires_at, UTC).isoformat().replace("+00:00", "Z")
    return {"subject": caller.subject, "scopes": sorted(caller.scopes), "expires_at": expires_at}


def _result(call: json_rpc.Call, said: object) -> Answer:
    return Answer(json_rpc.success(call.id, json_codec.dumps(said)))


def _text(call: json_rpc.Call, name: str) -> str:
    value = call.params.get(name)
    if not isinstance(value, str) or not value:
        raise json_rpc.invalid_params(f"`{name}` has to be a text.", name)
    return value
