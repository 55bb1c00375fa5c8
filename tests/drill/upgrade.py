"""Replaces an earlier release by this one under play, as docs/operating.md says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.drill.checks.findings import Check
from tests.drill.platform.processes import DrilledPlatform
from tests.processes.databases import connect_asyncpg

# Rounds that became void with money on the felt: bets that were all taken back do not count.
_VOID = """
SELECT round_id FROM rounds WHERE state = 3 AND EXISTS (
  SELECT FROM stakes WHERE stakes.round_no = rounds.round_no AND placed_cents > cancelled_cents)
"""
_ROUNDS = "SELECT count(*) FROM rounds"


async def upgrade(platform: DrilledPlatform, tell: Callable[[str], None]) -> Check:
    """Migrates while the earlier release serves, then replaces its processes one after the other."""
    check = Check("a new release replaces the earlier one, and no round becomes void", "G4, G9", unit="rounds")
    for database in platform.databases:
        tell(f"migrating {database}")
        await asyncio.to_thread(platform.migrate, database)
    for name in platform.services:
        platform.hurt.add(name)
        status = await platform.stop(name)
        if status:
            check.violate(f"{name} of the earlier release stopped with status {status}")
        platform.be_of_this_release(name)
        platform.start(name)
        await platform.ready(name)
        platform.hurt.discard(name)
        tell(f"{name} is of this release")
    ledger = await connect_asyncpg(platform.ledger_url)
    try:
        check.looked_at = await ledger.fetchval(_ROUNDS)
        for row in await ledger.fetch(_VOID):
            check.violate(f"{row['round_id']} became void")
    finally:
        await ledger.close()
    return check
