"""How a process reaches the bus, and as whom: one environment variable each; production insists on both."""

from __future__ import annotations

import ssl
from enum import StrEnum
from pathlib import Path

from pydantic import Field, FilePath, NatsDsn, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from services.kit.bus.connection import BusEndpoint
from services.kit.settings import Environment, ServiceSettings

_ENCRYPTED_SCHEMES = frozenset({"tls", "wss"})


class BusEncryption(StrEnum):
    """Whether production may reach the bus without TLS."""

    REQUIRED = "required"
    OFF = "off"


class BusSettings(ServiceSettings):
    """The settings of every process on the bus; the password has the prefix of the process, the rest is common."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    environment: Environment = Field(Environment.PRODUCTION, validation_alias="FELTRO_ENVIRONMENT")
    # `tls://…` encrypts the connection, `nats://…` does not.
    nats_url: NatsDsn = Field(validation_alias="FELTRO_NATS_URL")
    nats_tls: BusEncryption = Field(BusEncryption.REQUIRED, validation_alias="FELTRO_NATS_TLS")
    # Who signed the server's certificate, if not an authority that the system knows.
    nats_ca: FilePath | None = Field(None, validation_alias="FELTRO_NATS_CA")
    # The process's own certificate and its key, if the server asks for one.
    nats_certificate: FilePath | None = Field(None, validation_alias="FELTRO_NATS_CERTIFICATE")
    nats_key: FilePath | None = Field(None, validation_alias="FELTRO_NATS_KEY")
    # The password of this kind of process, or a file that holds it.
    nats_password: SecretStr | None = None
    nats_password_file: FilePath | None = None

    @field_validator("nats_url")
    @classmethod
    def _check_no_credentials(cls, value: NatsDsn) -> NatsDsn:
        if any(host["username"] or host["password"] for host in value.hosts()):
            raise ValueError("has to be without a name and a password, which would be printed with it")
        return value

    @model_validator(mode="after")
    def _check_bus(self) -> BusSettings:
        password, file = (self.variable_name(field) for field in ("nats_password", "nats_password_file"))
        if self.nats_password is not None and self.nats_password_file is not None:
            raise ValueError(f"{password} and {file} are both set: one of them has to go")
        if (self.nats_certificate is None) != (self.nats_key is None):
            raise ValueError("FELTRO_NATS_CERTIFICATE and FELTRO_NATS_KEY go together: one of them is missing")
        self._verify_files()
        if self.environment is Environment.PRODUCTION:
            if not self._password():
                raise ValueError(
                    f"{file} (or {password}) has to hold the password of this process on the bus where"
                    " FELTRO_ENVIRONMENT is `production`: docs/operating.md says how the bus gets its users"
                )
            if not self._is_encrypted and self.nats_tls is BusEncryption.REQUIRED:
                raise ValueError(
                    "FELTRO_NATS_URL has to begin with tls:// where FELTRO_ENVIRONMENT is `production`, unless"
                    " FELTRO_NATS_TLS is `off` because something else encrypts the connection"
                )
        return self

    def _verify_files(self) -> None:
        try:
            self._password()
            if self._is_encrypted:
                self._tls()
        except OSError as unreadable:
            raise ValueError(
                "FELTRO_NATS_CA, FELTRO_NATS_CERTIFICATE, FELTRO_NATS_KEY or the password's file cannot be used:"
                f" {unreadable.strerror or type(unreadable).__name__}"
            ) from unreadable

    def bus(self, user: str) -> BusEndpoint:
        """Returns where to connect to as a kind of process: the user of the bus is called like it."""
        password = self._password()
        return BusEndpoint(
            str(self.nats_url), user if password else "", password, self._tls() if self._is_encrypted else None
        )

    @property
    def _is_encrypted(self) -> bool:
        return self.nats_url.scheme in _ENCRYPTED_SCHEMES

    def _password(self) -> str:
        if self.nats_password_file is not None:
            return Path(self.nats_password_file).read_text().strip()
        return "" if self.nats_password is None else self.nats_password.get_secret_value()

    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.nats_ca)
        if self.nats_certificate is not None and self.nats_key is not None:
            context.load_cert_chain(self.nats_certificate, self.nats_key)
        return context
