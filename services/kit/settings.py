"""Typed settings from environment variables; a wrong value stops the start with a sentence that names the variable."""

import re
import sys
from enum import StrEnum
from typing import Annotated, TypeVar

from pydantic import AfterValidator, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

# Where an address, even a misspelt one, may hold a name and a password.
_CREDENTIALS = re.compile(r"^([\w+.-]*:?/+)?.*@", re.DOTALL)
_PASSWORD = re.compile(r"(?<=password=)[^&]*")


class Environment(StrEnum):
    """What is at stake. Whatever is not said to be development is production (G12)."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


def _check_listen(value: str) -> str:
    host, colon, port = value.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 <= int(port) <= 65535:
        raise ValueError("has to be HOST:PORT, such as 127.0.0.1:8710")
    return value


ListenAddress = Annotated[str, AfterValidator(_check_listen)]


class ServiceSettings(BaseSettings):
    """What every service wants to know. Each field is one variable, its name prefixed by the class's `env_prefix`."""

    model_config = SettingsConfigDict(env_prefix="FELTRO_", extra="ignore", frozen=True, env_ignore_empty=True)

    @classmethod
    def variable_name(cls, field: str) -> str:
        """The environment variable that sets a field."""
        aliases = {name: info.validation_alias for name, info in cls.model_fields.items() if info.validation_alias}
        if field in aliases.values():
            # This is how pydantic names a field that has an alias.
            return field
        alias = aliases.get(field)
        if isinstance(alias, str):
            return alias
        return f"{cls.model_config.get('env_prefix', '')}{field}".upper()


Settings = TypeVar("Settings", bound=ServiceSettings)


class WrongSettings(Exception):
    """At least one variable is missing or wrong; `str()` is what to tell the person who starts the service."""


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
    """What the variable holds, for the person who mistyped it; never a password, for a log will keep it."""
    given = str(error["input"])
    # An address that lost its @ may have a password where its port should be.
    unsafe = error["type"] == "url_parsing" and "@" not in given
    if error["type"] == "missing" or unsafe:
        return ""
    shown = _PASSWORD.sub("…", _CREDENTIALS.sub(r"\1…@", given))
    return f" (it is {shown!r})"


def load_or_exit(settings: type[Settings]) -> Settings:
    """Reads the settings; on a wrong one prints the sentences and ends the process with status 78 (EX_CONFIG)."""
    try:
        return load(settings)
    except WrongSettings as wrong:
        print(wrong, file=sys.stderr)
        raise SystemExit(78) from None
