"""Keeps the facts of tournaments in the journal's database, in their order, and what players asked before they paid.

Every write is fenced by the epoch of the writer's lease (G8): it holds a share lock on the placement until its commit.
A fact that is there already is not written twice, so a write whose commit was not acknowledged is repeated.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.database.postgresql import DATABASE_FAILURES
from services.kit.paging import Page, PageRequest
from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.tournament_entries import JournalledFact, JournalledRequest, KeptSummary

# The pause after a failed attempt, doubled each time up to the longest one (G11).
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")

_FENCE = text("SELECT epoch FROM placements WHERE placement_id = :tournament_id FOR SHARE")
_FACTS = text("""
SELECT number, at_ms, fact, entropy, player_id, request_id, answer FROM tournament_facts
WHERE tournament_id = :tournament_id ORDER BY number
""")
_FACT = text("""
SELECT epoch, at_ms, fact, entropy FROM tournament_facts WHERE tournament_id = :tournament_id AND number = :number
""")
_INSERT_FACT = text("""
INSERT INTO tournament_facts (tournament_id, number, epoch, at_ms, fact, entropy, player_id, request_id, answer)
VALUES (:tournament_id, :number, :epoch, :at_ms, :fact, :entropy, :player_id, :request_id, :answer)
""")
_REQUESTS = text("""
SELECT player_id, request_id, command_digest, account_id, pay_in_id, fact FROM tournament_requests
WHERE tournament_id = :tournament_id
""")
_REQUEST = text("""
SELECT player_id, request_id, command_digest, account_id, pay_in_id, fact FROM tournament_requests
WHERE tournament_id = :tournament_id AND player_id = :player_id AND request_id = :request_id
""")
_INSERT_REQUEST = text("""
INSERT INTO tournament_requests (tournament_id, player_id, request_id, epoch, command_digest, account_id, pay_in_id,
                                 fact, asked_at)
VALUES (:tournament_id, :player_id, :request_id, :epoch, :command_digest, :account_id, :pay_in_id, :fact, :asked_at)
""")
_KEEP_SUMMARY = text("""
INSERT INTO tournament_summaries (tournament_id, epoch, mode, phase, closed, summary, kept_at)
VALUES (:tournament_id, :epoch, :mode, :phase, :closed, :summary, :kept_at)
ON CONFLICT (tournament_id) DO UPDATE
    SET epoch = :epoch, phase = :phase, closed = :closed, summary = :summary, kept_at = :kept_at
""")
_SUMMARY = text("SELECT summary FROM tournament_summaries WHERE tournament_id = :tournament_id AND closed")
_CLOSED = text("SELECT tournament_id, phase FROM tournament_summaries WHERE closed")
_LIST = text("""
SELECT tournament_no, summary FROM tournament_summaries
WHERE (:mode = 0 OR mode = :mode) AND (:phase = 0 OR phase = :phase)
  AND (:player_id = '' OR EXISTS (
      SELECT FROM tournament_facts WHERE tournament_facts.player_id = :player_id
         AND tournament_facts.tournament_id = tournament_summaries.tournament_id))
  AND tournament_no < CAST(:before AS bigint)
