"""Follows the orders of a tournament: at its tables, in the wallet, and by telling its players.

Every order may be followed again, after a takeover above all: tables and wallet know what was done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from google.protobuf.any_pb2 import Any as AnyMessage

from feltro.poker.v1 import tournament_pb2
from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import ticket_pb2
from feltro.wallet.v1 import tournament_pb2 as wallet_tournament
from services.kit.table.chips.seam import ChipTable, ChipTables, Destination, HandToPlay, SeatedPlayer, table_id_of
from services.kit.table.wallet.tournament_wallet import TournamentWallet
from services.poker.directing.award_messages import award_message
from services.poker.directing.books import Books
from services.poker.directing.course import Step, Transfer
from services.poker.directing.views import moment_of, table_notice
from services.poker.tournament.money.awards import Award
from services.poker.tournament.running import orders
from services.poker.tournament.running.orders import Order
from services.poker.tournament.running.state import Phase, Tournament
from services.poker.tournament.tables.lineup import RunningHand

_TICKET_EVENTS = {
    ticket_pb2.TICKET_STATE_ISSUED: tournament_pb2.OWN_TOURNAMENT_EVENT_TICKET_ISSUED,
    ticket_pb2.TICKET_STATE_RETURNED: tournament_pb2.OWN_TOURNAMENT_EVENT_TICKET_RETURNED,
}


class OwnNotices(Protocol):
    """Tells single players what concerns them alone; what is lost is read instead."""

    def publish(self, changed: events_pb2.OwnViewChanged) -> None: ...


class Follower:
    """The tables, the wallet and the players of one tournament, as its orders reach them."""

    def __init__(self, tournament_id: str, tables: ChipTables, wallet: TournamentWallet, notices: OwnNotices) -> None:
        self._id = tournament_id
        self._tables = tables
        self._wallet = wallet
        self._notices = notices
        self._open: dict[int, ChipTable] = {}
        # Where each entry sits at the tables, which the state does not say any more of one that is out.
        self._seats: dict[int, tuple[int, int]] = {}
        # What each table was shown last.
        self._shown: dict[int, tuple[Mapping[int, int], bytes]] = {}

    async def restore(self, state: Tournament, books: Books) -> None:
        """Brings the tables to what the facts of a former owner say; hands under way go on."""
        if state.phase is not Phase.RUNNING:
            return
        for number, table in sorted(state.tables.items()):
            opened = self._open[number] = await self._tables.open(number)
            for seat in range(1, table.seats + 1):
                if seat in table.seated:
                    await self._seat(state, books, table.seated[seat].entry, number, seat)
                else:
                    await opened.stand(seat)
        self._show(state)
        for number, table in sorted(state.tables.items()):
            if table.hand is not None:
                await self._open[number].play(_hand(table.hand))
            elif number in state.held:
                await self._open[number].hold(str(state.held[number]))

    async def follow(self, step: Step, state: Tournament, books: Books, *, shows: bool = True) -> None:
        """Follows what was ordered by one fact, in its order; `state` is the one after it.

        How the tournament stands is shown by the last of several facts that wait: it is told at every table.
        """
        for order in step.orders:
            await self._follow(order, state, books)
        if shows:
            self._show(state)
        for transfer in step.transfers:
            paid = await self.pay(transfer)
            became = {each.award_index: each.state for each in paid.tickets}
            for index, award in enumerate(transfer.pay_out.awards):
                self._tell_paid(award.award, became.get(index))

    async def pay(self, transfer: Transfer) -> wallet_tournament.PayOutResponse:
        """Pays a transfer, and returns what became of its tickets; one that was paid before is not paid again (G3)."""
        pay_out = transfer.pay_out
        awards = [award_message(each) for each in pay_out.awards]
        return await self._wallet.pay_out(transfer.request_id, awards, pay_out.overlay_cents, pay_out.shortfall_cents)

    async def close_tables(self) -> None:
        for number in sorted(self._open):
            await self._open[number].close()
        self._open.clear()

    # -- tables --------------------------------------------------------------------------------------------------------

    async def _follow(self, order: Order, state: Tournament, books: Books) -> None:
        match order:
            case orders.OpenTable() | orders.SeatPlayer() | orders.MovePlayer() | orders.CloseTable():
                await self._seat_by(order, state, books)
            case orders.StartHand(number, hand):
                await self._open[number].play(_hand(hand))
            case orders.HoldTable(number, why):
                await self._open[number].hold(str(why))
            case orders.Eliminate(entry):
                await self._eliminate(state, entry)
            case orders.MarkAway(_, number, seat, is_away):
                if number in self._open:
                    self._open[number].mark(seat, away=is_away)
            case _:
                self._tell_of(order, state)

    async def _seat_by(
        self,
        order: orders.OpenTable | orders.SeatPlayer | orders.MovePlayer | orders.CloseTable,
        state: Tournament,
        books: Books,
    ) -> None:
        match order:
            case orders.OpenTable(number, seats):
                self._open[number] = await self._tables.open(number)
                for seat, entry in seats.items():
                    await self._seat_newcomer(state, books, entry, number, seat)
            case orders.SeatPlayer(entry, number, seat):
                await self._seat_newcomer(state, books, entry, number, seat)
            case orders.MovePlayer(moved):
                to = Destination(moved.to_table, moved.to_seat)
                await self._open[moved.from_table].stand(moved.from_seat, to)
                await self._seat(state, books, moved.entry, moved.to_table, moved.to_seat)
                self._tell_seat(state, moved.entry, tournament_pb2.OWN_TOURNAMENT_EVENT_MOVED)
            case orders.CloseTable(number):
                await self._open.pop(number).close()
                self._shown.pop(number, None)

    async def _seat_newcomer(self, state: Tournament, books: Books, entry: int, number: int, seat: int) -> None:
        await self._seat(state, books, entry, number, seat)
        self._tell_seat(state, entry, tournament_pb2.OWN_TOURNAMENT_EVENT_SEATED)

    async def _seat(self, state: Tournament, books: Books, entry: int, number: int, seat: int) -> None:
        player_id = state.entries[entry].player
        table = self._open[number]
        await table.seat(seat, SeatedPlayer(entry, player_id, books.accounts[player_id]))
        table.mark(seat, away=player_id in state.away)
        self._seats[entry] = number, seat

    async def _eliminate(self, state: Tournament, entry: int) -> None:
        number, seat = self._seats.pop(entry, (0, 0))
        if number in self._open:
            await self._open[number].stand(seat)
        self._tell(state.entries[entry].player, tournament_pb2.OWN_TOURNAMENT_EVENT_ELIMINATED)

    def _show(self, state: Tournament) -> None:
        """Shows each table its chips and how the tournament stands, where that has changed."""
        if state.phase is not Phase.RUNNING:
            return
        notice = table_notice(state)
        told = notice.SerializeToString(deterministic=True)
        for number, table in state.tables.items():
            chips = {seat: each.chips for seat, each in table.seated.items()}
            if number in self._open and self._shown.get(number) != (chips, told):
                self._open[number].show(chips, notice)
                self._shown[number] = chips, told

    # -- players -----------------------------------------------------------------------------------------------------

    def _tell_of(self, order: Order, state: Tournament) -> None:
        match order:
            case orders.AskRebuy(entry, until_ms):
                self._tell(
                    state.entries[entry].player,
                    tournament_pb2.OWN_TOURNAMENT_EVENT_ASKED_TO_REBUY,
                    lambda notice: notice.decide_by.CopyFrom(moment_of(until_ms)),
                )
            case orders.Ranked(place):
                for entry in place.entries:
                    self._tell(
                        state.entries[entry].player,
                        tournament_pb2.OWN_TOURNAMENT_EVENT_RANKED,
                        lambda notice: _set_rank(notice, place.first, place.last),
                    )
            case orders.Cancelled():
                for each in state.entries.values():
                    if each.is_in:
                        self._tell(each.player, tournament_pb2.OWN_TOURNAMENT_EVENT_CANCELLED)
            case _:
                pass

    def _tell_paid(self, award: Award, ticket: ticket_pb2.TicketState.ValueType | None) -> None:
        """Tells a player what they got: money, or a ticket as the wallet has decided about it (29)."""
        event = tournament_pb2.OWN_TOURNAMENT_EVENT_PAID
        if ticket is not None and ticket in _TICKET_EVENTS:
            event = _TICKET_EVENTS[ticket]
        elif ticket == ticket_pb2.TICKET_STATE_EXPIRED:
            # Nothing: the tournament that it is for is over.
            return

        def add(notice: tournament_pb2.OwnTournamentNotice) -> None:
            notice.amount_cents, notice.ticket_tournament_id = award.cents, award.tournament

        self._tell(award.player, event, add)

    def tell_of_start(self, player_id: str) -> None:
        """Tells a registered player that the tournament starts soon."""
        self._tell(player_id, tournament_pb2.OWN_TOURNAMENT_EVENT_STARTS_SOON)

    def _tell_seat(self, state: Tournament, entry: int, event: tournament_pb2.OwnTournamentEvent.ValueType) -> None:
        number, seat = self._seats[entry]

        def place(notice: tournament_pb2.OwnTournamentNotice) -> None:
            notice.table_id, notice.seat = table_id_of(self._id, number), seat

        self._tell(state.entries[entry].player, event, place)

    def _tell(
        self,
        player_id: str,
        event: tournament_pb2.OwnTournamentEvent.ValueType,
        add: Callable[[tournament_pb2.OwnTournamentNotice], object] = lambda _: None,
    ) -> None:
        notice = tournament_pb2.OwnTournamentNotice(tournament_id=self._id, event=event)
        add(notice)
        packed = AnyMessage()
        packed.Pack(notice)
        self._notices.publish(events_pb2.OwnViewChanged(table_id=self._id, player_id=player_id, notice=packed))


def _set_rank(notice: tournament_pb2.OwnTournamentNotice, first: int, last: int) -> None:
    notice.rank, notice.rank_to = first, last


def _hand(hand: RunningHand) -> HandToPlay:
    return HandToPlay(hand.number, hand.positions.seats, hand.positions.stacks, hand.level)
