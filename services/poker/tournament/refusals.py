"""The refusals of a tournament, each with the rule of 810/2015 that it follows."""

from __future__ import annotations

from services.kit.refusal import Refused

REGULATION = "810/2015"


def rule(paragraph: str) -> str:
    """Returns the id of a rule of the regulation of tournaments."""
    return f"{REGULATION}:{paragraph}"


class TournamentRefused(Refused):
    """The tournament refuses a request, and nothing has changed (G12)."""

    domain = "table.feltro"

    def __init__(self, reason: str, paragraph: str, sentence: str, **facts: str | int) -> None:
        cited = rule(paragraph)
        told = {name: str(fact) for name, fact in facts.items()}
        super().__init__(reason, f"{sentence} ({cited}).", {**told, "rule": cited})


def insufficient_balance(price_cents: int, available_cents: int) -> TournamentRefused:
    sentence = f"This costs {price_cents} cents, and {available_cents} are available"
    return TournamentRefused(
        "INSUFFICIENT_BALANCE", "21", sentence, amount_cents=price_cents, available_cents=available_cents
    )


def registration_closed(why: str) -> TournamentRefused:
    return TournamentRefused("REGISTRATION_CLOSED", "23", f"Nobody can register now: {why}")


def already_registered(player: str) -> TournamentRefused:
    return TournamentRefused("ALREADY_REGISTERED", "inf-20", "You are in this tournament already", player=player)


def not_registered(player: str, paragraph: str) -> TournamentRefused:
    return TournamentRefused("NOT_REGISTERED", paragraph, "You are not in this tournament", player=player)


def unregistering_closed(why: str) -> TournamentRefused:
    return TournamentRefused("UNREGISTERING_CLOSED", "24", f"A registration can no longer be taken back: {why}")


def more_chips_refused(what: str, why: str) -> TournamentRefused:
    return TournamentRefused("MORE_CHIPS_REFUSED", "23", f"No {what} is possible now: {why}", what=what)


def ticket_unusable(why: str, paragraph: str, field: str) -> TournamentRefused:
    """`field` of the ticket is what does not fit."""
    return TournamentRefused("TICKET_UNUSABLE", paragraph, f"This ticket cannot be used here: {why}", field=field)


def ticket_not_money(why: str, paragraph: str) -> TournamentRefused:
    return TournamentRefused("TICKET_NOT_MONEY", paragraph, f"A won entry is not turned into money: {why}")


def ticket_not_transferable() -> TournamentRefused:
    return TournamentRefused(
        "TICKET_NOT_TRANSFERABLE", "28", "A won entry is neither sold nor passed to another player"
    )
