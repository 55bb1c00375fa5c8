"""The closed set of reasons for which the wallet refuses a call, each with its gRPC code and its facts."""

import re
from collections.abc import Iterable
from enum import IntEnum

from services.kit.refusal import Refused
from services.wallet.model.state import (
    EPOCH_JUMP_LIMIT,
    Account,
    Mode,
    RoundState,
    SessionState,
    Stake,
    Table,
    Ticket,
)

DOMAIN = "wallet.feltro"

# Reasons about the sender or the moment, not about the command: they are not stored as its answer (G3).
NOT_STORED = frozenset(
    {
        "INVALID",
        "STALE_EPOCH",
        "EPOCH_TOO_HIGH",
        "WRONG_GAME",
        # Its sender is not known to be the table's game.
        "TABLE_UNKNOWN",
        # The operator may raise the limit: the stakes are still to be paid.
        "PAYOUT_TOO_LARGE",
        # What was paid in may arrive, and the players are still to be paid.
        "POOL_INSUFFICIENT",
        "PAY_IN_UNKNOWN",
        "TICKET_REFUND_MISMATCH",
        # Once the rest is paid and settled, the same request closes it.
        "POOL_NOT_EMPTY",
        "TICKETS_OPEN",
        "REQUEST_REUSED",
        "COMPLAINT_NOT_ANSWERED",
        "COMPLAINTS_UNANSWERED",
        "OVERLOADED",
        "UNAVAILABLE",
        "NOT_YOURS",
        "NOT_OFFERED",
    }
)


class WalletRefused(Refused):
    """A command that the wallet did not carry out; nothing has changed (G12)."""

    domain = DOMAIN

    def __init__(self, reason: str, sentence: str, **facts: str | int) -> None:
        super().__init__(reason, sentence, {name: str(fact) for name, fact in facts.items()})


def invalid(field: str, sentence: str) -> WalletRefused:
    return WalletRefused("INVALID", f"`{field}` {sentence}", field=field)


def enum_word(value: IntEnum) -> str:
    """Returns the word that stands for the value in every message: `MODE_REAL` for `Mode.REAL`."""
    return f"{re.sub('(?<!^)(?=[A-Z])', '_', type(value).__name__).upper()}_{value.name}"


def insufficient_funds(account: Account, needed_cents: int) -> WalletRefused:
    return WalletRefused(
        "INSUFFICIENT_FUNDS",
        "The free balance does not cover the amount.",
        account_id=account.account_id,
        free_cents=account.free_cents,
        locked_cents=account.locked_cents,
        needed_cents=needed_cents,
    )


def shared_device(table_id: str) -> WalletRefused:
    # Of the other player it says nothing (G7).
    return WalletRefused("SHARED_DEVICE", "Another account plays here from this device or address.", table_id=table_id)


def round_ended(round_id: str, state: RoundState) -> WalletRefused:
    return WalletRefused("ROUND_ENDED", "The round has ended.", round_id=round_id, state=enum_word(state))


def round_full(round_id: str, field: str, limit: int) -> WalletRefused:
    return WalletRefused(
        "ROUND_FULL", "The round holds as much as one may: open another.", round_id=round_id, field=field, limit=limit
    )


def stale_epoch(table_id: str, epoch: int, current_epoch: int) -> WalletRefused:
    return WalletRefused(
        "STALE_EPOCH",
        "Another owner holds the table: stop acting for it.",
        table_id=table_id,
        epoch=epoch,
        current_epoch=current_epoch,
    )


def epoch_too_high(table_id: str, epoch: int, current_epoch: int) -> WalletRefused:
    return WalletRefused(
        "EPOCH_TOO_HIGH",
        "No sequence of takeovers leads from the table's epoch to this one: see what the sender's database is.",
        table_id=table_id,
        epoch=epoch,
        current_epoch=current_epoch,
        limit=EPOCH_JUMP_LIMIT,
    )


def wrong_game(game: str, table: tuple[str, str] | None = None) -> WalletRefused:
    """`table` is the id of the table that the call is about, and its game."""
    facts = {} if table is None else {"table_id": table[0], "table_game": table[1]}
    return WalletRefused(
        "WRONG_GAME", "The token is of another game: a game acts on its own tables only.", game=game, **facts
    )


def payout_too_large(
    round_id: str, field: str, payout_cents: int, limit_cents: int, stake_id: str = ""
) -> WalletRefused:
    """`field` is what sets the limit: the stake itself (`largest_payout_cents`), or the operator (`stake`, `round`)."""
    facts = {"stake_id": stake_id} if stake_id else {}
    return WalletRefused(
        "PAYOUT_TOO_LARGE",
        "The payout is above what the stake can get back, or above what the operator allows: nothing was done.",
        field=field,
        limit_cents=limit_cents,
        payout_cents=payout_cents,
        round_id=round_id,
        **facts,
    )


