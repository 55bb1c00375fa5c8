"""How a process proves to others who it is, one environment variable each: mutual TLS, on in production."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, FilePath, model_validator
from pydantic_settings import SettingsConfigDict

from services.kit.rpc.transport import DEFAULT_DOMAIN, CertificateFiles, CertificatesUnusable, Transport
from services.kit.settings import Environment, EnvironmentSettings

_FILES = "FELTRO_GRPC_TLS_CA, FELTRO_GRPC_TLS_CERTIFICATE and FELTRO_GRPC_TLS_KEY"


class GrpcTls(StrEnum):
    """Whether processes prove to each other who they are."""

    MUTUAL = "mutual"
    OFF = "off"


class GrpcSettings(EnvironmentSettings):
    """The settings of every process that calls others of the platform over gRPC, or is called by them."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    # Unset: mutual where the files are set, which production requires (G12).
    grpc_tls: GrpcTls | None = Field(None, validation_alias="FELTRO_GRPC_TLS")
    # PEM. All three are read again for every new connection.
    grpc_tls_ca: FilePath | None = Field(None, validation_alias="FELTRO_GRPC_TLS_CA")
    grpc_tls_certificate: FilePath | None = Field(None, validation_alias="FELTRO_GRPC_TLS_CERTIFICATE")
    grpc_tls_key: FilePath | None = Field(None, validation_alias="FELTRO_GRPC_TLS_KEY")
    # The certificate of a service has the name `<service>.<domain>`.
    grpc_tls_domain: str = Field(
        DEFAULT_DOMAIN, validation_alias="FELTRO_GRPC_TLS_DOMAIN", pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)*$"
    )

    def transport(self) -> Transport:
        """Returns how this process listens and connects."""
        return Transport(self._certificate_files(), self.grpc_tls_domain)

    @model_validator(mode="after")
    def _check_grpc_tls(self) -> GrpcSettings:
        files = (self.grpc_tls_ca, self.grpc_tls_certificate, self.grpc_tls_key)
        if self.grpc_tls is GrpcTls.OFF:
            if any(files):
                raise ValueError(f"FELTRO_GRPC_TLS is `off`, but certificates are set: unset it, or {_FILES}")
            return self
        if not all(files) and (any(files) or self.grpc_tls is GrpcTls.MUTUAL):
            raise ValueError(f"{_FILES} have to be set together: at least one of them is missing")
        if not any(files) and self.environment is Environment.PRODUCTION:
            raise ValueError(
                f"{_FILES} have to be set where FELTRO_ENVIRONMENT is `production`, or everybody who reaches the"
                " network could read players' tokens; set FELTRO_GRPC_TLS to `off` only if the network itself"
                " encrypts and authenticates what the processes say to each other"
            )
        try:
            self.transport()
        except CertificatesUnusable as unusable:
            raise ValueError(f"{_FILES} cannot be used: {unusable}") from None
        return self

    def _certificate_files(self) -> CertificateFiles | None:
        if self.grpc_tls_ca is None or self.grpc_tls_certificate is None or self.grpc_tls_key is None:
            return None
        return CertificateFiles(self.grpc_tls_ca, self.grpc_tls_certificate, self.grpc_tls_key)
