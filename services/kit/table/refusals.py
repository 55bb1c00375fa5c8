"""The closed set of reasons for which a table refuses, each with its facts (see types.proto)."""

from collections.abc import Iterable
from datetime import datetime

from services.kit.refusal import Refused
from services.kit.wire_format import timestamp

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


def table_unknown(table_id: str) -> TableRefused:
    return TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=table_id)


def individual_table_unknown(table_id: str) -> TableRefused:
    """Refuses an id that is no player's, and another player's own table alike: that one exists is private (G7)."""
    sentence = "At an individual table everybody has a table of their own: enter it to learn its id."
    return TableRefused("TABLE_UNKNOWN", sentence, table_id=table_id)


def not_seated(table_id: str) -> TableRefused:
    return TableRefused("NOT_SEATED", "Enter the table first.", table_id=table_id)


def betting_closed(
    round_id: str, current_round_id: str, closed_at: str, next_round_opens_at: datetime | None = None
) -> TableRefused:
    facts = {"round_id": round_id, "current_round_id": current_round_id, "closed_at": closed_at}
    if next_round_opens_at is not None:
        facts["next_round_opens_at"] = timestamp(next_round_opens_at).ToJsonString()
    return TableRefused(
        "BETTING_CLOSED", "Jogo feito, nada mais: this round takes no bets, and nothing was charged.", **facts
    )


def not_your_turn(place: int | str, seats: Iterable[int]) -> TableRefused:
    whose = ", ".join(map(str, seats))
    sentence = f"It is not for you to decide now, but for {whose or 'nobody'}."
    return TableRefused("NOT_YOUR_TURN", sentence, place=place, turn_of=whose)


def turn_over(
    round_id: str, turn: int, current_turn: int, seats: Iterable[int], decide_by: datetime | None
) -> TableRefused:
    return TableRefused(
        "TURN_OVER",
        "This turn is over, and the published default or another decision was taken: nothing was charged.",
        round_id=round_id,
        turn=turn,
        current_turn=current_turn,
        seats=", ".join(map(str, seats)),
        decide_by="" if decide_by is None else timestamp(decide_by).ToJsonString(),
    )


def stake_given_back(request_id: str) -> TableRefused:
    sentence = "The decision came to nothing and its stake was given back: decide again, with a new request id."
    return TableRefused("REQUEST_REUSED", sentence, request_id=request_id)


def place_taken(place: int) -> TableRefused:
    return TableRefused("PLACE_TAKEN", f"Another player has place {place}: choose a free one.", place=place)


def seat_taken(table_id: str, seat: int) -> TableRefused:
    return TableRefused("SEAT_TAKEN", f"Seat {seat} is taken: choose another one.", table_id=table_id, seat=seat)
