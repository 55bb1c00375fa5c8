"""Prints the Secrets and ConfigMaps that the manifests name and git does not hold: `make kubernetes-secrets`.

Everything that is secret is made once and kept in a folder (`--folder`), which belongs with your other secrets: run it
again, and it prints the same. What is removed from the folder is made anew; that is how a certificate or a password is
exchanged. Authorities and signing keys are exchanged in three steps (`--new-keys`), each printed, applied and followed
by a restart of everything: everybody accepts the new ones, uses them, and refuses the former ones.
"""

from __future__ import annotations

import argparse
import base64
import json
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from services.kit.bus.permissions_command import variable_of
from stack.data_folder import write_private
from stack.games import GAMES, StackGame
from stack.servers.nats import BusPasswords
from stack.table_key import table_key_file
from tools.kubernetes import generations
from tools.kubernetes.authority import IssuedCertificate
from tools.kubernetes.generations import STEPS, Generations, WrongStep

NAMESPACE = "feltro"
OVERLAYS = ("dev", "production")
# Where the services of an overlay find the database of one of them, with what an address ends in.
_DATABASE_HOSTS = {"dev": "postgres", "production": "database-{service}-rw"}
_DATABASE_OPTIONS = {"dev": "", "production": "?ssl=verify-full"}
# The names of the bus: the Service that clients come by, and the servers among themselves.
_BUS_NAMES = ("nats", "*.nats-servers")
_PUBLIC_FOLDER = "/run/feltro/public"

_Files = Mapping[str, bytes]
_Object = dict[str, object]


def main(arguments: list[str]) -> int:
    """Prints one list of objects, for `kubectl apply --server-side -f -`."""
    parser = argparse.ArgumentParser(prog="make kubernetes-secrets", description=__doc__)
    parser.add_argument("--overlay", choices=OVERLAYS, required=True)
    parser.add_argument("--folder", type=Path, help="where what is made is kept (.feltro/kubernetes/<overlay>)")
    parser.add_argument(
        "--tables", type=Path, help="a folder of <game>.json: the tables to begin with; none without it"
    )
    parser.add_argument("--new-keys", choices=[*STEPS], help="a step of the exchange of authorities and signing keys")
    chosen = parser.parse_args(arguments)
    folder = chosen.folder or Path(".feltro", "kubernetes", chosen.overlay)
    if chosen.new_keys:
        try:
            STEPS[chosen.new_keys](folder)
        except WrongStep as wrong:
            print(f"make kubernetes-secrets: {wrong}", file=sys.stderr)
            return 1
    objects = list(ClusterSecrets(folder, chosen.overlay, chosen.tables).objects())
    json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, sys.stdout, indent=1)
    print()
    return 0


