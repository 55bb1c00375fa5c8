"""Refusals as they travel over gRPC: a `google.rpc.Status` with the code that the protos declare for the reason."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import EnumDescriptor
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from feltro.access.v1 import refusal_pb2
from services.kit.refusal import Refused

# gRPC's own place for a google.rpc.Status with details.
STATUS_DETAILS_KEY = "grpc-status-details-bin"
REASON_PREFIX = "REFUSAL_REASON_"
_CODES: Mapping[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}


class StatusRefused(Refused):
    """A refusal that has a code of its own: received from another service, stored, or given by the transport."""

    def __init__(
        self, reason: str, code: grpc.StatusCode, sentence: str, facts: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(reason, sentence, facts)
        self.code = code

    def status(self) -> Status:
        """Returns the status to send."""
        return _status(self, self.code)


def code_of(refused: Refused, domain: str = "") -> grpc.StatusCode:
    """Returns the code of a refusal; `domain` is whose reason it is where the refusal does not say."""
    if isinstance(refused, StatusRefused):
        return refused.code
    return codes_of(refused.domain if refused.domain != Refused.domain else domain)[refused.reason]


def status_from(refused: Refused) -> Status:
    """Returns the status of a refusal: with its reason and facts, if it has a reason."""
    return refused.status() if isinstance(refused, StatusRefused) else _status(refused, code_of(refused))


@cache
def codes_of(domain: str) -> Mapping[str, grpc.StatusCode]:
    """Returns the codes of a domain's reasons; `wallet.feltro` are those of the package `feltro.wallet.v1`."""
    name, _, ours = domain.partition(".")
    enum: EnumDescriptor = descriptor_pool.Default().FindEnumTypeByName(f"{ours}.{name}.v1.RefusalReason")
    return {
        value.name.removeprefix(REASON_PREFIX): _CODES[value.GetOptions().Extensions[refusal_pb2.refusal].code]
        for value in enum.values
        if value.number
    }


def refused_from(status: Status) -> StatusRefused:
    """Returns the refusal that another service sent, as it was: reason, code, sentence, facts and domain."""
    info = error_info(status)
    code = _CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    refused = StatusRefused(
        "" if info is None else info.reason, code, status.message, None if info is None else info.metadata
    )
    refused.domain = "" if info is None else info.domain
    return refused


def error_info(status: Status) -> ErrorInfo | None:
    """Returns the ErrorInfo of a status, if it carries one."""
    for detail in status.details:
        info = ErrorInfo()
        if detail.Unpack(info):
            return info
    return None


def status_of(error: grpc.RpcError) -> Status | None:
    """Returns the google.rpc.Status that a failed call carries, seen from its caller."""
    trailing = error.trailing_metadata() if isinstance(error, grpc.aio.AioRpcError | grpc.Call) else None
    for key, value in trailing or ():
        if key == STATUS_DETAILS_KEY and isinstance(value, bytes):
            return Status.FromString(value)
    return None


def _status(refused: Refused, code: grpc.StatusCode) -> Status:
    number: int = code.value[0]
    if not refused.reason:
        return Status(code=number, message=refused.sentence)
    detail = AnyMessage()
    detail.Pack(ErrorInfo(reason=refused.reason, domain=refused.domain, metadata=refused.facts))
    return Status(code=number, message=refused.sentence, details=[detail])
