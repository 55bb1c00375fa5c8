"""An inner table as its director holds it: its orders stand, whatever becomes of the task that plays hands."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic

from google.protobuf.message import Message

from services.kit import background
from services.kit.table.chips.directed import CLOSED, DirectedTable
from services.kit.table.chips.seam import Destination, HandToPlay, SeatedPlayer, table_id_of
from services.kit.table.chips.table import LiveChipTable
from services.kit.table.encoding import packed
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, Outcome
from services.kit.table.owned.unreadable_rounds import UnreadableRound

# The pause before a table that has failed is opened again, doubled each time up to the longest (G11).
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0

_log = logging.getLogger(__name__)


class InnerTable(Generic[Bets, Outcome]):
    """Implements `seam.ChipTable`. It opens its live table, and opens it again if that fails (G9)."""

    def __init__(
        self,
        tournament_id: str,
        number: int,
        open_live: Callable[[DirectedTable], Awaitable[LiveChipTable[Bets, Outcome]]],
    ) -> None:
        """`open_live` makes the live table, with the hand that was left there."""
        self.table_id = table_id_of(tournament_id, number)
        self._tournament_id = tournament_id
        self._open_live = open_live
        self._directed = DirectedTable(number)
        self._begun = asyncio.Event()
        self._hurried = asyncio.Event()
        self._is_leaving = False
        self.live: LiveChipTable[Bets, Outcome] | None = None
        """None before its life begins, and while it is being opened."""

    # -- what the director orders ------------------------------------------------------------------------------------

    async def seat(self, seat: int, player: SeatedPlayer) -> None:
        before = self._directed.players.get(seat)
        if before == player:
            return
        if before is None or before.player_id != player.player_id:
            self._directed.away.discard(seat)
        self._directed.players[seat] = player
        self._follow()

    async def stand(self, seat: int, moved_to: Destination | None = None) -> None:
        player = self._directed.players.pop(seat, None)
        self._directed.away.discard(seat)
        self._directed.chips.pop(seat, None)
        if player is not None and moved_to is not None and self.live is not None:
            self.live.tell_moved(player.player_id, moved_to, table_id_of(self._tournament_id, moved_to.table))
        self._follow()

    def mark(self, seat: int, *, away: bool) -> None:
        if away:
            self._directed.away.add(seat)
        else:
            self._directed.away.discard(seat)
        self._follow()

    def show(self, chips: Mapping[int, int], notice: Message | None) -> None:
        self._directed.chips = dict(chips)
        self._directed.notice = None if notice is None else packed(notice)
        if self.live is not None:
            self.live.tell_chips()

    async def play(self, hand: HandToPlay) -> None:
        if self._directed.is_closed:
            return
        self._directed.hand, self._directed.held = hand, ""
        self._follow()
        self._begun.set()

    async def hold(self, why: str) -> None:
        if not self._directed.is_closed:
            self._directed.held = why
            self._follow()
            self._begun.set()

    async def close(self) -> None:
        self._directed.held, self._directed.hand = CLOSED, None
        self._follow()
        self._begun.set()
        self._hurried.set()

    def _follow(self) -> None:
        if self.live is not None:
            self.live.follow()

    # -- its life ----------------------------------------------------------------------------------------------------

    def hand_over(self) -> None:
        """Lets the next owner go on: a hand under way stops between two decisions."""
        self._is_leaving = True
        self._hurried.set()
        if self.live is not None:
            self.live.hand_over()

    def _follow_handover(self, live: LiveChipTable[Bets, Outcome]) -> None:
        """Lets a table leave that was just being opened when it was to be handed over."""
        if self._is_leaving:
            live.hand_over()

    def hurry(self) -> None:
        """Has a table that could not be opened be tried again at once."""
        self._hurried.set()

    async def run(self) -> None:
        """Plays until the table is closed or handed over; raises `StaleOwner` when another process has taken it."""
        await self._begun.wait()
        pause_s = FIRST_PAUSE_S
        while not self._is_leaving:
            try:
                live = self.live = await self._open_live(self._directed)
                self._follow_handover(live)
                await live.run()
            except StaleOwner:
                raise
            except UnreadableRound as unreadable:
                # The cause, for an operator; it never names a card (G7).
                extra = {"table_id": self.table_id, "error": str(unreadable)}
                _log.error("a dealt hand cannot be read: its table waits", extra=extra)
            except Exception:  # noqa: BLE001 - whatever it was, the other tables play on (G9)
                _log.exception("a table has failed", extra={"table_id": self.table_id})
            else:
                return
            finally:
                self.live = None
            self._hurried.clear()
            await background.wait_for_event(self._hurried, pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
