"""The practice sit & go: one is always open, bots fill it when a person has registered, and play it to its end."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from urllib.parse import quote

from services.kit import background
from stack.platform_client import Json, PlatformClient, Refused, Unanswered
from stack.practice.bot import Bot
from stack.practice.pace import Pace
from stack.practice.tournament_play import LOOK_EVERY_S, OUT, TournamentPlay, entries_of

PREFIX = "practice-sng-"
_ID = re.compile(rf"{PREFIX}([0-9]{{1,9}})")
SEATS = 6
LEVEL_S = 120
SMALL_BLINDS = (10, 15, 25, 50, 75, 100, 150, 200, 300, 500)
CONFIGURATION: Json = {
    "name": {"pt": "Sit & go de treino", "en": "Practice sit & go"},
    "mode": "MODE_DEMO",
    "rules": {
        "regulation": "806/2015",
        "limit": "LIMIT_NO_LIMIT",
        "price": {"prize_cents": "1000"},
        "start": "TOURNAMENT_START_ON_FULL",
        "seats": SEATS,
        "max_players": SEATS,
        "starting_stack": 1_500,
        "levels": [{"small_blind": small, "big_blind": 2 * small, "seconds": LEVEL_S} for small in SMALL_BLINDS],
        "payouts": [{"entries_up_to": SEATS, "bps": [6_500, 3_500]}],
        "decision_time_seconds": 20,
    },
}
APPROVAL = "practice"
# One is created as soon as the last one is full; with so many under way the next one waits (G11).
RUNNING_LIMIT = 4
PAGE = 500

_log = logging.getLogger(__name__)


class PracticeSitAndGo:
    """Creates the tournaments, registers bots for them, and has them play; all that counts is on record elsewhere."""

    def __init__(self, operator: PlatformClient, bots: Sequence[Bot], pace: Pace) -> None:
        self._operator = operator
        self._bots = {bot.name: bot for bot in bots}
        self._pace = pace
        self._open = ""
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Keeps one open until cancelled."""
        try:
            while True:
                try:
                    await self._look()
                except (Refused, Unanswered) as failed:
                    _log.info("the practice sit & go was not kept", extra={"why": str(failed)})
                    # Another look finds out what is there now.
                    self._open = ""
                await self._pace.wait(LOOK_EVERY_S)
        finally:
            await background.cancel_and_wait(list(self._running.values()))

    async def _look(self) -> None:
        for each, task in list(self._running.items()):
            if task.done():
                del self._running[each]
                # A fault of the program is for the log, and a fresh process.
                task.result()
        if not self._open:
            await self._find()
        if not self._open and len(self._running) < RUNNING_LIMIT:
            self._open = await self._create()
        if self._open:
            await self._fill(self._open)

    async def _find(self) -> None:
        """Finds the tournaments that an earlier process has left: the open one, and those that are played."""
        for each in await self._listed("TOURNAMENT_PHASE_RUNNING"):
            self._follow(each)
        registering = [each for each in await self._listed("TOURNAMENT_PHASE_REGISTERING") if each not in self._running]
        self._open = registering[-1] if registering else ""

    async def _listed(self, phase: str = "") -> list[str]:
        """The ids of practice tournaments, newest first."""
        found: list[str] = []
        page = ""
        while True:
            path = f"/v1/tournaments?mode=MODE_DEMO&phase={phase or 'TOURNAMENT_PHASE_UNSPECIFIED'}&page_size={PAGE}"
            answer = await self._operator.call(f"{path}&page_token={quote(page)}")
            ids = [str(each["tournament_id"]) for each in answer.get("tournaments") or ()]
            found += [each for each in ids if _ID.fullmatch(each)]
            page = answer.get("next_page_token") or ""
            # Of all of them the newest is enough to count on from.
            if not page or (found and not phase):
                return found

    async def _create(self) -> str:
        """Creates the next one, as its operator; a repeat finds the one that there is."""
        numbers = [int(found[1]) for each in await self._listed() if (found := _ID.fullmatch(each))]
        number = max(numbers, default=0) + 1
        tournament_id = f"{PREFIX}{number}"
        body = {"tournament_id": tournament_id, "configuration": CONFIGURATION, "approval_reference": APPROVAL}
        created = await self._operator.call("/v1/tournaments", body, request_id=tournament_id)
        _log.info("a practice sit & go is open", extra={"tournament": tournament_id})
        return str(created["tournament"]["tournament_id"])

    async def _fill(self, tournament_id: str) -> None:
        """Registers one bot after the other while a person waits, until all places are taken."""
        while True:
            entries = await self._entries(tournament_id)
            registered = {each["player_id"] for each in entries if each["standing"] == "ENTRY_STANDING_REGISTERED"}
            if any(each["standing"] not in {*OUT, "ENTRY_STANDING_REGISTERED"} for each in entries):
                self._open = ""
                self._follow(tournament_id)
                return
            missing = [bot for name, bot in self._bots.items() if name not in registered]
            if not registered - self._bots.keys() or not missing:
                return
            await self._pace.arrive()
            try:
                await missing[0].client.call(f"/v1/tournaments/{tournament_id}:register", {})
            except Refused as refused:
                if refused.reason not in {"REGISTRATION_CLOSED", "ALREADY_REGISTERED", "TOURNAMENT_OVER"}:
                    raise

    def _follow(self, tournament_id: str) -> None:
        if tournament_id not in self._running:
            playing = TournamentPlay(tournament_id, self._operator, self._bots, self._pace)
            self._running[tournament_id] = asyncio.create_task(playing.run())

    async def _entries(self, tournament_id: str) -> list[Json]:
        return await entries_of(self._operator, tournament_id)
