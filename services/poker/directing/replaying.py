"""Replays the facts of a tournament beside everything else that its process does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from services.kit.table.journal.tournament_entries import JournalledFact
from services.poker.directing.course import Course, Step, replay

# After so many facts others have their turn: a process whose heartbeat stops for seconds loses its tables, and the next
# owner, which has to replay as much, would lose them as well.
FACTS_AT_A_TIME = 10


async def replay_beside(course: Course, facts: Sequence[JournalledFact]) -> tuple[Course, list[Step]]:
    """Returns the course after all facts, and each of its steps; the process does other work in between."""
    steps: list[Step] = []
    for first in range(0, len(facts), FACTS_AT_A_TIME):
        course, more = replay(course, facts[first : first + FACTS_AT_A_TIME])
        steps += more
        await asyncio.sleep(0)
    return course, steps
