"""What an operator brings to the images in production: besides secrets, certificates and a cluster's configuration."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterable
from pathlib import Path

from services.kit.bus.connection import BusEndpoint
from services.kit.bus.permissions import GATEWAY, OPERATOR, WALLET
from stack.commands.container_secrets import INSIDE, ContainerSecrets
from stack.databases import DATABASES, ServiceDatabase
from stack.games import GAMES, StackGame
from stack.issuer import ISSUER
from tests.gateway.platform.processes import GENEROUS_LIMITS
from tests.players.quick_tables import quick_tables
from tests.processes.certificates import CertificateAuthority

BUS_NODES = ("nats-1", "nats-2", "nats-3")
SERVICES = (WALLET, GATEWAY, *(game.name for game in GAMES))


class Secrets(ContainerSecrets):
    """A folder for each container, with what it needs and nothing of others; and what tests need themselves."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.authority = CertificateAuthority(home / "authority")
        self.prepare()
        self.keep_certificates()
        self.write_bus_configurations()
        for game in GAMES:
            self.write(game.name, "tables.json", json.dumps(quick_tables(game)))

    def keep_certificates(self) -> None:
        """Gives everybody another certificate of the authority."""
        for service in SERVICES:
            self._keep_certificate(service, f"{service}.feltro")
        for node in BUS_NODES:
            self._keep_certificate(node, node, also=("localhost",))

    def write_bus_configurations(self) -> None:
        """Writes the configuration of each server of the bus, with the passwords of now."""
        for node in BUS_NODES:
            self.write(node, "nats.conf", self._bus_configuration(node))

    def bus(self, url: str, authority: CertificateAuthority | None = None) -> BusEndpoint:
        """Returns how a test reaches the bus, as the operator; it believes what servers of the bus believe."""
        files = (authority or self.authority).issue("tests.feltro")
        context = ssl.create_default_context(cafile=self.folder(BUS_NODES[0]) / "ca.pem")
        context.load_cert_chain(files.certificate, files.key)
        return BusEndpoint(url, OPERATOR, self.passwords.read()[OPERATOR], context)

    def renew_password(self, role: str) -> str:
        """Makes another password for a role of the databases."""
        (self._databases / f"{role}.password").unlink()
        return self.password(role)

    def wallet_settings(self) -> dict[str, str]:
        keys = {game.name: f"{INSIDE}/{game.name}.json" for game in GAMES}
        return {
            **_service_settings(WALLET),
            "FELTRO_WALLET_DATABASE_URL": self._service_url(WALLET),
            "FELTRO_WALLET_GAME_KEYS": json.dumps(keys),
        }

    def game_settings(self, game: StackGame) -> dict[str, str]:
        own = {
            "DATABASE_URL": self._service_url(game.name),
            "SIGNING_KEY": f"{INSIDE}/signing.pem",
            "TABLE_KEY_FILE": f"{INSIDE}/tables.key",
            "TABLES": f"{INSIDE}/tables.json",
            **({"ENTROPY_KEYS_FILE": f"{INSIDE}/entropy.keys"} if game.hides_cards else {}),
        }
        return {
            **_service_settings(game.name),
            "FELTRO_WALLET_ADDRESS": "wallet:8710",
            **{game.variable(name): value for name, value in own.items()},
        }

    def gateway_settings(self) -> dict[str, str]:
        return {
            **_service_settings(GATEWAY),
            **GENEROUS_LIMITS,
            "FELTRO_GATEWAY_WALLET_ADDRESS": "wallet:8710",
            "FELTRO_GATEWAY_DEMO_KEY": f"{INSIDE}/demo.pem",
        }

    def _service_url(self, service: str) -> str:
        database = database_of(service)
        return self.database_url(database.user, database)

    def _keep_certificate(self, name: str, certified: str, also: Iterable[str] = ()) -> None:
        files = self.authority.issue(certified, also=also)
        for source, file in ((files.authority, "ca.pem"), (files.certificate, "tls.pem"), (files.key, "tls.key")):
            self.keep(name, source, file)

    def _bus_configuration(self, node: str) -> str:
        files = f'cert_file: "{INSIDE}/tls.pem", key_file: "{INSIDE}/tls.key", ca_file: "{INSIDE}/ca.pem"'
        tls = f"tls {{ {files}, verify: true }}"
        routes = ", ".join(f'"nats://{other}:6222"' for other in BUS_NODES)
        return (
            f'server_name: {node}\nlisten: "0.0.0.0:4222"\njetstream {{ store_dir: "/data" }}\n{tls}\n'
            f'cluster {{ name: feltro, listen: "0.0.0.0:6222", routes: [{routes}], no_advertise: true, {tls} }}\n'
            f"{self.accounts()}"
        )


def database_of(service: str) -> ServiceDatabase:
    """Returns the database of a service."""
    return next(database for database in DATABASES if database.service == service)


def _service_settings(service: str) -> dict[str, str]:
    """Returns the settings that every service of the platform has, in production."""
    return {
        "FELTRO_NATS_URL": "tls://" + ",".join(f"{node}:4222" for node in BUS_NODES),
        **{f"FELTRO_{kind}_CA": f"{INSIDE}/ca.pem" for kind in ("NATS", "GRPC_TLS")},
        **{f"FELTRO_{kind}_CERTIFICATE": f"{INSIDE}/tls.pem" for kind in ("NATS", "GRPC_TLS")},
        **{f"FELTRO_{kind}_KEY": f"{INSIDE}/tls.key" for kind in ("NATS", "GRPC_TLS")},
        f"FELTRO_{service.upper()}_NATS_PASSWORD_FILE": f"{INSIDE}/nats.password",
        "FELTRO_ISSUER": ISSUER,
        "FELTRO_ISSUER_JWKS": f"{INSIDE}/issuer.json",
        "FELTRO_DEMO_JWKS": f"{INSIDE}/demo.json",
    }
