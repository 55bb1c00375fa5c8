"""What the journal keeps of a tournament: its facts, what players asked before they paid, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class JournalledFact:
    """A fact of a tournament, with all that follows from nothing else: its time, and the entropy of its draws."""

    number: int
    at_ms: int
    fact: bytes
    entropy: bytes
    player_id: str = ""
    request_id: str = ""
    answer: bytes = b""


@dataclass(frozen=True, slots=True)
class JournalledRequest:
    """What a player has asked that costs money, and the fact that it becomes when it is paid."""

    player_id: str
    request_id: str
    command_digest: bytes
    account_id: str
    pay_in_id: str
    fact: bytes


@dataclass(frozen=True, slots=True)
class KeptSummary:
    """How a tournament stands, for lists; `mode` and `phase` are the contract's numbers."""

    mode: int
    phase: int
    closed: bool
    summary: bytes
    at: datetime


class FactJournal(Protocol):
    """The facts of the tournaments of one game."""

    async def facts(self, tournament_id: str) -> list[JournalledFact]:
        """Returns all facts, in their order."""

    async def write_fact(self, tournament_id: str, epoch: int, fact: JournalledFact) -> None:
        """Writes the next fact durably; raises `StaleOwner` (G8). A repeat changes nothing."""

    async def requests(self, tournament_id: str) -> list[JournalledRequest]:
        """Returns what players have asked."""

    async def write_request(
        self, tournament_id: str, epoch: int, request: JournalledRequest, asked_at: datetime
    ) -> JournalledRequest:
        """Writes what a player asks, and returns it; what was on record under the same id is returned instead."""

    async def keep_summary(self, tournament_id: str, epoch: int, kept: KeptSummary) -> None:
        """Keeps how a tournament stands, for lists."""
