"""Dealt rounds of former owners whose cards cannot be read: each waits, and is void in the end (`805/2015:27`).

The cause may pass: a key is missing, or a version of the program has a fault. So a round waits for a day, unless an
operator declares it void before.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from services.kit.clock import Clock

# How long a round waits for its cards to become readable, since this process first found that they are not (G11).
READABLE_WITHIN = timedelta(hours=24)
CARDS_UNREADABLE = "the cards of the round cannot be determined"


class UnreadableRound(Exception):
    """The cards of a round cannot be read: its table stays closed (G12)."""


@dataclass(slots=True)
class _Waiting:
    """One such round."""

    since: datetime
    declared_reason: str = ""
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class UnreadableRounds:
    """Knows since when rounds wait, and which of them an operator has declared void."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}
        self.declared = asyncio.Event()
        """Set when an operator has declared a round void."""

    def void_reason(self, round_id: str) -> str | None:
        """Notes that a round cannot be read, and returns why it is void now; None if it still waits."""
        now = self._clock.now()
        waiting = self._waiting.setdefault(round_id, _Waiting(now))
        if waiting.declared_reason:
            return waiting.declared_reason
        return CARDS_UNREADABLE if now - waiting.since >= READABLE_WITHIN else None

    def declare_void(self, round_id: str, reason: str) -> asyncio.Event | None:
        """Notes that an operator wants a round void, and returns what is set when it has ended; None if it is read."""
        waiting = self._waiting.get(round_id)
        if waiting is None:
            return None
        waiting.declared_reason = reason
        self.declared.set()
        return waiting.ended

    def forget(self, round_id: str) -> None:
        """Forgets a round that has ended, or goes on because its cards can be read again."""
        waiting = self._waiting.pop(round_id, None)
        if waiting is not None:
            waiting.ended.set()
