"""How a tournament stands, as messages: for the lobby, for everybody at its tables, and for each player alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from feltro.poker.v1 import poker_pb2, tournament_pb2, tournament_rules_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import ticket_pb2
from services.kit.table.chips.seam import table_id_of
from services.poker.directing.course import Course
from services.poker.tournament.levels import moment
from services.poker.tournament.money.awards import Why
from services.poker.tournament.money.entries import Entry, EntryState, Purchase, counted
from services.poker.tournament.ranking import Place, places_by_chips, places_of_eliminated
from services.poker.tournament.refusals import TournamentRefused, rule
from services.poker.tournament.running import requests
from services.poker.tournament.running.state import Phase, Tournament
from services.poker.tournament.specific_rules import TournamentRules
from services.poker.tournament.specific_rules_message import price_message

PHASES: Mapping[Phase, tournament_pb2.TournamentPhase.ValueType] = {
    Phase.REGISTERING: tournament_pb2.TOURNAMENT_PHASE_REGISTERING,
    Phase.RUNNING: tournament_pb2.TOURNAMENT_PHASE_RUNNING,
    Phase.FINISHED: tournament_pb2.TOURNAMENT_PHASE_FINISHED,
    Phase.CANCELLED: tournament_pb2.TOURNAMENT_PHASE_CANCELLED,
}
_STANDINGS = {
    EntryState.REGISTERED: tournament_pb2.ENTRY_STANDING_REGISTERED,
    EntryState.WITHDRAWN: tournament_pb2.ENTRY_STANDING_WITHDRAWN,
    EntryState.PLAYING: tournament_pb2.ENTRY_STANDING_PLAYING,
    EntryState.OUT: tournament_pb2.ENTRY_STANDING_OUT,
}


_REFUNDS = (Why.UNREGISTERED, Why.TOO_LATE, Why.ENTRY_BACK)


class Rank(NamedTuple):
    """The place of an entry."""

    place: Place
    is_final: bool


def moment_of(at_ms: int) -> Timestamp:
    """Returns a moment as messages hold it."""
    stamp = Timestamp()
    stamp.FromMilliseconds(at_ms)
    return stamp


def level_ends_at_ms(state: Tournament) -> int | None:
    """Returns when the level or the break ends; None if there is no such moment."""
    if state.phase is not Phase.RUNNING or state.lap is not None:
        return None
    ends = moment(state.rules.levels, (state.now_ms - state.started_at_ms) // 1000).ends_at_seconds
    return None if ends is None else state.started_at_ms + ends * 1000


def ranks(state: Tournament) -> Mapping[int, Rank]:
    """Returns the place of each entry, as far as it can be told: final ones, and those by what is known now."""
    places = [(place, True) for place in state.places]
    if state.phase is Phase.RUNNING:
        chips = state.chips()
        left = {entry.number: chips[entry.number] for entry in state.playing}
        places += [(place, False) for place in places_by_chips(left)]
        places += [(place, False) for place in places_of_eliminated(state.outs, len(left))]
    return {entry: Rank(place, is_final) for place, is_final in places for entry in place.entries}


def summary(
    course: Course, configuration: types_pb2.TableConfiguration, rules: tournament_rules_pb2.TournamentRules
) -> tournament_pb2.TournamentSummary:
    """Builds what everybody sees; `rules` have every default filled in."""
    state = course.state
    counting = counted(state.entries.values())
    left = len(state.registered) if state.phase is Phase.REGISTERING else len(state.playing)
    prizes = state.current_prizes
    message = tournament_pb2.TournamentSummary(
        tournament_id=state.id,
        configuration=tournament_pb2.TournamentConfiguration(
            name=configuration.name, mode=configuration.mode, rules=rules
        ),
        phase=PHASES[state.phase],
        entries=len(counting),
        rebuys=sum(entry.count(Purchase.REBUY) for entry in counting),
        addons=sum(entry.count(Purchase.ADDON) for entry in counting),
        players_left=left,
        tables=len(state.tables) if state.phase is Phase.RUNNING else 0,
        prizes=tournament_pb2.TournamentPrizes(
            pool_cents=prizes.pool_cents,
            overlay_cents=prizes.overlay_cents,
            places_cents=[place.cents for place in prizes.places],
            frozen=state.prizes is not None,
            tickets=prizes.tickets,
        ),
        level=state.level,
        on_break=state.is_break,
        hand_for_hand=state.is_hand_for_hand,
        last_lap=state.lap is not None,
        average_chips=_average_chips(state),
        open_to_entries=_is_open(state),
    )
    if state.started_at_ms:
        message.started_at.CopyFrom(moment_of(state.started_at_ms))
    ends_at_ms = level_ends_at_ms(state)
    if ends_at_ms is not None:
        message.level_ends_at.CopyFrom(moment_of(ends_at_ms))
    if state.phase is Phase.REGISTERING and state.starts_at_ms is not None:
        message.decide_by.CopyFrom(moment_of(state.starts_at_ms - state.rules.cancel_until_seconds * 1000))
    if course.ending is not None:
        message.ended_at.CopyFrom(moment_of(course.ending.at_ms))
        if course.ending.paragraph:
            message.cancelled_reason, message.cancelled_rule = course.ending.reason, rule(course.ending.paragraph)
    return message


def _average_chips(state: Tournament) -> int:
    playing = len(state.playing)
    return sum(state.chips().values()) // playing if playing and state.phase is Phase.RUNNING else 0


def _is_open(state: Tournament) -> bool:
    """Whether a player who was never in the tournament can register."""
    return can_enter(state, "")


def can_enter(state: Tournament, player_id: str) -> bool:
    """Whether a player can register, or enter again, now."""
    try:
        requests.entry(state, player_id)
    except TournamentRefused:
        return False
    return True


def player(
    course: Course, entry: Entry, *, known: Mapping[int, Rank] | None = None, shows_player: bool = False
) -> tournament_pb2.TournamentPlayer:
    """Builds what everybody sees of an entry; `known` are the places of all, where they were asked for already."""
    state, paid, tickets = course.state, course.books.paid, course.books.paid_tickets
    prize_ticket_cents = tickets.get((entry.number, Why.PRIZE), 0)
    rank = (ranks(state) if known is None else known).get(entry.number)
    message = tournament_pb2.TournamentPlayer(
        entry_no=entry.number,
        standing=_STANDINGS[entry.state],
        reentry=entry.is_reentry,
        rebuys=entry.count(Purchase.REBUY),
        addons=entry.count(Purchase.ADDON),
        away=entry.player in state.away and entry.is_in,
        prize_cents=paid.get((entry.number, Why.PRIZE), 0) - prize_ticket_cents,
        prize_ticket_cents=prize_ticket_cents,
        bounties_cents=sum(paid.get((entry.number, why), 0) for why in (Why.BOUNTY, Why.OWN_BOUNTY)),
        player_id=entry.player if shows_player else "",
        by_ticket=shows_player and bool(entry.ticket),
    )
    if rank is not None:
        message.rank, message.rank_to, message.rank_final = rank.place.first, rank.place.last, rank.is_final
    if entry.state is EntryState.PLAYING:
        if entry.number in state.awaited:
            message.standing = tournament_pb2.ENTRY_STANDING_ASKED_TO_REBUY
        table, seat = state.seat_of(entry.number)
        message.chips = table.seated[seat].chips
        if state.phase is Phase.RUNNING:
            message.table_id, message.seat = table_id_of(state.id, table.number), seat
    return message


def own_player(course: Course, entry: Entry) -> tournament_pb2.TournamentPlayer:
    """Builds what the player of an entry sees of it."""
    message = player(course, entry)
    message.own, message.by_ticket = True, bool(entry.ticket)
    return message


def own(
    course: Course, player_id: str, now_ms: int, tickets: Sequence[ticket_pb2.Ticket] = ()
) -> tournament_pb2.OwnTournament | None:
    """Builds what a player alone sees; None if they have neither an entry nor a ticket with which to enter."""
    state = course.state
    entries = [entry for entry in state.entries.values() if entry.player == player_id]
    shown = [
        tournament_pb2.OwnTicket(
            ticket_id=ticket.ticket_id, value_cents=ticket.value_cents, from_freeroll=ticket.from_freeroll
        )
        for ticket in tickets
    ]
    if not entries:
        return tournament_pb2.OwnTournament(tickets=shown) if shown else None
    entry = entries[-1]
    message = tournament_pb2.OwnTournament(entry=own_player(course, entry), tickets=shown)
    awaited = state.awaited.get(entry.number)
    if awaited is not None:
        message.decide_by.CopyFrom(moment_of(awaited.until_ms))
    for field, judge in (("rebuy", requests.rebuy), ("addon", requests.addon), ("reentry", requests.entry)):
        try:
            price = judge(state, player_id).price
        except TournamentRefused:
            continue
        getattr(message, field).CopyFrom(price_message(price))
    try:
        requests.unregister(state, player_id, now_ms)
    except TournamentRefused:
        return message
    message.can_unregister = True
    return message


def players(course: Course, *, shows_player: bool, own_player_id: str) -> list[tournament_pb2.TournamentPlayer]:
    """Returns all entries by rank; those who were taken back come last."""
    known = ranks(course.state)
    shown = []
    for entry in course.state.entries.values():
        message = player(course, entry, known=known, shows_player=shows_player)
        if own_player_id and entry.player == own_player_id:
            message.own, message.by_ticket = True, bool(entry.ticket)
        shown.append(message)
    withdrawn = tournament_pb2.ENTRY_STANDING_WITHDRAWN
    return sorted(shown, key=lambda each: (each.standing == withdrawn, each.rank or 1 << 30, each.entry_no))


def table_notice(state: Tournament) -> poker_pb2.TournamentNotice:
    """Builds what everybody at the tables sees of the tournament."""
    rules: TournamentRules = state.rules
    level = rules.levels[max(state.level, 1) - 1]
    message = poker_pb2.TournamentNotice(
        level=state.level,
        small_blind=level.small_blind,
        big_blind=level.big_blind,
        hand_for_hand=state.is_hand_for_hand,
        last_lap=state.lap is not None,
        players_left=len(state.playing),
        average_chips=_average_chips(state),
        paid_places=state.current_prizes.paid_places,
    )
    if state.level < len(rules.levels):
        following = rules.levels[state.level]
        message.next_small_blind, message.next_big_blind = following.small_blind, following.big_blind
    ends_at_ms = level_ends_at_ms(state)
    if ends_at_ms is not None:
        (message.break_until if state.is_break else message.level_ends_at).CopyFrom(moment_of(ends_at_ms))
    return message


def report(
    course: Course, shown: tournament_pb2.TournamentSummary, approval_reference: str
) -> tournament_pb2.GetTournamentReportResponse:
    """Builds what a tournament has taken and paid."""
    state, books = course.state, course.books
    return tournament_pb2.GetTournamentReportResponse(
        tournament=shown,
        approval_reference=approval_reference,
        entries=shown.entries,
        withdrawn=sum(entry.state is EntryState.WITHDRAWN for entry in state.entries.values()),
        prize_cents=books.taken.prize_cents - books.refunded.prize_cents,
        fee_cents=books.taken.fee_cents - books.refunded.fee_cents,
        bounty_cents=books.taken.bounty_cents - books.refunded.bounty_cents,
        prizes_paid_cents=books.sum_of(Why.PRIZE) - books.tickets_of(Why.PRIZE),
        bounties_paid_cents=books.sum_of(Why.BOUNTY, Why.OWN_BOUNTY),
        refunded_cents=books.sum_of(*_REFUNDS),
        shares_paid_cents=books.sum_of(Why.SHARE_BY_CHIPS),
        overlay_cents=books.overlay_paid_cents,
        shortfall_cents=books.shortfall_paid_cents,
        pool_cents=books.wallet_cents,
        entries_by_ticket=sum(bool(entry.ticket) for entry in counted(state.entries.values())),
        tickets_awarded=sum(why is Why.PRIZE for _, why in books.paid_tickets),
        tickets_awarded_cents=books.tickets_of(Why.PRIZE),
        tickets_returned_cents=books.tickets_of(*_REFUNDS),
    )
