"""The refusals of a poker table, with the legal bounds and the rule that each cites."""

from services.kit.table.refusals import TableRefused, invalid


def not_offered(field: str, value: int, low: int, high: int, rule: str) -> TableRefused:
    """Refuses what a rule leaves to the operator, and what is beyond what this platform offers."""
    sentence = f"has to be from {low} to {high}, and not {value} ({rule} leaves it open)"
    return invalid(f"configuration.rules.{field}", sentence)


def not_your_turn(seat: int, turn_of: int | None) -> TableRefused:
    whose = "nobody" if turn_of is None else f"seat {turn_of}"
    sentence = f"Seat {seat} has nothing to decide now: it is the turn of {whose}."
    return TableRefused("NOT_YOUR_TURN", sentence, seat=seat, turn_of="" if turn_of is None else turn_of)


def action_illegal(
    action: str, legal: str, why: str, rule: str, *, to_call_cents: int, min_to_cents: int, max_to_cents: int
) -> TableRefused:
    return TableRefused(
        "DECISION_ILLEGAL",
        f"`{action}` is not possible now: {why} ({rule}). Possible: {legal}.",
        decision=action,
        legal=legal,
        to_call_cents=to_call_cents,
        min_to_cents=min_to_cents,
        max_to_cents=max_to_cents,
        rule=rule,
    )


def below_minimum(to_cents: int, min_to_cents: int, max_to_cents: int, rule: str) -> TableRefused:
    return TableRefused(
        "BELOW_MINIMUM",
        f"A raise to {to_cents} cents is too small: it is to {min_to_cents} at least, and to {max_to_cents} at most"
        f" ({rule}).",
        amount_cents=to_cents,
        minimum_cents=min_to_cents,
        maximum_cents=max_to_cents,
        rule=rule,
    )


def above_maximum(to_cents: int, min_to_cents: int, max_to_cents: int, rule: str) -> TableRefused:
    return TableRefused(
        "ABOVE_MAXIMUM",
        f"A raise to {to_cents} cents is too large: it is to {max_to_cents} at most, and to {min_to_cents} at least"
        f" ({rule}).",
        amount_cents=to_cents,
        minimum_cents=min_to_cents,
        maximum_cents=max_to_cents,
        rule=rule,
    )


def seat_unknown(seat: int, seats: int, rule: str) -> TableRefused:
    sentence = f"This table has the seats 1 to {seats}, and not {seat} ({rule})."
    return TableRefused("PLACE_UNKNOWN", sentence, place=seat, places=seats, rule=rule)


def seat_taken(seat: int, rule: str) -> TableRefused:
    sentence = f"Another player has seat {seat}: choose a free one ({rule})."
    return TableRefused("PLACE_TAKEN", sentence, place=seat, rule=rule)


def cave_out_of_bounds(
    amount_cents: int, minimum_cents: int, maximum_cents: int, rule: str, *, why: str = ""
) -> TableRefused:
    return TableRefused(
        "CAVE_OUT_OF_BOUNDS",
        f"{amount_cents} cents are not possible: from {minimum_cents} to {maximum_cents}{why} ({rule}).",
        amount_cents=amount_cents,
        minimum_cents=minimum_cents,
        maximum_cents=maximum_cents,
        rule=rule,
    )


def rest_refused(per_hour: int, period_s: int, rule: str) -> TableRefused:
    offered = f"{per_hour} of {period_s} seconds in an hour" if per_hour and period_s else "none at this table"
    sentence = f"There is no rest left: {offered} ({rule}). Sit out instead."
    return TableRefused("REST_REFUSED", sentence, per_hour=per_hour, period_s=period_s, rule=rule)


def post_refused(seat: int, why: str, rule: str) -> TableRefused:
    sentence = f"Seat {seat} cannot post the big blind to enter: {why} ({rule})."
    return TableRefused("POST_REFUSED", sentence, seat=seat, rule=rule)
