"""The bots of one tournament, until it is over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from services.kit import background
from stack.platform_client import Json, PlatformClient, Refused, Unanswered
from stack.practice.bot import Bot
from stack.practice.pace import Pace

# How often registrations are looked at, and a tournament under way.
LOOK_EVERY_S = 2.0
OUT = frozenset({"ENTRY_STANDING_OUT", "ENTRY_STANDING_WITHDRAWN"})
ENTRIES = 500

_log = logging.getLogger(__name__)
# A bot's name, its table and its seat there.
_Place = tuple[str, str, int]


async def entries_of(operator: PlatformClient, tournament_id: str) -> list[Json]:
    """Returns who has registered for a tournament, as its operator sees it."""
    answer = await operator.call(f"/v1/tournaments/{tournament_id}/players?page_size={ENTRIES}")
    found: list[Json] = answer.get("players") or []
    return found


class TournamentPlay:
    """Has bots play wherever a tournament seats them, and hurry once only bots are left."""

    def __init__(self, tournament_id: str, operator: PlatformClient, bots: Mapping[str, Bot], pace: Pace) -> None:
        self._id = tournament_id
        self._operator = operator
        self._bots = bots
        self._pace = pace
        self._playing: dict[_Place, asyncio.Task[None]] = {}
        self._is_alone = False

    async def run(self) -> None:
        """Plays until the tournament is over."""
        _log.info("a practice sit & go is played", extra={"tournament": self._id})
        try:
            while not await self._is_over():
                await self._pace.wait(LOOK_EVERY_S)
        finally:
            await background.cancel_and_wait(list(self._playing.values()))

    async def _is_over(self) -> bool:
        """Looks at the tournament, and sees to it that each bot plays where it sits now."""
        try:
            shown = await self._operator.call(f"/v1/tournaments/{self._id}")
            entries = await entries_of(self._operator, self._id)
        except (Refused, Unanswered):
            # Nobody runs it for a moment.
            return False
        if shown["tournament"].get("ended_at"):
            return True
        left = [each for each in entries if each["standing"] not in OUT]
        seated = [each for each in left if each["player_id"] in self._bots and each["table_id"]]
        self._is_alone = all(each["player_id"] in self._bots for each in left)
        await self._take_places({(each["player_id"], each["table_id"], int(each["seat"])) for each in seated})
        for each in seated:
            if each.get("away"):
                await self._come_back(self._bots[each["player_id"]])
        return False

    async def _take_places(self, places: set[_Place]) -> None:
        for place in self._playing.keys() - places:
            await background.cancel_and_wait([self._playing.pop(place)])
        for name, table_id, seat in places - self._playing.keys():
            playing = self._bots[name].play(table_id, seat, hurried=lambda: self._is_alone)
            self._playing[name, table_id, seat] = asyncio.create_task(playing)
        for task in self._playing.values():
            if task.done():
                # A fault of the program is for the log, and a fresh process.
                task.result()

    async def _come_back(self, bot: Bot) -> None:
        """Plays again after hands that were left to the clock, as while this process was not there."""
        try:
            await bot.client.call(f"/v1/tournaments/{self._id}:setPresence", {"away": False})
        except (Refused, Unanswered):
            # It is out by now, or the next look sees to it.
            return
