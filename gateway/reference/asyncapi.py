"""Generates the AsyncAPI 3 document of WebSockets and event streams, from descriptors and their comments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from aiohttp import web

from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from feltro.wallet.v1 import events_pb2 as wallet_events_pb2
from gateway.access.activity import IDLE_LIMIT_S
from gateway.backends.archive import RESUME_WINDOW_S
from gateway.contracts import json_codec
from gateway.contracts.methods import Contracts, Method
from gateway.contracts.reasons import ReasonSets
from gateway.http.documents import Document
from gateway.http.problems import PROBLEMS_PATH
from gateway.live import close_codes, feeds
from gateway.live.connections import connection_limits, event_stream, json_rpc, rpc_server, websocket
from gateway.live.own_views import NOTIFICATION
from gateway.reference.openapi import problem_schema
from gateway.reference.schemas import COMPONENTS, Schema, Schemas

PATH = "/asyncapi.json"
VERSION = "1"
_SOCKET, _STREAM = "socket", "table_stream"
_ERROR = "error"
_SEQ: Schema = {"type": "string", "pattern": "^[0-9]+$", "description": "The number of an event of the table."}
_TABLE: Schema = {"type": "string", "description": "The table."}
_MESSAGE: Schema = {"type": "string", "description": "For a person."}
_TIMESTAMP: Schema = {"type": "string", "format": "date-time"}
_TOKEN: Schema = {"type": "string", "description": "A token of the operator's issuer."}

_META: Schema = {
    "type": "object",
    "properties": {
        "traceparent": {"type": "string", "description": "W3C trace context: the trace that the call belongs to."}
    },
    "description": "About the call, not for the method.",
}

_DESCRIPTION = f"""Tables as they are played, and every method of the platform, over one WebSocket.

**Calls** are JSON-RPC 2.0: the methods of REST under the names `<service>.<method>`, with the same JSON. Calls of
one connection are carried out at the same time, {websocket.PENDING_MESSAGES_LIMIT} messages at once, and answered in
any order; a batch holds at most {json_rpc.BATCH_LIMIT}. Every call needs an `id`: every command has an answer.
Commands act once, however often they are sent: send one again with the same `request_id` on any connection until it
is answered.

**Errors** have the code −32000 minus the number of the gRPC code (−32016: not authenticated, −32014: unavailable,
−32008: too much), or JSON-RPC's own −32700 to −32600; `data` is the problem document (RFC 9457) that REST answers with:
`status` is the one that HTTP would have, `reason` belongs to a closed set, see [{PROBLEMS_PATH}]({PROBLEMS_PATH}), and
`trace_id` is what to quote when you ask us. `message` repeats its `detail`. A call may carry the trace that it belongs
to (W3C trace context) as `params.{json_rpc.META}.traceparent`, beside its parameters.

