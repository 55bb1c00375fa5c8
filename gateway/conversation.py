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

from gateway import json_codec, rpc
from gateway.asking import Asks
from gateway.calls import Calls, Way
from gateway.contracts import Contracts
from gateway.feeds import Outlet, Watcher
from gateway.hub import Hub, Opening
from gateway.private_facts import PrivateFacts
from gateway.problems import Problem, fault, method_unknown
from gateway.rates import Rates
from gateway.refusals import GatewayRefused, token_expired
from gateway.visitors import Visitor, Visitors
from services.kit import trace
from services.kit.refusal import Refused

# Tables that one connection may watch (G11).
TABLES_LIMIT = 64
_SEQ_LIMIT = 2**63

# With these one says who one is, or goes on being who one was.
_SHOWING_TOKENS = frozenset({"authenticate", "refresh"})

_UNHEARD = Counter("feltro_edge_messages_refused", "Messages of which something was one too many", ["reason"])
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one call, and what is to happen right after it was written."""

    text: bytes
    then: Callable[[], None] | None = None


class Talker(Outlet, Protocol):
    """The connection of somebody who talks."""

    watching: dict[str, Watcher]
    opening: int
    """How many tables he is about to watch."""
    open: bool
    address: str
    """Where he comes from."""

    def say(self, text: bytes) -> None:
        """Sends a message."""
        ...

    def become(self, visitor: Visitor) -> None:
        """He has shown a token."""
        ...


_Own = Callable[[Talker, rpc.Call], Awaitable[Answer]]


class Conversation:
    """Answers calls."""

    def __init__(
        self,
        contracts: Contracts,
        desk: Asks,
        visitors: Visitors,
        rates: Rates,
        hub: Hub,
        private_facts: PrivateFacts,
    ) -> None:
        self._methods = contracts.by_rpc_name
        self._desk = desk
        self._visitors = visitors
        self._rates = rates
        self._hub = hub
        self._private_facts = private_facts
        self._calls = Calls(Way.WEBSOCKET)
        self._own: dict[str, _Own] = {
            "authenticate": self._authenticate,
            "ping": self._ping,
            "refresh": self._refresh,
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
        }

    def answer(self, talker: Talker, text: bytes) -> Coroutine[object, object, None] | int:
        """What answers a message: a call, or a batch of them that are carried out at the same time.

        Each is counted before anything is done, and so is what is no call. Where all of it was too much he has been
        told so, with as little effort as possible, for it costs the others' time; then it is how many calls that were.
        """
        calls, together = rpc.read(text)
        heard: list[rpc.Call | rpc.Wrong] = []
        refused: dict[bool, Refused] = {}
        unheard: dict[bool, dict[bytes, None]] = {}
        for call in calls:
            shows = isinstance(call, rpc.Call) and call.method in _SHOWING_TOKENS
            if shows not in refused:
                try:
                    self._count(talker, shows=shows)
                except Refused as too_much:
                    refused[shows], unheard[shows] = too_much, {}
                else:
                    heard.append(call)
                    continue
            unheard[shows][call.id] = None
        said = [one for shows, ids in unheard.items() for one in _too_much(calls, ids, refused[shows])]
        if heard:
            return self._answer_all(talker, heard, said, together=together)
        talker.say(rpc.batch(said) if together else said[0])
        return len(calls)

    def refuse(self, talker: Talker, text: bytes, refused: Refused) -> int:
        """Says that nothing of a message is heard; how many calls it holds."""
        calls, together = rpc.read(text)
        said = _too_much(calls, dict.fromkeys(call.id for call in calls), refused)
        talker.say(rpc.batch(said) if together else said[0])
        return len(calls)

    def _count(self, talker: Talker, *, shows: bool) -> None:
        """To show a token is what everybody behind one address does, and has an allowance of its own."""
        if shows:
            self._rates.newcomer(talker.address)
        else:
            self._rates.call(talker.visitor, talker.address)

    async def _answer_all(
        self, talker: Talker, heard: list[rpc.Call | rpc.Wrong], said: list[bytes], *, together: bool
    ) -> None:
        """`said` is what is answered already."""
        calls = [call for call in heard if isinstance(call, rpc.Call)]
        if len(calls) == 1:
            # Most messages are one call, and to wait for others costs more than to read it.
            answers = [await self._answer(talker, calls[0])]
        else:
            answers = await asyncio.gather(*(self._answer(talker, call) for call in calls))
        if len(calls) < len(heard):
            said = _what_is_wrong([call for call in heard if isinstance(call, rpc.Wrong)]) + said
        said = [answer.text for answer in answers] + said
        talker.say(rpc.batch(said) if together else said[0])
        for answer in answers:
            if answer.then is not None:
                answer.then()

    def welcome(self, talker: Talker) -> None:
        """One whose token is known."""
        if talker.visitor.player_id is not None:
            self._private_facts.join(talker.visitor.player_id, talker)

    def part(self, talker: Talker) -> None:
        """He is gone: nothing is told to him any more."""
        if talker.visitor.player_id is not None:
            self._private_facts.leave(talker.visitor.player_id, talker)
        for watcher in talker.watching.values():
            self._hub.leave(watcher)
        talker.watching.clear()

    def leave(self, talker: Talker, watcher: Watcher) -> None:
        """He watches a table no more."""
        if talker.watching.get(watcher.feed.table_id) is watcher:
            del talker.watching[watcher.feed.table_id]
            self._hub.leave(watcher)

    async def _answer(self, talker: Talker, call: rpc.Call) -> Answer:
        started = time.perf_counter()
        with trace.begin(call.traceparent) as begun:
            try:
                own = self._own.get(call.method)
                if own is not None:
                    answer = await own(talker, call)
                else:
                    answer = Answer(rpc.success(call.id, await self._ask(talker, call)))
            except rpc.CallFailed as said:
                failed = said
            except Refused as refused:
                failed = rpc.refused(refused)
            except Exception:  # noqa: BLE001 - whatever it was, the caller is told
                _log.exception("a call failed", extra={"method": call.method})
                failed = rpc.CallFailed(rpc.INTERNAL_ERROR, fault())
            else:
                self._calls.succeeded(call.method, started)
                return answer
            if call.method in self._methods or call.method in self._own:
                self._calls.failed(call.method, failed.problem.status)
            return Answer(_failure(call, failed, begun))

    async def _ask(self, talker: Talker, call: rpc.Call) -> bytes:
        visitor = talker.visitor
        method = self._methods.get(call.method)
        if method is None:
            sentence = "There is no such method: see /asyncapi.json."
            raise rpc.CallFailed(rpc.METHOD_NOT_FOUND, method_unknown(sentence, call.method))
        if not method.public and visitor.caller is None:
            raise GatewayRefused("TOKEN_INVALID", "Say who you are first: `authenticate` with a token.")
        try:
            request = json_codec.from_json(call.params, method.request_class)
        except json_codec.WrongJson as wrong:
            raise rpc.invalid_params(str(wrong), wrong.path) from None
        await self._visitors.verify(visitor)
        self._visitors.seen(visitor)
        answer = await self._desk.ask(method, request, visitor, trace.traceparent(), talker.address)
        return json_codec.encode(method.response_class.FromString(answer))

    async def _ping(self, _: Talker, call: rpc.Call) -> Answer:
        return _result(call, {"at": datetime.now(UTC).isoformat().replace("+00:00", "Z")})

    async def _authenticate(self, talker: Talker, call: rpc.Call) -> Answer:
        token = _text(call, "token")
        visitor = await self._visitors.let_in(token)
        if not self._visitors.current(visitor):
            raise token_expired()
        if talker.visitor.caller is not None:
            raise rpc.invalid_params("This connection has shown a token already: `refresh` it, or open another one.")
        talker.become(visitor)
        self.welcome(talker)
        return _result(call, _identity(visitor))

    async def _refresh(self, talker: Talker, call: rpc.Call) -> Answer:
        token = _text(call, "token")
        visitor = await self._visitors.renew(talker.visitor, token)
        talker.become(visitor)
        return _result(call, _identity(visitor))

    async def _subscribe(self, talker: Talker, call: rpc.Call) -> Answer:
        table_id = _text(call, "table_id")
        from_seq = call.params.get("from_seq")
        if isinstance(from_seq, str) and from_seq.isdecimal() and len(from_seq) < 20:
            # 64-bit numbers are strings in the JSON of messages, and may be sent back as they came.
            from_seq = int(from_seq)
        if from_seq is not None and (
            not isinstance(from_seq, int) or isinstance(from_seq, bool) or not 0 <= from_seq < _SEQ_LIMIT
        ):
            raise rpc.invalid_params("`from_seq` has to be the number of an event.", "from_seq")
        if table_id not in talker.watching and len(talker.watching) + talker.opening >= TABLES_LIMIT:
            sentence = "This connection watches as many tables as it may: unsubscribe from one first."
            raise GatewayRefused("OVERLOADED", sentence, limit=TABLES_LIMIT)
        # Calls of one batch, or of several messages, wait side by side: each has its place from here on.
        talker.opening += 1
        try:
            await self._visitors.verify(talker.visitor)
            opening = await self._hub.open(table_id, talker.visitor, from_seq)
        except BaseException:
            talker.opening -= 1
            raise

        def watch() -> None:
            talker.opening -= 1
            if talker.open:
                self._watch(talker, opening)

        return Answer(rpc.success(call.id, json_codec.dumps(opening.result())), watch)

    def _watch(self, talker: Talker, opening: Opening) -> None:
        table_id = opening.feed.table_id
        if table_id in talker.watching:
            self._hub.leave(talker.watching.pop(table_id))
        watcher = self._hub.watch(opening, talker)
        if talker.open:
            talker.watching[table_id] = watcher
        else:
            # What had happened since was too much for his connection.
            self._hub.leave(watcher)

    async def _unsubscribe(self, talker: Talker, call: rpc.Call) -> Answer:
        watcher = talker.watching.get(_text(call, "table_id"))
        if watcher is not None:
            self.leave(talker, watcher)
        return _result(call, {"was_subscribed": watcher is not None})


def _too_much(calls: Sequence[rpc.Call | rpc.Wrong], ids: Iterable[bytes], refused: Refused) -> list[bytes]:
    """The answers to those calls of a message that are not even looked at.

    They are counted and not logged: one who asks too much would fill the log, and nobody else's lines be found in it.
    """
    _UNHEARD.labels(refused.reason).inc()
    only = calls[0] if len(calls) == 1 else None
    with trace.begin(only.traceparent if isinstance(only, rpc.Call) else "") as begun:
        return rpc.failures(ids, rpc.refused(refused), begun.trace_id)


def _what_is_wrong(wrong: Sequence[rpc.Wrong]) -> list[bytes]:
    """The answers to what is no call: one line in the log for all that one message holds."""
    with trace.begin() as begun:
        _note_failure(wrong[0].failed.problem, "", count=len(wrong))
        return [rpc.failure(one.id, one.failed, begun.trace_id) for one in wrong]


def _failure(call: rpc.Call, failed: rpc.CallFailed, begun: trace.Trace) -> bytes:
    """Told to the client, and to the log under the same trace."""
    _note_failure(failed.problem, call.method)
    return rpc.failure(call.id, failed, begun.trace_id)


def _note_failure(problem: Problem, method: str, count: int = 1) -> None:
    if problem.too_much:
        _UNHEARD.labels(problem.reason).inc()
        return
    said = {"method": method, "status": problem.status, "reason": problem.reason, "domain": problem.domain}
    level = logging.WARNING if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.INFO
    _log.log(level, "a call was refused", extra=said | {"count": count})


def _identity(visitor: Visitor) -> dict[str, object]:
    caller = visitor.caller
    if caller is None:
        return {}
    expires_at = datetime.fromtimestamp(caller.expires_at, UTC).isoformat().replace("+00:00", "Z")
    return {"subject": caller.subject, "scopes": sorted(caller.scopes), "expires_at": expires_at}


def _result(call: rpc.Call, said: object) -> Answer:
    return Answer(rpc.success(call.id, json_codec.dumps(said)))


def _text(call: rpc.Call, name: str) -> str:
    value = call.params.get(name)
    if not isinstance(value, str) or not value:
        raise rpc.invalid_params(f"`{name}` has to be a text.", name)
    return value
