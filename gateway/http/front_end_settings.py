"""Settings of the front-end that the gateway serves: its folder, and the addresses of the operator's own site."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, DirectoryPath, Field, model_validator
from pydantic_settings import SettingsConfigDict

from services.kit.access.settings import TokenSettings
from services.kit.settings import Environment

CSP_NONE, CSP_SELF = "'none'", "'self'"
_HOST = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]", re.IGNORECASE)


def origin_of(address: str) -> str:
    """Returns the origin of an address, such as `https://casino.example`."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _check_address(value: str) -> str:
    # The origin is written into a header, so nothing but a plain host may pass.
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(_without_port(parts.netloc)) or parts.fragment:
        raise ValueError("has to be an http(s) address without a fragment, such as https://casino.example/login")
    return value


def _without_port(netloc: str) -> str:
    return re.sub(r":[0-9]{1,5}$", "", netloc)


def _check_ancestors(value: str) -> str:
    if value == CSP_NONE:
        return value
    ancestors = [ancestor for ancestor in value.split() if ancestor != CSP_SELF]
    if not value.split() or any(_check_address(ancestor) != origin_of(ancestor) for ancestor in ancestors):
        raise ValueError(
            f"has to be {CSP_NONE}, or {CSP_SELF} and origins (https://casino.example) separated by spaces"
        )
    return value


SiteAddress = Annotated[str, AfterValidator(_check_address)]


class FrontEndSettings(TokenSettings):
    """Settings of the front-end; without a folder `/` is the status page."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    web_folder: DirectoryPath | None = Field(None, validation_alias="FELTRO_WEB_FOLDER")
    # The operator's site: docs/integrating.md says what is expected there. Without it there are only demonstrations.
    web_login_url: SiteAddress | None = Field(None, validation_alias="FELTRO_WEB_LOGIN_URL")
    web_token_url: SiteAddress | None = Field(None, validation_alias="FELTRO_WEB_TOKEN_URL")
    web_logout_url: SiteAddress | None = Field(None, validation_alias="FELTRO_WEB_LOGOUT_URL")
    web_cashier_url: SiteAddress | None = Field(None, validation_alias="FELTRO_WEB_CASHIER_URL")
    # The sites whose pages may frame the front-end: 'none', or 'self' and origins separated by spaces.
    web_frame_ancestors: Annotated[str, AfterValidator(_check_ancestors)] = Field(
        CSP_NONE, validation_alias="FELTRO_WEB_FRAME_ANCESTORS"
    )

    def site_addresses(self) -> dict[str, str]:
        """Returns the addresses of the operator's site by name; an address that is not set is empty."""
        return {name: address or "" for name, address in self._addresses()}

    @model_validator(mode="after")
    def _require_https(self) -> FrontEndSettings:
        if self.environment is Environment.PRODUCTION:
            for name, address in self._addresses():
                if address is not None and address.startswith("http:") and not _is_loopback(address):
                    raise ValueError(
                        f"FELTRO_WEB_{name.upper()} has to be an https address where FELTRO_ENVIRONMENT is `production`"
                    )
        return self

    def _addresses(self) -> Iterator[tuple[str, str | None]]:
        yield "login_url", self.web_login_url
        yield "token_url", self.web_token_url
        yield "logout_url", self.web_logout_url
        yield "cashier_url", self.web_cashier_url


def _is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