ORDER BY tournament_no DESC LIMIT :rows
""")


class FactsDiffer(Exception):
    """Another fact has this number: two owners have written, which the fences exclude, or a backup was restored."""


class PostgresFacts:
    """A `FactJournal` in the database of the game's journal."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def facts(self, tournament_id: str) -> list[JournalledFact]:
        async with self._engine.connect() as connection:
            rows = await connection.execute(_FACTS, {"tournament_id": tournament_id})
            return [JournalledFact(*row) for row in rows]

    async def write_fact(self, tournament_id: str, epoch: int, fact: JournalledFact) -> None:
        values = {
            "tournament_id": tournament_id,
            "number": fact.number,
            "epoch": epoch,
            "at_ms": fact.at_ms,
            "fact": fact.fact,
            "entropy": fact.entropy,
            "player_id": fact.player_id,
            "request_id": fact.request_id,
            "answer": fact.answer,
        }

        async def write(connection: AsyncConnection) -> None:
            row = (await connection.execute(_FACT, values)).one_or_none()
            if row is None:
                await connection.execute(_INSERT_FACT, values)
            elif (row.at_ms, row.fact, row.entropy) != (fact.at_ms, fact.fact, fact.entropy):
                raise FactsDiffer(f"fact {fact.number} of {tournament_id} is another one")

        await self._fenced(tournament_id, epoch, write)

    async def requests(self, tournament_id: str) -> list[JournalledRequest]:
        async with self._engine.connect() as connection:
            rows = await connection.execute(_REQUESTS, {"tournament_id": tournament_id})
            return [JournalledRequest(*row) for row in rows]

    async def write_request(
        self, tournament_id: str, epoch: int, request: JournalledRequest, asked_at: datetime
    ) -> JournalledRequest:
        values = {
            "tournament_id": tournament_id,
            "player_id": request.player_id,
            "request_id": request.request_id,
            "epoch": epoch,
            "command_digest": request.command_digest,
            "account_id": request.account_id,
            "pay_in_id": request.pay_in_id,
            "fact": request.fact,
            "asked_at": asked_at,
        }

        async def write(connection: AsyncConnection) -> JournalledRequest:
            row = (await connection.execute(_REQUEST, values)).one_or_none()
            if row is not None:
                return JournalledRequest(*row)
            await connection.execute(_INSERT_REQUEST, values)
            return request

        return await self._fenced(tournament_id, epoch, write)

    async def keep_summary(self, tournament_id: str, epoch: int, kept: KeptSummary) -> None:
        values = {
            "tournament_id": tournament_id,
            "epoch": epoch,
            "mode": kept.mode,
            "phase": kept.phase,
            "closed": kept.closed,
            "summary": kept.summary,
            "kept_at": kept.at,
        }

        async def write(connection: AsyncConnection) -> None:
            await connection.execute(_KEEP_SUMMARY, values)

        await self._fenced(tournament_id, epoch, write)

    async def closed(self) -> dict[str, int]:
        """Returns the tournaments that nobody runs any more, each with its last phase."""
        async with self._engine.connect() as connection:
            return {row.tournament_id: row.phase for row in await connection.execute(_CLOSED)}

    async def closed_summary(self, tournament_id: str) -> bytes | None:
        """Returns how a tournament ended that nobody runs any more; None if somebody does."""
        async with self._engine.connect() as connection:
            return (await connection.execute(_SUMMARY, {"tournament_id": tournament_id})).scalar_one_or_none()

    async def summaries(self, mode: int, phase: int, player_id: str, requested: PageRequest) -> Page[bytes]:
        """Returns how tournaments stand, newest first; 0 and an empty player choose all."""
        values = {
            "mode": mode,
            "phase": phase,
            "player_id": player_id,
            "before": requested.before,
            "rows": requested.row_limit,
        }
        async with self._engine.connect() as connection:
            rows = (await connection.execute(_LIST, values)).all()
        return requested.page([(row.tournament_no, bytes(row.summary)) for row in rows])

    async def _fenced(
        self, tournament_id: str, epoch: int, write: Callable[[AsyncConnection], Awaitable[_Result]]
    ) -> _Result:
        """Writes in one transaction as the owner; tries again for as long as the database is away."""
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                async with self._engine.begin() as connection:
                    owner = (await connection.execute(_FENCE, {"tournament_id": tournament_id})).scalar_one_or_none()
                    if owner != epoch:
                        raise StaleOwner
                    return await write(connection)
            except DATABASE_FAILURES as failed:
                if str(getattr(getattr(failed, "orig", failed), "sqlstate", "") or "")[:2] == "23":
                    # A constraint: the fact contradicts what is recorded, and repeating it does not help.
                    raise
                _log.warning("a fact of a tournament is written again", extra={"error": str(failed)[:300]})
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
