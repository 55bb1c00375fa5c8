"""Spans that a process records while a test runs, kept in memory instead of being sent to a collector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from services.kit.telemetry import trace


class RecordedSpans:
    """The spans that have ended so far."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def named(self, name: str) -> Sequence[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.name == name]


@contextmanager
def recorded_spans() -> Iterator[RecordedSpans]:
    """Records the spans of this process inside."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.record_with(provider.get_tracer("test"))
    try:
        yield RecordedSpans(exporter)
    finally:
        trace.record_with(None)


def trace_of(span: ReadableSpan) -> int:
    """Returns the id of a span's trace."""
    assert span.context is not None
    return int(span.context.trace_id)


def linked_traces(span: ReadableSpan) -> set[int]:
    """Returns the ids of the traces that a span links to."""
    return {link.context.trace_id for link in span.links}
