"""The refusals of a baccarat table, with the facts and the rule that each cites."""

from services.kit.table.refusals import SHOWN_NAME_CHARACTERS, TableRefused


def bet_illegal(place: str, why: str) -> TableRefused:
    shown, rule = place[:SHOWN_NAME_CHARACTERS], "812/2015:9"
    return TableRefused("BET_ILLEGAL", f"`{shown}` is no bet on this table: {why} ({rule}).", place=shown, rule=rule)


def pairs_not_offered(place: str) -> TableRefused:
    rule = "812/2015:10"
    sentence = f"`{place}` is not offered here: the table's specific rules have no bets on pairs ({rule})."
    return TableRefused("BET_NOT_OFFERED", sentence, place=place, rule=rule)


def off_step(place: str, amount_cents: int, step_cents: int, rule: str) -> TableRefused:
    return TableRefused(
        "OFF_STEP",
        f"{amount_cents} cents on `{place}` would have a commission of part of a cent: bet multiples of {step_cents}"
        f" cents there ({rule}).",
        place=place,
        amount_cents=amount_cents,
        step_cents=step_cents,
        rule=rule,
    )


def too_close(ponto_cents: int, banca_cents: int, minimum_cents: int) -> TableRefused:
    rule = "812/2015:13"
    return TableRefused(
        "BETS_TOO_CLOSE",
        f"{ponto_cents} cents on ponto and {banca_cents} on banca differ by less than the minimum bet of"
        f" {minimum_cents} ({rule}).",
        ponto_cents=ponto_cents,
        banca_cents=banca_cents,
        difference_cents=minimum_cents,
        rule=rule,
    )


def above_total(amount_cents: int, maximum_cents: int) -> TableRefused:
    rule = "812/2015:40"
    return TableRefused(
        "ABOVE_TOTAL",
        f"{amount_cents} cents on all chances together would be above the {maximum_cents} that one player may bet in a"
        f" round here. No chance has a maximum of its own ({rule}).",
        amount_cents=amount_cents,
        maximum_cents=maximum_cents,
        rule=rule,
    )


def above_table_limit(chances: str, limit_cents: int, rule: str) -> TableRefused:
    return TableRefused(
        "ABOVE_TABLE_LIMIT",
        f"With this, the bets of all players on {chances} could pass the table's limit of {limit_cents} cents ({rule}):"
        " bet less, or wait until others have bet against you.",
        limit_cents=limit_cents,
        rule=rule,
    )
