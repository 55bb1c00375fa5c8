"""The wallet's settings, one environment variable each."""

from pydantic import Field, PostgresDsn, model_validator
from pydantic_settings import SettingsConfigDict

from services.kit.access.settings import TokenSettings
from services.kit.bus.settings import BusSettings
from services.kit.settings import Environment, ListenAddress
from services.wallet.audit.auditor import DEFAULT_ROUND_HOURS
from services.wallet.model.state import DEFAULT_RELEVANT_CENTS, RelevantEventLimits
from services.wallet.sessions.clock import SessionClockKind


class WalletSettings(TokenSettings, BusSettings):
    """The settings of one wallet process, read once at its start."""

    model_config = SettingsConfigDict(
        env_prefix="FELTRO_WALLET_", extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True
    )

    log_level: str = Field("info", validation_alias="FELTRO_LOG_LEVEL", pattern="^(debug|info|warning|error)$")

    database_url: PostgresDsn
    listen: ListenAddress = "127.0.0.1:8710"
    metrics_listen: ListenAddress = "127.0.0.1:8711"
    session_clock: SessionClockKind = SessionClockKind.REAL
    # Transactions under way at once, each over its own connection: with three, one is decided while the database writes
    # another.
    lanes: int = Field(3, ge=1, le=16)
    # How long a stopping process waits for calls under way.
    stop_grace_s: float = Field(10.0, ge=0, le=60)
    audit_every_s: float = Field(3600.0, ge=1)
    # Hours after which the audit reports an open round.
    audit_round_hours: float = Field(DEFAULT_ROUND_HOURS, gt=0)
    # Amounts from which a player's prize in a round, a deposit or a withdrawal is a relevant event. An event records
    # the limit it was noted by, so that a new limit says nothing about earlier events.
    large_prize_cents: int = Field(DEFAULT_RELEVANT_CENTS, ge=1)
    large_transfer_cents: int = Field(DEFAULT_RELEVANT_CENTS, ge=1)

    @property
    def limits(self) -> RelevantEventLimits:
        """The limits from which an amount is a relevant event."""
        return RelevantEventLimits(self.large_prize_cents, self.large_transfer_cents)

    @model_validator(mode="after")
    def _clock_of_production_is_real(self) -> "WalletSettings":
        if self.environment is Environment.PRODUCTION and self.session_clock is not SessionClockKind.REAL:
            raise ValueError(
                "FELTRO_WALLET_SESSION_CLOCK has to be `real` where FELTRO_ENVIRONMENT is `production`:"
                " a session must never end before its time"
            )
        return self
