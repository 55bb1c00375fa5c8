"""Says once that something cannot be reached, and once that it can be again, however often it is tried in between."""

import logging

import nats.errors

# What the bus and the way to it fail with.
BUS_FAILURES = (nats.errors.Error, OSError, TimeoutError)
RETRY_DELAY_S = 0.1


class Outage:
    """Whether something that is tried again and again fails at present."""

    def __init__(self, log: logging.Logger, name: str) -> None:
        self._log = log
        self._what = name
        self._lasting = False

    def failed(self, error: BaseException) -> None:
        if not self._lasting:
            self._lasting = True
            self._log.warning("%s: failing", self._what, extra={"error": f"{type(error).__name__}: {error}"[:300]})

    def recovered(self) -> None:
        if self._lasting:
            self._lasting = False
            self._log.info("%s: working again", self._what)
