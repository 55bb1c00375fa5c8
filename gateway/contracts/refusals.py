"""The gateway's own refusals: reasons of its closed set (see gateway.proto), each with its facts."""

from __future__ import annotations

import grpc
from google.protobuf.descriptor import EnumValueDescriptor
from google.rpc import code_pb2

from feltro.access.v1 import refusal_pb2
from feltro.gateway.v1 import gateway_pb2
from services.kit.refusal import Refused

DOMAIN = "gateway.feltro"


def grpc_code(reason: EnumValueDescriptor) -> grpc.StatusCode:
    """Returns the gRPC code that the proto declares for a reason."""
    return grpc.StatusCode[code_pb2.Code.Name(reason.GetOptions().Extensions[refusal_pb2.refusal].code)]


_CODES = {
    value.name.removeprefix("REFUSAL_REASON_"): grpc_code(value)
    for value in gateway_pb2.RefusalReason.DESCRIPTOR.values[1:]
}


class GatewayRefused(Refused):
    """The gateway did not pass a call on or carry it out: nothing has changed (G12)."""

    domain = DOMAIN

    def __init__(self, reason: str, sentence: str, **facts: str | int) -> None:
        super().__init__(reason, _CODES[reason], sentence, {name: str(fact) for name, fact in facts.items()})


def invalid(field: str, sentence: str) -> GatewayRefused:
    return GatewayRefused("INVALID", f"`{field}` {sentence}", field=field)


def unavailable(sentence: str) -> GatewayRefused:
    return GatewayRefused("UNAVAILABLE", sentence)


def token_expired() -> GatewayRefused:
    return GatewayRefused("TOKEN_EXPIRED", "The token has expired: get a new one.")


def game_unknown(game: str) -> GatewayRefused:
    return GatewayRefused("GAME_UNKNOWN", "There is no such game.", game=game)
