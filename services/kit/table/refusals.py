"""The closed set of reasons for which a table refuses, each with its gRPC code and its facts (see types.proto)."""

import grpc

from services.kit.refusal import Refused

DOMAIN = "table.feltro"

_CODES = {
    "INVALID": grpc.StatusCode.INVALID_ARGUMENT,
    "TABLE_UNKNOWN": grpc.StatusCode.NOT_FOUND,
    "TABLE_ELSEWHERE": grpc.StatusCode.UNAVAILABLE,
    "TABLE_DISABLED": grpc.StatusCode.FAILED_PRECONDITION,
    "TABLE_FULL": grpc.StatusCode.FAILED_PRECONDITION,
    "NOT_SEATED": grpc.StatusCode.FAILED_PRECONDITION,
    "BETTING_CLOSED": grpc.StatusCode.FAILED_PRECONDITION,
    "BET_ILLEGAL": grpc.StatusCode.INVALID_ARGUMENT,
    "BET_NOT_OFFERED": grpc.StatusCode.FAILED_PRECONDITION,
    "BELOW_MINIMUM": grpc.StatusCode.INVALID_ARGUMENT,
    "ABOVE_MAXIMUM": grpc.StatusCode.FAILED_PRECONDITION,
    "ABOVE_TOTAL": grpc.StatusCode.FAILED_PRECONDITION,
    "ODD_CENTS": grpc.StatusCode.INVALID_ARGUMENT,
    "CANCEL_FORBIDDEN": grpc.StatusCode.FAILED_PRECONDITION,
    "NOT_ON_FELT": grpc.StatusCode.FAILED_PRECONDITION,
    "NOTHING_TO_REPEAT": grpc.StatusCode.FAILED_PRECONDITION,
    "NOTHING_STAKED": grpc.StatusCode.FAILED_PRECONDITION,
    "REQUEST_REUSED": grpc.StatusCode.ALREADY_EXISTS,
    "ROUND_UNKNOWN": grpc.StatusCode.NOT_FOUND,
    "ROUND_DECIDED": grpc.StatusCode.FAILED_PRECONDITION,
    "RULE_VIOLATED": grpc.StatusCode.INVALID_ARGUMENT,
    "OVERLOADED": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "UNAVAILABLE": grpc.StatusCode.UNAVAILABLE,
    "NOT_YOURS": grpc.StatusCode.PERMISSION_DENIED,
    "WRONG_PLAY": grpc.StatusCode.FAILED_PRECONDITION,
    "ROUND_FULL": grpc.StatusCode.FAILED_PRECONDITION,
    "TOO_MANY_BETS": grpc.StatusCode.FAILED_PRECONDITION,
    "NOT_OFFERED": grpc.StatusCode.UNIMPLEMENTED,
}


class TableRefused(Refused):
    """The table did not do it, and nothing has changed (G12)."""

    domain = DOMAIN

    def __init__(self, reason: str, sentence: str, **facts: str | int) -> None:
        super().__init__(reason, _CODES[reason], sentence, {name: str(fact) for name, fact in facts.items()})


def invalid(field: str, sentence: str) -> TableRefused:
    return TableRefused("INVALID", f"`{field}` {sentence}", field=field)


def rule_violated(field: str, bound: str | int, rule: str, sentence: str) -> TableRefused:
    return TableRefused("RULE_VIOLATED", sentence, field=field, bound=bound, rule=rule)


def overloaded(limit: str | int) -> TableRefused:
    return TableRefused("OVERLOADED", "The table has too much to do: try again in a moment.", limit=limit)


def unavailable(what: str) -> TableRefused:
    return TableRefused("UNAVAILABLE", f"{what}: send the same request again.")


def request_reused(request_id: str) -> TableRefused:
    sentence = "The request id was used for something else: choose a new one."
    return TableRefused("REQUEST_REUSED", sentence, request_id=request_id)


def betting_closed(round_id: str, current_round_id: str, closed_at: str) -> TableRefused:
    return TableRefused(
        "BETTING_CLOSED",
        "Jogo feito, nada mais: this round takes no bets, and nothing was charged.",
        round_id=round_id,
        current_round_id=current_round_id,
        closed_at=closed_at,
    )
