"""The closed set of reasons for which the gateway itself refuses, each with its gRPC code and its facts."""

from __future__ import annotations

import grpc

from services.kit.refusal import Refused

DOMAIN = "gateway.feltro"

_CODES = {
    "INVALID": grpc.StatusCode.INVALID_ARGUMENT,
    "METHOD_UNKNOWN": grpc.StatusCode.UNIMPLEMENTED,
    "TOO_LARGE": grpc.StatusCode.INVALID_ARGUMENT,
    "TOKEN_INVALID": grpc.StatusCode.UNAUTHENTICATED,
    "TOKEN_EXPIRED": grpc.StatusCode.UNAUTHENTICATED,
    "TOKEN_REVOKED": grpc.StatusCode.UNAUTHENTICATED,
    "LOGIN_NEEDED": grpc.StatusCode.UNAUTHENTICATED,
    "SCOPE_MISSING": grpc.StatusCode.PERMISSION_DENIED,
    "NOT_YOURS": grpc.StatusCode.PERMISSION_DENIED,
    "RATE_LIMITED": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "OVERLOADED": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "UNAVAILABLE": grpc.StatusCode.UNAVAILABLE,
    "NOT_OFFERED": grpc.StatusCode.UNIMPLEMENTED,
    "GAME_UNKNOWN": grpc.StatusCode.NOT_FOUND,
}


class GatewayRefused(Refused):
    """The gateway did not do it or pass it on, and nothing has changed (G12)."""

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
