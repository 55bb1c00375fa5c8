"""Replays every round that a platform has played, and compares it with the journal and the ledger."""

from __future__ import annotations

import asyncio

from tests.processes.databases import connect_asyncpg
from tests.service.roulette.platform import RoulettePlatform

CONCURRENT_REPLAYS = 20


async def rounds_played(platform: RoulettePlatform) -> list[str]:
    """Every round that has ended, at any table."""
    connection = await connect_asyncpg(platform.roulette.database_url)
    try:
        rows = await connection.fetch("SELECT round_id FROM rounds JOIN endings USING (round_no) ORDER BY round_no")
    finally:
        await connection.close()
    return [row[0] for row in rows]


async def differences(platform: RoulettePlatform) -> list[str]:
    """The differences that the replays find, one sentence each."""
    found: list[str] = []
    round_ids = await rounds_played(platform)
    async with platform.roulette.client() as client:
        for first in range(0, len(round_ids), CONCURRENT_REPLAYS):
            answers = await asyncio.gather(
                *(client.replay(each) for each in round_ids[first : first + CONCURRENT_REPLAYS])
            )
            for answer in answers:
                found += [f"{answer.round.round_id}: {difference}" for difference in answer.differences]
    return found
