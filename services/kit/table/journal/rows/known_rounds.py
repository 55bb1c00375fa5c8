"""What the journal's writer knows to be recorded of rounds under way, so that it need not read that for every entry."""

from __future__ import annotations

from collections.abc import Mapping

from services.kit.table.journal.rows.batch import RecordedState

# Rounds of one process; what is recorded of others is read (G11).
ROUNDS_LIMIT = 10_000


class KnownRounds:
    """The rounds that were written last, as their last entries have left them.

    Nobody but the owner writes entries of a round, all of them through one writer: what it knows is true for as long as
    the placement has the same epoch, and only the statement that writes can tell that (G8).
    """

    def __init__(self) -> None:
        self._states: dict[str, RecordedState] = {}

    def take(self, round_id: str, epoch: int) -> RecordedState | None:
        """Takes out what is known of a round by its owner of this epoch: it is to be kept again once it was written."""
        state = self._states.pop(round_id, None)
        return state if state is not None and state.epoch == epoch else None

    def keep(self, states: Mapping[str, RecordedState]) -> None:
        """Keeps what is recorded of rounds that go on; those that were written longest ago make room."""
        self._states.update((round_id, state) for round_id, state in states.items() if state.ending is None)
        while len(self._states) > ROUNDS_LIMIT:
            del self._states[next(iter(self._states))]

    def forget_all(self) -> None:
        """Forgets everything: it is not known what the database has."""
        self._states.clear()
