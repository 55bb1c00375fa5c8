"""`make compose-secrets`: what containers of the platform have to know, a folder for each; made once, then kept."""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

from services.kit.bus import permissions, server_configuration
from services.kit.bus.permissions import GATEWAY, WALLET
from services.kit.settings import load_or_exit
from stack.data_folder import DataFolder, FolderUnusable, write_private
from stack.databases import DATABASES, ServiceDatabase
from stack.entropy_keys import entropy_keys_file
from stack.games import GAMES, StackGame
from stack.issuer import DevelopmentIssuer
from stack.servers.nats import BusPasswords
from stack.settings import StackSettings
from stack.table_key import table_key_file

# Where a container finds its folder, and how others reach the database.
INSIDE = "/run/feltro"
OPERATOR_SITE = "operator_site"
POSTGRES = "postgres:5432"
ADMIN = "postgres"
_PASSWORD_BYTES = 24


class ContainerSecrets:
    """The secrets of every container. Its own folder alone is mounted into it, for another user than ours to read."""

    def __init__(self, home: Path) -> None:
        """`home` is closed to others; the folders in it are not, because a container's process is another user."""
        self._home = home
        self.issuer = DevelopmentIssuer(home / "issuer")
        self.passwords = BusPasswords(home / "bus", [game.name for game in GAMES])
        self._keys = home / "keys"
        self._databases = home / "databases"

    def prepare(self) -> None:
        """Makes what is missing."""
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._databases.mkdir(exist_ok=True, mode=0o700)
        self.issuer.prepare()
        self.passwords.prepare()
        for game in GAMES:
            self._prepare_game(game)
        self._prepare_service(WALLET)
        for game in GAMES:
            self.keep(WALLET, self.issuer.game_keys(game.name).jwks, f"{game.name}.json")
        self._prepare_service(GATEWAY)
        self.keep(GATEWAY, self.issuer.demo_keys.key_file, "demo.pem")
        # The operator's site is the issuer.
        self.keep(OPERATOR_SITE, self.issuer.key_file, "key.pem")
        self.write("nats", "nats.conf", f'jetstream {{ store_dir: "/data" }}\n{self.accounts()}')
        self._prepare_databases()

    def folder(self, name: str) -> Path:
        """Returns the folder of a container."""
        folder = self._home / "containers" / name
        folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        return folder

    def write(self, name: str, file: str, content: str) -> None:
        """Writes a file of a container."""
        write_private(self.folder(name) / file, content.encode(), 0o644)
        # The umask may have removed some of it.
        (self.folder(name) / file).chmod(0o644)

    def keep(self, name: str, source: Path, file: str) -> None:
        """Copies a file for a container."""
        self.write(name, file, source.read_text())

    def accounts(self) -> str:
        """Returns the accounts of the bus, with their passwords."""
        passwords = {user: json.dumps(password) for user, password in self.passwords.read().items()}
        return server_configuration.accounts(permissions.platform(self.passwords.games), passwords)

    def database_url(self, role: str, database: ServiceDatabase) -> str:
        """Returns the address that a role uses for a service's database."""
        return f"postgresql+asyncpg://{role}:{self.password(role)}@{POSTGRES}/{database.name}"

    def password(self, role: str) -> str:
        """Returns the password of a role of the databases: hexadecimal, so that it needs no escaping anywhere."""
        file = self._databases / f"{role}.password"
        if not file.exists():
            write_private(file, secrets.token_hex(_PASSWORD_BYTES).encode())
        return file.read_text()

    def _prepare_game(self, game: StackGame) -> None:
        self._prepare_service(game.name)
        self.keep(game.name, self.issuer.game_keys(game.name).key_file, "signing.pem")
        self.keep(game.name, table_key_file(self._keys, game.name), "tables.key")
        self.keep(game.name, game.tables, "tables.json")
        if game.hides_cards:
            self.keep(game.name, entropy_keys_file(self._keys, game.name), "entropy.keys")

    def _prepare_service(self, name: str) -> None:
        self.keep(name, self.passwords.file(name), "nats.password")
        self.keep(name, self.issuer.jwks, "issuer.json")
        self.keep(name, self.issuer.demo_keys.jwks, "demo.json")

    def _prepare_databases(self) -> None:
        """Writes what the database's administrator runs at its first start, and the address that each role uses."""
        lines = ["REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;"]
        for database in DATABASES:
            lines += [
                f"CREATE ROLE {database.owner} LOGIN PASSWORD '{self.password(database.owner)}';",
                f"CREATE ROLE {database.user} LOGIN PASSWORD '{self.password(database.user)}';",
                f"CREATE DATABASE {database.name} OWNER {database.owner};",
                f"REVOKE ALL ON DATABASE {database.name} FROM PUBLIC;",
                f"GRANT CONNECT ON DATABASE {database.name} TO {database.user};",
            ]
            # Read by the engine, before it starts the container: for nobody else.
            for role, variable, file in ((database.user, "DATABASE", "user"), (database.owner, "OWNER", "owner")):
                line = f"FELTRO_{database.service.upper()}_{variable}_URL={self.database_url(role, database)}\n"
                write_private(self._databases / f"{database.service}-{file}.env", line.encode())
        self.write("postgres", "databases.sql", "\n".join(lines) + "\n")
        self.write("postgres", "admin.password", self.password(ADMIN))


def main() -> int:
    """Makes the secrets of compose.yaml in the data folder."""
    folder = DataFolder(load_or_exit(StackSettings).data)
    try:
        folder.prepare()
        home = folder.root / "compose"
        ContainerSecrets(home).prepare()
    except (FolderUnusable, OSError) as unusable:
        print(unusable, file=sys.stderr)
        return 1
    print(f"The secrets of compose.yaml are in {home}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
