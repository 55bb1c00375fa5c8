"""The refusals of a roulette table, with the facts and the rule that each cites."""

from services.kit.table.refusals import SHOWN_NAME_CHARACTERS, TableRefused


def bet_illegal(place: str, rule: str, why: str) -> TableRefused:
    shown = place[:SHOWN_NAME_CHARACTERS]
    return TableRefused("BET_ILLEGAL", f"`{shown}` is no bet on this table: {why} ({rule}).", place=shown, rule=rule)


def bet_not_offered(place: str, rule: str, why: str) -> TableRefused:
    return TableRefused("BET_NOT_OFFERED", f"`{place}` is not offered here: {why} ({rule}).", place=place, rule=rule)


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
