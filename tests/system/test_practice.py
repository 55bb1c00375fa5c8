"""Practice against bots as `make run` offers it: a hand at the table, and a whole sit & go whose bots are killed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import TypeVar

import aiohttp
import pytest

from stack.platform_client import Json, PlatformClient, Refused, Route
from stack.practice.bot import Bot
from stack.practice.cash_table import TABLE_ID
from stack.practice.pace import Pace
from stack.practice.room import STYLES
from stack.practice.sit_and_go import LEVEL_S, PREFIX, SEATS
from stack.practice.strategy import Style
from tests.processes.kill import kill
from tests.system.platform import TIMEOUT_S, Platform

pytestmark = pytest.mark.slow

Seen = TypeVar("Seen")

LOOK_S = 0.2
REGISTERING, RUNNING = "TOURNAMENT_PHASE_REGISTERING", "TOURNAMENT_PHASE_RUNNING"


@dataclass(slots=True)
class Guest:
    """A person without an account, who plays by a program."""

    bot: Bot
    operator: PlatformClient

    async def call(self, path: str, body: Json | None = None) -> Json:
        return await self.bot.client.call(path, body)

    async def table(self, table_id: str) -> Json:
        return await self.call(f"/v1/tables/{table_id}")

    async def tournament_table(self, table_id: str) -> Json | None:
        """Looks at a table of a tournament, which may end at any moment: then there is none."""
        try:
            return await self.table(table_id)
        except Refused as refused:
            if refused.reason == "TOURNAMENT_OVER":
                return None
            raise

    async def wait(self, look: Callable[[], Awaitable[Seen]], condition: Callable[[Seen], object]) -> Seen:
        """Waits until something is so, and returns it."""
        async with asyncio.timeout(TIMEOUT_S):
            while not condition(found := await look()):
                await asyncio.sleep(LOOK_S)
        return found

    async def skip_result(self, shown: Json, seconds: int) -> None:
        """Moves the clock of the tables on while nobody has to decide at the table that is shown."""
        if shown["table"]["phase"] == "PHASE_RESULT_SHOWN":
            body: Json = {"game": "poker", "by_ms": 1000 * seconds}
            await self.operator.call("/v1/development/tableClock:advance", body)

    async def practice(self, phase: str) -> list[str]:
        """The practice tournaments that stand here."""
        answer = await self.call(f"/v1/tournaments?mode=MODE_DEMO&phase={phase}")
        ids = [each["tournament_id"] for each in answer["tournaments"]]
        return [each for each in ids if each.startswith(PREFIX)]


@pytest.fixture
async def guest(platform: Platform) -> AsyncIterator[Guest]:
    async def gateway_url(_: int) -> str:
        return platform.url

    async with aiohttp.ClientSession() as session:
        route = Route(session, gateway_url, TIMEOUT_S)
        entered = await PlatformClient(route, None).call("/v1/demo:enter", {})
        # Plays anything, and fast.
        style = Style(looseness=0.25, aggression=1.0)
        pace = Pace(Random(1), speed=1000)
        bot = Bot(entered["player_id"], style, route, lambda: str(entered["token"]), Random(2), pace)
        operator_token = platform.token("operator", "back-office")
        yield Guest(bot, PlatformClient(route, lambda: operator_token))


async def test_bots_play_while_a_person_sits_and_leave_with_them(guest: Guest) -> None:
    idle = (await guest.table(TABLE_ID))["table"]
    assert (idle["seated"], idle["phase"]) == (0, "PHASE_IDLE")
    entered = await guest.call(f"/v1/tables/{TABLE_ID}:enter", {"seat": 2})
    await guest.call(f"/v1/poker/tables/{TABLE_ID}:buyIn", {"amount_cents": 5_000})
    async with asyncio.TaskGroup() as tasks:
        playing = tasks.create_task(guest.bot.play(TABLE_ID, entered["own_seat"]["seat"]))
        full = await guest.wait(lambda: guest.table(TABLE_ID), lambda shown: shown["table"]["seated"] == 4)
        free = [seat for seat in full["table"]["seats"] if not seat["taken"]]
        assert len(free) == 2, "there is room for more people"
        path = f"/v1/games/poker/players/{guest.bot.name}/rounds"
        await guest.wait(lambda: guest.call(path), _has_settled_hand)
        playing.cancel()
    await guest.call(f"/v1/players/{guest.bot.name}/sessions:end", {})

    async def emptier() -> Json:
        await guest.skip_result(await guest.table(TABLE_ID), 10)
        return await guest.table(TABLE_ID)

    left = await guest.wait(emptier, lambda shown: shown["table"]["seated"] == 0)
    await guest.wait(emptier, lambda shown: shown["table"]["phase"] == "PHASE_IDLE")
    assert left["table"]["caves"] == []


async def test_a_sit_and_go_is_played_to_its_end_whose_bots_are_killed(guest: Guest, platform: Platform) -> None:
    (tournament,) = (await guest.wait(lambda: _listed(guest, REGISTERING), lambda answer: answer["ids"]))["ids"]
    await guest.call(f"/v1/tournaments/{tournament}:register", {})

    async def shown() -> Json:
        return await guest.call(f"/v1/tournaments/{tournament}")

    begun = await guest.wait(shown, lambda answer: answer["tournament"]["phase"] == RUNNING)
    assert begun["tournament"]["entries"] == SEATS
    entry = (await guest.wait(shown, lambda answer: answer["own"]["entry"]["table_id"]))["own"]["entry"]
    table = entry["table_id"]
    async with asyncio.TaskGroup() as tasks:
        playing = tasks.create_task(guest.bot.play(table, entry["seat"]))
        # The next one is open to others at once; the lobby, a moment behind, may still list this one instead.
        following = await guest.wait(
            lambda: _listed(guest, REGISTERING), lambda answer: answer["ids"] and answer["ids"] != [tournament]
        )
        await guest.wait(
            lambda: guest.tournament_table(table), lambda answer: answer is None or answer["table"]["past_outcomes"]
        )
        killed = platform.process("practice")
        kill(killed)
        await asyncio.to_thread(platform.wait, lambda: platform.process_is_new("practice", killed.pid))

        async def played_on() -> Json:
            at_table = await guest.tournament_table(table)
            if at_table is not None:
                await guest.skip_result(at_table, LEVEL_S)
            return await shown()

        over = await guest.wait(played_on, lambda answer: answer["tournament"].get("ended_at"))
        playing.cancel()
    assert over["tournament"]["phase"] == "TOURNAMENT_PHASE_FINISHED"
    players = (await guest.operator.call(f"/v1/tournaments/{tournament}/players"))["players"]
    assert {each["player_id"] for each in players} == {guest.bot.name, *STYLES}
    assert [each["rank"] for each in players] == list(range(1, SEATS + 1))
    assert await guest.practice(REGISTERING) == following["ids"], "the same one is still open, and no other"


async def _listed(guest: Guest, phase: str) -> Json:
    return {"ids": await guest.practice(phase)}


def _has_settled_hand(answer: Json) -> bool:
    return any(each["round"]["state"] == "ROUND_STATE_SETTLED" for each in answer["rounds"])
