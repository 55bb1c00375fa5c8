"""The settings of the practice bots, one environment variable each."""

from __future__ import annotations

from pydantic import DirectoryPath, Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import ServiceSettings


class PracticeSettings(ServiceSettings):
    """Read once at the start."""

    model_config = SettingsConfigDict(env_prefix="FELTRO_PRACTICE_", extra="ignore", frozen=True)

    # The platform's address.
    gateway: str = Field(pattern=r"^https?://[^/]+$")
    # The development issuer's folder, with its key.
    issuer: DirectoryPath
    # How many times as fast as people the bots act.
    speed: float = Field(default=1.0, gt=0, le=1000)
    # What their chance begins with; by the operating system's if it is not set.
    seed: int | None = None
