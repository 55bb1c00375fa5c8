"""Answers that wait for readers who do not read: how many bytes of them there may be, over all connections (G11).

Only answers are counted. What happens at a table is one copy for all who watch it, and waits for no slow reader.
"""

from __future__ import annotations

from typing import Protocol

from gateway.feeds import Transport

IN_ALL_LIMIT = 64 * 1024 * 1024
# Once it is too much, so much may stay: those for whom most waits are cut off at once, not one with each answer.
LEFT_LIMIT = IN_ALL_LIMIT * 3 // 4


class Reader(Protocol):
    """A connection on which answers are given."""

    transport: Transport

    def cut_off(self) -> None:
        """It ends here and now, whatever waits."""
        ...


class Unread:
    """What was answered, and may not have left yet."""

    def __init__(self) -> None:
        self.in_all = 0
        """At most so many bytes: what has left is noticed when it matters."""
        self._by_reader: dict[Reader, int] = {}

    def say(self, reader: Reader, answer: bytes) -> None:
        """Writes an answer."""
        known = self._by_reader.get(reader, 0)
        waiting = min(known, reader.transport.get_write_buffer_size()) + len(answer)
        self._by_reader[reader] = waiting
        self.in_all += waiting - known
        reader.transport.write(answer)
        if self.in_all > IN_ALL_LIMIT:
            self._relieve()

    def forget(self, reader: Reader) -> None:
        """The connection is gone, with all that waited."""
        self.in_all -= self._by_reader.pop(reader, 0)

    def _relieve(self) -> None:
        for reader, known in list(self._by_reader.items()):
            left = min(known, reader.transport.get_write_buffer_size())
            self.in_all += left - known
            if left:
                self._by_reader[reader] = left
            else:
                del self._by_reader[reader]
        if self.in_all <= IN_ALL_LIMIT:
            return
        for reader in sorted(self._by_reader, key=self._by_reader.__getitem__, reverse=True):
            if self.in_all <= LEFT_LIMIT:
                return
            self.forget(reader)
            reader.cut_off()
