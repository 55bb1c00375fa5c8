"""Examines the books of a casino: every round it has played is computed again and held against journal and ledger."""

from __future__ import annotations

import asyncio

import asyncpg

from tests.service.roulette.platform import RoulettePlatform

CONCURRENT_REPLAYS = 20


async def rounds_played(casino: RoulettePlatform) -> list[str]:
    """Every round that has ended, at any table."""
    connection = await asyncpg.connect(casino.roulette.database_url.replace("+asyncpg", ""))
    try:
        rows = await connection.fetch("SELECT round_id FROM rounds JOIN endings USING (round_no) ORDER BY round_no")
    finally:
        await connection.close()
    return [row[0] for row in rows]


async def differences(casino: RoulettePlatform) -> list[str]:
    """What does not agree, in words."""
    found: list[str] = []
    played = await rounds_played(casino)
    async with casino.roulette.client() as client:
        for first in range(0, len(played), CONCURRENT_REPLAYS):
            answers = await asyncio.gather(
                *(client.replay(each) for each in played[first : first + CONCURRENT_REPLAYS])
            )
            for answer in answers:
                found += [f"{answer.round.round_id}: {difference}" for difference in answer.differences]
    return found
