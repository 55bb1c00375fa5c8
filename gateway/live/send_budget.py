"""Answers that wait for readers who do not read: how many bytes of them there may be, over all connections (G11).

Only answers are counted. What happens at a table is one copy for all who watch it, and waits for no slow reader.
"""

from __future__ import annotations

from typing import Protocol

from gateway.live.feeds import Transport

TOTAL_BYTES_LIMIT = 64 * 1024 * 1024
# Once it is too much, so much may stay: those for whom most waits are cut off at once, not one with each answer.
RELIEVED_BYTES_LIMIT = TOTAL_BYTES_LIMIT * 3 // 4


class AnsweredConnection(Protocol):
    """A connection on which answers are given."""

    transport: Transport

    def abort_slow(self) -> None:
        """It ends here and now, whatever waits."""
        ...


class SendBudget:
    """What was answered, and may not have left yet."""

    def __init__(self) -> None:
        self.unsent_bytes = 0
        """At most so many bytes: what has left is noticed when it matters."""
        self._by_reader: dict[AnsweredConnection, int] = {}

    def send(self, connection: AnsweredConnection, answer: bytes) -> None:
        """Writes an answer."""
        known = self._by_reader.get(connection, 0)
        waiting = min(known, connection.transport.get_write_buffer_size()) + len(answer)
        self._by_reader[connection] = waiting
        self.unsent_bytes += waiting - known
        connection.transport.write(answer)
        if self.unsent_bytes > TOTAL_BYTES_LIMIT:
            self._relieve()

    def release(self, connection: AnsweredConnection) -> None:
        """The connection is gone, with all that waited."""
        self.unsent_bytes -= self._by_reader.pop(connection, 0)

    def _relieve(self) -> None:
        for reader, known in list(self._by_reader.items()):
            left = min(known, reader.transport.get_write_buffer_size())
            self.unsent_bytes += left - known
            if left:
                self._by_reader[reader] = left
            else:
                del self._by_reader[reader]
        if self.unsent_bytes <= TOTAL_BYTES_LIMIT:
            return
        for reader in sorted(self._by_reader, key=self._by_reader.__getitem__, reverse=True):
            if self.unsent_bytes <= RELIEVED_BYTES_LIMIT:
                return
            self.release(reader)
            reader.abort_slow()
