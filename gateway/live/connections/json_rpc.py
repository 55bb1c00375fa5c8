"""JSON-RPC 2.0: parses the messages of clients, and encodes the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import grpc

from gateway.contracts import json_codec
from gateway.contracts.refusals import code_of
from gateway.http.problems import Problem, problem_of_refusal
from services.kit.refusal import Refused

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
# The code of a refusal is this minus the number of its gRPC code: -32001 (CANCELLED) to -32016 (UNAUTHENTICATED).
REFUSED_CODE_BASE = -32000
# Where all calls are made: the instance of every problem.
PATH = "/v1/ws"
# Calls in one batch, and the size of a call's id (G11).
BATCH_LIMIT = 50
ID_BYTES_LIMIT = 128
# The parameter that is about the call, and not for the method.
META = "_meta"

_NO_ID = b"null"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a client."""

    id: bytes
    """As JSON, to be returned as it was sent."""
    method: str
    params: dict[str, object]
    traceparent: str = ""
    """The client's trace, if it has one: `params._meta.traceparent`."""


@dataclass(frozen=True, slots=True)
class InvalidCall:
    """Something that is not a call, and the error that answers it."""

    id: bytes
    error: CallFailed


class CallFailed(Exception):
    """A call failed."""

    def __init__(self, code: int, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.code = code
        self.problem = problem


def invalid_params(sentence: str, field: str = "") -> CallFailed:
    facts = {"field": field} if field else {}
    return CallFailed(INVALID_PARAMS, Problem(400, sentence, "INVALID", facts=facts))


def error_of_refusal(refusal: Refused) -> CallFailed:
    code = code_of(refusal)
    number: int = code.value[0]
    problem = problem_of_refusal(refusal)
    internal = problem.status == 500 or code is grpc.StatusCode.OK
    return CallFailed(INTERNAL_ERROR if internal else REFUSED_CODE_BASE - number, problem)


def parse(text: bytes) -> tuple[list[Call | InvalidCall], bool]:
    """Returns the calls of a message, and whether they are a batch."""
    read: Callable[[object], Call | InvalidCall] = _call
    try:
        message = json_codec.loads(text)
    except json_codec.RepeatedName as repeated:
        message, read = repeated.marked, _call_without_repeated_names
    except json_codec.MalformedJson as error:
        return [_invalid(PARSE_ERROR, f"This is not JSON: {error}.")], False
    if not isinstance(message, list):
        return [read(message)], False
    if not message:
        return [_invalid(INVALID_REQUEST, "A batch has to hold a call.")], False
    if len(message) > BATCH_LIMIT:
        return [_invalid(INVALID_REQUEST, f"A batch may hold {BATCH_LIMIT} calls.")], False
    return [read(item) for item in message], True


def _call_without_repeated_names(marked: object) -> Call | InvalidCall:
    """Reads a call of a message that gives names twice somewhere; refuses the call if it does so itself."""
    path = json_codec.repeated_path(marked)
    if path is None:
        return _call(marked)
    field = path.removeprefix("params.")
    call_id = _id_of(marked.get("id")) if isinstance(marked, dict) else None
    return InvalidCall(call_id or _NO_ID, invalid_params(f"`{field}` is given twice.", field))


def _id_of(raw_id: object) -> bytes | None:
    """Returns a call's id as JSON, empty if it is too long; None for what can be no id."""
    if raw_id is None or isinstance(raw_id, bool) or not isinstance(raw_id, str | int | float):
        return None
    call_id = json_codec.dumps(raw_id)
    return call_id if len(call_id) <= ID_BYTES_LIMIT else b""


def _call(message: object) -> Call | InvalidCall:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return _NOT_A_CALL
    call_id = _id_of(message.get("id"))
    if call_id is None:
        # A notification has no answer, so the client would not know whether its bet counts.
        return _NOTIFICATION
    if not call_id:
        return _invalid(INVALID_REQUEST, f"An id may have {ID_BYTES_LIMIT} characters.")
    params = message.get("params", {})
    if not isinstance(params, dict):
        return InvalidCall(call_id, invalid_params("Parameters are sent by name, as an object."))
    meta = params.pop(META, {})
    if not isinstance(meta, dict):
        return InvalidCall(call_id, invalid_params(f"`{META}` has to be an object.", META))
    traceparent = meta.get("traceparent")
    return Call(call_id, message["method"], params, traceparent if isinstance(traceparent, str) else "")


def _invalid(code: int, sentence: str) -> InvalidCall:
    return InvalidCall(_NO_ID, CallFailed(code, Problem(400, sentence, "INVALID")))


# Built once: one message may hold many of them.
_NOT_A_CALL = _invalid(INVALID_REQUEST, 'A call is an object with "jsonrpc": "2.0", "id" and "method".')
_NOTIFICATION = _invalid(
    INVALID_REQUEST, "Every call needs an id, a string or a number: everything here has an answer."
)


def success(call_id: bytes, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (call_id, result)


def failure(call_id: bytes, failed: CallFailed, trace_id: str) -> bytes:
    return failures([call_id], failed, trace_id)[0]


def failures(call_ids: Iterable[bytes], failed: CallFailed, trace_id: str) -> list[bytes]:
    """Returns the same error for several calls, encoded once: its data is a problem document, as of HTTP."""
    problem = failed.problem
    data = problem.document(PATH, trace_id)
    error = json_codec.dumps({"code": failed.code, "message": problem.detail, "data": data})
    return [b'{"jsonrpc":"2.0","id":%s,"error":%s}' % (call_id, error) for call_id in call_ids]


def batch(answers: list[bytes]) -> bytes:
    return b"[%s]" % b",".join(answers)
