"""The gateway's settings, one environment variable each."""

from __future__ import annotations

from pydantic import Field, NatsDsn
from pydantic_settings import SettingsConfigDict

from services.kit.settings import Environment, ListenAddress, ServiceSettings


class GatewaySettings(ServiceSettings):
    """Read once at the start."""

    model_config = SettingsConfigDict(
        env_prefix="FELTRO_GATEWAY_", extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True
    )

    environment: Environment = Field(Environment.PRODUCTION, validation_alias="FELTRO_ENVIRONMENT")
    log_level: str = Field("info", validation_alias="FELTRO_LOG_LEVEL", pattern="^(debug|info|warning|error)$")
    nats_url: NatsDsn = Field(validation_alias="FELTRO_NATS_URL")

    listen: ListenAddress = "127.0.0.1:8700"
    wallet_address: ListenAddress = "127.0.0.1:8710"
    # How long a stopping gateway waits for requests under way.
    stop_grace_s: float = Field(5.0, ge=0, le=60)

    @property
    def listen_host(self) -> str:
        """The address to listen on, without its port."""
        return self.listen.rpartition(":")[0]

    @property
    def listen_port(self) -> int:
        """The port to listen on."""
        return int(self.listen.rpartition(":")[2])
