"""Typed settings from environment variables; a wrong value stops the start with a sentence that names the variable."""

import re
import sys
from enum import StrEnum
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

# The exit status of a process that only another setting can help.
EX_CONFIG = 78

# Where an address, even a misspelt one, may hold a name and a password.
_CREDENTIALS = re.compile(r"^([\w+.-]*:?/+)?.*@", re.DOTALL)
_PASSWORD = re.compile(r"(?<=password=)[^&]*")


class Environment(StrEnum):
    """Where a process runs. What is not declared to be development is production (G12)."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


def _check_listen(value: str) -> str:
    host, colon, port = value.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 <= int(port) <= 65535:
        raise ValueError("has to be HOST:PORT, such as 127.0.0.1:8710")
    return value


ListenAddress = Annotated[str, AfterValidator(_check_listen)]


class ServiceSettings(BaseSettings):
    """The settings of a service: each field is one variable, its name prefixed by the class's `env_prefix`."""

    model_config = SettingsConfigDict(env_prefix="FELTRO_", extra="ignore", frozen=True, env_ignore_empty=True)

    @classmethod
    def for_service(cls, service: str) -> type[Self]:
        """Returns these settings with the service's own prefix, such as `FELTRO_WALLET_`."""
        config = SettingsConfigDict(env_prefix=f"FELTRO_{service.upper()}_")
        return type(cls.__name__, (cls,), {"model_config": config, "__module__": cls.__module__})

    @classmethod
    def variable_name(cls, field: str) -> str:
        """Returns the environment variable that sets a field."""
        aliases = {name: info.validation_alias for name, info in cls.model_fields.items() if info.validation_alias}
        if field in aliases.values():
            # In its errors pydantic names a field by its alias.
            return field
        alias = aliases.get(field)
        if isinstance(alias, str):
            return alias
        return f"{cls.model_config.get('env_prefix', '')}{field}".upper()


class EnvironmentSettings(ServiceSettings):
    """The settings of every process that is stricter in production than in development."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    environment: Environment = Field(Environment.PRODUCTION, validation_alias="FELTRO_ENVIRONMENT")


Settings = TypeVar("Settings", bound=ServiceSettings)


class WrongSettings(Exception):
    """At least one variable is missing or wrong; `str()` is for the person who starts the service."""


def load(settings: type[Settings]) -> Settings:
    """Reads the settings from the environment, or raises `WrongSettings`."""
    try:
        return settings()
    except ValidationError as wrong:
        sentences = []
        for error in wrong.errors():
            field = str(error["loc"][0]) if error["loc"] else ""
            name = settings.variable_name(field) if field else ""
            problem = "is not set" if error["type"] == "missing" else error["msg"].removeprefix("Value error, ")
            given = _given(error) if field else ""
            sentences.append(f"{name} {problem}{given}.".strip())
        raise WrongSettings("\n".join(sentences)) from wrong


def _given(error: ErrorDetails) -> str:
    """Shows what the variable holds, but never a password, because logs are kept."""
    given = str(error["input"])
    # An address without its @ may have a password in the place of its port.
    unsafe = error["type"] == "url_parsing" and "@" not in given
    if error["type"] == "missing" or unsafe:
        return ""
    shown = _PASSWORD.sub("…", _CREDENTIALS.sub(r"\1…@", given))
    return f" (it is {shown!r})"


def load_or_exit(settings: type[Settings]) -> Settings:
    """Reads the settings, or prints what is wrong and ends the process with `EX_CONFIG`."""
    try:
        return load(settings)
    except WrongSettings as wrong:
        print(wrong, file=sys.stderr)
        raise SystemExit(EX_CONFIG) from None
