"""Sends the spans of a process to a collector, by OTLP over HTTP: off, unless a setting names the collector."""

from __future__ import annotations

import os
from typing import Annotated

from pydantic import AfterValidator, AnyHttpUrl, Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import ServiceSettings
from services.kit.telemetry import trace

# Spans are worth less than what the process does: a collector that does not answer may delay its end so long (G11).
EXPORT_TIMEOUT_S = 3
_TIMEOUT_VARIABLE = "OTEL_EXPORTER_OTLP_TIMEOUT"
_PATH = "v1/traces"


def _check_endpoint(url: AnyHttpUrl) -> AnyHttpUrl:
    if url.username or url.password:
        raise ValueError("holds no credentials: set OTEL_EXPORTER_OTLP_HEADERS")
    return url


class TraceSettings(ServiceSettings):
    """The setting of every process that traces; OpenTelemetry's own variables (`OTEL_…`) say the rest."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    # The collector, such as `http://collector:4318`. Unset: no span is recorded.
    otlp_endpoint: Annotated[AnyHttpUrl, AfterValidator(_check_endpoint)] | None = Field(
        None, validation_alias="FELTRO_OTLP_ENDPOINT"
    )


def start(service: str, endpoint: AnyHttpUrl | None) -> None:
    """Records the spans of this process, and sends them until it ends, if there is a collector."""
    if endpoint is None:
        return
    # Loaded where it is used: a process that records nothing does not carry it.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    timeout_s = None if _TIMEOUT_VARIABLE in os.environ else EXPORT_TIMEOUT_S
    exporter = OTLPSpanExporter(f"{str(endpoint).rstrip('/')}/{_PATH}", timeout=timeout_s)
    resource = Resource.create({"service.namespace": "feltro", "service.name": f"feltro-{service}"})
    # It sends what is left when the process ends.
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.record_with(provider.get_tracer("feltro"))
