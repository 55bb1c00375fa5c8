"""The settings that every game service reads, one environment variable each."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, FilePath, PostgresDsn, model_validator
from pydantic_settings import SettingsConfigDict

from services.kit.access.settings import TokenSettings
from services.kit.bus.settings import BusSettings
from services.kit.settings import Environment, ListenAddress


class TableClockKind(StrEnum):
    """Whether the clock of a game's tables can be moved by an operator."""

    REAL = "real"
    ADVANCEABLE = "advanceable"


class GameSettings(TokenSettings, BusSettings):
    """The settings, read once at the start; each game's class sets the prefix of its variables."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    log_level: str = Field("info", validation_alias="FELTRO_LOG_LEVEL", pattern="^(debug|info|warning|error)$")
    wallet_address: str = Field("127.0.0.1:8710", validation_alias="FELTRO_WALLET_ADDRESS", min_length=1)

    database_url: PostgresDsn
    # The service calls the wallet with this token, which has the scope `game`.
    token_file: FilePath
    listen: ListenAddress
    # Tables to begin with, each until the operator enters specific rules for it.
    tables: FilePath | None = None
    table_clock: TableClockKind = TableClockKind.REAL
    # Where others reach this replica; the gateway reads it from the lease of each table.
    advertise: str = ""
    metrics_listen: ListenAddress
    # How long a stopping service waits until its tables have finished their rounds and have another owner.
    handover_timeout_s: float = Field(90.0, ge=0, le=900)
    stop_grace_s: float = Field(10.0, ge=0, le=60)

    @model_validator(mode="after")
    def _check_table_clock(self) -> GameSettings:
        if self.environment is Environment.PRODUCTION and self.table_clock is not TableClockKind.REAL:
            raise ValueError(
                f"{self.variable_name('table_clock')} has to be `real` where FELTRO_ENVIRONMENT is `production`:"
                " a round must never close before its time"
            )
        return self
