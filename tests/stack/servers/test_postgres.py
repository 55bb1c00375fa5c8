"""The embedded PostgreSQL: durable unless a test says otherwise, private, and whole after interruptions."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from stack.databases import DATABASES
from stack.servers import ephemeral, relocation
from stack.servers.postgres import EmbeddedPostgres
from stack.servers.relocation import PostgresError


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that PostgreSQL's user can reach; pytest's own is closed to it."""
    with tempfile.TemporaryDirectory(prefix="feltro-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.mark.guarantee("G5")
def test_durability_keeps_the_servers_defaults() -> None:
    with ephemeral.postgres() as server:
        shown = server.sql("SHOW fsync; SHOW synchronous_commit; SHOW full_page_writes")
    assert shown.split() == ["on", "on", "on"]


def test_passwords_are_made_once_and_stay_private(home: Path) -> None:
    first = EmbeddedPostgres(home, 1).passwords["feltro_wallet"]
    assert EmbeddedPostgres(home, 1).passwords["feltro_wallet"] == first
    assert (home / "passwords.json").stat().st_mode & 0o777 == 0o600


def test_ctrl_c_does_not_reach_a_query(postgres: EmbeddedPostgres) -> None:
    """A terminal sends it to all processes of its foreground session."""
    session_id = shlex.join([sys.executable, "-c", "import os; print(os.getsid(0))"])
    assert int(postgres.sql(f"\\! {session_id}")) != os.getsid(0)


def test_a_wrong_password_is_refused(postgres: EmbeddedPostgres) -> None:
    address = postgres.url("postgres", "postgres", scheme="postgresql")
    wrong = address.replace(postgres.passwords["postgres"], "guess")
    answer = subprocess.run([str(postgres.binaries / "psql"), wrong], capture_output=True, text=True, check=False)
    assert answer.returncode != 0
    assert "password authentication failed" in answer.stderr


def test_an_interrupted_initdb_is_made_again(home: Path) -> None:
    server = EmbeddedPostgres(home, 1, {"fsync": "off"})
    half = server.data.with_name("data-being-made")
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    assert server.initialise()
    assert (server.data / "global" / "pg_control").exists()
    assert not server.initialise()


def test_only_a_lock_that_is_certainly_stale_is_removed(home: Path) -> None:
    server = EmbeddedPostgres(home, 1)
    server.data.mkdir(parents=True)
    assert not server.remove_stale_lock()
    lock = server.data / "postmaster.pid"
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd=server.data) as owner:
        lock.write_text(f"{owner.pid}\n{server.data}\n")
        assert not server.remove_stale_lock()
    assert server.remove_stale_lock()
    # Another process has its id by now.
    lock.write_text(f"{os.getpid()}\n{server.data}\n")
    assert server.remove_stale_lock()
    assert not lock.exists()


def test_the_lock_of_a_running_server_stays_through_a_link(home: Path) -> None:
    server = EmbeddedPostgres(home / "link" / "postgres", 1)
    (home / "disk").mkdir()
    (home / "link").symlink_to("disk")
    server.data.mkdir(parents=True)
    lock = server.data / "postmaster.pid"
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd=server.data) as owner:
        lock.write_text(f"{owner.pid}\n")
        assert not server.remove_stale_lock()
    assert lock.exists()


def test_data_of_another_major_version_is_refused(home: Path) -> None:
    server = EmbeddedPostgres(home, 1)
    server.data.mkdir(parents=True)
    (server.data / "PG_VERSION").write_text("9\n")
    with pytest.raises(PostgresError, match="clean-data"):
        server.initialise()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives PostgreSQL to another user")
def test_a_home_that_the_servers_user_cannot_reach_is_relocated(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = home / "shared"
    shared.mkdir(mode=0o755)
    monkeypatch.setattr(relocation, "SHARED_FOLDER", shared)
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    server = EmbeddedPostgres(closed / "postgres", 1, {"fsync": "off"})
    assert server.data.is_relative_to(shared)
    assert server.initialise()
    (trap,) = shared.iterdir()
    trap.chmod(0o777)
    with pytest.raises(PostgresError, match="belongs to someone else"):
        _ = EmbeddedPostgres(closed / "postgres", 1).data


def test_a_seed_brings_its_databases_and_passwords(tmp_path: Path) -> None:
    seed = tmp_path / "seed"
    ephemeral.make_seed(seed, {"fsync": "off"}, fill=lambda server: server.ensure_database("kept", "owner", "service"))
    with ephemeral.postgres({"fsync": "off"}, seed=seed) as server:
        address = server.url("service", "kept", scheme="postgresql")
        query = [str(server.binaries / "psql"), "-Atc", "SELECT current_user", address]
        assert subprocess.run(query, capture_output=True, text=True, check=True).stdout == "service\n"


def refused_databases(server: EmbeddedPostgres, role: str, databases: Iterable[str]) -> set[str]:
    """The databases that a role may not connect to."""

    def connect(database: str) -> subprocess.CompletedProcess[str]:
        address = server.url(role, database, scheme="postgresql")
        query = [str(server.binaries / "psql"), "-Atc", "SELECT 1", address]
        return subprocess.run(query, capture_output=True, text=True, check=False)

    answers = {database: connect(database) for database in databases}
    refused = {database for database, answer in answers.items() if answer.returncode}
    assert all("permission denied for database" in answers[database].stderr for database in refused)
    return refused


@pytest.mark.guarantee("G12")
def test_g12_a_role_connects_to_its_own_database_and_to_no_other() -> None:
    """A service that was taken over reads nothing of another's; so with the password of a schema's owner."""
    with ephemeral.postgres({"fsync": "off"}) as server:
        for database in DATABASES:
            server.ensure_database(database.name, database.owner, database.user)
        everything = {database.name for database in DATABASES} | {"postgres", "template1"}
        for database in DATABASES:
            for role in (database.owner, database.user):
                assert refused_databases(server, role, everything) == everything - {database.name}
    roles = [role for database in DATABASES for role in (database.owner, database.user)]
    assert len(roles) == len(set(roles))


def test_a_database_of_an_older_release_is_refused(postgres: EmbeddedPostgres) -> None:
    """It belongs to a role that owned all databases."""
    name = "feltro_older"
    postgres.ensure_database(name, "feltro_owner", "feltro_wallet")
    with pytest.raises(PostgresError, match="clean-data"):
        postgres.ensure_database(name, "feltro_wallet_owner", "feltro_wallet")
    postgres.ensure_database(name, "feltro_owner", "feltro_wallet")
    postgres.drop_database(name)
