"""A refusal: a typed reason, a sentence for a person, and the facts a caller needs, as it travels over gRPC."""

from collections.abc import Mapping

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

# gRPC's own place for a google.rpc.Status with details.
STATUS_DETAILS_KEY = "grpc-status-details-bin"
_CODES: Mapping[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}


class Refused(Exception):
    """The command was not carried out, and nothing has changed (G12).

    `reason` belongs to the closed set of the service's protos; `domain` says whose set it is.
    """

    domain = "feltro"

    def __init__(
        self, reason: str, code: grpc.StatusCode, sentence: str, facts: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.code = code
        self.sentence = sentence
        self.facts = dict(facts or {})

    def status(self) -> Status:
        """The refusal as it goes over the wire and into the ledger."""
        info = ErrorInfo(reason=self.reason, domain=self.domain, metadata=self.facts)
        detail = AnyMessage()
        detail.Pack(info)
        code: int = self.code.value[0]
        return Status(code=code, message=self.sentence, details=[detail])


def refused_from(status: Status) -> Refused:
    """The refusal that another service sent, as it was: reason, sentence, facts and domain."""
    info = error_info(status)
    code = _CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    refused = Refused(
        "" if info is None else info.reason, code, status.message, None if info is None else info.metadata
    )
    refused.domain = "" if info is None else info.domain
    return refused


def error_info(status: Status) -> ErrorInfo | None:
    """The ErrorInfo of a status, if it carries one."""
    for detail in status.details:
        info = ErrorInfo()
        if detail.Unpack(info):
            return info
    return None


def status_of(error: grpc.RpcError) -> Status | None:
    """The google.rpc.Status that a failed call carries, seen from its caller."""
    trailing = error.trailing_metadata() if isinstance(error, grpc.aio.AioRpcError | grpc.Call) else None
    for key, value in trailing or ():
        if key == STATUS_DETAILS_KEY and isinstance(value, bytes):
            return Status.FromString(value)
    return None
