"""Counts calls by method and status, and measures how long they take; unknown methods are not counted (G11)."""

from __future__ import annotations

import time
from enum import StrEnum

from prometheus_client import Counter, Histogram

HTTP_OK = 200

_CALLS = Counter(
    "feltro_edge_calls", "Calls by method and by the status that they have over HTTP", ["method", "status"]
)
_REFUSED = Counter("feltro_edge_calls_refused", "Calls that failed, by method and reason", ["method", "reason"])
# What a fault of the platform counts as: it has no reason for clients.
_FAULT = "FAULT"
_SECONDS = Histogram(
    "feltro_edge_call_seconds",
    "Time to answer a call that succeeded, by transport",
    ["method", "transport"],
    buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0),
)


class CallTransport(StrEnum):
    """The protocol that a call arrives by."""

    REST = "rest"
    WEBSOCKET = "websocket"


class CallMetrics:
    """The metrics of calls over one transport."""

    def __init__(self, transport: CallTransport) -> None:
        self._transport = transport
        # Finding a series by its labels costs more than counting in it, and nearly all calls succeed.
        self._succeeded: dict[str, tuple[Counter, Histogram]] = {}

    def succeeded(self, method: str, started: float) -> None:
        """Counts a call that began at `started` (`time.perf_counter`). The method has to exist (G11)."""
        series = self._succeeded.get(method)
        if series is None:
            series = _CALLS.labels(method, str(HTTP_OK)), _SECONDS.labels(method, self._transport.value)
            self._succeeded[method] = series
        count, seconds = series
        count.inc()
        seconds.observe(time.perf_counter() - started)

    def failed(self, method: str, status: int, reason: str) -> None:
        """Counts a call that was refused for a reason of the contracts, or failed without one."""
        _CALLS.labels(method, str(status)).inc()
        _REFUSED.labels(method, reason or _FAULT).inc()
