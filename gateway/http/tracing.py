"""The names that a trace has over HTTP: W3C trace context in and out, and the bare id for people."""

TRACE_HEADER = "Traceparent"
TRACE_ID_HEADER = "X-Trace-Id"
