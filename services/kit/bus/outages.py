"""Logs once that something fails, and once that it works again, however often it is tried in between."""

import logging

import nats.errors

# The failures of the bus and of the connection to it.
BUS_FAILURES = (nats.errors.Error, OSError, TimeoutError)
RETRY_DELAY_S = 0.1


class Outage:
    """The present state of something that is tried again and again."""

    def __init__(self, log: logging.Logger, name: str) -> None:
        self._log = log
        self._name = name
        self._lasting = False

    def failed(self, error: BaseException) -> None:
        if not self._lasting:
            self._lasting = True
            self._log.warning("%s: failing", self._name, extra={"error": f"{type(error).__name__}: {error}"[:300]})

    def recovered(self) -> None:
        if self._lasting:
            self._lasting = False
            self._log.info("%s: working again", self._name)
