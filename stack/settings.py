"""The settings of the platform on this machine: its data folder and its ports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, PrivateAttr
from pydantic_settings import SettingsConfigDict

from services.kit.settings import ServiceSettings, load
from stack.games import GAMES, StackGame

ROOT = Path(__file__).resolve().parent.parent
LOOPBACK = "127.0.0.1"
# Made by `make web`; it exists only when it is complete.
WEB_BUILD = ROOT / "build" / "web"

Port = Annotated[int, Field(ge=1, le=65535)]


class GamePorts(ServiceSettings):
    """The ports of one game's service, `FELTRO_<GAME>_PORT` and `FELTRO_<GAME>_METRICS_PORT`."""

    # 0 stands for the game's own default, and is not a port that one could set.
    model_config = SettingsConfigDict(validate_default=False)

    port: Port = 0
    metrics_port: Port = 0


class StackSettings(ServiceSettings):
    """Each field is an environment variable, `FELTRO_` and its name."""

    # Resolved: processes that an earlier run left behind carry the real path, whatever link leads there today.
    data: Annotated[Path, AfterValidator(lambda path: path.expanduser().resolve())] = ROOT / ".feltro"
    gateway_port: Port = 8700
    gateway_metrics_port: Port = 8701
    operator_site_port: Port = 8702
    wallet_port: Port = 8710
    wallet_metrics_port: Port = 8711
    postgres_port: Port = 8720
    nats_port: Port = 8730
    # Whether bots play with anybody who wants to practise.
    practice: bool = True
    _games: Mapping[str, GamePorts] = PrivateAttr(default_factory=dict)

    def model_post_init(self, context: object, /) -> None:  # noqa: ARG002 - of the base class
        """Reads the ports of the games, whose variables have the names of the games."""
        self._games = {game.name: _ports_of(game) for game in GAMES}

    @property
    def games(self) -> Mapping[str, GamePorts]:
        """The ports of each game's service, by the game."""
        return self._games

    def ports(self) -> dict[str, int]:
        """Every port of the platform, by the variable that moves it."""
        fields = (
            "gateway_port",
            "gateway_metrics_port",
            "operator_site_port",
            "wallet_port",
            "wallet_metrics_port",
            "postgres_port",
            "nats_port",
        )
        ports = {self.variable_name(field): getattr(self, field) for field in fields}
        for game, of_game in self.games.items():
            settings = GamePorts.for_service(game)
            ports |= {settings.variable_name(field): getattr(of_game, field) for field in GamePorts.model_fields}
        return ports


def _ports_of(game: StackGame) -> GamePorts:
    chosen = load(GamePorts.for_service(game.name))
    defaults = {"port": game.port, "metrics_port": game.port + 1}
    unset = defaults.keys() - chosen.model_fields_set
    return chosen.model_copy(update={name: defaults[name] for name in unset})
