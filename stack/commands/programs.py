"""The programs of the platform on this machine: their commands, environments, databases and addresses."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from services.kit.bus.permissions import GATEWAY, WALLET
from stack.data_folder import DataFolder
from stack.databases import WALLET_DATABASE, WALLET_ROLE
from stack.entropy_keys import entropy_keys
from stack.games import GAMES, StackGame
from stack.issuer import AUDIENCE, ISSUER, DevelopmentIssuer
from stack.processes.supervisor import Program
from stack.servers.nats import BusPasswords, EmbeddedNats
from stack.servers.postgres import EmbeddedPostgres
from stack.settings import LOOPBACK, ROOT, WEB_BUILD, StackSettings
from stack.table_key import table_key_file

# Hands of the tables in stack/tables wait for their players for 30 days: the audit reports what is open for longer.
AUDIT_ROUND_HOURS = 31 * 24


class PlatformPrograms:
    """Everything that runs, with these settings and in this data folder."""

    def __init__(self, settings: StackSettings, folder: DataFolder) -> None:
        self._settings = settings
        self._folder = folder
        self.postgres = EmbeddedPostgres(folder.postgres, settings.postgres_port)
        self.bus_passwords = BusPasswords(folder.bus, [game.name for game in GAMES])
        self.nats = EmbeddedNats(folder.nats, settings.nats_port, self.bus_passwords, folder.bus / "nats.conf")
        self.issuer = DevelopmentIssuer(folder.issuer)
        self.wallet = f"{LOOPBACK}:{settings.wallet_port}"
        self.games = {game: f"{LOOPBACK}:{ports.port}" for game, ports in settings.games.items()}
        self.gateway = f"http://{LOOPBACK}:{settings.gateway_port}"
        self.operator_site = f"http://{LOOPBACK}:{settings.operator_site_port}"
        self.practice = settings.practice
        self.front_end = (WEB_BUILD / "index.html").is_file()

    def programs(self) -> list[Program]:
        """Every program, with its environment."""
        return [
            Program(
                "postgres",
                self.postgres.command(),
                Path("/"),
                priority=10,
                user=self.postgres.user,
                stop_signal=signal.SIGINT,
            ),
            Program("nats", self.nats.command(), Path("/"), priority=20),
            _module("wallet", "services.wallet", 30, self._wallet_variables()),
            *(_module(game.name, game.module, 35, self._game_variables(game)) for game in GAMES),
            _module("gateway", "gateway", 40, self._gateway_variables()),
            _module("operator_site", "stack.operator_site", 50, self._site_variables()),
            *([_module("practice", "stack.practice", 60, self._practice_variables())] if self.practice else []),
        ]

    def keys(self) -> Mapping[str, str]:
        """Paths, which every process inherits: a folder's name may hold what a configuration cannot carry."""
        signing_keys = {game: self.issuer.game_keys(game.name) for game in GAMES}
        return {
            "FELTRO_ISSUER_JWKS": str(self.issuer.jwks),
            "FELTRO_DEMO_JWKS": str(self.issuer.demo_keys.jwks),
            "FELTRO_GATEWAY_DEMO_KEY": str(self.issuer.demo_keys.key_file),
            **{game.variable("TABLE_KEY_FILE"): str(table_key_file(self._folder.keys, game.name)) for game in GAMES},
            **{game.variable("SIGNING_KEY"): str(key.key_file) for game, key in signing_keys.items()},
            **entropy_keys(self._folder.keys),
            "FELTRO_WALLET_GAME_KEYS": json.dumps({game.name: str(key.jwks) for game, key in signing_keys.items()}),
            "FELTRO_OPERATOR_SITE_ISSUER": str(self._folder.issuer),
            "FELTRO_PRACTICE_ISSUER": str(self._folder.issuer),
            **{
                f"FELTRO_{process.upper()}_NATS_PASSWORD_FILE": str(self.bus_passwords.file(process))
                for process in (WALLET, GATEWAY, *(game.name for game in GAMES))
            },
            **({"FELTRO_WEB_FOLDER": str(WEB_BUILD)} if self.front_end else {}),
        }

    def _wallet_variables(self) -> Mapping[str, str]:
        return {
            **self._common_variables(),
            "FELTRO_WALLET_LISTEN": self.wallet,
            "FELTRO_WALLET_METRICS_LISTEN": f"{LOOPBACK}:{self._settings.wallet_metrics_port}",
            "FELTRO_WALLET_DATABASE_URL": self.postgres.url(WALLET_ROLE, WALLET_DATABASE),
            "FELTRO_WALLET_SESSION_CLOCK": "advanceable",
            "FELTRO_WALLET_AUDIT_ROUND_HOURS": str(AUDIT_ROUND_HOURS),
        }

    def _game_variables(self, game: StackGame) -> Mapping[str, str]:
        variables = {
            "LISTEN": self.games[game.name],
            "METRICS_LISTEN": f"{LOOPBACK}:{self._settings.games[game.name].metrics_port}",
            "DATABASE_URL": self.postgres.url(game.database, game.database),
            "TABLES": str(game.tables),
            "TABLE_CLOCK": "advanceable",
        }
        return {
            **self._common_variables(),
            "FELTRO_WALLET_ADDRESS": self.wallet,
            **{game.variable(setting): value for setting, value in variables.items()},
        }

    def _gateway_variables(self) -> Mapping[str, str]:
        return {
            **self._common_variables(),
            "FELTRO_GATEWAY_LISTEN": f"{LOOPBACK}:{self._settings.gateway_port}",
            "FELTRO_GATEWAY_METRICS_LISTEN": f"{LOOPBACK}:{self._settings.gateway_metrics_port}",
            "FELTRO_GATEWAY_WALLET_ADDRESS": self.wallet,
            "FELTRO_WEB_LOGIN_URL": f"{self.operator_site}/login",
            "FELTRO_WEB_TOKEN_URL": f"{self.operator_site}/token",
            "FELTRO_WEB_LOGOUT_URL": f"{self.operator_site}/logout",
            "FELTRO_WEB_CASHIER_URL": f"{self.operator_site}/cashier",
        }

    def _site_variables(self) -> Mapping[str, str]:
        """The stand-in for the operator's own site: no part of the platform."""
        return {
            "FELTRO_OPERATOR_SITE_LISTEN": f"{LOOPBACK}:{self._settings.operator_site_port}",
            "FELTRO_OPERATOR_SITE_GATEWAY": self.gateway,
        }

    def _practice_variables(self) -> Mapping[str, str]:
        """Bots for people who want to practise: clients of the gateway, as any other."""
        return {"FELTRO_PRACTICE_GATEWAY": self.gateway}

    def _common_variables(self) -> Mapping[str, str]:
        return {
            "FELTRO_ENVIRONMENT": "development",
            "FELTRO_NATS_URL": self.nats.url,
            "FELTRO_ISSUER": ISSUER,
            "FELTRO_ISSUER_AUDIENCE": AUDIENCE,
        }


def _module(name: str, module: str, priority: int, environment: Mapping[str, str]) -> Program:
    return Program(name, [sys.executable, "-m", module], ROOT, priority, environment)
