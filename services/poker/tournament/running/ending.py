"""How a tournament comes to its end: prizes frozen, places final, the last of all, or a cancellation."""

from __future__ import annotations

import dataclasses

from services.poker.tournament.money.awards import BankWhy, PayOut, total_cents
from services.poker.tournament.money.bounties import bounty_awards, own_bounty
from services.poker.tournament.money.cancellation import cancellation_awards, paragraph_of
from services.poker.tournament.money.entries import EntryState, collected
from services.poker.tournament.money.prizes import Prizes, awards_of
from services.poker.tournament.ranking import Place, places_by_chips, places_of_eliminated, shared_place
from services.poker.tournament.running import orders
from services.poker.tournament.running.playing import Playing
from services.poker.tournament.running.state import Phase


class Ending(Playing):
    """What becomes final."""

    def go_on(self) -> None:
        """Draws the consequences of a fact, from what is final to which hands begin."""
        if self.state.phase is not Phase.RUNNING:
            return
        is_over = self._is_over()
        self._freeze(is_over=is_over)
        self._rank()
        # Frozen prizes can end a satellite.
        if is_over or self._is_over():
            self._finish()
            return
        self.balance_tables()
        self.turn_hand_for_hand()
        self.start_hands()

    def cancel(self, reason: str) -> None:
        """Cancels the tournament (35), and pays what 36 to 38 give; hands under way are void (T-A-06)."""
        has_started = self.state.phase is Phase.RUNNING
        # In one transfer: a guarantee that is not in the pool yet may have to pay prizes that were earned.
        self.pays_at_end = True
        for number in sorted(self.state.awaited):
            # Who has no chips is out; a rebuy that was not made is no right (31).
            self.end_wait(number)
        prizes = self.state.current_prizes
        left = len(self.state.playing)
        paragraph = paragraph_of(has_started=has_started, players_left=left, paid_places=prizes.paid_places)
        if has_started:
            self._rank_with(prizes)
        state = self.state
        back = cancellation_awards(state.rules, paragraph, state.entries.values(), state.chips(), state.earned_cents)
        awards = (*state.due, *back)
        # What is left is the operator's, fees above all; what is lacking is theirs, too (T-A-04).
        left_cents = state.pool_cents - total_cents(awards)
        self.pay(PayOut(awards, max(0, -left_cents), max(0, left_cents), BankWhy.CANCELLATION))
        self.update(phase=Phase.CANCELLED, due=())
        self.order(orders.Cancelled(paragraph, reason))

    def end_wait(self, number: int) -> None:
        """Eliminates a player who has not rebought: by the hand that was lost, not by now (31, 44, T-A-19)."""
        awaited, entry = self.state.awaited[number], self.state.entries[number]
        self.stop_waiting(number)
        table, seat = self.state.seat_of(number)
        self.put_table(table.stand(seat))
        self.put(dataclasses.replace(entry, state=EntryState.OUT))
        self.update(outs=(*self.state.outs, awaited.out))
        self.order(orders.Eliminate(number))
        if entry.price.bounty_cents:
            self.award(bounty_awards(entry, [self.state.entries[taker] for taker in awaited.takers]))

    def _freeze(self, *, is_over: bool) -> None:
        """Freezes pool and paid places when nothing can be paid in any more (T-A-21)."""
        state = self.state
        is_closed = state.level > state.rules.last_open_level or state.lap is not None or is_over
        if state.prizes is not None or state.awaited or not is_closed:
            return
        prizes = state.current_prizes
        self.update(prizes=prizes)
        self.order(orders.FreezePrizes(prizes))
        if prizes.overlay_cents:
            self.pay(PayOut(from_bank_cents=prizes.overlay_cents, bank_why=BankWhy.GUARANTEE))

    def _rank(self) -> None:
        """Makes places final: never before the prizes are frozen, and all hands of a step have ended (T-A-13)."""
        state = self.state
        if state.outs and state.prizes is not None and not state.is_step_running:
            self._rank_with(state.prizes)

    def _rank_with(self, prizes: Prizes) -> None:
        state = self.state
        places = places_of_eliminated(state.outs, len(state.playing))
        self.update(outs=())
        for place in reversed(places):
            self._place(prizes, place)

    def _place(self, prizes: Prizes, place: Place) -> None:
        """Makes a place final, and earns its prize (50, 51, 54)."""
        awards = awards_of(prizes, place, self.state.entries)
        self.update(
            places=(*self.state.places, place), earned_cents=self.state.earned_cents + total_cents(awards)
        )  # fmt: skip
        self.order(orders.Ranked(place))
        self.award(awards)

    def _is_over(self) -> bool:
        """Whether one player has all chips, or the last lap is over (52); or a satellite stops early (T-A-16)."""
        state = self.state
        if state.is_hand_running or state.awaited:
            return False
        if len(state.playing) == 1 or self.stops_early():
            return True
        return state.lap is not None and all(state.lap.is_over(table) for table in state.tables.values())

    def _finish(self) -> None:
        """Ranks who is left, pays what is due, and leaves the pool empty."""
        state = self.state
        if state.prizes is None:
            raise AssertionError("a tournament that is over has frozen prizes")
        for place in reversed(self._places_of_survivors()):
            self._place(state.prizes, place)
        for entry in state.playing:
            self.award(own_bounty(entry))
        if self.state.due:
            self.pay(PayOut(self.state.due))
        fees_cents = collected(state.entries.values()).fee_cents
        if fees_cents:
            self.pay(PayOut(to_bank_cents=fees_cents, bank_why=BankWhy.FEES))
        if self.state.pool_cents:
            raise AssertionError(f"{self.state.pool_cents} cents are left in the pool")
        self.update(phase=Phase.FINISHED, due=())
        self.order(orders.Finished())

    def _places_of_survivors(self) -> tuple[Place, ...]:
        state = self.state
        if self.stops_early() and state.lap is None:
            return shared_place(entry.number for entry in state.playing)
        chips = state.chips()
        return places_by_chips({entry.number: chips[entry.number] for entry in state.playing})
