"""The closed set of reasons for which a table refuses, each with its facts (see types.proto)."""

from collections.abc import Iterable
from datetime import datetime

from services.kit.refusal import Refused
from services.kit.wire_format import timestamp

DOMAIN = "table.feltro"
# Longer than any name of a place on a felt; a caller may send any length (G11).
SHOWN_NAME_CHARACTERS = 40


class TableRefused(Refused):
    """The table refuses a call, and nothing has changed (G12)."""

    domain = DOMAIN

    def __init__(self, reason: str, sentence: str, **facts: str | int) -> None:
        super().__init__(reason, sentence, {name: str(fact) for name, fact in facts.items()})


def invalid(field: str, sentence: str) -> TableRefused:
    return TableRefused("INVALID", f"`{field}` {sentence}", field=field)


def rule_violated(field: str, bound: str | int, rule: str, sentence: str) -> TableRefused:
    return TableRefused("RULE_VIOLATED", sentence, field=field, bound=bound, rule=rule)


def specific_rule_violated(field: str, bound: str | int, rule: str, sentence: str) -> TableRefused:
    """Refuses a field of a game's own specific rules; the rule that it breaks is cited behind the sentence."""
    return rule_violated(f"configuration.rules.{field}", bound, rule, f"{sentence} ({rule}).")


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


def not_your_turn(place: int | str, seats: Iterable[int], decide_by: datetime | None) -> TableRefused:
    whose = ", ".join(map(str, seats))
    sentence = f"It is not for you to decide now, but for {whose or 'nobody'}."
    return TableRefused("NOT_YOUR_TURN", sentence, place=place, turn_of=whose, decide_by=time_fact(decide_by))


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
        decide_by=time_fact(decide_by),
    )


def below_minimum(place: str | int, amount_cents: int, minimum_cents: int, rule: str) -> TableRefused:
    """Refuses a bet on a place, which is a name on the felt or a number."""
    return TableRefused(
        "BELOW_MINIMUM",
        f"{amount_cents} cents on {_named(place)} would be below the minimum of {minimum_cents} ({rule}).",
        place=place,
        amount_cents=amount_cents,
        minimum_cents=minimum_cents,
        rule=rule,
    )


def above_maximum(place: str | int, amount_cents: int, maximum_cents: int, rule: str) -> TableRefused:
    return TableRefused(
        "ABOVE_MAXIMUM",
        f"{amount_cents} cents on {_named(place)} would be above the maximum of {maximum_cents} ({rule}).",
        place=place,
        amount_cents=amount_cents,
        maximum_cents=maximum_cents,
        rule=rule,
    )


def not_on_felt(place: str | int, amount_cents: int) -> TableRefused:
    shown = place[:SHOWN_NAME_CHARACTERS] if isinstance(place, str) else place
    sentence = f"There are no {amount_cents} cents on {_named(shown)} to be taken back."
    return TableRefused("NOT_ON_FELT", sentence, place=shown, amount_cents=amount_cents)


def _named(place: str | int) -> str:
    return f"place {place}" if isinstance(place, int) else f"`{place}`"


def time_fact(at: datetime | None) -> str:
    """Returns a time as the facts of refusals write it; empty if there is none."""
    return "" if at is None else timestamp(at).ToJsonString()


def stake_given_back(request_id: str) -> TableRefused:
    sentence = "The decision came to nothing and its stake was given back: decide again, with a new request id."
    return TableRefused("REQUEST_REUSED", sentence, request_id=request_id)


def place_taken(place: int) -> TableRefused:
    return TableRefused("PLACE_TAKEN", f"Another player has place {place}: choose a free one.", place=place)


def round_decided(round_id: str) -> TableRefused:
    """The round has an outcome, or has come too far for one to be kept from it."""
    return TableRefused("ROUND_DECIDED", "The round is decided: it cannot become void any more.", round_id=round_id)


def shared_device(table_id: str) -> TableRefused:
    """The specific rules refuse two accounts on one device (`903-B/2015:6.6.1`); of the other it says nothing (G7)."""
    return TableRefused("SHARED_DEVICE", "Another account plays here from this device or address.", table_id=table_id)


def seat_taken(table_id: str, seat: int) -> TableRefused:
    return TableRefused("SEAT_TAKEN", f"Seat {seat} is taken: choose another one.", table_id=table_id, seat=seat)


def waiting_list_full(table_id: str, limit: int) -> TableRefused:
    return TableRefused("WAITING_LIST_FULL", "The waiting list is full.", table_id=table_id, limit=limit)


def outside_period(table_id: str, begins_at: datetime, ends_at: datetime) -> TableRefused:
    sentence = "The table is open for a time fixed beforehand, and not now."
    times = {"begins_at": time_fact(begins_at), "ends_at": time_fact(ends_at)}
    return TableRefused("OUTSIDE_PERIOD", sentence, table_id=table_id, **times)


def not_registered_for_period(table_id: str) -> TableRefused:
    sentence = "Only players who registered before the table opened may sit here."
    return TableRefused("NOT_REGISTERED_FOR_PERIOD", sentence, table_id=table_id)


def period_begun(table_id: str, begins_at: datetime | None) -> TableRefused:
    sentence = "Nobody can register here any more." if begins_at else "Nobody has to register for this table."
    return TableRefused("PERIOD_BEGUN", sentence, table_id=table_id, begins_at=time_fact(begins_at))


def period_full(table_id: str, limit: int) -> TableRefused:
    sentence = f"{limit} players are registered, and there is no room for more."
    return TableRefused("PERIOD_FULL", sentence, table_id=table_id, limit=limit)


def already_seated(table_id: str) -> TableRefused:
    return TableRefused("ALREADY_SEATED", "You sit at this table already.", table_id=table_id)
