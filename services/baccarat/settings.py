"""The settings of the baccarat service, one environment variable each."""

from __future__ import annotations

from pydantic_settings import SettingsConfigDict

from services.kit.settings import ListenAddress
from services.kit.table.server.settings import CardGameSettings


class BaccaratSettings(CardGameSettings):
    """Settings of the service, read once at the start."""

    model_config = SettingsConfigDict(env_prefix="FELTRO_BACCARAT_")

    listen: ListenAddress = "127.0.0.1:8750"
    metrics_listen: ListenAddress = "127.0.0.1:8751"
