"""Every secret of a platform anew, in the steps of docs/operating.md: accept both, use the new, refuse the old."""

from __future__ import annotations

import json
import secrets as random
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from services.kit.bus.permissions import GATEWAY, WALLET
from stack.commands.container_secrets import ADMIN
from stack.databases import DATABASES
from stack.games import GAMES
from stack.issuer import DevelopmentIssuer
from tests.containers.secrets import BUS_NODES, SERVICES, Secrets
from tests.processes.certificates import CertificateAuthority

HIDING = [game.name for game in GAMES if game.hides_cards]
NEW_ENTROPY_KEY = "new"


class NewKeys:
    """The new keys of everybody, and what is left of the old ones."""

    def __init__(self, secrets: Secrets, home: Path) -> None:
        self._secrets = secrets
        self._issuer = DevelopmentIssuer(home / "issuer")
        self._issuer.prepare()
        self._authority = CertificateAuthority(home / "authority of now")
        self._both = secrets.authority.file.read_text() + self._authority.file.read_text()
        self.old_issuer = DevelopmentIssuer(shutil.copytree(secrets.issuer.key_file.parent, home / "old issuer"))
        self.old_authority = secrets.authority
        self.old_bus_passwords = dict(secrets.passwords.read())
        self.old_database_passwords = {role: secrets.password(role) for role in _roles()}

    def accept_both(self) -> None:
        """Writes files by which everybody knows the new keys beside the old ones, with which all goes on."""
        self._trust(self._both)
        self._publish([self._secrets.issuer, self._issuer])
        for game in HIDING:
            lines = self._entropy_keys(game)
            self._write_entropy_keys(game, [*lines, f"{NEW_ENTROPY_KEY} {random.token_hex(32)}"])

    def use_new(self) -> str:
        """Writes files by which everybody uses the new keys; returns what the databases' administrator has to run."""
        self._secrets.authority = self._authority
        self._secrets.keep_certificates()
        self._trust(self._both)
        shutil.copytree(self._issuer.key_file.parent, self._secrets.issuer.key_file.parent, dirs_exist_ok=True)
        for name in (game.name for game in GAMES):
            self._secrets.keep(name, self._issuer.game_keys(name).key_file, "signing.pem")
        self._secrets.keep(GATEWAY, self._issuer.demo_keys.key_file, "demo.pem")
        for game in HIDING:
            *earlier, newest = self._entropy_keys(game)
            self._write_entropy_keys(game, [newest, *earlier])
        for user in self._secrets.passwords.users():
            self._secrets.passwords.file(user).unlink()
        self._secrets.passwords.prepare()
        for service in SERVICES:
            self._secrets.keep(service, self._secrets.passwords.file(service), "nats.password")
        self._secrets.write_bus_configurations()
        return "".join(f"ALTER ROLE {role} PASSWORD '{self._secrets.renew_password(role)}';" for role in _roles())

    def refuse_old(self) -> None:
        """Writes files by which nobody knows the old keys, but those that unseal the rounds of before."""
        self._trust(self._authority.file.read_text())
        self._publish([self._issuer])

    def name_tables_anew(self) -> None:
        """Exchanges the keys by which games name players' own tables."""
        for game in GAMES:
            self._secrets.write(game.name, "tables.key", random.token_hex(32))

    def _trust(self, authorities: str) -> None:
        for name in (*SERVICES, *BUS_NODES):
            self._secrets.write(name, "ca.pem", authorities)

    def _publish(self, issuers: Sequence[DevelopmentIssuer]) -> None:
        for service in SERVICES:
            self._secrets.write(service, "issuer.json", _merged(each.jwks for each in issuers))
            self._secrets.write(service, "demo.json", _merged(each.demo_keys.jwks for each in issuers))
        for game in GAMES:
            keys = _merged(each.game_keys(game.name).jwks for each in issuers)
            self._secrets.write(WALLET, f"{game.name}.json", keys)

    def _entropy_keys(self, game: str) -> list[str]:
        return (self._secrets.folder(game) / "entropy.keys").read_text().splitlines()

    def _write_entropy_keys(self, game: str, lines: Sequence[str]) -> None:
        self._secrets.write(game, "entropy.keys", "\n".join(lines) + "\n")


def _roles() -> Iterator[str]:
    for database in DATABASES:
        yield from (database.user, database.owner)
    yield ADMIN


def _merged(published: Iterable[Path]) -> str:
    """The keys of several issuers in one document."""
    return json.dumps({"keys": [key for each in published for key in json.loads(each.read_text())["keys"]]})
