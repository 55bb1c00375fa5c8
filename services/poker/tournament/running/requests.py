"""What players ask of a tournament: judged by its rules before anybody is debited. Nothing changes here."""

from __future__ import annotations

from services.poker.tournament import refusals
from services.poker.tournament.money.entries import Entry, EntryState, PaidBy, PayIn, Purchase
from services.poker.tournament.money.tickets import Ticket
from services.poker.tournament.running.state import Phase, Tournament
from services.poker.tournament.specific_rules import FreerollTicket, RebuyWhen


def verify_balance(pay_in: PayIn, available_cents: int) -> PayIn:
    """Returns what is to be paid if the player's available balance covers it (21); a ticket costs nothing more."""
    cents = pay_in.price.total_cents
    if pay_in.paid_by is PaidBy.CASH and available_cents < cents:
        raise refusals.insufficient_balance(cents, available_cents)
    return pay_in


def entry(state: Tournament, player: str, ticket: Ticket | None = None) -> PayIn:
    """Returns what an entry costs: a first one, or a re-entry of a player who was eliminated."""
    if state.entry_in(player) is not None:
        raise refusals.already_registered(player)
    before = state.entries_of(player)
    if ticket is not None:
        ticket.use(player, state.id, state.rules.price.total_cents)
    paid_by, ticket_id = (PaidBy.CASH, "") if ticket is None else (ticket.paid_by, ticket.id)
    pay_in = PayIn(
        player, Purchase.REENTRY if before else Purchase.ENTRY, state.rules.price, paid_by, ticket_id
    )  # fmt: skip
    verify_entry(state, pay_in)
    return pay_in


def verify_entry(state: Tournament, pay_in: PayIn) -> None:
    """Refuses an entry that is not possible now."""
    rules = state.rules
    if state.entry_in(pay_in.player) is not None:
        raise refusals.already_registered(pay_in.player)
    before = state.entries_of(pay_in.player)
    if before:
        _verify_open(state, rules.reentry_until_level, "re-entry")
        if len(before) > rules.reentries_max:
            raise refusals.more_chips_refused("re-entry", f"{rules.reentries_max} are possible")
    elif state.phase is Phase.RUNNING:
        _verify_open(state, rules.late_reg_until_level, "late registration")
    elif state.phase is not Phase.REGISTERING:
        raise refusals.registration_closed(f"the tournament is {state.phase}")
    players = {each.player for each in state.entries.values() if each.state is not EntryState.WITHDRAWN}
    if len(players | {pay_in.player}) > rules.max_players:
        raise refusals.registration_closed(f"all {rules.max_players} places are taken")
    must_be_replaced = rules.freeroll_ticket is FreerollTicket.NEW_TICKET and not rules.replacement_tournament
    if pay_in.paid_by is PaidBy.FREEROLL_TICKET and must_be_replaced:
        # What a cancellation would issue instead has to be named beforehand (T-A-03).
        raise refusals.ticket_unusable("no tournament is named for which it would be replaced", "32", "from_freeroll")


def unregister(state: Tournament, player: str, now_ms: int) -> Entry:
    """Returns the entry that a player may take back: until the scheduled start, or an earlier moment (24, T-A-31)."""
    registered = state.entry_in(player)
    if registered is None:
        raise refusals.not_registered(player, "24")
    if state.phase is not Phase.REGISTERING:
        raise refusals.unregistering_closed("the tournament has started")
    if state.starts_at_ms is not None:
        closes_at_ms = state.starts_at_ms - state.rules.cancel_until_seconds * 1000
        if now_ms >= closes_at_ms:
            raise refusals.unregistering_closed("its time is over")
    return registered


def rebuy(state: Tournament, player: str) -> PayIn:
    """Returns what a rebuy costs: for a player without chips, or with few if the rules say so (23, 31, inf-08)."""
    rules, playing = state.rules, state.entry_in(player)
    if playing is None:
        raise refusals.not_registered(player, "31")
    _verify_open(state, rules.rebuy_until_level, "rebuy", but_awaited=playing.number in state.awaited)
    if playing.count(Purchase.REBUY) >= rules.rebuys_max:
        raise refusals.more_chips_refused("rebuy", f"{rules.rebuys_max} are possible")
    is_low = state.chips().get(playing.number, 0) <= rules.starting_stack
    if playing.number not in state.awaited and not (rules.rebuy_when is RebuyWhen.AT_STARTING_STACK and is_low):
        raise refusals.more_chips_refused("rebuy", "you have too many chips")
    return PayIn(player, Purchase.REBUY, rules.rebuy_price)


def can_rebuy_after_loss(state: Tournament, playing: Entry) -> bool:
    """Whether a player who has just lost all chips is asked to rebuy."""
    try:
        _verify_open(state, state.rules.rebuy_until_level, "rebuy")
    except refusals.TournamentRefused:
        return False
    return playing.count(Purchase.REBUY) < state.rules.rebuys_max


def addon(state: Tournament, player: str) -> PayIn:
    """Returns what an add-on costs, for a player with chips in the break in which they are sold (23, inf-10)."""
    rules, playing = state.rules, state.entry_in(player)
    if playing is None:
        raise refusals.not_registered(player, "23")
    is_time = state.phase is Phase.RUNNING and state.is_break and state.level == rules.addon_after_level
    if not is_time or state.prizes is not None or playing.number in state.awaited:
        raise refusals.more_chips_refused("add-on", f"they are sold in the break after level {rules.addon_after_level}")
    if playing.count(Purchase.ADDON) >= rules.addons_max:
        raise refusals.more_chips_refused("add-on", f"{rules.addons_max} are possible")
    return PayIn(player, Purchase.ADDON, rules.addon_price)


def _verify_open(state: Tournament, until_level: int, what: str, *, but_awaited: bool = False) -> None:
    """Refuses what is possible up to a level (23), before the pool is frozen, hand-for-hand or the last lap."""
    is_over = state.prizes is not None or state.lap is not None or state.is_hand_for_hand
    if state.phase is not Phase.RUNNING or is_over:
        raise refusals.more_chips_refused(what, "it is not the time")
    # Who was asked while it was possible has the whole time to decide (T-A-19).
    if state.level > until_level and not but_awaited:
        raise refusals.more_chips_refused(what, f"it was possible up to level {until_level}")
