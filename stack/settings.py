"""The settings of the platform on this machine: its data folder and its ports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from services.kit.settings import ServiceSettings

ROOT = Path(__file__).resolve().parent.parent
LOOPBACK = "127.0.0.1"
# Made by `make web`; it exists only when it is complete.
WEB_BUILD = ROOT / "build" / "web"

Port = Annotated[int, Field(ge=1, le=65535)]


class StackSettings(ServiceSettings):
    """Each field is an environment variable, `FELTRO_` and its name."""

    # Resolved: processes that an earlier run left behind carry the real path, whatever link leads there today.
    data: Annotated[Path, AfterValidator(lambda path: path.expanduser().resolve())] = ROOT / ".feltro"
    gateway_port: Port = 8700
    gateway_metrics_port: Port = 8701
    operator_site_port: Port = 8702
    wallet_port: Port = 8710
    wallet_metrics_port: Port = 8711
    roulette_port: Port = 8740
    roulette_metrics_port: Port = 8741
    postgres_port: Port = 8720
    nats_port: Port = 8730

    def ports(self) -> dict[str, int]:
        """Every port of the platform, by the variable that moves it."""
        fields = (
            "gateway_port",
            "gateway_metrics_port",
            "operator_site_port",
            "wallet_port",
            "wallet_metrics_port",
            "roulette_port",
            "roulette_metrics_port",
            "postgres_port",
            "nats_port",
        )
        return {self.variable_name(field): getattr(self, field) for field in fields}
