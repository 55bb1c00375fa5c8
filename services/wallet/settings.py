"""The wallet's settings, one environment variable each."""

import json
from typing import Annotated

from pydantic import BeforeValidator, Field, PostgresDsn, model_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from services.kit.access.identity import TrustedIssuer
from services.kit.access.settings import KeysLocation, TokenSettings
from services.kit.bus.settings import BusSettings
from services.kit.rpc.settings import GrpcSettings
from services.kit.settings import Environment, ListenAddress
from services.kit.telemetry.trace_export import TraceSettings
from services.wallet.audit.auditor import DEFAULT_ROUND_HOURS
from services.wallet.model.state import (
    DEFAULT_RELEVANT_CENTS,
    DEFAULT_ROUND_PAYOUT_CENTS,
    DEFAULT_STAKE_PAYOUT_CENTS,
    PayoutLimits,
    RelevantEventLimits,
)
from services.wallet.sessions.clock import SessionClockKind


def _read_game_keys(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError('has to be JSON, a file for each game: {"<game>": "/run/keys/<game>.json"}') from None


class WalletSettings(TokenSettings, BusSettings, GrpcSettings, TraceSettings):
    """The settings of one wallet process, read once at its start."""

    model_config = SettingsConfigDict(
        env_prefix="FELTRO_WALLET_", extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True
    )

    log_level: str = Field("info", validation_alias="FELTRO_LOG_LEVEL", pattern="^(debug|info|warning|error)$")

    database_url: PostgresDsn
    listen: ListenAddress = "127.0.0.1:8710"
    metrics_listen: ListenAddress = "127.0.0.1:8711"
    # Where the services of games publish the keys that they sign their own tokens with, by game, as JSON.
    game_keys: Annotated[dict[str, KeysLocation], NoDecode, BeforeValidator(_read_game_keys)] = Field(
        default_factory=dict
    )
    session_clock: SessionClockKind = SessionClockKind.REAL
    # Transactions under way at once, each over its own connection: with three, one is decided while the database writes
    # another.
    lanes: int = Field(3, ge=1, le=16)
    # On how many servers of the bus the streams and buckets are kept that this process creates: 1 of a single server,
    # 3 of a cluster.
    stream_replicas: int = Field(1, ge=1, le=5)
    # How long a stopping process waits for calls under way.
    stop_grace_s: float = Field(10.0, ge=0, le=60)
    audit_every_s: float = Field(3600.0, ge=1)
    # Hours after which the audit reports an open round.
    audit_round_hours: float = Field(DEFAULT_ROUND_HOURS, gt=0)
    # Amounts from which a player's prize in a round, a deposit or a withdrawal is a relevant event. An event records
    # the limit it was noted by, so that a new limit says nothing about earlier events.
    large_prize_cents: int = Field(DEFAULT_RELEVANT_CENTS, ge=1)
    large_transfer_cents: int = Field(DEFAULT_RELEVANT_CENTS, ge=1)
    # The most that is paid for one stake and for one round, stakes included. What is above is not paid before the limit
    # is raised; a stake that says that it could win more is refused when it is placed.
    stake_payout_limit_cents: int = Field(DEFAULT_STAKE_PAYOUT_CENTS, ge=1)
    round_payout_limit_cents: int = Field(DEFAULT_ROUND_PAYOUT_CENTS, ge=1)

    @property
    def limits(self) -> RelevantEventLimits:
        """The limits from which an amount is a relevant event."""
        return RelevantEventLimits(self.large_prize_cents, self.large_transfer_cents)

    @property
    def payout_limits(self) -> PayoutLimits:
        """The most that is paid for one stake and for one round."""
        return PayoutLimits(self.stake_payout_limit_cents, self.round_payout_limit_cents)

    def key_locations(self) -> list[tuple[str, str | None]]:
        name = self.variable_name("game_keys")
        return [*super().key_locations(), *((name, location) for location in self.game_keys.values())]

    def issuers(self) -> list[TrustedIssuer]:
        """Besides the operator's issuer, the services of games: each for its own tables only."""
        return [*super().issuers(), *(TrustedIssuer(keys, game=game) for game, keys in self.game_keys.items())]

    @model_validator(mode="after")
    def _clock_of_production_is_real(self) -> "WalletSettings":
        if self.environment is Environment.PRODUCTION and self.session_clock is not SessionClockKind.REAL:
            raise ValueError(
                "FELTRO_WALLET_SESSION_CLOCK has to be `real` where FELTRO_ENVIRONMENT is `production`:"
                " a session must never end before its time"
            )
        return self
