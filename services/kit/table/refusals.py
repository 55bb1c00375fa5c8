"""The closed set of reasons for which a table refuses, each with its facts (see types.proto)."""

from services.kit.refusal import Refused

DOMAIN = "table.feltro"


class TableRefused(Refused):
    """The table refuses a call, and nothing has changed (G12)."""

    domain = DOMAIN

    def __init__(self, reason: str, sentence: str, **facts: str | int) -> None:
        super().__init__(reason, sentence, {name: str(fact) for name, fact in facts.items()})


def invalid(field: str, sentence: str) -> TableRefused:
    return TableRefused("INVALID", f"`{field}` {sentence}", field=field)


def rule_violated(field: str, bound: str | int, rule: str, sentence: str) -> TableRefused:
    return TableRefused("RULE_VIOLATED", sentence, field=field, bound=bound, rule=rule)


def overloaded(limit: str | int) -> TableRefused:
    return TableRefused("OVERLOADED", "The table has too much to do: try again in a moment.", limit=limit)


def unavailable(reason: str) -> TableRefused:
    return TableRefused("UNAVAILABLE", f"{reason}: send the same request again.")


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
