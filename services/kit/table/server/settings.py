"""What every game service wants to know, one environment variable each."""

from __future__ import annotations

from pydantic import Field, FilePath, NatsDsn, PostgresDsn
from pydantic_settings import SettingsConfigDict

from services.kit.access.settings import TokenSettings
from services.kit.settings import ListenAddress


class GameSettings(TokenSettings):
    """Read once at the start; each game's own class sets the prefix of its variables."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    log_level: str = Field("info", validation_alias="FELTRO_LOG_LEVEL", pattern="^(debug|info|warning|error)$")
    nats_url: NatsDsn = Field(validation_alias="FELTRO_NATS_URL")
    wallet_address: str = Field("127.0.0.1:8710", validation_alias="FELTRO_WALLET_ADDRESS", min_length=1)

    database_url: PostgresDsn
    # Of scope `game`: what the service calls the wallet with.
    token_file: FilePath
    listen: ListenAddress
    # Tables to begin with, for as long as the operator has entered no rules of his own for them.
    tables: FilePath | None = None
    # Where others reach this replica; the gateway reads it from the lease of each table.
    advertise: str = ""
    metrics_listen: ListenAddress
    # How long a stopping service waits for its tables to finish their rounds and be taken by others.
    handover_timeout_s: float = Field(90.0, ge=0, le=900)
    stop_grace_s: float = Field(10.0, ge=0, le=60)
