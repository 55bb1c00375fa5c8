"""JSON-RPC 2.0 as text: what a client says taken apart, and what it is answered put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import grpc

from gateway.contracts import json_codec
from gateway.contracts.refusals import code_of
from gateway.http.problems import Problem, problem_of_refusal
from services.kit.refusal import Refused

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
# A refusal's code is this minus the number of its gRPC code: -32001 (CANCELLED) to -32016 (UNAUTHENTICATED).
REFUSED_CODE_BASE = -32000
# Calls in one batch, and what may name one (G11).
BATCH_LIMIT = 50
ID_BYTES_LIMIT = 128
# Among the parameters, what is about the call and not for the method.
META = "_meta"

_NO_ID = b"null"


@dataclass(frozen=True, slots=True)
class Call:
    """One thing that a client wants."""

    id: bytes
    """As JSON, to be given back as it was."""
    method: str
    params: dict[str, object]
    traceparent: str = ""
    """The client's trace, if he has one: `params._meta.traceparent`."""


@dataclass(frozen=True, slots=True)
class InvalidCall:
    """What cannot be a call, and why."""

    id: bytes
    error: CallFailed


class CallFailed(Exception):
    """A call has no result, but an error."""

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
    """The calls of a message, and whether they are a batch."""
    try:
        said = json_codec.loads(text)
    except json_codec.MalformedJson as wrong:
        return [_wrong(PARSE_ERROR, f"This is not JSON: {wrong}.")], False
    if not isinstance(said, list):
        return [_call(said)], False
    if not said:
        return [_wrong(INVALID_REQUEST, "A batch has to hold a call.")], False
    if len(said) > BATCH_LIMIT:
        return [_wrong(INVALID_REQUEST, f"A batch may hold {BATCH_LIMIT} calls.")], False
    return [_call(one) for one in said], True


def _call(said: object) -> Call | InvalidCall:
    if not isinstance(said, dict) or said.get("jsonrpc") != "2.0" or not isinstance(said.get("method"), str):
        return _NO_CALL
    number = said.get("id")
    if number is None or isinstance(number, bool) or not isinstance(number, str | int | float):
        # A notification would have no answer, and nobody would know whether a bet counts.
        return _NOTIFICATION
    call_id = json_codec.dumps(number)
    if len(call_id) > ID_BYTES_LIMIT:
        return _wrong(INVALID_REQUEST, f"An id may have {ID_BYTES_LIMIT} characters.")
    params = said.get("params", {})
    if not isinstance(params, dict):
        return InvalidCall(call_id, invalid_params("Parameters are sent by name, as an object."))
    meta = params.pop(META, {})
    if not isinstance(meta, dict):
        return InvalidCall(call_id, invalid_params(f"`{META}` has to be an object.", META))
    traceparent = meta.get("traceparent")
    return Call(call_id, said["method"], params, traceparent if isinstance(traceparent, str) else "")


def _wrong(code: int, sentence: str) -> InvalidCall:
    return InvalidCall(_NO_ID, CallFailed(code, Problem(400, sentence, "INVALID")))


# What may come fifty times in one message is made once.
_NO_CALL = _wrong(INVALID_REQUEST, 'A call is an object with "jsonrpc": "2.0", "id" and "method".')
_NOTIFICATION = _wrong(INVALID_REQUEST, "Every call needs an id, a string or a number: everything here has an answer.")


def success(call_id: bytes, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (call_id, result)


def failure(call_id: bytes, failed: CallFailed, trace_id: str) -> bytes:
    return failures([call_id], failed, trace_id)[0]


def failures(call_ids: Iterable[bytes], failed: CallFailed, trace_id: str) -> list[bytes]:
    """The same for several calls: what is said is put together once."""
    problem = failed.problem
    data: dict[str, object] = {"status": problem.status, "trace_id": trace_id}
    if problem.reason:
        data |= {"reason": problem.reason, "domain": problem.domain, "facts": dict(problem.facts)}
    error = json_codec.dumps({"code": failed.code, "message": problem.detail, "data": data})
    return [b'{"jsonrpc":"2.0","id":%s,"error":%s}' % (call_id, error) for call_id in call_ids]


def batch(answers: list[bytes]) -> bytes:
    return b"[%s]" % b",".join(answers)
