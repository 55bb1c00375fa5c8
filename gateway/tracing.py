"""The names that a trace has over HTTP: W3C trace context in and out, and the bare id for people."""

from __future__ import annotations

from dataclasses import dataclass

from services.kit import trace

TRACE_HEADER = "Traceparent"
TRACE_ID_HEADER = "X-Trace-Id"


@dataclass(frozen=True, slots=True)
class Trace:
    """One call, as it is known to whoever follows it."""

    trace_id: str
    traceparent: str
    """For whom we ask: we are the parent."""


def trace_of(header: str) -> Trace:
    """The caller's trace carried on; a new one if he has none, or none that can be read."""
    begun = trace.begin(header)
    return Trace(begun.trace_id, begun.header)
