"""Traces (OpenTelemetry): the span that is being worked on, and how its context travels from process to process.

Unless `trace_export` turns recording on, a span is two ids that lead through logs and answers, and nothing else. No
span has an attribute that could hold a token, a card or a player's words: names, reasons and numbers alone (G7).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from types import TracebackType

from opentelemetry import context as contexts
from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, StatusCode, TraceFlags, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from services.kit.refusal import Refused

# The name of the context in every carrier: HTTP headers, gRPC metadata, headers of the bus.
HEADER = "traceparent"
# Spans that one batch links to (G11): more are in their own traces, and find the batch by the time.
LINKS_LIMIT = 128

_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_NOWHERE = Context()
_propagator = TraceContextTextMapPropagator()
_Attributes = Mapping[str, str | int]


class _Recording:
    """Where spans are recorded: nowhere, unless a tracer is set."""

    tracer: Tracer | None = None


class _UnrecordedSpan(NonRecordingSpan):
    """A span that is recorded nowhere, and knows when it has ended."""

    ended = False

    def end(self, end_time: int | None = None) -> None:  # noqa: ARG002 - the signature of the base
        self.ended = True


class _RemoteSpan(_UnrecordedSpan):
    """A span of another task or process, read from its header when it is asked for: most never are."""

    def __init__(self, header: str) -> None:
        super().__init__(otel.INVALID_SPAN_CONTEXT)
        self.header = header

    def get_span_context(self) -> SpanContext:
        return parse(self.header) or otel.INVALID_SPAN_CONTEXT


class ActiveSpan:
    """A span that is the current one inside: it ends there, and what fails inside is noted in it."""

    __slots__ = ("_token", "span")

    def __init__(self, span: Span) -> None:
        self.span = span

    def __enter__(self) -> Span:
        self._token = contexts.attach(otel.set_span_in_context(self.span))
        return self.span

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, frames: TracebackType | None
    ) -> None:
        if raised is not None:
            note_failure(self.span, raised)
        # Tasks that the call has started may outlive it with a copy of its context: they do not belong to it any more.
        self.span.end()
        contexts.detach(self._token)


def record_with(tracer: Tracer | None) -> None:
    """Records the spans of this process from now on; None records none."""
    _Recording.tracer = tracer


def is_recording() -> bool:
    """Whether this process records spans at all: what serves them alone is left out otherwise."""
    return _Recording.tracer is not None


def parse(header: str) -> SpanContext | None:
    """Reads a `traceparent` header; None if it is not well formed."""
    if not header:
        return None
    found = otel.get_current_span(_propagator.extract({HEADER: header}, _NOWHERE)).get_span_context()
    return found if found.is_valid else None


def begin(
    name: str,
    header: str = "",
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    links: Iterable[str] = (),
    attributes: _Attributes | None = None,
) -> Span:
    """Begins a span that continues the trace of a header, or begins a new one; the caller ends it."""
    parent = parse(header)
    tracer = _Recording.tracer
    if tracer is not None:
        before = _NOWHERE if parent is None else otel.set_span_in_context(NonRecordingSpan(parent), _NOWHERE)
        span = tracer.start_span(name, before, kind, attributes, _links(links))
        if span.is_recording():
            return span
        return _UnrecordedSpan(span.get_span_context())
    span_id = secrets.randbits(64) or 1
    if parent is None:
        return _UnrecordedSpan(SpanContext(secrets.randbits(128) or 1, span_id, is_remote=False, trace_flags=_SAMPLED))
    return _UnrecordedSpan(SpanContext(parent.trace_id, span_id, is_remote=False, trace_flags=parent.trace_flags))


def start_span(
    name: str,
    header: str = "",
    *,
    kind: SpanKind = SpanKind.SERVER,
    links: Iterable[str] = (),
    attributes: _Attributes | None = None,
) -> ActiveSpan:
    """Begins a span of a call, as `begin` does; as a context manager it is the current one inside, and ends there."""
    return ActiveSpan(begin(name, header, kind=kind, links=links, attributes=attributes))


def continued(header: str) -> ActiveSpan:
    """Works on for the span of a header, in another task or process, without a span of its own."""
    return ActiveSpan(_RemoteSpan(header))


def note_failure(span: Span, failed: BaseException) -> None:
    """Notes in a span why its work has failed: the reason or the kind, never the words, which may hold secrets (G7)."""
    if not span.is_recording():
        return
    if isinstance(failed, Refused):
        # A refusal is an answer.
        span.set_attribute("feltro.reason", failed.reason)
    else:
        span.set_attribute("error.type", type(failed).__name__)
        span.set_status(StatusCode.ERROR)


def current() -> Span | None:
    """Returns the span that is being worked on; None if there is none, or it has ended."""
    span = otel.get_current_span()
    if isinstance(span, _UnrecordedSpan):
        return None if span.ended or not span.get_span_context().is_valid else span
    return span if span.is_recording() else None


def header_of(span: Span) -> str:
    """Returns the `traceparent` header that says that a span caused something."""
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


def trace_id_of(span: Span) -> str:
    """Returns the id of a span's trace, as people quote it."""
    return f"{span.get_span_context().trace_id:032x}"


def traceparent() -> str:
    """Returns the header of the current span; empty if there is none."""
    span = otel.get_current_span()
    if span is otel.INVALID_SPAN:
        return ""
    if isinstance(span, _RemoteSpan):
        return "" if span.ended else span.header
    found = current()
    return "" if found is None else header_of(found)


def trace_id() -> str:
    """Returns the id of the current trace; empty if there is none."""
    span = current()
    return "" if span is None else trace_id_of(span)


def is_sampled(header: str) -> bool:
    """Whether the span of a header is recorded, so that what it has caused is worth to be."""
    return bool(header) and int(header[-2:], 16) & TraceFlags.SAMPLED != 0


def recorded_traceparent() -> str:
    """Returns the header of the current span if spans are recorded: for what would serve them alone."""
    header = traceparent() if _Recording.tracer is not None else ""
    return header if is_sampled(header) else ""


def _links(headers: Iterable[str]) -> list[Link]:
    found = (parse(header) for header in dict.fromkeys(headers))
    links = [Link(context) for context in found if context is not None]
    return links[:LINKS_LIMIT]
