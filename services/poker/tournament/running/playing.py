"""Which tables begin a hand, and which are held: breaks, balancing (47, 48), hand-for-hand (49), the last lap (52)."""

from __future__ import annotations

from services.poker.tournament.money.entries import EntryState
from services.poker.tournament.running import orders
from services.poker.tournament.running.orders import Held
from services.poker.tournament.running.work import Work
from services.poker.tournament.tables.balancing import balance
from services.poker.tournament.tables.lineup import RunningHand, TournamentTable


class Playing(Work):
    """The tables of a tournament that is running."""

    def balance_tables(self) -> None:
        """Moves players and breaks tables; not during a hand-for-hand step, and not during the last lap."""
        state = self.state
        if state.lap is not None or state.is_step_running:
            return
        balanced = balance(state.rules, state.tables, self.draws)
        if not balanced.moves and not balanced.closed:
            return
        self.update(tables=balanced.tables)
        for moved in balanced.moves:
            self.order(orders.MovePlayer(moved))
        for number in balanced.closed:
            self.order(orders.CloseTable(number))

    def turn_hand_for_hand(self) -> None:
        """Begins hand-for-hand near the paid places, and ends it when they are reached or one table is left (49)."""
        state = self.state
        wanted = False
        if state.prizes is not None and state.lap is None and len(state.tables) > 1:
            paid_places = state.prizes.paid_places
            begins_at = max(state.rules.hand_for_hand_from or 0, paid_places + 1)
            wanted = paid_places < state.players_left <= begins_at
        if wanted is not state.is_hand_for_hand and not state.is_step_running:
            self.update(is_hand_for_hand=wanted)
            self.order(orders.HandForHand(wanted))

    def start_hands(self) -> None:
        """Releases the tables that can begin a hand, and says of the others why they are held."""
        state = self.state
        held = {number: why for number, table in state.tables.items() if (why := self._why_held(table)) is not None}
        free = [table for number, table in state.tables.items() if number not in held and table.hand is None]
        step = None
        if state.is_hand_for_hand and free:
            # All tables begin a hand together; all these hands count as one (T-A-13).
            step = state.hands_ended + 1
            self.update(hands_ended=step)
        for table in free:
            self._start_hand(table, step)
        for number, why in held.items():
            if state.held.get(number) is not why:
                self.order(orders.HoldTable(number, why))
        self.update(held=held)

    def _why_held(self, table: TournamentTable) -> Held | None:
        state = self.state
        if table.hand is not None:
            return None
        if state.is_break:
            return Held.BREAK
        if state.lap is not None and state.lap.is_over(table):
            return Held.LAP_OVER
        if state.is_hand_for_hand and state.is_hand_running:
            return Held.HAND_FOR_HAND
        return Held.TOO_FEW_PLAYERS if len(table.players) < 2 or self.stops_early() else None

    def _start_hand(self, table: TournamentTable, step: int | None) -> None:
        state = self.state
        positions = table.next_positions(state.rules, self.draws)
        if positions is None:
            raise AssertionError(f"table {table.number} has too few players for a hand")
        level = state.level if state.lap is None else state.lap.level
        hand = RunningHand(self.next_hand_number(), positions, level, step)
        self.put_table(table.start_hand(hand))
        if state.lap is not None:
            button = table.seated[positions.button].entry
            self.update(lap=self.state.lap and self.state.lap.after_button(table.number, button))
        self.order(orders.StartHand(table.number, hand))

    def stops_early(self) -> bool:
        """Whether a satellite has no more players than tickets, and its rules end it then (T-A-16)."""
        state = self.state
        if not state.rules.satellite_stops_early or state.prizes is None:
            return False
        playing = sum(entry.state is EntryState.PLAYING for entry in state.entries.values())
        return playing <= state.prizes.tickets
