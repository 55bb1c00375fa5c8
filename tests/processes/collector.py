"""A collector of spans for tests: it takes what processes send by OTLP over HTTP, and keeps all of it."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import hdrs, web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

# How soon processes send what they have recorded.
VARIABLES = {"OTEL_BSP_SCHEDULE_DELAY": "50"}


@dataclass(frozen=True)
class CollectedSpan:
    """One span, as the collector was sent it."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    links: frozenset[str]
    """The traces that it is linked to."""
    attributes: dict[str, object] = field(hash=False)


class Collector:
    """What has arrived so far."""

    def __init__(self) -> None:
        self.url = ""
        self.raw: list[bytes] = []
        self._spans: list[CollectedSpan] = []

    @property
    def variables(self) -> dict[str, str]:
        """What a process has to be told to send its spans here."""
        return {"FELTRO_OTLP_ENDPOINT": self.url, **VARIABLES}

    def of_trace(self, trace_id: str) -> list[CollectedSpan]:
        return [span for span in list(self._spans) if span.trace_id == trace_id]

    def all(self) -> list[CollectedSpan]:
        return list(self._spans)

    async def receive(self, request: web.Request) -> web.Response:
        body = await request.read()
        if request.headers.get(hdrs.CONTENT_ENCODING) == "gzip":
            body = gzip.decompress(body)
        self.raw.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            facts = {fact.key: fact.value.string_value for fact in resource.resource.attributes}
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                self._spans.append(
                    CollectedSpan(
                        facts["service.name"],
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        frozenset(link.trace_id.hex() for link in span.links),
                        {each.key: each.value.string_value or each.value.int_value for each in span.attributes},
                    )
                )
        return web.Response()


@contextmanager
def running_collector() -> Iterator[Collector]:
    """Collects in a thread of its own, at a free port of this machine."""
    collector = Collector()
    loop, started = asyncio.new_event_loop(), threading.Event()
    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.router.add_post("/v1/traces", collector.receive)
    runner = web.AppRunner(application)

    async def start() -> None:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        collector.url = f"http://{host}:{port}"
        started.set()

    def run() -> None:
        loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, name="collector")
    thread.start()
    try:
        started.wait()
        yield collector
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
