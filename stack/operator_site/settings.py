"""The site's settings, one environment variable each."""

from __future__ import annotations

from pydantic import DirectoryPath, Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import ListenAddress, ServiceSettings


class OperatorSiteSettings(ServiceSettings):
    """Read once at the start."""

    model_config = SettingsConfigDict(env_prefix="FELTRO_OPERATOR_SITE_", extra="ignore", frozen=True)

    listen: ListenAddress
    # Our own address as the player's browser knows it; unset, where we listen.
    address: str = Field(default="", pattern=r"^(https?://[^/]+)?$")
    # The platform's address as the player's browser knows it: the site sends a browser back there and nowhere else.
    gateway: str = Field(pattern=r"^https?://[^/]+$")
    # The development issuer's folder, with its key.
    issuer: DirectoryPath

    @property
    def origin(self) -> str:
        """Our own address as the player's browser knows it."""
        return self.address or f"http://{self.listen}"