class ClusterSecrets:
    """The secrets of one installation, in a folder that nobody else can read."""

    def __init__(self, folder: Path, overlay: str, tables: Path | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._overlay = overlay
        self._tables = tables
        self._keys = folder / "keys"
        self._generations = Generations(folder)
        own = self._generations.own
        self._issuer = own.issuer
        self._services, self._servers, self._databases = own.services, own.servers, own.databases
        self._bus = BusPasswords(folder / "bus", [game.name for game in GAMES], _new_bus_password)
        self._bus.prepare()

    def objects(self) -> Iterator[_Object]:
        """Every object, with what it holds."""
        yield _secret(
            "gateway", {**self._identity("gateway"), "demo-key.pem": self._issuer.demo_keys.key_file.read_bytes()}
        )
        yield _secret("wallet", {**self._identity("wallet"), **self._database("wallet", "")})
        yield _secret("wallet-owner", self._database("wallet", "_owner"))
        for game in GAMES:
            yield _secret(f"game-{game.name}", {**self._identity(game.name), **self._game(game)})
            yield _secret(f"game-{game.name}-owner", self._database(game.name, "_owner"))
        yield from self._bus_objects()
        yield from self._database_objects()
        yield _config_map("public-keys", self._public_keys())
        yield _config_map("tables", {f"{game.name}.json": self._tables_of(game) for game in GAMES})

    def _identity(self, service: str) -> _Files:
        """What a process proves with who it is, and by which it knows the others."""
        own = self._services.issue(service, [f"{service}.feltro"])
        return {
            "ca.crt": self._generations.certificates(lambda each: each.services),
            "bus-ca.crt": self._generations.certificates(lambda each: each.servers),
            "tls.crt": own.certificate,
            "tls.key": own.key,
            "nats-password": self._bus.file(service).read_bytes(),
        }

    def _game(self, game: StackGame) -> _Files:
        sealing = generations.entropy_keys(self._folder, game.name) if game.hides_cards else None
        return {
            **self._database(game.name, ""),
            "signing-key.pem": self._issuer.game_keys(game.name).key_file.read_bytes(),
            "table-key": table_key_file(self._keys, game.name).read_bytes(),
            **({} if sealing is None else {"entropy-keys": sealing}),
        }

    def _database(self, service: str, suffix: str) -> _Files:
        database = f"feltro_{service}"
        role = f"{database}{suffix}"
        host = _DATABASE_HOSTS[self._overlay].format(service=service)
        address = f"postgresql+asyncpg://{role}:{self._password(role)}@{host}:5432/{database}"
        return {"database-url": (address + _DATABASE_OPTIONS[self._overlay]).encode()}

    def _password(self, role: str) -> str:
        file = self._folder / "databases" / role
        if not file.exists():
            file.parent.mkdir(exist_ok=True, mode=0o700)
            write_private(file, secrets.token_hex(24).encode())
        return file.read_text()

    def _bus_objects(self) -> Iterator[_Object]:
        passwords = {variable_of(user): password.encode() for user, password in self._bus.read().items()}
        yield _secret("nats-passwords", passwords)
        own = self._servers.issue("nats", _BUS_NAMES)
        authorities = {
            "bus-ca.crt": self._generations.certificates(lambda each: each.servers),
            "clients-ca.crt": self._generations.certificates(lambda each: each.services),
        }
        yield _secret("nats", {**authorities, "tls.crt": own.certificate, "tls.key": own.key})

    def _database_objects(self) -> Iterator[_Object]:
        services = ["wallet", *(game.name for game in GAMES)]
        roles = [f"feltro_{service}{suffix}" for service in services for suffix in ("", "_owner")]
        if self._overlay == "dev":
            yield _secret("postgres", {role: self._password(role).encode() for role in ("postgres", *roles)})
            return
        authorities = self._generations.certificates(lambda each: each.databases)
        yield _secret("database-authority", {"ca.crt": authorities})
        for service in services:
            for suffix in ("", "_owner"):
                role = f"feltro_{service}{suffix}"
                login = {"username": role.encode(), "password": self._password(role).encode()}
                yield _secret(f"database-{service}{suffix.replace('_', '-')}", login, "kubernetes.io/basic-auth")
            yield _certificate_secret(f"database-{service}-server", self._database_certificate(service))

    def _database_certificate(self, service: str) -> IssuedCertificate:
        hosts = [f"database-{service}-{role}" for role in ("rw", "r", "ro")]
        domains = ("", f".{NAMESPACE}", f".{NAMESPACE}.svc")
        return self._databases.issue(service, [host + domain for host in hosts for domain in domains])

    def _public_keys(self) -> _Files:
        keys = self._generations.public_keys
        games = {
            f"{name}.json": keys(lambda each, name=name: each.game_keys(name).jwks)  # type: ignore[misc]
            for name in (game.name for game in GAMES)
        }
        locations = {game.name: f"{_PUBLIC_FOLDER}/{game.name}.json" for game in GAMES}
        own = (
            {"issuer.json": keys(lambda each: each.jwks)}
            if self._overlay == "dev"
            else {"database-ca.crt": self._generations.certificates(lambda each: each.databases)}
        )
        demo = keys(lambda each: each.demo_keys.jwks)
        return {**games, **own, "demo.json": demo, "wallet-game-keys": json.dumps(locations).encode()}

    def _tables_of(self, game: StackGame) -> bytes:
        return b"[]" if self._tables is None else (self._tables / f"{game.name}.json").read_bytes()


def _new_bus_password() -> str:
    # It begins with a letter: the server's configuration would take it for a number otherwise.
    return f"p{secrets.token_hex(24)}"


def _secret(name: str, files: _Files, kind: str = "Opaque") -> _Object:
    data = {file: base64.b64encode(content).decode() for file, content in files.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": _metadata(name), "type": kind, "data": data}


def _certificate_secret(name: str, issued: IssuedCertificate) -> _Object:
    return _secret(name, {"tls.crt": issued.certificate, "tls.key": issued.key}, "kubernetes.io/tls")


def _config_map(name: str, files: _Files) -> _Object:
    data = {file: content.decode() for file, content in files.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(name), "data": data}


def _metadata(name: str) -> _Object:
    return {"name": name, "namespace": NAMESPACE, "labels": {"app.kubernetes.io/part-of": "feltro"}}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