def from_bank_too_large(table_id: str, cents: int, limit_cents: int) -> WalletRefused:
    return WalletRefused(
        "PAYOUT_TOO_LARGE",
        "The operator's bank would add more to the tournament than the operator allows: nothing was done.",
        field="from_bank",
        limit_cents=limit_cents,
        payout_cents=cents,
        table_id=table_id,
    )


def request_reused(request_id: str) -> WalletRefused:
    return WalletRefused(
        "REQUEST_REUSED", "The request id was used before for something else: choose a new one.", request_id=request_id
    )


def request_unknown(request_id: str) -> WalletRefused:
    return WalletRefused("REQUEST_UNKNOWN", "There is no such command.", request_id=request_id)


def account_unknown(account_id: str) -> WalletRefused:
    return WalletRefused("ACCOUNT_UNKNOWN", "There is no such account.", account_id=account_id)


def player_without_account(player_id: str, mode: Mode) -> WalletRefused:
    sentence = "The player has no account in this mode."
    return WalletRefused("ACCOUNT_UNKNOWN", sentence, player_id=player_id, mode=enum_word(mode))


def account_blocked(account_id: str) -> WalletRefused:
    return WalletRefused("ACCOUNT_BLOCKED", "The account is blocked.", account_id=account_id)


def table_unknown(table_id: str) -> WalletRefused:
    return WalletRefused("TABLE_UNKNOWN", "There is no such table: its game service opens it first.", table_id=table_id)


def round_unknown(round_id: str) -> WalletRefused:
    return WalletRefused("ROUND_UNKNOWN", "There is no such round.", round_id=round_id)


def session_unknown(session_id: str) -> WalletRefused:
    return WalletRefused("SESSION_UNKNOWN", "There is no such session.", session_id=session_id)


def session_ended(session_id: str, state: SessionState) -> WalletRefused:
    sentence = "The session takes no more bets: start a new one."
    return WalletRefused("SESSION_ENDED", sentence, session_id=session_id, state=enum_word(state))


def not_yours() -> WalletRefused:
    return WalletRefused("NOT_YOURS", "This belongs to another player.")


def overloaded(limit: str) -> WalletRefused:
    return WalletRefused("OVERLOADED", "Too much is waiting: nothing was done, try again in a moment.", limit=limit)


def unavailable(what: str) -> WalletRefused:
    return WalletRefused("UNAVAILABLE", f"{what} cannot be reached: send the same request again in a moment.")


def round_elsewhere(round_id: str, table_id: str) -> WalletRefused:
    return WalletRefused("ROUND_MISMATCH", "The round belongs to another table.", round_id=round_id, table_id=table_id)


def mode_mismatch(account_id: str, account_mode: Mode, table: Table) -> WalletRefused:
    return WalletRefused(
        "MODE_MISMATCH",
        "Real and demonstration money never meet: account and table are of different modes.",
        account_id=account_id,
        account_mode=enum_word(account_mode),
        table_mode=enum_word(table.mode),
    )


def not_in_this_mode(account: Account, sentence: str) -> WalletRefused:
    return WalletRefused("MODE_MISMATCH", sentence, account_id=account.account_id, account_mode=enum_word(account.mode))


def wrong_play(table: Table) -> WalletRefused:
    sentence = "This kind of table does not know the command."
    return WalletRefused("WRONG_PLAY", sentence, table_id=table.table_id, play=enum_word(table.play))


def session_elsewhere(session_id: str) -> WalletRefused:
    return WalletRefused(
        "SESSION_MISMATCH", "The session is of another player or another table.", session_id=session_id
    )


def stake_unknown(stake_id: str) -> WalletRefused:
    return WalletRefused("STAKE_UNKNOWN", "The round has no such open stake.", stake_id=stake_id)


def cancel_exceeds_stake(stake: Stake) -> WalletRefused:
    return WalletRefused(
        "CANCEL_EXCEEDS_STAKE",
        "The stake has less than that in play.",
        stake_id=stake.stake_id,
        open_cents=stake.open_cents,
    )


# Ids beyond this are counted and not listed: facts travel in gRPC's trailing metadata, which is small (G11).
LISTED_IDS_LIMIT = 20


def _listed(ids: Iterable[str]) -> str:
    ordered = sorted(ids)
    rest = len(ordered) - LISTED_IDS_LIMIT
    return ",".join(ordered[:LISTED_IDS_LIMIT]) + (f",… {rest} more" if rest > 0 else "")


def stakes_differ(round_id: str, missing: Iterable[str], unexpected: Iterable[str]) -> WalletRefused:
    return WalletRefused(
        "STAKES_MISMATCH",
        "A settlement names every open stake of its round once, and no other: read the round again.",
        round_id=round_id,
        missing=_listed(missing),
        unexpected=_listed(unexpected),
    )


