"""Sends each player of a hand their private view whenever it changes; a player who missed it reads the table."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic

from google.protobuf.message import Message

from feltro.table.v1 import events_pb2, types_pb2
from services.kit import background
from services.kit.refusal import Refused
from services.kit.table.encoding import packed
from services.kit.table.events.own_views import OwnViewPublisher
from services.kit.table.game import Bets, Outcome
from services.kit.table.turns.hand import Hand
from services.kit.table.wallet.client import WalletFailed, WalletUnanswered

# Own views are made right after the answers and events of the same moment have left, which players need first.
TELL_AFTER_S = 0.003

# More than any player owns: whether there is anything to decide at all.
_ANY_AMOUNT_CENTS = 2**62

_log = logging.getLogger(__name__)


class OwnViews(Generic[Bets, Outcome]):
    """What each player of one hand alone may see and decide."""

    def __init__(
        self,
        table_id: str,
        hand: Hand[Bets, Outcome],
        free_cents: Callable[[str], Awaitable[int]],
        publisher: OwnViewPublisher,
    ) -> None:
        """`free_cents` reads how much money of a player is not staked."""
        self._table_id = table_id
        self._hand = hand
        self._free_cents = free_cents
        self._publisher = publisher
        self._told: dict[str, bytes] = {}
        self._telling: asyncio.Task[None] | None = None
        self._changed = False

    async def of_player(self, player_id: str) -> Message | None:
        """Returns what a player alone may see and decide now: a decision that costs more than they have is none."""
        if not self._may_decide(player_id):
            return None
        return self._hand.own_view(player_id, await self._free_cents(player_id))

    def tell(self) -> None:
        """Tells every player whose view has changed, while the round goes on."""
        self._changed = True
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def close(self) -> None:
        """Tells nobody anything more."""
        if self._telling is not None:
            await background.cancel_and_wait([self._telling])

    async def _tell(self) -> None:
        while self._changed:
            await asyncio.sleep(TELL_AFTER_S)
            self._changed = False
            asked = [player_id for player_id in self._hand.player_ids() if self._may_decide(player_id)]
            for player_id in [each for each in self._told if each not in asked]:
                self._tell_player(player_id, None)
            # Side by side: several may be asked the same question at once, and each of their accounts is read.
            await background.for_each(asked, self._tell_asked, len(asked))

    def _may_decide(self, player_id: str) -> bool:
        return self._hand.own_view(player_id, _ANY_AMOUNT_CENTS) is not None

    async def _tell_asked(self, player_id: str) -> None:
        try:
            view = self._hand.own_view(player_id, await self._free_cents(player_id))
        except (Refused, WalletFailed, WalletUnanswered) as failed:
            _log.warning("a player reads their decisions themselves", extra={"error": str(failed)})
        else:
            self._tell_player(player_id, view)

    def _tell_player(self, player_id: str, view: Message | None) -> None:
        if view is None and not self._told.get(player_id):
            return
        turn = self._hand.turn_message()
        # Players in turn get the same view again at the next turn: it asks another question.
        asked = 0 if turn is None or not self._is_asked(player_id, turn) else turn.turn
        payload = b"" if view is None else b"%d %b" % (asked, view.SerializeToString(deterministic=True))
        if self._told.get(player_id, b"") == payload:
            return
        self._told[player_id] = payload
        changed = events_pb2.OwnViewChanged(
            table_id=self._table_id,
            round_id=self._hand.round_id,
            turn=0 if turn is None else turn.turn,
            own_view=None if view is None else packed(view),
            player_id=player_id,
        )
        self._publisher.publish(changed)

    def _is_asked(self, player_id: str, turn: types_pb2.Turn) -> bool:
        return any(stake.seat in turn.seats for stake in self._hand.stakes_of(player_id))
