"""The practice table for cash: bots sit down when a person does, and leave when the last one has left."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from random import Random

from services.kit import background
from stack.platform_client import Json, PlatformClient, Refused, Route, Unanswered
from stack.practice.attendance import Attendance, least_lonely_seat, wanted_bots
from stack.practice.bot import Bot
from stack.practice.pace import Pace
from stack.practice.table_feed import SNAPSHOT, TableFeed

TABLE_ID = "practice-demo"
# Renamed with the configuration: the platform takes each command once.
VERSION = 1
CONFIGURATION: Json = {
    "game": "poker",
    "regulation": "806/2015",
    "mode": "MODE_DEMO",
    "play": "PLAY_POKER",
    "name": {"pt": "Mesa de treino", "en": "Practice table"},
    "seats": 6,
    "decision_ms": 20_000,
    "result_shown_ms": 4_000,
    "dealing_ms": 100,
    "rules": {
        "@type": "type.googleapis.com/feltro.poker.v1.SpecificRules",
        "big_blind_cents": "100",
        "cave_min_cents": "4000",
        "cave_max_cents": "10000",
        "limit": "LIMIT_NO_LIMIT",
        "entry_mode": "ENTRY_MODE_IMMEDIATE",
        # A player who comes back may buy in for any amount: these are credits.
        "rathole_window_min": 0,
    },
}
APPROVAL = "practice"
# A cave of fewer big blinds is filled up.
LEAST_BLINDS = 30
# A command that failed, or a seat that somebody else took, is tried again after a while.
AGAIN_S = 2.0

_log = logging.getLogger(__name__)


class Seat:
    """A bot at the table: decides in its turns, and keeps its cave filled."""

    def __init__(self, bot: Bot, seat: int, chance: Random) -> None:
        self.bot = bot
        self.seat = seat
        self.is_leaving = False
        self._chance = chance
        self._looks = asyncio.Event()
        self._looks.set()
        self._task = asyncio.create_task(self._stay())

    async def _stay(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.bot.play(TABLE_ID, self.seat, self._receive))
            while True:
                await self._looks.wait()
                self._looks.clear()
                try:
                    await self._look_after_cave()
                except (Refused, Unanswered) as failed:
                    _log.info("a cave was not filled", extra={"bot": self.bot.name, "why": str(failed)})
                    await self._after_failure(failed)

    async def _after_failure(self, failed: Refused | Unanswered) -> None:
        if isinstance(failed, Refused) and failed.reason == "INSUFFICIENT_FUNDS":
            # A guest who enters with too few credits for a cave gets new ones.
            with suppress(Refused, Unanswered):
                await self.leave()
        await asyncio.sleep(AGAIN_S)

    async def leave(self) -> None:
        """Ends the bot's session: it plays on until the hand under way is over, and its seat falls free."""
        await self.bot.client.call(f"/v1/players/{self.bot.name}/sessions:end", {})
        self.is_leaving = True
        _log.info("a bot leaves", extra={"bot": self.bot.name, "seat": self.seat})

    def _receive(self, name: str, facts: Json) -> None:
        """Looks after the cave when it was changed."""
        for cave in facts.get("caves") or () if name in {SNAPSHOT, "caves_changed"} else ():
            if int(cave["seat"]) == self.seat and _needs_care(cave):
                self._looks.set()

    async def _look_after_cave(self) -> None:
        shown = await self.bot.client.call(f"/v1/tables/{TABLE_ID}")
        own = shown.get("own_seat")
        if not own or self.is_leaving:
            return
        cave: Json = next((each for each in shown["table"].get("caves") or () if each["seat"] == own["seat"]), {})
        least, most = (int(own["cave"].get(f"buy_in_{bound}_cents") or 0) for bound in ("min", "max"))
        waiting = int(own["cave"].get("waiting_cents") or 0)
        if most and not waiting and _needs_care(cave):
            blind = int(CONFIGURATION["rules"]["big_blind_cents"])
            cents = self._chance.randint(max(least, most // 2) // blind, most // blind) * blind
            await self.bot.client.call(f"/v1/poker/tables/{TABLE_ID}:buyIn", {"amount_cents": max(least, cents)})
        if cave.get("standing") == "CAVE_STANDING_AWAY":
            body = {"presence": "PRESENCE_PLAYING"}
            await self.bot.client.call(f"/v1/poker/tables/{TABLE_ID}:setPresence", body)

    def verify(self) -> None:
        """Raises what the bot has failed with: a fault of its program is for the log, and a fresh process."""
        if self._task.done():
            self._task.result()

    async def close(self) -> None:
        await background.cancel_and_wait([self._task])


class PracticeTable:
    """The table and its bots; who sits is on record at the platform, not here."""

    def __init__(self, route: Route, operator: PlatformClient, bots: Sequence[Bot], chance: Random, pace: Pace) -> None:
        self._feed = TableFeed(route, PlatformClient(route, None), TABLE_ID)
        self._operator = operator
        self._bots = bots
        self._chance = chance
        self._pace = pace
        self._attendance = Attendance()
        self._changed = asyncio.Event()
        self._seats: dict[int, Seat] = {}

    async def run(self) -> None:
        """Keeps the table until cancelled."""
        await self._configure()
        following = asyncio.create_task(self._feed.follow(self._receive))
        try:
            await self._find_seats()
            while True:
                await self._changed.wait()
                self._changed.clear()
                try:
                    await self._adjust()
                except (Refused, Unanswered) as failed:
                    _log.info("the practice table was not kept", extra={"why": str(failed)})
                    self._changed.set()
                    await self._pace.wait(AGAIN_S)
        finally:
            await background.cancel_and_wait([following])
            for seat in self._seats.values():
                await seat.close()

    async def _configure(self) -> None:
        """Lays the table down as its operator; what is in force already stays."""
        body = {"configuration": CONFIGURATION, "approval_reference": APPROVAL}
        path = f"/v1/tables/{TABLE_ID}/configurations"
        while True:
            try:
                await self._operator.call(path, body, request_id=f"{TABLE_ID}-{VERSION}")
            except Refused as refused:
                # An earlier release has laid it down in other words: it is a practice table all the same.
                if refused.reason == "REQUEST_REUSED":
                    return
                raise
            except Unanswered:
                continue
            return

    async def _find_seats(self) -> None:
        """Finds the bots that sit at the table since before this process."""
        for bot in self._bots:
            try:
                shown = await bot.client.call(f"/v1/tables/{TABLE_ID}")
            except (Refused, Unanswered):
                continue
            if own := shown.get("own_seat"):
                self._seats[int(own["seat"])] = Seat(bot, int(own["seat"]), self._chance)
        self._changed.set()

    def _receive(self, name: str, facts: Json) -> None:
        if self._attendance.receive(name, facts, self._seats, time.monotonic()):
            self._changed.set()

    async def _adjust(self) -> None:
        """Has one bot more or less sit, if the table needs it, and then looks again."""
        for seat in [seat for seat in self._seats if seat not in self._attendance.taken]:
            # The platform has ended its session, or it has left.
            await self._seats.pop(seat).close()
        for seated in self._seats.values():
            seated.verify()
        people = self._attendance.people(self._seats, time.monotonic())
        wanted = wanted_bots(self._attendance.seats, people)
        staying = [seat for seat in self._seats.values() if not seat.is_leaving]
        if len(staying) < wanted:
            await self._pace.arrive()
            await self._sit_down()
        elif len(staying) > wanted:
            await self._pace.arrive()
            await staying[-1].leave()
            self._changed.set()

    async def _sit_down(self) -> None:
        seated = {seat.bot.name for seat in self._seats.values()}
        free = self._attendance.free_seats()
        bot = next((bot for bot in self._bots if bot.name not in seated), None)
        if bot is None or len(free) < 2:
            return
        wished = least_lonely_seat(free, self._attendance.taken, self._attendance.seats)
        entered = await bot.client.call(f"/v1/tables/{TABLE_ID}:enter", {"seat": wished})
        seat = int(entered["own_seat"]["seat"])
        self._attendance.taken.add(seat)
        self._seats[seat] = Seat(bot, seat, self._chance)
        self._changed.set()
        _log.info("a bot sat down", extra={"bot": bot.name, "seat": seat})


def _needs_care(cave: Mapping[str, object]) -> bool:
    """Whether a bot has to do something about its cave: fill it, or come back."""
    short = int(str(cave.get("cave_cents") or 0)) < LEAST_BLINDS * int(CONFIGURATION["rules"]["big_blind_cents"])
    return short or cave.get("standing") in {"CAVE_STANDING_SHORT", "CAVE_STANDING_AWAY"}