def cave_insufficient(account_id: str, table_id: str, cave_cents: int, needed_cents: int) -> WalletRefused:
    return WalletRefused(
        "CAVE_INSUFFICIENT",
        "The cave does not cover the amount.",
        account_id=account_id,
        table_id=table_id,
        cave_cents=cave_cents,
        needed_cents=needed_cents,
    )


def tournament_closed(table_id: str) -> WalletRefused:
    return WalletRefused("TOURNAMENT_CLOSED", "The tournament is closed for good.", table_id=table_id)


def pool_insufficient(table_id: str, pool_cents: int, needed_cents: int) -> WalletRefused:
    return WalletRefused(
        "POOL_INSUFFICIENT",
        "The pool does not cover what is to be paid: nothing was done.",
        table_id=table_id,
        pool_cents=pool_cents,
        needed_cents=needed_cents,
    )


def pool_not_empty(table_id: str, pool_cents: int) -> WalletRefused:
    return WalletRefused(
        "POOL_NOT_EMPTY",
        "The pool still holds money of the players: pay it out first.",
        table_id=table_id,
        pool_cents=pool_cents,
    )


def pay_in_unknown(table_id: str, account_id: str, refunded_request_id: str) -> WalletRefused:
    return WalletRefused(
        "PAY_IN_UNKNOWN",
        "The account has no such pay-in that can be given back at this price: nothing was done.",
        table_id=table_id,
        account_id=account_id,
        refunded_request_id=refunded_request_id,
    )


def tickets_open(table_id: str, tickets_cents: int) -> WalletRefused:
    return WalletRefused(
        "TICKETS_OPEN",
        "Tickets to the tournament can still be used: settle them first.",
        table_id=table_id,
        tickets_cents=tickets_cents,
    )


def ticket_unknown(ticket_id: str) -> WalletRefused:
    return WalletRefused("TICKET_UNKNOWN", "There is no such ticket.", ticket_id=ticket_id)


def ticket_not_transferable(ticket_id: str, account_id: str) -> WalletRefused:
    return WalletRefused(
        "TICKET_NOT_TRANSFERABLE",
        "The ticket is another player's: a won entry is neither sold nor passed on.",
        ticket_id=ticket_id,
        account_id=account_id,
        rule="810/2015:28",
    )


def ticket_for_another_tournament(ticket_id: str, table_id: str) -> WalletRefused:
    # Not which one: the caller may not know that tournament (G7).
    return WalletRefused(
        "TICKET_UNUSABLE",
        "The ticket is for another tournament.",
        ticket_id=ticket_id,
        field="tournament_id",
        table_id=table_id,
        rule="810/2015:32",
    )


def ticket_of_another_value(ticket: Ticket) -> WalletRefused:
    return WalletRefused(
        "TICKET_UNUSABLE",
        "The face value of the ticket is not the price.",
        ticket_id=ticket.ticket_id,
        field="value_cents",
        value_cents=ticket.value_cents,
        rule="810/2015:37",
    )


def ticket_not_open(ticket: Ticket) -> WalletRefused:
    return WalletRefused(
        "TICKET_UNUSABLE",
        "The ticket was used, or has ended.",
        ticket_id=ticket.ticket_id,
        field="state",
        state=enum_word(ticket.state),
        rule="810/2015:28",
    )


def ticket_refund_differs(
    table_id: str, account_id: str, refunded_request_id: str, sentence: str, rule: str
) -> WalletRefused:
    return WalletRefused(
        "TICKET_REFUND_MISMATCH",
        sentence,
        table_id=table_id,
        account_id=account_id,
        refunded_request_id=refunded_request_id,
        rule=rule,
    )


def ticket_of_another_mode(target: Table) -> WalletRefused:
    return WalletRefused(
        "TABLE_MISMATCH",
        "Real and demonstration money never meet: a ticket is for a tournament of the mode of the one that awards it.",
        table_id=target.table_id,
        field="mode",
    )


def not_balanced(staked_cents: int, won_cents: int, commission_cents: int) -> WalletRefused:
    return WalletRefused(
        "NOT_BALANCED",
        "What the seats put in has to equal what they won and the commission.",
        staked_cents=staked_cents,
        won_cents=won_cents,
        commission_cents=commission_cents,
    )


def amount_out_of_range(account_id: str, limit_cents: int) -> WalletRefused:
    return WalletRefused(
        "AMOUNT_OUT_OF_RANGE", "The balance would be too large.", account_id=account_id, limit_cents=limit_cents
    )


def table_differs(table_id: str, field: str) -> WalletRefused:
    return WalletRefused(
        "TABLE_MISMATCH",
        f"The table was opened before with another {field}, which never changes: choose a new table id.",
        table_id=table_id,
        field=field,
    )
