"""Caches what is recorded of the rounds that this process last wrote, so that it need not be read for every entry.

Nobody but the owner writes entries of a round, all of them through one writer: what is cached is true for as long as
the placement has the same epoch, and the statement that writes verifies that (G8). A group takes its rounds out of the
cache until it is written, so a failed group leaves none behind.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.kit.table.journal.rows.batch import RecordedState

# Rounds of one process; what is recorded of others is read (G11).
CACHED_ROUNDS_LIMIT = 10_000


class WriteCache:
    """Rounds under way, as their last entries have left them."""

    def __init__(self) -> None:
        self._states: dict[str, RecordedState] = {}

    def take(self, round_id: str, epoch: int) -> RecordedState | None:
        """Takes a round out; None if the owner of this epoch has not written it, or too long ago."""
        state = self._states.pop(round_id, None)
        return state if state is not None and state.epoch == epoch else None

    def keep(self, states: Mapping[str, RecordedState]) -> None:
        """Keeps rounds that go on; those that were written longest ago make room."""
        self._states.update((round_id, state) for round_id, state in states.items() if state.ending is None)
        while len(self._states) > CACHED_ROUNDS_LIMIT:
            del self._states[next(iter(self._states))]

    def clear(self) -> None:
        """Forgets everything: it is not known what the database has."""
        self._states.clear()
