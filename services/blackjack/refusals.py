"""The refusals of a blackjack table, with the facts and the rule that each cites."""

from collections.abc import Iterable

from services.kit.table.refusals import SHOWN_NAME_CHARACTERS, TableRefused


def place_unknown(place: str, places: int) -> TableRefused:
    rule, shown = "805/2015:4.a", place[:SHOWN_NAME_CHARACTERS]
    sentence = f"Bets lie on the places 1 to {places} of this table, and `{shown}` is none of them ({rule})."
    return TableRefused("PLACE_UNKNOWN", sentence, place=shown, places=places, rule=rule)


def off_step(place: int, amount_cents: int, step_cents: int) -> TableRefused:
    rule = "805/2015:25.a"
    return TableRefused(
        "OFF_STEP",
        f"{amount_cents} cents on place {place} are no multiple of {step_cents}, which keeps halves of bets in whole"
        f" cents ({rule}).",
        place=place,
        amount_cents=amount_cents,
        step_cents=step_cents,
        rule=rule,
    )


def too_many_places(places: int, limit: int) -> TableRefused:
    rule = "805/2015:7"
    sentence = f"At this table a player may bet on {limit} places at most, and not on {places} ({rule})."
    return TableRefused("TOO_MANY_PLACES", sentence, places=places, limit=limit, rule=rule)


def decision_illegal(decision: str, legal: Iterable[str], rule: str, why: str) -> TableRefused:
    choices = ", ".join(legal)
    return TableRefused(
        "DECISION_ILLEGAL",
        f"`{decision}` is not possible now: {why} ({rule}). Possible: {choices}.",
        decision=decision,
        legal=choices,
        rule=rule,
    )


def not_your_turn(place: int, turn_of: Iterable[int]) -> TableRefused:
    places = _listed(turn_of)
    sentence = f"Place {place} has nothing to decide now: it is the turn of {places or 'nobody'}."
    return TableRefused("NOT_YOUR_TURN", sentence, place=place, turn_of=places)


def not_your_place(place: int, turn_of: Iterable[int]) -> TableRefused:
    sentence = f"You have no bet on place {place}: only its player decides for it."
    return TableRefused("NOT_YOUR_PLACE", sentence, place=place, turn_of=_listed(turn_of))


def _listed(places: Iterable[int]) -> str:
    return ", ".join(map(str, places))


def insurance_refused(amount_cents: int, limit_cents: int, step_cents: int) -> TableRefused:
    rule = "805/2015:15.f"
    return TableRefused(
        "INSURANCE_REFUSED",
        f"An insurance is from {step_cents} to {limit_cents} cents, half of the bet, in steps of {step_cents}, and not"
        f" {amount_cents} ({rule}).",
        amount_cents=amount_cents,
        limit_cents=limit_cents,
        step_cents=step_cents,
        rule=rule,
    )
