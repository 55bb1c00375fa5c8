"""Measures how long what has happened takes from its commit to the sockets of those who hear of it."""

from __future__ import annotations

import time

from google.protobuf.timestamp_pb2 import Timestamp
from prometheus_client import Histogram

_SECONDS = Histogram(
    "feltro_edge_event_delay_seconds",
    "Time from what was committed to its writing to clients, by the clocks of the machines",
    ["stream"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0),
)
_NANOS = 1e-9


class EventDelay:
    """The delays of one stream."""

    def __init__(self, stream: str) -> None:
        self._seconds = _SECONDS.labels(stream)

    def observe(self, at: Timestamp) -> None:
        """Counts what happened at this time and was written now; clocks that disagree make no negative delay."""
        self._seconds.observe(max(0.0, time.time() - at.seconds - at.nanos * _NANOS))
