"""The refusals of a roulette table, with the facts and the rule that each cites."""

from services.kit.table.refusals import TableRefused

# Longer than any name of a place; a caller may send any length (G11).
_SHOWN_NAME_CHARACTERS = 40


def bet_illegal(place: str, rule: str, why: str) -> TableRefused:
    shown = place[:_SHOWN_NAME_CHARACTERS]
    return TableRefused("BET_ILLEGAL", f"`{shown}` is no bet on this table: {why} ({rule}).", place=shown, rule=rule)


def bet_not_offered(place: str, rule: str, why: str) -> TableRefused:
    return TableRefused("BET_NOT_OFFERED", f"`{place}` is not offered here: {why} ({rule}).", place=place, rule=rule)


def below_minimum(place: str, amount_cents: int, minimum_cents: int, rule: str) -> TableRefused:
    return TableRefused(
        "BELOW_MINIMUM",
        f"{amount_cents} cents on `{place}` would be below the minimum of {minimum_cents} ({rule}).",
        place=place,
        amount_cents=amount_cents,
        minimum_cents=minimum_cents,
        rule=rule,
    )


def above_maximum(place: str, amount_cents: int, maximum_cents: int, rule: str) -> TableRefused:
    return TableRefused(
        "ABOVE_MAXIMUM",
        f"{amount_cents} cents on `{place}` would be above the maximum of {maximum_cents} ({rule}).",
        place=place,
        amount_cents=amount_cents,
        maximum_cents=maximum_cents,
        rule=rule,
    )


def above_total(amount_cents: int, maximum_cents: int, rule: str) -> TableRefused:
    return TableRefused(
        "ABOVE_TOTAL",
        f"{amount_cents} cents on all places together would be above the table's maximum of {maximum_cents} ({rule}).",
        amount_cents=amount_cents,
        maximum_cents=maximum_cents,
        rule=rule,
    )


def odd_cents(place: str, amount_cents: int, rule: str) -> TableRefused:
    return TableRefused(
        "ODD_CENTS",
        f"`{place}` earns one half of the stake, and half of {amount_cents} cents cannot be paid ({rule}).",
        place=place,
        amount_cents=amount_cents,
        rule=rule,
    )


def not_on_felt(place: str, amount_cents: int) -> TableRefused:
    shown = place[:_SHOWN_NAME_CHARACTERS]
    return TableRefused(
        "NOT_ON_FELT",
        f"There are no {amount_cents} cents on `{shown}` to be taken back.",
        place=shown,
        amount_cents=amount_cents,
    )
