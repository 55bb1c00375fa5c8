"""The gateway's own refusals: reasons of its closed set (see gateway.proto), each with its facts."""

from __future__ import annotations

import grpc

from feltro.gateway.v1 import gateway_pb2  # noqa: F401 - declares the reasons
from services.kit.refusal import Refused
from services.kit.rpc import status

DOMAIN = "gateway.feltro"


class GatewayRefused(Refused):
    """The gateway did not pass a call on or carry it out: nothing has changed (G12)."""

    domain = DOMAIN

    def __init__(self, reason: str, sentence: str, **facts: str | int) -> None:
        super().__init__(reason, sentence, {name: str(fact) for name, fact in facts.items()})


def invalid(field: str, sentence: str) -> GatewayRefused:
    return GatewayRefused("INVALID", f"`{field}` {sentence}", field=field)


def unavailable(sentence: str) -> GatewayRefused:
    return GatewayRefused("UNAVAILABLE", sentence)


def token_expired() -> GatewayRefused:
    return GatewayRefused("TOKEN_EXPIRED", "The token has expired: get a new one.")


def game_unknown(game: str) -> GatewayRefused:
    return GatewayRefused("GAME_UNKNOWN", "There is no such game.", game=game)


def code_of(refused: Refused) -> grpc.StatusCode:
    """Returns the gRPC code of a refusal; a reason that all domains share counts as the gateway's."""
    return status.code_of(refused, DOMAIN)
