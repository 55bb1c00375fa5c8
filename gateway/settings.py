"""The gateway's settings, one environment variable each."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated

from pydantic import AfterValidator, Field, FilePath, model_validator
from pydantic_settings import SettingsConfigDict

from gateway.access.proxies import parse_networks
from gateway.access.rate_limiter import Limit, Limits
from gateway.backends.trusted_addresses import LOOPBACK_NETWORKS
from gateway.http.front_end_settings import FrontEndSettings
from services.kit.bus.settings import BusSettings
from services.kit.rpc.settings import GrpcSettings
from services.kit.settings import Environment, ListenAddress
from services.kit.telemetry.trace_export import TraceSettings


def _check_networks(value: str) -> str:
    parse_networks(value)
    return value


class GatewaySettings(FrontEndSettings, BusSettings, GrpcSettings, TraceSettings):
    """The settings of a gateway, read once at the start."""

    model_config = SettingsConfigDict(
        env_prefix="FELTRO_GATEWAY_", extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True
    )

    log_level: str = Field("info", validation_alias="FELTRO_LOG_LEVEL", pattern="^(debug|info|warning|error)$")

    listen: ListenAddress = "127.0.0.1:8700"
    # The address for Prometheus; without it no metrics are served.
    metrics_listen: ListenAddress | None = None
    wallet_address: ListenAddress = "127.0.0.1:8710"
    # Networks of the games' processes, separated by spaces: one that announces an address elsewhere is not called.
    game_networks: Annotated[str, AfterValidator(_check_networks)] = ""
    # The key (PEM, Ed25519) that signs the tokens of demonstrations; without it there are no demonstrations.
    demo_key: FilePath | None = None
    # Rates per second, and bursts after a pause: see `gateway.access.rate_limiter.Limits`.
    player_calls_per_s: float = Field(20, gt=0, le=10_000)
    player_calls_at_once: int = Field(60, ge=1, le=100_000)
    operator_calls_per_s: float = Field(200, gt=0, le=100_000)
    operator_calls_at_once: int = Field(600, ge=1, le=100_000)
    address_calls_per_s: float = Field(10, gt=0, le=100_000)
    address_calls_at_once: int = Field(30, ge=1, le=100_000)
    address_tokens_per_s: float = Field(100, gt=0, le=100_000)
    address_tokens_at_once: int = Field(1_000, ge=1, le=100_000)
    connection_messages_per_s: float = Field(30, gt=0, le=10_000)
    connection_messages_at_once: int = Field(60, ge=1, le=100_000)
    demo_visits_per_s: float = Field(1, gt=0, le=10_000)
    demo_visits_at_once: int = Field(60, ge=1, le=100_000)
    demo_calls_per_s: float = Field(100, gt=0, le=100_000)
    demo_calls_at_once: int = Field(1_000, ge=1, le=100_000)
    # Open connections, in total (as many descriptors are requested from the system) and from one address. Behind a
    # trusted proxy the latter is the number of WebSockets and event streams of one client.
    connections: int = Field(50_000, ge=1, le=1_000_000)
    connections_per_address: int = Field(1_000, ge=1, le=1_000_000)
    # Proxies whose `Forwarded` and `X-Forwarded-For` are believed: networks, separated by spaces.
    trusted_proxies: Annotated[str, AfterValidator(_check_networks)] = ""
    # Origins whose scripts may call from a browser, such as `https://casino.example`, separated by spaces; `*` for any.
    cors: str = ""
    # The header Strict-Transport-Security of all answers, such as `max-age=31536000`; none unless set.
    hsts: str | None = Field(None, pattern=r"^max-age=[0-9]{1,10}(; includeSubDomains)?(; preload)?$")
    # How long a stopping gateway goes on answering, while /readyz says that it is not ready.
    not_ready_s: float = Field(0.2, ge=0, le=120)
    # How long a stopping gateway waits for requests in flight.
    stop_grace_s: float = Field(5.0, ge=0, le=60)

    def limits(self) -> Limits:
        """Returns the limits of the rate limiter."""
        return Limits(
            player_calls=Limit("calls of a player", self.player_calls_per_s, self.player_calls_at_once),
            operator_calls=Limit("calls of an operator", self.operator_calls_per_s, self.operator_calls_at_once),
            address_calls=Limit(
                "calls without a token from one address", self.address_calls_per_s, self.address_calls_at_once
            ),
            address_tokens=Limit(
                "tokens shown from one address", self.address_tokens_per_s, self.address_tokens_at_once
            ),
            connection_messages=Limit(
                "messages on one connection", self.connection_messages_per_s, self.connection_messages_at_once
            ),
            demo_visits=Limit("visits to try from one address", self.demo_visits_per_s, self.demo_visits_at_once),
            demo_calls=Limit("calls of those who try from one address", self.demo_calls_per_s, self.demo_calls_at_once),
        )

    def trusted_game_networks(self) -> Sequence[IPv4Network | IPv6Network] | None:
        """Returns the networks in which games are called; None where their certificates alone are enough."""
        if self.game_networks:
            return parse_networks(self.game_networks)
        return None if self.transport().is_secure else LOOPBACK_NETWORKS

    @model_validator(mode="after")
    def _check_game_networks(self) -> GatewaySettings:
        is_production = self.environment is Environment.PRODUCTION
        if is_production and not self.game_networks and not self.transport().is_secure:
            raise ValueError(
                "FELTRO_GATEWAY_GAME_NETWORKS has to be set where FELTRO_GRPC_TLS is `off` and FELTRO_ENVIRONMENT is"
                " `production`, such as `10.1.0.0/16`: players' tokens go to no other address, whatever the bus says"
            )
        return self

    @property
    def cors_origins(self) -> list[str]:
        """The origins of FELTRO_GATEWAY_CORS."""
        return self.cors.split()

    @property
    def listen_host(self) -> str:
        """The address to listen on, without its port."""
        return self.listen.rpartition(":")[0]

    @property
    def listen_port(self) -> int:
        """The port to listen on."""
        return int(self.listen.rpartition(":")[2])
