"""Two replicas of the blackjack: one owns the tables, the other takes them over."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import grpc

from tests.processes.blackjack import BlackjackClient, BlackjackProcess
from tests.processes.databases import connect_asyncpg
from tests.service.blackjack.platform import BlackjackDriver
from tests.service.game_driver import TIMEOUT_S, SeatedPlayer
from tests.service.refusals import refusal_of

_TAKEN_SEATS = "SELECT seat FROM seats WHERE left_at IS NULL"


@dataclass
class TwoReplicas:
    """Two replicas of the blackjack; the driver speaks with the one that owns the table."""

    driver: BlackjackDriver
    replicas: list[BlackjackProcess]
    clients: list[BlackjackClient]

    @property
    def owner(self) -> BlackjackProcess:
        return self.replicas[self.clients.index(self.driver.blackjack)]

    async def seats_on_record(self, *seats: int) -> None:
        """Waits until just these seats are on record as taken: that is written behind the table's back."""
        connection = await connect_asyncpg(self.owner.database_url)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                while {row["seat"] for row in await connection.fetch(_TAKEN_SEATS)} != {*seats}:
                    await asyncio.sleep(0.01)
        finally:
            await connection.close()

    async def follow(self, *players: SeatedPlayer) -> None:
        """Waits until the other replica owns the players' tables, and speaks with it from then on."""
        other = next(client for client in self.clients if client is not self.driver.blackjack)
        for player in players:
            await _wait_until_owned(other, player)
        self.driver.blackjack = other


async def _wait_until_owned(client: BlackjackClient, player: SeatedPlayer) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            try:
                await client.table(player.player_id, player.table_id)
            except grpc.aio.AioRpcError as refused:
                if refusal_of(refused).reason not in {"TABLE_ELSEWHERE", "UNAVAILABLE"}:
                    raise
                await asyncio.sleep(0.05)
            else:
                return
