"""Keeps the facts of tournaments in the journal's database, in their order, and what players asked before they paid.

Every write is fenced by the epoch of the writer's lease (G8): it holds a share lock on the placement until its commit.
A fact that is there already is not written twice, so a write whose commit was not acknowledged is repeated.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.database.postgresql import DATABASE_FAILURES, DirectConnection
from services.kit.paging import Page, PageRequest
from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.tournament_entries import JournalledFact, JournalledRequest, KeptSummary

# The pause after a failed attempt, doubled each time up to the longest one (G11).
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0

_log = logging.getLogger(__name__)

_FACTS = text("""
SELECT number, at_ms, fact, entropy, player_id, request_id, answer FROM tournament_facts
WHERE tournament_id = :tournament_id ORDER BY number
""")
# A write is one statement, the lock on the placement included: each hand and each registration of a tournament waits
# for the one before it.
_WRITE_FACT = """
WITH owner AS (SELECT epoch FROM placements WHERE placement_id = $1 FOR SHARE), written AS (
    INSERT INTO tournament_facts (tournament_id, epoch, number, at_ms, fact, entropy, player_id, request_id, answer)
    SELECT $1, $2::bigint, $3::integer, $4::bigint, $5::bytea, $6::bytea, $7, $8, $9::bytea
    FROM owner WHERE owner.epoch = $2
    ON CONFLICT (tournament_id, number) DO NOTHING RETURNING number)
SELECT (SELECT epoch FROM owner) AS owner, EXISTS (SELECT FROM written) AS is_written
"""
_FACT = "SELECT at_ms, fact, entropy FROM tournament_facts WHERE tournament_id = $1 AND number = $2"
_REQUESTS = text("""
SELECT player_id, request_id, command_digest, account_id, pay_in_id, fact FROM tournament_requests
WHERE tournament_id = :tournament_id
""")
_WRITE_REQUEST = """
WITH owner AS (SELECT epoch FROM placements WHERE placement_id = $1 FOR SHARE), written AS (
    INSERT INTO tournament_requests (tournament_id, epoch, player_id, request_id, command_digest, account_id, pay_in_id,
                                     fact, asked_at)
    SELECT $1, $2::bigint, $3, $4, $5::bytea, $6, $7, $8::bytea, $9::timestamptz FROM owner WHERE owner.epoch = $2
    ON CONFLICT (tournament_id, player_id, request_id) DO NOTHING RETURNING player_id)
SELECT (SELECT epoch FROM owner) AS owner, EXISTS (SELECT FROM written) AS is_written
"""
_REQUEST = """
SELECT player_id, request_id, command_digest, account_id, pay_in_id, fact FROM tournament_requests
WHERE tournament_id = $1 AND player_id = $2 AND request_id = $3
"""
_KEEP_SUMMARY = """
WITH owner AS (SELECT epoch FROM placements WHERE placement_id = $1 FOR SHARE), written AS (
    INSERT INTO tournament_summaries (tournament_id, epoch, mode, phase, closed, summary, kept_at)
    SELECT $1, $2::bigint, $3::smallint, $4::smallint, $5::boolean, $6::bytea, $7::timestamptz
    FROM owner WHERE owner.epoch = $2
    ON CONFLICT (tournament_id) DO UPDATE SET epoch = excluded.epoch, phase = excluded.phase, closed = excluded.closed,
                                              summary = excluded.summary, kept_at = excluded.kept_at
    RETURNING tournament_id)
SELECT (SELECT epoch FROM owner) AS owner, EXISTS (SELECT FROM written) AS is_written
"""
_SUMMARY = text("""
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
        values = (
            fact.number, fact.at_ms, fact.fact, fact.entropy, fact.player_id, fact.request_id, fact.answer,
        )  # fmt: skip
        if await self._write(_WRITE_FACT, tournament_id, epoch, *values):
            return
        found = (await self._fetch(_FACT, tournament_id, fact.number))[0]
        if tuple(found) != (fact.at_ms, fact.fact, fact.entropy):
            raise FactsDiffer(f"fact {fact.number} of {tournament_id} is another one")

    async def requests(self, tournament_id: str) -> list[JournalledRequest]:
        async with self._engine.connect() as connection:
            rows = await connection.execute(_REQUESTS, {"tournament_id": tournament_id})
            return [JournalledRequest(*row) for row in rows]

    async def write_request(
        self, tournament_id: str, epoch: int, request: JournalledRequest, asked_at: datetime
    ) -> JournalledRequest:
        values = (
            request.player_id, request.request_id, request.command_digest, request.account_id, request.pay_in_id,
            request.fact, asked_at,
        )  # fmt: skip
        if await self._write(_WRITE_REQUEST, tournament_id, epoch, *values):
            return request
        found = await self._fetch(_REQUEST, tournament_id, request.player_id, request.request_id)
        return JournalledRequest(*found[0])

    async def keep_summary(self, tournament_id: str, epoch: int, kept: KeptSummary) -> None:
        values = kept.mode, kept.phase, kept.closed, kept.summary, kept.at
        await self._write(_KEEP_SUMMARY, tournament_id, epoch, *values)

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

    async def _write(self, statement: str, tournament_id: str, epoch: int, *values: object) -> bool:
        """Writes as the owner; returns whether it was not there yet."""
        row = (await self._fetch(statement, tournament_id, epoch, *values))[0]
        if row["owner"] != epoch:
            raise StaleOwner
        return bool(row["is_written"])

    async def _fetch(self, statement: str, *values: object) -> Sequence[Any]:
        """Runs one statement in a transaction of its own; tries again for as long as the database is away."""
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                async with DirectConnection.borrow(self._engine) as connection:
                    return await connection.fetch(statement, *values)
            except DATABASE_FAILURES as failed:
                if str(getattr(getattr(failed, "orig", failed), "sqlstate", "") or "")[:2] == "23":
                    # A constraint: the fact contradicts what is recorded, and repeating it does not help.
                    raise
                _log.warning("a fact of a tournament is written again", extra={"error": str(failed)[:300]})
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
