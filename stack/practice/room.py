"""All of practice together: the bots with their styles, the table and the tournaments that they play at."""

from __future__ import annotations

import asyncio
from random import Random, SystemRandom

import aiohttp

from services.kit.access.identity import DEMO, DEMO_ID_PREFIX, OPERATOR
from stack.issuer import DevelopmentIssuer
from stack.platform_client import PlatformClient, Route
from stack.practice.bot import Bot, Tokens
from stack.practice.cash_table import PracticeTable
from stack.practice.pace import Pace
from stack.practice.settings import PracticeSettings
from stack.practice.sit_and_go import PracticeSitAndGo
from stack.practice.strategy import Style

# Long enough for every process of the platform to start again.
ANSWER_WITHIN_S = 30.0
OPERATOR_NAME = "practice"
# Guests with ids that stay: no account for money is ever opened for them, and nobody can log in as one of them.
STYLES = {
    f"{DEMO_ID_PREFIX}practice1": Style(looseness=-0.01, aggression=0.6, bluffing=0.06),
    f"{DEMO_ID_PREFIX}practice2": Style(looseness=0.03, aggression=0.4, bluffing=0.05),
    f"{DEMO_ID_PREFIX}practice3": Style(looseness=0.02, aggression=0.75, bluffing=0.14),
    f"{DEMO_ID_PREFIX}practice4": Style(looseness=-0.03, aggression=0.5, bluffing=0.04),
    f"{DEMO_ID_PREFIX}practice5": Style(looseness=0.0, aggression=0.65, bluffing=0.1),
}


async def practise(settings: PracticeSettings) -> None:
    """Keeps the practice table and the practice sit & go until cancelled."""
    chance = Random(SystemRandom().getrandbits(64) if settings.seed is None else settings.seed)  # noqa: S311 - no card

    async def gateway_url(_: int) -> str:
        return settings.gateway

    # Each bot has a connection for each table that it plays at.
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session, asyncio.TaskGroup() as tasks:
        route = Route(session, gateway_url, ANSWER_WITHIN_S)
        issuer = DevelopmentIssuer(settings.issuer)
        pace = Pace(Random(chance.getrandbits(64)), settings.speed)  # noqa: S311
        operator = PlatformClient(route, Tokens(issuer, OPERATOR, OPERATOR_NAME))
        bots = [
            Bot(name, style, route, Tokens(issuer, DEMO, name), Random(chance.getrandbits(64)), pace)  # noqa: S311
            for name, style in STYLES.items()
        ]
        tasks.create_task(PracticeTable(route, operator, bots, chance, pace).run())
        tasks.create_task(PracticeSitAndGo(operator, bots, pace).run())