**Tokens** are sent as `Authorization: Bearer …` when connecting, or, where that cannot be, with `authenticate` as
the first call; never in the address. Without one, what is public is answered. {connection_limits.EXPIRY_WARNING_S:.0f}
seconds before a token expires a `notice` says so: `refresh` it, and the connection stays. Showing tokens costs none of
the calls that an address may make without one. A player who calls nothing for {IDLE_LIMIT_S // 60} minutes has to log
in anew, however often the token was renewed: connecting, `authenticate`, `refresh`, `subscribe` and `ping` do not
count.

**Tables.** `subscribe` answers with a snapshot, and every event after its `seq` follows as `table`: each once, in
order, without a gap; `snapshot_published` holds the whole state and replaces what was known, whatever its number.
With `from_seq`, the number of the last event that was seen, the events since then follow instead of a snapshot, if
they are still kept ({feeds.KEPT_EVENTS_LIMIT} events, {RESUME_WINDOW_S // 60} minutes); `resumed` and `message` say so.
A client that cannot be sent everything, because it reads slowly or something broke, receives a `snapshot` and goes on
from there. A table is shown to those for whom `TableService.GetTable` has an answer.

**Turns.** In a game with decisions `round_dealt` and `move_made` hold what everybody may see, and the `turn`: which
seats may decide, until when. What a player alone may see and decide comes to that player as `own_view` with the same
`turn`; nothing keeps it. A client that has a turn of its player's seat and no `own_view` of it a moment later, or that
has just connected, reads `own_seat.own_view` from `TableService.GetTable`. `TableService.Act` decides: it names the
round, the turn and one of the decisions that the own view offers. A decision for another turn is refused with
`TURN_OVER` and costs nothing.

**Private facts** of a player come by themselves as `player` from the moment that a token was shown; read the balance
after connecting.

**Heartbeat.** Pings come every {websocket.HEARTBEAT_S:.0f} seconds; one that is not answered before the next is the
last.

**Limits.** A message has at most {websocket.MESSAGE_BYTES_LIMIT} bytes; a connection watches at most
{rpc_server.WATCHED_TABLES_LIMIT} tables. Malformed calls count too; a call above the rate is answered `RATE_LIMITED`,
where it has no id once for the whole message, and after {websocket.REFUSED_CALLS_LIMIT} such calls in a row the
connection is closed. A client that does not read is closed when {connection_limits.UNSENT_BYTES_LIMIT} bytes wait for
it, {connection_limits.ANONYMOUS_UNSENT_BYTES_LIMIT} without a token, or when too many answers wait for all clients
together. For simple back ends there are server-sent events of a table, `{event_stream.PATH}`."""


def document(contracts: Contracts) -> dict[str, object]:
    """Returns the whole document."""
    return _Generator(contracts).document()


class AsyncApiRoutes:
    """Serves the document at `/asyncapi.json`."""

    def __init__(self, contracts: Contracts) -> None:
        self._document = Document(json_codec.dumps(document(contracts)), "application/json")

    def install(self, application: web.Application) -> None:
        application.router.add_get(PATH, self._document.answer)


class _Generator:
    """Generates one document."""

    def __init__(self, contracts: Contracts) -> None:
        self._contracts = contracts
        self._schemas = Schemas(contracts)
        self._messages: dict[str, Schema] = {}
        self._message_names: dict[str, list[str]] = {_SOCKET: [], _STREAM: []}
        self._operations: dict[str, Schema] = {}

    def document(self) -> dict[str, object]:
        self._message(_SOCKET, _ERROR, "A call failed.", _error(problem_schema(ReasonSets(self._contracts))))
        for name, (description, params, result) in self._connection_methods().items():
            self._call(name, description, _with_meta(params), result, public=True)
        for method in self._contracts.methods:
            self._method(method)
        for name, (description, params) in self._notifications().items():
            self._notification(name, description, params)
        for name, (description, data) in self._stream_events().items():
            self._message(_STREAM, f"stream.{name}", description, data, name)
        self._operations["stream"] = {
            "action": "send",
            "channel": {"$ref": f"#/channels/{_STREAM}"},
            "summary": "A table as server-sent events; `id` is the `seq`, and `Last-Event-ID` resumes after it.",
        }
        return {
            "asyncapi": "3.0.0",
            "info": {
                "title": "Feltro, live",
                "version": VERSION,
                "description": _DESCRIPTION,
                "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
            },
            "defaultContentType": "application/json",
            "channels": self._channels(),
            "operations": self._operations,
            "components": {
                "schemas": self._schemas.components,
                "messages": self._messages,
                "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            },
        }

    def _channels(self) -> Schema:
        codes = {
            **close_codes.STANDARD_EXPLANATIONS,
            **{int(code): text for code, text in close_codes.EXPLANATIONS.items()},
        }
        return {
            _SOCKET: {
                "address": websocket.PATH,
                "title": "The WebSocket",
                "messages": self._message_refs(_SOCKET),
                "bindings": {"ws": {"method": "GET", "bindingVersion": "0.1.0"}},
                "x-close-codes": {str(code): text for code, text in sorted(codes.items())},
            },
            _STREAM: {
                "address": event_stream.PATH,
                "title": "A table as server-sent events",
                "parameters": {"table_id": {"description": "The table."}},
                "messages": self._message_refs(_STREAM),
            },
        }

    def _message_refs(self, channel: str) -> Schema:
        return {name: {"$ref": f"#/components/messages/{name}"} for name in self._message_names[channel]}

    def _connection_methods(self) -> Mapping[str, tuple[str, Schema, Schema]]:
        identity = _object(
            {
                "subject": {"type": "string"},
                "scopes": {"type": "array", "items": {"type": "string"}},
                "expires_at": _TIMESTAMP,
            }
        )
        from_seq = {"type": ["integer", "string"], "description": "The last event that was received."}
        return {
            "authenticate": ("Shows a token, where no header could.", _object({"token": _TOKEN}), identity),
            "refresh": ("A newer token of the same bearer.", _object({"token": _TOKEN}), identity),
            "subscribe": (
                "Watches a table.",
                _object({"table_id": _TABLE, "from_seq": from_seq}, required=("table_id",)),
                self._subscription(),
            ),
            "unsubscribe": (
                "Stops watching a table.",
                _object({"table_id": _TABLE}),
                _object({"was_subscribed": {"type": "boolean"}}),
            ),
            "ping": ("Returns the time.", _object({}), _object({"at": _TIMESTAMP})),
        }

    def _notifications(self) -> Mapping[str, tuple[str, Schema]]:
        return {
            "table": ("Something has happened at a table.", self._event()),
            "player": (
                "A private fact of the player.",
                self._schemas.response_schema(wallet_events_pb2.PlayerFact.DESCRIPTOR),
            ),
            NOTIFICATION: ("What the player alone may see and decide at a table.", self._own_view()),
            "snapshot": ("Events were missed: this is how the table stands.", self._snapshot()),
            "notice": ("Something about the connection.", _notice()),
        }

    def _stream_events(self) -> Mapping[str, tuple[str, Schema]]:
        return {
            "snapshot": ("How the table stands, first and whenever events were missed.", self._snapshot()),
            "resumed": ("What has happened since the `Last-Event-ID` follows.", self._subscription()),
            "table": ("Something has happened.", self._event()),
            NOTIFICATION: ("What the player whose token opened the stream alone may see and decide.", self._own_view()),
            "notice": ("Something about the connection.", _notice()),
        }

    def _subscription(self) -> Schema:
        return _object(
            {
                "table_id": _TABLE,
                "seq": {**_SEQ, "description": "Events after this one follow."},
                "resumed": {"type": "boolean", "description": "Whether they follow the last event that was received."},
                "message": _MESSAGE,
                "table": self._schemas.response_schema(types_pb2.TableSnapshot.DESCRIPTOR),
                "own_seat": {"anyOf": [self._schemas.response_schema(table_pb2.OwnSeat.DESCRIPTOR), {"type": "null"}]},
            },
            required=("table_id", "seq", "resumed"),
        )

    def _event(self) -> Schema:
        return self._schemas.response_schema(events_pb2.TableEvent.DESCRIPTOR)

    def _own_view(self) -> Schema:
        return self._schemas.response_schema(events_pb2.OwnViewChanged.DESCRIPTOR)

    def _snapshot(self) -> Schema:
        table = self._schemas.response_schema(types_pb2.TableSnapshot.DESCRIPTOR)
        properties = {"table_id": _TABLE, "seq": _SEQ, "message": _MESSAGE, "table": table}
        return _object(properties, required=("table_id", "seq", "table"))

    def _method(self, method: Method) -> None:
        params = self._schemas.request_schema(method.descriptor.input_type)
        component = str(params["$ref"]).removeprefix(COMPONENTS)
        self._schemas.components[component] = _with_meta(self._schemas.components[component])
        result = self._schemas.response_schema(method.descriptor.output_type)
        self._call(method.rpc_name, method.comment, params, result, public=method.public)

    def _call(self, name: str, description: str, params: Schema, result: Schema, *, public: bool) -> None:
        call_name, result_name = f"{name}.call", f"{name}.result"
        call = {"jsonrpc": {"const": "2.0"}, "id": _id(), "method": {"const": name}, "params": params}
        self._message(_SOCKET, call_name, description, _object(call, required=("jsonrpc", "id", "method")), name)
        answer = _object({"jsonrpc": {"const": "2.0"}, "id": _id(), "result": result})
        self._message(_SOCKET, result_name, f"The answer to {name}.", answer)
        operation: Schema = {
            "action": "receive",
            "channel": {"$ref": f"#/channels/{_SOCKET}"},
            "summary": description.partition("\n")[0],
            "messages": [_message_ref(call_name)],
            "reply": {
                "channel": {"$ref": f"#/channels/{_SOCKET}"},
                "messages": [_message_ref(result_name), _message_ref(_ERROR)],
            },
        }
        if not public:
            operation["security"] = [{"$ref": "#/components/securitySchemes/bearer"}]
        self._operations[name] = operation

    def _notification(self, name: str, description: str, params: Schema) -> None:
        payload = _object({"jsonrpc": {"const": "2.0"}, "method": {"const": name}, "params": params})
        self._message(_SOCKET, name, description, payload)
        self._operations[name] = {
            "action": "send",
            "channel": {"$ref": f"#/channels/{_SOCKET}"},
            "summary": description,
            "messages": [_message_ref(name)],
        }

    def _message(self, channel: str, name: str, description: str, payload: Schema, title: str = "") -> None:
        summary = description.partition("\n")[0]
        self._messages[name] = {"name": title or name, "summary": summary, "payload": payload}
        if description:
            self._messages[name]["description"] = description
        self._message_names[channel].append(name)


def _message_ref(name: str) -> Schema:
    return {"$ref": f"#/channels/{_SOCKET}/messages/{name}"}


def _object(properties: Mapping[str, object], required: Iterable[str] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties if required is None else required),
    }


def _with_meta(params: Schema) -> Schema:
    return {**params, "properties": {**cast("Schema", params["properties"]), json_rpc.META: _META}}


def _id() -> Schema:
    return {"type": ["string", "number"], "description": "Of the caller's choice."}


def _notice() -> Schema:
    kinds = {
        "token_expires": "the token expires in `expires_in_ms`: `refresh` it, or open the stream anew with another one",
        "draining": "this gateway stops: connect again after `reconnect_after_ms`",
        "facts_missed": "private facts may have been missed: read balance and session again",
        "unsubscribed": "the table `table_id` is not shown any more",
        "closed": "server-sent events only: the stream ends with a `code`",
    }
    kind: Schema = {
        "type": "string",
        "enum": list(kinds),
        "description": "; ".join(f"`{kind}`: {meaning}" for kind, meaning in kinds.items()) + ".",
    }
    count: Schema = {"type": "integer"}
    numbers = {"expires_in_ms": count, "reconnect_after_ms": count, "code": count}
    return _object({"kind": kind, "message": _MESSAGE, "table_id": _TABLE, **numbers}, required=("kind",))


def _error(problem: Schema) -> Schema:
    error = _object({"code": {"type": "integer"}, "message": {"type": "string"}, "data": problem})
    call_id = {"anyOf": [_id(), {"type": "null"}]}
    return _object({"jsonrpc": {"const": "2.0"}, "id": call_id, "error": error})
