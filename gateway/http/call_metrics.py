"""How many calls came in, how they ended, and how long they took: by method, and only by methods that there are."""

from __future__ import annotations

import time
from enum import StrEnum

from prometheus_client import Counter, Histogram

HTTP_OK = 200

_CALLS = Counter(
    "feltro_edge_calls", "Calls by method and by the status that they have over HTTP", ["method", "status"]
)
_SECONDS = Histogram(
    "feltro_edge_seconds",
    "Time to answer a call that succeeded, by the way it came in",
    ["method", "way"],
    buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0),
)


class CallTransport(StrEnum):
    """How a call comes in."""

    REST = "rest"
    WEBSOCKET = "websocket"


class CallMetrics:
    """Those of one way."""

    def __init__(self, transport: CallTransport) -> None:
        self._way = transport
        # Looking a series up by its labels costs more than to count in it: nearly all calls succeed.
        self._succeeded: dict[str, tuple[Counter, Histogram]] = {}

    def succeeded(self, method: str, started: float) -> None:
        """`started` by `time.perf_counter`. Whoever calls this sees to it that there is such a method (G11)."""
        known = self._succeeded.get(method)
        if known is None:
            known = _CALLS.labels(method, str(HTTP_OK)), _SECONDS.labels(method, self._way.value)
            self._succeeded[method] = known
        counted, seconds = known
        counted.inc()
        seconds.observe(time.perf_counter() - started)

    def failed(self, method: str, status: int) -> None:
        _CALLS.labels(method, str(status)).inc()
