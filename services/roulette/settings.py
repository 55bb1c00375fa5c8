"""The settings of the roulette service, one environment variable each."""

from __future__ import annotations

from pydantic_settings import SettingsConfigDict

from services.kit.settings import ListenAddress
from services.kit.table.server.settings import GameSettings


class RouletteSettings(GameSettings):
    """Settings of the service, read once at the start."""

    model_config = SettingsConfigDict(env_prefix="FELTRO_ROULETTE_")

    listen: ListenAddress = "127.0.0.1:8740"
    metrics_listen: ListenAddress = "127.0.0.1:8741"
