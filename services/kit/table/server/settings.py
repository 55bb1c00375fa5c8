"""The settings that every game service reads, one environment variable each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, FilePath, PostgresDsn, model_validator
from pydantic_settings import SettingsConfigDict

from services.kit.access.settings import TokenSettings
from services.kit.bus.settings import BusSettings
from services.kit.rpc.own_host import HostUnknown, reachable_host
from services.kit.rpc.settings import GrpcSettings
from services.kit.settings import Environment, ListenAddress
from services.kit.table.journal.key_settings import EntropyKeysSettings
from services.kit.table.wallet.service_token import ServiceTokenSettings
from services.kit.telemetry.trace_export import TraceSettings

# A shorter key could be guessed.
TABLE_KEY_BYTES_MIN = 32


def _check_table_key(path: Path) -> Path:
    try:
        key = path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    if len(key.strip()) < TABLE_KEY_BYTES_MIN:
        command = f"openssl rand -hex {TABLE_KEY_BYTES_MIN}"
        raise ValueError(f"has to hold at least {TABLE_KEY_BYTES_MIN} random bytes, as `{command}` makes them")
    return path


class TableClockKind(StrEnum):
    """Whether the clock of a game's tables can be moved by an operator."""

    REAL = "real"
    ADVANCEABLE = "advanceable"


class GameSettings(EntropyKeysSettings, ServiceTokenSettings, TokenSettings, BusSettings, GrpcSettings, TraceSettings):
    """The settings, read once at the start; each game's class sets the prefix of its variables."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    log_level: str = Field("info", validation_alias="FELTRO_LOG_LEVEL", pattern="^(debug|info|warning|error)$")
    wallet_address: str = Field("127.0.0.1:8710", validation_alias="FELTRO_WALLET_ADDRESS", min_length=1)

    database_url: PostgresDsn
    # The secret key of the ids of players' own tables, the same for all replicas: others cannot compute these ids.
    table_key_file: Annotated[FilePath, AfterValidator(_check_table_key)]
    listen: ListenAddress
    # Tables to begin with, each until the operator enters specific rules for it.
    tables: FilePath | None = None
    table_clock: TableClockKind = TableClockKind.REAL
    # Where others reach this replica; the gateway reads it from the lease of each table. Unset: where it listens.
    advertise: str = ""
    metrics_listen: ListenAddress
    # How long a stopping service waits until its tables have finished their rounds and have another owner.
    handover_timeout_s: float = Field(90.0, ge=0, le=900)
    stop_grace_s: float = Field(10.0, ge=0, le=60)

    def table_key(self) -> bytes:
        """Returns the key of the ids of players' own tables."""
        return self.table_key_file.read_bytes().strip()

    def advertised(self, port: int) -> str:
        """Returns where others reach this replica, which listens on this port."""
        return self.advertise or f"{reachable_host(self.listen.rpartition(':')[0])}:{port}"

    @model_validator(mode="after")
    def _check_advertised(self) -> GameSettings:
        try:
            self.advertised(0)
        except HostUnknown as unknown:
            raise ValueError(f"{self.variable_name('advertise')} has to be set: {unknown}") from None
        return self

    @model_validator(mode="after")
    def _check_table_clock(self) -> GameSettings:
        if self.environment is Environment.PRODUCTION and self.table_clock is not TableClockKind.REAL:
            raise ValueError(
                f"{self.variable_name('table_clock')} has to be `real` where FELTRO_ENVIRONMENT is `production`:"
                " a round must never close before its time"
            )
        return self


class CardGameSettings(GameSettings):
    """The settings of a game that hides cards, which does not start without keys to seal them with (G7, G12)."""

    model_config = GameSettings.model_config

    @model_validator(mode="after")
    def _check_keys_are_named(self) -> CardGameSettings:
        if self.entropy_keys_file is None:
            raise ValueError(
                f"{self.variable_name('entropy_keys_file')} is not set: this game hides cards, and seals them in its"
                " journal with the keys of that file"
            )
        return self
